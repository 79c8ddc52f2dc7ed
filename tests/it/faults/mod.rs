//! Sending to a service that fails, stalls and sends invalid answers: every record must still be accounted for.

mod answers;
mod doubles;
pub mod exports;
mod flips;
mod interleavings;
mod kinds;
mod movements;
mod once;
mod page_sizes;
mod pagers;
mod pauses;
pub mod server;
mod stage;
mod stops;
mod tokens;
mod torture;

use std::sync::Arc;
use std::time::Duration;

use sheetport_client::auth::Credentials;
use sheetport_client::{Client, ConnectOptions};
use sheetport_ledger::{
    Accounting, Disposition, Ledger, LockedRun, NewRun, Origin, Outcome, Part, PlannedRecord, RecordState, RunCommand,
    RunId, RunSettings, Seq, SheetSelection, SourceRow,
};
use sheetport_records::RecordKind;
use sheetport_send::{Limits, SendResult, StopReason, Work};
use sheetport_sheet::{Cell, Row};
use tempfile::TempDir;

use server::Server;

/// A planned run and the ledger that holds it.
pub struct Planned {
    pub folder: TempDir,
    pub ledger: Ledger,
    pub kind: RecordKind,
    pub run: RunId,
    pub total: u64,
}

impl Planned {
    /// Plans an item per key in a new ledger.
    pub async fn new(keys: &[&str]) -> Planned {
        let records = keys.iter().enumerate().map(|(seq, key)| record(seq, key));
        Planned::with(RecordKind::Item, records.collect()).await
    }

    /// Plans these records in a new ledger.
    pub async fn with(kind: RecordKind, records: Vec<PlannedRecord>) -> Planned {
        let folder = tempfile::tempdir().unwrap();
        let ledger = Ledger::open(folder.path()).await.unwrap();
        let about = NewRun { record: kind, ..about() };
        let mut plan = ledger.begin_plan(&about, 1).await.unwrap();
        let total = records.len() as u64;
        for (seq, record) in records.into_iter().enumerate() {
            plan.add_row(row(seq)).await.unwrap();
            plan.add_record(record).await.unwrap();
        }
        let run = plan.finish(1).await.unwrap();
        Planned { folder, ledger, kind, run, total }
    }

    /// Plans `count` records of a kind with a non-idempotent call.
    pub async fn once(kind: RecordKind, count: usize) -> Planned {
        Planned::with(kind, (0..count).map(|seq| unnamed(kind, seq)).collect()).await
    }

    /// Plans `count` items with different keys.
    pub async fn many(count: usize) -> Planned {
        let keys: Vec<String> = (0..count).map(|number| number.to_string()).collect();
        Planned::new(&keys.iter().map(String::as_str).collect::<Vec<_>>()).await
    }

    pub async fn send(&self, server: &Server, concurrency: usize) -> Option<StopReason> {
        self.send_with(client(server, concurrency), concurrency).await
    }

    pub async fn send_with(&self, client: Arc<Client>, concurrency: usize) -> Option<StopReason> {
        self.send_until(client, concurrency, std::future::pending()).await.stopped
    }

    pub async fn send_until(
        &self,
        client: Arc<Client>,
        concurrency: usize,
        interrupt: impl Future<Output = Duration> + Send,
    ) -> SendResult {
        let kind = self.kind;
        let locked = self.ledger.lock_run(self.run).await.unwrap();
        let work = work(&self.ledger, client, &locked, kind, concurrency);
        let interrupt = async { interrupt.await.into() };
        sheetport_send::send(&work, None, Box::pin(interrupt), &|_| {}).await.unwrap()
    }

    /// Returns the accounting and checks that it adds up.
    pub async fn accounting(&self) -> Accounting {
        let accounting = self.ledger.accounting(self.run).await.unwrap();
        assert_adds_up(&accounting);
        assert_eq!(accounting.total, self.total);
        accounting
    }

    pub async fn outcome(&self, seq: Seq) -> Outcome {
        let mut outcomes = self.ledger.outcomes(self.run, seq..=seq).await.unwrap();
        outcomes.remove(&seq).unwrap_or_else(|| panic!("record {seq} has no outcome"))
    }

    /// Returns the first record's state and messages.
    pub async fn first(&self) -> (RecordState, String) {
        let outcome = self.outcome(0).await;
        let words: Vec<_> = outcome.problems.into_iter().map(|problem| problem.message).collect();
        (outcome.state, words.join("; "))
    }

    /// Sends the pending records to a healthy service and checks that none is left.
    pub async fn resumes(&self) {
        let sane = Server::start(|_| server::Reply::Accept).await;
        assert_eq!(self.send(&sane, 4).await, None);
        assert_eq!(self.accounting().await.pending, 0);
    }
}

pub fn assert_adds_up(of: &Accounting) {
    let parts = of.sent + of.unchanged + of.skipped + of.rejected + of.failed + of.unknown + of.pending;
    assert_eq!(of.total, parts, "{of:?}");
}

/// Returns what to send: all records of a run, as fast as the service answers.
pub fn work<'a>(
    ledger: &'a Ledger,
    client: Arc<Client>,
    run: &LockedRun,
    kind: RecordKind,
    concurrency: usize,
) -> Work<'a> {
    Work {
        ledger,
        client,
        part: Part::whole(run.id()),
        kind,
        concurrency,
        rate: None,
        shares_rate_of: None,
        limits: Limits::default(),
        policy: Default::default(),
        keys: None,
    }
}

pub fn client(server: &Server, concurrency: usize) -> Arc<Client> {
    client_of(&server.address, Some("access-1"), Some("refresh-1"), concurrency)
}

pub fn client_of(address: &str, access: Option<&str>, refresh: Option<&str>, concurrency: usize) -> Arc<Client> {
    let (access, refresh) = (access.map(Into::into), refresh.map(Into::into));
    let credentials = Credentials { access, refresh, file: None };
    Arc::new(Client::new(address, credentials, &ConnectOptions::default(), concurrency).unwrap())
}

pub fn about() -> NewRun {
    NewRun {
        command: RunCommand::Upload,
        record: RecordKind::Item,
        template: "t".into(),
        template_toml: String::new(),
        lookups: None,
        file: "items.csv".into(),
        file_hash: "00".into(),
        readers: sheetport_files::readers::Readers::Everyone,
        text_form: None,
        base_url: "http://localhost/".into(),
        workspace: "w".into(),
        sheet: SheetSelection::One(String::new()),
        header: vec!["SKU".into()],
        header_row: 1,
        columns: vec![("externalId".into(), 0)],
        name_columns: Vec::new(),
        chosen: None,
        retry_of: None,
        undo_of: None,
        options: Vec::new(),
        settings: RunSettings::default(),
    }
}

pub fn row(seq: usize) -> SourceRow {
    let (mut row, mut cells) = (Row::default(), Vec::new());
    row.push(Cell::Text("x"));
    row.encode(&mut cells);
    let sheet = String::new();
    SourceRow { number: seq as u64 + 2, cell: None, seq: seq as Seq, cells, sheet, origin: Origin::Same }
}

pub fn record(seq: usize, key: &str) -> PlannedRecord {
    let body = format!(r#"{{"externalId":"{key}","name":"item {seq}","price":1.10}}"#);
    PlannedRecord {
        key: Some(key.to_owned()),
        target: None,
        rows: vec![seq as u64 + 2],
        disposition: Disposition::Send(body.into()),
        sheet: String::new(),
        command: None,
        warnings: Vec::new(),
    }
}

/// Returns a record without a key.
pub fn unnamed(kind: RecordKind, seq: usize) -> PlannedRecord {
    let body = match kind {
        RecordKind::InventoryTransaction => format!(r#"{{"transactionType":"in","amount":{seq}}}"#),
        _ => format!(r#"{{"cid":"c-{seq}","currency":"EUR","items":[{{"id":"i","amount":{seq}}}]}}"#),
    };
    PlannedRecord {
        key: None,
        target: None,
        rows: vec![seq as u64 + 2],
        disposition: Disposition::Send(body.into()),
        sheet: String::new(),
        command: None,
        warnings: Vec::new(),
    }
}
