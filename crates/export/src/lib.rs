//! Exports: a list, or single records, into a file with a manifest.
//!
//! [`run`] drives the steps. A [`session`] reads the list: [`fetch`] requests pages in order, and [`spool`] keeps them on disk.
//! [`table`] turns the entries into rows of the file. [`conclude`] decides whether the file is complete, and puts the file in
//! place. The file formats themselves are in [`sheetport_sheet::write`].

mod change_list;
mod changes;
mod conclude;
mod error;
mod fetch;
mod job;
#[cfg(test)]
mod kills;
pub mod locale;
mod run;
mod session;
#[cfg(test)]
mod simulation;
mod spool;
mod table;
mod tables;
pub mod template;
mod value;

pub use self::changes::Changes;
pub use self::conclude::has_date;
pub use self::conclude::{Exported, Manifest};
pub use self::error::{Error, NotAppended};
pub use self::fetch::IdFile;
pub use self::job::{ChangesFile, Clock, Job, Output, Since, Source};
pub use self::run::{export, export_together, paths};
pub use self::template::Template;
