//! Exact decimal numbers: parsing, arithmetic, rounding and comparison without binary floating point.
//!
//! [`Decimal`] holds every number of up to 28 digits. Arithmetic returns the exact result or an error; only [`round`],
//! [`divide`] and the functions named `rounded` round. Longer numbers have no exact `Decimal` and stay text; [`canonical`] compares
//! texts of any length.

mod arithmetic;
mod error;
mod text;

pub use arithmetic::{add, divide, divide_exactly, multiply, multiply_rounded, round, subtract, to_fixed, to_integer};
pub use error::DecimalError;
pub use rust_decimal::Decimal;
pub use text::{
    canonical, from_f64, is_whole, parse, parse_rounded, percentage, plain, to_f64, to_json, write, written_out,
};
pub(crate) use text::{decimals_behind, short_digits};
