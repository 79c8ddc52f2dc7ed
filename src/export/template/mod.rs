//! Export templates: columns, formats, filters and sort order.

mod load;
pub(crate) mod model;

pub(crate) use self::load::load;
pub use self::model::Template;
