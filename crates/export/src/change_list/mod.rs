//! The list of changes beside an export: records added, changed or removed since the previous export, with their values before
//! and after. [`saved`] keeps the records of an export, and [`list`] compares the records of two exports.

mod journal;
mod list;
mod saved;

pub(super) use self::list::{ListLayout, Records, compare};
