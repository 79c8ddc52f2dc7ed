//! The profile of a file: a summary of the values in each field.
//!
//! A price list with a median price of 0.01, or with names in three of a thousand rows, is valid but hardly right. People notice
//! that in a profile, and [`warn_of_changes`] finds it by comparison with the profile of an earlier run.
//!
//! For each field of the valid records: the number of filled and distinct values, and the lowest, median and highest value. The profile is
//! stored with the run. Above 4,096 values, the median is computed from an evenly spaced sample, in bounded memory.

mod change;
mod collect;
mod earlier;
mod observed;
mod range;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub(super) use collect::Collector;
pub use earlier::warn_of_changes;
pub(super) use observed::Observed;

/// A summary of the values in each field of the valid records.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Profile {
    pub records: u64,
    /// In the order of the template.
    pub fields: Vec<FieldProfile>,
    /// The number of records by currency.
    pub currencies: BTreeMap<String, u64>,
}

/// The values of a field.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FieldProfile {
    /// `price`, or `lines.price` for a field of lines.
    pub field: String,
    /// The number of records with a value; of lines for a field of lines.
    pub filled: u64,
    /// The number of records, or of lines.
    pub of: u64,
    pub distinct: Distinct,
    /// Present for numbers and dates.
    pub range: Option<Range>,
    /// The first three different values.
    pub samples: Vec<Sample>,
}

/// A value with the number of its occurrences. The number is a minimum after [`Distinct::MoreThan`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sample {
    /// The first 60 characters.
    pub text: String,
    pub count: u64,
}

/// The number of different values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Distinct {
    Exactly(u64),
    MoreThan(u64),
}

/// The range of the values of a field.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Range {
    pub lowest: String,
    /// Exact for up to 4,096 values, else of an evenly spaced sample.
    pub median: String,
    pub highest: String,
}
