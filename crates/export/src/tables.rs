//! Finishes the tables of exports after reading, and puts the files in place.

use std::collections::HashMap;
use std::path::PathBuf;

use sheetport_client::pages::{Entry, Page};
use sheetport_sheet::write::{ReadyFile, Style, ValueTable};

use super::change_list::{ListLayout, Records, compare};
use super::conclude::{Appending, ComparedRecords, FinishedExport, ListedChanges, State, WrittenFile, WrittenFiles};
use super::error::Error;
use super::spool::{FrameKind, Frames, Spool};
use super::table::{TableStart, WriterThread};
use super::template::Template;

/// The pages of an export, as received.
pub(super) struct SpooledPages {
    pub(super) spool: Spool,
    /// Flags for the new entries of pages with repeated entries, by position in the spool.
    pub(super) repeated: HashMap<u64, Vec<bool>>,
}

/// The pages of a spool, with a flag for each new entry.
struct PageIterator<'a> {
    frames: Frames,
    repeated: &'a HashMap<u64, Vec<bool>>,
    /// Position of the next frame.
    position: u64,
}

impl PageIterator<'_> {
    fn next_page(&mut self) -> Result<Option<(Page, Vec<bool>)>, Error> {
        while let Some(frame) = self.frames.next()? {
            let position = self.position;
            self.position += 1;
            if matches!(frame.kind, FrameKind::Page | FrameKind::PageAgain) {
                let page = Page::parse(frame.payload).map_err(|reason| Error::Page { page: position + 1, reason })?;
                let new = self.repeated.get(&position).cloned().unwrap_or_else(|| vec![true; page.entries().len()]);
                return Ok(Some((page, new)));
            }
        }
        Ok(None)
    }
}

impl Iterator for PageIterator<'_> {
    type Item = Result<(Page, Vec<bool>), Error>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_page().transpose()
    }
}

/// A table to be finished.
pub(super) struct UnfinishedTable {
    pub(super) writer: WriterThread,
    pub(super) pages: SpooledPages,
    /// The hashes of the previous export and of this export.
    pub(super) hashes: (Option<PathBuf>, PathBuf),
    pub(super) style: Style,
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
        Ok(PageIterator { frames: self.spool.frames()?, repeated: &self.repeated, position: 0 })
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
    let mut open: Option<ValueTable> = None;
    let mut lists: Vec<(PathBuf, ValueTable)> = Vec::new();
    let mut finished = Vec::new();
    let mut last = None;
    for UnfinishedTable { writer, pages, hashes: (previous, new), style, mut appended, list } in unfinished {
        let builder = writer.finish()?;
        let start = match (open.take(), &mut appended) {
            (Some(table), _) => TableStart::Sheet(table),
            (None, Some(appended)) => appended.appending.start()?,
            (None, None) => TableStart::File { columns: Vec::new() },
        };
        let (table, mut rows) = builder.finish(start, pages.iter()?)?;
        open = Some(table);
        let comparison = rows.hashes.take().map(|hashes| hashes.compare(previous.as_deref(), &new)).transpose()?;
        let changes = list.map(|list| list_changes(list, &pages, &mut lists)).transpose()?;
        let rows_before = appended.as_ref().map(|appended| appended.appending.rows_before());
        last = Some((appended, style));
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
    if let (Some(ready), Some(recorded)) = (&ready, recorded) {
        recorded.announce(ready.written())?;
    }
    match (ready, last, finished.as_mut_slice()) {
        (Some(ready), Some((appended, style)), [single]) => put_in_place(ready, appended, style, single)?,
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
    ready: ReadyFile,
    appended: Option<UnfinishedFile>,
    style: Style,
    export: &mut FinishedExport,
) -> Result<(), Error> {
    let (columns, rows) = (export.table.columns.clone(), export.table.counts.rows);
    let (written, file) = match appended {
        Some(UnfinishedFile { appending, state, folder }) => {
            // The state names the new hashes.
            export.comparison.save()?;
            appending.finish(ready, columns, rows, state, &folder)?
        }
        None => {
            let written = ready.finish()?;
            let file = WrittenFile::new(&written, columns, rows, style);
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
