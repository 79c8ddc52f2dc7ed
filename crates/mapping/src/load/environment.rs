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
    /// Keys of `[sheet]` instead of the template's.
    pub overrides: SheetKeys<'a>,
    /// Keys of `[sheet]` for a template that does not set them.
    pub defaults: SheetKeys<'a>,
}

/// Values of keys of `[sheet]` that are not in the template. Checked by the caller.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SheetKeys<'a> {
    pub locale: Option<&'a str>,
    pub time_zone: Option<&'a str>,
    pub currency: Option<&'a str>,
}

impl<'a> SheetKeys<'a> {
    /// Returns these keys, and those of `other` that are not set here.
    pub fn or(self, other: SheetKeys<'a>) -> SheetKeys<'a> {
        SheetKeys {
            locale: self.locale.or(other.locale),
            time_zone: self.time_zone.or(other.time_zone),
            currency: self.currency.or(other.currency),
        }
    }

    /// Returns the keys that are set, with their values.
    pub(super) fn set(&self) -> impl Iterator<Item = (&'static str, &'a str)> + use<'a> {
        let keys = [("locale", self.locale), ("time_zone", self.time_zone), ("currency", self.currency)];
        keys.into_iter().filter_map(|(key, value)| Some((key, value?)))
    }
}
