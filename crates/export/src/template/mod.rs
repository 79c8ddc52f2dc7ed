//! Export templates: columns, formats, filters and sort order.

mod choice;
mod load;
pub mod model;

pub use self::choice::{Choice, ChoiceError};
pub use self::load::load;
pub use self::model::Template;
