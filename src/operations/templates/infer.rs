//! Proposing a template for a spreadsheet.

use super::super::context::Context;
use super::super::error::Error;
use super::super::event::Observer;
use super::super::files::InputFile;
use super::known_templates::{templates_in, templates_of_runs};
use crate::records::RecordKind;
use crate::sheet::{self, Options};
use crate::template::bind::HEADER_SEARCH_ROWS;
use crate::template::infer::{self, PreviousTemplate, Proposal, Sample};

/// Maximum number of sheets considered.
const MAX_SHEETS: usize = 50;

/// A spreadsheet without a template.
#[derive(Debug)]
pub struct InferRequest<'a> {
    pub file: &'a InputFile,
    pub record: RecordKind,
    /// Name or number of the sheet, or the best match if `None`.
    pub sheet: Option<&'a str>,
    pub text: Options,
    /// The number of the row with the names of the columns, or the best match if `None`.
    pub header_row: Option<u64>,
    /// How the file is read, as keys of the template.
    pub reading: Vec<(&'static str, String)>,
}

/// Proposes a template. Templates next to the file and of earlier runs serve as examples.
pub async fn infer(context: &Context, request: &InferRequest<'_>, observer: Observer<'_>) -> Result<Proposal, Error> {
    let book = sheet::open(&request.file.path, &request.text)?;
    let name = &request.file.name;
    let of_folder = templates_in(request.file.folder(), observer)
        .into_iter()
        .filter_map(|(path, template)| Some(PreviousTemplate::new(&path.file_name()?.to_string_lossy(), &template)));
    let mut earlier: Vec<_> = of_folder.collect();
    let of_runs = templates_of_runs(context, observer).await.into_iter();
    earlier.extend(of_runs.map(|(run, template)| PreviousTemplate::new(&format!("run {}", run.id), &template)));
    let sheets: Vec<usize> = match request.sheet {
        Some(wanted) => vec![book.find_sheet(wanted)?],
        None => (0..book.sheets().len().min(MAX_SHEETS)).collect(),
    };
    let is_named = book.has_named_sheets() && (book.sheets().len() > 1 || request.sheet.is_some());
    let mut best: Option<Proposal> = None;
    for sheet in sheets {
        let context = infer::Context {
            file: name.file_name().unwrap_or(name.as_os_str()).to_string_lossy().into_owned(),
            sheet: book.sheets().get(sheet).filter(|_| is_named).cloned(),
            reading: request.reading.clone(),
            previous: earlier.clone(),
        };
        let above = request.header_row.unwrap_or(0);
        let skipped = usize::try_from(above).unwrap_or(0).min(HEADER_SEARCH_ROWS);
        let mut rows = book.first_rows(sheet, Sample::NEEDED + skipped)?;
        rows.retain(|row| row.number >= above);
        let proposal = infer::propose(request.record, &Sample::new(rows, request.record), &context);
        if best.as_ref().is_none_or(|best| proposal.score() > best.score()) {
            best = Some(proposal);
        }
    }
    best.ok_or_else(|| sheet::Error::Empty { path: request.file.path.clone() }.into())
}
