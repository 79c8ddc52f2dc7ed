//! The table of a file in any format, and the file that is ready to be put in place.

use std::path::{Path, PathBuf};

use sheetport_datasets::{Column, Database, DatabaseColumn, DatabaseList, Key, Kind, ParquetTable};
use sheetport_files::digest;
use sheetport_sheet as sheet;
use sheetport_sheet::write::{Existing, ReadyFile, Style, TextKind, Value, ValueTable, WholeFile, Written};

use super::remembered::TypedColumn;
use super::types::of_cell;
use crate::error::Error;
use crate::format::Format;

/// Name of a new database until it is complete.
const SCRATCH: &str = "database";

/// A table under construction. Dropping it leaves no file, and a database as it was.
pub(crate) enum FileTable {
    Sheet(ValueTable),
    Parquet { table: Box<ParquetTable<WholeFile>>, path: PathBuf },
    Database(Box<DatabaseTable>),
}

/// A database under construction.
pub(crate) struct DatabaseTable {
    database: Database,
    path: PathBuf,
    /// The file of a new database. `None` for one that is updated in place.
    scratch: Option<PathBuf>,
    target: DatabaseTarget,
}

/// Where and how a list is written to a database.
#[derive(Clone, Debug)]
pub(crate) struct DatabaseTarget {
    pub(crate) path: PathBuf,
    /// Folder for a new database.
    pub(crate) scratch: PathBuf,
    pub(crate) begins: Begins,
    pub(crate) table: String,
    pub(crate) has_positions: bool,
    pub(crate) workspace: String,
    pub(crate) base_url: String,
    pub(crate) started: String,
}

/// How a database begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Begins {
    /// There is none, and one that appears in the meantime, of an export of another list, stays.
    New,
    /// Anew, in place of any other.
    Replacing,
    Updating,
}

/// A table to be begun.
pub(super) struct NewTable<'a> {
    /// Name of the sheet in a workbook.
    pub(super) sheet: &'a str,
    pub(super) columns: &'a [TypedColumn],
    /// Place of the column with the ids of the service.
    pub(super) id: Option<usize>,
    pub(super) style: Style,
}

/// A complete file that only has to be put in place.
pub(crate) enum ReadyTable {
    File(ReadyFile),
    /// A database at this path, before the end of its transaction.
    Update(Box<Database>, PathBuf),
}

/// Returns the conversion of an error of a file with types.
pub(crate) fn failed(path: &Path) -> impl Fn(sheetport_datasets::Error) -> Error + use<'_> {
    |source| Error::Dataset { path: path.to_owned(), source }
}

impl NewTable<'_> {
    fn header(&self) -> Vec<String> {
        self.columns.iter().map(|column| column.name.header.clone()).collect()
    }
}

impl FileTable {
    pub(super) fn create(path: &Path, format: Format, new: &NewTable<'_>) -> Result<FileTable, Error> {
        Ok(match format {
            Format::Sheet(format) => {
                FileTable::Sheet(ValueTable::create(path, format, new.style, new.sheet, &new.header())?)
            }
            Format::Parquet => {
                let column = |column: &TypedColumn| Column {
                    name: column.name.header.clone(),
                    kind: column.kind.unwrap_or(Kind::Text),
                };
                let columns: Vec<Column> = new.columns.iter().map(column).collect();
                let file = WholeFile::create(path, Existing::Replace)?;
                let table = ParquetTable::create(file, &columns).map_err(failed(path))?;
                FileTable::Parquet { table: Box::new(table), path: path.to_owned() }
            }
            Format::Sqlite => return Err(Error::Internal("a database was not opened")),
        })
    }

    pub(super) fn stdout(kind: TextKind, new: &NewTable<'_>) -> Result<FileTable, Error> {
        Ok(FileTable::Sheet(ValueTable::stdout(kind, new.style, &new.header())?))
    }

    /// Opens a database. An export to `file` instead of the path of the target may be incomplete, and updates nothing.
    pub(crate) fn database(target: DatabaseTarget, file: &Path) -> Result<FileTable, Error> {
        let DatabaseTarget { path, scratch, .. } = &target;
        let is_new = target.begins != Begins::Updating || file != path;
        let scratch = is_new.then(|| scratch.join(SCRATCH));
        let database = match &scratch {
            Some(scratch) => Database::create(scratch),
            None => Database::update(path),
        };
        let database = database.map_err(failed(path))?;
        Ok(FileTable::Database(Box::new(DatabaseTable { database, path: file.to_owned(), scratch, target })))
    }

    /// Names the list that comes next in a database.
    pub(crate) fn continued(self, target: DatabaseTarget) -> FileTable {
        match self {
            FileTable::Database(table) => FileTable::Database(Box::new(DatabaseTable { target, ..*table })),
            table => table,
        }
    }

    /// Begins another table in the same file.
    pub(super) fn next(self, new: &NewTable<'_>) -> Result<FileTable, Error> {
        match self {
            FileTable::Sheet(table) => Ok(FileTable::Sheet(table.next_sheet(new.sheet, &new.header())?)),
            FileTable::Parquet { .. } => Err(Error::Internal("a Parquet file has one table")),
            FileTable::Database(mut table) => {
                table.begin(new)?;
                Ok(FileTable::Database(table))
            }
        }
    }

    /// Adds a row. `key` says which row of a database.
    pub(super) fn row(&mut self, key: Key<'_>, values: &[Value<'_>]) -> Result<(), Error> {
        let typed = || values.iter().map(of_cell).collect::<Vec<_>>();
        match self {
            FileTable::Sheet(table) => Ok(table.row(values)?),
            FileTable::Parquet { table, path } => table.row(&typed()).map_err(failed(path)),
            FileTable::Database(table) => table.database.row(key, &typed()).map_err(failed(&table.path)),
        }
    }

    /// Adds an entry as received, to a file of lines.
    pub(super) fn entry(&mut self, json: &str) -> Result<(), Error> {
        match self {
            FileTable::Sheet(ValueTable::Lines(lines)) => Ok(lines.json(json)?),
            FileTable::Sheet(_) | FileTable::Parquet { .. } | FileTable::Database(_) => Ok(()),
        }
    }

    /// Ends the list. `present` has the hashes of all ids of the list, whose other rows in a database are marked as deleted.
    pub(super) fn end_list(&mut self, present: Option<Vec<u64>>) -> Result<(), Error> {
        if let FileTable::Database(table) = self {
            table.database.end_list(present).map_err(failed(&table.path))?;
        }
        Ok(())
    }

    pub(super) fn cut(&self) -> u64 {
        if let FileTable::Sheet(table) = self { table.cut() } else { 0 }
    }

    pub(super) fn defused(&self) -> u64 {
        if let FileTable::Sheet(table) = self { table.defused() } else { 0 }
    }

    /// Ends the file, for the caller to put it in place as `path`. Returns `None` for standard output.
    pub(crate) fn ready_as(self, path: PathBuf) -> Result<Option<ReadyTable>, Error> {
        Ok(match self {
            FileTable::Sheet(table) => table.ready_as(path)?.map(ReadyTable::File),
            FileTable::Parquet { table, path: begun } => {
                let mut file = table.finish().map_err(failed(&begun))?;
                file.rename(path);
                Some(ReadyTable::File(file.ready()?))
            }
            FileTable::Database(table) => {
                let DatabaseTable { database, scratch, target, .. } = *table;
                let existing = match target.begins {
                    Begins::New if path == target.path => Existing::Keep,
                    Begins::New | Begins::Replacing | Begins::Updating => Existing::Replace,
                };
                Some(match scratch {
                    Some(scratch) => ReadyTable::File(moved(database, &scratch, &path, existing)?),
                    None => ReadyTable::Update(Box::new(database), path),
                })
            }
        })
    }
}

impl DatabaseTable {
    fn begin(&mut self, new: &NewTable<'_>) -> Result<(), Error> {
        let column = |TypedColumn { name, kind }: &TypedColumn| {
            DatabaseColumn::new(name.header.clone(), name.field.clone(), *kind)
        };
        let DatabaseTarget { table, has_positions, workspace, base_url, started, .. } = &self.target;
        let list = DatabaseList {
            table: table.clone(),
            workspace: workspace.clone(),
            base_url: base_url.clone(),
            started: started.clone(),
            columns: new.columns.iter().map(column).collect(),
            has_positions: *has_positions,
        };
        let no_id = sheetport_datasets::Error::NoId { table: table.clone() };
        self.database.begin_list(list, new.id.ok_or(no_id).map_err(failed(&self.path))?).map_err(failed(&self.path))
    }
}

/// Ends a new database, and copies it beside its place.
fn moved(database: Database, scratch: &Path, path: &Path, existing: Existing) -> Result<ReadyFile, Error> {
    database.commit().map_err(failed(path))?;
    let mut file = WholeFile::create(path, existing)?;
    let failed = |source| Error::Sheet(sheet::Error::Open { path: scratch.to_owned(), source });
    file.copy(&mut std::fs::File::open(scratch).map_err(failed)?)?;
    std::fs::remove_file(scratch).map_err(failed)?;
    Ok(file.ready()?)
}

impl ReadyTable {
    /// Puts the file in place durably.
    pub(crate) fn finish(self) -> Result<Written, Error> {
        match self {
            ReadyTable::File(file) => Ok(file.finish()?),
            ReadyTable::Update(database, path) => {
                database.commit().map_err(failed(&path))?;
                let opened = |source| Error::Sheet(sheet::Error::Open { path: path.clone(), source });
                let mut file = std::fs::File::open(&path).map_err(opened)?;
                let (sha256, bytes) = digest::of_reader(&mut file).map_err(opened)?;
                Ok(Written { path, bytes, sha256 })
            }
        }
    }
}
