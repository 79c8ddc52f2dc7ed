//! The rows of the sheet under review.

mod reading;
mod row_store;

pub use reading::{OpenSheet, Reading, open_sheet};
pub use row_store::{Extent, RowStore};
