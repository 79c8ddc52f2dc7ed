//! Mapping templates, from columns of a sheet to fields of records.
//!
//! [`load`](load::load) reads and checks a template; [`bind`] finds its columns in a sheet; [`Mapper`] converts a row to a
//! request body, or to a list of problems. Pure: no files, no network, no clock. Callers pass in lookup tables and today's date. This crate knows
//! neither the ledger nor the service: values in place of such records are looked up by others (`map/resolved.rs`).
//!
//! | module | purpose |
//! |---|---|
//! | [`load`](mod@load) | TOML to a checked template, with all mistakes at once |
//! | [`model`] | the checked template |
//! | [`mod@bind`], [`columns`], [`header_names`], [`column_name`], [`rivals`] | finding the columns of a template in a sheet |
//! | [`map`] | rows to records: conversion, checks of rows, surveys of columns, lines and groups |
//! | [`language`] | expressions and conditions |
//! | [`modes`], [`missing`], [`commands`] | which of the records are sent, and what becomes of those that the file lacks |
//! | [`words`] | the vocabulary of headers: `fields.toml`, a file for each language, and words of totals and remarks |
//! | [`problem`], [`typed_value`], [`lookup`], [`facts`] | problems of cells, typed values, lookup tables, facts about the file |
//! | [`format`](mod@format), [`schema`], [`skeleton`], [`examples`], [`builtin`], [`usable`] | templates as files: formatting, JSON Schema, blank and built-in templates and which of them a sheet may have, examples |
//!
//! Begin with [`model::FieldRule`]: the steps of a rule are applied in the order of its members (`map/convert.rs`). Numbers stay exact from the
//! cell to the request; numbers and dates become text in between only where an expression joins texts.
//!
//! With `[unpivot]`, a [`Layout`] has a variant per cell (`Layout::cells`), with its own columns and a column index for the text of the
//! header. `plan` repeats a row for each filled cell. Order lines in cells are treated as lines in numbered columns.

pub mod bind;
pub mod builtin;
mod checks;
mod column_name;
pub mod columns;
pub mod commands;
pub mod examples;
pub mod facts;
pub mod format;
pub mod header_names;
pub mod language;
pub mod load;
pub mod lookup;
pub mod map;
pub mod missing;
pub mod model;
pub mod modes;
pub mod problem;
pub mod rivals;
mod row_test;
pub mod schema;
pub mod skeleton;
mod source;
pub(crate) mod typed_value;
pub mod usable;
pub mod words;

pub use bind::{Header, Layout};
pub use map::{Draft, Mapper};
pub use model::Template;
pub use problem::{Cause, NotKept, Problem};
pub use sheetport_words::language_of;
