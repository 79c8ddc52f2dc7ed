//! The writer tasks. Each commits the writes in its queue in batches. A file has one writer and one transaction for all
//! workspaces. On a server, the writes of a workspace are one transaction, under a lock that serializes the services.
//!
//! On a server, services share nothing but the database: the writes of a workspace go to one of four writers, and the advisory lock of the
//! workspace makes the reads and writes in a batch as exclusive as in SQLite. Positions of records and of kept responses are therefore
//! numbered by workspace. The journal has a separate writer there, and numbers come in blocks from a sequence. After any failure, a
//! writer opens a new connection: the locks of the old connection are unknown.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use jiff::Timestamp;
use sheetport_sql::{self as sql, Dialect, Pool};
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, sleep_until, timeout};
use twox_hash::XxHash3_64;

use super::model::{NotStored, Origin, Stored};
use super::source::Source;
use super::tables::items::{self, ItemUpsert};
use super::tables::journal::{self, Journal, RequestEntry};
use super::tables::{Transaction, Work};

/// Maximum number of waiting writes; further writes wait for a place in the queue.
const QUEUE: usize = 1024;

/// Maximum number of writes per batch.
const BATCH: usize = 256;

/// How long requests wait to be written to the journal together.
const JOURNAL_DELAY: Duration = Duration::from_millis(50);

/// Time after which a batch is aborted, because the server or the connection hangs.
const STALLED: Duration = Duration::from_secs(45);

/// Time for closing connections after a failure.
const CLOSING: Duration = Duration::from_secs(1);

/// An entry in the queue of a writer. If the write fails, its reply channel is dropped.
pub(super) enum Write {
    Item {
        origin: Origin,
        upsert: ItemUpsert,
        reply: oneshot::Sender<Stored>,
    },
    Work {
        workspace: Arc<str>,
        work: BoxedWork,
    },
    /// Closes the database after all earlier writes.
    Close(oneshot::Sender<()>),
}

/// Runs a [`Work`] and records its changes. Returns the reply to its caller, to be sent after the commit.
pub(super) type BoxedWork =
    Box<dyn for<'a> FnOnce(&'a mut sql::Transaction, i64) -> BoxFuture<'a, Result<Reply, sqlx::Error>> + Send>;
type Reply = Box<dyn FnOnce() + Send>;

impl Write {
    pub(super) fn work<W: Work>(origin: Origin, work: W, reply: oneshot::Sender<W::Done>) -> Write {
        let workspace = origin.workspace.clone();
        let work: BoxedWork = Box::new(move |sql, now| {
            Box::pin(async move {
                let Origin { workspace, request } = &origin;
                let (changes, read) = (Vec::new(), HashMap::new());
                let mut tx = Transaction { sql, workspace, now, request: *request, changes, read };
                let done = work.run(&mut tx).await?;
                journal::write_changes(tx.sql, workspace, &tx.changes).await?;
                Ok(self::reply(reply, done))
            })
        });
        Write::Work { workspace, work }
    }
}

/// Returns the action that sends a result. The write stays committed even if the caller has stopped waiting.
fn reply<T: Send + 'static>(sender: oneshot::Sender<T>, result: T) -> Reply {
    Box::new(move || drop(sender.send(result)))
}

/// Starts a writer. It ends after [`Write::Close`] or when the last sender is dropped, and also writes the journal, if given.
pub(super) fn start(source: Source, journal: Option<Arc<Journal>>) -> mpsc::Sender<Write> {
    let (sender, queue) = mpsc::channel(QUEUE);
    let pool = source.pool(1);
    tokio::spawn(Writer { pool, source, journal }.run(queue));
    sender
}

struct Writer {
    /// A single connection. Replaced after a failed batch, because its state is then unknown.
    pool: Pool,
    source: Source,
    journal: Option<Arc<Journal>>,
}

/// The writes of several callers, by workspace.
#[derive(Default)]
struct Batch {
    workspaces: BTreeMap<Arc<str>, Writes>,
    close: Option<oneshot::Sender<()>>,
}

/// The writes of a workspace. Items come first: no caller has a reply yet, so no write can depend on another of the same batch.
#[derive(Default)]
struct Writes {
    upserts: Vec<(Option<i64>, ItemUpsert)>,
    replies: Vec<oneshot::Sender<Stored>>,
    work: Vec<BoxedWork>,
}

/// The writes of a transaction.
struct Unit {
    workspaces: Vec<(Arc<str>, Writes)>,
    requests: VecDeque<RequestEntry>,
}

impl Writer {
    async fn run(mut self, mut queue: mpsc::Receiver<Write>) {
        let mut waiting = Vec::with_capacity(BATCH);
        // When to write the journal, unless another write comes before.
        let mut journal_due = None;
        loop {
            let has_news = async {
                match &self.journal {
                    Some(journal) => journal.added().await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                biased;
                received = queue.recv_many(&mut waiting, BATCH) => if received == 0 {
                    // Dropped without being closed, as in a crash: another service may have the database already.
                    return;
                },
                () = sleep_until(journal_due.unwrap_or_else(Instant::now)), if journal_due.is_some() => {}
                () = has_news, if journal_due.is_none() => {
                    journal_due = Some(Instant::now() + JOURNAL_DELAY);
                    continue;
                }
            }
            journal_due = None;
            let mut batch = Batch::default();
            waiting.drain(..).for_each(|write| batch.add(write));
            let close = batch.close.take();
            for unit in self.units(batch) {
                for reply in self.commit(unit).await.unwrap_or_default() {
                    reply();
                }
            }
            if let Some(closed) = close {
                self.pool.close().await;
                let _ = closed.send(());
                return;
            }
        }
    }

    /// Divides a batch into transactions.
    fn units(&self, batch: Batch) -> Vec<Unit> {
        let mut units: Vec<Unit> = match self.source.dialect() {
            Dialect::Sqlite if batch.workspaces.is_empty() => Vec::new(),
            Dialect::Sqlite => {
                vec![Unit { workspaces: batch.workspaces.into_iter().collect(), requests: VecDeque::new() }]
            }
            Dialect::Postgres => {
                let one = |workspace| Unit { workspaces: vec![workspace], requests: VecDeque::new() };
                batch.workspaces.into_iter().map(one).collect()
            }
        };
        let requests = self.journal.as_ref().map(|journal| journal.take()).unwrap_or_default();
        if !requests.is_empty() {
            match units.last_mut() {
                Some(last) => last.requests = requests,
                None => units.push(Unit { workspaces: Vec::new(), requests }),
            }
        }
        units
    }

    /// Commits the writes of a transaction and returns the replies to the callers. Logs failures.
    async fn commit(&mut self, mut unit: Unit) -> Result<Vec<Reply>, NotStored> {
        let requests = std::mem::take(&mut unit.requests);
        let committed = timeout(STALLED, unit.commit(&self.pool, self.journal.as_deref(), &requests)).await;
        let cause = match committed {
            Ok(Ok(replies)) => return Ok(replies),
            Ok(Err(error)) => error.to_string(),
            Err(_) => format!("the database has not answered for {} seconds", STALLED.as_secs()),
        };
        tracing::error!(error = cause, "a batch of writes failed and was rolled back");
        if let Some(journal) = &self.journal {
            journal.put_back(requests);
        }
        // The old connection may hold a lock until closed.
        let failed = std::mem::replace(&mut self.pool, self.source.pool(1));
        let _ = timeout(CLOSING, failed.close()).await;
        Err(NotStored)
    }
}

impl Batch {
    fn add(&mut self, write: Write) {
        match write {
            Write::Item { origin, upsert, reply } => {
                let writes = self.workspaces.entry(origin.workspace).or_default();
                writes.upserts.push((origin.request, upsert));
                writes.replies.push(reply);
            }
            Write::Work { workspace, work } => self.workspaces.entry(workspace).or_default().work.push(work),
            Write::Close(closed) => self.close = Some(closed),
        }
    }
}

impl Unit {
    async fn commit(
        self,
        pool: &Pool,
        journal: Option<&Journal>,
        requests: &VecDeque<RequestEntry>,
    ) -> Result<Vec<Reply>, sqlx::Error> {
        let mut transaction = pool.begin().await?;
        let names: Vec<Arc<str>> = self.workspaces.iter().map(|(workspace, _)| workspace.clone()).collect();
        for workspace in names {
            lock(&mut transaction, &workspace).await?;
        }
        let now = Timestamp::now().as_millisecond();
        let mut replies = Vec::with_capacity(BATCH);
        for (workspace, writes) in self.workspaces {
            let mut changes = Vec::new();
            if !writes.upserts.is_empty() {
                let stored = items::upsert(&mut transaction, &workspace, writes.upserts, now, &mut changes).await?;
                journal::write_changes(&mut transaction, &workspace, &changes).await?;
                replies.extend(writes.replies.into_iter().zip(stored).map(|(sender, stored)| reply(sender, stored)));
            }
            for work in writes.work {
                replies.push(work(&mut transaction, now).await?);
            }
        }
        if let Some(journal) = journal {
            journal.write(&mut transaction, requests).await?;
        }
        transaction.commit().await?;
        Ok(replies)
    }
}

/// Serializes writes to the same workspace by services on the same server. The server aborts the transaction of a service that
/// hangs.
async fn lock(transaction: &mut sql::Transaction, workspace: &str) -> Result<(), sqlx::Error> {
    let Some(one_at_a_time) = transaction.dialect().one_at_a_time() else { return Ok(()) };
    let limits = "SELECT set_config('lock_timeout', '20s', TRUE), set_config('statement_timeout', '30s', TRUE), \
                  set_config('idle_in_transaction_session_timeout', '10s', TRUE)";
    sql::query(limits).execute(&mut *transaction).await?;
    let name = XxHash3_64::oneshot(workspace.as_bytes()).cast_signed();
    sql::query(one_at_a_time).bind(name).execute(&mut *transaction).await?;
    Ok(())
}
