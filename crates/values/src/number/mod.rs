//! Numbers in human notation: `1.234,50 €`, `(12)`, `19 %`. Parsing is exact and never guesses.
//!
//! [`shape`] finds the separators of a number, [`style`] finds the decimal separator in the cells of a column, and [`mod@parse`]
//! combines both with the locale of the template.

mod error;
pub mod literal;
mod parse;
mod shape;
mod strip;
pub mod style;

pub use error::{AmbiguousNumber, NumberError};
pub use parse::{Notation, ParsedNumber, Percent, from_f64, multiply, parse, parse_in};
pub use shape::Mark;
pub use strip::is_below_zero;
