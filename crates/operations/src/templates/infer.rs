//! Proposing a template for a spreadsheet.

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
use super::load_template::TemplateChanges;
use crate::operation::Operation;

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
) -> Operation<'a, Proposal> {
    Box::pin(async move {
        let book = sheet::open(&request.file.path, &request.text)?;
        let earlier = |name: &str, template: &Template| {
            PreviousTemplate::new(name, template, are_guesses_confirmed(context, template))
        };
        let of_folder = templates_in(request.file.folder(), TemplateChanges::default(), observer)
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
        best_of(&Proposing { book: &book, previous: &previous, request }, &sheets)
    })
}

/// Proposes a template for the best of the sheets, as the kind of record that suits it best.
fn best_of(proposing: &Proposing<'_>, sheets: &[usize]) -> Result<Proposal, Error> {
    let Proposing { book, request, .. } = proposing;
    let kinds = match request.record {
        Some(kind) => vec![kind],
        None => RecordKind::ALL.to_vec(),
    };
    let mut by_kind: Vec<(RecordKind, Vec<SheetProposal>)> =
        kinds.iter().map(|kind| (*kind, Vec::with_capacity(sheets.len()))).collect();
    // Each sheet is read once for all kinds, and one sheet at a time, which bounds memory.
    for sheet in sheets.iter().copied() {
        let name = book.sheets().get(sheet).filter(|_| proposing.is_named()).cloned();
        for (sample, kinds) in proposing.samples(sheet, &kinds)? {
            let has_records = sample.has_records() && !book.is_hidden(sheet);
            let context = proposing.context(name.clone());
            for (kind, proposals) in by_kind.iter_mut().filter(|(kind, _)| kinds.contains(kind)) {
                let proposal = infer::propose(*kind, &sample, &context);
                proposals.push(SheetProposal { sheet, has_records, proposal });
            }
        }
    }
    let mut best: Option<Candidate<'_>> = None;
    for candidate in by_kind.iter().filter_map(|(kind, proposals)| Candidate::of(*kind, proposals)) {
        // For equal suitability, the earlier and more common kind wins.
        if best.as_ref().is_none_or(|best| suitability(&candidate.best.proposal) > suitability(&best.best.proposal)) {
            best = Some(candidate);
        }
    }
    match best {
        Some(best) => proposing.finished(&best),
        None => Err(sheet::Error::Empty { path: request.file.path.clone() }.into()),
    }
}

/// Returns how well a proposal suits the sheet: required fields count most, unless all that was found is a guess.
fn suitability(proposal: &Proposal) -> (bool, usize) {
    let is_known = proposal.fields.iter().any(|field| field.confidence != Confidence::Guess);
    (proposal.missing.is_empty() && is_known && !proposal.is_other_kind, proposal.score())
}

/// The file and what is known about it.
struct Proposing<'a> {
    book: &'a Book,
    previous: &'a [PreviousTemplate],
    request: &'a InferRequest<'a>,
}

impl Proposing<'_> {
    /// Whether the proposal names its sheet.
    fn is_named(&self) -> bool {
        self.book.has_named_sheets() && (self.book.sheets().len() > 1 || self.request.sheet.is_some())
    }

    fn context(&self, sheet: Option<String>) -> infer::Context<'_> {
        let name = &self.request.file.name;
        infer::Context {
            file: name.file_name().unwrap_or(name.as_os_str()).to_string_lossy().into_owned(),
            sheet,
            reading: &self.request.reading,
            previous: self.previous,
            is_kind_guess: self.request.record.is_none(),
        }
    }

    /// Reads the first rows of a sheet.
    fn samples(&self, sheet: usize, kinds: &[RecordKind]) -> Result<Vec<(Sample, Vec<RecordKind>)>, Error> {
        let above = self.request.header_row.unwrap_or(0);
        let skipped = usize::try_from(above).unwrap_or(0).min(HEADER_SEARCH_ROWS);
        let mut rows = self.book.first_rows(sheet, Sample::NEEDED + skipped)?;
        rows.retain(|row| row.number >= above);
        Ok(Sample::of_kinds(rows, kinds))
    }

    /// Returns the proposal for the best sheet, with a warning about other sheets with the same columns.
    fn finished(&self, candidate: &Candidate<'_>) -> Result<Proposal, Error> {
        let Candidate { kind, best, all } = candidate;
        let mut proposal = best.proposal.clone();
        let is_like = |other: &&SheetProposal| {
            other.sheet != best.sheet && other.has_records && other.proposal.has_columns_of(&best.proposal)
        };
        let like: Vec<&SheetProposal> = all.iter().filter(is_like).collect();
        if like.is_empty() {
            return Ok(proposal);
        }
        // Without a name, the first of the sheets is read, and every check says that the others are not.
        if best.has_records && like.iter().all(|other| other.sheet > best.sheet) {
            for (sample, _) in self.samples(best.sheet, &[*kind])? {
                proposal = infer::propose(*kind, &sample, &self.context(None));
            }
        }
        let others: Vec<String> = like.iter().map(|other| format!("'{}'", self.book.sheets()[other.sheet])).collect();
        let read = &self.book.sheets()[best.sheet];
        proposal.warnings.push(format!("only the sheet '{read}' is read: {} has the same columns", others.join(", ")));
        Ok(proposal)
    }
}

/// The best of the proposals for a kind of record.
struct Candidate<'p> {
    kind: RecordKind,
    best: &'p SheetProposal,
    /// One for each sheet.
    all: &'p [SheetProposal],
}

impl Candidate<'_> {
    fn of(kind: RecordKind, all: &[SheetProposal]) -> Option<Candidate<'_>> {
        // A sheet without rows is only read if no other has any of the columns.
        let rank = |it: &&SheetProposal| (it.has_records && !it.proposal.fields.is_empty(), it.proposal.score());
        let best = all.iter().rev().max_by_key(rank)?;
        Some(Candidate { kind, best, all })
    }
}

/// The proposal for one sheet of a workbook.
struct SheetProposal {
    sheet: usize,
    /// Whether the sheet is visible and has rows below the header.
    has_records: bool,
    proposal: Proposal,
}
