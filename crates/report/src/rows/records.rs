//! Planned records and their outcomes.

use std::collections::{BTreeMap, BTreeSet};

use sheetport_ledger::{
    self as ledger, BLOCK_LEN, Disposition, Ledger, Outcome, PlannedRecord, Problem, RecordState, RunId, Seq,
};

/// Maximum number of blocks per query.
const MAX_BLOCKS: u32 = 8;

/// A record of a run and its outcome.
#[derive(Clone, Debug)]
pub(crate) struct RecordResult {
    /// The stored outcome, or an outcome derived from the plan.
    pub outcome: Outcome,
    /// Identifies the record in the service.
    pub(super) key: Option<String>,
    /// Numbers of the rows of the record.
    pub rows: Vec<u64>,
    /// Sheet of the first row, if the run reads several sheets.
    pub sheet: String,
    /// Likely mistakes in a valid record.
    pub warnings: Vec<Problem>,
}

impl RecordResult {
    fn new(seq: Seq, record: PlannedRecord<()>, outcome: Option<Outcome>) -> RecordResult {
        let PlannedRecord { key, rows, sheet, disposition, mut warnings, .. } = record;
        let planned = Outcome::new(seq, disposition.state(), 0);
        let outcome = outcome.unwrap_or(match disposition {
            Disposition::Rejected(problems) => Outcome { problems, ..planned },
            Disposition::AcceptedEarlier(earlier) => Outcome { service_id: earlier.service_id, ..planned },
            // The template can say why it leaves a row out.
            Disposition::Skipped(_) if !warnings.is_empty() => {
                Outcome { problems: std::mem::take(&mut warnings), ..planned }
            }
            Disposition::Skipped(reason) => Outcome { problems: vec![Problem::of_skipped(reason)], ..planned },
            Disposition::Send(()) => planned,
        });
        RecordResult { outcome, key, rows, sheet, warnings }
    }

    /// Adds the result of another cell of the same row, if the cells are records of their own. The worst state counts, and
    /// every problem is kept once.
    pub(super) fn add_cell(&mut self, other: &RecordResult) {
        let (ours, theirs) = (&mut self.outcome, &other.outcome);
        if severity(theirs.state) < severity(ours.state) {
            (ours.state, ours.http_status) = (theirs.state, theirs.http_status);
        }
        ours.attempts = ours.attempts.max(theirs.attempts);
        for (ours, theirs) in [
            (&mut ours.service_id, &theirs.service_id),
            (&mut ours.ctx_id, &theirs.ctx_id),
            (&mut ours.job_id, &theirs.job_id),
        ] {
            match (ours.as_mut(), theirs) {
                (Some(ours), Some(theirs)) => ours.push_str(&format!(", {theirs}")),
                (None, theirs) => ours.clone_from(theirs),
                (Some(_), None) => {}
            }
        }
        let lists = [(&mut ours.problems, &theirs.problems), (&mut self.warnings, &other.warnings)];
        for (ours, theirs) in lists {
            ours.extend(theirs.iter().filter(|problem| !ours.contains(problem)).cloned().collect::<Vec<_>>());
        }
    }

    /// Returns the number of requests, or `None` for 0.
    pub(crate) fn attempts(&self) -> Option<u32> {
        (self.outcome.attempts > 0).then_some(self.outcome.attempts)
    }

    /// Returns the key and ids of the record. Messages of the service may quote these.
    pub(crate) fn names(&self) -> Vec<&str> {
        let Outcome { service_id, ctx_id, job_id, .. } = &self.outcome;
        [&self.key, service_id, ctx_id, job_id].into_iter().flatten().map(String::as_str).collect()
    }
}

/// Returns the rank of a state among the cells of a row: states that need attention come first.
fn severity(state: RecordState) -> usize {
    let ranks = [
        RecordState::Unknown,
        RecordState::Failed,
        RecordState::Rejected,
        RecordState::Pending,
        RecordState::Sent,
        RecordState::Unchanged,
        RecordState::Skipped,
    ];
    ranks.iter().position(|rank| *rank == state).unwrap_or(ranks.len())
}

/// Loads records with their outcomes. Reads each block of the ledger at most once.
///
/// # Errors
/// [`ledger::Error::Corrupt`] if a record does not exist.
pub(crate) async fn load(
    ledger: &Ledger,
    run: RunId,
    seqs: &BTreeSet<Seq>,
) -> Result<BTreeMap<Seq, RecordResult>, ledger::Error> {
    let mut found = BTreeMap::new();
    let mut wanted = seqs.iter().copied().peekable();
    while let (Some(first), Some(last)) = (wanted.peek().copied(), seqs.last()) {
        let missing = || ledger::Error::Corrupt(format!("run {run} has no record {first}"));
        let blocks =
            u32::try_from((last - first) / BLOCK_LEN as Seq + 1).map_or(MAX_BLOCKS, |count| count.min(MAX_BLOCKS));
        let block = ledger.records_without_bodies(run, first, blocks).await?.ok_or_else(missing)?;
        let mut outcomes = ledger.outcomes(run, first..=block.end() - 1).await?.into_iter().peekable();
        for (seq, record) in (block.first..).zip(block.records) {
            let outcome = outcomes.next_if(|(settled, _)| *settled == seq).map(|(_, outcome)| outcome);
            if wanted.next_if_eq(&seq).is_some() {
                found.insert(seq, RecordResult::new(seq, record, outcome));
            }
        }
        if wanted.peek() == Some(&first) {
            return Err(missing());
        }
    }
    Ok(found)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use sheetport_ledger::{NewRun, RunCommand, RunSettings, SheetSelection};
    use sheetport_records::RecordKind;

    use sheetport_findings::{Code, SkipReason};

    use super::*;

    const RECORDS: Seq = 2_000;

    fn about() -> NewRun {
        NewRun {
            command: RunCommand::Upload,
            record: RecordKind::Item,
            template: String::new(),
            template_toml: String::new(),
            lookups: None,
            file: String::new(),
            file_hash: String::new(),
            readers: sheetport_files::readers::Readers::Everyone,
            text_form: None,
            base_url: String::new(),
            workspace: String::new(),
            sheet: SheetSelection::One(String::new()),
            header: Vec::new(),
            header_row: 1,
            columns: Vec::new(),
            name_columns: Vec::new(),
            chosen: None,
            retry_of: None,
            undo_of: None,
            options: Vec::new(),
            settings: RunSettings::default(),
        }
    }

    async fn planned(folder: &std::path::Path) -> (Ledger, RunId) {
        let ledger = Ledger::open(folder).await.unwrap();
        let mut plan = ledger.begin_plan(&about(), 1).await.unwrap();
        for seq in 0..RECORDS {
            let disposition = match seq % 3 {
                0 => Disposition::Rejected(vec![Problem::of_record(Code::Blank, seq.to_string())]),
                _ => Disposition::Skipped(SkipReason::SkipWhere),
            };
            let key = Some(seq.to_string());
            let rows = vec![seq.unsigned_abs()];
            let (sheet, warnings) = (String::new(), Vec::new());
            let record = PlannedRecord { key, target: None, rows, disposition, sheet, command: None, warnings };
            plan.add_record(record).await.unwrap();
        }
        let run = plan.finish(0).await.unwrap();
        (ledger, run)
    }

    #[tokio::test]
    async fn records_are_found_in_any_selection() {
        let folder = tempfile::tempdir().unwrap();
        let (ledger, run) = planned(folder.path()).await;
        let scattered: Vec<Seq> = (0..RECORDS).map(|place| place * 997 % RECORDS).collect();
        let in_order: Vec<Seq> = (0..RECORDS).collect();
        for seqs in [scattered, in_order] {
            for seqs in seqs.chunks(700) {
                let seqs = BTreeSet::from_iter(seqs.iter().copied());
                let found = load(&ledger, run, &seqs).await.unwrap();
                assert!(found.keys().eq(&seqs));
                for (seq, record) in found {
                    let message = record.outcome.problems.first().map(|problem| problem.message.clone());
                    let reason = Problem::of_skipped(SkipReason::SkipWhere).message;
                    assert_eq!(message, Some(if seq % 3 == 0 { seq.to_string() } else { reason }));
                }
            }
        }
        assert!(load(&ledger, run, &BTreeSet::from([RECORDS])).await.is_err());
        assert!(load(&ledger, run, &BTreeSet::new()).await.unwrap().is_empty());
    }
}
