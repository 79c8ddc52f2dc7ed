//! Tables of web pages (HTML), which many programs save as `.xls`. Excel's and LibreOffice's attributes with the stored
//! values are used where a cell has them.

mod attributes;
mod cell;
mod grid;
mod page;
mod stylesheet;

pub(super) use self::page::read;
