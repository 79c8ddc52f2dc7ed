//! Export templates: the columns of the table and their formats, the records in it and their order.

mod load;
pub(crate) mod model;

pub(crate) use self::load::load;
pub use self::model::Template;
