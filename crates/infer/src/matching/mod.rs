//! Matches columns to fields by their headers and values.

mod assignments;
mod relations;
mod values;

pub(super) use assignments::{Assignment, Assignments, Computed};
pub(super) use values::{are_identifiers, is_tax_rate};
