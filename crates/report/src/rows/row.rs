//! Rows of a report: the source cells, the record's outcome, and the problems as text.

use std::borrow::Cow;

use sheetport_files::visible::one_line;
use sheetport_language::{Language, say_in};
use sheetport_ledger::{
    self as ledger, BelowMark, CHECK, HeldMark, JudgedBy, Ledger, Problem, REHEARSAL, RecordState, Run, RunCommand,
    SourceRow,
};
use sheetport_sheet::{Cell, RESERVED_PREFIX, ReportWords, Row, column_letters};

use super::super::error::Error;
use super::super::options::RowFilter;
use super::records::RecordResult;
use super::supplier::{INTERNAL_COLUMNS, Supplier};
use super::translator::Translator;
use super::windows;

/// Maximum length of a value within a message, in characters.
const MAX_VALUE: usize = 60;

/// Added columns without the prefix `sheetport_`: first the columns in front of the sheet's columns, then the columns after.
pub const COLUMNS: [&str; 12] = [
    "status",
    "errors",
    "warnings",
    "field",
    "service_id",
    "ctx_id",
    "job_id",
    "http_status",
    "attempts",
    SHEET,
    "row",
    "run",
];

/// Number of columns in front of the sheet's columns.
pub const COLUMNS_IN_FRONT: usize = 3;
/// Indexes into [`COLUMNS`].
pub(crate) const STATUS: usize = 0;
pub(crate) const ERRORS: usize = 1;
pub(crate) const WARNINGS: usize = 2;

/// Present only if the run read several sheets.
const SHEET: &str = "sheet";

/// The run of a report, reduced to the data that the readers may see.
pub(crate) struct Subject<'a> {
    pub run: Cow<'a, Run>,
    /// Identifies the run in the report.
    token: String,
    supplier: Option<Supplier>,
    words: &'a ReportWords,
    /// The language of sentences: that of the words, or English.
    pub language: Language,
}

impl<'a> Subject<'a> {
    pub(crate) fn new(run: &'a Run, is_for_supplier: bool, words: &'a ReportWords) -> Subject<'a> {
        // Checks and rehearsals are not stored in the ledger, so their number could belong to another run.
        let token = match run.about.command {
            RunCommand::Check => String::new(),
            RunCommand::Rehearse => REHEARSAL.to_owned(),
            RunCommand::Upload | RunCommand::Retry | RunCommand::Undo => run.token(),
        };
        let supplier = is_for_supplier.then(|| Supplier::of(run));
        let mut run = supplier.as_ref().map_or(Cow::Borrowed(run), |supplier| Cow::Owned(supplier.run(run)));
        let language = Language::of(words.language());
        if !language.is_english() {
            let run = run.to_mut();
            let mut translator = Translator::new(language);
            run.warnings.iter_mut().for_each(|warning| translator.problem(warning));
            run.stopped_why = run.stopped_why.as_deref().map(|why| language.message(why).into_owned());
        }
        Subject { run, token, supplier, words, language }
    }

    /// Returns the name of the run for a row with these problems. No ledger has the rows of checks and rehearsals, so the name says which
    /// cells have to be edited before the row is sent, and to which row it belongs if it has no name itself.
    fn token_of(&self, faults: &[Fault<'_>], cells: &Row, source: &SourceRow, record: &RecordResult) -> Cow<'_, str> {
        let name = match self.run.about.command {
            RunCommand::Check => CHECK,
            RunCommand::Rehearse => REHEARSAL,
            RunCommand::Upload | RunCommand::Retry | RunCommand::Undo => return Cow::Borrowed(&self.token),
        };
        let mark = |fault: &Fault<'_>| {
            let cells = cells.cells().map(|cell| cell.shown());
            let names = self.run.about.header.iter().map(String::as_str).chain(std::iter::repeat(""));
            let cells = names.zip(cells);
            HeldMark::new(fault.problem.code, JudgedBy::from(&*self.run), fault.problem.column, cells)
        };
        let below = record.rows.first().filter(|first| **first != source.number && self.is_nameless(cells));
        let marks = faults.iter().filter_map(mark).map(|mark| mark.to_string());
        let marks: Vec<String> = marks.chain(below.map(|first| BelowMark(*first).to_string())).collect();
        match marks.is_empty() {
            true => Cow::Borrowed(&self.token),
            false => Cow::Owned(format!("{name} {}", marks.join(" "))),
        }
    }

    /// Whether the cell that names the record of a row is blank.
    fn is_nameless(&self, cells: &Row) -> bool {
        self.run.about.name_column().is_some_and(|column| cells.get(column).is_blank())
    }

    /// Returns the titles of all columns.
    pub(crate) fn header(&self) -> Vec<String> {
        let mut ours: Vec<String> = report_columns(&self.run, self.supplier.is_some())
            .into_iter()
            .map(|title| self.words.title(&title).to_owned())
            .collect();
        let behind = ours.split_off(COLUMNS_IN_FRONT);
        ours.into_iter().chain(self.run.about.header.iter().cloned()).chain(behind).collect()
    }
}

/// A row of the sheet and its outcome.
pub(crate) struct ReportRow<'a> {
    pub run: &'a Run,
    pub source: &'a SourceRow,
    /// The original cells, padded to the length of the header.
    pub cells: &'a Row,
    pub record: &'a RecordResult,
    /// Identifies the run in the report, and what has to be edited in a row of a run that no ledger has.
    pub token: Cow<'a, str>,
    pub is_for_supplier: bool,
    pub words: &'a ReportWords,
    pub language: Language,
    /// Problems of this row. Problems of the record's other rows are reported there.
    pub faults: Vec<Fault<'a>>,
    /// Warnings of this row.
    pub warnings: Vec<Fault<'a>>,
}

/// A problem or a warning, prepared for the report.
pub(crate) struct Fault<'a> {
    pub problem: &'a Problem,
    /// Zero-based original column.
    pub column: Option<usize>,
    /// The column, the problem and the remedy.
    pub words: String,
}

/// The texts of a row in the added columns.
pub(crate) struct Texts<'a> {
    /// All problems.
    pub errors: String,
    /// All warnings.
    pub warnings: String,
    /// The fields with problems or warnings.
    pub fields: String,
    /// Ids given by the service.
    ids: [Cow<'a, str>; 3],
}

/// Returns the English titles of the added columns.
pub(crate) fn report_columns(run: &Run, is_for_supplier: bool) -> Vec<String> {
    let names = COLUMNS.iter().filter(|name| run.about.reads_several_sheets() || **name != SHEET);
    let names = names.filter(|name| !is_for_supplier || !INTERNAL_COLUMNS.contains(name));
    names.map(|name| format!("{RESERVED_PREFIX}{name}")).collect()
}

/// Calls `take` for each included row, in sheet order, and returns the number of rows.
pub(crate) async fn each_row(
    ledger: &Ledger,
    subject: &Subject<'_>,
    filter: RowFilter,
    mut take: impl FnMut(&ReportRow<'_>) -> Result<(), Error>,
) -> Result<u64, Error> {
    let run = &*subject.run;
    let is_check = run.about.command == RunCommand::Check;
    let is_for_supplier = subject.supplier.is_some();
    let language = subject.language;
    let mut translator = Translator::new(language);
    let (mut windows, reader) = windows::read(ledger, run.id);
    let mut cells = Row::default();
    let mut taken = 0;
    while let Some(window) = windows.recv().await {
        for (source, record) in window.rows() {
            let mut record = record;
            if let Some(supplier) = &subject.supplier {
                cells.decode_one(&source.cells).ok_or(Error::Corrupt(source.number))?;
                record = Cow::Owned(supplier.record(&record, &cells));
            }
            let is_warned = record.warnings.iter().any(|warning| is_of_row(warning, source));
            if !filter.includes(record.outcome.state, is_check, is_warned) {
                continue;
            }
            if translator.concerns(&record) {
                translator.record(record.to_mut());
            }
            cells.decode_one(&source.cells).ok_or(Error::Corrupt(source.number))?;
            cells.pad(run.about.header.len());
            let faults = |problems| faults(run, source, problems, language);
            let (faults, warnings) = (faults(&record.outcome.problems), faults(&record.warnings));
            let token = subject.token_of(&faults, &cells, source, &record);
            let (cells, record, words) = (&cells, &record, subject.words);
            take(&ReportRow { run, source, cells, record, token, is_for_supplier, words, language, faults, warnings })?;
            taken += 1;
        }
    }
    let ended = reader.await.map_err(|_| ledger::Error::Corrupt("reading its rows failed".to_owned()))?;
    ended?;
    Ok(taken)
}

impl ReportRow<'_> {
    /// Returns true for the first row of a record. Problems of the whole record are counted there.
    pub(crate) fn is_first(&self) -> bool {
        let is_its_sheet = self.source.sheet == self.record.sheet;
        is_its_sheet && self.record.rows.first().is_none_or(|first| *first == self.source.number)
    }

    /// Returns all problems in one text.
    pub(crate) fn errors(&self) -> String {
        if self.record.outcome.problems.is_empty() {
            return String::new();
        }
        let texts: Vec<&str> = self.faults.iter().map(|fault| fault.words.as_str()).collect();
        match self.record.outcome.problems.first().and_then(|problem| problem.row) {
            Some(row) if texts.is_empty() => say_in!(self.language, "row {row} of the same record has a problem"),
            _ => texts.join("; "),
        }
    }

    /// Returns the texts of the row for the added columns.
    pub(crate) fn texts(&self) -> Texts<'_> {
        let faults = || self.faults.iter().chain(&self.warnings);
        let mut fields: Vec<&str> =
            faults().map(|fault| fault.problem.field.as_str()).filter(|field| !field.is_empty()).collect();
        fields.dedup();
        let warnings: Vec<&str> = self.warnings.iter().map(|fault| fault.words.as_str()).collect();
        let fields = one_line(&fields.join(", ")).into_owned();
        let outcome = &self.record.outcome;
        let ids = [&outcome.service_id, &outcome.ctx_id, &outcome.job_id];
        let ids = ids.map(|id| one_line(id.as_deref().unwrap_or_default()));
        Texts { errors: self.errors(), warnings: warnings.join("; "), fields, ids }
    }

    /// Returns the cells of all columns.
    pub(crate) fn report_cells<'b>(&'b self, texts: &'b Texts<'_>) -> impl Iterator<Item = Cell<'b>> {
        let number = |number: Option<f64>| number.map_or(Cell::Blank, Cell::Number);
        let record = self.record;
        let [service_id, ctx_id, job_id] = &texts.ids;
        let sheet = self.run.about.reads_several_sheets().then_some(Cell::Text(&self.source.sheet));
        let state = self.words.state(state_name(self.run, record.outcome.state));
        let in_front = [Cell::Text(state), Cell::Text(&texts.errors), Cell::Text(&texts.warnings)];
        let behind = [
            Cell::Text(&texts.fields),
            Cell::Text(service_id),
            Cell::Text(ctx_id),
            Cell::Text(job_id),
            number(record.outcome.http_status.map(f64::from)),
            number(record.attempts().map(f64::from)),
        ];
        let behind = behind.into_iter().zip(&COLUMNS[COLUMNS_IN_FRONT..]);
        let behind = behind.filter(|(_, name)| !self.is_for_supplier || !INTERNAL_COLUMNS.contains(name));
        let behind = behind.map(|(cell, _)| cell).chain(sheet);
        let origin = [Cell::Number(self.source.number as f64), Cell::Text(&self.token)];
        in_front.into_iter().chain(self.cells.cells()).chain(behind).chain(origin)
    }
}

/// Returns the name of a state. Rows sent in a rehearsal have a different name, because an upload of the report skips rows with
/// the state `sent`.
pub(crate) fn state_name(run: &Run, state: RecordState) -> &'static str {
    match state {
        RecordState::Sent | RecordState::Unknown if run.about.command == RunCommand::Rehearse => "rehearsed",
        state => state.name(),
    }
}

fn faults<'a>(run: &Run, source: &SourceRow, problems: &'a [Problem], language: Language) -> Vec<Fault<'a>> {
    let of_row = problems.iter().filter(|problem| is_of_row(problem, source));
    let fault = |problem| Fault { problem, column: column_of(problem, run), words: in_words(problem, run, language) };
    of_row.map(fault).collect()
}

fn is_of_row(problem: &Problem, source: &SourceRow) -> bool {
    problem.row.is_none_or(|row| row == source.number && problem.sheet == source.sheet)
}

/// Returns the column of a problem, or else the source column of its field.
pub(crate) fn column_of(problem: &Problem, run: &Run) -> Option<usize> {
    let by_field = || run.about.columns.iter().find(|(field, _)| *field == problem.field).map(|(_, column)| *column);
    problem.column.or_else(by_field)
}

/// Names the place of a problem: the title or letters of its column, or else its field.
pub(crate) fn place_of(problem: &Problem, run: &Run, language: Language) -> String {
    let column = column_of(problem, run);
    let header = column.and_then(|column| run.about.header.get(column)).filter(|header| !header.is_empty());
    match (header, column) {
        (Some(header), _) => header.clone(),
        (None, Some(column)) => say_in!(language, "column {}", column_letters(column)),
        (None, None) => problem.field.clone(),
    }
}

/// Shortens a value for use within a message.
pub(crate) fn shortened(value: &str) -> Cow<'_, str> {
    match value.char_indices().nth(MAX_VALUE) {
        Some((end, _)) => Cow::Owned(format!("{}…", &value[..end])),
        None => Cow::Borrowed(value),
    }
}

/// Formats a problem as one sentence: the place, the problem and the remedy.
fn in_words(problem: &Problem, run: &Run, language: Language) -> String {
    let mut words = place_of(problem, run, language);
    if !problem.value.is_empty() {
        words.push_str(&say_in!(language, " '{}'", shortened(&problem.value)));
    }
    if !words.is_empty() {
        words.push(' ');
    }
    words.push_str(&problem.message);
    if !problem.remedy.is_empty() {
        words.push_str(&format!(" ({})", problem.remedy));
    }
    // Cells, and messages of the service, may hold anything.
    one_line(&words).into_owned()
}
