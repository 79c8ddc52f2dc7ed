//! Planning the failed records of a run once more, as a run of their own.

use std::collections::HashMap;

use super::block::{Origin, SourceRow};
use super::error::Error;
use super::family::{Family, RowQuestion};
use super::open::Ledger;
use super::run::{NewRun, Run};
use super::{RunId, Seq};

impl Ledger {
    /// The records of `run` that failed and of which no other run of the family has sent a row since.
    pub async fn still_failed(&self, run: &Run, family: &Family, is_once: bool) -> Result<Vec<Seq>, Error> {
        let mut failed = self.failed(run.id, u32::MAX).await?;
        if family.runs.len() > 1 {
            let question = RowQuestion { is_once, fingerprint: &|_| 0, suspicious: &[] };
            let closed = self.row_states(run.id, family, &question).await?.closed();
            failed.retain(|seq| !closed.contains(seq));
        }
        Ok(failed)
    }

    /// Plans a run of the records `failed` of `run`, in their order, the very bytes, with their rows.
    pub async fn plan_retry(&self, run: &Run, failed: &[Seq], now: i64) -> Result<RunId, Error> {
        let places: HashMap<Seq, Seq> = failed.iter().copied().zip(0..).collect();
        let about = NewRun { command: "retry".to_owned(), retry_of: Some(run.id), ..run.about.clone() };
        let mut plan = self.begin_plan(&about, now).await?;
        let mut from = 0;
        while let Some(block) = self.source_block(run.id, from).await? {
            from = block.end();
            for row in block.rows() {
                let Some(place) = places.get(&row.seq) else { continue };
                let (cells, sheet) = (row.cells.into_owned().into(), row.sheet.into_owned().into());
                plan.row(SourceRow { number: row.number, seq: *place, cells, sheet, origin: Origin::Same }).await?;
            }
        }
        let mut next = 0;
        while let Some(seq) = failed.get(next) {
            let missing = || Error::Corrupt(format!("run {} has no record {seq}", run.id));
            let block = self.record_block_of(run.id, *seq).await?.ok_or_else(missing)?;
            for (seq, record) in (block.first..).zip(block.records) {
                if failed.get(next) == Some(&seq) {
                    plan.record(record).await?;
                    next += 1;
                }
            }
            if failed.get(next) == Some(seq) {
                return Err(missing());
            }
        }
        Ok(plan.finish(run.about.header.len()).await?.run)
    }

    /// The run that sends the failed records of `run` again, if there is one.
    pub async fn retried_by(&self, run: RunId) -> Result<Option<RunId>, Error> {
        let query = "SELECT MAX(id) FROM run WHERE retry_of = $1 AND state <> 'planning'";
        Ok(sqlx::query_scalar(query).bind(run).fetch_one(&self.reader).await?)
    }

    /// Runs of the same file, kind, service and workspace that were planned in full, the newest first.
    pub async fn runs_of_file(&self, about: &NewRun) -> Result<Vec<RunId>, Error> {
        let query = "SELECT id FROM run WHERE file_hash = $1 AND record = $2 AND base_url = $3 AND workspace = $4 \
                     AND sheet = $5 AND state <> 'planning' ORDER BY id DESC";
        let runs = sqlx::query_scalar(query)
            .bind(&about.file_hash)
            .bind(&about.record)
            .bind(&about.base_url)
            .bind(&about.workspace)
            .bind(&about.sheet);
        Ok(runs.fetch_all(&self.reader).await?)
    }
}
