//! Writing lists: new records, changed records, and those that are gone.

use std::path::Path;

use rusqlite::types::ValueRef;
use rusqlite::{CachedStatement, Connection};
use serde_json::Map;
use twox_hash::XxHash3_64;

use super::cells::{Cell, json, object};
use super::columns::{DELETED_AT, DatabaseColumn, POSITION, quoted};
use super::failure::failed;
use super::open::{existing, lists, new};
use super::tables::{DatabaseList, TableColumns, create_own, prepare};
use crate::error::Error;
use crate::kind::Value;

const ADDED: &str = "added";
const CHANGED: &str = "changed";
const REMOVED: &str = "removed";
const NOTE_CHANGE: &str = "INSERT INTO changes VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";

/// A database in a transaction. Dropping it without [`Database::commit`] leaves it as it was.
pub struct Database {
    connection: Connection,
    list: Option<OpenList>,
}

/// The numbers of records, or of their elements, that an export changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub added: u64,
    pub changed: u64,
    pub removed: u64,
}

/// Which row a record has.
#[derive(Clone, Copy, Debug)]
pub struct Key<'a> {
    pub id: Option<&'a str>,
    /// Place of the element in its record, from 1 on.
    pub position: u64,
}

/// A list being written.
struct OpenList {
    list: DatabaseList,
    columns: TableColumns,
    /// Name of the column with the ids.
    id: String,
    /// Whether the table had rows before.
    is_update: bool,
    select: String,
    insert: String,
    update: String,
    /// Hashes of the ids, and of the ids with their positions, of all written rows.
    ids: Vec<u64>,
    keys: Vec<u64>,
    counts: Counts,
}

/// What has changed, and the values before and after.
type Change = (&'static str, Option<String>, Option<String>);

/// What a row does to a table.
enum Effect {
    /// It is there already.
    None,
    Insert,
    /// It changes a row, or brings a deleted one back.
    Update(Change),
}

impl Database {
    /// Creates a database at `path`, where nothing else may be. The caller moves the file to its place.
    pub fn create(path: &Path) -> Result<Database, Error> {
        let connection = new(path)?;
        connection.execute_batch("BEGIN").map_err(failed)?;
        create_own(&connection)?;
        Ok(Database { connection, list: None })
    }

    /// Opens a database of exports to update it in place.
    ///
    /// # Errors
    /// [`Error::Locked`] if another program writes to it.
    pub fn update(path: &Path) -> Result<Database, Error> {
        let connection = existing(path)?;
        // The file alone has to be whole. Fails while another program reads it, and then a checkpoint follows the commit.
        let _ = connection.query_row("PRAGMA journal_mode = DELETE", (), |_| Ok(()));
        connection.execute_batch("BEGIN IMMEDIATE").map_err(failed)?;
        Ok(Database { connection, list: None })
    }

    /// Begins a list, whose column `key` has the ids.
    pub fn begin_list(&mut self, list: DatabaseList, key: usize) -> Result<(), Error> {
        let before = lists(&self.connection)?;
        let before = before.iter().find(|before| before.table == list.table);
        let columns = prepare(&self.connection, &list, key, before)?;
        let id = columns
            .sources
            .iter()
            .position(|source| *source == Some(key))
            .map(|place| columns.columns[place].name.clone());
        let id = id.ok_or_else(|| Error::NoId { table: list.table.clone() })?;
        let table = quoted(&list.table);
        let names: Vec<String> = columns.columns.iter().map(|column| quoted(&column.name)).collect();
        let place = |index: usize| format!("?{}", index + 1);
        let (position, key) = match list.has_positions {
            true => (vec![POSITION.to_owned()], format!("{} = ?1 AND {POSITION} = ?2", quoted(&id))),
            false => (Vec::new(), format!("{} = ?1", quoted(&id))),
        };
        let select = format!("SELECT {}, {DELETED_AT} FROM {table} WHERE {key}", names.join(", "));
        let all: Vec<String> = names.iter().chain(&position).cloned().collect();
        let places: Vec<String> = (0..all.len()).map(place).collect();
        let insert = format!("INSERT INTO {table} ({}) VALUES ({})", all.join(", "), places.join(", "));
        // The key comes first.
        let set =
            names.iter().enumerate().map(|(index, name)| format!("{name} = {}", place(index + 1 + position.len())));
        let update =
            format!("UPDATE {table} SET {}, {DELETED_AT} = NULL WHERE {key}", set.collect::<Vec<_>>().join(", "));
        let is_update = before.is_some();
        let (ids, keys, counts) = (Vec::new(), Vec::new(), Counts::default());
        self.list = Some(OpenList { list, columns, id, is_update, select, insert, update, ids, keys, counts });
        Ok(())
    }

    /// Adds or updates a row.
    ///
    /// # Errors
    /// [`Error::NoId`] if the record has no id, and [`Error::Value`] if the type of a column does not hold a value.
    pub fn row(&mut self, key: Key<'_>, values: &[Value<'_>]) -> Result<(), Error> {
        let Database { connection, list: Some(list) } = self else { return Err(no_list()) };
        let id = key.id.ok_or_else(|| Error::NoId { table: list.list.table.clone() })?;
        let cells = list.cells(values)?;
        if list.is_update {
            list.ids.push(Database::hash_of(id.as_bytes()));
        }
        if list.is_update && list.list.has_positions {
            list.keys.push(hash_of_key(id, key.position));
        }
        let position = list.list.has_positions.then(|| Cell::Integer(i64::try_from(key.position).unwrap_or(i64::MAX)));
        let row_key: Vec<Cell<'_>> = [Cell::Text(id)].into_iter().chain(position.clone()).collect();
        let effect = if list.is_update { list.effect(connection, &row_key, &cells)? } else { Effect::Insert };
        let change = match effect {
            Effect::None => return Ok(()),
            Effect::Insert => {
                let mut insert = connection.prepare_cached(&list.insert).map_err(failed)?;
                bind(&mut insert, 0, &cells)?;
                bind(&mut insert, cells.len(), position.as_slice())?;
                insert.raw_execute().map_err(failed)?;
                (ADDED, None, list.is_update.then(|| list.whole(&cells)).flatten())
            }
            Effect::Update(change) => {
                let mut update = connection.prepare_cached(&list.update).map_err(failed)?;
                bind(&mut update, 0, &row_key)?;
                bind(&mut update, row_key.len(), &cells)?;
                update.raw_execute().map_err(failed)?;
                change
            }
        };
        match change.0 {
            CHANGED => list.counts.changed += 1,
            _ => list.counts.added += 1,
        }
        // Without an earlier export, there is nothing that has changed.
        if list.is_update {
            note(connection, &list.list, key, id, change)?;
        }
        Ok(())
    }

    /// Ends the list. Marks the rows as deleted whose record is not in `present`: the hashes of all ids of the list, of
    /// [`Database::hash_of`]. Without `present`, the rows of other records stay as they are.
    pub fn end_list(&mut self, present: Option<Vec<u64>>) -> Result<Counts, Error> {
        let Database { connection, list } = self;
        let mut list = list.take().ok_or_else(no_list)?;
        if let Some(mut present) = present.filter(|_| list.is_update) {
            present.sort_unstable();
            list.ids.sort_unstable();
            list.keys.sort_unstable();
            list.mark_gone(connection, &present)?;
        }
        Ok(list.counts)
    }

    /// Returns the hash of an id.
    pub fn hash_of(id: &[u8]) -> u64 {
        XxHash3_64::oneshot(id)
    }

    /// Leaves no room for further pages.
    #[cfg(test)]
    pub(super) fn limit_pages(&self) {
        // SQLite raises it to the number of pages.
        self.connection.query_row("PRAGMA max_page_count = 1", (), |_| Ok(())).expect("a limit");
    }

    /// Ends the transaction.
    ///
    /// # Errors
    /// [`Error::Locked`] if other programs read for too long; the file is then as it was.
    pub fn commit(self) -> Result<(), Error> {
        self.connection.execute_batch("COMMIT").map_err(failed)?;
        // Only for a database that is in this mode.
        let _ = self.connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", (), |_| Ok(()));
        self.connection.close().map_err(|(_, error)| failed(error))
    }
}

impl OpenList {
    /// Returns the cells of a row in the order of the table's columns.
    fn cells<'v>(&self, values: &[Value<'v>]) -> Result<Vec<Cell<'v>>, Error> {
        let TableColumns { columns, sources } = &self.columns;
        let cell = |(source, column): (&Option<usize>, &DatabaseColumn)| {
            let Some(value) = source.and_then(|source| values.get(source)) else { return Ok(Cell::Null) };
            let refused = || Error::Value { column: column.name.clone(), value: value.to_string() };
            Cell::new(value, column.kind).ok_or_else(refused)
        };
        sources.iter().zip(columns).map(cell).collect()
    }

    /// Returns what a row does to the table.
    fn effect(&self, connection: &Connection, key: &[Cell<'_>], cells: &[Cell<'_>]) -> Result<Effect, Error> {
        let mut select = connection.prepare_cached(&self.select).map_err(failed)?;
        bind(&mut select, 0, key)?;
        let mut rows = select.raw_query();
        let Some(row) = rows.next().map_err(failed)? else { return Ok(Effect::Insert) };
        if row.get_ref(cells.len()).map_err(failed)? != ValueRef::Null {
            return Ok(Effect::Update((ADDED, None, self.whole(cells))));
        }
        let (mut before, mut after) = (Map::new(), Map::new());
        for (place, (cell, column)) in cells.iter().zip(&self.columns.columns).enumerate() {
            let stored = row.get_ref(place).map_err(failed)?;
            if !cell.is(stored) {
                before.insert(column.name.clone(), json(stored, column.kind));
                after.insert(column.name.clone(), cell.to_json(column.kind));
            }
        }
        Ok(match before.is_empty() {
            true => Effect::None,
            false => Effect::Update((CHANGED, object(before), object(after))),
        })
    }

    /// Returns all values of a row as JSON.
    fn whole(&self, cells: &[Cell<'_>]) -> Option<String> {
        let filled = cells.iter().zip(&self.columns.columns).filter(|(cell, _)| **cell != Cell::Null);
        object(filled.map(|(cell, column)| (column.name.clone(), cell.to_json(column.kind))).collect())
    }

    /// Marks the rows of records that are gone, and of elements that their record has no more.
    fn mark_gone(&mut self, connection: &Connection, present: &[u64]) -> Result<(), Error> {
        let (table, id) = (quoted(&self.list.table), quoted(&self.id));
        let position = if self.list.has_positions { POSITION } else { "1" };
        let mut gone: Vec<i64> = Vec::new();
        {
            let all = format!("SELECT rowid, {id}, {position} FROM {table} WHERE {DELETED_AT} IS NULL");
            let mut all = connection.prepare(&all).map_err(failed)?;
            let mut rows = all.raw_query();
            while let Some(row) = rows.next().map_err(failed)? {
                let id = row.get_ref(1).and_then(|id| Ok(id.as_str()?)).map_err(failed)?;
                let has = |hashes: &[u64], hash| hashes.binary_search(&hash).is_ok();
                let is_gone = !has(present, Database::hash_of(id.as_bytes()))
                    || self.list.has_positions && has(&self.ids, Database::hash_of(id.as_bytes())) && {
                        let position: i64 = row.get(2).map_err(failed)?;
                        !has(&self.keys, hash_of_key(id, position.unsigned_abs()))
                    };
                if is_gone {
                    gone.push(row.get(0).map_err(failed)?);
                }
            }
        }
        let names: Vec<String> = self.columns.columns.iter().map(|column| quoted(&column.name)).collect();
        let row_of = format!("SELECT {}, {id}, {position} FROM {table} WHERE rowid = ?1", names.join(", "));
        let mark = format!("UPDATE {table} SET {DELETED_AT} = ?2 WHERE rowid = ?1");
        for rowid in gone {
            let mut row_of = connection.prepare_cached(&row_of).map_err(failed)?;
            let mut rows = row_of.query([rowid]).map_err(failed)?;
            let Some(row) = rows.next().map_err(failed)? else { continue };
            let mut before = Map::new();
            for (place, column) in self.columns.columns.iter().enumerate() {
                let stored = row.get_ref(place).map_err(failed)?;
                if stored != ValueRef::Null {
                    before.insert(column.name.clone(), json(stored, column.kind));
                }
            }
            let id: String = row.get(names.len()).map_err(failed)?;
            let position: i64 = row.get(names.len() + 1).map_err(failed)?;
            let key = Key { id: None, position: position.unsigned_abs() };
            note(connection, &self.list, key, &id, (REMOVED, object(before), None))?;
            connection
                .prepare_cached(&mark)
                .and_then(|mut mark| mark.execute((rowid, &self.list.started)))
                .map_err(failed)?;
            self.counts.removed += 1;
        }
        Ok(())
    }
}

/// Adds a row to the table of changes: what has changed, before and after.
fn note(
    connection: &Connection,
    list: &DatabaseList,
    key: Key<'_>,
    id: &str,
    (change, before, after): Change,
) -> Result<(), Error> {
    let position = list.has_positions.then(|| i64::try_from(key.position).unwrap_or(i64::MAX));
    let mut statement = connection.prepare_cached(NOTE_CHANGE).map_err(failed)?;
    statement.execute((&list.started, &list.table, id, position, change, before, after)).map_err(failed)?;
    Ok(())
}

/// Binds cells to the parameters after the first `before`.
fn bind(statement: &mut CachedStatement<'_>, before: usize, cells: &[Cell<'_>]) -> Result<(), Error> {
    for (place, cell) in cells.iter().enumerate() {
        statement.raw_bind_parameter(before + place + 1, cell.to_sql()).map_err(failed)?;
    }
    Ok(())
}

fn hash_of_key(id: &str, position: u64) -> u64 {
    XxHash3_64::oneshot_with_seed(position, id.as_bytes())
}

fn no_list() -> Error {
    Error::Database("no list was begun".to_owned())
}
