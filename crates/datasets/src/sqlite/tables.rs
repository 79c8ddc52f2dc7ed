//! The tables of a database: ours, and those of the lists.

use rusqlite::Connection;

use super::columns::{DATA_TYPES_OF, DELETED_AT, DatabaseColumn, ListInDatabase, POSITION, quoted};
use super::failure::failed;
use crate::error::Error;
use crate::kind::Kind;

/// Maximum number of columns that SQLite has room for.
const MAX_COLUMNS: usize = 2_000;
/// What is ours, and the changes of all lists.
const TABLES: &str = "
    CREATE TABLE sheetport_lists (
        table_name TEXT PRIMARY KEY NOT NULL,
        workspace TEXT NOT NULL,
        base_url TEXT NOT NULL,
        started TIMESTAMP NOT NULL
    );
    CREATE TABLE sheetport_columns (
        table_name TEXT NOT NULL,
        position INTEGER NOT NULL,
        name TEXT NOT NULL,
        header TEXT NOT NULL,
        field TEXT,
        kind TEXT,
        declared TEXT NOT NULL,
        PRIMARY KEY (table_name, name)
    );
    CREATE TABLE changes (
        at TIMESTAMP NOT NULL,
        list TEXT NOT NULL,
        id TEXT NOT NULL,
        position INTEGER,
        change TEXT NOT NULL,
        before TEXT,
        after TEXT
    );
    CREATE INDEX changes_of_record ON changes (list, id);
";

/// A list that is about to be written.
#[derive(Clone, Debug)]
pub struct DatabaseList {
    pub table: String,
    pub workspace: String,
    pub base_url: String,
    /// When the export began.
    pub started: String,
    /// The columns of all rows.
    pub columns: Vec<DatabaseColumn>,
    /// Whether a record has several rows.
    pub has_positions: bool,
}

/// The columns of a table, and which value of a row is for each of them.
pub(super) struct TableColumns {
    pub(super) columns: Vec<DatabaseColumn>,
    /// `None` for columns that rows no longer have.
    pub(super) sources: Vec<Option<usize>>,
}

/// Creates our own tables.
pub(super) fn create_own(connection: &Connection) -> Result<(), Error> {
    connection.execute_batch(TABLES).map_err(failed)
}

/// Creates or extends the table of a list, whose columns were `before`, and notes all that is known of it.
pub(super) fn prepare(
    connection: &Connection,
    list: &DatabaseList,
    key: usize,
    before: Option<&ListInDatabase>,
) -> Result<TableColumns, Error> {
    let mut columns = before.map(|before| before.columns.clone()).unwrap_or_default();
    let mut sources = vec![None; columns.len()];
    let mut taken = names(connection, &list.table)?;
    taken.extend([DELETED_AT.to_owned(), POSITION.to_owned()]);
    let mut added = Vec::new();
    for (source, column) in list.columns.iter().enumerate() {
        match columns.iter().position(|other| other.is_same(column)) {
            Some(place) => {
                sources[place] = Some(source);
                columns[place].kind = column.kind.or(columns[place].kind);
            }
            None => {
                let mut column = column.clone();
                column.name = free_name(&column.header, &taken);
                column.declared = declared(column.kind).to_owned();
                taken.push(column.name.clone());
                added.push(columns.len());
                columns.push(column);
                sources.push(Some(source));
            }
        }
    }
    let own = if list.has_positions { 2 } else { 1 };
    if columns.len() + own > MAX_COLUMNS {
        let (table, columns) = (list.table.clone(), columns.len() + own);
        return Err(Error::TooManyColumns { table, columns, most: MAX_COLUMNS });
    }
    let table = quoted(&list.table);
    match before {
        Some(_) => {
            for place in added {
                let definition = columns[place].definition();
                connection.execute_batch(&format!("ALTER TABLE {table} ADD COLUMN {definition}")).map_err(failed)?;
            }
        }
        None => {
            let id = sources.iter().position(|source| *source == Some(key)).map(|place| quoted(&columns[place].name));
            let id = id.ok_or_else(|| Error::NoId { table: list.table.clone() })?;
            let mut definitions: Vec<String> = columns.iter().map(DatabaseColumn::definition).collect();
            definitions.extend(list.has_positions.then(|| format!("{POSITION} INTEGER NOT NULL")));
            definitions.push(format!("{DELETED_AT} TIMESTAMP"));
            let key = if list.has_positions { format!("{id}, {POSITION}") } else { id };
            definitions.push(format!("PRIMARY KEY ({key})"));
            connection.execute_batch(&format!("CREATE TABLE {table} ({})", definitions.join(", "))).map_err(failed)?;
        }
    }
    note(connection, list, &columns)?;
    Ok(TableColumns { columns, sources })
}

/// Notes a list and its columns.
fn note(connection: &Connection, list: &DatabaseList, columns: &[DatabaseColumn]) -> Result<(), Error> {
    let DatabaseList { table, workspace, base_url, started, .. } = list;
    connection
        .execute(
            "INSERT OR REPLACE INTO sheetport_lists VALUES (?1, ?2, ?3, ?4)",
            [table, workspace, base_url, started],
        )
        .map_err(failed)?;
    let mut statement = connection
        .prepare("INSERT OR REPLACE INTO sheetport_columns VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)")
        .map_err(failed)?;
    for (position, DatabaseColumn { name, header, field, kind, declared }) in columns.iter().enumerate() {
        let kind = kind.and_then(|kind| serde_json::to_string(&kind).ok());
        let position = i64::try_from(position).unwrap_or(i64::MAX);
        statement.execute((table, position, name, header, field, kind, declared)).map_err(failed)?;
    }
    Ok(())
}

/// Returns the names of the columns of a table, or of none.
fn names(connection: &Connection, table: &str) -> Result<Vec<String>, Error> {
    let mut found = connection.prepare(DATA_TYPES_OF).map_err(failed)?;
    found.query_map([table], |row| row.get(0)).and_then(Iterator::collect).map_err(failed)
}

/// Returns a name that no other column has in any letter case.
fn free_name(name: &str, taken: &[String]) -> String {
    let is_free = |name: &str| !taken.iter().any(|other| other.to_lowercase() == name.to_lowercase());
    if is_free(name) {
        return name.to_owned();
    }
    let mut number = 2;
    loop {
        let numbered = format!("{name} ({number})");
        if is_free(&numbered) {
            return numbered;
        }
        number += 1;
    }
}

/// Returns the type of a column in the definition of a table.
fn declared(kind: Option<Kind>) -> &'static str {
    match kind {
        None => "",
        Some(Kind::Text) => "TEXT",
        Some(Kind::Integer) => "INTEGER",
        Some(Kind::Decimal { .. }) => "NUMERIC",
        Some(Kind::DateTime) => "TIMESTAMP",
        Some(Kind::Boolean) => "BOOLEAN",
    }
}
