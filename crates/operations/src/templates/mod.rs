//! Loads, proposes and recognizes templates.

pub(crate) mod decided;
pub(crate) mod infer;
pub(crate) mod known_templates;
pub mod load_template;
mod lookup_tables;
pub(crate) mod recognize;
mod template_folder;
pub mod trust;
