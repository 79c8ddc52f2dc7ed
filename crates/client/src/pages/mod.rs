//! Pages of a list: their size, their parsing, and a walk over all pages that does not rely on correct totals or page sizes.

mod json;
mod page;
mod size;
mod walk;

pub use self::json::{array_elements, object_fields, unescaped};
pub use self::page::{Entry, Page};
pub use self::size::{FirstPage, SAFE, fetch_page, may_depend_on_size, page_path, try_page};
pub use self::size::{KnownSizes, PageSize};
pub use self::walk::{Completeness, Walk};

#[cfg(test)]
mod tests;
