//! Parsers for the workbook formats, based on calamine. The other files add missing features.

mod archive;
mod cells;
mod checksums;
mod formulas;
mod input;
mod ods;
mod parser;
mod repair;
mod tag;
mod xls;
mod xlsb;
mod xlsx;
mod xlsx_hidden;

pub(super) use self::parser::Parser;
