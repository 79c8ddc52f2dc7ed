//! The table of an export: columns, rows, sorting, and the writer thread.

mod builder;
mod cell_source;
mod columns;
mod file_table;
mod finished;
mod named_fields;
mod remembered;
mod selection;
mod sort;
mod types;
mod writer_thread;

pub(super) use self::builder::{TableBuilder, TableOptions, TableStart};
pub(super) use self::columns::{Columns, MAX_COLUMNS, OTHER_FIELDS, Row};
pub(super) use self::file_table::{Begins, DatabaseTarget, FileTable, ReadyTable};
pub(super) use self::finished::{FinishedTable, UnusedField};
pub(super) use self::remembered::{RememberedColumns, SavedColumn, shape};
pub(super) use self::selection::Selection;
pub(super) use self::writer_thread::WriterThread;
