//! Loads, proposes and recognizes templates.

pub(in crate::operations) mod decided;
pub(in crate::operations) mod infer;
pub(in crate::operations) mod known_templates;
pub(in crate::operations) mod load_template;
mod lookup_tables;
pub(in crate::operations) mod recognize;
mod template_folder;
pub(in crate::operations) mod trust;
