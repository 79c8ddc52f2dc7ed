//! Loading records from spreadsheets into a workspace of the embedded service, for rehearsals with real data. Columns are
//! named like the fields of the API, as in exports.

mod columns;
mod kind;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Serialize;
use serde_json::{Map, Value};
use twox_hash::XxHash3_64;

use columns::{CellForm, Column, Decimals, columns, record};
use kind::{KEYS, TRANSACTIONS};
pub use kind::{LOAD_KINDS, LoadKind};

use sheetport_export::Manifest;
use sheetport_files::digest;
use sheetport_operations::{Error, LocalOperation};
use sheetport_records::{is_list_of_changes, listed_name};
use sheetport_service::{Config, Loader, Nulls, Service, Storage, WriteOutcome};
use sheetport_sheet::{self as sheet, Book, Row};
use sheetport_values::number::Mark;

use super::ndjson::{NdjsonFile, NdjsonRecord};
use super::refusal::refused;

/// Rows stored at a time.
const BATCH: usize = 1000;
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
/// file determines the kind of the records, or the names of the sheets of a workbook. `loaded` is called after each file and
/// kind.
pub fn load<'a>(
    storage: Storage,
    workspace: &'a str,
    paths: &'a [PathBuf],
    kind: Option<&'static LoadKind>,
    loaded: &'a dyn Fn(&LoadedFile),
) -> LocalOperation<'a, Vec<LoadedFile>> {
    Box::pin(async move {
        let mut opened = Vec::with_capacity(paths.len());
        for path in paths {
            let files = match kind {
                Some(kind) => vec![(kind, LoadFile::open(path)?)],
                None => LoadFile::open_named(path)?,
            };
            if files.is_empty() {
                return Err(unknown_kind(path));
            }
            opened.extend(files);
        }
        let service = Service::open(Config::with(storage)).await.map_err(refused)?;
        let loader = service.loader();
        let loading = Loading { loader: &loader, workspace, keeps_faulty: false };
        let files = loading.load_all(opened, loaded).await;
        service.close().await;
        files
    })
}

/// An opened file.
pub(super) enum LoadFile {
    /// The kinds of a workbook share it.
    Table {
        path: PathBuf,
        book: Arc<Book>,
    },
    Ndjson(NdjsonFile),
}

impl LoadFile {
    /// Opens a file with records of the kinds that its name or the names of its sheets say. Returns nothing if they say none.
    pub(super) fn open_named(path: &Path) -> Result<Vec<(&'static LoadKind, LoadFile)>, Error> {
        if let Some(kind) = LoadKind::of_file(path) {
            return Ok(vec![(kind, LoadFile::open(path)?)]);
        }
        let LoadFile::Table { path, book } = LoadFile::open(path)? else { return Ok(Vec::new()) };
        let named = kinds_of_sheets(&book);
        Ok(named.map(|kind| (kind, LoadFile::Table { path: path.clone(), book: Arc::clone(&book) })).collect())
    }

    /// Returns the kinds of records in a file without a manifest, as [`LoadFile::open_named`] finds them. Of reports, lists of
    /// changes, and texts whose name says nothing, returns nothing.
    pub(super) fn kinds_of(path: &Path) -> Result<Vec<&'static LoadKind>, Error> {
        let named = LoadKind::of_file(path);
        let is_workbook = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("xlsx"));
        if named.is_none() && !is_workbook {
            return Ok(Vec::new());
        }
        // A file with the name of a kind is read later, with all its mistakes.
        let book = match (LoadFile::open(path), named) {
            (Ok(LoadFile::Table { book, .. }), _) => book,
            (Ok(LoadFile::Ndjson(_)) | Err(_), Some(kind)) => return Ok(vec![kind]),
            (Ok(LoadFile::Ndjson(_)), None) => return Ok(Vec::new()),
            (Err(error), None) => return Err(error),
        };
        let header = book.first_rows(0, 1).ok().and_then(|rows| rows.into_iter().next());
        let names: Vec<String> = header.iter().flat_map(Row::cells).map(|cell| cell.shown().into_owned()).collect();
        Ok(match named {
            _ if is_list_of_changes(&names) || is_report(&names) => Vec::new(),
            Some(kind) => vec![kind],
            None => kinds_of_sheets(&book).collect(),
        })
    }

    pub(super) fn open(path: &Path) -> Result<LoadFile, Error> {
        Ok(match NdjsonFile::open(path)? {
            Some(file) => LoadFile::Ndjson(file),
            None => LoadFile::Table {
                path: path.to_owned(),
                book: Arc::new(sheet::open(path, &sheet::Options::default())?),
            },
        })
    }
}

/// Returns whether a header has columns of a report.
fn is_report(names: &[String]) -> bool {
    names.iter().any(|name| name.starts_with(sheet::RESERVED_PREFIX))
}

fn kinds_of_sheets(book: &Book) -> impl Iterator<Item = &'static LoadKind> {
    LOAD_KINDS.iter().filter(|kind| kind.sheet_in(book).is_some())
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
        let sheet = sheet_of(kind, book)?;
        let mut rows = book.rows(sheet)?;
        let mut row = Row::default();
        if !rows.next(&mut row)? {
            return Err(sheet::Error::Empty { path: path.to_owned() }.into());
        }
        let (mut outcome, mut seen, mut twins) = (LoadOutcome::default(), Seen::default(), Twins::default());
        let manifest = Manifest::beside(path).and_then(|manifest| manifest.of_records(kind.name));
        if let Some(array) = manifest.as_ref().and_then(|manifest| manifest.explode.as_ref()) {
            return Err(exploded(path, kind, array));
        }
        let mut form = CellForm {
            decimal: None,
            is_exact: manifest.as_ref().is_some_and(|manifest| manifest.exact),
            names: manifest.as_ref().map_or(&[], |manifest| &manifest.columns),
        };
        let columns = columns(kind, &row, form, &mut outcome.ignored).map_err(|why| bad_header(path, kind, &why))?;
        let mut unnamed: Vec<usize> = row
            .cells()
            .enumerate()
            .filter(|(_, cell)| cell.shown().trim().is_empty())
            .map(|(index, _)| index)
            .collect();
        outcome.fields = columns.iter().map(|column| column.name.clone()).collect();
        form.decimal = decimal_of(book, sheet, &columns)?;
        loop {
            let (mut numbers, mut records) = (Vec::new(), Vec::new());
            while records.len() < BATCH && rows.next(&mut row)? {
                if row.is_blank() {
                    continue;
                }
                outcome.rows += 1;
                unnamed.retain(|index| {
                    let is_blank = row.get(*index).shown().trim().is_empty();
                    if !is_blank {
                        outcome.ignored.push(format!("column {}", sheet::column_letters(*index)));
                    }
                    is_blank
                });
                let (fields, problems) = record(&columns, &row, form);
                if let Some(first) = twins.earlier(row.number, &fields) {
                    let why = format!(
                        "row {first} has the same id and time, but other values, as in an export with --explode; export without it"
                    );
                    outcome.reject(row.number, vec![("id".to_owned(), why)], false);
                    continue;
                }
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
        let stored = self.loader.load_with(self.workspace, records, nulls).await.map_err(refused)?;
        for (number, stored) in numbers.into_iter().zip(stored) {
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
    if let Some(named) = kind.sheet_in(book) {
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

/// Returns the decimal separator of the numbers in a text, or `None` for a workbook.
fn decimal_of(book: &Book, sheet: usize, columns: &[Column]) -> Result<Option<Mark>, sheet::Error> {
    let Some(dialect) = book.dialect() else { return Ok(None) };
    let (mut decimals, mut rows, mut row) = (Decimals::new(columns), book.rows(sheet)?, Row::default());
    // Below the header.
    rows.next(&mut row)?;
    while rows.next(&mut row)? {
        decimals.add(&row);
    }
    Ok(decimals.separator(dialect.grammar.delimiter == b';'))
}

impl LoadOutcome {
    /// Adds the problems of a row. The row counts as rejected unless it is loaded anyway.
    fn reject(&mut self, row: u64, problems: Vec<(String, String)>, is_loaded: bool) {
        self.rejected += u64::from(!problems.is_empty() && !is_loaded);
        self.problems.extend(problems.into_iter().map(|(field, message)| LoadProblem { row, field, message }));
    }
}

/// Finds rows of the same record and of the same time with different content. An appended export has several rows of a record, with
/// different times.
#[derive(Default)]
struct Twins(HashMap<u64, (u64, u64, u64)>);

impl Twins {
    /// Returns the number of the earlier row that this row contradicts, if any.
    fn earlier(&mut self, row: u64, fields: &Map<String, Value>) -> Option<u64> {
        let text = |name: &str| fields.get(name).and_then(Value::as_str);
        let (id, at) = (text("id")?, text("updated_at")?);
        let content: Vec<String> = fields.iter().map(|(name, value)| format!("{name}\0{value}\0")).collect();
        let hash = |text: &str| XxHash3_64::oneshot(text.as_bytes());
        let found = (row, hash(at), hash(&content.concat()));
        let (first, time, known) = *self.0.entry(hash(id)).or_insert(found);
        if time != found.1 {
            self.0.insert(hash(id), found);
        }
        (time == found.1 && known != found.2).then_some(first)
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

fn unknown_kind(path: &Path) -> Error {
    let names: Vec<_> = LOAD_KINDS.iter().map(|kind| kind.name).collect();
    let message =
        format!("neither the name of {} nor the names of its sheets say which records it holds", path.display());
    Error::invalid(message, format!("name them with --kind: {}", names.join(", ")))
}

fn exploded(path: &Path, kind: &'static LoadKind, array: &str) -> Error {
    Error::BadInput {
        message: format!(
            "{} can't be loaded as {}: it has a row for each entry of '{array}', as written with --explode",
            path.display(),
            kind.name
        ),
        hint: "export the list again without --explode".to_owned(),
    }
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
}
