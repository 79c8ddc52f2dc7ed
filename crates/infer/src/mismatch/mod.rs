//! Finds sheets and columns that an existing template does not fit.

mod foreign_sheet;
mod money_quantity;
mod order_list;
mod sheet_topics;
mod unused_values;

pub use foreign_sheet::{ForeignSheet, foreign_sheet};
pub use money_quantity::{amounts_as_quantities, looks_like_money};
pub use order_list::is_list_of_orders;
pub(super) use order_list::is_order_list;
pub use unused_values::unused_values;
