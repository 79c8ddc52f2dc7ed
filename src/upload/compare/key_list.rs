//! Reading the service's identifiers for the rows of an export.

use std::collections::HashMap;
use std::hash::RandomState;

use super::known_keys::{KeyColumns, KnownKeys};
use super::service_list::{Connection, ListReader, list_of};
use crate::client;
use crate::client::pages::unescaped;
use crate::sheet::Row;
use crate::template::Template;
use crate::template::model::Source as RuleSource;
use crate::upload::error::Error;
use crate::upload::plan::{Part, Source};
use crate::upload::respelled::may_be_respelled;

/// The column with the service's id in an export, and the member of a list's entries.
const ID: &str = "id";
/// Maximum number of identifiers in memory. Further rows are not checked.
const MAX_KEYS: usize = 4_000_000;
/// Requests for the list in addition to one per row, if identifiers look as if they had lost digits.
const SPARE_PAGES: u64 = 100;

/// The reason why the identifiers could not be compared.
#[derive(Debug)]
pub enum NotCompared {
    /// The list needs this many requests, too many for the number of rows.
    TooLong(u64),
    Failed(client::Error),
}

/// The rows with an id and an identifier.
struct Wanted {
    ids: HashMap<u64, bool>,
    /// Rows with an identifier that a program may have changed.
    suspicious: u64,
}

/// Reads the identifiers of the rows in `source` from the service. Returns `None` if the file has no service ids beside
/// the identifiers, or comparing is not worthwhile. Reads the file once.
pub async fn load(
    source: &Source,
    template: &Template,
    connection: &Connection<'_>,
    restores: bool,
) -> Result<Option<Result<KnownKeys, NotCompared>>, Error> {
    let Some((list, key)) = list_of(template.record) else { return Ok(None) };
    let columns: Vec<Option<KeyColumns>> = source.parts.iter().map(|part| key_columns(part, template)).collect();
    if columns.iter().all(Option::is_none) {
        return Ok(None);
    }
    let mut known = KnownKeys { hasher: RandomState::new(), keys: HashMap::new(), columns, restores };
    let mut wanted = wanted_rows(&known, source)?;
    let rows = wanted.ids.len() as u64;
    let most_pages = if wanted.suspicious > 0 { rows + SPARE_PAGES } else { rows / 10 + 1 };
    let mut reader = ListReader::new(connection, list);
    while !reader.is_over() && known.keys.len() < wanted.ids.len() {
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
                known.keys.insert(id, unescaped(key).into());
            }
        }
    }
    reader.finish().await;
    Ok(Some(Ok(known)))
}

/// Returns the number of rows whose identifier a spreadsheet program changed. Reads the file.
pub fn count_changed(source: &Source, known: &KnownKeys) -> Result<u64, Error> {
    let (mut rows, mut row, mut changed) = (source.rows(), Row::default(), 0);
    while let Some(part) = rows.next(&mut row)? {
        changed += u64::from(known.is_changed(part, &row));
    }
    Ok(changed)
}

/// Returns the columns of the id and the identifier. `None` if the sheet is no export with both, or if the template
/// changes the identifier.
fn key_columns(part: &Part, template: &Template) -> Option<KeyColumns> {
    let names = &part.layout.header.names;
    let id = names.iter().position(|name| name.trim() == ID)?;
    let is_key = |name: &str| template.record.input().key.contains(&name);
    let (index, rule) = template.rules().enumerate().find(|(_, rule)| is_key(rule.field.name))?;
    let is_export = part.layout.is_defused && !part.layout.is_report;
    if !is_export || rule.changes_text() || !matches!(rule.source, RuleSource::Column(_)) {
        return None;
    }
    let key = part.layout.columns.get(index)?.first()?;
    let is_own = part.layout.columns.iter().all(|columns| !columns.contains(id));
    (is_own && key != id).then_some(KeyColumns { id, key })
}

/// Returns the ids of the rows. Reads the file.
fn wanted_rows(known: &KnownKeys, source: &Source) -> Result<Wanted, Error> {
    let mut wanted = Wanted { ids: HashMap::new(), suspicious: 0 };
    let (mut rows, mut row) = (source.rows(), Row::default());
    while let Some(part) = rows.next(&mut row)? {
        let Some(KeyColumns { id, key }) = known.columns[part] else { continue };
        let (id, key) = (row.get(id).shown(), row.get(key).shown());
        if !id.trim().is_empty() && !key.trim().is_empty() && wanted.ids.len() < MAX_KEYS {
            wanted.ids.insert(known.hash(&id), false);
            // A text with leading zeros was not changed by a program.
            wanted.suspicious += u64::from(may_be_respelled(&key.replace(',', ".")) && !key.starts_with('0'));
        }
    }
    Ok(wanted)
}
