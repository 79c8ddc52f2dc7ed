//! Compares the records of two exports, and writes a table of the changes.

use std::path::{Path, PathBuf};

use sheetport_client::pages::Entry;
use sheetport_records::{CHANGE_COLUMNS, ListedField};
use sheetport_sheet::write::{FileFormat, Style, Value, ValueTable};
use sheetport_values::decimal;

use super::journal::{Journal, Kind, TextStore};
use super::saved::{RecordsWriter, SavedRecords};
use crate::changes::{Changes, Hashes, hashes};
use crate::error::Error;
use crate::table::{Columns, Row};

const ID: &str = "id";
/// Changes along with any other field, so listed only if no other field has changed.
const UPDATED_AT: &str = "updated_at";

/// Passes the records of an export to a function, in the order of the list.
pub(crate) type Records<'a> = dyn Fn(&mut dyn FnMut(&Entry<'_>) -> Result<(), Error>) -> Result<(), Error> + 'a;

/// Where and how changes are listed.
#[derive(Clone, Debug)]
pub(crate) struct ListLayout {
    pub(crate) path: PathBuf,
    pub(crate) format: FileFormat,
    pub(crate) style: Style,
    /// Name of the sheet in a workbook.
    pub(crate) sheet: &'static str,
    /// The fields in the contract. They have a column even without values.
    pub(crate) fields: &'static [ListedField],
    /// Paths of further fields that have a column, as in earlier exports.
    pub(crate) remembered: Vec<String>,
}

/// The changes between two exports, ready to be written.
pub(crate) struct ChangeList {
    pub(crate) counts: Changes,
    layout: ListLayout,
    columns: Columns,
    journal: Journal,
}

/// Saves the records of an export to the file `new`, and compares them with the file `previous` of an earlier export. Returns
/// `None` if `previous` is missing or unreadable.
///
/// Memory holds 16 bytes for each record of both exports, and 16 for each changed record; everything else is in temporary files
/// in the folder `scratch`.
pub(crate) fn compare(
    previous: Option<&Path>,
    new: &Path,
    records: &Records<'_>,
    layout: ListLayout,
    scratch: &Path,
) -> Result<Option<ChangeList>, Error> {
    let after = save(new, records)?;
    // A damaged file counts as missing, so that it does not fail all later exports.
    let before = previous.and_then(|previous| Some((previous, index(previous).ok().flatten()?)));
    let Some((previous, before)) = before else { return Ok(None) };
    let mut columns = Columns::new(layout.fields, layout.format == FileFormat::Xlsx);
    layout.remembered.iter().for_each(|path| columns.remember(path));
    let mut list = ChangeList { counts: Changes::default(), columns, journal: Journal::create(scratch)?, layout };
    let mut store = TextStore::create(scratch)?;
    each_saved(previous, |entry| match hashes(entry) {
        (id, content) if find(&after, id).is_some_and(|now| now != content) => store.insert(id, entry.json()),
        _ => Ok(()),
    })?;
    records(&mut |entry| {
        let (id, content) = hashes(entry);
        match find(&before, id) {
            Some(same) if same == content => Ok(()),
            Some(_) => {
                let earlier = store.get(id)?.ok_or(Error::Internal("a changed record was not found again"))?;
                list.add_changed(&earlier, entry)
            }
            None => {
                list.columns.row(entry);
                list.counts.added += 1;
                list.journal.add(Kind::Added, "", entry.json())
            }
        }
    })?;
    each_saved(previous, |entry| match find(&after, hashes(entry).0) {
        Some(_) => Ok(()),
        None => {
            list.columns.row(entry);
            list.counts.removed += 1;
            list.journal.add(Kind::Removed, entry.json(), "")
        }
    })?;
    Ok(Some(list))
}

impl ChangeList {
    fn add_changed(&mut self, before: &str, after: &Entry<'_>) -> Result<(), Error> {
        let (earlier, later) = (self.columns.row(&Entry::new(before)), self.columns.row(after));
        // Other digits or another order of the fields are no change.
        if changed_columns(&self.columns, &earlier, &later).is_empty() {
            return Ok(());
        }
        self.counts.changed += 1;
        self.journal.add(Kind::Changed, before, after.json())
    }

    /// Writes the list into a new file, or as a further sheet after `before`.
    pub(crate) fn write(self, before: Option<ValueTable>) -> Result<ValueTable, Error> {
        let ChangeList { layout, mut columns, journal, .. } = self;
        let id = columns.find(ID);
        let mut places: Vec<usize> = columns.visible().into_iter().filter(|index| Some(*index) != id).collect();
        if columns.has_other_fields() {
            places.push(columns.len());
        }
        let mut header = CHANGE_COLUMNS.map(str::to_owned).to_vec();
        for index in &places {
            let name = columns.header(*index);
            header.push(if header.iter().any(|taken| taken == name) { format!("{name} (2)") } else { name.to_owned() });
        }
        let ListLayout { path, format, style, sheet, .. } = layout;
        let mut table = match before {
            Some(table) => table.next_sheet(sheet, &header)?,
            None => ValueTable::create(&path, format, style, sheet, &header)?,
        };
        let mut changes = journal.into_changes()?;
        while let Some(change) = changes.next()? {
            let (before, after) = (Entry::new(&change.before), Entry::new(&change.after));
            let (earlier, later) = (columns.row(&before), columns.row(&after));
            let shown = if change.kind == Kind::Removed { &earlier } else { &later };
            let mut row = |field: Option<usize>| {
                let value = |row, index: Option<usize>| index.map_or(Value::Blank, |index| columns.value(row, index));
                let name = field.map_or(Value::Blank, |field| Value::Text(columns.header(field).into()));
                let mut cells = vec![Value::Text(change.kind.name().into()), value(shown, id), name];
                cells.extend([value(&earlier, field), value(&later, field)]);
                cells.extend(places.iter().map(|index| columns.value(shown, *index)));
                table.row(&cells)
            };
            match change.kind {
                Kind::Added | Kind::Removed => row(None)?,
                Kind::Changed => {
                    for field in changed_columns(&columns, &earlier, &later) {
                        row(Some(field))?;
                    }
                }
            }
        }
        Ok(table)
    }
}

/// Returns the differing columns of two versions of a record. The index [`Columns::len`] stands for all other fields.
fn changed_columns(columns: &Columns, before: &Row<'_>, after: &Row<'_>) -> Vec<usize> {
    let is_other = |index: &usize| !is_same(&columns.value(before, *index), &columns.value(after, *index));
    let changed: Vec<usize> = (0..=columns.len()).filter(is_other).collect();
    let is_content = |index: &usize| Some(*index) != columns.find(UPDATED_AT);
    match changed.iter().any(is_content) {
        true => changed.into_iter().filter(is_content).collect(),
        false => changed,
    }
}

/// Returns whether two values are equal in a table: numbers by value, and an empty text equals no value.
fn is_same(before: &Value<'_>, after: &Value<'_>) -> bool {
    let is_blank = |value: &Value<'_>| match value {
        Value::Blank => true,
        Value::Text(text) => text.is_empty(),
        _ => false,
    };
    match (before, after) {
        (Value::Number(before), Value::Number(after)) => {
            before == after
                || decimal::canonical(before).zip(decimal::canonical(after)).is_some_and(|(one, other)| one == other)
        }
        (before, after) => before == after || is_blank(before) && is_blank(after),
    }
}

/// Saves the records. Returns their hashes in order.
fn save(path: &Path, records: &Records<'_>) -> Result<Vec<Hashes>, Error> {
    let mut saved = RecordsWriter::create(path)?;
    let mut index = Vec::new();
    records(&mut |entry| {
        index.push(hashes(entry));
        saved.add(entry)
    })?;
    saved.finish()?;
    index.sort_unstable();
    Ok(index)
}

/// Returns the hashes of saved records in order, or `None` if there is no such file.
fn index(path: &Path) -> Result<Option<Vec<Hashes>>, Error> {
    let Some(mut saved) = SavedRecords::open(path)? else { return Ok(None) };
    let mut index = Vec::new();
    while let Some(json) = saved.next()? {
        index.push(hashes(&Entry::new(&json)));
    }
    index.sort_unstable();
    Ok(Some(index))
}

/// Returns the content hash of a record, by the hash of its id.
fn find(index: &[Hashes], id: u64) -> Option<u64> {
    let at = index.partition_point(|(other, _)| *other < id);
    index.get(at).filter(|(other, _)| *other == id).map(|(_, content)| *content)
}

fn each_saved(path: &Path, mut each: impl FnMut(&Entry<'_>) -> Result<(), Error>) -> Result<(), Error> {
    let mut saved = SavedRecords::open(path)?.ok_or(Error::Internal("the records of the last export are gone"))?;
    while let Some(json) = saved.next()? {
        each(&Entry::new(&json))?;
    }
    Ok(())
}
