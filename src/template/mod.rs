//! Mapping templates: which column becomes which field, and how.
//!
//! [`load`](load::load) reads a template and says what is wrong with it; [`bind`] finds its columns in a sheet;
//! [`Mapper`] turns a row into a record's request body or into all of the row's problems. Mapping and conversion are
//! pure: nothing here reads a file but the caller's `sheet`, and nothing sends.

pub mod bind;
pub mod builtin;
mod choices;
pub mod currency;
pub mod date;
pub mod digits;
pub mod examples;
pub mod explain;
pub mod expression;
pub mod fill;
pub mod identifier;
pub mod infer;
pub mod load;
pub mod locale;
pub mod lookup;
pub mod map;
pub mod model;
pub mod number;
pub mod problem;
pub mod schema;
pub mod skeleton;
pub mod survey;
pub mod width;
pub mod words;

pub use bind::{Header, Layout};
pub use map::{Draft, Mapper};
pub use model::Template;
pub use problem::{Cause, Problem};
