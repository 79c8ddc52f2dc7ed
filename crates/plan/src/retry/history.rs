//! The history of each row of a report, from the report's columns and the ledger. Pure.
//!
//! The ledger decides: the status column of a report is ignored, because people sort, filter and fill columns. A row
//! with an unclear origin is a problem, never a guess.

use std::collections::HashMap;

use sheetport_checks as checks;
use sheetport_findings::Code;
use sheetport_ledger::{
    AcceptedEarlier, HeldProblem, KnownRow, Problem, RowState, RowStates, Run, RunId, Seq, SourceRow,
};
use sheetport_mapping::Template;
use sheetport_mapping::bind::report_column;
use sheetport_mapping::map::survey::Surveyor;
use sheetport_sheet::{Cell, RESERVED_PREFIX, Row};

use super::fingerprint::{CommonColumns, numbered};
use super::held::{HeldRows, SEND_AS_NEW, not_edited};
use super::lossy::{LossyFields, LossyRows};
use crate::plan::table::Table;

const RUN: &str = "run";
const ROW: &str = "row";
const SHEET: &str = "sheet";
/// The remedy for rows that were sorted away from their record.
pub(super) const REORDER: &str = "enter the name of its record, or restore the original order of the rows";

/// The run of a report and the states of its rows.
#[derive(Debug)]
pub struct ReportHistory {
    run: RunId,
    token: String,
    /// Whether the run read several sheets. Rows are then identified by sheet and number.
    has_sheets: bool,
    /// Whether the run was limited to some rows. The others stay skipped.
    has_chosen_rows: bool,
    pub(super) states: RowStates,
    /// Whether an accepted record with an added row is sent again with all rows.
    sends_whole: bool,
    held: HeldRows,
    /// The original cells of rows to be mapped again.
    lossy: LossyRows,
    /// By index, the fingerprints with cut texts, for rows with either cut or complete texts.
    cut: HashMap<usize, u32>,
    /// One entry per table of the source.
    columns: Vec<ReportColumns>,
    /// By table of the source, what the rows of the run show; empty if the run read several sheets. A report may have only its exceptions.
    shown: Vec<Shown>,
}

/// What the rows of a run show.
#[derive(Clone, Debug)]
pub(crate) struct Shown {
    pub evidence: checks::Survey,
    /// How numbers and dates are written.
    pub notation: Surveyor,
}

/// The positions of our columns in a sheet, and the columns of the run for the other columns.
#[derive(Debug)]
struct ReportColumns {
    run: Option<usize>,
    row: Option<usize>,
    sheet: Option<usize>,
    common: CommonColumns,
    /// The column of the run for each column.
    original: Vec<Option<usize>>,
    names: Vec<String>,
}

/// The history of a row of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RowHistory {
    /// The index of the sheet among the tables of the source.
    pub table: usize,
    /// The row number in the report.
    pub number: u64,
    pub status: RowStatus,
    /// Whether the row was added to this or an earlier report.
    pub is_added: bool,
    /// The index among the rows of the run.
    pub index: Option<usize>,
    /// The record in the run, and the number of rows of the record.
    pub record: Option<(Seq, u32)>,
    /// Whether the cells differ from the run, or from what was accepted since.
    pub is_edited: bool,
    /// A problem for which the row is held back.
    pub held: Option<HeldProblem>,
}

/// The treatment of a row after considering the history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RowStatus {
    /// Added to the report.
    New,
    /// Not accepted yet: decided by the cells.
    Open,
    /// Accepted in this run as this record; not sent.
    Accepted(RunId, Seq),
    /// Skipped again.
    Skipped,
    /// Sent in this run with an unknown result.
    Unknown(RunId),
    /// Held back for a problem, and not edited.
    NotEdited(HeldProblem),
    /// With an invalid origin.
    Invalid,
}

/// The origin of a row according to our columns.
#[derive(Clone, Debug, PartialEq, Eq)]
enum RowOrigin {
    New,
    Of { index: usize },
    Invalid { column: &'static str, value: String, message: String },
}

impl ReportHistory {
    /// Creates the history for a report of `run` with the sheets `tables`, read with `template`. `common` has the shared columns of each
    /// sheet.
    pub(super) fn new(
        run: &Run,
        states: RowStates,
        template: &Template,
        tables: &[Table],
        common: Vec<CommonColumns>,
        lossy: LossyFields,
    ) -> ReportHistory {
        let shown = tables.iter().filter(|_| !run.about.reads_several_sheets()).map(|table| Shown {
            evidence: checks::Survey::new(template, &table.layout),
            notation: Surveyor::new(template, &table.layout),
        });
        let shown = shown.collect();
        let header = numbered(&run.about.header);
        let columns = tables.iter().zip(common).map(|(table, common)| {
            let names = &table.layout.header.names;
            let column = |name| report_column(names, name);
            let original = |name| header.iter().position(|other| *other == name);
            let original = numbered(names).into_iter().map(original).collect();
            let names = names.clone();
            ReportColumns { run: column(RUN), row: column(ROW), sheet: column(SHEET), common, original, names }
        });
        ReportHistory {
            run: run.id,
            token: run.token(),
            has_sheets: run.about.reads_several_sheets(),
            has_chosen_rows: run.about.chosen.is_some(),
            states,
            sends_whole: template.group.is_some() && !template.record.input().must_not_repeat(),
            held: HeldRows::default(),
            lossy: LossyRows::new(lossy),
            cut: HashMap::new(),
            columns: columns.collect(),
            shown,
        }
    }

    /// Adds what a row of the run shows, with its cells in the columns of the report.
    pub(super) fn add_shown(&mut self, row: &SourceRow, cells: &mut Row, laid_out: &mut Row) {
        if self.shown.is_empty() || row.cell.is_some() || cells.decode_one(&row.cells).is_none() {
            return;
        }
        for (columns, shown) in self.columns.iter().zip(&mut self.shown) {
            laid_out.clear(row.number);
            for original in &columns.original {
                laid_out.push(original.map_or(Cell::Blank, |column| cells.get(column)));
            }
            shown.evidence.row(laid_out);
            shown.notation.notation(laid_out);
        }
    }

    /// Ends the rows of the run.
    pub(super) fn end_run(&mut self) {
        self.shown.iter_mut().for_each(|shown| shown.evidence.end_earlier_sheet());
    }

    /// Returns what the rows of the run show, for the rows of a table of the report.
    pub(crate) fn shown(&self, table: usize) -> Option<&Shown> {
        self.shown.get(table)
    }

    /// Adds the problems for which a row of the run is held back.
    pub(super) fn add_held_row(&mut self, row: &SourceRow, cells: &mut Row) {
        self.held.add(&self.states, row, cells);
    }

    /// Returns the header of a column of a sheet.
    pub(super) fn header(&self, table: usize, column: usize) -> &str {
        self.columns[table].names.get(column).map_or("", |name| name.trim())
    }

    /// Adds the original cells of a row of the run, unless the row is never mapped again. Returns false if the memory
    /// limit is exceeded.
    pub(super) fn add_lossy_row(&mut self, row: &SourceRow, of_run: &CommonColumns, cells: &mut Row) -> bool {
        let Some(index) = self.states.find(&row.sheet, row.number) else { return true };
        if row.cell.as_deref().is_some_and(|cell| self.states.find_cell(index, cell) != Some(index)) {
            // The row was added together with its first cell.
            return true;
        }
        if self.lossy.may_be_cut(&row.cells) {
            self.cut.insert(index, of_run.fingerprint_in_ledger(&row.cells, LossyFields::LongTexts, cells));
        }
        let is_mapped_again = match self.states.row(index).filter(|row| !row.is_cell).map(|row| row.state) {
            // Some of its cells may be mapped again.
            None => true,
            Some(RowState::Open | RowState::Skipped) => true,
            Some(RowState::Accepted(..)) => self.sends_whole,
            Some(RowState::Unknown(_)) => false,
        };
        !is_mapped_again || self.lossy.add(index, &row.cells, cells)
    }

    /// Writes the row into `restored` with the original cells lost in the report. Returns the number of texts changed by a
    /// spreadsheet program, or `None` without losses.
    pub(crate) fn restore(&self, table: usize, row: &RowHistory, cells: &Row, restored: &mut Row) -> Option<u64> {
        self.lossy.restore(row.index?, cells, &self.columns[table].original, restored)
    }

    /// Whether the row has neither a run nor a row number.
    pub(crate) fn is_new(&self, table: usize, row: &Row) -> bool {
        let is_blank = |column: Option<usize>| column.is_none_or(|column| row.get(column).is_blank());
        let columns = &self.columns[table];
        is_blank(columns.run) && is_blank(columns.row)
    }

    /// Returns the history of a row in the sheet `table`, and the problem with the origin, if any.
    pub(crate) fn of_row(&self, table: usize, row: &Row) -> (RowHistory, Option<Problem>) {
        let mut history = RowHistory {
            table,
            number: row.number,
            status: RowStatus::New,
            is_added: true,
            index: None,
            record: None,
            is_edited: false,
            held: None,
        };
        let columns = &self.columns[table];
        let cell = |column: Option<usize>| column.map_or(Cell::Blank, |column| row.get(column));
        match self.origin(cell(columns.run), cell(columns.row), cell(columns.sheet)) {
            RowOrigin::New => (history, None),
            RowOrigin::Of { index } => {
                let Some(known) = self.states.row(index) else { return (history, None) };
                history.index = Some(index);
                history.is_added = known.is_added;
                history.record = Some((known.record, known.rows_of_record));
                let fingerprint = columns.common.fingerprint_in_report(row);
                history.is_edited = fingerprint != known.fingerprint
                    && !(known.is_as_in_run && self.cut.get(&index) == Some(&fingerprint))
                    && self.restored_fingerprint(table, index, row) != Some(known.fingerprint);
                let in_report = |column| columns.original.iter().position(|original| *original == Some(column));
                history.held = self.held.find(index, history.is_edited, row, in_report);
                history.status = status(&known, history.held, history.is_edited, self.has_chosen_rows);
                (history, None)
            }
            RowOrigin::Invalid { column, value, message } => {
                history.status = RowStatus::Invalid;
                let problem = Problem { value, ..origin_problem(row.number, column, message) };
                (history, Some(problem))
            }
        }
    }

    /// Returns the fingerprint of the row with the original cells lost in the report, or `None` without losses.
    fn restored_fingerprint(&self, table: usize, index: usize, row: &Row) -> Option<u32> {
        let (columns, mut restored) = (&self.columns[table], Row::default());
        self.lossy.restore(index, row, &columns.original, &mut restored)?;
        Some(columns.common.fingerprint_in_report(&restored))
    }

    /// Returns the history of a cell that is a separate record. `column` is its column in the sheet `table`, called `name` in the
    /// run. `row` is the history of its row.
    pub(crate) fn of_cell(
        &self,
        row: RowHistory,
        problem: Option<Problem>,
        column: usize,
        name: &str,
    ) -> (RowHistory, Option<Problem>) {
        let Some(index) = row.index else { return (row, problem) };
        if self.columns[row.table].original.get(column).copied().flatten().is_none() {
            let history = RowHistory { status: RowStatus::Invalid, ..row };
            let message = format!("is no column of run {}, so it is not known what was sent of it", self.run);
            let problem = Problem {
                row: Some(row.number),
                column: Some(column),
                value: name.to_owned(),
                remedy: "give the column the name that it had, or send the new cells in a separate file".to_owned(),
                ..Problem::of_record(Code::Origin, message)
            };
            return (history, Some(problem));
        }
        // A cell that was blank before is a new record.
        let new = RowHistory { status: RowStatus::New, is_added: true, record: None, index: None, ..row };
        let found = self.states.find_cell(index, name).and_then(|index| Some((index, self.states.row(index)?)));
        let history = found.map_or(new, |(index, known)| RowHistory {
            index: Some(index),
            status: status(&known, row.held, row.is_edited, self.has_chosen_rows),
            is_added: known.is_added,
            record: Some((known.record, known.rows_of_record)),
            ..row
        });
        (history, problem)
    }

    fn origin(&self, run: Cell<'_>, row: Cell<'_>, sheet: Cell<'_>) -> RowOrigin {
        let invalid =
            |column, cell: Cell<'_>, message| RowOrigin::Invalid { column, value: cell.shown().into_owned(), message };
        if run.is_blank() && row.is_blank() {
            return RowOrigin::New;
        }
        if run.shown().trim() != self.token {
            return invalid(RUN, run, format!("is not {}, as in the other rows", self.token));
        }
        let sheet = if self.has_sheets { sheet.shown() } else { Default::default() };
        match row_number(row).and_then(|number| self.states.find(&sheet, number)) {
            Some(index) => RowOrigin::Of { index },
            None if self.has_sheets => {
                invalid(ROW, row, format!("is no row of the sheet '{sheet}' of run {}", self.run))
            }
            None => invalid(ROW, row, format!("is no row of run {}", self.run)),
        }
    }
}

fn status(known: &KnownRow<'_>, held: Option<HeldProblem>, is_edited: bool, has_chosen_rows: bool) -> RowStatus {
    match known.state {
        RowState::Accepted(run, seq) => RowStatus::Accepted(run, seq),
        RowState::Unknown(run) => RowStatus::Unknown(run),
        RowState::Skipped if has_chosen_rows || !is_edited => RowStatus::Skipped,
        RowState::Skipped => RowStatus::Open,
        RowState::Open => held.map_or(RowStatus::Open, RowStatus::NotEdited),
    }
}

impl RowHistory {
    /// Returns the accepted record of the row, if any.
    pub(super) fn accepted(&self) -> Option<AcceptedEarlier> {
        match self.status {
            RowStatus::Accepted(run, seq) => Some(AcceptedEarlier { run, seq, service_id: None }),
            _ => None,
        }
    }

    /// Returns the problem of a row without a group name, in a record starting with `first`, if the row was part of
    /// another record.
    pub(super) fn strayed(&self, first: &RowHistory) -> Option<Problem> {
        let is_same = self.record.is_none() || self.record == first.record;
        (!is_same).then(|| strayed_below(self.number))
    }

    /// Returns the reason for not sending the row regardless of the cells, if any.
    pub(super) fn problem(&self) -> Option<Problem> {
        match self.status {
            RowStatus::Unknown(run) => Some(Problem {
                row: Some(self.number),
                remedy: format!("look it up in the service, then run `sheetport resolve {run}`"),
                ..Problem::of_record(Code::InDoubt, format!("may have been applied in run {run}, so it is not sent"))
            }),
            RowStatus::NotEdited(held) => Some(Problem { row: Some(self.number), ..not_edited(held) }),
            _ => None,
        }
    }
}

/// Returns the problem of a row without a name that stands below another record than in the first file.
pub(super) fn strayed_below(row: u64) -> Problem {
    let message = "belongs to the record above, which is not its record in the first file";
    Problem { row: Some(row), remedy: REORDER.to_owned(), ..Problem::of_record(Code::Strayed, message) }
}

/// Returns the problem of a row with the same origin as another row.
pub(super) fn copied(row: u64, original: u64) -> Problem {
    let problem = origin_problem(row, ROW, "appears twice: this row is a copy".to_owned());
    Problem { value: original.to_string(), ..problem }
}

fn origin_problem(row: u64, column: &str, message: String) -> Problem {
    Problem {
        row: Some(row),
        field: format!("{RESERVED_PREFIX}{column}"),
        remedy: SEND_AS_NEW.to_owned(),
        ..Problem::of_record(Code::Origin, message)
    }
}

/// Parses a row number: a number in a workbook, digits in a text file.
fn row_number(cell: Cell<'_>) -> Option<u64> {
    cell.shown().trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{Just, Strategy, prop_assert_eq, prop_oneof, proptest};

    use super::*;

    const TOKEN: &str = "12-bcdfgh";

    fn history(has_sheets: bool) -> ReportHistory {
        let rows = [("", 2), ("", 5), ("North", 2), ("South", 2), ("South", 3)];
        ReportHistory {
            run: 12,
            token: TOKEN.to_owned(),
            has_sheets,
            has_chosen_rows: false,
            states: RowStates::of(&rows.map(|(sheet, number)| (sheet, number, RowState::Open))),
            sends_whole: false,
            held: HeldRows::default(),
            lossy: LossyRows::default(),
            cut: HashMap::new(),
            columns: Vec::new(),
            shown: Vec::new(),
        }
    }

    fn known(state: RowState) -> KnownRow<'static> {
        KnownRow {
            number: 2,
            sheet: "",
            is_cell: false,
            state,
            is_added: false,
            record: 0,
            rows_of_record: 1,
            fingerprint: 0,
            is_as_in_run: true,
        }
    }

    #[test]
    fn accepted_and_unknown_rows_are_never_open() {
        for (is_edited, has_chosen_rows, is_held) in (0..8).map(|bits| (bits & 1 > 0, bits & 2 > 0, bits & 4 > 0)) {
            let held = is_held.then_some(HeldProblem { code: Code::BrokenRow, column: None });
            let of = |state| status(&known(state), held, is_edited, has_chosen_rows);
            assert_eq!(of(RowState::Accepted(3, 7)), RowStatus::Accepted(3, 7));
            assert_eq!(of(RowState::Unknown(3)), RowStatus::Unknown(3));
            let left_out = if is_edited && !has_chosen_rows { RowStatus::Open } else { RowStatus::Skipped };
            assert_eq!(of(RowState::Skipped), left_out);
            let open = held.map_or(RowStatus::Open, RowStatus::NotEdited);
            assert_eq!(of(RowState::Open), open);
        }
    }

    #[test]
    fn row_numbers_may_be_numbers_or_text() {
        let history = history(false);
        let index = history.states.find("", 5).expect("row 5");
        for row in [Cell::Number(5.0), Cell::Text(" 5 ")] {
            assert_eq!(history.origin(Cell::Text(" 12-bcdfgh "), row, Cell::Blank), RowOrigin::Of { index });
        }
        for row in [Cell::Number(5.5), Cell::Number(-5.0), Cell::Boolean(true), Cell::Blank, Cell::Text("5.0")] {
            assert!(
                matches!(history.origin(Cell::Text(TOKEN), row, Cell::Blank), RowOrigin::Invalid { column: ROW, .. }),
                "{row:?}"
            );
        }
    }

    fn texts() -> impl Strategy<Value = (String, String, String)> {
        let run = prop_oneof![Just(TOKEN.to_owned()), Just(String::new()), "[0-9]{0,3}-?[a-z]{0,6}", "\\PC{0,12}"];
        let row = prop_oneof!["[0-9]{0,2}", Just("2".to_owned()), "\\PC{0,5}"];
        let sheet = prop_oneof![Just("North".to_owned()), Just("South".to_owned()), "\\PC{0,5}"];
        (run, row, sheet)
    }

    proptest! {
        /// Only the token of the run with an existing row is an origin, and only blank cells mean a new row.
        #[test]
        fn an_unclear_origin_is_invalid((run, row, sheet) in texts(), has_sheets: bool) {
            let history = history(has_sheets);
            let cell = |text| Cell::Text(text);
            let origin = history.origin(cell(&run), cell(&row), cell(&sheet));
            let of = if has_sheets { sheet.as_str() } else { "" };
            let index = row.trim().parse().ok().and_then(|number| history.states.find(of, number));
            let is_new = run.trim().is_empty() && row.trim().is_empty();
            match (is_new, index.filter(|_| run.trim() == TOKEN)) {
                (true, _) => prop_assert_eq!(origin, RowOrigin::New),
                (false, Some(index)) => prop_assert_eq!(origin, RowOrigin::Of { index }),
                (false, None) => prop_assert_eq!(matches!(origin, RowOrigin::Invalid { .. }), true),
            }
        }
    }
}
