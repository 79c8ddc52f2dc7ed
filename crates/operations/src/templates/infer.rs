//! Proposing a template for a spreadsheet.

use futures_util::future::BoxFuture;

use sheetport_infer::{self as infer, Confidence, PreviousTemplate, Proposal, Sample};
use sheetport_mapping::Template;
use sheetport_mapping::bind::HEADER_SEARCH_ROWS;
use sheetport_records::RecordKind;
use sheetport_sheet::{self as sheet, Book, Options};

use super::super::context::Context;
use super::super::error::Error;
use super::super::event::Observer;
use super::super::files::InputFile;
use super::decided::are_guesses_confirmed;
use super::known_templates::{templates_in, templates_of_runs};

/// Maximum number of sheets considered.
const MAX_SHEETS: usize = 50;

/// A spreadsheet without a template.
#[derive(Debug)]
pub struct InferRequest<'a> {
    pub file: &'a InputFile,
    /// The kind of record; if `None`, the kind that suits the sheet best, as a guess.
    pub record: Option<RecordKind>,
    /// Name or number of the sheet, or the best match if `None`.
    pub sheet: Option<&'a str>,
    pub text: Options,
    /// The number of the row with the names of the columns, or the best match if `None`.
    pub header_row: Option<u64>,
    /// How the file is read, as keys of the template.
    pub reading: Vec<(&'static str, String)>,
}

/// Proposes a template. Templates next to the file and of earlier runs serve as examples.
pub fn infer<'a>(
    context: &'a Context,
    request: &'a InferRequest<'a>,
    observer: Observer<'a>,
) -> BoxFuture<'a, Result<Proposal, Error>> {
    Box::pin(async move {
        let book = sheet::open(&request.file.path, &request.text)?;
        let earlier = |name: &str, template: &Template| {
            PreviousTemplate::new(name, template, are_guesses_confirmed(context, template))
        };
        let of_folder = templates_in(request.file.folder(), observer)
            .into_iter()
            .filter_map(|(path, template)| Some(earlier(&path.file_name()?.to_string_lossy(), &template)));
        let mut previous: Vec<_> = of_folder.collect();
        let of_runs = templates_of_runs(context, observer).await.into_iter();
        previous.extend(of_runs.map(|(run, template)| earlier(&format!("run {}", run.id), &template)));
        let mut sheets: Vec<usize> = match request.sheet {
            Some(wanted) => vec![book.find_sheet(wanted)?],
            None => (0..book.sheets().len().min(MAX_SHEETS)).collect(),
        };
        sheets.sort_by_key(|sheet| book.is_hidden(*sheet));
        let kinds = match request.record {
            Some(kind) => vec![kind],
            None => RecordKind::ALL.to_vec(),
        };
        let mut best: Option<Proposal> = None;
        for kind in kinds {
            let proposal = of_kind(kind, &book, &sheets, &previous, request)?;
            // For equal suitability, the earlier and more common kind wins.
            if best.as_ref().is_none_or(|best| suitability(&proposal) > suitability(best)) {
                best = Some(proposal);
            }
        }
        best.ok_or_else(|| sheet::Error::Empty { path: request.file.path.clone() }.into())
    })
}

/// Returns how well a proposal suits the sheet: required fields count most, unless all that was found is a guess.
fn suitability(proposal: &Proposal) -> (bool, usize) {
    let is_known = proposal.fields.iter().any(|field| field.confidence != Confidence::Guess);
    (proposal.missing.is_empty() && is_known && !proposal.is_other_kind, proposal.score())
}

/// Proposes a template for a kind of record, for the best of the sheets.
fn of_kind(
    kind: RecordKind,
    book: &Book,
    sheets: &[usize],
    previous: &[PreviousTemplate],
    request: &InferRequest<'_>,
) -> Result<Proposal, Error> {
    let name = &request.file.name;
    let is_named = book.has_named_sheets() && (book.sheets().len() > 1 || request.sheet.is_some());
    let context = |sheet: Option<String>| infer::Context {
        file: name.file_name().unwrap_or(name.as_os_str()).to_string_lossy().into_owned(),
        sheet,
        reading: request.reading.clone(),
        previous: previous.to_vec(),
        is_kind_guess: request.record.is_none(),
    };
    let sample = |sheet: usize| -> Result<Sample, Error> {
        let above = request.header_row.unwrap_or(0);
        let skipped = usize::try_from(above).unwrap_or(0).min(HEADER_SEARCH_ROWS);
        let mut rows = book.first_rows(sheet, Sample::NEEDED + skipped)?;
        rows.retain(|row| row.number >= above);
        Ok(Sample::new(rows, kind))
    };
    let mut proposals: Vec<SheetProposal> = Vec::new();
    for sheet in sheets.iter().copied() {
        let sample = sample(sheet)?;
        let context = context(book.sheets().get(sheet).filter(|_| is_named).cloned());
        let proposal = infer::propose(kind, &sample, &context);
        let has_records = sample.has_records() && !book.is_hidden(sheet);
        proposals.push(SheetProposal { sheet, has_records, proposal });
    }
    // A sheet without rows is only read if no other has any of the columns.
    let rank = |it: &&SheetProposal| (it.has_records && !it.proposal.fields.is_empty(), it.proposal.score());
    let best = proposals.iter().rev().max_by_key(rank);
    let best = best.ok_or_else(|| sheet::Error::Empty { path: request.file.path.clone() })?;
    let is_like = |other: &&SheetProposal| {
        other.sheet != best.sheet && other.has_records && other.proposal.has_columns_of(&best.proposal)
    };
    let like: Vec<&SheetProposal> = proposals.iter().filter(is_like).collect();
    let mut proposal = best.proposal.clone();
    if !like.is_empty() {
        // Without a name, the first of the sheets is read, and every check says that the others are not.
        if best.has_records && like.iter().all(|other| other.sheet > best.sheet) {
            proposal = infer::propose(kind, &sample(best.sheet)?, &context(None));
        }
        let others: Vec<String> = like.iter().map(|other| format!("'{}'", book.sheets()[other.sheet])).collect();
        let read = &book.sheets()[best.sheet];
        proposal.warnings.push(format!("only the sheet '{read}' is read: {} has the same columns", others.join(", ")));
    }
    Ok(proposal)
}

/// The proposal for one sheet of a workbook.
struct SheetProposal {
    sheet: usize,
    /// Whether the sheet is visible and has rows below the header.
    has_records: bool,
    proposal: Proposal,
}
