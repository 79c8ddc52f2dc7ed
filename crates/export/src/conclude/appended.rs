//! Files that grow by the changes of each export: `--append`.
//!
//! A file is never extended in place: the existing and the new rows are written to a new file that replaces the old file. Before
//! the replacement, the new file and its state are announced on disk: `replacement.json` has the length and the hash of both files, and the new
//! state. After a crash, the next export compares the file with both: for the new file, the new state
//! applies; otherwise nothing has happened. So no changes are appended twice or lost.
//!
//! The state also contains the length and hash of the last file, to detect edits, and the columns with the paths of the fields, because two
//! fields can have the same header.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use sheetport_files::absolute_path::absolute;
use sheetport_sheet as sheet;
use sheetport_sheet::write::{Existing, FileFormat, ReadyFile, Style, ValueTable, WholeFile, Written};

use super::state::{Content, Replacement, State, WrittenFile};
use crate::error::{Error, NotAppended};
use crate::format::Format;
use crate::job::{Job, Output};
use crate::table::{SavedColumn, Selection, TableStart};

/// The file that an export appends to.
#[derive(Clone, Debug)]
pub(crate) struct Appending {
    path: PathBuf,
    format: Format,
    /// The style of a new file.
    style: Style,
    conditions: Vec<String>,
    /// The file as left by the previous export. `None` for a new file.
    earlier: Option<WrittenFile>,
    /// The columns of the previous file. A new file starts with the same columns.
    columns: Vec<SavedColumn>,
}

impl Appending {
    /// Returns the file that an export with `--append` to `path` extends. Returns `None` without `--append`.
    ///
    /// # Errors
    /// Fails if the existing file is not as the previous export to this name left it, or if it is `uncertain`, because an
    /// interrupted export may have appended to it.
    pub(crate) fn to(
        job: &Job,
        path: Option<&Path>,
        previous: Option<&State>,
        uncertain: Option<&Path>,
    ) -> Result<Option<Appending>, Error> {
        let (true, Some(path), Output::File { format, .. }) = (job.options.append, path, &job.output) else {
            return Ok(None);
        };
        let written = previous.and_then(|previous| previous.written.as_ref());
        let refused = |why| Err(Error::NotAppended { path: path.to_owned(), why });
        let style = job.table_style();
        let columns = written.map(|written| written.columns.clone()).unwrap_or_default();
        let conditions = job.conditions();
        let mut appending =
            Appending { path: path.to_owned(), format: *format, style, conditions, earlier: None, columns };
        let Some(found) = Content::of(path)? else { return Ok(Some(appending)) };
        let Some(written) = written.filter(|written| written.path == absolute(path)) else {
            return refused(NotAppended::Unknown);
        };
        if uncertain == Some(&written.path) {
            return refused(NotAppended::Interrupted);
        }
        if found != written.content {
            return refused(NotAppended::Changed);
        }
        if style != Style::default() && style != written.style {
            return refused(NotAppended::Style);
        }
        if written.conditions.as_ref().is_some_and(|earlier| *earlier != appending.conditions) {
            return refused(NotAppended::Conditions);
        }
        appending.earlier = Some(written.clone());
        Ok(Some(appending))
    }

    /// Refuses to append all records to a file with earlier rows, if the records of the previous export are lost.
    pub(crate) fn check(&self, selection: &Selection) -> Result<(), Error> {
        match (&self.earlier, selection) {
            (Some(_), Selection::ChangedFrom(None)) => {
                Err(Error::NotAppended { path: self.path.clone(), why: NotAppended::NoRecords })
            }
            _ => Ok(()),
        }
    }

    /// Starts the new file with the existing rows. Starts without rows if the file was moved away in the meantime.
    pub(crate) fn start(&mut self) -> Result<TableStart, Error> {
        let Format::Sheet(FileFormat::Text { kind, packing }) = self.format else {
            return Err(Error::Internal("only texts can be extended"));
        };
        let refused = |why| Err(Error::NotAppended { path: self.path.clone(), why });
        let mut source = match File::open(&self.path) {
            Ok(source) => Some(source),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(source) => return Err(sheet::Error::Open { path: self.path.clone(), source }.into()),
        };
        let (Some(source), Some(earlier)) = (&mut source, &self.earlier) else {
            if source.is_some() && Content::of(&self.path)?.is_some() {
                return refused(NotAppended::Changed);
            }
            self.earlier = None;
            return Ok(TableStart::File { columns: self.columns.clone() });
        };
        let mut file = WholeFile::create(&self.path, Existing::Replace)?;
        let (sha256, bytes) = file.copy(source)?;
        if (Content { bytes, sha256 }) != earlier.content {
            return refused(NotAppended::Changed);
        }
        let columns = earlier.columns.clone();
        let header: Vec<String> = columns.iter().map(|column| column.header.clone()).collect();
        let table = ValueTable::further_rows(file, (kind, packing), earlier.style, &header)?;
        Ok(TableStart::Rows { table, columns })
    }

    /// Announces a new file in the folder of the export, and puts the file in place, with `state` as the new state. Does not
    /// touch the file if there are no new rows.
    pub(crate) fn finish(
        self,
        ready: ReadyFile,
        columns: Vec<SavedColumn>,
        rows: u64,
        state: State,
        folder: &Path,
    ) -> Result<(Written, WrittenFile), Error> {
        if let Some(earlier) = self.earlier.as_ref().filter(|_| rows == 0) {
            return Ok((Written { path: self.path, ..earlier.as_written() }, earlier.clone()));
        }
        let style = self.earlier.as_ref().map_or(self.style, |earlier| earlier.style);
        let rows = self.rows_before() + rows;
        let file = WrittenFile::new(ready.written(), columns, rows, style, self.conditions);
        let state = State { written: Some(file.clone()), ..state };
        let announcement = Replacement::new(self.earlier.as_ref(), ready.temporary(), state);
        let placed = announcement.write(folder).and_then(|()| Ok(ready.finish()?));
        // The new file was never placed. Without this, the announcement would suggest that the file was moved away.
        if placed.is_err() && Content::of(&self.path).is_ok_and(|found| found.as_ref() != Some(&file.content)) {
            Replacement::forget(folder);
        }
        Ok((placed?, file))
    }

    /// Returns the number of rows of earlier exports in the file.
    pub(crate) fn rows_before(&self) -> u64 {
        self.earlier.as_ref().map_or(0, |earlier| earlier.rows)
    }
}
