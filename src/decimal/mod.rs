//! Exact decimal numbers: parsing, arithmetic, rounding and comparison without binary floating point.
//!
//! [`Decimal`] holds every number of up to 28 digits. Arithmetic returns the exact result or an error; only [`round`] and
//! [`divide`] round, and only to the requested decimals. Longer numbers have no `Decimal` and stay text; [`canonical`] compares
//! texts of any length.

mod arithmetic;
mod error;
mod text;

pub use arithmetic::{add, divide, divide_exactly, multiply, round, subtract, to_fixed, to_integer};
pub use error::DecimalError;
pub use rust_decimal::Decimal;
pub use text::{canonical, from_f64, is_whole, parse, percentage, plain, to_json};
