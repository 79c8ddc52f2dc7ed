//! Reading of workbooks, in a separate process with limited memory and time.
//!
//! Hostile workbooks can make parsing libraries panic, abort or exhaust memory, so this process never parses a workbook. A child
//! (`process`) checks the archive, parses it with calamine (`formats`, `styles`), puts the rows in order (`row_sender`) and sends
//! them through a pipe (`protocol`). This process validates everything it receives (`reader`). Both work at the same time.

mod activity;
mod archive;
mod dates;
mod fault;
mod formats;
mod process;
mod protocol;
mod reader;
mod row_sender;
mod styles;

pub(super) use self::archive::Archive;
pub use self::dates::is_stored_as;
pub use self::process::{Attempt, Protections, read_workbooks_with, run_reader_if_asked, try_protections};
pub(super) use self::protocol::{Password, Request};
pub(super) use self::reader::{Workbook, WorkbookRows};
