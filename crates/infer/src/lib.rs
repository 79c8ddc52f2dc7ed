//! Proposes a mapping template for a sheet from headers, the first values, and the user's earlier templates, and judges how well a template
//! fits a sheet. Pure: callers pass all inputs. It knows neither the ledger nor the service.
//!
//! - `sample` finds the row of headers and the rows that are not records, and describes each column (`column_profile`).
//! - `headers` compares headers with the names in `mapping::words` (`name_match`), and finds the currency (`currency_hint`).
//! - `matching` matches columns to fields (`assignments`): `values` judges the values, and `relations` compares columns with
//!   each other.
//! - `record_layout` finds sizes and months in columns (`unpivot`), and values given only in the first of several rows
//!   (`fill_down`).
//! - `text` proposes the keys of each field, such as the format of dates (`field_keys`), writes the template, and tries it on
//!   the rows to add examples (`trial`).
//! - `mismatch` finds columns that an existing template probably misses (`unused_values`), and sheets about something other
//!   than the records of a template (`foreign_sheet`), by the topics of their columns (`sheet_topics`), or the numbers of orders beside items (`order_list`).
//! - [`recognize`] tells how well a template fits a sheet; `operations::templates` chooses among all templates.
//!
//! Begin with [`propose()`]. `crates/infer/src/tests/sheets.txt` has a sheet of each kind in each language with the expected columns. Improve the words for all
//! files, never for a single file. Values without a matching header are never more than a guess, and only a person
//! confirms a guess.

mod context;
mod headers;
mod matching;
mod mismatch;
mod previous_templates;
mod proposal;
mod propose;
pub mod recognize;
mod record_layout;
mod sample;
#[cfg(test)]
mod tests;
mod text;
mod toml_text;

pub use context::Context;
pub use mismatch::{
    ForeignSheet, amounts_as_quantities, foreign_sheet, is_list_of_orders, looks_like_money, unused_values,
};
pub use previous_templates::PreviousTemplate;
pub use proposal::{Confidence, FieldProposal, MissingField, Proposal, ProposedSource, SheetColumn};
pub use propose::propose;
pub use sample::Sample;
