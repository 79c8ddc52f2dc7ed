//! The one task that writes. It takes what is waiting, carries it out in one transaction, and answers after the commit:
//! so requests that arrive together share one sync of the disk. What each write does to the tables is not here but in
//! the table's own file.

use std::mem;

use jiff::Timestamp;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{ConnectOptions, Connection};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

use super::items::{self, Statements};
use super::merge::{ItemUpsert, Stored};
use super::statements::MOST_ROWS;
use super::work::Waiting;

/// Writes that wait for the writer; whoever comes later waits to be let in.
const QUEUE: usize = 1024;

/// The write did not happen. The writer has logged why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotStored;

pub type Reply<T> = oneshot::Sender<Result<T, NotStored>>;

#[expect(clippy::large_enum_variant, reason = "most writes are items, and a box would cost each an allocation")]
pub enum Write {
    Item { upsert: ItemUpsert, reply: Reply<Stored> },
    Work(Box<dyn Waiting>),
}

pub struct WriterHandle {
    stop: oneshot::Sender<()>,
    task: JoinHandle<()>,
}

impl WriterHandle {
    /// Carries out what is waiting, then closes the database.
    pub async fn close(self) {
        let _ = self.stop.send(());
        if let Err(error) = self.task.await {
            tracing::error!(%error, "the writer did not end well");
        }
    }
}

/// The writer ends when its handle is closed or dropped.
pub fn start(connection: SqliteConnection, options: SqliteConnectOptions) -> (mpsc::Sender<Write>, WriterHandle) {
    let (sender, queue) = mpsc::channel(QUEUE);
    let (stop, stopped) = oneshot::channel();
    let writer = Writer { connection: Some(connection), options, statements: Statements::new() };
    let task = tokio::spawn(writer.run(queue, stopped));
    (sender, WriterHandle { stop, task })
}

struct Writer {
    /// None after a failure: what state the connection is in is not known then, so the next group opens another.
    connection: Option<SqliteConnection>,
    options: SqliteConnectOptions,
    statements: Statements,
}

/// The writes of one transaction, by kind, each kind in the order of arrival. None of them has been answered, so none
/// was asked for because of another, and the items may come first.
#[derive(Default)]
struct Group {
    items: Vec<ItemUpsert>,
    item_replies: Vec<Reply<Stored>>,
    work: Vec<Box<dyn Waiting>>,
}

impl Group {
    fn add(&mut self, write: Write) {
        match write {
            Write::Item { upsert, reply } => {
                self.items.push(upsert);
                self.item_replies.push(reply);
            }
            Write::Work(work) => self.work.push(work),
        }
    }
}

impl Writer {
    async fn run(mut self, mut queue: mpsc::Receiver<Write>, mut stopped: oneshot::Receiver<()>) {
        let mut waiting = Vec::with_capacity(MOST_ROWS);
        let mut stopping = false;
        loop {
            let received = tokio::select! {
                biased;
                _ = &mut stopped, if !stopping => {
                    stopping = true;
                    queue.close();
                    continue;
                }
                received = queue.recv_many(&mut waiting, MOST_ROWS) => received,
            };
            if received == 0 {
                break;
            }
            let mut group = Group::default();
            waiting.drain(..).for_each(|write| group.add(write));
            self.carry_out(&mut group).await;
        }
        if !stopping {
            // Nobody is left to send, but readers may be. The connection that is closed last tidies the log away, and
            // only one that may write can.
            let _ = stopped.await;
        }
        if let Some(connection) = self.connection
            && let Err(error) = connection.close().await
        {
            tracing::error!(%error, "the database could not be closed well");
        }
    }

    async fn carry_out(&mut self, group: &mut Group) {
        let replies = mem::take(&mut group.item_replies);
        let committed = self.commit(group).await;
        if let Err(error) = &committed {
            let writes = replies.len() + group.work.len();
            tracing::error!(%error, writes, "a group of writes failed; none of it was stored");
        }
        for work in group.work.drain(..) {
            work.answer(committed.is_ok());
        }
        match committed {
            // Whoever asked may have gone; what was asked is done all the same.
            Ok(stored) => replies.into_iter().zip(stored).for_each(|(reply, stored)| drop(reply.send(Ok(stored)))),
            Err(_) => replies.into_iter().for_each(|reply| drop(reply.send(Err(NotStored)))),
        }
    }

    async fn commit(&mut self, group: &mut Group) -> Result<Vec<Stored>, sqlx::Error> {
        let mut connection = match self.connection.take() {
            Some(connection) => connection,
            None => self.options.connect().await?,
        };
        let stored = self.commit_on(&mut connection, group).await;
        match stored {
            Ok(_) => self.connection = Some(connection),
            // Closed and not dropped: it ends later then, and until it has, it may hold the lock that the next one needs.
            Err(_) => drop(connection.close().await),
        }
        stored
    }

    async fn commit_on(
        &self,
        connection: &mut SqliteConnection,
        group: &mut Group,
    ) -> Result<Vec<Stored>, sqlx::Error> {
        let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await?;
        let now = Timestamp::now();
        let stored = items::upsert(&mut transaction, &self.statements, &group.items, now).await?;
        for work in &mut group.work {
            work.run(&mut transaction, &self.statements, now).await?;
        }
        transaction.commit().await?;
        Ok(stored)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use sqlx::raw_sql;

    use super::*;
    use crate::service::store::{ItemFields, Outcome, Store};

    fn upsert(external_id: &str) -> ItemUpsert {
        ItemUpsert {
            workspace: Arc::from("w"),
            id: None,
            external_id: external_id.to_owned(),
            fields: ItemFields::default(),
        }
    }

    #[tokio::test]
    async fn the_writer_goes_on_after_a_group_that_failed() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("service.db");
        let (store, closer) = Store::open(&path, Duration::from_millis(1)).await.expect("opened");
        assert_eq!(store.upsert_item(upsert("A")).await.map(|s| s.outcome), Ok(Outcome::Created));

        let mut other = SqliteConnectOptions::new().filename(&path).connect().await.expect("connected");
        raw_sql("BEGIN IMMEDIATE").execute(&mut other).await.expect("locked");
        assert_eq!(store.upsert_item(upsert("B")).await, Err(NotStored));
        raw_sql("ROLLBACK").execute(&mut other).await.expect("unlocked");
        assert_eq!(store.upsert_item(upsert("B")).await.map(|s| s.outcome), Ok(Outcome::Created));

        raw_sql("ALTER TABLE items RENAME TO gone").execute(&mut other).await.expect("renamed");
        assert_eq!(store.upsert_item(upsert("C")).await, Err(NotStored));
        raw_sql("ALTER TABLE gone RENAME TO items").execute(&mut other).await.expect("renamed");
        assert_eq!(store.upsert_item(upsert("C")).await.map(|s| s.outcome), Ok(Outcome::Created));

        let page = store.item_page("w", 1, 10).await.expect("read");
        assert_eq!(page.total, 3, "positions stay dense after failures");
        drop(other);
        closer.close().await;
    }

    #[tokio::test]
    async fn groups_of_many_lose_nothing_and_create_each_item_once() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("service.db");
        let (store, closer) = Store::open(&path, Duration::from_millis(1)).await.expect("opened");
        let names: Vec<_> = (0..300).map(|n| format!("{}", n % 150)).collect();
        let stored = futures_util::future::join_all(names.iter().map(|name| store.upsert_item(upsert(name)))).await;
        let stored: Vec<Stored> = stored.into_iter().collect::<Result<_, _>>().expect("stored");
        assert_eq!(stored.iter().filter(|s| s.outcome == Outcome::Created).count(), 150);
        assert!(stored[..150].iter().zip(&stored[150..]).all(|(first, second)| first.id == second.id));

        let mut listed = Vec::new();
        for number in 1..=2 {
            let page = store.item_page("w", number, 100).await.expect("read");
            assert_eq!(page.total, 150);
            let entries: Vec<serde_json::Value> = serde_json::from_str(&format!("[{}]", page.entries)).expect("JSON");
            listed.extend(entries.iter().filter_map(|entry| entry["id"].as_str().map(str::to_owned)));
        }
        let mut ids: Vec<String> = stored[..150].iter().map(|s| s.id.clone()).collect();
        listed.sort();
        ids.sort();
        assert_eq!(listed, ids);
        closer.close().await;
    }
}
