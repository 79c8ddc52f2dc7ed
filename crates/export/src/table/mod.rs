//! The table of an export: columns, rows, sorting, and the writer thread.

mod builder;
mod columns;
mod sort;
mod writer_thread;

pub(super) use self::builder::{
    FinishedTable, SavedColumn, Selection, TableBuilder, TableOptions, TableStart, UnusedField,
};
pub(super) use self::columns::{Columns, MAX_COLUMNS, OTHER_FIELDS, Row};
pub(super) use self::writer_thread::WriterThread;
