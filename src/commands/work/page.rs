//! A page with the newest runs, for reading: no script, no actions, nothing that another page could embed.

use std::fmt::Write as _;
use std::net::SocketAddr;
use std::path::Path;
use std::time::{Duration, Instant};

use axum::extract::Request;
use axum::http::{HeaderName, StatusCode, header};
use axum::response::{IntoResponse, Response};
use sheetport_ledger::{Accounting, Run};
use sheetport_operations::{self as operations, Context, ListedRun, RunFilter, RunStatus};
use sheetport_web::OwnHosts;
use tokio::sync::Mutex;

use crate::ui;

/// Runs on the page.
const RUNS: usize = 200;
/// Readers of the page ask the database no more often than this together.
const FRESH: Duration = Duration::from_secs(5);
/// Time for reading the runs.
const ANSWER: Duration = Duration::from_secs(10);

const HEADERS: [(HeaderName, &str); 5] = [
    (header::CONTENT_TYPE, "text/html; charset=utf-8"),
    (
        header::CONTENT_SECURITY_POLICY,
        "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    ),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::CACHE_CONTROL, "no-store"),
];

pub(super) const STYLE: &str = "\
body { font: 15px/1.4 system-ui, sans-serif; margin: 2rem; color-scheme: light dark; }
table { border-collapse: collapse; }
th, td { padding: .25rem .75rem; text-align: left; border-bottom: 1px solid #8884; vertical-align: top; }
.number { text-align: right; font-variant-numeric: tabular-nums; }
.problem { font-weight: bold; }
";

/// The page, as last made.
pub(super) struct RunsPage {
    context: Context,
    hosts: OwnHosts,
    made: Mutex<Option<(Instant, String)>>,
}

impl RunsPage {
    /// Returns the page of a worker that listens on `listens`.
    pub(super) fn new(context: &Context, listens: SocketAddr) -> RunsPage {
        RunsPage { context: context.clone(), hosts: OwnHosts::new(&[listens], &[]), made: Mutex::default() }
    }

    /// Answers a request for the page.
    pub(super) async fn answer(&self, request: Request) -> Response {
        let is_foreign = self.hosts.refusal(&request).is_some();
        drop(request);
        if is_foreign {
            return (StatusCode::FORBIDDEN, "open this page by an IP address or as localhost\n").into_response();
        }
        let mut made = self.made.lock().await;
        if let Some((_, page)) = made.as_ref().filter(|(at, _)| at.elapsed() < FRESH) {
            return (HEADERS, page.clone()).into_response();
        }
        let runs = operations::list_runs(&self.context, RunFilter::default(), RUNS);
        match tokio::time::timeout(ANSWER, runs).await {
            Ok(Ok(runs)) => {
                let page = page_of(&runs);
                *made = Some((Instant::now(), page.clone()));
                (HEADERS, page).into_response()
            }
            Ok(Err(_)) | Err(_) => (StatusCode::SERVICE_UNAVAILABLE, "the ledger can't be used\n").into_response(),
        }
    }
}

fn page_of(runs: &[ListedRun]) -> String {
    let mut page = String::from(
        "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><meta http-equiv=\"refresh\" content=\"30\">\
         <meta name=\"viewport\" content=\"width=device-width\"><title>Runs</title><link rel=\"stylesheet\" href=\"/runs.css\">\
         <h1>Runs</h1>\n<table><thead><tr><th scope=\"col\">Run<th scope=\"col\">Started (UTC)<th scope=\"col\">State\
         <th scope=\"col\">Workspace<th scope=\"col\">File<th scope=\"col\" class=\"number\">Records\
         <th scope=\"col\" class=\"number\">Sent<th scope=\"col\" class=\"number\">Problems\
         <th scope=\"col\" class=\"number\">Unknown<th scope=\"col\" class=\"number\">Pending<th scope=\"col\">Note</tr></thead>\n<tbody>\n",
    );
    for run in runs {
        match run {
            ListedRun::Known(run, accounting, status) => push_run(&mut page, run, accounting, *status),
            ListedRun::Damaged { run, what } => {
                let what = escaped(what);
                let _ = writeln!(page, "<tr><td>{run}<td><td>damaged<td><td><td><td><td><td><td><td>{what}</tr>");
            }
        }
    }
    page.push_str("</tbody></table>\n");
    page
}

fn push_run(page: &mut String, run: &Run, accounting: &Accounting, status: RunStatus) {
    let started = jiff::Timestamp::from_millisecond(run.created_at / 1000 * 1000);
    let started = started.map_or_else(|_| "unknown".to_owned(), |time| time.strftime("%Y-%m-%d %H:%M:%S").to_string());
    let file =
        Path::new(&run.about.file).file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let _ = write!(
        page,
        "<tr><td>{}<td>{started}<td>{}<td>{}<td>{}",
        run.id,
        status.name(),
        escaped(&run.about.workspace),
        escaped(&file)
    );
    let Accounting { total, sent, rejected, failed, unknown, pending, .. } = *accounting;
    for (number, is_problem) in
        [(total, false), (sent, false), (rejected + failed, true), (unknown, true), (pending, false)]
    {
        let class = if is_problem && number > 0 { "number problem" } else { "number" };
        let _ = write!(page, "<td class=\"{class}\">{}", ui::thousands(number));
    }
    let note = run.damage.as_ref().or(run.stopped_why.as_ref()).map(|note| escaped(note)).unwrap_or_default();
    let _ = writeln!(page, "<td>{note}</tr>");
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_and_localhost_are_own_hosts() {
        let hosts = OwnHosts::new(&[SocketAddr::from(([0, 0, 0, 0], 9187))], &[]);
        let is_own_host = |host: &str| {
            let request = Request::builder().header(header::HOST, host).body(axum::body::Body::empty());
            hosts.refusal(&request.expect("a request")).is_none()
        };
        for host in ["127.0.0.1:9187", "10.0.0.7", "[::1]:9187", "[::1]", "localhost:9187", "LOCALHOST"] {
            assert!(is_own_host(host), "{host}");
        }
        for host in ["", "evil.example", "127.0.0.1.evil.example:9187", "localhost.evil.example"] {
            assert!(!is_own_host(host), "{host}");
        }
    }

    #[test]
    fn texts_of_others_are_no_html() {
        let damaged = ListedRun::Damaged { run: 3, what: "<script>\"&'".to_owned() };
        let page = page_of(&[damaged]);
        assert!(page.contains("&lt;script&gt;&quot;&amp;'") && !page.contains("<script"), "{page}");
    }
}
