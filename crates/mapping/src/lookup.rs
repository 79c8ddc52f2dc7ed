//! A lookup table from values in a sheet to values in the service, such as unit names to unit codes.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use sheetport_documents::nearest;
use sheetport_sheet::{Cell, Row};

use crate::typed_value::Value;

/// Maximum number of entries in a table.
pub const MAX_ENTRIES: usize = 1_000_000;

/// Maximum bytes of the keys and values of a table.
const MAX_BYTES: usize = 128 << 20;

/// Maximum number of entries compared for a suggestion.
const MAX_COMPARED: usize = 20_000;

/// Separator between the parts of a key with several columns. Never part of a cell.
const KEY_SEPARATOR: char = '\u{1f}';

/// Values by key: the exact key first, then the key in any case.
#[derive(Debug)]
pub struct Lookup {
    columns: LookupColumns,
    /// The sheet of the same workbook to read the table from. `None` if the table has been read.
    pending: Option<String>,
    entries: Vec<Entry>,
    exact: HashMap<Arc<str>, u32>,
    /// By lower-case key. `None` for several keys with different values.
    folded: HashMap<Arc<str>, Option<u32>>,
}

/// The columns of a lookup table by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LookupColumns {
    pub from: Vec<String>,
    pub to: String,
}

#[derive(Debug)]
struct Entry {
    key: Arc<str>,
    value: Value<'static>,
    /// Row number in the table's file.
    row: u64,
}

/// Why a table can't be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LookupError {
    #[error("the lookup table has no column '{column}'{}", did_you_mean(.nearest.as_deref()))]
    MissingColumn { column: String, nearest: Option<String> },
    /// The header has the column more than once.
    #[error("the column '{column}' appears more than once in the lookup table")]
    DuplicateColumn { column: String },
    /// A key has two values.
    #[error(
        "'{key}' has two values in the lookup table, '{}' in row {} and '{}' in row {}",
        .values[0], .rows[0], .values[1], .rows[1]
    )]
    Conflict { key: String, values: [String; 2], rows: [u64; 2] },
    #[error("the lookup table has more than {MAX_ENTRIES} entries, or {} MiB", MAX_BYTES >> 20)]
    TooLarge,
}

/// Why a table can't be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TableError {
    /// The file or sheet can't be read.
    #[error("the lookup table can't be read: {0}")]
    Unreadable(String),
    #[error(transparent)]
    Unusable(#[from] LookupError),
}

/// Reads a lookup table row by row. The first row that is not blank is the header.
#[derive(Debug)]
pub struct LookupReader {
    lookup: Lookup,
    /// The indexes of the columns `from` and `to`.
    found: Option<(Vec<usize>, usize)>,
    limit: usize,
    /// Bytes of keys and values so far.
    bytes: usize,
}

impl LookupReader {
    /// Starts a table of at most `limit` entries.
    pub fn new(columns: LookupColumns, limit: usize) -> LookupReader {
        LookupReader { lookup: Lookup::empty(columns, None), found: None, limit, bytes: 0 }
    }

    /// Reads the next row. Rows without a key are skipped. Fails if a column is missing, if a key has different values, or
    /// if there are too many entries.
    pub fn row(&mut self, row: &Row) -> Result<(), LookupError> {
        if row.is_blank() {
            return Ok(());
        }
        let Some((from, to)) = &self.found else {
            let header: Vec<String> = row.cells().map(|cell| cell.shown().into_owned()).collect();
            let columns = &self.lookup.columns;
            let from = columns.from.iter().map(|name| find(&header, name)).collect::<Result<_, _>>()?;
            self.found = Some((from, find(&header, &columns.to)?));
            return Ok(());
        };
        let key = key(from.iter().map(|index| value_of(without_decimals(row.get(*index))).text().into_owned()));
        let value = value_of(row.get(*to));
        match key {
            Some(key) => {
                self.bytes += key.len() + value.text().len();
                if self.bytes > MAX_BYTES {
                    return Err(LookupError::TooLarge);
                }
                self.lookup.insert(row.number, &key, value, self.limit)
            }
            None => Ok(()),
        }
    }

    /// Returns the table. Fails without a header.
    pub fn end(self) -> Result<Lookup, LookupError> {
        match self.found {
            Some(_) => Ok(self.lookup),
            None => Err(LookupError::MissingColumn { column: self.lookup.columns.to, nearest: None }),
        }
    }
}

/// Returns the key of one or several cells, or `None` if all are blank.
pub fn key(parts: impl Iterator<Item = String>) -> Option<String> {
    let mut key = String::new();
    let mut is_blank = true;
    for (nth, part) in parts.enumerate() {
        if nth > 0 {
            key.push(KEY_SEPARATOR);
        }
        is_blank &= part.trim().is_empty();
        key.push_str(part.trim());
    }
    (!is_blank).then_some(key)
}

/// Returns the cell of a key without the displayed decimals of its number format.
fn without_decimals(cell: Cell<'_>) -> Cell<'_> {
    if let Cell::Rounded(..) = cell { cell.unformatted() } else { cell }
}

/// Returns the value of a cell, without white space around texts. Numbers with too many digits become texts.
fn value_of(cell: Cell<'_>) -> Value<'static> {
    match Value::from_cell(&cell) {
        Ok(Value::Text(text)) => Value::Text(Cow::Owned(text.trim().to_owned())),
        Ok(value) => value.into_owned(),
        Err(_) => Value::Text(Cow::Owned(cell.shown().into_owned())),
    }
}

impl Lookup {
    /// Returns a table with its entries still to be read from another sheet of the workbook.
    pub fn pending(columns: LookupColumns, sheet: String) -> Lookup {
        Lookup::empty(columns, Some(sheet))
    }

    fn empty(columns: LookupColumns, pending: Option<String>) -> Lookup {
        let (entries, exact, folded) = (Vec::new(), HashMap::new(), HashMap::new());
        Lookup { columns, pending, entries, exact, folded }
    }

    /// Returns the sheet with the unread entries, if any.
    pub fn pending_sheet(&self) -> Option<&str> {
        self.pending.as_deref()
    }

    pub fn columns(&self) -> &LookupColumns {
        &self.columns
    }

    /// Returns the value of a key, or of the same key in another case.
    pub fn get(&self, key: &str) -> Option<&Value<'static>> {
        let key = key.trim();
        let index = match self.exact.get(key) {
            Some(index) => *index,
            None => (*self.folded.get(folded(key).as_ref())?)?,
        };
        Some(&self.entry(index).value)
    }

    /// Returns the most similar key, for suggestions.
    pub fn nearest(&self, key: &str) -> Option<String> {
        nearest(key, self.keys().take(MAX_COMPARED)).map(shown)
    }

    pub fn keys(&self) -> impl ExactSizeIterator<Item = &str> {
        self.entries.iter().map(|entry| entry.key.as_ref())
    }

    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns the approximate size in memory, in bytes.
    pub fn size(&self) -> usize {
        // Memory of an entry and its places in both maps, without its texts.
        const ENTRY: usize = 200;
        self.entries.iter().map(|entry| ENTRY + 2 * entry.key.len() + entry.value.text().len()).sum()
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    fn insert(&mut self, row: u64, key: &str, value: Value<'static>, limit: usize) -> Result<(), LookupError> {
        if let Some(index) = self.exact.get(key) {
            let known = self.entry(*index);
            if known.value == value {
                return Ok(());
            }
            return Err(LookupError::Conflict {
                key: shown(key),
                values: [known.value.text().into_owned(), value.text().into_owned()],
                rows: [known.row, row],
            });
        }
        if self.entries.len() >= limit {
            return Err(LookupError::TooLarge);
        }
        let index = u32::try_from(self.entries.len()).map_err(|_| LookupError::TooLarge)?;
        let key: Arc<str> = key.into();
        let folded: Arc<str> = match folded(&key) {
            Cow::Borrowed(_) => key.clone(),
            Cow::Owned(folded) => folded.into(),
        };
        let is_same = |known: u32| self.entry(known).value == value;
        let by_folded = match self.folded.get(&folded) {
            None => Some(index),
            Some(known) => known.filter(|known| is_same(*known)),
        };
        self.folded.insert(folded, by_folded);
        self.exact.insert(key.clone(), index);
        self.entries.push(Entry { key, value, row });
        Ok(())
    }

    fn entry(&self, index: u32) -> &Entry {
        &self.entries[index as usize]
    }
}

/// Returns a key in readable form.
fn shown(key: &str) -> String {
    key.replace(KEY_SEPARATOR, " / ")
}

fn did_you_mean(nearest: Option<&str>) -> String {
    nearest.map_or_else(String::new, |nearest| format!("; did you mean '{nearest}'?"))
}

/// Returns the index of a column, comparing names in any case.
fn find<C: AsRef<str>>(header: &[C], column: &str) -> Result<usize, LookupError> {
    let same = |name: &str| folded(name.trim()) == folded(column.trim());
    let mut matching = header.iter().enumerate().filter(|(_, name)| same(name.as_ref())).map(|(index, _)| index);
    match (matching.next(), matching.next()) {
        (Some(index), None) => Ok(index),
        (Some(_), Some(_)) => Err(LookupError::DuplicateColumn { column: column.to_owned() }),
        (None, _) => {
            let nearest = nearest(column, header.iter().map(AsRef::as_ref)).map(str::to_owned);
            Err(LookupError::MissingColumn { column: column.to_owned(), nearest })
        }
    }
}

/// Returns the key in lower case.
fn folded(key: &str) -> Cow<'_, str> {
    if key.bytes().all(|b| b.is_ascii() && !b.is_ascii_uppercase()) {
        return Cow::Borrowed(key);
    }
    Cow::Owned(key.to_lowercase())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{prop_assert_eq, proptest};
    use sheetport_sheet::Cell;
    use sheetport_values::decimal::Decimal;

    use super::*;

    const HEADER: [&str; 3] = ["Unit", "Note", "Code"];

    fn columns(from: &[&str], to: &str) -> LookupColumns {
        LookupColumns { from: from.iter().map(|name| (*name).to_owned()).collect(), to: to.to_owned() }
    }

    fn read(columns: LookupColumns, rows: &[Vec<Cell<'_>>], limit: usize) -> Result<Lookup, LookupError> {
        let mut reader = LookupReader::new(columns, limit);
        for (number, cells) in (1..).zip(rows) {
            let mut row = Row::default();
            row.clear(number);
            cells.iter().for_each(|cell| row.push(*cell));
            reader.row(&row)?;
        }
        reader.end()
    }

    fn texts(rows: &[&[&'static str]]) -> Vec<Vec<Cell<'static>>> {
        rows.iter().map(|row| row.iter().map(|text| Cell::Text(text)).collect()).collect()
    }

    fn table(rows: &[&[&'static str]]) -> Result<Lookup, LookupError> {
        let header: &[&str] = &HEADER;
        read(columns(&["unit"], " Code "), &texts(&[&[header], rows].concat()), MAX_ENTRIES)
    }

    #[test]
    fn exact_keys_win_over_keys_in_another_case() {
        let lookup =
            table(&[&["Stück", "", "pcs"], &["kg", "", "kgm"], &["KG", "", "KGM"], &["", "", "?"], &["m", "x", ""]])
                .expect("a table");
        for (key, value) in [
            ("Stück", Some("pcs")),
            (" STÜCK ", Some("pcs")),
            ("kg", Some("kgm")),
            ("KG", Some("KGM")),
            ("Kg", None),
            ("m", Some("")),
            ("", None),
            ("l", None),
        ] {
            assert_eq!(lookup.get(key).map(Value::text).as_deref(), value, "{key}");
        }
        assert_eq!(lookup.nearest("Stueck").as_deref(), Some("Stück"));
        assert_eq!(lookup.nearest("xyz"), None);
        assert_eq!(lookup.len(), 4);
    }

    #[test]
    fn values_keep_the_type_of_the_cell() {
        let rows = [
            vec![Cell::Text("Unit"), Cell::Text("Factor")],
            vec![Cell::Text("box"), Cell::Number(1.234)],
            vec![Cell::Number(7.0), Cell::Percent(0.19)],
            vec![Cell::Text("text"), Cell::Text("1.234")],
        ];
        let lookup = read(columns(&["Unit"], "Factor"), &rows, MAX_ENTRIES).expect("a table");
        assert_eq!(lookup.get("BOX"), Some(&Value::Number(Decimal::new(1234, 3))));
        assert_eq!(lookup.get("7"), Some(&Value::Percent(Decimal::new(19, 2))));
        assert_eq!(lookup.get("text"), Some(&Value::Text("1.234".into())));
    }

    #[test]
    fn a_key_can_have_several_columns() {
        let rows = texts(&[&["Code", "Region", "Price"], &["A", "EU", "5"], &["A", "US", "6"], &["A", "", "7"]]);
        let lookup = read(columns(&["Region", "Code"], "Price"), &rows, MAX_ENTRIES).expect("a table");
        let get = |parts: &[&str]| {
            let key = key(parts.iter().map(|part| (*part).to_owned()))?;
            lookup.get(&key).map(|value| value.text().into_owned())
        };
        assert_eq!(get(&["us", " a "]).as_deref(), Some("6"));
        assert_eq!(get(&["", "A"]).as_deref(), Some("7"));
        assert_eq!(get(&["A", "US"]), None);
        assert_eq!(get(&["", " "]), None);
        let conflict =
            read(columns(&["Region", "Code"], "Price"), &[rows.clone(), texts(&[&["A", "EU", "9"]])].concat(), 9);
        let message = "'EU / A' has two values in the lookup table, '5' in row 2 and '9' in row 5";
        assert_eq!(conflict.expect_err("a conflict").to_string(), message);
    }

    #[test]
    fn a_key_with_two_values_is_an_error_naming_both_rows() {
        let error = table(&[&["kg", "", "a"], &["m", "", "b"], &["kg", "", "c"]]).expect_err("an error");
        assert_eq!(error.to_string(), "'kg' has two values in the lookup table, 'a' in row 2 and 'c' in row 4");
        assert!(table(&[&["kg", "", "a"], &["kg", "other", "a"]]).is_ok());
    }

    #[test]
    fn columns_are_found_by_name() {
        let error = |from: &str, header: [&'static str; 3]| {
            read(columns(&[from], "Code"), &texts(&[&header]), MAX_ENTRIES).expect_err("an error")
        };
        assert_eq!(
            error("Units", HEADER),
            LookupError::MissingColumn { column: "Units".to_owned(), nearest: Some("Unit".to_owned()) }
        );
        assert_eq!(error("a", ["A", "a", "Code"]), LookupError::DuplicateColumn { column: "a".to_owned() });
        assert!(table(&[]).is_ok_and(|lookup| lookup.is_empty()));
        let empty = read(columns(&["Unit"], "Code"), &[], MAX_ENTRIES).expect_err("no header");
        assert_eq!(empty, LookupError::MissingColumn { column: "Code".to_owned(), nearest: None });
    }

    #[test]
    fn the_number_of_entries_is_limited() {
        let rows = texts(&[&["from", "to"], &["a", "x"], &["b", "x"], &["c", "x"], &["a", "x"]]);
        let build = |limit| read(columns(&["from"], "to"), &rows, limit).map(|lookup| lookup.len());
        assert_eq!(build(3), Ok(3));
        assert_eq!(build(2), Err(LookupError::TooLarge));
    }

    proptest! {
        #[test]
        fn every_inserted_key_is_found(pairs in proptest::collection::hash_map("[a-cA-CäÄß ]{1,4}", "[xy]?", 0..20)) {
            let mut expected: HashMap<String, String> = HashMap::new();
            for (key, value) in &pairs {
                if !key.trim().is_empty() {
                    expected.entry(key.trim().to_owned()).or_insert(value.trim().to_owned());
                }
            }
            let mut rows = texts(&[&["k", "v"]]);
            rows.extend(expected.iter().map(|(key, value)| vec![Cell::Text(key), Cell::Text(value)]));
            let lookup = read(columns(&["k"], "v"), &rows, MAX_ENTRIES).expect("a table");
            for (key, value) in &expected {
                let found = lookup.get(key).map(|value| value.text().into_owned());
                prop_assert_eq!(found.as_ref(), Some(value));
            }
        }
    }
}
