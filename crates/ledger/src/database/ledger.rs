//! The ledger over SQLite or PostgreSQL.

use std::path::PathBuf;
use std::sync::Arc;

use sheetport_sql::{Dialect, Pool, ServerAddress, Transaction};

use super::super::error::{Error, corrupt};
use super::super::locks::{Checked, Leases};
use super::mark::Mark;
use super::waits::Waits;

/// The ledger of a user on a machine, or of several machines. Clones share the same connections.
#[derive(Clone, Debug)]
pub struct Ledger {
    /// A pool with a single connection: writers queue here instead of retrying on a busy database.
    pub(crate) writer: Pool,
    pub(crate) reader: Pool,
    /// The folder of files on this machine.
    pub(crate) folder: PathBuf,
    /// The path of the database, or `None` on a server.
    pub(crate) file: Option<PathBuf>,
    /// The address, if it names several servers.
    pub(crate) servers: Option<Arc<ServerAddress>>,
    /// The locks held by this process as rows.
    pub(crate) leases: Leases,
    /// What waits for the file, if another program holds it.
    pub(crate) waits: Arc<Waits>,
    /// How far this machine has written the ledger. `None` if that is not kept.
    pub(super) mark: Option<Arc<Mark>>,
    /// Whether [`Ledger::close`] leaves the connections to the owner.
    pub(super) is_borrowed: bool,
}

/// The name of the database.
pub(super) const FILE: &str = "ledger.db";

impl Ledger {
    /// Begins a writing transaction.
    ///
    /// # Errors
    /// [`Error::LockLost`] if another process has taken over a run that this process had locked, and [`Error::WentBack`] if the database
    /// lacks what this process has written under its locks.
    pub(crate) async fn begin(&self) -> Result<Transaction, Error> {
        loop {
            let mut transaction = self.begin_writing().await?;
            if self.leases.check(&mut transaction).await? != Checked::Moved {
                return Ok(transaction);
            }
            transaction.rollback().await?;
            self.settle_in().await?;
        }
    }

    /// Returns why sending has failed: [`Error::LockLost`] instead of a cut connection if the lock is lost, too.
    pub async fn cause_of(&self, error: Error) -> Error {
        match self.dialect() == Dialect::Postgres
            && error.is_of_connection()
            && matches!(self.begin().await, Err(Error::LockLost))
        {
            true => Error::LockLost,
            false => error,
        }
    }

    /// Returns the current time in milliseconds since 1970, UTC, by the clock that all users of the ledger share: that of its server, or of
    /// this machine.
    pub fn now(&self) -> i64 {
        self.leases.places().clock.now()
    }

    pub(crate) fn dialect(&self) -> Dialect {
        self.writer.dialect()
    }

    /// Returns the same ledger for an operation that closes its ledger at the end, which has no effect then.
    pub fn borrowed(&self) -> Ledger {
        Ledger { is_borrowed: true, ..self.clone() }
    }

    /// Closes the database after all pending writes.
    pub async fn close(self) {
        if self.is_borrowed {
            return;
        }
        self.leases.released().await;
        self.reader.close().await;
        self.writer.close().await;
    }
}

/// Returns the JSON of a value for a column or a list parameter.
pub(crate) fn to_json<T: serde::Serialize + ?Sized>(value: &T) -> Result<String, Error> {
    serde_json::to_string(value).map_err(corrupt)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn only_its_owner_closes_a_borrowed_ledger() {
        let folder = tempfile::tempdir().expect("a folder");
        let owned = Ledger::open(folder.path()).await.expect("a ledger");
        let borrowed = owned.borrowed();
        owned.borrowed().close().await;
        borrowed.queued().await.expect("the ledger is still open");
        owned.close().await;
        borrowed.queued().await.expect_err("the ledger is closed");
    }
}
