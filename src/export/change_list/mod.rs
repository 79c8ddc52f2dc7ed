//! The list of changes beside an export: records that were added, changed or removed since the previous one, with their
//! values before and after. [`saved`] keeps the records of an export, and [`list`] compares those of two.

mod journal;
mod list;
mod saved;

pub(super) use self::list::{ListLayout, Records, compare};
