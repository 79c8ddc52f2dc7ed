//! The writer task. Commits all waiting writes in one transaction, so that concurrent requests share one sync of the disk.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use jiff::Timestamp;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{ConnectOptions, Connection};
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, sleep_until};

use super::items::{self, ItemUpsert};
use super::journal::{self, Journal, RequestEntry};
use super::model::{Origin, Stored};
use super::transaction::{Transaction, Work};

/// Maximum number of waiting writes; further ones wait for a place in the queue.
const QUEUE: usize = 1024;

/// Maximum number of writes per transaction.
const BATCH: usize = 256;

/// How long requests wait to be written to the journal together.
const JOURNAL_DELAY: Duration = Duration::from_millis(50);

/// An entry of the writer's queue. If the write fails, its reply channel is dropped.
pub(super) enum Write {
    Item {
        origin: Origin,
        upsert: ItemUpsert,
        reply: oneshot::Sender<Stored>,
    },
    Work(BoxedWork),
    /// Closes the database after the writes before this one.
    Close(oneshot::Sender<()>),
}

/// Runs a [`Work`] and notes its changes. Returns the action that replies to its caller, to be called after the commit.
type BoxedWork =
    Box<dyn for<'a> FnOnce(&'a mut SqliteConnection, i64) -> BoxFuture<'a, Result<Reply, sqlx::Error>> + Send>;
type Reply = Box<dyn FnOnce() + Send>;

impl Write {
    pub(super) fn work<W: Work>(origin: Origin, work: W, reply: oneshot::Sender<W::Done>) -> Write {
        Write::Work(Box::new(move |connection, now| {
            Box::pin(async move {
                let Origin { workspace, request } = &origin;
                let (changes, read) = (Vec::new(), HashMap::new());
                let mut tx = Transaction { connection, workspace, now, request: *request, changes, read };
                let done = work.run(&mut tx).await?;
                journal::write_changes(tx.connection, workspace, &tx.changes).await?;
                Ok(self::reply(reply, done))
            })
        }))
    }
}

/// Returns the action that sends a result. The write stays committed even if the caller no longer waits.
fn reply<T: Send + 'static>(sender: oneshot::Sender<T>, result: T) -> Reply {
    Box::new(move || drop(sender.send(result)))
}

/// Starts the writer, which ends after [`Write::Close`] or when the last sender is dropped.
pub(super) fn start(
    connection: SqliteConnection,
    options: SqliteConnectOptions,
    journal: Arc<Journal>,
) -> mpsc::Sender<Write> {
    let (sender, queue) = mpsc::channel(QUEUE);
    tokio::spawn(Writer { connection: Some(connection), options, journal }.run(queue));
    sender
}

struct Writer {
    /// `None` after a failed batch, which leaves the connection in an unknown state. The next batch reconnects.
    connection: Option<SqliteConnection>,
    options: SqliteConnectOptions,
    journal: Arc<Journal>,
}

/// The writes of one transaction. Items come first, grouped by workspace: no caller has a reply yet, so no write can
/// depend on another of the same batch.
#[derive(Default)]
struct Batch {
    items: HashMap<Arc<str>, ItemBatch>,
    work: Vec<BoxedWork>,
    close: Option<oneshot::Sender<()>>,
}

#[derive(Default)]
struct ItemBatch {
    upserts: Vec<(Option<i64>, ItemUpsert)>,
    replies: Vec<oneshot::Sender<Stored>>,
}

impl Writer {
    async fn run(mut self, mut queue: mpsc::Receiver<Write>) {
        let mut waiting = Vec::with_capacity(BATCH);
        // When to write the journal, unless another write comes before.
        let mut journal_due = None;
        loop {
            tokio::select! {
                biased;
                received = queue.recv_many(&mut waiting, BATCH) => if received == 0 {
                    // Dropped without being closed, as in a crash: another service may have the database already.
                    return;
                },
                () = sleep_until(journal_due.unwrap_or_else(Instant::now)), if journal_due.is_some() => {}
                () = self.journal.added(), if journal_due.is_none() => {
                    journal_due = Some(Instant::now() + JOURNAL_DELAY);
                    continue;
                }
            }
            journal_due = None;
            let mut batch = Batch::default();
            waiting.drain(..).for_each(|write| batch.add(write));
            let close = batch.close.take();
            match self.commit(batch).await {
                Ok(replies) => replies.into_iter().for_each(|reply| reply()),
                Err(error) => tracing::error!(%error, "a batch of writes failed and was rolled back"),
            }
            if let Some(closed) = close {
                if let Some(connection) = self.connection
                    && let Err(error) = connection.close().await
                {
                    tracing::error!(%error, "failed to close the database");
                }
                let _ = closed.send(());
                return;
            }
        }
    }

    async fn commit(&mut self, batch: Batch) -> Result<Vec<Reply>, sqlx::Error> {
        if batch.items.is_empty() && batch.work.is_empty() && self.journal.is_empty() {
            return Ok(Vec::new());
        }
        let mut connection = match self.connection.take() {
            Some(connection) => connection,
            None => self.options.connect().await?,
        };
        let requests = self.journal.take();
        match batch.commit(&mut connection, &self.journal, &requests).await {
            Ok(replies) => {
                self.connection = Some(connection);
                Ok(replies)
            }
            Err(error) => {
                self.journal.put_back(requests);
                // The connection may hold a lock until it is closed.
                let _ = connection.close().await;
                Err(error)
            }
        }
    }
}

impl Batch {
    fn add(&mut self, write: Write) {
        match write {
            Write::Item { origin, upsert, reply } => {
                let items = self.items.entry(origin.workspace).or_default();
                items.upserts.push((origin.request, upsert));
                items.replies.push(reply);
            }
            Write::Work(work) => self.work.push(work),
            Write::Close(closed) => self.close = Some(closed),
        }
    }

    async fn commit(
        self,
        connection: &mut SqliteConnection,
        journal: &Journal,
        requests: &VecDeque<RequestEntry>,
    ) -> Result<Vec<Reply>, sqlx::Error> {
        let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await?;
        let now = Timestamp::now().as_millisecond();
        let mut replies = Vec::with_capacity(BATCH);
        for (workspace, items) in self.items {
            let mut changes = Vec::new();
            let stored = items::upsert(&mut transaction, &workspace, items.upserts, now, &mut changes).await?;
            journal::write_changes(&mut transaction, &workspace, &changes).await?;
            replies.extend(items.replies.into_iter().zip(stored).map(|(sender, stored)| reply(sender, stored)));
        }
        for work in self.work {
            replies.push(work(&mut transaction, now).await?);
        }
        journal.write(&mut transaction, requests).await?;
        transaction.commit().await?;
        Ok(replies)
    }
}
