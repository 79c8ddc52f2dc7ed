//! Pages of a list: parsing one, and walking all of them without trusting what the service says about itself.

mod json;
mod page;
mod walk;

pub(crate) use self::json::{array_elements, object_fields, unescaped};
pub(crate) use self::page::{Entry, Page};
pub(crate) use self::walk::{Completeness, Walk};

#[cfg(test)]
mod tests;
