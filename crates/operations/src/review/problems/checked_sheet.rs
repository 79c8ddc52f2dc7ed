//! A sheet checked in full, with every problem by cause and by row.

use std::sync::Arc;

use sheetport_findings::Code;
use sheetport_ledger::{AllowRepeat, Causes, Disposition, PlannedRecord, Problem, RecordState};
use sheetport_mapping::map::explain::{Explained, explain};
use sheetport_mapping::map::survey::Survey;
use sheetport_mapping::map::{Draft, RowKind};
use sheetport_mapping::{Mapper, Template};
use sheetport_plan::plan::{Batch, Known, ReadMode, ledger_problem, read_surveyed};
use sheetport_plan::{Edits, Source, Tally};
use sheetport_sheet::Row;

use super::keys_of_rows::KeysOfRows;
use crate::context::Context;
use crate::error::Error;
use crate::event::{Event, Observer};
use crate::files::Spreadsheet;
use crate::operation::Operation;
use crate::send::SendOptions;
use crate::uploads::{RetryReport, UploadedReport, open_report, uploaded_report, warn_of_changes};

/// Maximum number of problems stored with their rows. Further problems are only counted.
const MAX_PROBLEMS: usize = 2_000_000;

/// The result of reading a whole sheet.
#[derive(Clone, Debug)]
pub struct CheckedSheet {
    pub template: Arc<Template>,
    pub source: Arc<Source>,
    pub(super) known: Arc<[Known]>,
    pub tally: Tally,
    /// Problems, then warnings; within each, causes of more rows first. Causes added by a later change are last.
    pub causes: Vec<CauseOfRows>,
    pub(super) errors: Grouping,
    pub(super) warnings: Grouping,
    pub(super) keys: KeysOfRows,
    /// The rows that the template leaves out, in order.
    skipped: Arc<[u64]>,
    /// The last row of a record.
    pub(super) last_record: u64,
}

/// Finds the cause of a problem.
#[derive(Clone, Debug, Default)]
pub(super) struct Grouping {
    pub causes: Causes,
    /// Indexes in [`CheckedSheet::causes`] by the group.
    pub numbers: Vec<u32>,
}

/// Problems of several rows with the same cause.
#[derive(Clone, Debug)]
pub struct CauseOfRows {
    /// The first problem of the cause.
    pub problem: Problem,
    pub count: u64,
    /// The problems with their places, in order. There are fewer than `count` if the sheet has more than the maximum.
    pub(super) places: Vec<ProblemPlace>,
    /// Whether the records are sent nevertheless.
    pub is_warning: bool,
    /// Whether the service refused the records; the problem then has the message of the service.
    pub is_refusal: bool,
}

/// Where a problem is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ProblemPlace {
    pub row: u64,
    pub column: Option<u32>,
}

/// Checks a spreadsheet in full, without sending anything. Returns `None` as soon as `goes_on` says no.
///
/// # Errors
/// If the file can't be read with the template.
pub fn examine<'a>(
    context: &'a Context,
    input: Spreadsheet<'a>,
    goes_on: &'a (dyn Fn() -> bool + Sync),
    observer: Observer<'a>,
) -> Operation<'a, Option<CheckedSheet>> {
    Box::pin(async move {
        let edits = input.edits.clone();
        let (source, template) = open_as_upload(context, input, observer).await?;
        let source = Arc::new(source);
        let (mut errors, mut warnings, mut keys) = (Collected::default(), Collected::default(), KeysOfRows::default());
        let (mut rows, mut skipped, mut last_record) = (0, Vec::new(), 0);
        let (mut tally, known) = read_surveyed(&source, &template, ReadMode::Records, |batch| {
            if batch.restarts {
                (errors, warnings, keys, rows) = (Collected::default(), Collected::default(), KeysOfRows::default(), 0);
                skipped.clear();
            }
            rows += batch.read;
            observer(Event::Reading { rows });
            batch.records.iter().for_each(|record| keys.add(record));
            let is_skipped = |record: &&PlannedRecord| matches!(record.disposition, Disposition::Skipped(_));
            let of_records = batch.records.iter().filter(|record| is_record(record)).flat_map(|record| &record.rows);
            last_record = of_records.copied().max().unwrap_or_default().max(last_record);
            skipped.extend(batch.records.iter().filter(is_skipped).flat_map(|record| record.rows.iter().copied()));
            collect(batch, &mut errors, &mut warnings);
            goes_on()
        })?;
        if !goes_on() {
            return Ok(None);
        }
        keys.sort();
        let sheet_index = source.tables.first().map_or(0, |part| part.sheet);
        skipped.retain(|row| !edits.as_ref().is_some_and(|edits| edits.leaves_out(sheet_index, *row)));
        skipped.sort_unstable();
        warn_of_changes(context, &template, &mut tally).await?;
        tally.of_file.iter().for_each(|warning| warnings.add(warning.row.unwrap_or_default(), warning));
        observer(Event::Checked(&tally));
        let mut sheet = CheckedSheet {
            template,
            source,
            known: known.into(),
            tally,
            causes: Vec::new(),
            errors: Grouping::default(),
            warnings: Grouping::default(),
            keys,
            skipped: skipped.into(),
            last_record,
        };
        sheet.errors = sheet.take(errors, false, false);
        sheet.warnings = sheet.take(warnings, true, false);
        Ok(Some(sheet))
    })
}

/// Whether a record is more than the text of a row that is none.
fn is_record(record: &PlannedRecord) -> bool {
    match &record.disposition {
        Disposition::Rejected(problems) => problems.iter().all(|problem| problem.code != Code::NoRecord),
        Disposition::Skipped(_) => false,
        Disposition::Send(_) | Disposition::AcceptedEarlier(_) => true,
    }
}

/// Opens a file for sending. Of a report of a run, only the rows that were not accepted are read.
pub(crate) async fn open_as_upload(
    context: &Context,
    input: Spreadsheet<'_>,
    observer: Observer<'_>,
) -> Result<(Source, Arc<Template>), Error> {
    let mut source = input.open_for_sending(context)?;
    match uploaded_report(context, &input, &AllowRepeat::None, &source, &|_| {}).await? {
        UploadedReport::OfRun => {
            return open_report(context, RetryReport::of_uploaded(input, SendOptions::default()), observer).await;
        }
        UploadedReport::OfOtherService => source.ignore_status(),
        UploadedReport::No => {}
    }
    Ok((source, Arc::new(input.template)))
}

/// Problems in the order of discovery.
#[derive(Default)]
struct Collected {
    causes: Causes,
    /// By the place of the cause.
    places: Vec<Vec<ProblemPlace>>,
    count: usize,
}

impl Collected {
    fn add(&mut self, row: u64, problem: &Problem) {
        if let Some(cause) = self.causes.add(row, problem)
            && self.count < MAX_PROBLEMS
        {
            if self.places.len() <= cause {
                self.places.resize_with(cause + 1, Vec::new);
            }
            self.places[cause].push(ProblemPlace { row, column: column_of(problem) });
            self.count += 1;
        }
    }
}

fn collect(batch: Batch, errors: &mut Collected, warnings: &mut Collected) {
    for record in &batch.records {
        let first = record.rows.first().copied().unwrap_or_default();
        if let Disposition::Rejected(problems) = &record.disposition {
            problems.iter().for_each(|problem| errors.add(problem.row.unwrap_or(first), problem));
        }
        if record.is_warned() {
            record.warnings.iter().for_each(|warning| warnings.add(warning.row.unwrap_or(first), warning));
        }
    }
    for withdrawal in &batch.withdrawn {
        if withdrawal.state == RecordState::Rejected {
            errors.add(withdrawal.problem.row.unwrap_or(withdrawal.row), &withdrawal.problem);
        }
    }
}

impl CheckedSheet {
    /// Adds the refusals of the service, each with its row.
    pub fn add_refusals(&mut self, refused: &[(u64, Problem)]) {
        let mut collected = Collected::default();
        refused.iter().for_each(|(row, problem)| collected.add(*row, problem));
        self.take(collected, false, true);
    }

    fn take(&mut self, mut collected: Collected, is_warning: bool, is_refusal: bool) -> Grouping {
        let groups = collected.causes.groups();
        let first = self.causes.len();
        let mut numbers = vec![0; groups.len()];
        for (number, group) in groups.iter().enumerate() {
            numbers[group.place] = (first + number) as u32;
            let mut places = collected.places.get_mut(group.place).map(std::mem::take).unwrap_or_default();
            places.sort_unstable();
            self.causes.push(CauseOfRows {
                problem: group.problem.clone(),
                count: group.count,
                places,
                is_warning,
                is_refusal,
            });
        }
        drop(groups);
        Grouping { causes: collected.causes, numbers }
    }

    /// Returns the index of the sheet in the file.
    pub fn sheet_index(&self) -> usize {
        self.source.tables.first().map_or(0, |part| part.sheet)
    }

    /// Returns the number of the last row of the header.
    pub fn header_row(&self) -> u64 {
        self.source.tables.first().map_or(0, |part| part.layout.header.row)
    }

    /// Returns the rows whose record has this number, in order.
    pub(in crate::review) fn rows_with_key(&self, key: &str) -> Vec<u64> {
        self.keys.rows_of(key)
    }

    /// Returns the rows that are left out, by the template or by a person, in order.
    pub fn left_out(&self, edits: &Edits) -> Vec<u64> {
        let mut rows: Vec<u64> = edits.left_out(self.sheet_index()).chain(self.skipped.iter().copied()).collect();
        rows.sort_unstable();
        rows.dedup();
        rows
    }

    /// Returns the number of these rows.
    pub fn left_out_count(&self, edits: &Edits) -> usize {
        let by_person = edits.left_out(self.sheet_index()).filter(|row| self.skipped.binary_search(row).is_err());
        self.skipped.len() + by_person.count()
    }

    /// Returns the places of the problems of a cause, ordered by row.
    pub fn of_cause(&self, cause: usize) -> &[ProblemPlace] {
        self.causes.get(cause).map_or(&[], |cause| &cause.places)
    }

    /// Returns the problems of a row, each with the index of its cause, ordered by cause.
    pub fn of_row(&self, row: u64) -> impl Iterator<Item = (usize, ProblemPlace)> {
        self.causes.iter().enumerate().flat_map(move |(number, cause)| {
            let start = cause.places.partition_point(|place| place.row < row);
            let of_row = cause.places[start..].iter().take_while(move |place| place.row == row);
            of_row.map(move |place| (number, *place))
        })
    }

    /// Returns the column of a problem, or the only column of its field.
    pub fn column_of(&self, problem: &Problem) -> Option<usize> {
        let layout = &self.source.tables.first()?.layout;
        let by_field = || {
            let index = self.template.rules().position(|rule| rule.field.name == problem.field)?;
            layout.columns.get(index)?.first()
        };
        problem.column.or_else(by_field)
    }

    /// Returns the problems of a row in its current state that need no other row. Problems between rows are found by checking the
    /// whole sheet.
    pub fn verdict(&self, row: &Row) -> Vec<Problem> {
        let Some(part) = self.source.tables.first().filter(|part| part.cells.is_empty()) else { return Vec::new() };
        let survey = self.survey();
        let mapper = Mapper::new(0, &self.template, &part.layout, &survey);
        let mut draft = Draft::default();
        mapper.map(row, &mut draft);
        if draft.kind == RowKind::Record && self.template.group.is_none() {
            mapper.finish(&mut draft.gathered);
        }
        draft.gathered.problems.into_iter().map(|problem| ledger_problem(problem, &self.source)).collect()
    }

    /// Returns the values that the template makes of a row, by field.
    pub fn values(&self, row: &Row) -> Vec<Explained> {
        let Some(part) = self.source.tables.first() else { return Vec::new() };
        explain(&Mapper::new(0, &self.template, &part.layout, &self.survey()), row)
    }

    pub(super) fn survey(&self) -> Survey {
        self.known.first().map(|known| known.survey.clone()).unwrap_or_default()
    }
}

pub(super) fn column_of(problem: &Problem) -> Option<u32> {
    problem.column.and_then(|column| u32::try_from(column).ok())
}
