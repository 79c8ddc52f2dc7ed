//! `serve load`: records from spreadsheets into a workspace of the service's own folder, so that a rehearsal can begin
//! with yesterday's real data. Columns are named like the contract's fields, as `export` writes them.

use std::path::Path;

use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::cli::{Load, LoadKind};
use crate::error::{Exit, Failure};
use crate::records::{Field, JsonType, company, contact, inventory, item, order};
use crate::service::{Config, LoadRecord, Service, WriteOutcome};
use crate::settings::Settings;
use crate::sheet::{self, Book, Cell, RESERVED_PREFIX, Row};
use crate::ui;

/// Rows that are read before they are stored.
const BATCH: usize = 1000;

/// What became of a file's rows.
#[derive(Debug, Default, Serialize)]
struct Tally {
    rows: u64,
    created: u64,
    updated: u64,
    unchanged: u64,
    rejected: u64,
    /// Columns that are no field of the records and were left alone.
    ignored: Vec<String>,
    problems: Vec<Problem>,
}

#[derive(Debug, PartialEq, Eq, Serialize)]
struct Problem {
    row: u64,
    field: String,
    message: String,
}

pub async fn run(args: &Load, settings: &Settings) -> Result<Exit, Failure> {
    let mut files = Vec::with_capacity(args.files.len());
    for path in &args.files {
        let kind = args.kind.or_else(|| kind_by_name(path)).ok_or_else(|| unknown_kind(path))?;
        let book = sheet::open(path, &sheet::Options::default())?;
        files.push((path, kind, book));
    }
    let service = Service::open(Config::new(args.data.data.clone())).await?;
    let mut loaded = Vec::new();
    for (path, kind, book) in files {
        let tally = load(&service, &args.workspace, kind, path, &book).await;
        match tally {
            Ok(tally) => {
                if !settings.output.json {
                    print(path, kind, &tally);
                }
                loaded.push((path, kind, tally));
            }
            Err(failure) => {
                service.close().await;
                return Err(failure);
            }
        }
    }
    service.close().await;
    if settings.output.json {
        let files: Vec<_> = loaded
            .iter()
            .map(|(path, kind, tally)| json!({"file": path, "records": kind.name(), "outcome": tally}))
            .collect();
        ui::json(&json!({"command": "serve load", "workspace": args.workspace, "files": files}));
    }
    let rejected = loaded.iter().any(|(_, _, tally)| tally.rejected > 0);
    Ok(if rejected { Exit::RowsFailed } else { Exit::Done })
}

async fn load(service: &Service, workspace: &str, kind: LoadKind, path: &Path, book: &Book) -> Result<Tally, Failure> {
    let mut rows = book.rows(0)?;
    let mut row = Row::default();
    if !rows.next(&mut row)? {
        return Err(sheet::Error::Empty { path: path.to_owned() }.into());
    }
    let mut tally = Tally::default();
    let columns = columns(kind, &row, &mut tally.ignored).map_err(|why| bad_header(path, kind, &why))?;
    loop {
        let (mut numbers, mut records) = (Vec::new(), Vec::new());
        while records.len() < BATCH && rows.next(&mut row)? {
            if row.is_blank() {
                continue;
            }
            tally.rows += 1;
            match record(&columns, &row) {
                Ok(fields) => {
                    numbers.push(row.number);
                    records.push(kind.loaded(fields));
                }
                Err(problems) => tally.reject(row.number, problems),
            }
        }
        if records.is_empty() {
            break;
        }
        for (number, outcome) in numbers.into_iter().zip(service.load(workspace, records).await?) {
            match outcome {
                Ok(loaded) => match loaded.outcome {
                    WriteOutcome::Created => tally.created += 1,
                    WriteOutcome::Updated => tally.updated += 1,
                    WriteOutcome::Unchanged => tally.unchanged += 1,
                },
                Err(errors) => {
                    let problems = errors.into_iter().flat_map(|(field, messages)| {
                        messages.into_iter().map(move |message| (field.clone(), message))
                    });
                    tally.reject(number, problems.collect());
                }
            }
        }
    }
    tally.problems.sort_by_key(|problem| problem.row);
    Ok(tally)
}

impl Tally {
    fn reject(&mut self, row: u64, problems: Vec<(String, String)>) {
        self.rejected += 1;
        self.problems.extend(problems.into_iter().map(|(field, message)| Problem { row, field, message }));
    }
}

impl LoadKind {
    const ALL: [LoadKind; 5] =
        [LoadKind::Companies, LoadKind::Contacts, LoadKind::Inventories, LoadKind::Orders, LoadKind::Items];

    fn name(self) -> &'static str {
        match self {
            LoadKind::Companies => "companies",
            LoadKind::Contacts => "contacts",
            LoadKind::Inventories => "inventories",
            LoadKind::Orders => "orders",
            LoadKind::Items => "items",
        }
    }

    fn loaded(self, fields: Map<String, Value>) -> LoadRecord {
        match self {
            LoadKind::Companies => LoadRecord::Company(fields),
            LoadKind::Contacts => LoadRecord::Contact(fields),
            LoadKind::Inventories => LoadRecord::Inventory(fields),
            LoadKind::Orders => LoadRecord::Order(fields),
            LoadKind::Items => LoadRecord::Item(fields),
        }
    }

    /// The type of a column, or nothing if records of this kind have no such field. An item's column may be called as
    /// in the list or as in the input.
    fn column(self, name: &str) -> Option<JsonType> {
        let fields: &[Field] = match self {
            LoadKind::Companies => company::READ_FIELDS,
            LoadKind::Contacts => contact::READ_FIELDS,
            LoadKind::Inventories => inventory::READ_FIELDS,
            LoadKind::Orders => order::READ_FIELDS,
            LoadKind::Items => item::INPUT_FIELDS,
        };
        let known = fields.iter().find(|field| field.name == name).map(|field| field.json);
        known.or(match (self, name) {
            (_, "id" | "external_id") => Some(JsonType::String),
            (LoadKind::Items, "purchase_price") => Some(JsonType::Number),
            (LoadKind::Items, "updated_at" | "created_at") => Some(JsonType::String),
            // The contract shows none of their fields, so they may have any.
            (LoadKind::Companies | LoadKind::Contacts, _) => Some(JsonType::String),
            _ => None,
        })
    }
}

fn kind_by_name(path: &Path) -> Option<LoadKind> {
    let stem = path.file_stem()?.to_string_lossy().to_lowercase();
    LoadKind::ALL
        .into_iter()
        .find(|kind| stem.split(|letter: char| !letter.is_alphanumeric()).any(|word| word == kind.name()))
}

struct Column {
    index: usize,
    name: String,
    json: JsonType,
}

/// The columns that are fields, by the first row; or what is wrong with it.
fn columns(kind: LoadKind, header: &Row, ignored: &mut Vec<String>) -> Result<Vec<Column>, String> {
    let mut columns: Vec<Column> = Vec::new();
    for (index, cell) in header.cells().enumerate() {
        let name = cell.shown().trim().to_owned();
        if name.is_empty() {
            continue;
        }
        if columns.iter().any(|column| column.name == name) {
            return Err(format!("two columns are called '{name}'"));
        }
        match kind.column(&name) {
            Some(json) if !name.starts_with(RESERVED_PREFIX) => columns.push(Column { index, name, json }),
            _ => ignored.push(name),
        }
    }
    let is_known = |column: &Column| {
        ["id", "external_id", "externalId", "name", "order_id", "inventory_id"].contains(&column.name.as_str())
    };
    if columns.iter().any(is_known) { Ok(columns) } else { Err("its first row names no id and no name".to_owned()) }
}

/// The fields of a row's record; a blank cell is an absent field. Or everything that no field can be made of.
fn record(columns: &[Column], row: &Row) -> Result<Map<String, Value>, Vec<(String, String)>> {
    let (mut fields, mut problems) = (Map::new(), Vec::new());
    for column in columns {
        match value(column.json, row.get(column.index)) {
            Ok(Some(value)) => drop(fields.insert(column.name.clone(), value)),
            Ok(None) => {}
            Err(message) => problems.push((column.name.clone(), message)),
        }
    }
    if problems.is_empty() { Ok(fields) } else { Err(problems) }
}

fn value(json: JsonType, cell: Cell<'_>) -> Result<Option<Value>, String> {
    let text = match cell {
        Cell::Blank => return Ok(None),
        Cell::Error(error) => return Err(format!("is the error {error} of a formula")),
        // An export's times are in UTC, and so are a workbook's that came of one.
        Cell::DateTime(at) => format!("{at}Z"),
        Cell::Date(date) => format!("{date}T00:00:00Z"),
        Cell::Text(text) => sheet::write::restore(text).to_owned(),
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
        JsonType::Strings | JsonType::Object(_) | JsonType::Objects(_) => match serde_json::from_str(&text) {
            Ok(value @ (Value::Array(_) | Value::Object(_))) => value,
            _ => return Err(wrong("JSON as an export writes it, such as [\"a\",\"b\"]")),
        },
    };
    Ok(Some(value))
}

fn print(path: &Path, kind: LoadKind, tally: &Tally) {
    let (strong, bad, faint) = (ui::style::STRONG, ui::style::BAD, ui::style::FAINT);
    ui::line(format_args!(
        "{strong}{}{strong:#}  {} {}: {} created, {} updated, {} unchanged, {} rejected",
        path.display(),
        ui::thousands(tally.rows),
        kind.name(),
        ui::thousands(tally.created),
        ui::thousands(tally.updated),
        ui::thousands(tally.unchanged),
        ui::thousands(tally.rejected)
    ));
    if !tally.ignored.is_empty() {
        ui::line(format_args!("  {faint}no fields: {}{faint:#}", tally.ignored.join(", ")));
    }
    for problem in &tally.problems {
        ui::line(format_args!(
            "  {bad}row {}{bad:#}  {strong}{}{strong:#} {}",
            problem.row, problem.field, problem.message
        ));
    }
}

fn unknown_kind(path: &Path) -> Failure {
    let names: Vec<_> = LoadKind::ALL.iter().map(|kind| kind.name()).collect();
    Failure::new(
        Exit::Usage,
        format!("what is in {} can't be told by its name", path.display()),
        format!("say it with --kind: {}", names.join(", ")),
    )
}

fn bad_header(path: &Path, kind: LoadKind, why: &str) -> Failure {
    Failure::new(
        Exit::InputRefused,
        format!("{} can't be loaded as {}: {why}", path.display(), kind.name()),
        "its first row has to name the columns like the contract's fields, as `sheetport export` writes them",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(cells: &[Cell<'_>]) -> Row {
        let mut row = Row::default();
        row.clear(1);
        cells.iter().for_each(|cell| row.push(*cell));
        row
    }

    #[test]
    fn a_files_name_says_what_is_in_it() {
        for (name, kind) in [
            ("companies.csv", Some(LoadKind::Companies)),
            ("/tmp/2026-01 Orders.xlsx", Some(LoadKind::Orders)),
            ("export_items_new.csv", Some(LoadKind::Items)),
            ("price-list.csv", None),
            ("reorders.csv", None),
        ] {
            assert_eq!(kind_by_name(Path::new(name)), kind, "{name}");
        }
    }

    #[test]
    fn columns_are_fields_and_the_others_are_named() {
        let mut ignored = Vec::new();
        let header = row(&[Cell::Text(" id "), Cell::Blank, Cell::Text("colour"), Cell::Text("order_id")]);
        let found = columns(LoadKind::Orders, &header, &mut ignored).expect("a header");
        let found: Vec<_> = found.iter().map(|column| (column.index, column.name.as_str())).collect();
        assert_eq!((found, ignored), (vec![(0, "id"), (3, "order_id")], vec!["colour".to_owned()]));

        let twice = row(&[Cell::Text("id"), Cell::Text("id")]);
        assert!(columns(LoadKind::Orders, &twice, &mut Vec::new()).is_err_and(|why| why.contains("'id'")));
        let none = row(&[Cell::Text("Nummer"), Cell::Text("Summe")]);
        assert!(columns(LoadKind::Orders, &none, &mut Vec::new()).is_err());
    }

    #[test]
    fn cells_become_values_of_the_fields_type() {
        use JsonType::{Boolean, Integer, Number, String, Strings};
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
        ] {
            assert_eq!(value(json, cell), Ok(Some(expected)), "{cell:?}");
        }
        let kept = value(Number, Cell::Text("1234.50")).expect("a number").expect("there");
        assert_eq!(kept.to_string(), "1234.50", "digits stay as they are");
        assert_eq!(value(Number, Cell::Blank), Ok(None));
        for (json, cell) in [
            (Number, Cell::Text("12,50")),
            (Number, Cell::Text("1 2")),
            (Boolean, Cell::Text("yes")),
            (Strings, Cell::Text("a;b")),
            (String, Cell::Error("#N/A")),
        ] {
            assert!(value(json, cell).is_err(), "{cell:?}");
        }
    }
}
