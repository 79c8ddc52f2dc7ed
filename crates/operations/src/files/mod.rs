//! The files of operations, on disk or in object storage: spreadsheets to read, and places for reports.

mod exported;
pub mod inbox_path;
mod input;
mod report_path;
mod stored_files;
mod temporary_folder;

pub(super) use exported::{changes_not_writable, exported_to, is_read_only, not_writable};
pub use inbox_path::shown_file;
pub(super) use input::new_run;
pub use input::{InputFile, STANDARD_INPUT, Spreadsheet};
pub use report_path::{beside, is_writable, numbered, report_format};
pub use report_path::{reports_folder, unused};
pub use stored_files::{check_report_path, open_input};
pub use stored_files::{
    create_folder, inside, is_name_taken, is_taken, lasting, private_copy, resolved, sibling, write_report, write_text,
};
pub use temporary_folder::TemporaryFolder;
