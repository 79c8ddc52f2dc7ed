//! The template of a review, and its changes.

mod column_key;
mod column_look;
mod draft;
mod edit;
mod mapping;
mod open_field;
mod skip_where;

pub(super) use column_key::ColumnKey;
pub use column_look::{ColumnLook, ValueLook, column_looks};
pub use draft::{Draft, DraftOrigin, FieldReason, propose};
pub use edit::TemplateEdit;
pub(super) use mapping::allowed_texts;
pub use mapping::{MappedColumn, MappedField, Mapping, TemplateMistake, mapping, mistakes};
pub use open_field::{FieldChoice, OpenField};
