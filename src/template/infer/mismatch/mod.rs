//! Finds sheets and columns that an existing template does not fit.

mod foreign_sheet;
mod sheet_topics;
mod unused_amounts;

pub use foreign_sheet::{ForeignSheet, foreign_sheet};
pub use unused_amounts::unused_amounts;
