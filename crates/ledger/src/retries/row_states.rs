//! The state of each row of a run, after all runs of the family.
//!
//! Rows are followed through the runs by origin. The last run to send a row decides, except for accepted records of
//! non-idempotent kinds: these stay accepted. A million rows take about 60 MB.

use std::collections::{BTreeMap, HashMap, HashSet};

use sheetport_findings::Code;
use sheetport_sql as sql;

use super::super::database::{Ledger, to_json};
use super::super::error::{Error, corrupt};
use super::super::history::accepted::hash;
use super::super::ids::{RunId, Seq};
use super::super::records::{AcceptedEarlier, Disposition, Origin, Outcome, PlannedRecord, SourceRow};
use super::super::runs::{Family, Run};
use super::super::state::{RecordState, RunState};

/// Returns the fingerprint of a row.
type Fingerprint<'a> = Box<dyn Fn(&SourceRow) -> u32 + Send + Sync + 'a>;

/// Parameters of [`Ledger::row_states`].
pub struct RowQuery<'a> {
    /// Sending a record of this kind twice creates a duplicate.
    pub non_idempotent: bool,
    /// Whether a row that was rejected with a problem of this code is held back until it is edited.
    pub holds: &'a (dyn Fn(Code) -> bool + Sync),
    /// Returns the fingerprints of the rows of a run: the same number for two rows with equal cells, also of different runs.
    pub fingerprints: &'a (dyn Fn(&Run) -> Fingerprint<'a> + Sync),
}

/// The states of the rows of a run.
#[derive(Debug, Default)]
pub struct RowStates {
    sheets: Vec<String>,
    /// The names of columns with a record in each cell.
    cells: Vec<Box<str>>,
    /// Sorted by sheet, number and cell.
    rows: Vec<IndexedRow>,
    /// The state of each row, shared by all runs of the family.
    states: Vec<RowState>,
    /// For each state, the fingerprint of the cells that were last accepted.
    accepted_cells: Vec<u32>,
    /// For each state, the hash of the identity of the record that was last accepted.
    accepted_as: Vec<Option<i64>>,
    /// Indexes in `states` of rows added to a report.
    added: HashSet<u32>,
    /// The number of rows of each record.
    rows_per_record: Vec<u32>,
    held: HeldProblems,
    /// Hashes of non-idempotent requests, accepted or unknown, with the run and first row of each.
    bodies: HashMap<i64, (RunId, u32)>,
    /// The hash of the identity of each row's last accepted record with the index of the row, in order.
    identities: Vec<(i64, u32)>,
    /// By hash of the key: the last accepted request of idempotent records added to a report.
    accepted: HashMap<i64, AcceptedRequest>,
}

/// By sheet and number, the problems for which rows are held back.
type HeldProblems = HashMap<(u32, u32), Vec<HeldProblem>>;

/// A problem for which a row is held back until it is edited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeldProblem {
    pub code: Code,
    /// The column of the run.
    pub column: Option<usize>,
}

/// The state of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowState {
    /// Not accepted: the row was invalid, refused or never sent.
    Open,
    Skipped,
    /// Sent in this run, with an unknown result.
    Unknown(RunId),
    /// Accepted in this run, as this record.
    Accepted(RunId, Seq),
}

/// A row of the run.
#[derive(Clone, Copy, Debug)]
pub struct KnownRow<'a> {
    pub number: u64,
    pub sheet: &'a str,
    /// Whether this is one of several records in the cells of a row.
    pub is_cell: bool,
    pub state: RowState,
    /// Whether the row was added to a report.
    pub is_added: bool,
    /// The record of the row, and the number of rows of the record.
    pub record: Seq,
    pub rows_of_record: u32,
    /// Of an accepted row, the fingerprint of the cells that were last accepted; otherwise, of the cells in the run.
    pub fingerprint: u32,
    /// Whether the fingerprint is that of the cells in the run.
    pub is_as_in_run: bool,
}

#[derive(Clone, Copy, Debug)]
struct IndexedRow {
    sheet: u32,
    number: u32,
    /// From 1, or 0 if the row is the record.
    cell: u32,
    /// The index in [`RowStates::states`].
    state: u32,
    record: u32,
    fingerprint: u32,
}

#[derive(Clone, Copy, Debug)]
struct AcceptedRequest {
    body: i64,
    run: RunId,
    seq: Seq,
}

/// The result of a record in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RunResult {
    Sent,
    AcceptedEarlier,
    Failed,
    Unknown,
    Skipped,
    /// Rejected or withheld.
    NotSent,
}

impl Ledger {
    /// Returns the states of the rows of `run`. Requires the lock of the family, without pending records.
    pub async fn row_states(&self, run: RunId, family: &Family, query: &RowQuery<'_>) -> Result<RowStates, Error> {
        let mut states = RowStates::default();
        let mut rows_of_runs: HashMap<RunId, Vec<IndexedRow>> = HashMap::new();
        // Rows of pruned runs: two runs may both retry the same pruned run.
        let mut pruned: HashMap<(RunId, u32, u32, u32), u32> = HashMap::new();
        for member in family.runs.iter().filter(|member| member.state != RunState::Planning) {
            let is_wanted = member.id == run;
            let fingerprint = (query.fingerprints)(member);
            let mut rows = Vec::new();
            let mut added = HashSet::new();
            let mut from = 0;
            while let Some(block) = self.source_block(member.id, from).await? {
                from = block.end();
                for row in &block.rows {
                    let cell = row.cell.as_deref().map_or(0, |name| states.cell_index(name));
                    let known = match (member.about.retry_of, original(row)) {
                        (Some(parent), Some((sheet, number))) => {
                            let (sheet, number) = (states.sheet_index(sheet), narrow(number)?);
                            match rows_of_runs.get(&parent) {
                                Some(rows) => find(rows, sheet, number, cell).map(|found| rows[found].state),
                                None => {
                                    let place = (parent, sheet, number, cell);
                                    Some(*pruned.entry(place).or_insert_with(|| states.add()))
                                }
                            }
                        }
                        _ => None,
                    };
                    let state = known.unwrap_or_else(|| states.add());
                    if known.is_none() && member.about.retry_of.is_some() {
                        states.added.insert(state);
                        added.insert(row.seq);
                    }
                    rows.push(IndexedRow {
                        sheet: states.sheet_index(&row.sheet),
                        number: narrow(row.number)?,
                        cell,
                        state,
                        record: u32::try_from(row.seq).map_err(corrupt)?,
                        fingerprint: fingerprint(row),
                    });
                }
            }
            let (results, held) = self.run_results(member, query, &added, &mut states).await?;
            let mut rows_per_record = vec![0; results.len()];
            for row in &mut rows {
                let missing = || corrupt(format_args!("run {} has no record {}", member.id, row.record));
                let (result, identity) = *results.get(row.record as usize).ok_or_else(missing)?;
                rows_per_record[row.record as usize] += 1;
                let state = &mut states.states[row.state as usize];
                let before = *state;
                *state = after(before, result, member.id, Seq::from(row.record), query.non_idempotent);
                if *state != before && matches!(state, RowState::Accepted(..)) {
                    states.accepted_cells[row.state as usize] = row.fingerprint;
                    states.accepted_as[row.state as usize] = identity;
                }
            }
            rows.sort_unstable_by_key(IndexedRow::place);
            if is_wanted {
                (states.rows, states.rows_per_record, states.held) = (rows.clone(), rows_per_record, held);
            }
            if family.runs.iter().any(|other| other.about.retry_of == Some(member.id)) {
                rows_of_runs.insert(member.id, rows);
            }
        }
        let accepted_as = std::mem::take(&mut states.accepted_as);
        let is_accepted = |state: u32| matches!(states.states[state as usize], RowState::Accepted(..));
        let identity = |row: &IndexedRow| accepted_as[row.state as usize].filter(|_| is_accepted(row.state));
        states.identities = (0..).zip(&states.rows).filter_map(|(index, row)| Some((identity(row)?, index))).collect();
        states.identities.sort_unstable();
        Ok(states)
    }

    /// Returns the result of each record of `run` with the hash of its identity, and by sheet and number the rows that are held back until
    /// they are edited. A creation of a kind that must not be repeated has no identity.
    /// Adds the requests to `states`. `added` are the records with a row added to a report.
    async fn run_results(
        &self,
        run: &Run,
        query: &RowQuery<'_>,
        added: &HashSet<Seq>,
        states: &mut RowStates,
    ) -> Result<(Vec<(RunResult, Option<i64>)>, HeldProblems), Error> {
        let mut results = Vec::new();
        let mut held = HeldProblems::new();
        let mut from: Seq = 0;
        while let Some(block) = self.record_block(run.id, from).await? {
            from = block.end();
            let outcomes = self.outcomes(run.id, block.first..=from - 1).await?;
            for (seq, record) in block.numbered() {
                let result = run_result(record, outcomes.get(&seq), run.state);
                // A record that was created twice has the same number twice.
                let identity = if query.non_idempotent { record.target.as_deref() } else { record.identity() };
                results.push((result, identity.map(|identity| hash(&[identity]))));
                match (&record.disposition, &record.target) {
                    (Disposition::Send(body), None) if query.non_idempotent => {
                        if let (RunResult::Sent | RunResult::Unknown, Some(row)) = (result, record.rows.first()) {
                            states.bodies.entry(hash(&[body])).or_insert((run.id, narrow(*row)?));
                        }
                    }
                    (Disposition::Send(body), None) if run.about.retry_of.is_some() => {
                        let key = record.key.as_deref().map(|key| hash(&[key]));
                        // A refused or lost call may have had an effect.
                        let known = |key: &i64| added.contains(&seq) || states.accepted.contains_key(key);
                        match key {
                            Some(key) if result != RunResult::Sent => drop(states.accepted.remove(&key)),
                            Some(key) if known(&key) => {
                                let request = AcceptedRequest { body: hash(&[body]), run: run.id, seq };
                                states.accepted.insert(key, request);
                            }
                            _ => {}
                        }
                    }
                    _ => {}
                }
                // Rejected by the plan, or when it was compared with earlier runs.
                let problems = match (&record.disposition, outcomes.get(&seq)) {
                    (Disposition::Rejected(problems), _) => problems.as_slice(),
                    (_, Some(outcome)) if outcome.state == RecordState::Rejected => outcome.problems.as_slice(),
                    _ => continue,
                };
                for problem in problems.iter().filter(|problem| (query.holds)(problem.code)) {
                    let Some(row) = problem.row else { continue };
                    let place = (states.sheet_index(&problem.sheet), narrow(row)?);
                    held.entry(place).or_default().push(HeldProblem { code: problem.code, column: problem.column });
                }
            }
        }
        Ok((results, held))
    }

    /// Fills in the service ids of records accepted earlier.
    pub async fn fill_service_ids(&self, records: &mut [PlannedRecord]) -> Result<(), Error> {
        let mut by_run: BTreeMap<RunId, Vec<&mut AcceptedEarlier>> = BTreeMap::new();
        for record in records {
            if let Disposition::AcceptedEarlier(earlier) = &mut record.disposition {
                by_run.entry(earlier.run).or_default().push(earlier);
            }
        }
        let is_in = self.dialect().is_in("$2");
        let query = format!("SELECT seq, service_id FROM outcome WHERE run = $1 AND seq {is_in}");
        for (run, earlier) in by_run {
            let seqs: Vec<Seq> = earlier.iter().map(|earlier| earlier.seq).collect();
            let ids: Vec<(Seq, Option<String>)> =
                sql::query_as(query.clone()).bind(run).bind(to_json(&seqs)?).fetch_all(&self.reader).await?;
            let mut ids: HashMap<Seq, Option<String>> = ids.into_iter().collect();
            for earlier in earlier {
                earlier.service_id = match ids.remove(&earlier.seq) {
                    Some(id) => id,
                    None => self.planned_service_id(run, earlier.seq).await?,
                };
            }
        }
        Ok(())
    }

    /// Returns the service id of a record sent by a run before `run`.
    async fn planned_service_id(&self, run: RunId, seq: Seq) -> Result<Option<String>, Error> {
        let Some(block) = self.record_block_of(run, seq).await? else { return Ok(None) };
        let record = (block.first..).zip(block.records).find(|(found, _)| *found == seq);
        Ok(match record.map(|(_, record)| record.disposition) {
            Some(Disposition::AcceptedEarlier(earlier)) => earlier.service_id,
            _ => None,
        })
    }
}

impl RowStates {
    /// Returns the index of a row by sheet and number, or of the first record of a row with several records.
    pub fn find(&self, sheet: &str, number: u64) -> Option<usize> {
        let sheet = u32::try_from(self.sheets.iter().position(|known| known == sheet)?).ok()?;
        let number = u32::try_from(number).ok()?;
        let index = self.rows.partition_point(|row| row.place() < (sheet, number, 0));
        self.rows.get(index).filter(|row| (row.sheet, row.number) == (sheet, number)).map(|_| index)
    }

    /// Returns the index of the cell with this column in the row at `index`, or `None` if the cell was left out.
    pub fn find_cell(&self, index: usize, column: &str) -> Option<usize> {
        let row = self.rows.get(index)?;
        let cell = u32::try_from(self.cells.iter().position(|known| **known == *column)? + 1).ok()?;
        find(&self.rows, row.sheet, row.number, cell)
    }

    /// Returns the problems for which the row at `index` is held back until it is edited.
    pub fn held(&self, index: usize) -> &[HeldProblem] {
        let place = self.rows.get(index).map(|row| (row.sheet, row.number));
        place.and_then(|place| self.held.get(&place)).map_or(&[], Vec::as_slice)
    }

    /// Returns the row at `index`.
    pub fn row(&self, index: usize) -> Option<KnownRow<'_>> {
        let row = self.rows.get(index)?;
        let fingerprint = match self.states[row.state as usize] {
            RowState::Accepted(..) => self.accepted_cells[row.state as usize],
            _ => row.fingerprint,
        };
        Some(KnownRow {
            number: u64::from(row.number),
            is_cell: row.cell > 0,
            sheet: &self.sheets[row.sheet as usize],
            state: self.states[row.state as usize],
            is_added: self.added.contains(&row.state),
            record: Seq::from(row.record),
            rows_of_record: self.rows_per_record[row.record as usize],
            fingerprint,
            is_as_in_run: fingerprint == row.fingerprint,
        })
    }

    /// Sets sent rows to not sent, for calls that may be repeated. Skipped rows stay skipped.
    pub fn reopen(&mut self) {
        self.states.iter_mut().filter(|state| **state != RowState::Skipped).for_each(|state| *state = RowState::Open);
        self.accepted.clear();
    }

    /// Returns the number of rows in the run.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Returns the run and row of a non-idempotent request with this body, accepted or unknown.
    pub fn sent_with_body(&self, body: &str) -> Option<(RunId, u64)> {
        self.bodies.get(&hash(&[body])).map(|(run, row)| (*run, u64::from(*row)))
    }

    /// Returns the indexes of the rows that were last accepted as the record with this identity.
    pub fn accepted_with_identity(&self, identity: &str) -> impl Iterator<Item = usize> {
        let identity = hash(&[identity]);
        let from = self.identities.partition_point(|(known, _)| *known < identity);
        let rows = self.identities[from..].iter().take_while(move |(known, _)| *known == identity);
        rows.map(|(_, index)| *index as usize)
    }

    /// Returns the record with the same request, if added to a report, accepted, and the last request for the key.
    pub fn accepted_as(&self, key: &str, body: &str) -> Option<(RunId, Seq)> {
        let accepted = self.accepted.get(&hash(&[key]))?;
        (accepted.body == hash(&[body])).then_some((accepted.run, accepted.seq))
    }

    /// Returns the records of the run with a row in another state than open.
    pub(crate) fn settled_records(&self) -> HashSet<Seq> {
        let is_settled = |row: &&IndexedRow| self.states[row.state as usize] != RowState::Open;
        self.rows.iter().filter(is_settled).map(|row| Seq::from(row.record)).collect()
    }

    /// Creates states of rows, each a record, in order.
    #[cfg(any(test, feature = "testing"))]
    pub fn of(rows: &[(&str, u32, RowState)]) -> RowStates {
        let mut states = RowStates::default();
        for (record, (sheet, number, row_state)) in (0..).zip(rows) {
            let (sheet, state) = (states.sheet_index(sheet), states.add());
            states.states[state as usize] = *row_state;
            states.rows_per_record.push(1);
            let number = *number;
            states.rows.push(IndexedRow { sheet, number, cell: 0, state, record, fingerprint: 0 });
        }
        states.rows.sort_unstable_by_key(IndexedRow::place);
        states
    }

    fn sheet_index(&mut self, name: &str) -> u32 {
        let index = self.sheets.iter().position(|known| known == name).unwrap_or_else(|| {
            self.sheets.push(name.to_owned());
            self.sheets.len() - 1
        });
        u32::try_from(index).expect("a workbook has fewer than 2^32 sheets")
    }

    /// Returns the index of a cell's column, from 1.
    fn cell_index(&mut self, name: &str) -> u32 {
        let index = self.cells.iter().position(|known| **known == *name).unwrap_or_else(|| {
            self.cells.push(name.into());
            self.cells.len() - 1
        });
        u32::try_from(index + 1).expect("a sheet has fewer than 2^32 columns")
    }

    /// Adds the state of a new row and returns the index.
    fn add(&mut self) -> u32 {
        self.states.push(RowState::Open);
        self.accepted_cells.push(0);
        self.accepted_as.push(None);
        u32::try_from(self.states.len() - 1).expect("a family has fewer than 2^32 rows")
    }
}

/// Returns the state of a row after a further run.
fn after(state: RowState, result: RunResult, run: RunId, seq: Seq, non_idempotent: bool) -> RowState {
    let is_accepted = matches!(state, RowState::Accepted(..));
    match result {
        RunResult::Sent => RowState::Accepted(run, seq),
        RunResult::AcceptedEarlier if is_accepted => state,
        RunResult::AcceptedEarlier => RowState::Accepted(run, seq),
        _ if is_accepted && non_idempotent => state,
        RunResult::Unknown => RowState::Unknown(run),
        RunResult::Failed => RowState::Open,
        // A run without a request for the row does not change the service.
        RunResult::Skipped | RunResult::NotSent if is_accepted || matches!(state, RowState::Unknown(_)) => state,
        RunResult::Skipped => RowState::Skipped,
        RunResult::NotSent => RowState::Open,
    }
}

fn run_result(record: &PlannedRecord, outcome: Option<&Outcome>, run: RunState) -> RunResult {
    if outcome.is_some_and(Outcome::is_superseded) {
        return RunResult::NotSent;
    }
    match (outcome.map_or(record.disposition.state(), |outcome| outcome.state), &record.disposition) {
        (_, Disposition::AcceptedEarlier(_)) => RunResult::AcceptedEarlier,
        (RecordState::Sent | RecordState::Unchanged, _) => RunResult::Sent,
        (RecordState::Failed, _) => RunResult::Failed,
        (RecordState::Unknown, _) => RunResult::Unknown,
        (RecordState::Skipped, _) => RunResult::Skipped,
        (RecordState::Rejected, _) => RunResult::NotSent,
        (RecordState::Pending, _) if run == RunState::Withheld => RunResult::NotSent,
        // Callers ensure this can't happen. A pending record must not be sent a second time.
        (RecordState::Pending, _) => RunResult::Unknown,
    }
}

/// Returns the sheet and number of the row in the retried run, or `None` if added to the report.
fn original(row: &SourceRow) -> Option<(&str, u64)> {
    match &row.origin {
        Origin::Same => Some((&row.sheet, row.number)),
        Origin::Row { number, sheet } => Some((sheet, *number)),
        Origin::New => None,
    }
}

impl IndexedRow {
    fn place(&self) -> (u32, u32, u32) {
        (self.sheet, self.number, self.cell)
    }
}

fn find(rows: &[IndexedRow], sheet: u32, number: u32, cell: u32) -> Option<usize> {
    rows.binary_search_by_key(&(sheet, number, cell), IndexedRow::place).ok()
}

fn narrow(number: u64) -> Result<u32, Error> {
    u32::try_from(number).map_err(|_| corrupt(format_args!("the row number {number}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Asserts the state after runs 1, 2, 3 … had these results.
    #[track_caller]
    fn check(results: &[RunResult], non_idempotent: bool, expected: RowState) {
        let state = (1..)
            .zip(results)
            .fold(RowState::Open, |state, (run, result)| after(state, *result, run, 7, non_idempotent));
        assert_eq!(state, expected, "{results:?}");
    }

    #[test]
    fn a_run_that_did_not_send_a_row_keeps_its_state() {
        for non_idempotent in [false, true] {
            check(&[RunResult::Sent, RunResult::NotSent], non_idempotent, RowState::Accepted(1, 7));
            let results = [RunResult::Sent, RunResult::AcceptedEarlier, RunResult::Skipped];
            check(&results, non_idempotent, RowState::Accepted(1, 7));
            check(&[RunResult::Unknown, RunResult::NotSent], non_idempotent, RowState::Unknown(1));
            check(&[RunResult::NotSent, RunResult::Failed, RunResult::NotSent], non_idempotent, RowState::Open);
            check(&[RunResult::Failed, RunResult::Sent], non_idempotent, RowState::Accepted(2, 7));
            check(&[RunResult::Skipped], non_idempotent, RowState::Skipped);
            check(&[RunResult::AcceptedEarlier], non_idempotent, RowState::Accepted(1, 7));
            check(&[], non_idempotent, RowState::Open);
        }
    }

    #[test]
    fn only_idempotent_records_are_open_again_after_acceptance() {
        check(&[RunResult::Sent, RunResult::Failed], false, RowState::Open);
        check(&[RunResult::Sent, RunResult::Failed], true, RowState::Accepted(1, 7));
        check(&[RunResult::Sent, RunResult::Unknown], false, RowState::Unknown(2));
        check(&[RunResult::Sent, RunResult::Unknown], true, RowState::Accepted(1, 7));
    }
}
