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
mod sheet_keys;
mod template;
mod unpivot;
mod version;

pub use environment::{Environment, SheetKeys, Tables, Templates};
pub use version::VERSION;

use std::path::Path;

use serde::Deserialize;
use sheetport_documents::{Mistake, Mistakes, read};
use toml::Spanned;
use toml::de::{DeTable, Deserializer};

use self::checker::Checker;
use self::files::Files;
use self::parameters::Parameters;
use self::raw::RawTemplate;
use super::model::{Defaulted, Template};
use crate::lookup::{Lookup, LookupReader, TableError};

/// Parses and checks a template; `name` is for messages, and `tables` reads the lookup tables.
pub fn load(name: &str, source: &str, tables: Tables<'_>) -> Result<Template, Mistakes> {
    let templates = |path: &Path| Err(format!("{} is a file, and this template is not in a folder", path.display()));
    let none = SheetKeys::default();
    load_in(
        name,
        source,
        &Environment { tables, templates: &templates, parameters: &[], overrides: none, defaults: none },
    )
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
    let overrides = environment.overrides.set().collect::<Vec<_>>();
    sheet_keys::insert(&mut table, &overrides);
    let mut parameters = Parameters::read(files, &table, environment.parameters);
    let source = match files.all() {
        [own] if environment.parameters.is_empty() && overrides.is_empty() => own.source.clone(),
        _ => copy_of(&table, &parameters),
    };
    let missing = sheet_keys::missing(&table, &environment.defaults);
    sheet_keys::insert(&mut table, &missing);
    // A template to which nothing is added keeps its comments.
    let (source, defaulted) = match missing.is_empty() {
        true => (source, None),
        false => {
            let keys = missing.iter().map(|(key, value)| (*key, (*value).to_owned())).collect();
            (copy_of(&table, &parameters), Some(Defaulted { keys, source }))
        }
    };
    parameters.insert(files, &mut table);
    let values = parameters.values();
    let mut mistakes = parameters.mistakes;
    let readout = read::<RawTemplate>(files, table);
    mistakes.extend(readout.mistakes);
    let checker = Checker::new(files, environment.tables, readout.removed, values, mistakes);
    let template = readout.raw.and_then(|raw| checker.template(raw, source));
    let template = template.map(|template| Template { defaulted, ..template });
    Ok((template, checker.into_mistakes()))
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
