//! Sending items: the uploader beside the shortest client that sends the same bodies over as many connections.
//!
//! Both sides talk to [`serve`], which runs in a process of its own and answers at once, so that what is measured is
//! the client. The server says afterwards how many requests it took and how many bytes their bodies had; that is what
//! must be the same on both sides.

use std::convert::Infallible;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::header::CONTENT_TYPE;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use sheetport_client::auth::Credentials;
use sheetport_client::{Client, ConnectOptions};
use sheetport_ledger::{Ledger, NewRun, Part, RunCommand, RunId, RunSettings, SheetSelection};
use sheetport_mapping::builtin;
use sheetport_mapping::load::{load, no_tables};
use sheetport_plan::{self as plan, Source};
use sheetport_records::RecordKind;
use sheetport_sheet::Options;
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};

use crate::child::{Sample, Seen, timed};
use crate::client::{self, Calls, Each};
use crate::{BARE, Job, Needs, Outcome, Row, items};

pub const SEND_ITEMS: Row = Row {
    name: "send-items",
    compares: "the uploader's sending with its ledger, beside a bare hyper client on 32 connections",
    unit: "requests",
    target: 2.0,
    beside: BARE,
    prepare,
    needs: Needs::Server,
    ours,
    bare,
};

const FULL: u32 = 100_000;
const CONNECTIONS: usize = 32;
/// Any will do: the server here looks at none.
pub const TOKEN: &str = "bench";
/// A sheet that the built-in template `items` fits, for the uploader.
const SHEET: &str = "items.csv";
/// The bodies that must come of it, one a line, for the bare client.
pub const BODIES: &str = "bodies.ndjson";

pub const ITEMS: &str = "/v1/public/items";
/// Answers with a [`Seen`] of all items since the last time it was asked.
const SEEN: &str = "/seen";

fn prepare(folder: &Path, scale: f64) -> Outcome<()> {
    let count = items::count(FULL, scale);
    items::write_csv(&folder.join(SHEET), count)?;
    items::write_bodies(&folder.join(BODIES), count)
}

/// The uploader with its ledger in a file.
pub fn ours(job: &Job) -> Outcome<Sample> {
    let runtime = Builder::new_multi_thread().enable_all().build()?;
    let home = tempfile::tempdir_in(&job.folder)?;
    let ledger = runtime.block_on(Ledger::open(home.path()))?;
    let run = runtime.block_on(plan(job, &ledger))?;
    send(job, &runtime, &ledger, run)
}

/// Measures the sending of a planned run.
pub fn send(job: &Job, runtime: &Runtime, ledger: &Ledger, run: RunId) -> Outcome<Sample> {
    let server = job.server.as_deref().ok_or("no server")?.to_owned();
    let locked = runtime.block_on(ledger.lock_run(run))?;
    let credentials = Credentials { access: Some(TOKEN.to_owned().into()), refresh: None, file: None };
    let work = sheetport_send::Work {
        ledger,
        client: Arc::new(Client::new(&server, credentials, &ConnectOptions::default(), CONNECTIONS)?),
        part: Part::whole(locked.id()),
        kind: RecordKind::Item,
        concurrency: CONNECTIONS,
        rate: None,
        shares_rate_of: None,
        limits: sheetport_send::Limits::default(),
        policy: Default::default(),
        keys: None,
    };
    let sending = || {
        let ended = runtime.block_on(sheetport_send::send(&work, None, Box::pin(std::future::pending()), &|_| {}))?;
        match ended.stopped {
            None => Ok(()),
            Some(reason) => Err(reason.to_string().into()),
        }
    };
    timed(sending, |()| {
        let accounting = runtime.block_on(ledger.accounting(run))?;
        if accounting.sent != accounting.total {
            return Err(format!("{} of {} were sent", accounting.sent, accounting.total).into());
        }
        seen_by(runtime, &server)
    })
}

/// Plans the sending of all items.
pub async fn plan(job: &Job, ledger: &Ledger) -> Outcome<RunId> {
    let sheet = job.folder.join(SHEET);
    let source = builtin::find("items").ok_or("no template")?;
    let template = Arc::new(load("items", source, &no_tables)?);
    let source = Arc::new(Source::open(&sheet, &template, None, &Options::default())?);
    let about = NewRun {
        command: RunCommand::Upload,
        record: RecordKind::Item,
        template: "items".to_owned(),
        template_toml: String::new(),
        lookups: None,
        file: sheet.display().to_string(),
        file_hash: source.hash()?,
        readers: sheetport_files::readers::Readers::Everyone,
        text_form: None,
        base_url: job.server.clone().ok_or("no server")?,
        workspace: String::new(),
        sheet: SheetSelection::One(source.name_of(&source.tables[0]).to_owned()),
        header: source.header.clone(),
        header_row: source.tables[0].layout.header.row,
        columns: Vec::new(),
        name_columns: Vec::new(),
        chosen: None,
        retry_of: None,
        undo_of: None,
        options: Vec::new(),
        settings: RunSettings::default(),
    };
    let (run, _) = plan::plan::plan(ledger, None, &about, source, template, 0, &|_| {}).await?;
    Ok(run)
}

/// A hyper client that sends ready-made bodies: each connection takes the next body when it has its answer.
fn bare(job: &Job) -> Outcome<Sample> {
    let server = job.server.as_deref().ok_or("no server")?.to_owned();
    let bodies = std::fs::read_to_string(job.folder.join(BODIES))?;
    let bodies = bodies.lines().map(|line| Bytes::from(line.to_owned())).collect();
    let runtime = Builder::new_multi_thread().enable_all().build()?;
    let each = Each::Post { path: ITEMS, bodies };
    let calls = Calls { server: server.clone(), token: TOKEN.to_owned(), connections: CONNECTIONS, each };
    let calls = Arc::new(calls);
    timed(|| runtime.block_on(client::make(calls)), |()| seen_by(&runtime, &server))
}

/// What the server has taken since the last time it was asked. Both sides end with this, outside of the clock.
pub fn seen_by(runtime: &Runtime, server: &str) -> Outcome<Seen> {
    Ok(serde_json::from_slice(&runtime.block_on(client::get(server, SEEN, TOKEN))?)?)
}

/// Prints its address and answers until the process ends. One thread, so that the client has the others. The file is
/// what it answers when it is asked for items: one page whatever is asked for, or a page a line, by their numbers.
pub fn serve(pages: Option<&Path>) -> Outcome<()> {
    let pages = Bytes::from(pages.map(std::fs::read).transpose()?.unwrap_or_default());
    let pages = pages.split(|byte| *byte == b'\n').filter(|page| !page.is_empty()).map(|page| pages.slice_ref(page));
    let pages = pages.collect();
    Builder::new_current_thread().enable_all().build()?.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        println!("http://{}", listener.local_addr()?);
        let taken = Arc::new(Taken { pages, ..Taken::default() });
        loop {
            let (stream, _) = listener.accept().await?;
            stream.set_nodelay(true)?;
            let taken = Arc::clone(&taken);
            tokio::spawn(async move {
                let service = service_fn(|request| answer(request, Arc::clone(&taken)));
                let connection =
                    hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service);
                // A client that goes away is no concern of the server's.
                drop(connection.await);
            });
        }
    })
}

#[derive(Default)]
struct Taken {
    requests: AtomicU64,
    bytes: AtomicU64,
    pages: Vec<Bytes>,
}

impl Taken {
    /// The page that a query asks for.
    fn page(&self, query: &str) -> Bytes {
        let number = query.split('&').find_map(|pair| pair.strip_prefix("page=")?.parse::<usize>().ok());
        let place = if self.pages.len() > 1 { number.unwrap_or(1).saturating_sub(1) } else { 0 };
        let page = self.pages.get(place).cloned().unwrap_or_else(|| Bytes::from_static(b"[]"));
        self.requests.fetch_add(1, Ordering::Relaxed);
        self.bytes.fetch_add(page.len() as u64, Ordering::Relaxed);
        page
    }
}

async fn answer(request: Request<Incoming>, taken: Arc<Taken>) -> Result<Response<Full<Bytes>>, Infallible> {
    let path = request.uri().path().to_owned();
    let query = request.uri().query().unwrap_or_default().to_owned();
    let reads = request.method() == Method::GET;
    let Ok(body) = request.into_body().collect().await else {
        return Ok(respond(StatusCode::BAD_REQUEST, String::new()));
    };
    let body = body.to_bytes();
    Ok(match path.as_str() {
        ITEMS if reads => respond(StatusCode::OK, taken.page(&query)),
        ITEMS => {
            taken.requests.fetch_add(1, Ordering::Relaxed);
            taken.bytes.fetch_add(body.len() as u64, Ordering::Relaxed);
            let id = external_id(&body);
            respond(
                StatusCode::OK,
                format!(r#"{{"ok":true,"status":"created","external_id":"{id}","item_id":"i1","ctx_id":"c1"}}"#),
            )
        }
        SEEN => {
            let units = taken.requests.swap(0, Ordering::Relaxed);
            let bytes = taken.bytes.swap(0, Ordering::Relaxed);
            respond(StatusCode::OK, format!(r#"{{"units":{units},"bytes":{bytes}}}"#))
        }
        _ => respond(StatusCode::NOT_FOUND, String::new()),
    })
}

/// The text after `"externalId":"`, as it stands: the bench's own identifiers are digits.
fn external_id(body: &[u8]) -> &str {
    let text = std::str::from_utf8(body).unwrap_or_default();
    let after = text.split_once(r#""externalId":""#).map_or("", |(_, after)| after);
    after.split('"').next().unwrap_or_default()
}

fn respond(status: StatusCode, body: impl Into<Bytes>) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(body.into()));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, hyper::header::HeaderValue::from_static("application/json"));
    response
}
