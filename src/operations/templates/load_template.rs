//! Loading of mapping templates: built-in templates, files, and the copies in the ledger.

use std::path::Path;

use super::super::error::Error;
use super::super::input::InputFile;
use crate::diagnostics::{Mistakes, TomlFile, nearest};
use crate::ledger::NewRun;
use crate::sheet::{self, Book};
use crate::template::format::format;
use crate::template::load::Environment;
use crate::template::value::lookup::{Lookup, LookupReader, TableError};
use crate::template::{Template, builtin, load};

/// Size limit of a template file.
const MAX_SIZE: u64 = 1 << 20;

/// Changes of a template by flags.
#[derive(Clone, Copy, Debug, Default)]
pub struct TemplateChanges<'a> {
    /// Values of parameters, by name.
    pub parameters: &'a [(String, String)],
    /// The locale of the sheet.
    pub locale: Option<&'a str>,
}

/// Loads a built-in template by name, or a template file by path.
pub fn load_template(wanted: &str, changes: TemplateChanges<'_>) -> Result<Template, Error> {
    let path = Path::new(wanted);
    if let Some(source) = builtin::find(wanted) {
        return Ok(load_beside(path, source, changes)?);
    }
    if let Some("csv" | "tsv" | "txt" | "xlsx" | "xls" | "ods") =
        path.extension().and_then(|extension| extension.to_str())
    {
        let hint = "name the spreadsheet first and the template after -t: sheetport upload FILE -t TEMPLATE";
        return Err(Error::invalid(format!("{wanted} is a spreadsheet, not a template"), hint));
    }
    let looks_like_a_path = path.extension().is_some() || path.components().count() > 1;
    let source = match std::fs::metadata(path) {
        Ok(metadata) if metadata.len() > MAX_SIZE => {
            let hint = "-t takes a template; the spreadsheet comes first";
            return Err(Error::invalid(format!("{wanted} is too large for a template"), hint));
        }
        Ok(_) => std::fs::read_to_string(path),
        Err(error) => Err(error),
    };
    match source {
        Ok(source) => Ok(load_beside(path, &source, changes)?),
        Err(_) if !looks_like_a_path => Err(unknown_template(wanted)),
        Err(error) => {
            let hint = "check its name; `sheetport template list` shows the built-in templates";
            Err(Error::invalid(format!("the template {wanted} can't be read: {error}"), hint))
        }
    }
}

/// Loads a template like [`load_template`], with the lookup tables in other sheets of the file to be sent.
pub fn load_template_for(wanted: &str, changes: TemplateChanges<'_>, file: &InputFile) -> Result<Template, Error> {
    let mut template = load_template(wanted, changes)?;
    read_sheet_lookups(&mut template, &file.path, None)?;
    Ok(template)
}

/// Loads the template of a run from the copy in the ledger. Lookup tables are read again from the template's folder.
pub(in crate::operations) fn template_of_run(about: &NewRun) -> Result<Template, Mistakes> {
    load_beside(Path::new(&about.template), &about.template_toml, TemplateChanges::default())
}

/// Loads the template at `path`. Lookup tables and templates that it extends are found from its folder.
fn load_beside(path: &Path, source: &str, changes: TemplateChanges<'_>) -> Result<Template, Mistakes> {
    let templates = |other: &Path| {
        let other = path.parent().unwrap_or(Path::new("")).join(other);
        let name = other.display().to_string();
        match std::fs::metadata(&other) {
            Ok(metadata) if metadata.len() > MAX_SIZE => Err("it is too large for a template".to_owned()),
            _ => std::fs::read_to_string(&other).map(|source| (name, source)).map_err(|error| error.to_string()),
        }
    };
    let tables = |name: &str, reader| read_table(path, name, reader);
    let TemplateChanges { parameters, locale } = changes;
    let environment = Environment { tables: &tables, templates: &templates, parameters, locale };
    load::load_in(&path.display().to_string(), source, &environment)
}

/// Reads the first sheet of a lookup table next to the template at `path`.
fn read_table(path: &Path, name: &str, reader: LookupReader) -> Result<Lookup, TableError> {
    let file = path.parent().unwrap_or(Path::new("")).join(name);
    let book = sheet::open(&file, &sheet::Options::default()).map_err(unreadable)?;
    read_rows(&book, 0, reader)
}

/// Reads the lookup tables of a template from other sheets of `file`, if it has any. Sheets that `file` lacks are read
/// from `original`, because a report does not have them.
pub(in crate::operations) fn read_sheet_lookups(
    template: &mut Template,
    file: &Path,
    original: Option<&Path>,
) -> Result<(), Error> {
    let open = |path: &Path, sheet: &str| -> Result<(Book, usize), sheet::Error> {
        let book = sheet::open(path, &sheet::Options::default())?;
        let index = book.find_named_sheet(sheet)?;
        Ok((book, index))
    };
    template.read_sheet_lookups(|field, sheet, reader| {
        let found = open(file, sheet).or_else(|error| original.and_then(|path| open(path, sheet).ok()).ok_or(error));
        let table = found.map_err(unreadable).and_then(|(book, index)| read_rows(&book, index, reader));
        table.map_err(|error| {
            let message = format!("the lookup of {field} in the sheet '{sheet}' is not possible: {error}");
            Error::invalid(message, "lookup.sheet of the template is a sheet of the workbook to be sent")
        })
    })
}

fn read_rows(book: &Book, sheet: usize, mut reader: LookupReader) -> Result<Lookup, TableError> {
    let mut rows = book.rows(sheet).map_err(unreadable)?;
    let mut row = sheet::Row::default();
    while rows.next(&mut row).map_err(unreadable)? {
        reader.row(&row)?;
    }
    Ok(reader.end()?)
}

fn unreadable(error: sheet::Error) -> TableError {
    TableError::Unreadable(error.to_string())
}

/// Formats a template file in place. Returns whether it was not formatted; with `only_checks`, nothing is written.
pub fn format_template(path: &Path, only_checks: bool) -> Result<bool, Error> {
    let name = path.display().to_string();
    let failed = |what: &str, error: &std::io::Error| {
        Error::invalid(format!("the template {name} can't be {what}: {error}"), "check its name and permissions")
    };
    let source = std::fs::read_to_string(path).map_err(|error| failed("read", &error))?;
    let formatted = format(&TomlFile { what: "template", name: &name, source: &source })?;
    if formatted == source {
        return Ok(false);
    }
    if !only_checks {
        std::fs::write(path, formatted).map_err(|error| failed("written", &error))?;
    }
    Ok(true)
}

/// Returns the error for a name of neither a built-in template nor a file.
pub fn unknown_template(name: &str) -> Error {
    let names: Vec<&str> = builtin::BUILT_IN.iter().map(|(name, _)| *name).collect();
    let hint = match nearest(name, names.iter().copied()) {
        Some(nearest) => format!("did you mean {nearest}? To use a file, include its extension, as in prices.toml"),
        None => {
            format!("built-in templates: {}; to use a file, include its extension, as in prices.toml", names.join(", "))
        }
    };
    Error::invalid(format!("there is no template '{name}'"), hint)
}
