//! Reads a mapping template: TOML to a checked [`Template`], or all errors with their lines and fixes.

mod checker;
mod example;
mod field;
mod files;
mod raw;
mod read;
mod sheet;
mod template;

pub use checker::Tables;

use toml::de::DeTable;

use self::checker::Checker;
use self::files::Files;
use self::raw::RawTemplate;
use super::model::Template;
use super::value::lookup::{Lookup, LookupReader, TableError};
use crate::diagnostics::{Mistake, Mistakes, TomlFile};

/// The version of templates that this program reads and writes.
pub const VERSION: i64 = 1;

/// Parses and checks a template; `name` is for messages, and `tables` reads the lookup tables.
pub fn load(name: &str, source: &str, tables: Tables<'_>) -> Result<Template, Mistakes> {
    let all = |mut mistakes: Vec<Mistake>| {
        mistakes.sort_by_key(|mistake| mistake.place.as_ref().map(|(_, span)| span.start));
        Mistakes::new(mistakes)
    };
    let file = TomlFile { what: "template", name, source };
    let table = match read::parse(&file) {
        Ok(table) => table,
        Err(mistakes) => return Err(all(mistakes).expect("a syntax error")),
    };
    check_version(&file, table.get_ref())?;
    let files = Files::new(name, source);
    let readout = read::read::<RawTemplate>(&files, table);
    let checker = Checker::new(&files, tables, readout.removed, readout.mistakes);
    let template = readout.raw.and_then(|raw| checker.template(raw, name, source));
    match (all(checker.into_mistakes()), template) {
        (None, Some(template)) => Ok(template),
        (Some(mistakes), _) => Err(mistakes),
        (None, None) => unreachable!("a template that can't be read has a mistake"),
    }
}

/// Refuses templates of a newer version, whose keys this program does not know.
fn check_version(file: &TomlFile<'_>, table: &DeTable<'_>) -> Result<(), Mistake> {
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

/// Refuses all lookup tables, for templates without a folder.
pub fn no_tables(name: &str, _: LookupReader) -> Result<Lookup, TableError> {
    Err(TableError::Unreadable(format!("{name} cannot be read, because this template is not in a folder")))
}
