//! Excel's XML spreadsheets of 2003 (SpreadsheetML), which many programs save as `.xls` or `.xml`.

mod cell;
mod document;
mod styles;

pub(super) use self::document::read;
