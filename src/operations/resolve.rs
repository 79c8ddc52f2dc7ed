//! Recording what a person found out about records with an unknown outcome.

use super::context::{Context, now};
use super::error::Error;
use crate::ledger::{Ledger, LockedRun, Resolution, RunId, Seq, UnknownRecord};

/// A run whose unknown records are being resolved, under its lock.
#[derive(Debug)]
pub struct Resolving {
    ledger: Ledger,
    run: LockedRun,
    by: String,
    next: Seq,
    sent: u64,
    failed: u64,
}

/// The result of a resolution.
#[derive(Clone, Debug)]
pub struct Resolved {
    pub run: RunId,
    /// Records noted as applied.
    pub sent: u64,
    /// Records noted as not applied.
    pub failed: u64,
    /// Records whose outcome is still unknown.
    pub unknown: u64,
    /// The command that continues from here.
    pub next: Option<String>,
}

impl Resolving {
    /// Locks a run, the newest if `None`. `by` is the person who resolves its records.
    pub async fn begin(context: &Context, run: Option<RunId>, by: &str) -> Result<Resolving, Error> {
        let ledger = context.ledger().await?;
        let run = ledger.lock_run(ledger.run_or_newest(run).await?.id).await?;
        ledger.mark_in_flight_unknown(run.id()).await?;
        Ok(Resolving { ledger, run, by: by.to_owned(), next: 0, sent: 0, failed: 0 })
    }

    /// Returns how many records have an unknown outcome now.
    pub async fn unknown(&self) -> Result<u64, Error> {
        Ok(self.ledger.accounting(self.run.id()).await?.unknown)
    }

    /// Returns the next unknown records in order. Empty at the end.
    pub async fn next_records(&mut self) -> Result<Vec<UnknownRecord>, Error> {
        let records = self.ledger.unknown_records(self.run.id(), self.next).await?;
        self.next = records.last().map_or(self.next, |last| last.seq + 1);
        Ok(records)
    }

    /// Records a verdict on some of the records. It is durable when this returns.
    pub async fn record(&mut self, records: &[Seq], verdict: Resolution) -> Result<(), Error> {
        let recorded = self.ledger.resolve(self.run.id(), records, verdict, &self.by, now()).await?;
        match verdict {
            Resolution::Sent => self.sent += recorded,
            Resolution::Failed => self.failed += recorded,
        }
        Ok(())
    }

    /// Releases the lock and returns the totals.
    pub async fn finish(self) -> Result<Resolved, Error> {
        let (run, sent, failed, unknown) = (self.run.id(), self.sent, self.failed, self.unknown().await?);
        let next = match (unknown, failed) {
            (0, 0) => None,
            (0, _) => Some(format!("sheetport retry {run}")),
            _ => Some(format!("sheetport resolve {run} --sent ROWS --failed ROWS")),
        };
        self.ledger.close().await;
        Ok(Resolved { run, sent, failed, unknown, next })
    }
}
