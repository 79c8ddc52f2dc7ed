//! The words in headers of spreadsheets: how a header is reduced to words, and what the words mean in 15 languages.
//!
//! | module | purpose |
//! |---|---|
//! | [`normalize`] | a header as words, without case, diacritics, plurals and punctuation |
//! | [`mod@vocabulary`] | the names of fields, and words that change their meaning |
//! | [`topics`] | headers of sheets about something else than records |
//! | [`alternatives`] | the short form for several names in the files |
//!
//! The words are in `languages/`, one file a language, in `fields.toml`, which says what names a field takes, and in
//! `other_sheets.toml`. The build script normalizes them and writes sorted tables, so that a program only searches: parsing and
//! normalizing them took a third of checking a small sheet. It knows neither sheets nor templates.

pub mod alternatives;
mod compounds;
pub mod normalize;
mod plain;
mod split;
mod tables;
pub mod topics;
pub mod vocabulary;

pub use plain::plain;
pub use vocabulary::{ColumnTitle, FieldWords, Language, Modifiers, ValueKind, language_of, vocabulary};
