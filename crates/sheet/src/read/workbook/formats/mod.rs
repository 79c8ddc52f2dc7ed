//! Parsers for the workbook formats, based on calamine. The other files add missing features.

mod archive;
mod cell_formats;
mod cells;
mod checksums;
mod container;
mod encryption;
mod formulas;
mod html;
mod input;
mod ods;
mod parser;
mod repair;
mod rich_text;
mod rich_texts;
mod spreadsheet_xml;
mod tables;
mod tag;
mod xls;
mod xlsb;
mod xlsx;
mod xlsx_appearance;

pub(super) use self::container::Container;
pub(super) use self::input::Source;
pub(super) use self::parser::Parser;
pub(super) use self::rich_texts::RichTexts;
