//! What the text of a template got from elsewhere: lookup tables, and the defaults of a profile.

use std::collections::BTreeMap;
use std::path::PathBuf;

/// The files of lookup tables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LookupFiles {
    /// Absolute path of the folder of the template.
    pub folder: PathBuf,
    /// SHA-256, in hexadecimal, by the name in the template.
    pub hashes: BTreeMap<String, String>,
}

/// Keys of `[sheet]` that the template does not set itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Defaulted {
    /// The keys with their values.
    pub keys: Vec<(&'static str, String)>,
    /// The TOML without them. What a person decides about a template is about this text, which does not change with the profile.
    pub source: String,
}
