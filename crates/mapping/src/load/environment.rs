//! Data that the caller of the loader provides.

use std::path::Path;

use crate::lookup::{Lookup, LookupReader, TableError};

/// Reads a lookup table: passes each row to the reader, or returns the reason for failing. The caller resolves the path of the
/// table, because a template does not know its own path.
pub type Tables<'a> = &'a dyn Fn(&str, LookupReader) -> Result<Lookup, TableError>;

/// Returns the name and the TOML of a template file, or the reason for failing. The path is relative to the folder of the
/// template.
pub type Templates<'a> = &'a dyn Fn(&Path) -> Result<(String, String), String>;

/// Resources that a template can refer to.
pub struct Environment<'a> {
    /// Reads lookup tables.
    pub tables: Tables<'a>,
    pub templates: Templates<'a>,
    /// Values of parameters, by name.
    pub parameters: &'a [(String, String)],
    /// The locale of the sheet, instead of the template's. Checked by the caller.
    pub locale: Option<&'a str>,
}
