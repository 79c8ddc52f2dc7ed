//! The database in which a ledger is, so that one that went back to an earlier state is told from the one that a process has written.
//!
//! After an asynchronous standby was promoted or a backup restored, the last transactions are missing, and with them what was sent. The
//! ledger itself can't tell, but the database is another one: PostgreSQL begins a new timeline with each promotion and each recovery, a new
//! system has another identifier, and the tables of a loaded dump have other numbers. The place is noted in the ledger, and compared with
//! the current one in every transaction of a process that holds a lease, because a pooler may change the server behind a connection.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use sheetport_sql::{Pool, Transaction};
use sqlx::Row as _;
use tokio::sync::OnceCell;

use super::super::error::Error;
use super::clock::{Clock, NOW};

/// What stands for a part of a place that the server does not tell.
const UNKNOWN: &str = "?";
const SYSTEM: &str = "(SELECT system_identifier::TEXT FROM pg_control_system())";
/// The timeline in the name of the file that is being written. That of the last checkpoint changes only minutes after a promotion.
const TIMELINE: &str = "left(pg_walfile_name(pg_current_wal_lsn()), 8)";
const TABLE: &str = "CAST(CAST(CAST('place' AS REGCLASS) AS OID) AS TEXT)";
/// Whether a commit waits until a standby has it.
const IS_SYNCHRONOUS: &str = "current_setting('synchronous_standby_names') <> '' AND \
                              current_setting('synchronous_commit') NOT IN ('off', 'local')";

/// Time for the server to say what it tells.
const ANSWER: Duration = Duration::from_secs(10);

/// A database: the identifier of its system, its timeline, and the number of a table of the ledger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place([String; 3]);

/// What a transaction sees of its place.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub here: Place,
    /// The place in the ledger, `None` if none was noted yet.
    pub noted: Option<Place>,
    pub is_synchronous: bool,
    /// The time, in milliseconds since 1970.
    pub now: i64,
}

/// The place as this process knows it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Places {
    /// The columns of [`Seen`] in SQL, as far as the server and the role of the user permit.
    columns: Arc<OnceCell<String>>,
    /// Where this process has written under its leases.
    known: Arc<Mutex<Option<Place>>>,
    pub clock: Clock,
}

impl Place {
    fn parse(text: &str) -> Option<Place> {
        let parts: Vec<String> = text.split(' ').map(str::to_owned).collect();
        Some(Place(parts.try_into().ok()?))
    }

    pub(crate) fn text(&self) -> String {
        self.0.join(" ")
    }

    /// Whether both may be the same database. What is not known is not different: roles see different parts.
    pub(crate) fn may_be(&self, other: &Place) -> bool {
        let is_same = |(one, other): (&String, &String)| one == other || one == UNKNOWN || other == UNKNOWN;
        self.0.iter().zip(&other.0).all(is_same)
    }

    /// Returns what is known of either place.
    pub(crate) fn or(&self, other: &Place) -> Place {
        let mut parts = self.0.clone();
        for (part, other) in parts.iter_mut().zip(&other.0) {
            if part == UNKNOWN {
                part.clone_from(other);
            }
        }
        Place(parts)
    }

    /// Says how this database differs from the one before.
    pub(crate) fn change_from(&self, before: &Place) -> String {
        let ([system, timeline, table], [old_system, old_timeline, old_table]) = (&self.0, &before.0);
        let differs = |one: &str, other: &str| one != other && one != UNKNOWN && other != UNKNOWN;
        if differs(system, old_system) {
            return format!("the ledger is on another database system now ({system} instead of {old_system})");
        }
        if differs(table, old_table) {
            return "the tables of the ledger were loaded from a dump".to_owned();
        }
        let number = |timeline: &str| u32::from_str_radix(timeline, 16).unwrap_or_default();
        format!(
            "a standby was promoted or a backup restored: the database is on timeline {} instead of {}",
            number(timeline),
            number(old_timeline)
        )
    }
}

impl Places {
    /// Returns the columns for [`Seen::of_row`]. The server is asked once what it tells.
    ///
    /// # Errors
    /// If the server can't be reached.
    pub(crate) async fn columns(&self, pool: &Pool) -> Result<&str, Error> {
        let columns = self.columns.get_or_try_init(|| async {
            let (unknown, of_table) = (format!("'{UNKNOWN}'"), TABLE);
            for [system, timeline] in [[SYSTEM, TIMELINE], [&unknown, TIMELINE], [SYSTEM, &unknown]] {
                let columns = columns(system, timeline, of_table);
                match pool.raw_row(ANSWER, format!("SELECT {columns}")).await {
                    Ok(_) => return Ok(columns),
                    // Rights or functions are missing, as on servers that only resemble PostgreSQL.
                    Err(sqlx::Error::Database(error)) => {
                        tracing::debug!(%error, "the place of the ledger can't be read")
                    }
                    Err(error) => return Err(Error::from(error)),
                }
            }
            Ok(columns(&unknown, &unknown, of_table))
        });
        columns.await.map(String::as_str)
    }

    /// Whether the server tells on which timeline it is.
    pub(crate) async fn tells_timeline(&self, pool: &Pool) -> Result<bool, Error> {
        Ok(self.columns(pool).await?.contains(TIMELINE))
    }

    /// Returns the columns if the server was asked before, for transactions under a lease.
    pub(crate) fn known_columns(&self) -> Option<&str> {
        self.columns.get().map(String::as_str)
    }

    /// Returns what a transaction sees. `None` in a file.
    pub(crate) async fn look(&self, pool: &Pool, transaction: &mut Transaction) -> Result<Option<Seen>, Error> {
        if transaction.dialect() == sheetport_sql::Dialect::Sqlite {
            return Ok(None);
        }
        let query = format!("SELECT {}", self.columns(pool).await?);
        transaction.raw_row(query).await?.map(|row| Seen::of_row(&row, 0)).transpose()
    }

    /// Whether a transaction is where this process has written before, and where the ledger was last noted to be.
    pub(crate) fn is_same(&self, seen: &Seen) -> bool {
        let is_known = self.known().as_ref().is_none_or(|known| known.may_be(&seen.here));
        is_known && seen.noted.as_ref().is_some_and(|noted| noted.may_be(&seen.here))
    }

    pub(crate) fn set_known(&self, here: &Place) {
        *self.known.lock().unwrap_or_else(PoisonError::into_inner) = Some(here.clone());
    }

    fn known(&self) -> Option<Place> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Seen {
    /// Reads the columns from `first` on.
    pub(crate) fn of_row(row: &sqlx::postgres::PgRow, first: usize) -> Result<Seen, Error> {
        let (here, noted): (String, String) = (row.try_get(first)?, row.try_get(first + 1)?);
        let here = Place::parse(&here).ok_or_else(|| Error::Corrupt(format!("the place '{here}'")))?;
        Ok(Seen {
            here,
            noted: Place::parse(&noted),
            is_synchronous: row.try_get(first + 2)?,
            now: row.try_get(first + 3)?,
        })
    }
}

fn columns(system: &str, timeline: &str, table: &str) -> String {
    format!(
        "{system} || ' ' || {timeline} || ' ' || {table}, (SELECT identity FROM place WHERE id = 1), {IS_SYNCHRONOUS}, {NOW}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(text: &str) -> Place {
        Place::parse(text).expect("a place")
    }

    #[test]
    fn a_promotion_a_restored_backup_and_a_dump_are_other_places() {
        let before = place("77 00000001 16386");
        for (text, is_other, words) in [
            ("77 00000001 16386", false, ""),
            ("? 00000001 16386", false, ""),
            ("77 ? 16386", false, ""),
            ("77 00000002 16386", true, "timeline 2 instead of 1"),
            ("77 0000000B 16386", true, "timeline 11 instead of 1"),
            ("? 00000002 16386", true, "timeline 2"),
            ("78 00000001 16386", true, "78 instead of 77"),
            ("77 00000001 16999", true, "loaded from a dump"),
            ("77 ? 16999", true, "loaded from a dump"),
        ] {
            let here = place(text);
            assert_eq!(!before.may_be(&here), is_other, "{text}");
            assert_eq!(!here.may_be(&before), is_other, "{text}");
            assert!(!is_other || here.change_from(&before).contains(words), "{}", here.change_from(&before));
        }
        assert_eq!(place("? 00000002 1").or(&place("77 ? 1")), place("77 00000002 1"));
        assert_eq!((Place::parse(""), Place::parse("1 2")), (None, None));
    }
}
