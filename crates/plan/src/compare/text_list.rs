//! Reading the service's identifiers and texts for the rows of an export.

use std::collections::HashMap;
use std::hash::RandomState;

use futures_util::future::BoxFuture;

use sheetport_client as client;
use sheetport_client::pages::{Entry, unescaped};
use sheetport_mapping::Template;
use sheetport_mapping::model::{FieldRule, Source as RuleSource};
use sheetport_records::{JsonType, RecordKind, listed_name};
use sheetport_sheet::{Row, column_letters};

use super::known_texts::{KnownRecord, KnownTexts, NamedColumn, TextColumns};
use super::service_list::{Connection, ListReader, list_of};
use crate::error::Error;
use crate::plan::{Source, Table};
use crate::respelled::{encoded_once, looks_rounded, may_be_a_respelled_text, may_be_respelled, may_be_rounded};

/// The column with the service's id in an export, and the member of a list's entries.
const ID: &str = "id";
/// Maximum number of records in memory. Further rows are not checked.
const MAX_KEYS: usize = 4_000_000;
/// Number of list requests allowed beyond one per row, if identifiers look as if they had lost digits.
const SPARE_PAGES: u64 = 100;

/// The reason why the identifiers could not be compared.
#[derive(Debug)]
pub enum NotCompared {
    /// The list needs this number of requests, which is too many for the number of rows.
    TooLong(u64),
    Failed(client::Error),
}

/// The rows with an id and an identifier.
struct Wanted {
    ids: HashMap<u64, bool>,
    /// Rows with a text or number that a program may have changed.
    suspicious: u64,
    /// Rows with an identifier that may have lost zeros or digits.
    suspicious_keys: u64,
    /// Whether an identifier has leading zeros. A program would have removed the zeros of all identifiers.
    has_zeros: bool,
    /// Whether a text seems to be encoded twice.
    has_twice_encoded: bool,
}

/// Reads the identifiers and texts of the rows in `source` from the service. Returns `None` if the file has no service ids beside
/// the identifiers, or comparing is not worthwhile. Reads the file once.
pub fn load<'a>(
    source: &'a Source,
    template: &'a Template,
    connection: &'a Connection<'a>,
    restores: bool,
) -> BoxFuture<'a, Result<Option<Result<KnownTexts, NotCompared>>, Error>> {
    Box::pin(async move {
        let Some((list, key)) = list_of(template.record) else { return Ok(None) };
        let columns: Vec<Option<TextColumns>> =
            source.tables.iter().map(|table| key_columns(table, template)).collect();
        if columns.iter().all(Option::is_none) {
            return Ok(None);
        }
        let mut known = KnownTexts { hasher: RandomState::new(), records: HashMap::new(), columns, restores };
        let mut wanted = wanted_rows(&known, source)?;
        let rows = wanted.ids.len() as u64;
        let most_pages = if wanted.suspicious > 0 { rows + SPARE_PAGES } else { rows / 10 + 1 };
        let mut reader = ListReader::new(connection, list);
        while !reader.is_over() && known.records.len() < wanted.ids.len() {
            if reader.next + reader.pages_left() > most_pages + 1 {
                let is_needed = wanted.suspicious > 0;
                return Ok(is_needed.then_some(Err(NotCompared::TooLong(reader.next + reader.pages_left() - 1))));
            }
            let pages = match reader.pages().await {
                Ok(pages) => pages,
                Err(error) => return Ok(Some(Err(NotCompared::Failed(error)))),
            };
            for entry in pages.iter().flat_map(|page| page.entries()) {
                let (Some(id), Some(key)) = (entry.field(ID), entry.field(key)) else { continue };
                let id = known.hash(&unescaped(id));
                if let Some(is_found) = wanted.ids.get_mut(&id).filter(|is_found| !**is_found) {
                    *is_found = true;
                    let record = KnownRecord {
                        key: unescaped(key).into(),
                        texts: texts(&entry, template.record, wanted.has_twice_encoded),
                    };
                    known.records.insert(id, record);
                }
            }
        }
        reader.finish().await;
        Ok(Some(Ok(known)))
    })
}

/// Returns the number of rows of an export with an identifier that may have lost zeros or digits in a spreadsheet program, or 0
/// for other files. Reads the file once.
pub fn suspicious_keys(source: &Source, template: &Template) -> Result<u64, Error> {
    if list_of(template.record).is_none() {
        return Ok(0);
    }
    let columns: Vec<Option<TextColumns>> = source.tables.iter().map(|table| key_columns(table, template)).collect();
    if columns.iter().all(Option::is_none) {
        return Ok(0);
    }
    let known = KnownTexts { hasher: RandomState::new(), records: HashMap::new(), columns, restores: false };
    let wanted = wanted_rows(&known, source)?;
    Ok(if wanted.has_zeros { 0 } else { wanted.suspicious_keys })
}

/// Returns the texts and numbers of a list entry that a spreadsheet program may change. `with_letters` includes all texts with
/// non-ASCII characters.
fn texts(entry: &Entry<'_>, kind: RecordKind, with_letters: bool) -> Box<[(usize, Box<str>)]> {
    let listed = kind.input().fields().enumerate().filter_map(|(index, field)| {
        let json = entry.field(&listed_name(field.name))?;
        if is_number(field.json) && may_be_rounded(json) {
            return Some((index, json.into()));
        }
        let text = unescaped(json);
        let may_change = may_be_a_respelled_text(&text) || with_letters && !text.is_ascii();
        (is_text(field.json) && json.starts_with('"') && may_change).then(|| (index, text.into()))
    });
    listed.collect()
}

fn is_text(json: JsonType) -> bool {
    matches!(json, JsonType::String)
}

fn is_number(json: JsonType) -> bool {
    matches!(json, JsonType::Number | JsonType::Integer)
}

/// Returns the number of texts changed by a spreadsheet program. Reads the file.
pub fn count_changed(source: &Source, known: &KnownTexts) -> Result<u64, Error> {
    let (mut rows, mut row, mut changed) = (source.rows(), Row::default(), 0);
    while let Some(table) = rows.next(&mut row)? {
        changed += known.count_changed(table, &row);
    }
    Ok(changed)
}

/// Returns the columns of the id and the identifier. `None` if the sheet is no export with both, or if the template
/// changes the identifier.
fn key_columns(table: &Table, template: &Template) -> Option<TextColumns> {
    let names = &table.layout.header.names;
    let id = names.iter().position(|name| name.trim() == ID)?;
    let is_key = |name: &str| template.record.input().key.contains(&name);
    let (index, rule) = template.rules().enumerate().find(|(_, rule)| is_key(rule.field.name))?;
    let is_export = table.layout.is_export();
    if !is_export || rule.changes_text() || !matches!(rule.source, RuleSource::Column(_)) {
        return None;
    }
    let named = |column: usize| {
        let name = names.get(column).map(|name| name.trim()).filter(|name| !name.is_empty());
        NamedColumn {
            index: column,
            header: name.map_or_else(|| format!("column {}", column_letters(column)), str::to_owned),
        }
    };
    let key = table.layout.columns.get(index)?.first()?;
    let is_own = table.layout.columns.iter().all(|columns| !columns.contains(id));
    let fields = || template.record.input().fields();
    let column = |index: usize, rule: &FieldRule, is_of_type: fn(JsonType) -> bool| {
        let field = fields().position(|field| field.name == rule.field.name && is_of_type(field.json))?;
        let column = table.layout.columns.get(index)?.first()?;
        let is_plain = !rule.changes_text() && matches!(rule.source, RuleSource::Column(_)) && column != key;
        is_plain.then(|| (field, named(column)))
    };
    let columns = |is_of_type: fn(JsonType) -> bool| {
        template.rules().enumerate().filter_map(move |(index, rule)| column(index, rule, is_of_type))
    };
    let (texts, numbers) = (columns(is_text).collect(), columns(is_number).collect());
    (is_own && key != id).then(|| TextColumns { id, key: named(key), texts, numbers })
}

/// Returns the ids of the rows. Reads the file.
fn wanted_rows(known: &KnownTexts, source: &Source) -> Result<Wanted, Error> {
    let mut wanted =
        Wanted { ids: HashMap::new(), suspicious: 0, suspicious_keys: 0, has_zeros: false, has_twice_encoded: false };
    let (mut rows, mut row) = (source.rows(), Row::default());
    while let Some(table) = rows.next(&mut row)? {
        let Some(columns) = &known.columns[table] else { continue };
        let (id, key) = (row.get(columns.id).shown(), row.get(columns.key.index).shown());
        if !id.trim().is_empty() && !key.trim().is_empty() && wanted.ids.len() < MAX_KEYS {
            wanted.ids.insert(known.hash(&id), false);
            // A text with leading zeros was not changed by a program.
            let shown = |column: &NamedColumn| row.get(column.index).shown().into_owned();
            let is_encoded_twice = encoded_once(&key).is_some()
                || columns.texts.iter().any(|(_, column)| encoded_once(&shown(column)).is_some());
            wanted.has_twice_encoded |= is_encoded_twice;
            let may_have_lost_zeros = may_be_respelled(&key.replace(',', ".")) && !key.starts_with('0');
            wanted.has_zeros |= key.len() > 1 && key.starts_with('0') && key.bytes().all(|b| b.is_ascii_digit());
            wanted.suspicious_keys += u64::from(may_have_lost_zeros);
            let is_suspicious = is_encoded_twice
                || may_have_lost_zeros
                || columns.texts.iter().any(|(_, column)| may_be_a_respelled_text(&shown(column)))
                || columns.numbers.iter().any(|(_, column)| looks_rounded(&shown(column)));
            wanted.suspicious += u64::from(is_suspicious);
        }
    }
    Ok(wanted)
}
