//! Exports: a list, or single records, into a file with a manifest.
//!
//! [`run`] drives the steps. A [`session`] reads the list: [`fetch`] requests pages in order, and [`spool`] keeps them on disk.
//! [`table`] turns the entries into rows of the file. [`conclude`] decides whether the file is complete, and puts the file in
//! place. The file formats themselves are in [`sheetport_sheet::write`], and those with types in [`sheetport_datasets`]. This crate knows no ledger, no object storage and no mapping
//! templates.
//!
//! | module | purpose |
//! |---|---|
//! | [`job`] | the options of an export; begin here, then [`run`](mod@run) |
//! | [`session`], [`fetch`], [`spool`] | reading: several requests at once, results in order; `client::pages` decides how far to read ahead, and when the list has ended |
//! | [`details`], [`spooled`] | `--lines`: each listed record again by its ID; the spool read again |
//! | [`table`], [`tables`], [`value`], [`locale`] | columns and rows, written on a separate thread |
//! | [`conclude`] | completeness, manifest, state for the next export, `--append` |
//! | [`changes`], [`change_list`] | `--since last` by hashes, `--changes` by whole records |
//! | [`framed`] | texts in files kept beside an export, each preceded by its length |
//! | [`template`] | columns, formats, filters and sort order of export templates |
//! | `simulation.rs`, `kills.rs` | many nights against a changing list, and kills before each write |
//!
//! Entries stay JSON text until written, so numbers keep all digits. Records are identified by 64-bit hashes of the IDs.
//!
//! If a list changes during an export, the first page is read again at the end. If records may have been skipped, `Completeness::Moved` makes
//! [`run`](mod@run) read the list again from the start. A full second pass for every export would be safer, but double the requests; `--verify`
//! and every resumed export do it.
//!
//! Several lists in one workbook are first read into spools one after another, and then written sheet by sheet, because a sheet
//! cannot be discarded once begun. Each list has its own folder with lock, spool and state, just as when exported alone. A single
//! verdict decides about the file.

mod change_list;
mod changes;
mod conclude;
mod details;
mod error;
mod fetch;
mod format;
mod framed;
mod job;
#[cfg(test)]
mod kills;
pub mod locale;
mod run;
mod session;
#[cfg(test)]
mod simulation;
mod spool;
mod spooled;
mod table;
mod tables;
pub mod template;
mod value;

pub use self::changes::Changes;
pub use self::conclude::{Exported, Manifest};
pub use self::conclude::{has_date, has_time};
pub use self::error::{ChangedType, Error, NotAppended};
pub use self::fetch::IdFile;
pub use self::format::Format;
pub use self::job::{ChangesFile, Clock, ExportOptions, Job, Output, Since, Source};
pub use self::run::{export, export_together, paths};
pub use self::template::{Choice, ChoiceError, Template};
