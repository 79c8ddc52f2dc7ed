//! Decisions about the records of a report, from the histories of the rows. Pure.
//!
//! A record with only accepted rows was accepted earlier. A record without accepted rows is decided by the cells.
//! Mixed records are sent as a whole if idempotent, and have a problem otherwise.

use std::collections::{HashMap, HashSet};

use sheetport_findings::{Code, SkipReason};
use sheetport_ledger::{AcceptedEarlier, Disposition, KnownRow, Origin, Problem, RowState, Seq};
use sheetport_records::Input;

use super::history::{REORDER, ReportHistory, RowHistory, RowStatus, copied};
use crate::plan::request::Request;

pub(crate) struct Reviewer<'a> {
    history: &'a ReportHistory,
    input: &'static Input,
    /// The names of the sheets in the ledger.
    sheets: Vec<String>,
    /// For each row of the run, whether a row of the report has this origin.
    seen: Vec<bool>,
    /// Records of the run of which a row has come below another record.
    torn: HashSet<Seq>,
    /// For each row of the run, whether it is in a record with the identity that it was accepted with.
    same: Vec<bool>,
    /// Records with the identity of a row that keeps it, by its index.
    claimants: Vec<(usize, Claimant)>,
    /// Whether records are sent without the rows that the report does not have any more.
    accepts_torn: bool,
}

/// A record to be sent with the identity that another row of the run was sent with.
#[derive(Clone, Debug)]
pub(crate) struct Claimant {
    pub seq: Seq,
    /// The first row of the record.
    pub row: u64,
    pub key: String,
    /// The number of the other row.
    pub owner: u64,
}

impl<'a> Reviewer<'a> {
    pub(crate) fn new(
        history: &'a ReportHistory,
        sheets: Vec<String>,
        input: &'static Input,
        accepts: &[Code],
    ) -> Reviewer<'a> {
        Reviewer {
            history,
            input,
            sheets,
            seen: vec![false; history.states.len()],
            torn: HashSet::new(),
            same: vec![false; history.states.len()],
            claimants: Vec::new(),
            accepts_torn: accepts.contains(&Code::Torn),
        }
    }

    /// Whether the row at `index` keeps the record that it was accepted as: it has not come yet, or is not sent again, whatever its cells say.
    fn keeps(&self, index: usize) -> bool {
        let is_accepted = |row: KnownRow<'_>| matches!(row.state, RowState::Accepted(..));
        // Several records of a file with one identity are compared with each other.
        !self.same[index] && (!self.seen[index] || self.history.states.row(index).is_some_and(is_accepted))
    }

    /// Notes a record to be sent that has the identity of another row, which keeps it.
    pub(crate) fn claim(&mut self, seq: Seq, row: u64, request: &Request) {
        let states = &self.history.states;
        let identity = request.identity();
        let owner = states.accepted_with_identity(identity).find(|index| self.keeps(*index));
        if let Some((index, owner)) = owner.and_then(|index| Some((index, states.row(index)?.number))) {
            self.claimants.push((index, Claimant { seq, row, key: request.key.clone(), owner }));
        }
    }

    /// Returns the records that would overwrite what another row was sent as. Rows in the same file are duplicates, and compared already.
    pub(crate) fn overwriting(&self) -> Vec<Claimant> {
        let missing = self.claimants.iter().filter(|(index, _)| self.keeps(*index));
        missing.map(|(_, claimant)| claimant.clone()).collect()
    }

    /// Returns the problem of a row with the same origin as an earlier row of the report, and marks the row as invalid.
    pub(crate) fn check_copy(&mut self, row: &mut RowHistory) -> Option<Problem> {
        let index = row.index?;
        if !std::mem::replace(&mut self.seen[index], true) {
            return None;
        }
        (row.status, row.index) = (RowStatus::Invalid, None);
        Some(self.located(row, copied(row.number, self.history.states.row(index)?.number)))
    }

    /// Returns the problem of a row without a group name, if not part of the record above, starting with `first`.
    pub(crate) fn check_strayed(&mut self, row: &RowHistory, first: &RowHistory) -> Option<Problem> {
        let problem = row.strayed(first)?;
        self.torn.extend(row.record.map(|(record, _)| record));
        Some(self.located(row, problem))
    }

    /// Notes a row without a group name that no record stands above.
    pub(crate) fn note_torn(&mut self, row: &RowHistory) {
        self.torn.extend(row.record.map(|(record, _)| record));
    }

    /// Returns the original row of a row in the sheet `sheet`.
    pub(crate) fn origin(&self, row: &RowHistory, sheet: &str) -> Origin {
        match row.index.and_then(|index| self.history.states.row(index)) {
            Some(original) if original.number == row.number && original.sheet == sheet => Origin::Same,
            Some(original) => Origin::Row { number: original.number, sheet: original.sheet.to_owned() },
            None => Origin::New,
        }
    }

    /// Returns the decision about a record with these rows; `decision` is based on the cells alone.
    pub(crate) fn review(
        &mut self,
        decision: Disposition<()>,
        rows: &[RowHistory],
        request: &Request,
    ) -> Disposition<()> {
        let own = self.history.states.accepted_with_identity(request.identity());
        own.filter(|index| rows.iter().any(|row| row.index == Some(*index))).for_each(|index| self.same[index] = true);
        let accepted: Vec<(&RowHistory, AcceptedEarlier)> =
            rows.iter().filter_map(|row| Some((row, row.accepted()?))).collect();
        if let Some((_, first)) = accepted.first().filter(|_| accepted.len() == rows.len()) {
            return Disposition::AcceptedEarlier(first.clone());
        }
        if rows.iter().all(|row| row.status == RowStatus::Skipped) {
            return Disposition::Skipped(SkipReason::SkippedBefore);
        }
        let non_idempotent = !self.input.call(!request.target.is_empty()).is_some_and(|call| call.repeatable);
        // A row that is rejected again has its problem already.
        let is_known = |row: &&RowHistory| {
            matches!(row.status, RowStatus::NotEdited(_)) && matches!(decision, Disposition::Rejected(_))
        };
        let own = |row: &RowHistory| Some(self.located(row, row.problem()?));
        let mut problems: Vec<Problem> = rows.iter().filter(|row| !is_known(row)).filter_map(own).collect();
        problems.extend(self.torn(rows));
        let unaccepted = rows.iter().find(|row| !matches!(row.status, RowStatus::Accepted(..) | RowStatus::Invalid));
        if let (Some((row, earlier)), Some(unaccepted)) = (accepted.first(), unaccepted) {
            problems.extend(non_idempotent.then(|| self.created_again(unaccepted, row, earlier)));
        }
        if problems.is_empty() && !self.accepts_torn {
            problems.extend(self.incomplete(rows));
        }
        let is_added = rows.iter().all(|row| row.is_added);
        if is_added && problems.is_empty() && matches!(decision, Disposition::Send(())) {
            if non_idempotent {
                problems.extend(self.sent_before(rows, &request.body));
            } else if let Some(earlier) = self.accepted_as(request) {
                return Disposition::AcceptedEarlier(earlier);
            }
        }
        problems.into_iter().fold(decision, Disposition::with_problem)
    }

    /// Returns the problem of a record of which other rows are below another record.
    fn torn(&self, rows: &[RowHistory]) -> Option<Problem> {
        let row = rows.iter().find(|row| row.record.is_some_and(|(record, _)| self.torn.contains(&record)))?;
        Some(self.located(row, torn(row.number)))
    }

    /// Returns the problem of a row in an accepted record of a non-idempotent kind.
    fn created_again(&self, unaccepted: &RowHistory, row: &RowHistory, earlier: &AcceptedEarlier) -> Problem {
        let plural = self.input.plural;
        let message = format!(
            "belongs to a record whose row {} was sent in run {}; sending {plural} again creates duplicates",
            row.number, earlier.run
        );
        let remedy = "make the unsent rows a separate record".to_owned();
        self.located(unaccepted, Problem { remedy, ..Problem::of_record(Code::MadeAgain, message) })
    }

    /// Returns the accepted record with the same request, for a record added to a report. Calls with an id in the path
    /// are sent again, without effect.
    fn accepted_as(&self, request: &Request) -> Option<AcceptedEarlier> {
        if !request.target.is_empty() {
            return None;
        }
        let (run, seq) = self.history.states.accepted_as(&request.key, &request.body)?;
        Some(AcceptedEarlier { run, seq, service_id: None })
    }

    /// Returns the problem of an added record with the same request body as a record sent before.
    fn sent_before(&self, rows: &[RowHistory], body: &str) -> Option<Problem> {
        let (run, row) = self.history.states.sent_with_body(body)?;
        let message = format!("is the same as row {row} of run {run}, which was or may have been sent");
        let remedy = "delete the row; if you want a second record, upload it in a separate file".to_owned();
        Some(self.located(rows.first()?, Problem { remedy, ..Problem::of_record(Code::SentBefore, message) }))
    }

    /// Returns the problem of a record that had more rows in the run: a part of it would be created, or replace the whole.
    fn incomplete(&self, rows: &[RowHistory]) -> Option<Problem> {
        let mut present: HashMap<Seq, u32> = HashMap::new();
        for (record, _) in rows.iter().filter_map(|row| row.record) {
            *present.entry(record).or_default() += 1;
        }
        let lacking = |row: &RowHistory| {
            let (record, count) = row.record?;
            present.get(&record).copied().filter(|present| *present < count).map(|present| (present, count))
        };
        let (row, (present, count)) = rows.iter().find_map(|row| Some((row, lacking(row)?)))?;
        let message = match row.accepted() {
            Some(_) => "belongs to a record that was sent with more rows; sending it now would remove them".to_owned(),
            None => format!("belongs to a record of {count} rows in the first file, of which {present} would be sent"),
        };
        let remedy = format!(
            "copy the missing rows from the report of all rows; if they are meant to go, --accept {} sends it",
            Code::Torn
        );
        Some(self.located(row, Problem { remedy, ..Problem::of_record(Code::Torn, message) }))
    }

    /// Returns the problem with the number and sheet of the row.
    fn located(&self, row: &RowHistory, problem: Problem) -> Problem {
        let header = problem.column.map(|column| self.history.header(row.table, column).to_owned());
        let header = header.unwrap_or(problem.header);
        Problem { row: Some(row.number), sheet: self.sheets[row.table].clone(), header, ..problem }
    }
}

/// Returns the problem of a record with the first row `row`, of which rows stand below another record.
pub(crate) fn torn(row: u64) -> Problem {
    let message = "belongs to a record with rows elsewhere in the file; sending it now would remove them";
    Problem { row: Some(row), remedy: REORDER.to_owned(), ..Problem::of_record(Code::Strayed, message) }
}
