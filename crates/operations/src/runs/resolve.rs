//! Recording a person's verdicts on records with an unknown outcome.

use sheetport_ledger::{Ledger, LockedRun, Part, Resolution, RunId, Seq, UnknownRecord};

use super::super::context::Context;
use super::super::results::next_command;
use crate::operation::Operation;

/// A locked run, for resolving unknown records.
#[derive(Debug)]
pub struct Resolving {
    context: Context,
    ledger: Ledger,
    run: LockedRun,
    by: String,
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
    /// Number of records with an unknown outcome.
    pub unknown: u64,
    /// The next command to run.
    pub next: Option<String>,
}

impl Resolving {
    /// Locks a run, the newest if `None`. `by` is the name of the resolving person.
    pub fn begin<'a>(context: &'a Context, run: Option<RunId>, by: &'a str) -> Operation<'a, Resolving> {
        Box::pin(async move {
            let ledger = context.ledger().await?;
            let run = ledger.lock_run(ledger.run_or_newest(run).await?.id).await?;
            // Excludes records that a resume can send again safely with their idempotency keys.
            let keys = context.idempotency_keys(run.run());
            ledger.settle_in_flight(Part::whole(run.id()), keys.map(|keys| keys.first_attempts(ledger.now()))).await?;
            Ok(Resolving { context: context.clone(), ledger, run, by: by.to_owned(), sent: 0, failed: 0 })
        })
    }

    /// Returns all records with an unknown outcome, in order.
    pub fn records(&self) -> Operation<'_, Vec<UnknownRecord>> {
        Box::pin(async move {
            let mut all: Vec<UnknownRecord> = Vec::new();
            loop {
                let first = all.last().map_or(0, |last| last.seq + 1);
                let block = self.ledger.unknown_records(self.run.id(), first).await?;
                if block.is_empty() {
                    return Ok(all);
                }
                all.extend(block);
            }
        })
    }

    /// Records a verdict on some of the records. The verdict is durable on return.
    pub fn record<'a>(&'a mut self, records: &'a [Seq], verdict: Resolution) -> Operation<'a, ()> {
        Box::pin(async move {
            let recorded = self.ledger.resolve(self.run.id(), records, verdict, &self.by, self.ledger.now()).await?;
            match verdict {
                Resolution::Sent => self.sent += recorded,
                Resolution::Failed => self.failed += recorded,
            }
            Ok(())
        })
    }

    /// Releases the lock and returns the totals.
    pub fn finish(self) -> Operation<'static, Resolved> {
        Box::pin(async move {
            let (run, sent, failed) = (self.run.id(), self.sent, self.failed);
            let accounting = self.ledger.accounting(run).await?;
            let next = next_command::after_resolving(&self.context, self.run.run(), &accounting);
            let unknown = accounting.unknown;
            self.ledger.close().await;
            Ok(Resolved { run, sent, failed, unknown, next })
        })
    }
}
