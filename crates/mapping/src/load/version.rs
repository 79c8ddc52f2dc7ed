//! The version of templates.

use sheetport_documents::{Mistake, TomlFile};
use toml::de::DeTable;

/// The version of templates that this program reads and writes.
pub const VERSION: i64 = 1;

/// Refuses templates of a newer version, because they may have unknown keys.
pub(super) fn check_version(file: &TomlFile<'_>, table: &DeTable<'_>) -> Result<(), Mistake> {
    let Some(version) = table.get("sheetport") else { return Ok(()) };
    let written =
        version.get_ref().as_integer().and_then(|number| i64::from_str_radix(number.as_str(), number.radix()).ok());
    let (message, hint) = match written {
        Some(VERSION) => return Ok(()),
        Some(newer) if newer > VERSION => (
            format!("this template has version {newer}, and this program reads version {VERSION}"),
            "use a newer Sheetport, or ask for a template of an older version".to_owned(),
        ),
        _ => ("the version of a template is a number from 1".to_owned(), format!("write sheetport = {VERSION}")),
    };
    Err(file.mistake(version.span(), message, Some(hint)))
}
