//! IDs from a column of a spreadsheet, in order and without duplicates.

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};
use std::path::{Path, PathBuf};

use sheetport_sheet::cell::column_index;
use sheetport_sheet::{Cell, Options, Row, Rows, open};

use crate::error::Error;

/// Number of rows searched for the header.
const HEADER_ROWS: usize = 100;
/// Headers recognised in a file with a single column. Any other text in the first row is an ID.
const ID_HEADERS: [&str; 8] =
    ["id", "ids", "order_id", "inventory_id", "transaction_id", "external_id", "externalId", "uuid"];

/// A file of IDs.
#[derive(Clone, Debug)]
pub struct IdFile {
    pub path: PathBuf,
    /// The column's header, letters or number. Optional if the file has a single column.
    pub column: Option<String>,
}

/// An ID and its row number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct IdRow {
    pub(crate) id: String,
    pub(crate) row: u64,
}

/// Reads the IDs of a file.
pub(super) struct Ids {
    rows: Rows,
    column: usize,
    /// Number of the first row below the header.
    first_row: u64,
    /// Hashes of the IDs so far.
    seen: HashSet<u64>,
    hasher: RandomState,
    row: Row,
}

impl Ids {
    /// Opens a file and finds the column.
    pub(super) fn open(path: &Path, column: Option<&str>) -> Result<Ids, Error> {
        let book = open(path, &Options::default())?;
        let mut rows = book.rows(0)?;
        let mut top = Vec::new();
        let mut row = Row::default();
        while top.len() < HEADER_ROWS && rows.next(&mut row)? {
            top.push(row.clone());
        }
        let (column, header) =
            find_column(&top, column).map_err(|reason| Error::Ids { path: path.to_owned(), reason })?;
        let first_row = header.map_or(0, |header| header + 1);
        Ok(Ids { rows: book.rows(0)?, column, first_row, seen: HashSet::new(), hasher: RandomState::new(), row })
    }

    /// Returns the next ID, or `None` after the last.
    pub(super) fn next_id(&mut self) -> Result<Option<IdRow>, Error> {
        while self.rows.next(&mut self.row)? {
            if self.row.number < self.first_row {
                continue;
            }
            let id = text_of(&self.row, self.column);
            if !id.is_empty() && self.seen.insert(self.hasher.hash_one(&id)) {
                return Ok(Some(IdRow { id, row: self.row.number }));
            }
        }
        Ok(None)
    }
}

/// Returns the index of the column and, if the file has a header, the number of the header row.
fn find_column(top: &[Row], column: Option<&str>) -> Result<(usize, Option<u64>), String> {
    match column {
        Some(wanted) => named_column(top, wanted),
        None => only_column(top),
    }
}

fn only_column(top: &[Row]) -> Result<(usize, Option<u64>), String> {
    let columns = top.iter().map(|row| row.cells().count()).max().unwrap_or(0);
    let Some(first) = top.first() else { return Err("the file contains no IDs".to_owned()) };
    if columns > 1 {
        let names: Vec<_> = first.cells().map(|cell| cell.shown().into_owned()).collect();
        return Err(format!("the file has {columns} columns; its first row is: {}", names.join(", ")));
    }
    let is_header = ID_HEADERS.iter().any(|name| name.eq_ignore_ascii_case(&text_of(first, 0)));
    Ok((0, is_header.then_some(first.number)))
}

fn named_column(top: &[Row], wanted: &str) -> Result<(usize, Option<u64>), String> {
    // A header in the first row takes precedence over column letters and numbers.
    let is_exact = |cell: Cell<'_>| cell.shown().trim() == wanted.trim();
    if let Some(first) = top.first()
        && let Some(column) = first.cells().position(is_exact)
    {
        return Ok((column, Some(first.number)));
    }
    let by_number = wanted.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
    if let Some(column) = by_number.or_else(|| column_index(wanted))
        && top.iter().any(|row| !row.get(column).is_blank())
    {
        return Ok((column, None));
    }
    let is_equal = |cell: Cell<'_>| cell.shown().trim().to_lowercase() == wanted.trim().to_lowercase();
    let headers = &top[..header_index(top).map_or(0, |index| index + 1)];
    let found = headers.iter().find_map(|row| Some((row.cells().position(is_equal)?, Some(row.number))));
    found.ok_or_else(|| match headers.last() {
        Some(header) => {
            let names: Vec<_> = header.cells().map(|cell| cell.shown().into_owned()).collect();
            format!("the file has no column '{wanted}'; its columns are: {}", names.join(", "))
        }
        None => "the file contains no IDs".to_owned(),
    })
}

/// Returns the index of the header row: the first of the rows with the most values. Rows above are titles, and rows below are
/// data, whatever they contain.
fn header_index(top: &[Row]) -> Option<usize> {
    let filled = |row: &Row| row.cells().filter(|cell| !cell.is_blank()).count();
    let most = top.iter().map(filled).max()?;
    top.iter().position(|row| filled(row) == most)
}

fn text_of(row: &Row, column: usize) -> String {
    row.get(column).shown().trim().to_owned()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn ids(csv: &str, column: Option<&str>) -> Result<Vec<(String, u64)>, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ids.csv");
        std::fs::write(&path, csv).unwrap();
        let mut ids = Ids::open(&path, column).map_err(|error| error.to_string())?;
        let mut found = Vec::new();
        while let Some(IdRow { id, row }) = ids.next_id().unwrap() {
            found.push((id, row));
        }
        Ok(found)
    }

    #[test]
    fn ids_are_read_once_from_the_named_column() {
        let csv = "My orders,\nName,Order no\na,0042\nb,\nc,17\nd,0042\n";
        let expected = vec![("0042".to_owned(), 3), ("17".to_owned(), 5)];
        assert_eq!(ids(csv, Some(" order NO ")), Ok(expected));
        let by_letter = ids("a,1\nb,2\n", Some("B")).unwrap();
        assert_eq!(by_letter, [("1".to_owned(), 1), ("2".to_owned(), 2)]);
        assert_eq!(ids("a,1\nb,2\n", Some("2")).unwrap(), by_letter);
    }

    #[test]
    fn a_single_column_needs_no_name() {
        assert_eq!(ids("7f3a\n8b2c\n", None).unwrap().len(), 2);
        assert_eq!(ids("id\n7f3a\n8b2c\n", None).unwrap().len(), 2);
        let refused = ids("id,name\n1,a\n", None).unwrap_err();
        assert!(refused.contains("id, name"), "{refused}");
        let refused = ids("id,name\n1,a\n2,sku\n", Some("sku")).unwrap_err();
        assert!(refused.contains("no column 'sku'; its columns are: id, name"), "{refused}");
    }
}
