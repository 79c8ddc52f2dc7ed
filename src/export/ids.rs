//! Ids from a column of a spreadsheet, each once, in their order.

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};
use std::path::{Path, PathBuf};

use super::Error;
use crate::sheet::cell::column_index;
use crate::sheet::{Cell, Options, Row, Rows, open};

/// A header stands among so many rows.
const TOP: usize = 100;
/// What a lonely column of ids may be called; anything else in its first row is an id.
const HEADERS: [&str; 8] =
    ["id", "ids", "order_id", "inventory_id", "transaction_id", "external_id", "externalId", "uuid"];

/// An id and the row that it is from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    pub id: String,
    pub row: u64,
}

/// The ids of a file.
pub struct Ids {
    rows: Rows,
    column: usize,
    /// The first row that may hold an id.
    from_row: u64,
    met: HashSet<u64>,
    hasher: RandomState,
    row: Row,
}

impl Ids {
    /// Opens a file and finds the column: by its header, its letters or its number, and without any the only one.
    pub fn open(path: &Path, column: Option<&str>) -> Result<Ids, Error> {
        let book = open(path, &Options::default())?;
        let mut rows = book.rows(0)?;
        let mut top = Vec::new();
        let mut row = Row::default();
        while top.len() < TOP && rows.next(&mut row)? {
            top.push(row.clone());
        }
        let (column, header) = find(&top, column).map_err(|reason| Error::Ids { path: path.to_owned(), reason })?;
        let from_row = header.map_or(0, |header| header + 1);
        Ok(Ids { rows: book.rows(0)?, column, from_row, met: HashSet::new(), hasher: RandomState::new(), row })
    }

    /// The next one; nothing after the last.
    pub fn next(&mut self) -> Result<Option<Wanted>, Error> {
        while self.rows.next(&mut self.row)? {
            if self.row.number < self.from_row {
                continue;
            }
            let id = shown(&self.row, self.column);
            if !id.is_empty() && self.met.insert(self.hasher.hash_one(&id)) {
                return Ok(Some(Wanted { id, row: self.row.number }));
            }
        }
        Ok(None)
    }
}

/// The path of what holds ids, for messages and for telling one export from another.
#[derive(Clone, Debug)]
pub struct IdFile {
    pub path: PathBuf,
    pub column: Option<String>,
}

/// The column, and the number of the row that is its header.
fn find(top: &[Row], column: Option<&str>) -> Result<(usize, Option<u64>), String> {
    let Some(wanted) = column else {
        let widest = top.iter().map(|row| row.cells().count()).max().unwrap_or(0);
        return match (widest, top.first()) {
            (0 | 1, None) => Err("it holds no ids".to_owned()),
            (0 | 1, Some(first)) => {
                let is_header = HEADERS.iter().any(|name| name.eq_ignore_ascii_case(&shown(first, 0)));
                Ok((0, is_header.then_some(first.number)))
            }
            _ => {
                let names =
                    top.first().map(|row| row.cells().map(|cell| cell.shown().into_owned()).collect::<Vec<_>>());
                Err(format!(
                    "it has {widest} columns, and --column does not say which one holds the ids; its first row is: {}",
                    names.unwrap_or_default().join(", ")
                ))
            }
        };
    };
    // Numbers and capital letters name a column by its place, unless the first row has them for a header.
    let is_first = |cell: Cell<'_>| cell.shown().trim() == wanted.trim();
    if let Some(column) = top.first().and_then(|first| first.cells().position(is_first)) {
        return Ok((column, top.first().map(|row| row.number)));
    }
    let by_number = wanted.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
    match by_number.or_else(|| column_index(wanted)) {
        Some(column) if top.iter().any(|row| !row.get(column).is_blank()) => return Ok((column, None)),
        _ => {}
    }
    let alike = |cell: Cell<'_>| cell.shown().trim().to_lowercase() == wanted.trim().to_lowercase();
    let found = top.iter().find_map(|row| Some((row.cells().position(alike)?, Some(row.number))));
    found.ok_or_else(|| format!("it has no column '{wanted}'"))
}

fn shown(row: &Row, column: usize) -> String {
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
        while let Some(wanted) = ids.next().unwrap() {
            found.push((wanted.id, wanted.row));
        }
        Ok(found)
    }

    #[test]
    fn ids_come_from_the_column_that_is_named_each_once() {
        let csv = "My orders,\nName,Order no\na,0042\nb,\nc,17\nd,0042\n";
        let expected = vec![("0042".to_owned(), 3), ("17".to_owned(), 5)];
        assert_eq!(ids(csv, Some(" order NO ")), Ok(expected));
        let by_letter = ids("a,1\nb,2\n", Some("B")).unwrap();
        assert_eq!(by_letter, [("1".to_owned(), 1), ("2".to_owned(), 2)]);
        assert_eq!(ids("a,1\nb,2\n", Some("2")).unwrap(), by_letter);
    }

    #[test]
    fn a_lonely_column_needs_no_name_and_loses_no_id() {
        assert_eq!(ids("7f3a\n8b2c\n", None).unwrap().len(), 2);
        assert_eq!(ids("id\n7f3a\n8b2c\n", None).unwrap().len(), 2);
        let refused = ids("id,name\n1,a\n", None).unwrap_err();
        assert!(refused.contains("--column") && refused.contains("id, name"), "{refused}");
        assert!(ids("id,name\n1,a\n", Some("sku")).unwrap_err().contains("no column 'sku'"));
    }
}
