//! Parsers for the workbook formats. Calamine parses the cells; the other files read what it leaves out:
//!
//! | format | read by ourselves | how |
//! |---|---|---|
//! | XLSX | formulas among the cells without a value; error values of newer versions; the appearance | further passes of calamine's readers; the tags of rows, columns and merged cells, while checking the checksums |
//! | XLSB | number formats; errors of formulas; the appearance | the records of the sheet, in parallel with calamine |
//! | XLS | number formats; the appearance; XOR obfuscation; RC4 | the records of the workbook stream, with the crate `cfb` |
//! | XLSX, XLSB, XLS, ODS | texts with raised, lowered or struck parts | `rich_text` and its siblings |
//! | encrypted XLSX, XLSB | agile and standard encryption | `encryption`, with the ciphers of RustCrypto; the crate office-crypto cannot read XLS, depends on an unmaintained crate, and would compile older versions of the ciphers in addition |
//! | encrypted ODS | AES with PBKDF2 for each part, or with Argon2id for a whole archive | decrypted into an archive in memory; memory and rounds are bounded |
//! | ODS | number formats; the appearance | content.xml is copied with marks on the values of cells with a relevant format |
//! | flat ODS | number formats; the appearance | converted to an archive in memory, then read like ODS |
//! | Excel's XML of 2003 | everything | `quick-xml`; `styles::Display` types numbers by their format codes |
//! | HTML | everything | the tokenizer `html5gum`: a table needs no tree, for which html5ever would add 30 crates, and deep nesting needs no stack; the grid of spanning cells is our own |
//! | all archives | checksums, and the names in the directory | a second thread unpacks all parts; reading a sheet ends only when this thread is done |

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
pub(super) use self::rich_texts::{RichTexts, matter};
