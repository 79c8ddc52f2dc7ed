//! Errors of reading and planning a file.

use std::path::PathBuf;

use sheetport_ledger as ledger;
use sheetport_ledger::RunId;
use sheetport_mapping::bind::{Header, Missing, MissingColumn, Reason, is_export};
use sheetport_mapping::builtin;
use sheetport_records::RecordKind;
use sheetport_sheet as sheet;
use sheetport_sheet::{UNSPLIT_HINT, is_unsplit};

use super::retry::LossyFields;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Sheet(#[from] sheet::Error),
    #[error(transparent)]
    Ledger(#[from] ledger::Error),
    #[error("{path} does not have the columns that the template {template} maps: {}", missing_columns(missing), path = path.display())]
    Columns { path: PathBuf, template: String, missing: Box<Missing> },
    #[error("{path}: {several}", path = path.display())]
    SeveralColumns { path: PathBuf, template: String, several: Box<MissingColumn> },
    #[error("{path} has {count} sheet(s), so there is no sheet {index}", path = path.display())]
    NoSuchIndex { path: PathBuf, index: usize, count: usize },
    #[error("{path} has {}{} and no rows below it", header_in(*header_row), sheet_suffix(sheet), path = path.display())]
    NoRows { path: PathBuf, sheet: Option<String>, header_row: u64 },
    #[error("{path} has no record in the rows {first}-{last}: its records are in the rows {}-{}", rows.0, rows.1, path = path.display())]
    NoChosenRows { path: PathBuf, first: u64, last: u64, rows: (u64, u64) },
    #[error("{path} has no record with the number {}", numbers.join(", "), path = path.display())]
    NoSuchNumbers { path: PathBuf, numbers: Vec<String>, records: u64, names: Vec<String> },
    #[error("{path}: the column {column}{} is blank in all {rows} rows, and the template needs a value", sheet_suffix(sheet), path = path.display())]
    BlankColumn { path: PathBuf, sheet: Option<String>, column: String, rows: u64 },
    #[error("{path}: every row is there {times} times", path = path.display())]
    Doubled { path: PathBuf, times: usize },
    #[error("{path} was changed while it was being read", path = path.display())]
    Changed { path: PathBuf },
    #[error("reading {path} ended unexpectedly", path = path.display())]
    ReaderDied { path: PathBuf },
    #[error("the sheet has more than {most} rows")]
    TooManyRows { most: u64 },
    #[error(
        "the records of this sheet do not fit in memory until their last rows are read; the limit is exceeded at row {row}"
    )]
    TooScattered { row: u64 },
    #[error("run {run} can't be retried with this report: it has too many {}", lossy_cells(*lossy))]
    TooMuchLost { run: RunId, lossy: LossyFields },
    #[error("fill_down repeats more than 4 GiB of text; the limit is exceeded at row {row}, in column {letters}")]
    FilledTooMuch { row: u64, letters: String },
    #[error("{folder}: the records to compare with the service can't be kept: {source}", folder = folder.display())]
    NotKept { folder: PathBuf, source: std::io::Error },
}

impl Error {
    pub fn hint(&self) -> Option<String> {
        match self {
            Error::Sheet(error) => error.hint(),
            Error::Ledger(error) => error.hint(),
            Error::Columns { missing, .. } => Some(match &missing.header {
                Some(header) if lacks_external_ids(missing, header) => {
                    "this is an export of a service whose list does not contain the external ids, which an upload needs to \
                     identify its items; add a column external_id with your own identifiers, or upload the sheet that the items \
                     came from"
                        .to_owned()
                }
                Some(Header { names, .. }) if matches!(&names[..], [name] if is_unsplit(name, 2)) => UNSPLIT_HINT.to_owned(),
                Some(header) if header.row == 0 => format!(
                    "the template says that the sheet has no header, and its columns are {}; name columns by letters or \
                     numbers, or change header under [sheet]",
                    header.names.join(", ")
                ),
                Some(header) => format!(
                    "the header in row {} has: {}. Use the column names of the header in the template, add optional = true to \
                     fields that may be missing, or set the row of the header under [sheet]",
                    header.row,
                    quoted_names(&header.names)
                ),
                None => "no row near the top has any of the column names; set header under [sheet] to the row number of the header"
                    .to_owned(),
            }),
            Error::SeveralColumns { template, several, .. } => {
                let is_line = matches!(several.reason, Reason::Several { is_line: true, .. });
                let field = format!("{}.{}", if is_line { "lines" } else { "fields" }, several.field);
                Some(match builtin::find(template) {
                    Some(_) => format!(
                        "write a template of your own with extends = \"{template}\", and name the right column under [{field}]: \
                         column = \"…\""
                    ),
                    None => format!("name the right column under [{field}] in the template: column = \"…\""),
                })
            }
            Error::NoSuchIndex { .. } => Some("the first sheet is 1".to_owned()),
            Error::NoRows { .. } => {
                Some("check that this is the right file and sheet; there is nothing to upload".to_owned())
            }
            Error::NoChosenRows { rows, .. } => {
                Some(format!("give rows of the sheet, as the spreadsheet program numbers them: --rows {}-{}", rows.0, rows.1))
            }
            Error::NoSuchNumbers { records: 0, .. } => Some(
                "its records have no numbers: --allow-repeat without numbers sends all of them again, and with --rows those of \
                 some rows"
                    .to_owned(),
            ),
            Error::NoSuchNumbers { records, names, .. } => Some(match records - names.len() as u64 {
                0 => format!("its records have the numbers {}", names.join(", ")),
                more => format!("its records have the numbers {} and {more} more", names.join(", ")),
            }),
            Error::BlankColumn { .. } => Some(
                "fill the column, or name another one in the template; if the field may be blank, add on_blank = \"omit\" or a default"
                    .to_owned(),
            ),
            Error::Doubled { .. } => Some(
                "if its rows were copied, remove the copies; if they are right, --allow-repeat sends them all, and so does \
                 duplicates = \"send\" in the template"
                    .to_owned(),
            ),
            Error::Changed { .. } => {
                Some("save and close it in the other program, then try again; nothing was sent".to_owned())
            }
            Error::TooManyRows { .. } => Some("split the file".to_owned()),
            Error::TooScattered { .. } => Some(
                "sort the sheet so that the rows of a record are together, and set rows = \"together\" under [group]; if this is \
                 already the case, look for extremely long cells"
                    .to_owned(),
            ),
            Error::TooMuchLost { run, lossy } => {
                let (format, extension) = match lossy {
                    LossyFields::Types | LossyFields::Both => ("a workbook", "xlsx"),
                    LossyFields::LongTexts => ("CSV", "csv"),
                };
                Some(format!("write the report as {format}: `sheetport report {run} -o report.{extension}`"))
            }
            Error::FilledTooMuch { .. } => Some(
                "the repeated cell is extremely long; correct it, or remove its column from fill_down".to_owned(),
            ),
            Error::NotKept { .. } => Some("free some disk space, and try again".to_owned()),
            Error::ReaderDied { .. } => {
                Some("this is a bug in sheetport; please report it, with the file if you may share it".to_owned())
            }
        }
    }
}

fn lossy_cells(lossy: LossyFields) -> &'static str {
    match lossy {
        LossyFields::Types => "numbers and dates for a text file",
        LossyFields::Both => "numbers, dates and long texts for a text file",
        LossyFields::LongTexts => "values that a workbook may lose when another program saves it",
    }
}

fn lacks_external_ids(missing: &Missing, header: &Header) -> bool {
    missing.columns.iter().any(|column| column.field == "externalId") && is_export(RecordKind::Item, &header.names)
}

fn missing_columns(missing: &Missing) -> String {
    if missing.columns.is_empty() {
        return "no header was found".to_owned();
    }
    missing.described().collect::<Vec<_>>().join("; ")
}

/// Describes the position of a header. Row 0 means no header.
fn header_in(row: u64) -> String {
    if row == 0 { "no header".to_owned() } else { format!("a header in row {row}") }
}

fn sheet_suffix(sheet: &Option<String>) -> String {
    sheet.as_ref().map(|name| format!(" of the sheet '{name}'")).unwrap_or_default()
}

fn quoted_names(names: &[String]) -> String {
    const SHOWN: usize = 30;
    const LONGEST: usize = 100;
    let names: Vec<&str> = names.iter().map(|name| name.trim()).filter(|name| !name.is_empty()).collect();
    let quoted = |name: &&str| match name.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("'{}…'", &name[..end]),
        None => format!("'{name}'"),
    };
    let mut text = names.iter().take(SHOWN).map(quoted).collect::<Vec<_>>().join(", ");
    if names.len() > SHOWN {
        text.push_str(&format!(" and {} more", names.len() - SHOWN));
    }
    text
}
