//! Excel's XML spreadsheets of 2003 (SpreadsheetML), saved by many programs as `.xls` or `.xml`.

mod cell;
mod document;
mod styles;

pub(super) use self::document::read;
