//! Reads a mapping template: TOML to a checked [`Template`], or the first error with a line and a fix.

mod checker;
mod example;
mod field;
mod raw;
mod sheet;
mod template;

pub use checker::Tables;

use self::checker::Checker;
use self::raw::RawTemplate;
use super::model::Template;
use crate::diagnostics::{Mistake, TomlFile};

/// Parses and checks a template; `name` is for messages, and `tables` reads the lookup tables.
pub fn load(name: &str, source: &str, tables: Tables<'_>) -> Result<Template, Mistake> {
    let file = TomlFile { what: "template", name, source };
    let raw: RawTemplate = toml::from_str(source).map_err(|error| file.syntax(&error))?;
    Checker { file, tables }.template(raw)
}

/// Refuses all lookup tables, for templates without a folder.
pub fn no_tables(name: &str) -> Result<Vec<Vec<String>>, String> {
    Err(format!("{name} cannot be read, because this template is not in a folder"))
}
