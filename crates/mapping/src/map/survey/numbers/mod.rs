//! How the numbers of a sheet are written, decided for each column.

mod currency_column;
pub(crate) mod header_currencies;
mod survey;
mod unused;

pub(super) use survey::NumberSurveyor;
