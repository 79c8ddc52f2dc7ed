//! What an export is asked for: lists or records by id, columns and conditions, and the names of its files.

use std::path::{Path, PathBuf};

use sheetport_client::Speed;
use sheetport_export::{self as export, Choice, ExportOptions, Format, IdFile, Output, Source, Template, template};
use sheetport_files::text_file::read_text;
use sheetport_records::{Family, Single, inventory, order, transaction};
use sheetport_sheet::write::{FileFormat, TextKind};
use sheetport_storage::ObjectAddress;

use super::super::error::Error;
use super::super::lists::LISTS;

/// Placeholder for the name of the list.
pub(super) const KIND: &str = "{kind}";
/// Placeholder for the date.
const DATE: &str = "{date}";
/// Placeholder for the time of day.
pub(super) const TIME: &str = "{time}";
/// Names of the exportable records.
pub const EXPORTABLE: [&str; 6] = ["items", "orders", "companies", "contacts", "inventories", "transactions"];

/// The records that can be exported by id.
static SINGLES: [&Single; 3] = [&order::SINGLE, &inventory::SINGLE, &transaction::SINGLE];

/// Ids of the records to export.
#[derive(Clone, Debug)]
pub struct IdSource {
    pub path: PathBuf,
    /// Header, letters or number of the column.
    pub column: Option<String>,
    /// The ids are the user's own, not the service's.
    pub external: bool,
}

#[derive(Clone, Debug, Default)]
pub struct ExportRequest {
    /// Names from [`EXPORTABLE`]. Several lists become sheets of one workbook, or separate files if the name contains `{kind}`.
    pub records: Vec<&'static str>,
    /// Whether this is one of several requests that export to separate files.
    pub is_part: bool,
    /// Path family of the list, by default public.
    pub family: Option<Family>,
    /// Path of the file, or `None` for standard output.
    pub output: Option<PathBuf>,
    /// Format of standard output, CSV if `None`.
    pub stdout_format: Option<TextKind>,
    /// Path of an export template.
    pub template: Option<PathBuf>,
    /// Columns, conditions and order, in addition to those of the template.
    pub choice: Choice,
    /// Path for a list of added, changed and removed records since the previous export with such a list.
    pub changes: Option<PathBuf>,
    /// Requests each listed order by its id, because the list has no lines.
    pub lines: bool,
    /// Path of a link to the newest of several dated files.
    pub latest: Option<PathBuf>,
    /// Exports these records instead of a list.
    pub ids: Option<IdSource>,
    /// Number of records per page; as many as the service grants if `None`.
    pub page_size: Option<u32>,
    /// The rate of the context if `None`.
    pub rate: Option<Speed>,
    pub options: ExportOptions,
}

impl ExportRequest {
    /// Returns a request for each file.
    ///
    /// # Errors
    /// If a part of the request can't be carried out, before anything is requested.
    pub fn by_file(&self) -> Result<Vec<ExportRequest>, Error> {
        let has_kind = |path: &Option<PathBuf>| path.as_ref().is_some_and(|path| path.to_string_lossy().contains(KIND));
        let is_several = self.records.len() > 1;
        for (index, name) in self.records.iter().enumerate() {
            if self.records[..index].contains(name) {
                return Err(Error::invalid(format!("{name} are named twice"), "name each list once"));
            }
            source(self, name)?;
        }
        if self.lines {
            check_lines(self)?;
        }
        if is_several && self.template.is_some() {
            let message = "an export template is for one list";
            return Err(Error::invalid(message, "leave out --template, or export each list by a command of its own"));
        }
        let with = |records: &[&'static str]| ExportRequest {
            records: records.to_vec(),
            is_part: is_several && records.len() == 1,
            ..self.clone()
        };
        if !is_several {
            return Ok(vec![with(&self.records)]);
        }
        let has_sheets = |path: &Option<PathBuf>| path.as_deref().and_then(FileFormat::of) == Some(FileFormat::Xlsx);
        let has_tables =
            |path: &Option<PathBuf>| path.as_deref().and_then(Format::of).is_some_and(Format::has_several_tables);
        let each_has_its_own = has_kind(&self.output);
        if !each_has_its_own && !has_tables(&self.output) {
            let message = "several lists need a workbook or a database, or a file each";
            return Err(Error::invalid(message, "write to a file such as all.xlsx, all.db or '{kind}.csv'"));
        }
        let shares_changes = self.changes.is_some() && !has_kind(&self.changes);
        if shares_changes && (each_has_its_own || !has_sheets(&self.changes)) {
            let message = "the changes of several lists need a file each";
            return Err(Error::invalid(message, "name it by {kind}, as in 'changes-{kind}.csv'"));
        }
        Ok(match each_has_its_own {
            true => self.records.iter().map(|name| with(&[name])).collect(),
            false => vec![with(&self.records)],
        })
    }
}

/// Returns the export template of the request with its columns, conditions and order.
pub(super) fn chosen_template(request: &ExportRequest, records: &str) -> Result<Option<Template>, Error> {
    let loaded = request.template.as_ref().map(|path| load_template(path, records)).transpose()?;
    let fields = source(request, records)?.fields();
    let chosen = request.choice.of(loaded, fields).map_err(|error| Error::invalid(error.message, error.hint))?;
    let exploded = chosen.as_ref().and_then(|template| {
        let explode = request.options.explode.as_deref().or(template.explode.as_deref())?;
        Some((template.decides_by_row(explode)?.to_owned(), explode))
    });
    if let Some((field, explode)) = exploded {
        let message =
            format!("conditions and the order are about whole records, but {field} differs in each row of {explode}");
        return Err(Error::invalid(message, "select and sort these rows in the program that reads the file"));
    }
    Ok(chosen)
}

/// Refuses `--lines` where it is not possible.
fn check_lines(request: &ExportRequest) -> Result<(), Error> {
    if !request.records.contains(&order::SINGLE.name) {
        return Err(Error::invalid("--lines is for orders; other lists have no lines", "leave out --lines"));
    }
    if request.ids.is_some() {
        return Err(Error::invalid("orders that are exported by id have their lines", "leave out --lines"));
    }
    if request.changes.is_some() {
        let message = "--changes compares the entries of the list, which have no lines";
        return Err(Error::invalid(
            message,
            "list the changes of an export without --lines, to a file of another name",
        ));
    }
    Ok(())
}

/// Returns the paths by which each listed record is requested again.
pub(super) fn details(request: &ExportRequest, records: &str) -> Result<Option<&'static Single>, Error> {
    if !request.lines || records != order::SINGLE.name {
        return Ok(None);
    }
    match source(request, records)? {
        Source::List(list) if list.family == Family::Public => Ok(Some(&order::SINGLE)),
        _ => {
            let message = "--lines needs the public family, which has orders by id";
            Err(Error::invalid(message, "leave out --family or --lines"))
        }
    }
}

/// Returns the name of the link to the newest file.
pub(super) fn latest(request: &ExportRequest, output: &Output, records: &str) -> Result<Option<String>, Error> {
    let Some(path) = &request.latest else { return Ok(None) };
    let is_dated =
        matches!(output, Output::File { pattern, .. } if export::has_date(pattern) || export::has_time(pattern));
    let name = path.to_str().unwrap_or_default();
    if ObjectAddress::is_meant(path) {
        let message = "--latest is a symbolic link, which object storage does not have";
        return Err(Error::invalid(message, "leave out --latest"));
    }
    if !is_dated {
        let message = "--latest needs {date} or {time} in the name of the file";
        return Err(Error::invalid(message, "name it like 'items-{date}.csv'"));
    }
    if name.is_empty() || name.contains(TIME) || name.contains(DATE) {
        let message = format!("--latest {} is not the name of a link to the newest file", path.display());
        return Err(Error::invalid(message, "give it a name without {date} and {time}"));
    }
    if request.is_part && !name.contains(KIND) {
        let message = "the links of several lists need a name each";
        return Err(Error::invalid(message, "name it by {kind}, as in 'latest-{kind}.csv'"));
    }
    Ok(Some(name.replace(KIND, records)))
}

pub(super) fn source(request: &ExportRequest, name: &str) -> Result<Source, Error> {
    if let Some(ids) = &request.ids {
        let single = SINGLES.into_iter().find(|single| single.name == name).ok_or_else(|| {
            let hint = "leave out --ids; only transactions, orders and inventories can be exported by id";
            Error::invalid(format!("{name} can't be exported by id"), hint)
        })?;
        if ids.external && !single.has_external_id {
            let hint = "leave out --external and use the service's ids";
            return Err(Error::invalid(format!("{name} have no external ids in the service"), hint));
        }
        let file = IdFile { path: ids.path.clone(), column: ids.column.clone() };
        return Ok(Source::Ids { single, file, by_external_id: ids.external });
    }
    let mut lists = LISTS.into_iter().filter(|list| list.name == name).peekable();
    if lists.peek().is_none() {
        let hint = "give a spreadsheet with their ids: --ids FILE --column COLUMN";
        return Err(Error::invalid(format!("the service has no list of {name}"), hint));
    }
    let list = lists.find(|list| request.family.is_none_or(|family| list.family == family));
    let list =
        list.ok_or_else(|| Error::invalid(format!("this path family has no list of {name}"), "leave out --family"))?;
    Ok(Source::List(list))
}

fn load_template(path: &Path, records: &str) -> Result<Template, Error> {
    let unreadable = |reason: String| {
        let message = format!("the export template {} can't be read: {reason}", path.display());
        Error::invalid(message, "check its name, and that it is a text file")
    };
    let source = read_text(path).map_err(|error| unreadable(error.to_string()))?;
    let template = template::load(&path.display().to_string(), &source, &EXPORTABLE)?;
    match &template.record {
        Some(record) if record != records => {
            let message = format!("the export template {} is for {record}", path.display());
            Err(Error::invalid(message, format!("export {record} with it, or use another template")))
        }
        _ => Ok(template),
    }
}
