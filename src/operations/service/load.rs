//! Loading records from spreadsheets into a workspace of the embedded service, for rehearsals with real data. Columns are
//! named like the fields of the API, as in exports.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::{Map, Value};

use super::super::error::Error;
use super::ndjson::{NdjsonFile, NdjsonRecord};
use crate::digest;
use crate::records::{Field, JsonType, company, contact, inventory, item, listed_name, order, transaction};
use crate::service::{Config, LoadRecord, Loader, Nulls, Service, Storage, WriteOutcome};
use crate::sheet::{self, Book, Cell, RESERVED_PREFIX, Row};

/// Rows stored at a time.
const BATCH: usize = 1000;
/// Columns that can identify a record. A file needs at least one of these.
const KEYS: [&str; 7] = ["id", "external_id", "externalId", "name", "order_id", "inventory_id", "transaction_id"];

/// Transactions refer to inventories, so inventories are loaded first.
const TRANSACTIONS: &str = "transactions";

/// A kind of loadable records.
#[derive(Debug)]
pub struct LoadKind {
    pub name: &'static str,
    fields: &'static [Field],
    /// Further fields.
    more: &'static [(&'static str, JsonType)],
    /// Accepts any field, because the contract does not list the fields of these records.
    is_open: bool,
    /// Whether records need no key, because the id is derived from the content.
    derives_ids: bool,
    pub(super) record: fn(Map<String, Value>) -> LoadRecord,
}

pub static LOAD_KINDS: [LoadKind; 6] = [
    LoadKind::new("companies", company::READ_FIELDS, LoadRecord::Company).open(),
    LoadKind::new("contacts", contact::READ_FIELDS, LoadRecord::Contact).open(),
    LoadKind::new("inventories", inventory::READ_FIELDS, LoadRecord::Inventory),
    LoadKind::new("orders", order::READ_FIELDS, LoadRecord::Order),
    // Columns of items are named as in the list or as in the input.
    LoadKind {
        more: &[
            ("purchase_price", JsonType::Number),
            ("updated_at", JsonType::String),
            ("created_at", JsonType::String),
        ],
        // An upsert needs the external id.
        derives_ids: false,
        ..LoadKind::new("items", item::INPUT_FIELDS, LoadRecord::Item)
    },
    LoadKind { derives_ids: false, ..LoadKind::new(TRANSACTIONS, transaction::READ_FIELDS, LoadRecord::Transaction) },
];

/// A loaded file.
#[derive(Clone, Debug)]
pub struct LoadedFile {
    pub path: PathBuf,
    pub kind: &'static LoadKind,
    pub outcome: LoadOutcome,
}

/// The result of loading a file.
#[derive(Clone, Debug, Default, Serialize)]
pub struct LoadOutcome {
    pub rows: u64,
    pub created: u64,
    pub updated: u64,
    pub unchanged: u64,
    pub rejected: u64,
    /// Columns without a matching field.
    pub ignored: Vec<String>,
    pub problems: Vec<LoadProblem>,
    /// Fields present in the file, with or without a value.
    #[serde(skip)]
    pub(super) fields: BTreeSet<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LoadProblem {
    pub row: u64,
    pub field: String,
    pub message: String,
}

/// How records are loaded.
pub(super) struct Loading<'a> {
    pub loader: &'a Loader,
    pub workspace: &'a str,
    /// Loads a record with a faulty cell without the value of this cell, and reports the cell.
    pub keeps_faulty: bool,
}

/// Loads files into a workspace of a service. A service in a folder must not be running. Without `kind`, the name of a
/// file determines the kind of the records. `loaded` is called after each file.
pub async fn load(
    storage: Storage,
    workspace: &str,
    paths: &[PathBuf],
    kind: Option<&'static LoadKind>,
    loaded: impl Fn(&LoadedFile),
) -> Result<Vec<LoadedFile>, Error> {
    let mut opened = Vec::with_capacity(paths.len());
    for path in paths {
        let kind = kind.or_else(|| LoadKind::of_file(path)).ok_or_else(|| unknown_kind(path))?;
        opened.push((kind, LoadFile::open(path)?));
    }
    let service = Service::open(Config::with(storage)).await?;
    let loader = service.loader();
    let loading = Loading { loader: &loader, workspace, keeps_faulty: false };
    let files = loading.load_all(opened, loaded).await;
    service.close().await;
    files
}

/// An opened file.
pub(super) enum LoadFile {
    Table { path: PathBuf, book: Box<Book> },
    Ndjson(NdjsonFile),
}

impl LoadFile {
    pub(super) fn open(path: &Path) -> Result<LoadFile, Error> {
        Ok(match NdjsonFile::open(path)? {
            Some(file) => LoadFile::Ndjson(file),
            None => LoadFile::Table {
                path: path.to_owned(),
                book: Box::new(sheet::open(path, &sheet::Options::default())?),
            },
        })
    }
}

impl Loading<'_> {
    pub(super) async fn load_all(
        &self,
        mut opened: Vec<(&'static LoadKind, LoadFile)>,
        loaded: impl Fn(&LoadedFile),
    ) -> Result<Vec<LoadedFile>, Error> {
        opened.sort_by_key(|(kind, _)| kind.name == TRANSACTIONS);
        let mut files = Vec::with_capacity(opened.len());
        for (kind, file) in opened {
            let (path, outcome) = match file {
                LoadFile::Table { path, book } => {
                    let outcome = self.load_table(kind, &path, &book).await?;
                    (path, outcome)
                }
                LoadFile::Ndjson(file) => (file.path().to_owned(), self.load_ndjson(kind, file).await?),
            };
            let file = LoadedFile { path, kind, outcome };
            loaded(&file);
            files.push(file);
        }
        Ok(files)
    }

    async fn load_table(&self, kind: &'static LoadKind, path: &Path, book: &Book) -> Result<LoadOutcome, Error> {
        let mut rows = book.rows(sheet_of(kind, book)?)?;
        let mut row = Row::default();
        if !rows.next(&mut row)? {
            return Err(sheet::Error::Empty { path: path.to_owned() }.into());
        }
        let (mut outcome, mut seen) = (LoadOutcome::default(), Seen::default());
        let columns = columns(kind, &row, &mut outcome.ignored).map_err(|why| bad_header(path, kind, &why))?;
        outcome.fields = columns.iter().map(|column| column.name.clone()).collect();
        loop {
            let (mut numbers, mut records) = (Vec::new(), Vec::new());
            while records.len() < BATCH && rows.next(&mut row)? {
                if row.is_blank() {
                    continue;
                }
                outcome.rows += 1;
                let (fields, problems) = record(&columns, &row);
                if problems.is_empty() || self.keeps_faulty {
                    numbers.push(row.number);
                    records.push(fields);
                }
                outcome.reject(row.number, problems, self.keeps_faulty);
            }
            if records.is_empty() {
                break;
            }
            self.store(kind, numbers, records, Nulls::KeepStored, &mut seen, &mut outcome).await?;
        }
        outcome.problems.sort_by_key(|problem| problem.row);
        Ok(outcome)
    }

    async fn load_ndjson(&self, kind: &'static LoadKind, mut file: NdjsonFile) -> Result<LoadOutcome, Error> {
        let (mut outcome, mut seen) = (LoadOutcome::default(), Seen::default());
        loop {
            let (mut numbers, mut records) = (Vec::new(), Vec::new());
            while records.len() < BATCH
                && let Some(NdjsonRecord { line, mut fields }) = file.next()?
            {
                outcome.rows += 1;
                let is_unknown = |name: &&String| kind.column(name).is_none() && !outcome.ignored.contains(name);
                let unknown: Vec<String> = fields.keys().filter(is_unknown).cloned().collect();
                outcome.ignored.extend(unknown);
                fields.retain(|name, _| kind.column(name).is_some());
                for name in fields.keys().filter(|name| !outcome.fields.contains(*name)).cloned().collect::<Vec<_>>() {
                    outcome.fields.insert(name);
                }
                numbers.push(line);
                records.push(fields);
            }
            if records.is_empty() {
                return Ok(outcome);
            }
            self.store(kind, numbers, records, Nulls::Clear, &mut seen, &mut outcome).await?;
        }
    }

    /// Stores records from these rows.
    async fn store(
        &self,
        kind: &'static LoadKind,
        numbers: Vec<u64>,
        mut records: Vec<Map<String, Value>>,
        nulls: Nulls,
        seen: &mut Seen,
        outcome: &mut LoadOutcome,
    ) -> Result<(), Error> {
        for fields in records.iter_mut().filter(|fields| kind.derives_ids && !has_key(fields)) {
            let id = seen.id(kind, fields);
            fields.insert("id".to_owned(), Value::from(id));
        }
        let records = records.into_iter().map(kind.record).collect();
        for (number, stored) in numbers.into_iter().zip(self.loader.load_with(self.workspace, records, nulls).await?) {
            match stored {
                Ok(stored) => match stored.outcome {
                    WriteOutcome::Created => outcome.created += 1,
                    WriteOutcome::Updated => outcome.updated += 1,
                    WriteOutcome::Unchanged => outcome.unchanged += 1,
                },
                Err(errors) => {
                    // Files name the fields as in the list, unless they have a column named as in the input.
                    let shown = |field: String| match outcome.fields.contains(&field) {
                        true => field,
                        false => listed_name(&field),
                    };
                    let errors: Vec<_> = errors.into_iter().map(|(field, messages)| (shown(field), messages)).collect();
                    let problems = errors.into_iter().flat_map(|(field, messages)| {
                        messages.into_iter().map(move |message| (field.clone(), message))
                    });
                    outcome.reject(number, problems.collect(), false);
                }
            }
        }
        Ok(())
    }
}

/// Returns the sheet with the records of a kind: the sheet named like the kind, as in an export of several lists, or else the
/// only visible sheet with content. Fails with the names of the sheets if there are several.
fn sheet_of(kind: &LoadKind, book: &Book) -> Result<usize, sheet::Error> {
    let sheets = book.sheets();
    if let Some(named) = sheets.iter().position(|name| name.trim().eq_ignore_ascii_case(kind.name)) {
        return Ok(named);
    }
    let mut filled = Vec::new();
    for sheet in (0..sheets.len()).filter(|sheet| sheets.len() > 1 && !book.is_hidden(*sheet)) {
        if !book.first_rows(sheet, 1)?.is_empty() {
            filled.push(sheet);
        }
    }
    match filled.as_slice() {
        [] => Ok(0),
        [only] => Ok(*only),
        _ => book.find_named_sheet(kind.name),
    }
}

impl LoadOutcome {
    /// Adds the problems of a row. The row counts as rejected unless it is loaded anyway.
    fn reject(&mut self, row: u64, problems: Vec<(String, String)>, is_loaded: bool) {
        self.rejected += u64::from(!problems.is_empty() && !is_loaded);
        self.problems.extend(problems.into_iter().map(|(field, message)| LoadProblem { row, field, message }));
    }
}

/// Counts records without a key, by content. Their ids are derived from the content, so that loading a file again changes
/// nothing.
#[derive(Default)]
struct Seen(BTreeMap<[u8; 32], u64>);

impl Seen {
    /// Returns an id derived from the content. Further records with the same content get further ids.
    fn id(&mut self, kind: &LoadKind, fields: &Map<String, Value>) -> String {
        let mut parts = vec![kind.name.to_owned()];
        let sorted: BTreeMap<&String, &Value> = fields.iter().filter(|(_, value)| !value.is_null()).collect();
        for (name, value) in sorted {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            parts.extend([name.clone(), text]);
        }
        let content = digest::of_parts(parts.iter().map(String::as_bytes));
        let times = self.0.entry(content).or_default();
        *times += 1;
        let content = digest::of_parts([&content[..], &times.to_le_bytes()]);
        let bytes = std::array::from_fn(|index| content[index]);
        uuid::Builder::from_random_bytes(bytes).into_uuid().to_string()
    }
}

/// Returns whether the record has a key.
fn has_key(fields: &Map<String, Value>) -> bool {
    KEYS.iter().any(|key| *key != "name" && fields.get(*key).is_some_and(|value| !value.is_null()))
}

impl LoadKind {
    const fn new(
        name: &'static str,
        fields: &'static [Field],
        record: fn(Map<String, Value>) -> LoadRecord,
    ) -> LoadKind {
        LoadKind { name, fields, more: &[], is_open: false, derives_ids: true, record }
    }

    const fn open(self) -> LoadKind {
        LoadKind { is_open: true, ..self }
    }

    /// Returns the kind named by a word of the file name.
    pub(super) fn of_file(path: &Path) -> Option<&'static LoadKind> {
        let stem = path.file_stem()?.to_string_lossy().to_lowercase();
        let words = stem.split(|letter: char| !letter.is_alphanumeric());
        LOAD_KINDS.iter().find(|kind| words.clone().any(|word| word == kind.name))
    }

    /// Returns the type of a column, or `None` if these records have no such field.
    fn column(&self, name: &str) -> Option<ColumnType> {
        let known = self.fields.iter().map(|field| (field.name, field.json)).chain(self.more.iter().copied());
        let ids = [("id", JsonType::String), ("external_id", JsonType::String)];
        let known = known.chain(ids).find(|(field, _)| *field == name).map(|(_, json)| ColumnType::Field(json));
        known.or(self.is_open.then_some(ColumnType::Open))
    }
}

struct Column {
    index: usize,
    name: String,
    of: ColumnType,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum ColumnType {
    /// A field with a type.
    Field(JsonType),
    /// A further field, with the type of each cell.
    Open,
}

/// Returns the columns with a matching field. Fails with the reason if the header can't be used.
fn columns(kind: &'static LoadKind, header: &Row, ignored: &mut Vec<String>) -> Result<Vec<Column>, String> {
    let mut columns: Vec<Column> = Vec::new();
    for (index, cell) in header.cells().enumerate() {
        let name = sheet::write::restore(cell.shown().trim()).into_owned();
        if name.is_empty() {
            continue;
        }
        if columns.iter().any(|column| column.name == name) {
            return Err(format!("the column '{name}' appears twice"));
        }
        match kind.column(&name) {
            Some(of) if !name.starts_with(RESERVED_PREFIX) => columns.push(Column { index, name, of }),
            _ => ignored.push(name),
        }
    }
    match columns.iter().any(|column| KEYS.contains(&column.name.as_str())) {
        true => Ok(columns),
        false => Err("its first row has no column for an id or a name".to_owned()),
    }
}

/// Returns the fields of a row, and all its problems as field and message. Blank cells are null; faulty cells are left out.
fn record(columns: &[Column], row: &Row) -> (Map<String, Value>, Vec<(String, String)>) {
    let (mut fields, mut problems) = (Map::new(), Vec::new());
    for column in columns {
        match value(column.of, row.get(column.index)) {
            Ok(Some(value)) => drop(fields.insert(column.name.clone(), value)),
            // Of a new record, an empty field. Others keep theirs.
            Ok(None) => drop(fields.insert(column.name.clone(), Value::Null)),
            Err(message) => problems.push((column.name.clone(), message)),
        }
    }
    (fields, problems)
}

fn value(of: ColumnType, cell: Cell<'_>) -> Result<Option<Value>, String> {
    let json = match (of, cell) {
        (ColumnType::Field(json), _) => json,
        (ColumnType::Open, Cell::Boolean(_)) => JsonType::Boolean,
        (ColumnType::Open, Cell::Number(_) | Cell::Rounded(..)) => JsonType::Number,
        (ColumnType::Open, _) => JsonType::String,
    };
    let text = match cell {
        Cell::Blank => return Ok(None),
        Cell::Error(error) => return Err(format!("is the formula error {error}")),
        // Exports write times in UTC.
        Cell::DateTime(at) => format!("{at}Z"),
        Cell::Date(date) => format!("{date}T00:00:00Z"),
        Cell::Text(text) => sheet::write::restore(text).into_owned(),
        // Exports show all decimals, such as the two of 1.50.
        Cell::Rounded(number, decimals) => with_decimals(Cell::Number(number).shown().into_owned(), decimals.into()),
        other => other.unformatted().shown().into_owned(),
    };
    let wrong = |what: &str| format!("must be {what}, not '{}'", text.chars().take(40).collect::<String>());
    let value = match json {
        JsonType::String | JsonType::DateTime => Value::from(text),
        JsonType::Number | JsonType::Integer => match serde_json::from_str(text.trim()) {
            Ok(Value::Number(number)) => Value::Number(number),
            _ => return Err(wrong("a number such as 1234.50")),
        },
        JsonType::Boolean => match text.trim().to_ascii_lowercase().as_str() {
            "true" => Value::Bool(true),
            "false" => Value::Bool(false),
            _ => return Err(wrong("true or false")),
        },
        // An export joins plain values with commas, except values that contain commas or brackets.
        JsonType::Strings if !text.trim_start().starts_with('[') => {
            text.split(',').map(str::trim).filter(|part| !part.is_empty()).collect()
        }
        JsonType::Strings | JsonType::Object(_) | JsonType::Objects(_) => match serde_json::from_str(&text) {
            Ok(value @ (Value::Array(_) | Value::Object(_))) => value,
            _ => return Err(wrong("JSON as in an export, such as [\"a\",\"b\"]")),
        },
    };
    Ok(Some(value))
}

/// Returns a number with at least this many decimals.
fn with_decimals(mut digits: String, decimals: usize) -> String {
    let shown = digits.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    if shown < decimals {
        if shown == 0 {
            digits.push('.');
        }
        digits.extend(std::iter::repeat_n('0', decimals - shown));
    }
    digits
}

fn unknown_kind(path: &Path) -> Error {
    let names: Vec<_> = LOAD_KINDS.iter().map(|kind| kind.name).collect();
    let message = format!("the name of {} does not say which records it holds", path.display());
    Error::invalid(message, format!("name them with --kind: {}", names.join(", ")))
}

fn bad_header(path: &Path, kind: &'static LoadKind, why: &str) -> Error {
    Error::BadInput {
        message: format!("{} can't be loaded as {}: {why}", path.display(), kind.name),
        hint: "name the columns in the first row like the fields of the API, as `sheetport export` does".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn row(cells: &[Cell<'_>]) -> Row {
        let mut row = Row::default();
        row.clear(1);
        cells.iter().for_each(|cell| row.push(*cell));
        row
    }

    #[test]
    fn file_names_determine_the_kind() {
        for (name, kind) in [
            ("companies.csv", Some("companies")),
            ("/tmp/2026-01 Orders.xlsx", Some("orders")),
            ("export_items_new.csv", Some("items")),
            ("price-list.csv", None),
            ("reorders.csv", None),
        ] {
            assert_eq!(LoadKind::of_file(Path::new(name)).map(|kind| kind.name), kind, "{name}");
        }
    }

    #[test]
    fn columns_that_are_no_fields_are_listed() {
        let mut ignored = Vec::new();
        let header = row(&[Cell::Text(" id "), Cell::Blank, Cell::Text("colour"), Cell::Text("order_id")]);
        let found = columns(&LOAD_KINDS[3], &header, &mut ignored).expect("a header");
        let found: Vec<_> = found.iter().map(|column| (column.index, column.name.as_str())).collect();
        assert_eq!((found, ignored), (vec![(0, "id"), (3, "order_id")], vec!["colour".to_owned()]));

        let twice = row(&[Cell::Text("id"), Cell::Text("id")]);
        assert!(columns(&LOAD_KINDS[3], &twice, &mut Vec::new()).is_err_and(|why| why.contains("'id'")));
        let none = row(&[Cell::Text("Nummer"), Cell::Text("Summe")]);
        assert!(columns(&LOAD_KINDS[3], &none, &mut Vec::new()).is_err());
    }

    #[test]
    fn records_without_keys_get_ids_of_their_content() {
        let record = |json: Value| json.as_object().cloned().expect("an object");
        let kind = &LOAD_KINDS[0];
        let (mut first, mut again) = (Seen::default(), Seen::default());
        let (acme, other) = (record(json!({"name": "Acme", "vat": 1})), record(json!({"name": "Acme", "vat": 2})));
        let ids = [first.id(kind, &acme), first.id(kind, &acme), first.id(kind, &other)];
        assert_eq!(BTreeSet::from(ids.clone()).len(), 3, "a row that occurs twice is two records");
        let reordered = record(json!({"vat": 1, "phone": null, "name": "Acme"}));
        assert_eq!([again.id(kind, &reordered), again.id(kind, &acme), again.id(kind, &other)], ids);
        assert!(!has_key(&acme) && has_key(&record(json!({"order_id": 7}))) && !has_key(&record(json!({"id": null}))));
    }

    #[test]
    fn cells_become_values_of_the_field_type() {
        use JsonType::{Boolean, Integer, Number, String, Strings};
        let field = |json, cell| value(ColumnType::Field(json), cell);
        let at = jiff::civil::date(2026, 1, 31).at(8, 30, 0, 0);
        for (json, cell, expected) in [
            (String, Cell::Text("0042"), json!("0042")),
            (String, Cell::Text("'=1+1"), json!("=1+1")),
            (String, Cell::Number(42.0), json!("42")),
            (String, Cell::DateTime(at), json!("2026-01-31T08:30:00Z")),
            (String, Cell::Date(at.date()), json!("2026-01-31T00:00:00Z")),
            (Integer, Cell::Text(" 7 "), json!(7)),
            (Boolean, Cell::Boolean(true), json!(true)),
            (Strings, Cell::Text(r#"["a","b"]"#), json!(["a", "b"])),
            (Strings, Cell::Text("a, b"), json!(["a", "b"])),
        ] {
            assert_eq!(field(json, cell), Ok(Some(expected)), "{cell:?}");
        }
        let kept = field(Number, Cell::Text("1234.50")).expect("a number").expect("there");
        assert_eq!(kept.to_string(), "1234.50", "digits stay as they are");
        let shown = field(Number, Cell::Rounded(1225.5, 2)).expect("a number").expect("there");
        assert_eq!(shown.to_string(), "1225.50", "decimals that are shown");
        let hidden = field(Number, Cell::Rounded(1.105, 2)).expect("a number").expect("there");
        assert_eq!(hidden.to_string(), "1.105", "decimals that are not shown");
        assert_eq!(field(Number, Cell::Blank), Ok(None));
        for (cell, expected) in [
            (Cell::Number(19.0), json!(19)),
            (Cell::Boolean(true), json!(true)),
            (Cell::Text("19"), json!("19")),
            (Cell::Text("true"), json!("true")),
        ] {
            assert_eq!(value(ColumnType::Open, cell), Ok(Some(expected)), "{cell:?}");
        }
        for (json, cell) in [
            (Number, Cell::Text("12,50")),
            (Number, Cell::Text("1 2")),
            (Boolean, Cell::Text("yes")),
            (Strings, Cell::Text("[a")),
            (String, Cell::Error("#N/A")),
        ] {
            assert!(field(json, cell).is_err(), "{cell:?}");
        }
    }
}
