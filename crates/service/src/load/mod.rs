//! Loading records without the contract's calls: from exports of another service, or the demo's. Records have the fields
//! of responses (`READ_FIELDS` in `records`) and `external_id`; items have the fields of the input in either spelling.

mod batch;
mod demo;
mod model;
mod prepare;
mod run;

pub use self::model::{LoadRecord, Nulls};
pub use self::run::Loader;
