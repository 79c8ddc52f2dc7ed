//! The end of an export: completeness of the file, its manifest, and the data kept for the next export.
//!
//! The steps after the last page are ordered, and a crash loses nothing: the file is put in place first, then the manifest, the
//! hashes of all records (`changes`) and the state. The state names the file of hashes, so both take effect at once. The spool
//! is removed last; a spool with the same start as the state is left over from a crash. Tables and lists of changes are written completely
//! before any file is put in place: first the file, then the list, then manifest and state. For an incomplete export, no list is written.

mod appended;
mod baseline;
mod file_names;
mod finish;
mod history;
mod latest;
mod manifest;
mod ours;
mod state;
mod verdict;

pub(super) use self::appended::Appending;
pub(super) use self::baseline::{check_existing, check_existing_changes, records_before};
pub(super) use self::file_names::{behind_links, incomplete, resolve};
pub use self::file_names::{has_date, has_time};
pub use self::finish::Exported;
pub(super) use self::finish::{ExportResults, FinishedExport, ListedChanges, Requested, conclude};
pub(super) use self::history::History;
pub(super) use self::latest::LatestLink;
pub use self::manifest::Manifest;
pub(super) use self::ours::WrittenFiles;
pub(super) use self::state::{ComparedRecords, State, WrittenFile};
pub(super) use self::verdict::{Reading, Verdict};
