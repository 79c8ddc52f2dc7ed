//! Parsers for the workbook formats, based on calamine. The other files add missing features.

mod archive;
mod cells;
mod formulas;
mod input;
mod ods_percentages;
mod parser;
mod repair;
mod xls_password;
mod xlsb;
mod xlsb_records;
mod xlsx;

pub(super) use self::parser::Parser;
