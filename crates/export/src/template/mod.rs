//! Export templates: columns, formats, filters and sort order.

mod load;
pub mod model;

pub use self::load::load;
pub use self::model::Template;
