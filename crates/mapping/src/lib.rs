//! Mapping templates, from columns of a sheet to fields of records.
//!
//! [`load`](load::load) reads and checks a template; [`bind`] finds its columns in a sheet; [`Mapper`] converts a row to a
//! request body, or to a list of problems. Pure: no files, no network.

pub mod bind;
pub mod builtin;
mod checks;
mod column_name;
pub mod columns;
pub mod examples;
pub mod facts;
pub mod format;
pub mod header_names;
pub mod language;
pub mod load;
pub mod lookup;
pub mod map;
pub mod model;
pub mod problem;
pub mod rivals;
mod row_test;
pub mod schema;
pub mod skeleton;
pub(crate) mod typed_value;
pub mod words;

pub use bind::{Header, Layout};
pub use map::{Draft, Mapper};
pub use model::Template;
pub use problem::{Cause, NotKept, Problem};
pub use words::language_of;
