//! Reports for a supplier: hides what is not in the sheet.

mod internal_data;
mod service_words;

pub(super) use internal_data::{INTERNAL_COLUMNS, Supplier};
