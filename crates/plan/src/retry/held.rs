//! Rows of a report that were rejected for something that the report does not show: the marks of a rich text, a formula without a value, or
//! what the other rows say. They are held back until the cell with the problem, or any cell of the row, is edited. Pure.

use std::collections::HashMap;

use sheetport_findings::{Code, Edit, Scope};
use sheetport_ledger::{HeldProblem, RowStates, SourceRow};
use sheetport_sheet::Row;
use twox_hash::XxHash3_64;

/// The problems for which rows of a run are held back, by the index of the row in its states.
#[derive(Debug, Default)]
pub(super) struct HeldRows(HashMap<usize, Vec<Held>>);

#[derive(Clone, Copy, Debug)]
struct Held {
    problem: HeldProblem,
    /// The text of the cell with the problem, as a hash, if that cell has to be edited.
    text: Option<u64>,
}

/// What a person has said about rejected rows.
pub(super) struct Answers<'a> {
    /// Whether the template is another one than that of the run: it may say that a value is right.
    pub(super) has_other_template: bool,
    /// Whether warnings were problems in the run, and are not any more.
    pub(super) was_strict: bool,
    pub(super) accepts: &'a [Code],
    pub(super) allows_copies: bool,
}

impl Answers<'_> {
    /// Returns whether a row that was rejected with a problem of this code is held back.
    pub(super) fn holds(&self, code: Code) -> bool {
        let is_answered = match code {
            Code::CopiedRows | Code::Repeated => self.allows_copies,
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
            text: problem.column.filter(|_| problem.code.needs() == Some(Edit::Cell)).map(|column| text(cells, column)),
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
            !is_edited || held.text.is_some_and(|before| cell.is_some_and(|cell| text(row, cell) == before))
        };
        let held = self.0.get(&index)?.iter().find(is_held)?;
        Some(HeldProblem { column: held.problem.column.and_then(column), ..held.problem })
    }
}

fn text(row: &Row, column: usize) -> u64 {
    XxHash3_64::oneshot(row.get(column).shown().trim().as_bytes())
}
