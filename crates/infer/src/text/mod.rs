//! Writes the proposed template: the keys of each field, the text with comments, and examples from the sample.

mod field_keys;
mod template;
mod trial;

pub(super) use field_keys::Evidence;
pub(super) use template::TemplateText;
pub(super) use trial::Trial;
