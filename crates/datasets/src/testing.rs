//! Files read back by the libraries, for tests.

use std::path::Path;

use rusqlite::Connection;
use rusqlite::types::ValueRef;

/// Returns the rows of a query in a database, with blanks for missing values.
pub fn query(path: &Path, sql: &str) -> Vec<Vec<String>> {
    let connection = Connection::open(path).expect("a database");
    let mut statement = connection.prepare(sql).expect("SQL");
    let columns = statement.column_count();
    let text = |value: ValueRef<'_>| match value {
        ValueRef::Null => String::new(),
        ValueRef::Integer(integer) => integer.to_string(),
        ValueRef::Real(real) => real.to_string(),
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => String::from_utf8_lossy(bytes).into_owned(),
    };
    let rows = statement.query_map((), |row| (0..columns).map(|column| Ok(text(row.get_ref(column)?))).collect());
    rows.and_then(Iterator::collect).expect("rows")
}

/// Runs statements in a database.
pub fn execute(path: &Path, sql: &str) {
    Connection::open(path).and_then(|connection| connection.execute_batch(sql)).expect("SQL");
}

/// Keeps all others from a database until it is dropped.
pub fn lock(path: &Path) -> impl Drop + use<> {
    let connection = Connection::open(path).expect("a database");
    connection.execute_batch("BEGIN EXCLUSIVE").expect("a lock");
    Held(connection)
}

struct Held(Connection);

impl Drop for Held {
    fn drop(&mut self) {
        self.0.execute_batch("COMMIT").expect("released");
    }
}

/// Returns the rows of a Parquet file as names and values, with blanks for missing values.
#[cfg(feature = "parquet")]
pub fn parquet_rows(path: &Path) -> Vec<Vec<(String, String)>> {
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::Field;

    let file = std::fs::File::open(path).expect("a file");
    let reader = SerializedFileReader::new(file).expect("Parquet");
    let text = |field: &Field| match field {
        Field::Null => String::new(),
        Field::Str(text) => text.clone(),
        field => field.to_string(),
    };
    let row =
        |row: parquet::record::Row| row.get_column_iter().map(|(name, field)| (name.clone(), text(field))).collect();
    reader.get_row_iter(None).expect("rows").map(|read| row(read.expect("a row"))).collect()
}
