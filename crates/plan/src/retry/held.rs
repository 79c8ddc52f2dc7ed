//! Rows of a report that were rejected for something that the report does not show: the marks of a rich text, a formula without a value, or
//! what the other rows say. They are held back until the cell with the problem, or any cell of the row, is edited. Pure.

use std::collections::HashMap;

use sheetport_findings::{Code, Edit, Scope};
use sheetport_ledger::{HeldMark, HeldProblem, JudgedBy, Problem, RowStates, SourceRow, cell_hash};
use sheetport_mapping::Layout;
use sheetport_mapping::bind::report_column;
use sheetport_sheet::Row;

pub(super) const SEND_AS_NEW: &str = "empty its sheetport_run and sheetport_row to send it as a new row";

/// The problems for which rows of a run are held back, by the index of the row in its states.
#[derive(Debug, Default)]
pub(super) struct HeldRows(HashMap<usize, Vec<Held>>);

#[derive(Clone, Copy, Debug)]
struct Held {
    problem: HeldProblem,
    /// The value of the cell with the problem, as a hash, if that cell has to be edited.
    value: Option<u64>,
}

/// What a person has said about rejected rows.
pub(crate) struct Answers<'a> {
    /// Whether the template is another one than that of the run: it may say that a value is right.
    pub(crate) has_other_template: bool,
    /// Whether warnings were problems in the run, and are not any more.
    pub(crate) was_strict: bool,
    pub(crate) accepts: &'a [Code],
    pub(crate) allows_copies: bool,
}

impl Answers<'_> {
    /// Returns whether a row that was rejected with a problem of this code is held back.
    pub(super) fn holds(&self, code: Code) -> bool {
        let is_answered = match code {
            Code::CopiedRows | Code::Repeated | Code::Edited => self.allows_copies,
            // Whatever is right, the cells of such a row may be in the wrong places.
            _ if code.scope() == Scope::Reading => false,
            _ if code.asks().is_none() => self.has_other_template || self.was_strict,
            _ => self.has_other_template || self.accepts.contains(&code),
        };
        code.needs().is_some() && !is_answered
    }
}

impl HeldRows {
    /// Adds the problems of a row of the run.
    pub(super) fn add(&mut self, states: &RowStates, row: &SourceRow, cells: &mut Row) {
        let Some(index) = states.find(&row.sheet, row.number) else { return };
        let problems = states.held(index);
        if problems.is_empty() || cells.decode_one(&row.cells).is_none() {
            return;
        }
        let held = problems.iter().map(|problem| Held {
            problem: *problem,
            value: problem
                .column
                .filter(|_| problem.code.needs() == Some(Edit::Cell))
                .map(|column| value(cells, column)),
        });
        self.0.insert(index, held.collect());
    }

    /// Returns a problem for which the row at `index` is still held back, if any. `row` are its cells in the report, and `column` finds a
    /// column of the run there.
    pub(super) fn find(
        &self,
        index: usize,
        is_edited: bool,
        row: &Row,
        column: impl Fn(usize) -> Option<usize>,
    ) -> Option<HeldProblem> {
        let is_held = |held: &&Held| {
            let cell = held.problem.column.and_then(&column);
            let is_asked = held.problem.code.needs() == Some(Edit::Answer);
            is_asked
                || !is_edited
                || held.value.is_some_and(|before| cell.is_some_and(|cell| value(row, cell) == before))
        };
        let held = self.0.get(&index)?.iter().find(is_held)?;
        Some(HeldProblem { column: held.problem.column.and_then(column), ..held.problem })
    }
}

/// Returns the problem of a row in the report of a check or rehearsal that was rejected there, and in which what was wrong is not edited.
pub(crate) fn rejected_in_check(
    row: &Row,
    layout: &Layout,
    judged: JudgedBy<'_>,
    answers: &Answers<'_>,
) -> Option<Problem> {
    let names = &layout.header.names;
    let marks = row.get(report_column(names, "run")?).shown();
    let cells = || names[..layout.width].iter().map(String::as_str).zip(row.cells().map(|cell| cell.shown()));
    let mark = HeldMark::read(&marks).find(|mark| answers.holds(mark.code) && mark.is_of(judged, cells()))?;
    Some(Problem { row: Some(row.number), ..not_edited(HeldProblem { code: mark.code, column: None }) })
}

/// Returns the problem of a row that is held back.
pub(super) fn not_edited(HeldProblem { code, column }: HeldProblem) -> Problem {
    let anyway = match code {
        code if code.asks().is_some() => format!("--accept {code} sends it"),
        Code::Edited => "--allow-repeat sends it, in a file of its own".to_owned(),
        _ => SEND_AS_NEW.to_owned(),
    };
    let problem = match code.scope() {
        _ if code == Code::Edited => {
            Problem::of_record(code, "takes the place of a record that was sent, whatever is edited in it here")
        }
        Scope::Reading => {
            Problem::of_record(Code::AsItWas, "its cells may have shifted in the first file, and were not edited")
        }
        _ if column.is_some() => Problem::of_record(code, "was rejected, and is not edited"),
        _ => Problem::of_record(code, "was rejected, and its cells are not edited"),
    };
    Problem { column, remedy: format!("correct it; if it is right, {anyway}"), ..problem }
}

fn value(row: &Row, column: usize) -> u64 {
    cell_hash(0, &row.get(column).shown())
}
