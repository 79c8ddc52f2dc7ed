//! Templates with `extends`: finds the base templates, and merges their tables.

use std::path::Path;

use sheetport_documents::{Mistake, nearest, parse};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::super::builtin;
use super::environment::Environment;
use super::files::{Files, with_place};
use super::version::check_version;

/// Maximum length of a chain of templates.
const MAX_FILES: usize = 10;

/// Mutually exclusive keys: a key of the first list in a template removes all keys of the second list from its base.
const ALTERNATIVES: &[(&[&str], &[&str])] = &[
    (&["column", "columns", "text", "value"], &["column", "columns", "join", "text", "value"]),
    (&["map", "lookup"], &["map", "lookup"]),
    (&["on_blank", "default"], &["on_blank", "default"]),
    (&["name", "index"], &["name", "index"]),
    (&["columns", "matches"], &["columns", "matches"]),
];

/// The value of the key `extends`, and its place in the file.
type Extends = Spanned<String>;

/// Finds the files of a template: the template itself, its base template, and so on.
pub(super) fn find_files(name: &str, source: &str, environment: &Environment<'_>) -> Result<Files, Vec<Mistake>> {
    let mut files = Files::default();
    files.add(name.to_owned(), source.to_owned(), Path::new(""));
    loop {
        let file = files.all().last().expect("the template itself");
        let toml = file.toml();
        let table = parse(&toml)?;
        check_version(&toml, table.get_ref()).map_err(|mistake| vec![mistake])?;
        let Some(extends) = extends(table.get_ref()) else { return Ok(files) };
        let (name, source, folder) = {
            let wrong = |message: String, hint: String| vec![toml.mistake(extends.span(), message, Some(hint))];
            let wanted = extends.get_ref().as_str();
            let (name, source, folder) = match builtin::find(wanted) {
                Some(source) => (wanted.to_owned(), source.to_owned(), Path::new("").to_owned()),
                None => {
                    let path = file.folder.join(wanted);
                    let (name, source) = (environment.templates)(&path).map_err(|reason| {
                        wrong(format!("the template '{wanted}' can't be read: {reason}"), hint(wanted))
                    })?;
                    (name, source, path.parent().map(Path::to_owned).unwrap_or_default())
                }
            };
            let chain: Vec<&str> = files.all().iter().map(|file| file.name.as_str()).chain([name.as_str()]).collect();
            if chain.len() > MAX_FILES || files.all().iter().any(|file| file.name == name) {
                let shown = chain[..chain.len().min(MAX_FILES)].join(" → ");
                return Err(wrong(format!("this template extends itself: {shown}"), "remove one extends".to_owned()));
            }
            (name, source, folder)
        };
        files.add(name, source, &folder);
    }
}

fn extends(table: &DeTable<'_>) -> Option<Extends> {
    let value = table.get("extends")?;
    value.get_ref().as_str().map(|text| Spanned::new(value.span(), text.to_owned()))
}

fn hint(wanted: &str) -> String {
    let names = builtin::BUILT_IN.iter().map(|(name, _)| *name);
    match nearest(wanted, names) {
        Some(nearest) if Path::new(wanted).extension().is_none() => format!("did you mean {nearest}?"),
        _ => "write the name of a built-in template, or the path of a file relative to this one's folder".to_owned(),
    }
}

/// Returns the merged table of the files.
pub(super) fn merged(files: &Files) -> Result<DeTable<'_>, Vec<Mistake>> {
    let mut merged: Option<DeTable<'_>> = None;
    for file in files.all().iter().rev() {
        let table = parse(&file.toml())?;
        let mut table =
            match with_place(Spanned::new(0..0, DeValue::Table(table.into_inner())), file.start).into_inner() {
                DeValue::Table(table) => table,
                _ => DeTable::new(),
            };
        if file.folder != Path::new("") {
            relocate_lookups(&mut table, &file.folder);
        }
        merged = Some(match merged {
            None => table,
            Some(base) => over(base, table),
        });
    }
    Ok(merged.unwrap_or_default())
}

/// Makes the paths of lookup tables relative to the folder of the template itself.
fn relocate_lookups(table: &mut DeTable<'_>, folder: &Path) {
    for fields in ["fields", "lines"] {
        let Some(DeValue::Table(fields)) = table.get_mut(fields).map(Spanned::get_mut) else { continue };
        for (_, field) in fields.iter_mut() {
            let DeValue::Table(field) = field.get_mut() else { continue };
            if let Some(DeValue::Table(lookup)) = field.get_mut("lookup").map(Spanned::get_mut)
                && let Some(DeValue::String(path)) = lookup.get_mut("file").map(Spanned::get_mut)
            {
                *path = folder.join(path.as_ref()).display().to_string().into();
            }
        }
    }
}

/// Merges a template into its base template. Drops the examples of the base, because the columns may differ.
fn over<'s>(mut base: DeTable<'s>, own: DeTable<'s>) -> DeTable<'s> {
    base.remove("examples");
    for (key, value) in own {
        let inner = base.remove(key.get_ref().as_ref());
        let merged = match (key.get_ref().as_ref(), inner.map(Spanned::into_inner), value) {
            ("fields" | "lines", Some(DeValue::Table(base)), value) => with_table(base, value, fields_over),
            ("sheet" | "unpivot" | "group" | "parameters", Some(DeValue::Table(base)), value) => {
                with_table(base, value, keys_over)
            }
            (_, _, value) => value,
        };
        base.insert(key, merged);
    }
    base
}

/// Applies a function to a table and the table of the base. Other values replace the table.
fn with_table<'s>(
    base: DeTable<'s>,
    own: Spanned<DeValue<'s>>,
    over: impl FnOnce(DeTable<'s>, DeTable<'s>) -> DeTable<'s>,
) -> Spanned<DeValue<'s>> {
    let span = own.span();
    match own.into_inner() {
        DeValue::Table(own) => Spanned::new(span, DeValue::Table(over(base, own))),
        other => Spanned::new(span, other),
    }
}

/// Merges the fields of two templates. Omits a field with the value `false`.
fn fields_over<'s>(mut base: DeTable<'s>, own: DeTable<'s>) -> DeTable<'s> {
    for (name, value) in own {
        let inherited = base.remove(name.get_ref().as_ref()).map(Spanned::into_inner);
        let merged = match (inherited, value) {
            (Some(_), value) if value.get_ref().as_bool() == Some(false) => continue,
            (Some(DeValue::Table(inherited)), value) => with_table(inherited, value, keys_over),
            (_, value) => value,
        };
        base.insert(name, merged);
    }
    base
}

/// Merges the keys of two tables.
fn keys_over<'s>(mut base: DeTable<'s>, own: DeTable<'s>) -> DeTable<'s> {
    for (keys, replaced) in ALTERNATIVES {
        if keys.iter().any(|key| own.contains_key(*key)) {
            replaced.iter().for_each(|key| {
                base.remove(*key);
            });
        }
    }
    for (key, value) in own {
        base.remove(key.get_ref().as_ref());
        base.insert(key, value);
    }
    base
}
