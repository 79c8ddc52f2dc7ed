//! The rows of leases, and the statements that take part in holding them.

use std::time::Duration;

use super::super::ids::{RunId, Seq};

/// Lifetime of a lease without renewal.
pub(super) const LEASE: Duration = Duration::from_secs(30);

/// The row of a lease. Identities of uploads consist of letters and digits.
///
/// Lock order: upload, then part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Key {
    Upload {
        identity: String,
        epoch: i64,
    },
    /// Part of a run, by its first record. The lease of the upload is shared with other workers.
    Part {
        identity: String,
        run: RunId,
        first: Seq,
        epoch: i64,
    },
}

impl Key {
    pub(super) fn identity(&self) -> &str {
        match self {
            Key::Upload { identity, .. } | Key::Part { identity, .. } => identity,
        }
    }

    /// Returns the query that finds the row while the lease is held, and locks the row. `further`: columns after the number of the last
    /// transaction.
    pub(super) fn check(&self, further: &str) -> String {
        match self {
            Key::Upload { identity, epoch } => format!(
                "SELECT last_write{further} FROM lease WHERE identity = '{identity}' AND epoch = {epoch} \
                 AND until > clock_timestamp() FOR SHARE"
            ),
            Key::Part { run, first, epoch, .. } => format!(
                "SELECT last_write{further} FROM part WHERE run = {run} AND first = {first} AND epoch = {epoch} \
                 AND until > clock_timestamp() FOR SHARE"
            ),
        }
    }

    /// Returns the statement that stores the number of a transaction if the lease is held, and returns the previous number and the `further`
    /// columns.
    pub(super) fn mark(&self, number: i64, further: &str) -> String {
        let (table, row) = match self {
            Key::Upload { identity, epoch } => ("lease", format!("identity = '{identity}' AND epoch = {epoch}")),
            Key::Part { run, first, epoch, .. } => {
                ("part", format!("run = {run} AND first = {first} AND epoch = {epoch}"))
            }
        };
        format!(
            "UPDATE {table} SET write_before = last_write, last_write = {number} \
             WHERE {row} AND until > clock_timestamp() RETURNING write_before{further}"
        )
    }

    /// Returns the statement that renews the lease. Affects no row if the lease was lost.
    pub(super) fn renew(&self) -> String {
        let until = until();
        match self {
            Key::Upload { identity, epoch } => format!(
                "UPDATE lease SET until = {until} \
                 WHERE identity = '{identity}' AND epoch = {epoch} AND until > clock_timestamp()"
            ),
            Key::Part { identity, run, first, epoch } => format!(
                "WITH shared AS (UPDATE lease SET until = GREATEST(until, {until}) \
                 WHERE identity = '{identity}' AND is_shared AND until > clock_timestamp() RETURNING 1) \
                 UPDATE part SET until = {until} WHERE run = {run} AND first = {first} AND epoch = {epoch} \
                 AND until > clock_timestamp() AND EXISTS (SELECT 1 FROM shared)"
            ),
        }
    }

    /// Returns the query that serializes the transactions of an upload.
    pub(super) fn wait(&self) -> String {
        format!("SELECT 1 FROM lease WHERE identity = '{}' FOR UPDATE", self.identity())
    }

    /// Returns the statements that release the lease. The last worker of an upload also releases the shared lease.
    pub(super) fn release(&self) -> String {
        match self {
            Key::Upload { identity, epoch } => {
                format!("DELETE FROM lease WHERE identity = '{identity}' AND epoch = {epoch}")
            }
            Key::Part { identity, run, first, epoch } => format!(
                "{}; UPDATE part SET until = '-infinity' WHERE run = {run} AND first = {first} AND epoch = {epoch}; \
                 DELETE FROM lease WHERE identity = '{identity}' AND is_shared AND NOT EXISTS \
                 (SELECT 1 FROM part WHERE part.identity = '{identity}' AND until > clock_timestamp())",
                self.wait()
            ),
        }
    }
}

/// Returns the expiry of a lease taken or renewed now, in SQL. Equal for all rows changed by a transaction.
pub(super) fn until() -> String {
    format!("now() + INTERVAL '{} seconds'", LEASE.as_secs())
}
