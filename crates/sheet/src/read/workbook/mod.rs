//! Reading of workbooks, in a separate process with limited memory and time.
//!
//! Hostile workbooks can make parsing libraries panic, abort or exhaust memory, so this process never parses a workbook. A child
//! (`process`) checks the archive, parses it with calamine (`formats`, `styles`), puts the rows in order (`row_sender`) and sends
//! them through a pipe (`protocol`). This process validates everything it receives (`reader`). Both work at the same time. A crash or an
//! exceeded limit becomes a single error message.
//!
//! The *appearance* of a sheet, such as hidden rows and columns and merged cells, is known at the end of a sheet, and sent last
//! ([`Appearance`](super::Appearance)). Only warnings follow from the appearance: rows are read as stored.
//!
//! The child also unpacks a ZIP archive around a single spreadsheet (`formats::container`). The unpacked file arrives through the pipe and
//! becomes a [`PrivateFile`](crate::PrivateFile), like standard input: on Linux a file without a name, with nothing left behind.

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
