//! The types of columns, and values before they have a type.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The number of digits of the shorter decimals, which are stored as 64-bit numbers.
pub(crate) const SHORT_DIGITS: u8 = 18;
/// The greatest number of digits of a decimal.
pub(crate) const MAX_DIGITS: u8 = 38;

/// The type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    Text,
    /// A whole number of 64 bits.
    Integer,
    /// A number with this many decimals, and at most this many digits: [`SHORT_DIGITS`] or [`MAX_DIGITS`].
    Decimal {
        scale: u8,
        digits: u8,
    },
    /// A time in UTC, in microseconds.
    DateTime,
    Boolean,
}

/// A column of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    pub name: String,
    pub kind: Kind,
}

/// A value as JSON has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value<'a> {
    Null,
    Text(&'a str),
    /// A number in JSON notation.
    Number(&'a str),
    Boolean(bool),
}

/// Where values are stored, which limits the numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Store {
    /// Decimals of up to 38 digits.
    Parquet,
    /// Integers of 64 bits, and doubles, which hold 15 digits exactly. A column of fractions has no number of decimals.
    Sqlite,
    /// Files without types, whose columns are only observed.
    Untyped,
}

impl Store {
    /// Returns the name of a type here.
    pub fn name_of(self, kind: Kind) -> String {
        match (self, kind) {
            (Store::Sqlite, Kind::Decimal { .. }) => "number".to_owned(),
            _ => kind.to_string(),
        }
    }
}

impl Kind {
    /// A number of any sort, whose decimals follow from the values.
    pub const NUMBER: Kind = Kind::Decimal { scale: 0, digits: SHORT_DIGITS };

    /// Returns what values of this type are called.
    pub fn noun(self) -> &'static str {
        match self {
            Kind::Text => "a text",
            Kind::Integer => "a whole number",
            Kind::Decimal { .. } => "a number",
            Kind::DateTime => "a point in time",
            Kind::Boolean => "true or false",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Kind::Text => f.write_str("text"),
            Kind::Integer => f.write_str("integer"),
            Kind::Decimal { scale, digits } => write!(f, "decimal({digits},{scale})"),
            Kind::DateTime => f.write_str("date-time"),
            Kind::Boolean => f.write_str("boolean"),
        }
    }
}

impl fmt::Display for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Null => f.write_str("null"),
            Value::Text(text) => f.write_str(text),
            Value::Number(digits) => f.write_str(digits),
            Value::Boolean(boolean) => write!(f, "{boolean}"),
        }
    }
}
