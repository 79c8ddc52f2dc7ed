//! Pages of a list: parsing, and a walk over all pages that does not rely on correct totals or page sizes.

mod json;
mod page;
mod walk;

pub(crate) use self::json::{array_elements, object_fields, unescaped};
pub(crate) use self::page::{Entry, Page};
pub(crate) use self::walk::{Completeness, Walk};

#[cfg(test)]
mod tests;
