//! Proposes a mapping template for a sheet from headers, the first values, and the user's earlier templates. Pure: callers pass
//! all inputs.
//!
//! - [`Sample`] finds the row of headers and describes each column (`column_profile`).
//! - `assign_columns` matches columns to fields: `header_match` compares headers with the names in `template::words`,
//!   `column_values` judges the values, and `column_relations` compares columns with each other.
//! - `unpivot` finds sizes and months in columns.
//! - `extra_rows` finds rows that are not records, and `fill_down` finds values given only in the first of several rows.
//! - `field_keys` proposes the keys of each field, such as the format of dates; `currency_hint` finds the currency.
//! - `template_text` writes the template, and `trial` tries it on the rows and adds examples.
//! - `unused_amounts` finds columns that an existing template probably misses, and `foreign_sheet` finds sheets about something
//!   other than the records of a template, by the topics of their columns (`sheet_topics`).

mod assign_columns;
mod column_profile;
mod column_relations;
mod column_values;
mod context;
mod currency_hint;
#[cfg(test)]
mod doubt_tests;
mod extra_rows;
mod field_keys;
mod fill_down;
mod foreign_sheet;
mod header_match;
mod previous_templates;
#[cfg(test)]
mod price_tests;
mod proposal;
mod propose;
mod sample;
#[cfg(test)]
mod sheet_tests;
mod sheet_topics;
mod slots;
mod template_text;
#[cfg(test)]
mod tests;
mod toml_text;
mod trial;
mod unpivot;
mod unused_amounts;

pub use context::Context;
pub use foreign_sheet::{ForeignSheet, foreign_sheet};
pub use previous_templates::PreviousTemplate;
pub use proposal::{Confidence, FieldProposal, MissingField, Proposal, ProposedSource};
pub use propose::propose;
pub use sample::Sample;
pub use unused_amounts::unused_amounts;
