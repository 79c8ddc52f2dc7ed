//! Loading of mapping templates: built-in templates, files, and the copies in the ledger.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use sheetport_documents::{Mistakes, TomlFile, nearest};
use sheetport_files::absolute_path::absolute;
use sheetport_files::text_file::read_text;
use sheetport_ledger::NewRun;
use sheetport_mapping::format::format;
use sheetport_mapping::load::{Environment, SheetKeys};
use sheetport_mapping::model::{FieldRule, LookupFiles, OnBlank, Source};
use sheetport_mapping::{Template, builtin, load};
use sheetport_sheet::{self as sheet, Book};

use super::super::error::Error;
use super::super::files::InputFile;
use super::lookup_tables::{read_rows, unreadable};
use super::template_folder::{Permitted, TemplateFolder};

/// Flags for a template.
#[derive(Clone, Copy, Debug, Default)]
pub struct TemplateChanges<'a> {
    /// Values of parameters, by name.
    pub parameters: &'a [(String, String)],
    /// Keys of `[sheet]` that flags set, instead of the template's.
    pub sheet: SheetKeys<'a>,
    /// Keys of `[sheet]` of the profile, for a template that does not set them.
    pub defaults: SheetKeys<'a>,
    /// Folders whose files the template may read as lookup tables, in addition to files below its own folder.
    pub lookup_folders: &'a [PathBuf],
}

/// Loads a built-in template by name, or a template file by path.
pub fn load_template(wanted: &str, changes: TemplateChanges<'_>) -> Result<Template, Error> {
    let path = Path::new(wanted);
    if let Some(source) = builtin::find(wanted) {
        return checked(load_beside(path, source, changes)?, changes);
    }
    if let Some("csv" | "tsv" | "txt" | "xlsx" | "xls" | "ods") =
        path.extension().and_then(|extension| extension.to_str())
    {
        let hint = "name the spreadsheet first and the template after -t: sheetport upload FILE -t TEMPLATE";
        return Err(Error::invalid(format!("{wanted} is a spreadsheet, not a template"), hint));
    }
    let looks_like_a_path = path.extension().is_some() || path.components().count() > 1;
    match read_text(path) {
        Err(error) if error.kind() == io::ErrorKind::FileTooLarge => {
            let hint = "-t takes a template; the spreadsheet comes first";
            Err(Error::invalid(format!("{wanted} is too large for a template"), hint))
        }
        Ok(source) => checked(load_beside(path, &source, changes)?, changes),
        Err(_) if !looks_like_a_path => Err(unknown_template(wanted)),
        Err(error) => {
            let hint = "check its name; `sheetport template list` shows the built-in templates";
            Err(Error::invalid(format!("the template {wanted} can't be read: {error}"), hint))
        }
    }
}

/// Fails if a flag can't have an effect: it is better to stop than to send other records than were asked for.
fn checked(template: Template, changes: TemplateChanges<'_>) -> Result<Template, Error> {
    let Some(currency) = changes.sheet.currency else { return Ok(template) };
    let input = template.input();
    if !input.fields().any(|field| field.is_currency()) {
        let message = format!("the currency {currency} can't be sent, because {} have none", input.plural);
        return Err(Error::invalid(message, "leave it out"));
    }
    let is_set =
        |rule: &FieldRule| matches!(rule.source, Source::Constant(_)) || matches!(rule.on_blank, OnBlank::Default(_));
    if template.fields.iter().any(|rule| rule.field.is_currency() && is_set(rule)) {
        let message = format!("the template {} sets the currency by itself", template.name);
        return Err(Error::invalid(
            message,
            "change [fields.currency] of the template, or leave out the other currency",
        ));
    }
    Ok(template)
}

/// Loads a template from text, with the defaults of the profile. Extended templates and lookup tables are relative to the folder of `path`.
pub(crate) fn load_text(path: &Path, source: &str, defaults: SheetKeys<'_>) -> Result<Template, Error> {
    Ok(load_beside(path, source, TemplateChanges { defaults, ..TemplateChanges::default() })?)
}

/// Loads a template like [`load_template`], with the lookup tables in other sheets of the file to be sent.
pub fn load_template_for(wanted: &str, changes: TemplateChanges<'_>, file: &InputFile) -> Result<Template, Error> {
    let mut template = load_template(wanted, changes)?;
    read_sheet_lookups(&mut template, &file.path, None)?;
    Ok(template)
}

/// Loads the template of a run from the copy in the ledger, with the same lookup tables. The copy has the defaults of its profile, so
/// those of today do not matter.
///
/// # Errors
/// If a table has changed.
pub(crate) fn template_of_run(about: &NewRun) -> Result<Template, Error> {
    template_of_run_with(about, SheetKeys::default())
}

/// Loads the template of a run like [`template_of_run`], with keys of `[sheet]` from flags.
///
/// # Errors
/// Also if a key can't have an effect.
pub(crate) fn template_of_run_with(about: &NewRun, sheet: SheetKeys<'_>) -> Result<Template, Error> {
    let changes = TemplateChanges { sheet, ..TemplateChanges::default() };
    let path = Path::new(&about.template);
    let folder = about.lookups.as_ref().map_or_else(|| folder_of(path), |lookups| lookups.folder.clone());
    // Reading the files again is safe: the run was permitted to, and the hashes are compared below.
    let files = TemplateFolder { folder, permitted: Permitted::Everywhere };
    let template = checked(load_in(path, &about.template_toml, &files, changes)?, changes)?;
    let (Some(now), Some(then)) = (&template.lookups, &about.lookups) else { return Ok(template) };
    match now.hashes.iter().find(|(name, hash)| then.hashes.get(*name) != Some(hash)) {
        None => Ok(template),
        Some((name, _)) => {
            let path = now.folder.join(name);
            let message = format!("the lookup table {} has changed since the run has read it", path.display());
            Err(Error::invalid(message, "restore it, or use it as it is now"))
        }
    }
}

fn load_beside(path: &Path, source: &str, changes: TemplateChanges<'_>) -> Result<Template, Mistakes> {
    let files = TemplateFolder { folder: folder_of(path), permitted: Permitted::Below(changes.lookup_folders) };
    load_in(path, source, &files, changes)
}

/// Loads the template at `path`. Extended templates and lookup tables are relative to its folder.
fn load_in(
    path: &Path,
    source: &str,
    files: &TemplateFolder<'_>,
    changes: TemplateChanges<'_>,
) -> Result<Template, Mistakes> {
    let templates = |other: &Path| {
        let name = path.parent().unwrap_or(Path::new("")).join(other).display().to_string();
        let other = files.find(other)?;
        read_text(&other).map(|source| (name, source)).map_err(|error| error.to_string())
    };
    let hashes = RefCell::new(BTreeMap::new());
    let tables = |name: &str, reader| {
        let (table, hash) = files.read_table(name, reader)?;
        hashes.borrow_mut().insert(name.to_owned(), hash);
        Ok(table)
    };
    let TemplateChanges { parameters, sheet: overrides, defaults, .. } = changes;
    let environment = Environment { tables: &tables, templates: &templates, parameters, overrides, defaults };
    let mut template = load::load_in(&path.display().to_string(), source, &environment)?;
    let hashes = hashes.take();
    template.lookups = (!hashes.is_empty()).then(|| LookupFiles { folder: files.folder.clone(), hashes });
    Ok(template)
}

fn folder_of(template: &Path) -> PathBuf {
    let folder = template.parent().unwrap_or(Path::new(""));
    absolute(Path::new(".").join(folder))
}

/// Reads the lookup tables of a template that are sheets of `file`. Sheets missing in `file` are read from `original`, because a
/// report does not contain lookup sheets.
pub(crate) fn read_sheet_lookups(template: &mut Template, file: &Path, original: Option<&Path>) -> Result<(), Error> {
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

/// Formats a template file in place. Returns whether the file needed formatting. With `only_checks`, writes nothing.
pub fn format_template(path: &Path, only_checks: bool) -> Result<bool, Error> {
    let name = path.display().to_string();
    let failed = |what: &str, error: &io::Error| {
        Error::invalid(format!("the template {name} can't be {what}: {error}"), "check its name and permissions")
    };
    let source = read_text(path).map_err(|error| failed("read", &error))?;
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
