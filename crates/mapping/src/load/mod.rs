//! Reads a mapping template: TOML to a checked [`Template`], or all errors with their lines and fixes.
//!
//! [`load`] finds the files of a template (`extends`), merges the trees, inserts the values of parameters, reads the keys (`raw`), and
//! checks all values. Every step collects mistakes: a wrong key is removed and reading continues, so all mistakes are shown at once, each
//! with its file. A run stores the merged template with the values of parameters. `schema.json` also defines the order of keys
//! (`template fmt`) and the choices in messages.

mod checker;
mod environment;
mod example;
mod expression;
mod extend;
mod field;
mod files;
mod missing;
mod parameters;
mod raw;
mod resolve;
mod sheet;
mod template;
mod unpivot;
mod version;

pub use environment::{Environment, Tables, Templates};
pub use version::VERSION;

use std::borrow::Cow;
use std::path::Path;

use serde::Deserialize;
use sheetport_documents::{Mistake, Mistakes, read};
use toml::Spanned;
use toml::de::{DeTable, DeValue, Deserializer};

use self::checker::Checker;
use self::files::Files;
use self::parameters::Parameters;
use self::raw::RawTemplate;
use super::model::Template;
use crate::lookup::{Lookup, LookupReader, TableError};

/// Parses and checks a template; `name` is for messages, and `tables` reads the lookup tables.
pub fn load(name: &str, source: &str, tables: Tables<'_>) -> Result<Template, Mistakes> {
    let templates = |path: &Path| Err(format!("{} is a file, and this template is not in a folder", path.display()));
    load_in(name, source, &Environment { tables, templates: &templates, parameters: &[], locale: None })
}

/// Parses and checks a template in an environment.
pub fn load_in(name: &str, source: &str, environment: &Environment<'_>) -> Result<Template, Mistakes> {
    let found = extend::find_files(name, source, environment);
    let files = found.map_err(|mistakes| Mistakes::new(mistakes).expect("a template without files has a mistake"))?;
    let (template, mut mistakes) = match check(&files, environment) {
        Ok(checked) => checked,
        Err(mistakes) => (None, mistakes),
    };
    mistakes.sort_by_key(|mistake| files.order(mistake));
    match (Mistakes::new(mistakes), template) {
        (None, Some(template)) => Ok(template),
        (Some(mistakes), _) => Err(mistakes),
        (None, None) => unreachable!("a template that can't be read has a mistake"),
    }
}

/// Checks the merged files of a template. Returns all mistakes.
fn check(files: &Files, environment: &Environment<'_>) -> Result<(Option<Template>, Vec<Mistake>), Vec<Mistake>> {
    let mut table = extend::merged(files)?;
    if let Some(locale) = environment.locale {
        set_locale(&mut table, locale);
    }
    let mut parameters = Parameters::read(files, &table, environment.parameters);
    let source = match files.all() {
        [own] if environment.parameters.is_empty() && environment.locale.is_none() => own.source.clone(),
        _ => copy_of(&table, &parameters),
    };
    parameters.insert(files, &mut table);
    let values = parameters.values();
    let mut mistakes = parameters.mistakes;
    let readout = read::<RawTemplate>(files, table);
    mistakes.extend(readout.mistakes);
    let checker = Checker::new(files, environment.tables, readout.removed, values, mistakes);
    let template = readout.raw.and_then(|raw| checker.template(raw, source));
    Ok((template, checker.into_mistakes()))
}

/// Sets the locale of the sheet.
fn set_locale<'s>(table: &mut DeTable<'s>, locale: &'s str) {
    let spanned = |text: &'s str| Spanned::new(0..0, Cow::Borrowed(text));
    let value = Spanned::new(0..0, DeValue::String(Cow::Borrowed(locale)));
    match table.get_mut("sheet").map(Spanned::get_mut) {
        Some(DeValue::Table(sheet)) => drop(sheet.insert(spanned("locale"), value)),
        // Reported with the other mistakes.
        Some(_) => {}
        None => {
            let mut sheet = DeTable::new();
            sheet.insert(spanned("locale"), value);
            table.insert(spanned("sheet"), Spanned::new(0..0, DeValue::Table(sheet)));
        }
    }
}

/// Returns a template as a single file. The given values of parameters become their defaults.
fn copy_of<'s>(table: &DeTable<'s>, parameters: &Parameters<'s>) -> String {
    let mut copy = table.clone();
    copy.remove("extends");
    parameters.fix(&mut copy);
    let copy = toml::Table::deserialize(Deserializer::from(Spanned::new(0..0, copy)));
    copy.expect("a parsed table is a table").to_string()
}

/// Refuses all lookup tables, for templates without a folder.
pub fn no_tables(name: &str, _: LookupReader) -> Result<Lookup, TableError> {
    Err(TableError::Unreadable(format!("{name} cannot be read, because this template is not in a folder")))
}
