//! The status of a worker: `/livez`, `/readyz`, and `/metrics` in the text format of Prometheus.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use sheetport_jobs::{LedgerHealth, Place, WorkEvent};
use sheetport_ledger::Backlog;
use sheetport_operations::Context;
use sheetport_telemetry::{Reading, ReadingKind};
use sheetport_web as web;
use tokio::net::TcpListener;
use tower::ServiceExt;

use super::page::{RunsPage, STYLE};
use crate::error::{ErrorCode, Failure};

/// Time for a client to take a byte.
const WRITE_TIMEOUT: Duration = Duration::from_secs(10);

/// Counters since the start of the worker.
#[derive(Debug, Default)]
pub(super) struct Counts {
    /// Whether the worker has begun to work.
    has_begun: AtomicBool,
    /// Parts taken, and parts given back.
    taken: AtomicU64,
    ended: AtomicU64,
    sent: AtomicU64,
    failed: AtomicU64,
    unknown: AtomicU64,
    retries: AtomicU64,
    throttled: AtomicU64,
    finished_runs: AtomicU64,
    stopped_runs: AtomicU64,
    ledger_errors: AtomicU64,
    files_done: AtomicU64,
    files_failed: AtomicU64,
}

impl Counts {
    pub(super) fn note(&self, event: WorkEvent<'_>) {
        let add = |count: &AtomicU64, number: u64| {
            count.fetch_add(number, Ordering::Relaxed);
        };
        match event {
            WorkEvent::Ready => self.has_begun.store(true, Ordering::Relaxed),
            WorkEvent::Taken { .. } => add(&self.taken, 1),
            WorkEvent::Sent { progress, .. } => {
                add(&self.ended, 1);
                add(&self.sent, progress.sent);
                add(&self.failed, progress.failed);
                add(&self.unknown, progress.unknown);
                add(&self.retries, progress.retries);
                add(&self.throttled, progress.throttled);
            }
            WorkEvent::Finished { .. } => add(&self.finished_runs, 1),
            WorkEvent::Stopped { .. } => add(&self.stopped_runs, 1),
            WorkEvent::Warned { .. }
            | WorkEvent::SetAside { .. }
            | WorkEvent::Removed { .. }
            | WorkEvent::FileTaken { .. } => {}
            WorkEvent::File(file) => match file.place {
                Place::Done => add(&self.files_done, 1),
                Place::Failed => add(&self.files_failed, 1),
                Place::Same | Place::Kept => {}
            },
            WorkEvent::Lost { .. } => {
                // The parts in progress are lost together with the connection.
                self.ended.store(self.taken.load(Ordering::Relaxed), Ordering::Relaxed);
                add(&self.ledger_errors, 1);
            }
        }
    }

    /// Returns the counters of the worker itself. Those of records and requests are in the metrics of sending, too.
    pub(super) fn of_worker(&self) -> Vec<Reading> {
        let is_of_sending =
            |name: &str| name.starts_with("records_") || matches!(name, "retries_total" | "throttled_total");
        self.readings().into_iter().filter(|reading| !is_of_sending(reading.name)).collect()
    }

    fn readings(&self) -> [Reading; 12] {
        let read = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let (taken, ended) = (read(&self.taken), read(&self.ended));
        let counter = |name, help, value| Reading { name, kind: ReadingKind::Counter, help, value };
        [
            gauge("parts_in_progress", "Parts of runs being sent", taken.saturating_sub(ended)),
            counter("parts_total", "Parts of runs taken", taken),
            counter("records_sent_total", "Records accepted by the service", read(&self.sent)),
            counter("records_failed_total", "Records refused by the service", read(&self.failed)),
            counter("records_unknown_total", "Records with an unknown outcome", read(&self.unknown)),
            counter("retries_total", "Requests that repeat an earlier one", read(&self.retries)),
            counter("throttled_total", "Answers 429 of the service", read(&self.throttled)),
            counter("runs_finished_total", "Runs finished by this worker", read(&self.finished_runs)),
            counter("runs_stopped_total", "Runs stopped by this worker", read(&self.stopped_runs)),
            counter("files_done_total", "Files of the inbox sent without problems", read(&self.files_done)),
            counter("files_failed_total", "Files of the inbox with problems", read(&self.files_failed)),
            counter("ledger_errors_total", "Times that the ledger could not be used", read(&self.ledger_errors)),
        ]
    }

    fn as_text(&self, is_ready: bool) -> String {
        let ready = gauge("ready", "1 if the ledger can be used", u64::from(is_ready));
        let readings = std::iter::once(ready).chain(self.readings());
        let lines = readings.map(|Reading { name, kind, help, value }| {
            let (name, kind) = (format!("sheetport_worker_{name}"), kind.name());
            format!("# HELP {name} {help}\n# TYPE {name} {kind}\n{name} {value}\n")
        });
        lines.collect()
    }
}

/// Returns the metrics of the queue, the same on each worker of a ledger.
fn queue_as_text(backlog: &[Backlog]) -> String {
    type Number = fn(&Backlog) -> u64;
    let metrics: [(&str, &str, Number); 4] = [
        ("queued_runs", "Queued runs", |of| of.runs),
        ("queued_records", "Pending records of queued runs", |of| of.records),
        ("oldest_waiting_seconds", "Time since the oldest run was queued that no worker is sending", |of| {
            of.waits.as_secs()
        }),
        ("set_aside_runs", "Queued runs that the last worker that tried could not send", |of| of.set_aside),
    ];
    let mut text = String::new();
    for (name, help, number) in metrics {
        text.push_str(&format!("# HELP sheetport_{name} {help}\n# TYPE sheetport_{name} gauge\n"));
        for of in backlog {
            let (service, workspace) = (label(&of.base_url), label(&of.workspace));
            text.push_str(&format!(
                "sheetport_{name}{{service=\"{service}\",workspace=\"{workspace}\"}} {}\n",
                number(of)
            ));
        }
    }
    text
}

/// Returns the value of a label.
fn label(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

fn gauge(name: &'static str, help: &'static str, value: u64) -> Reading {
    Reading { name, kind: ReadingKind::Gauge, help, value }
}

/// The server for the metrics.
pub(super) struct Monitor {
    listener: TcpListener,
    status: Arc<Status>,
}

/// What the pages show.
struct Status {
    counts: Arc<Counts>,
    health: LedgerHealth,
    /// The page of runs, if it is to be shown.
    runs: Option<RunsPage>,
}

impl Status {
    fn is_ready(&self) -> bool {
        self.counts.has_begun.load(Ordering::Relaxed) && self.health.is_usable()
    }
}

impl Monitor {
    /// Listens on `address`, and begins to ask the ledger of `context` whether it can be used. `shows_runs`: serves a page of its runs, too.
    pub(super) async fn listen(
        address: SocketAddr,
        counts: Arc<Counts>,
        context: &Context,
        shows_runs: bool,
    ) -> Result<Monitor, Failure> {
        let listener = TcpListener::bind(address).await.map_err(|error| {
            let message = format!("the worker can't listen on {address}: {error}");
            Failure::new(ErrorCode::Usage, message, "choose another address or port with --listen")
        })?;
        let status = Arc::new(Status {
            counts,
            health: LedgerHealth::watch(context),
            runs: shows_runs.then(|| RunsPage::new(context, address)),
        });
        Ok(Monitor { listener, status })
    }

    pub(super) fn address(&self) -> String {
        self.listener.local_addr().map_or_else(|_| String::new(), |address| address.to_string())
    }

    /// Answers requests as long as the worker works.
    pub(super) async fn serve(self) -> Infallible {
        let routes = Router::new()
            .route("/livez", get(async || "ok\n"))
            .route("/readyz", get(ready))
            .route("/metrics", get(metrics))
            .route("/", get(runs))
            .route("/runs.css", get(async || ([(header::CONTENT_TYPE, "text/css; charset=utf-8")], STYLE)))
            .with_state(self.status);
        let respond = move |request| routes.clone().oneshot(request);
        web::serve(vec![self.listener], respond, WRITE_TIMEOUT, std::future::pending()).await;
        std::future::pending().await
    }
}

async fn ready(State(status): State<Arc<Status>>) -> impl IntoResponse {
    match status.is_ready() {
        true => (StatusCode::OK, "ok\n"),
        false => (StatusCode::SERVICE_UNAVAILABLE, "the ledger can't be used\n"),
    }
}

async fn runs(State(status): State<Arc<Status>>, request: Request) -> Response {
    match &status.runs {
        Some(page) => page.answer(request).await,
        None => (StatusCode::NOT_FOUND, "start the worker with --show-runs to see the runs here\n").into_response(),
    }
}

async fn metrics(State(status): State<Arc<Status>>) -> impl IntoResponse {
    let text = status.counts.as_text(status.is_ready()) + &queue_as_text(&status.health.backlog());
    ([(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], text)
}
