//! Finds sheets and columns that an existing template does not fit.

mod foreign_sheet;
mod money_quantity;
mod sheet_topics;
mod unused_values;

pub use foreign_sheet::{ForeignSheet, foreign_sheet};
pub use money_quantity::{amounts_as_quantities, looks_like_money};
pub use unused_values::unused_values;
