//! The list of changes beside an export: records added, changed or removed since the previous export, with their values before
//! and after. [`saved`] keeps the records of an export, and [`list`] compares the records of two exports.
//!
//! Two other baselines would not work. The previous file may have been moved, edited, or formatted by a template, and XLSX does not keep all
//! digits. The hashes of `changes` do not contain the old values, and they advance with each export, so a manual export at noon would hide
//! changes. Therefore the records of each export with `--changes` are stored as compressed JSON. Both sides are indexed by hashes in memory,
//! 32 bytes per record; the old versions of changed records and the list itself are in temporary files.

mod journal;
mod list;
mod saved;

pub(super) use self::list::{ListLayout, Records, compare};
