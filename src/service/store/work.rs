//! Writes that look before they change anything: a piece of work runs within the writer's transaction, sees what came
//! before it, and is answered after the commit. What it does is not known here but in the resource's own file.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use jiff::Timestamp;
use sqlx::sqlite::SqliteConnection;
use tokio::sync::oneshot;
use uuid::Uuid;

use super::items::{self, Catalogued, ItemKey, Statements};
use super::merge::{ItemUpsert, Stored};
use super::records::{self, Key, Kind, Record};
use super::writer::{NotStored, Reply};

/// A piece of work for one workspace. It has to find out whether it can be done before it writes: an error of the
/// database undoes the whole group, but what is answered otherwise is committed.
pub trait Work: Send + 'static {
    type Done: Send + 'static;

    fn workspace(&self) -> &Arc<str>;

    fn run(self, tx: &mut Tx<'_>) -> impl Future<Output = Result<Self::Done, sqlx::Error>> + Send;
}

/// The writer's transaction, as one workspace sees it.
pub struct Tx<'a> {
    connection: &'a mut SqliteConnection,
    statements: &'a Statements,
    workspace: Arc<str>,
    now: Timestamp,
}

impl Tx<'_> {
    /// The time of everything in this transaction, in milliseconds since 1970.
    pub fn now(&self) -> i64 {
        self.now.as_millisecond()
    }

    pub async fn find(&mut self, kind: Kind, key: Key<'_>) -> Result<Option<Record>, sqlx::Error> {
        records::find(self.connection, &self.workspace, kind, key).await
    }

    /// By the service's id, or else by the number.
    pub async fn find_named(&mut self, kind: Kind, name: &str) -> Result<Option<Record>, sqlx::Error> {
        match self.find(kind, Key::Id(name)).await? {
            Some(record) => Ok(Some(record)),
            None => self.find(kind, Key::Number(name)).await,
        }
    }

    /// A record that is not stored yet, with an id and the next position, without keys and content.
    pub async fn new_record(&mut self, kind: Kind) -> Result<Record, sqlx::Error> {
        Ok(Record {
            id: Uuid::now_v7().to_string(),
            position: records::next_position(self.connection, &self.workspace, kind).await?,
            number: None,
            external_id: None,
            created_at: self.now(),
            updated_at: self.now(),
            shown: String::new(),
            kept: None,
        })
    }

    pub async fn insert(&mut self, kind: Kind, record: &Record) -> Result<(), sqlx::Error> {
        records::insert(self.connection, &self.workspace, kind, record).await
    }

    pub async fn update(&mut self, kind: Kind, record: &Record) -> Result<(), sqlx::Error> {
        records::update(self.connection, &self.workspace, kind, record).await
    }

    /// The items with these keys, each in the place of its key.
    pub async fn find_items(&mut self, keys: &[ItemKey<'_>]) -> Result<Vec<Option<Catalogued>>, sqlx::Error> {
        items::find(self.connection, self.statements, &self.workspace, keys).await
    }

    /// The upserts have to be of this transaction's workspace.
    pub async fn upsert_items(&mut self, upserts: &[ItemUpsert]) -> Result<Vec<Stored>, sqlx::Error> {
        debug_assert!(upserts.iter().all(|upsert| upsert.workspace == self.workspace));
        items::upsert(self.connection, self.statements, upserts, self.now).await
    }
}

/// A piece of work that waits for the writer, then for the commit.
pub trait Waiting: Send {
    fn run<'a>(
        &'a mut self,
        connection: &'a mut SqliteConnection,
        statements: &'a Statements,
        now: Timestamp,
    ) -> BoxFuture<'a, Result<(), sqlx::Error>>;

    /// Says what became of it. Whoever asked may have gone; what was asked is done all the same.
    fn answer(self: Box<Self>, committed: bool);
}

pub struct Pending<W: Work> {
    work: Option<W>,
    done: Option<W::Done>,
    reply: Reply<W::Done>,
}

impl<W: Work> Pending<W> {
    pub fn new(work: W) -> (Pending<W>, oneshot::Receiver<Result<W::Done, NotStored>>) {
        let (reply, done) = oneshot::channel();
        (Pending { work: Some(work), done: None, reply }, done)
    }
}

impl<W: Work> Waiting for Pending<W> {
    fn run<'a>(
        &'a mut self,
        connection: &'a mut SqliteConnection,
        statements: &'a Statements,
        now: Timestamp,
    ) -> BoxFuture<'a, Result<(), sqlx::Error>> {
        Box::pin(async move {
            if let Some(work) = self.work.take() {
                let workspace = work.workspace().clone();
                self.done = Some(work.run(&mut Tx { connection, statements, workspace, now }).await?);
            }
            Ok(())
        })
    }

    fn answer(self: Box<Self>, committed: bool) {
        let done = self.done.filter(|_| committed).ok_or(NotStored);
        let _ = self.reply.send(done);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::service::store::Store;

    /// Inserts a record, then fails if it is to.
    struct Insert {
        workspace: Arc<str>,
        fails: bool,
    }

    impl Work for Insert {
        type Done = i64;

        fn workspace(&self) -> &Arc<str> {
            &self.workspace
        }

        async fn run(self, tx: &mut Tx<'_>) -> Result<i64, sqlx::Error> {
            let mut record = tx.new_record(Kind::Job).await?;
            record.shown.push_str("{}");
            tx.insert(Kind::Job, &record).await?;
            if self.fails { Err(sqlx::Error::RowNotFound) } else { Ok(record.position) }
        }
    }

    #[tokio::test]
    async fn work_that_fails_leaves_nothing_and_work_after_it_goes_on() {
        let folder = tempfile::tempdir().expect("a folder");
        let (store, closer) = Store::open(&folder.path().join("work.db"), Duration::ZERO).await.expect("opened");
        let insert = |workspace: &str, fails| store.carry_out(Insert { workspace: workspace.into(), fails });
        assert_eq!(insert("w", false).await, Ok(1));
        assert_eq!(insert("w", true).await, Err(NotStored));
        assert_eq!(insert("w", false).await, Ok(2));
        assert_eq!(insert("other", false).await, Ok(1));
        let pages = [("w", 2), ("other", 1), ("nobody", 0)];
        for (workspace, total) in pages {
            assert_eq!(store.record_page(workspace, Kind::Job, 1, 10).await.expect("read").total, total);
        }
        closer.close().await;
    }
}
