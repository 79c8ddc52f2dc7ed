//! What can keep a file from being planned.

use std::path::PathBuf;

use super::retry::Lost;
use crate::ledger::RunId;
use crate::records::RecordKind;
use crate::template::bind::{Header, Missing, is_export};
use crate::{ledger, sheet};

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Sheet(#[from] sheet::Error),
    #[error(transparent)]
    Ledger(#[from] ledger::Error),
    #[error("{path} does not have the columns that the template {template} maps: {}", described(missing), path = path.display())]
    Columns { path: PathBuf, template: String, missing: Box<Missing> },
    #[error("{path} has {count} sheet(s), so there is no sheet {index}", path = path.display())]
    NoSuchIndex { path: PathBuf, index: usize, count: usize },
    #[error("{path} has a header in row {header_row}{} and no rows below it", of_sheet(sheet), path = path.display())]
    NoRows { path: PathBuf, sheet: Option<String>, header_row: u64 },
    #[error("{path} was changed while it was being read", path = path.display())]
    Changed { path: PathBuf },
    #[error("the reading of {path} ended unexpectedly", path = path.display())]
    ReaderDied { path: PathBuf },
    #[error("the sheet has more than {most} rows")]
    TooManyRows { most: u64 },
    #[error("the records of this sheet are too large to be held until their last rows; this is seen at row {row}")]
    TooScattered { row: u64 },
    #[error("run {run} can't be tried again: it has too many {}", told(*lost))]
    TooMuchLost { run: RunId, lost: Lost },
    #[error("fill_down has repeated more than 4 GiB of text; this is seen at row {row}, in column {letters}")]
    FilledTooMuch { row: u64, letters: String },
}

impl Error {
    pub fn hint(&self) -> Option<String> {
        match self {
            Error::Sheet(error) => error.hint(),
            Error::Ledger(error) => error.hint(),
            Error::Columns { missing, .. } => Some(match &missing.header {
                Some(header) if lacks_external_ids(missing, header) => {
                    "this is an export of a service whose list does not show the external ids, and an upload finds its items \
                     by nothing else; add a column external_id with your own identifiers, or upload the sheet that the items \
                     came from"
                        .to_owned()
                }
                Some(header) => format!(
                    "the header in row {} has: {}. Name the column in the template as the header does, add optional = true to a \
                     field that may be missing, or set the header's row under [sheet]",
                    header.row,
                    shown(&header.names)
                ),
                None => "no row near the top has any of the names; set header under [sheet] to the header's row number"
                    .to_owned(),
            }),
            Error::NoSuchIndex { .. } => Some("the first sheet is 1".to_owned()),
            Error::NoRows { .. } => {
                Some("check that the right file and sheet were given; there is nothing to upload".to_owned())
            }
            Error::Changed { .. } => {
                Some("save and close it in the other program, then try again; nothing was sent".to_owned())
            }
            Error::TooManyRows { .. } => Some("split the file".to_owned()),
            Error::TooScattered { .. } => Some(
                "sort the sheet so that the rows of a record stand together, and write rows = \"together\" under [group]; if \
                 they do, and it says so, look for cells that are far too long"
                    .to_owned(),
            ),
            Error::TooMuchLost { run, lost } => {
                let (what, extension) = match lost {
                    Lost::Types | Lost::Both => ("a workbook", "xlsx"),
                    Lost::Ends => ("a text", "csv"),
                };
                Some(format!("have it written as {what}: `sheetport report {run} -o report.{extension}`"))
            }
            Error::FilledTooMuch { .. } => Some(
                "the cell that is repeated there is far too long; correct it, or take its column out of fill_down".to_owned(),
            ),
            Error::ReaderDied { .. } => {
                Some("this is a fault of sheetport; please report it with the file, if you may share it".to_owned())
            }
        }
    }
}

fn told(lost: Lost) -> &'static str {
    match lost {
        Lost::Types => "numbers and dates to be handed back as a text",
        Lost::Both => "numbers, dates and long texts to be handed back as a text",
        Lost::Ends => "texts that are longer than a workbook's cells to be handed back as one",
    }
}

fn lacks_external_ids(missing: &Missing, header: &Header) -> bool {
    missing.columns.iter().any(|column| column.field == "externalId") && is_export(RecordKind::Item, &header.names)
}

fn described(missing: &Missing) -> String {
    if missing.columns.is_empty() {
        return "the header can't be found".to_owned();
    }
    missing.columns.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

fn of_sheet(sheet: &Option<String>) -> String {
    sheet.as_ref().map(|name| format!(" of the sheet '{name}'")).unwrap_or_default()
}

fn shown(names: &[String]) -> String {
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
