//! Reading of spreadsheets: detects the format of a file and reads the rows of its sheets.
//!
//! Texts and workbooks are streamed. Data that a workbook format forces into memory stays in a separate process with a
//! memory limit.

mod appearance;
mod book;
mod decompress;
mod file_kind;
pub mod header;
mod little_endian;
mod location;
mod markup;
mod open;
mod options;
mod report_columns;
mod text;
pub mod value_type;
mod workbook;

pub use self::appearance::{Appearance, MergedCells};
pub use self::book::{Book, Rows};
use self::file_kind::WorkbookFormat;
pub use self::open::open;
pub use self::options::Options;
pub use self::report_columns::HEADER_SEARCH_ROWS;
pub use self::text::{Confidence, Dialect, Doubt, EncodingDoubt, LineEnding};
use self::text::{MAX_COLUMNS, MAX_RECORD};
pub use self::workbook::{
    Attempt, Protections, is_stored_as, read_workbooks_with, run_reader_if_asked, try_protections,
};
