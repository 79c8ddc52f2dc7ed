//! Writers for tables: CSV, TSV, NDJSON and XLSX. A file is written beside its destination, synced and renamed, so it appears
//! complete or not at all.

mod csv;
mod defuse;
#[cfg(any(test, feature = "testing"))]
pub mod full_disk;
mod partial;
mod sink;
mod value;
mod value_table;
mod whole_file;
pub mod xlsx;

pub use self::csv::CsvTable;
pub use self::defuse::{defuse, restore};
pub use self::value::{FileFormat, Style, TextKind, Value};
pub use self::value_table::ValueTable;
pub use self::whole_file::sync_folder;
pub use self::whole_file::{Existing, ReadyFile, WholeFile, Written, folder};
pub use self::xlsx::table::MAX_COLUMNS;
pub use self::xlsx::text::{MAX_TEXT, cut_text, is_cut};
