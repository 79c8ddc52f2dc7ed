//! Export templates: which fields become which columns, how they look, which records are in the file and in what order.
//! [`mod@load`] reads one, [`model`] is what it says; applying it to values is pure.

pub mod load;
pub mod model;

pub use load::load;
pub use model::Template;
