//! Tables of web pages (HTML), saved by many programs as `.xls`. Stored values in attributes of Excel and LibreOffice take
//! precedence over the text of a cell.

mod attributes;
mod cell;
mod grid;
mod page;
mod stylesheet;

pub(super) use self::page::read;
