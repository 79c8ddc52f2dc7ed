//! The description of inputs and responses as data, and the validation of JSON against it.

pub mod check;
mod field;
mod input;

pub use field::{Family, Field, JsonType, List, ListedField, Single, listed_name};
pub use input::{Call, Input, Lookup, Method, Reference};
