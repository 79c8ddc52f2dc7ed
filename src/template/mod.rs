//! Mapping templates: which column becomes which field, and how.
//!
//! [`load`](load::load) reads a template and says what is wrong with it; [`bind`] finds its columns in a sheet;
//! [`Mapper`] turns a row into a record's request body or into all of the row's problems. Mapping and conversion are
//! pure: nothing here reads a file but the caller's `sheet`, and nothing sends.

pub mod bind;
pub mod builtin;
pub mod examples;
pub mod infer;
pub mod language;
pub mod load;
pub mod map;
pub mod model;
pub mod problem;
pub mod schema;
pub mod skeleton;
pub mod value;

pub use bind::{Header, Layout};
pub use map::{Draft, Mapper};
pub use model::Template;
pub use problem::{Cause, Problem};
