//! Finishes the tables of exports after reading, and puts the files in place.

use std::collections::HashMap;
use std::path::PathBuf;

use sheetport_client::pages::Entry;
use sheetport_sheet::write::{ReadyFile, Style, ValueTable};

use super::change_list::{ListLayout, Records, compare};
use super::conclude::{Appending, ComparedRecords, FinishedExport, ListedChanges, State, WrittenFile, WrittenFiles};
use super::details::ListedRecords;
use super::error::Error;
use super::spool::Spool;
use super::spooled::{Entries, PageIterator};
use super::table::{DatabaseTarget, FileTable, ReadyTable, TableStart, WriterThread};
use super::template::Template;

/// The pages of an export, as received.
pub(super) struct SpooledPages {
    pub(super) spool: Spool,
    /// Flags for the new entries of pages with repeated entries, by position in the spool.
    pub(super) repeated: HashMap<u64, Vec<bool>>,
    /// The frames that have the records of the table.
    pub(super) entries: Entries,
}

/// A table to be finished.
pub(super) struct UnfinishedTable {
    pub(super) writer: WriterThread,
    pub(super) pages: SpooledPages,
    /// The hashes of the previous export and of this export.
    pub(super) hashes: (Option<PathBuf>, PathBuf),
    /// The listed records, if the table has their details.
    pub(super) listed: Option<ListedRecords>,
    pub(super) style: Style,
    /// The conditions for its records.
    pub(super) conditions: Vec<String>,
    /// Where the list is in a database.
    pub(super) database: Option<DatabaseTarget>,
    pub(super) appended: Option<UnfinishedFile>,
    pub(super) list: Option<UnfinishedList>,
}

/// An unfinished file with appended rows.
pub(super) struct UnfinishedFile {
    pub(super) appending: Appending,
    /// The state after appending.
    pub(super) state: State,
    /// Folder of the state.
    pub(super) folder: PathBuf,
}

/// A list of changes to be written.
pub(super) struct UnfinishedList {
    /// The records of the previous export with a list of changes. `new` is the file for this export.
    pub(super) previous: Option<PathBuf>,
    pub(super) new: PathBuf,
    pub(super) layout: ListLayout,
    pub(super) template: Option<Template>,
    pub(super) scratch: PathBuf,
    pub(super) records: ComparedRecords,
}

impl SpooledPages {
    fn iter(&self) -> Result<PageIterator<'_>, Error> {
        PageIterator::new(&self.spool, self.entries, &self.repeated)
    }

    /// Passes the records that meet the conditions of the template to `each`.
    fn each_record(
        &self,
        template: Option<&Template>,
        each: &mut dyn FnMut(&Entry<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        for page in self.iter()? {
            let (page, new) = page?;
            for (entry, _) in page.entries().zip(new).filter(|(_, is_new)| *is_new) {
                let is_selected = template.map_or(Ok(true), |template| template.selects(&entry))?;
                if is_selected {
                    each(&entry)?;
                }
            }
        }
        Ok(())
    }
}

/// Finishes the tables, and compares their records with the previous exports. Puts nothing in place before everything is written:
/// first `file`, then the lists of changes.
pub(super) fn finish_tables(
    unfinished: Vec<UnfinishedTable>,
    file: PathBuf,
    recorded: Option<&WrittenFiles>,
) -> Result<Vec<FinishedExport>, Error> {
    let mut open: Option<FileTable> = None;
    let mut lists: Vec<(PathBuf, ValueTable)> = Vec::new();
    let mut finished = Vec::new();
    let mut last = None;
    for unfinished in unfinished {
        let UnfinishedTable { writer, pages, hashes, listed, style, conditions, database, mut appended, list } =
            unfinished;
        let (previous, new) = hashes;
        let mut builder = writer.finish()?;
        if let Some(listed) = &listed {
            builder.keep(listed.hashes.ids());
        }
        let start = match (open.take(), database, &mut appended) {
            (Some(table), Some(target), _) => TableStart::Next(table.continued(target)),
            (Some(table), None, _) => TableStart::Next(table),
            (None, Some(target), _) => TableStart::Next(FileTable::database(target, &file)?),
            (None, None, Some(appended)) => appended.appending.start()?,
            (None, None, None) => TableStart::File { columns: Vec::new() },
        };
        let (table, mut rows) = builder.finish(start, pages.iter()?)?;
        open = Some(table);
        if let Some(listed) = listed {
            rows.counts.older += listed.older;
            rows.counts.left_out += listed.left_out;
            // The next export compares the entries of the list.
            rows.hashes = rows.hashes.is_some().then_some(listed.hashes);
        }
        let comparison = rows.hashes.take().map(|hashes| hashes.compare(previous.as_deref(), &new)).transpose()?;
        let changes = list.map(|list| list_changes(list, &pages, &mut lists)).transpose()?;
        let rows_before = appended.as_ref().map(|appended| appended.appending.rows_before());
        last = Some((appended, style, conditions));
        finished.push(FinishedExport {
            table: rows,
            comparison: comparison.unwrap_or_default(),
            changes,
            spool: pages.spool,
            written: None,
            file: None,
            rows_before,
        });
    }
    let ready = open.map(|table| table.ready_as(file)).transpose()?.flatten();
    if let (Some(ReadyTable::File(ready)), Some(recorded)) = (&ready, recorded) {
        recorded.announce(ready.written())?;
    }
    match (ready, last, finished.as_mut_slice()) {
        (Some(ready), Some((appended, style, conditions)), [single]) => {
            put_in_place(ready, appended, (style, conditions), single)?;
        }
        (Some(ready), ..) => {
            let written = ready.finish()?;
            finished.iter_mut().for_each(|export| export.written = Some(written.clone()));
        }
        (None, ..) => {}
    }
    for (path, table) in lists {
        let ready = table.ready_as(path)?;
        if let (Some(ready), Some(recorded)) = (&ready, recorded) {
            recorded.announce(ready.written())?;
        }
        ready.map(ReadyFile::finish).transpose()?;
    }
    Ok(finished)
}

/// Puts a file with a single table in place.
fn put_in_place(
    ready: ReadyTable,
    appended: Option<UnfinishedFile>,
    (style, conditions): (Style, Vec<String>),
    export: &mut FinishedExport,
) -> Result<(), Error> {
    let columns = export.table.columns.iter().map(|column| column.name.clone()).collect();
    let rows = export.table.counts.rows;
    let (written, file) = match (appended, ready) {
        (Some(UnfinishedFile { appending, mut state, folder }), ReadyTable::File(ready)) => {
            state.fields.clone_from(&export.table.known_fields);
            // The state names the new hashes.
            export.comparison.save()?;
            if let Some(remembered) = &mut state.columns {
                remembered.columns.clone_from(&export.table.columns);
            }
            appending.finish(ready, columns, rows, state, &folder)?
        }
        (_, ready) => {
            let written = ready.finish()?;
            let file = WrittenFile::new(&written, columns, rows, style, conditions);
            (written, file)
        }
    };
    (export.written, export.file) = (Some(written), Some(file));
    Ok(())
}

/// Writes a list of changes. Adds a sheet if the last of `lists` is for the same file.
fn list_changes(
    list: UnfinishedList,
    pages: &SpooledPages,
    lists: &mut Vec<(PathBuf, ValueTable)>,
) -> Result<ListedChanges, Error> {
    let UnfinishedList { previous, new, layout, template, scratch, records } = list;
    let path = layout.path.clone();
    let all: &Records<'_> = &|each| pages.each_record(template.as_ref(), each);
    let Some(changes) = compare(previous.as_deref(), &new, all, layout, &scratch)? else {
        return Ok(ListedChanges { records, written: None, cut: 0, defused: 0 });
    };
    let counts = changes.counts;
    let before = lists.pop_if(|(last, _)| *last == path).map(|(_, table)| table);
    let table = changes.write(before)?;
    let (cut, defused) = (table.cut(), table.defused());
    lists.push((path.clone(), table));
    Ok(ListedChanges { records, written: Some((path, counts)), cut, defused })
}
