//! Planning the failed records of a run again, as a new run.

use std::collections::HashMap;

use sheetport_sql as sql;

use super::super::database::Ledger;
use super::super::error::{Error, corrupt};
use super::super::ids::{RunId, Seq};
use super::super::records::{Origin, SourceRow};
use super::super::runs::{Family, NewRun, Run, RunCommand, RunSettings};
use super::row_states::RowQuery;

impl Ledger {
    /// Returns the failed records of `run` whose rows no other run of the family has sent since. `overwrites_newer` adds the
    /// superseded records.
    pub async fn still_failed(
        &self,
        run: &Run,
        family: &Family,
        non_idempotent: bool,
        overwrites_newer: bool,
    ) -> Result<Vec<Seq>, Error> {
        let mut failed = self.failed(run.id, u32::MAX).await?;
        if overwrites_newer {
            failed.extend(self.superseded(run.id).await?);
            failed.sort_unstable();
        }
        if family.runs.len() > 1 {
            let query = RowQuery { non_idempotent, holds: &|_| false, fingerprints: &|_| Box::new(|_| 0) };
            let settled = self.row_states(run.id, family, &query).await?.settled_records();
            failed.retain(|seq| !settled.contains(seq));
        }
        Ok(failed)
    }

    /// Plans a new run with the records `failed` of `run`: the same request bodies and rows, in order.
    pub async fn plan_retry(&self, run: &Run, settings: RunSettings, failed: &[Seq], now: i64) -> Result<RunId, Error> {
        let new_seqs: HashMap<Seq, Seq> = failed.iter().copied().zip(0..).collect();
        let about =
            NewRun { command: RunCommand::Retry, retry_of: Some(run.id), undo_of: None, settings, ..run.about.clone() };
        let mut plan = self.begin_plan(&about, now).await?;
        let mut from = 0;
        while let Some(block) = self.source_block(run.id, from).await? {
            from = block.end();
            for row in block.rows {
                if let Some(seq) = new_seqs.get(&row.seq) {
                    plan.add_row(SourceRow { seq: *seq, origin: Origin::Same, ..row }).await?;
                }
            }
        }
        let mut failed = failed.iter().copied().peekable();
        while let Some(&next) = failed.peek() {
            let missing = || corrupt(format_args!("run {} has no record {next}", run.id));
            let block = self.record_block_of(run.id, next).await?.ok_or_else(missing)?;
            for (seq, record) in (block.first..).zip(block.records) {
                if failed.next_if_eq(&seq).is_some() {
                    plan.add_record(record).await?;
                }
            }
        }
        plan.finish(run.about.header.len()).await
    }

    /// Returns the runs that were planned to take `run` back, oldest first.
    pub async fn undone_by(&self, run: RunId) -> Result<Vec<RunId>, Error> {
        let query = "SELECT id FROM run WHERE undo_of = $1 AND state <> 'planning' ORDER BY id";
        Ok(sql::query_scalar(query).bind(run).fetch_all(&self.reader).await?)
    }

    /// Returns the newest retry of `run`, if any.
    pub async fn retried_by(&self, run: RunId) -> Result<Option<RunId>, Error> {
        let query = "SELECT MAX(id) FROM run WHERE retry_of = $1 AND state <> 'planning'";
        Ok(sql::query_scalar(query).bind(run).fetch_one(&self.reader).await?)
    }
}
