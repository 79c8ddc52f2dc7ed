//! Loading of mapping templates: built-in templates, files, and the copies in the ledger.

use std::path::Path;

use super::error::Error;
use crate::diagnostics::{Mistakes, nearest};
use crate::ledger::NewRun;
use crate::sheet;
use crate::template::{Template, builtin, load};

/// Size limit of a template file.
const MAX_SIZE: u64 = 1 << 20;
/// Row limit of a lookup table, because tables are held in memory.
const MAX_TABLE_ROWS: usize = 1_000_000;

/// Loads a built-in template by name, or a template file by path.
pub fn load_template(wanted: &str) -> Result<Template, Error> {
    if let Some(source) = builtin::find(wanted) {
        return Ok(load::load(wanted, source, &load::no_tables)?);
    }
    let path = Path::new(wanted);
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
        Ok(source) => Ok(load::load(wanted, &source, &|name| read_table(path, name))?),
        Err(_) if !looks_like_a_path => Err(unknown_template(wanted)),
        Err(error) => {
            let hint = "check its name; `sheetport template list` shows the built-in templates";
            Err(Error::invalid(format!("the template {wanted} can't be read: {error}"), hint))
        }
    }
}

/// Loads the template of a run from the copy in the ledger. Lookup tables are read again from the template's folder.
pub(super) fn template_of_run(about: &NewRun) -> Result<Template, Mistakes> {
    load::load(&about.template, &about.template_toml, &|table| read_table(Path::new(&about.template), table))
}

/// Reads the first sheet of a lookup table next to the template at `path`.
fn read_table(path: &Path, name: &str) -> Result<Vec<Vec<String>>, String> {
    let file = path.parent().unwrap_or(Path::new("")).join(name);
    let message = |error: sheet::Error| error.to_string();
    let book = sheet::open(&file, &sheet::Options::default()).map_err(message)?;
    let mut rows = book.rows(0).map_err(message)?;
    let mut row = sheet::Row::default();
    let mut table = Vec::new();
    while rows.next(&mut row).map_err(message)? {
        let rows_before = usize::try_from(row.number).unwrap_or(usize::MAX).saturating_sub(1);
        if rows_before >= MAX_TABLE_ROWS {
            return Err(format!("{} has more than {MAX_TABLE_ROWS} rows", file.display()));
        }
        table.resize(rows_before.max(table.len()), Vec::new());
        table.push(row.cells().map(|cell| cell.shown().trim().to_owned()).collect());
    }
    Ok(table)
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
