//! Opening a database, and what is in it before an export.

use std::io;
use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, OptionalExtension};

use super::columns::{DATA_TYPES_OF, DELETED_AT, DatabaseColumn, ListInDatabase};
use super::failure::failed;
use crate::error::Error;

/// Marks a database of exports in the header of its file: "Sprt".
const APPLICATION_ID: i32 = 0x5370_7274;
/// How long to wait for other programs that read or write.
const PATIENCE: Duration = Duration::from_secs(10);
/// Memory for pages of the file, in KiB.
const CACHE_KIB: i64 = 16 << 10;

/// A database of exports as found.
#[derive(Clone, Debug)]
pub struct Found {
    lists: Vec<ListInDatabase>,
    /// All tables and views.
    tables: Vec<String>,
}

impl Found {
    /// Returns what is in the database at `path`. Returns `None` if there is no file, or an empty one.
    ///
    /// # Errors
    /// [`Error::Foreign`] if no export made the database, and [`Error::ChangedColumn`] if one of its tables is not as an export left it.
    pub fn inspect(path: &Path) -> Result<Option<Found>, Error> {
        match path.metadata() {
            Ok(found) if found.len() == 0 => return Ok(None),
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error.into()),
        }
        let connection = existing(path)?;
        let lists = lists(&connection)?;
        let mut tables =
            connection.prepare("SELECT name FROM sqlite_master WHERE type IN ('table', 'view')").map_err(failed)?;
        let tables = tables.query_map((), |row| row.get(0)).and_then(Iterator::collect).map_err(failed)?;
        for list in &lists {
            check(&connection, list)?;
        }
        Ok(Some(Found { lists, tables }))
    }

    /// Returns the list in a table.
    pub fn list(&self, table: &str) -> Option<&ListInDatabase> {
        self.lists.iter().find(|list| list.table == table)
    }

    /// Checks that an export may write to a table.
    ///
    /// # Errors
    /// If the table belongs to somebody else, or is of another workspace.
    pub fn check(&self, table: &str, workspace: &str, base_url: &str) -> Result<(), Error> {
        match self.list(table) {
            Some(list) if (list.workspace.as_str(), list.base_url.as_str()) != (workspace, base_url) => {
                Err(Error::OtherOrigin { workspace: list.workspace.clone(), base_url: list.base_url.clone() })
            }
            None if self.tables.iter().any(|other| other.eq_ignore_ascii_case(table)) => {
                Err(Error::ForeignTable { table: table.to_owned() })
            }
            _ => Ok(()),
        }
    }
}

/// Opens a database of exports.
pub(super) fn existing(path: &Path) -> Result<Connection, Error> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = opened(path, flags)?;
    let mark: i32 = connection.query_row("PRAGMA application_id", (), |row| row.get(0)).map_err(failed)?;
    if mark == APPLICATION_ID { Ok(connection) } else { Err(Error::Foreign) }
}

/// Creates a database, in place of any other. It survives no crash until it is moved to its place.
pub(super) fn new(path: &Path) -> Result<Connection, Error> {
    for file in [path.to_owned(), path.with_added_extension("journal")] {
        match std::fs::remove_file(file) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error.into()),
            _ => {}
        }
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = opened(path, flags)?;
    connection.pragma_update(None, "application_id", APPLICATION_ID).map_err(failed)?;
    // It answers with the new mode.
    connection.query_row("PRAGMA journal_mode = OFF", (), |_| Ok(())).map_err(failed)?;
    connection.pragma_update(None, "synchronous", "OFF").map_err(failed)?;
    Ok(connection)
}

fn opened(path: &Path, flags: OpenFlags) -> Result<Connection, Error> {
    let connection = Connection::open_with_flags(path, flags).map_err(failed)?;
    connection.busy_timeout(PATIENCE).map_err(failed)?;
    connection.pragma_update(None, "cache_size", -CACHE_KIB).map_err(failed)?;
    Ok(connection)
}

/// Returns the lists that exports have written.
pub(super) fn lists(connection: &Connection) -> Result<Vec<ListInDatabase>, Error> {
    let has_lists = "SELECT 1 FROM sqlite_master WHERE name = 'sheetport_lists'";
    if connection.query_row(has_lists, (), |_| Ok(())).optional().map_err(failed)?.is_none() {
        return Err(Error::Foreign);
    }
    let mut lists = connection
        .prepare("SELECT table_name, workspace, base_url, started FROM sheetport_lists ORDER BY table_name")
        .map_err(failed)?;
    let lists = lists.query_map((), |row| {
        Ok(ListInDatabase {
            table: row.get(0)?,
            workspace: row.get(1)?,
            base_url: row.get(2)?,
            started: row.get(3)?,
            columns: Vec::new(),
        })
    });
    let mut lists: Vec<ListInDatabase> = lists.and_then(Iterator::collect).map_err(failed)?;
    let mut columns = connection
        .prepare(
            "SELECT name, header, field, kind, declared FROM sheetport_columns WHERE table_name = ?1 ORDER BY position",
        )
        .map_err(failed)?;
    for list in &mut lists {
        let found = columns.query_map([&list.table], |row| {
            let kind: Option<String> = row.get(3)?;
            Ok(DatabaseColumn {
                name: row.get(0)?,
                header: row.get(1)?,
                field: row.get(2)?,
                kind: kind.and_then(|kind| serde_json::from_str(&kind).ok()),
                declared: row.get(4)?,
            })
        });
        list.columns = found.and_then(Iterator::collect).map_err(failed)?;
    }
    Ok(lists)
}

/// Checks that a table has the columns that exports gave it. It may have others besides.
fn check(connection: &Connection, list: &ListInDatabase) -> Result<(), Error> {
    let mut found = connection.prepare(DATA_TYPES_OF).map_err(failed)?;
    let found = found.query_map([&list.table], |row| Ok((row.get(0)?, row.get(1)?)));
    let found: Vec<(String, String)> = found.and_then(Iterator::collect).map_err(failed)?;
    let ours = list.columns.iter().map(|column| (column.name.as_str(), column.declared.as_str()));
    for (name, declared) in ours.chain([(DELETED_AT, "TIMESTAMP")]) {
        if !found.iter().any(|(other, kind)| other == name && kind == declared) {
            return Err(Error::ChangedColumn { table: list.table.clone(), column: name.to_owned() });
        }
    }
    Ok(())
}
