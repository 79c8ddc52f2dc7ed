//! Records that an undo has taken back: they may be sent again, as what they were or corrected.

use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap};

use futures_util::future::BoxFuture;
use sheetport_ledger::{self as ledger, EarlierClaim, Ledger, RecordState, RunId, Seq};

/// The records of runs that were taken back, as far as they were asked for.
#[derive(Debug, Default)]
pub(super) struct TakenBack(HashMap<RunId, BTreeSet<Seq>>);

impl TakenBack {
    /// Returns whether a record of a run was taken back, and not brought back since.
    pub(super) async fn has(&mut self, ledger: &Ledger, run: RunId, seq: Seq) -> Result<bool, ledger::Error> {
        let records = match self.0.entry(run) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(place) => place.insert(taken_back(ledger, run).await?),
        };
        Ok(records.contains(&seq))
    }

    /// Returns the requests whose records were not taken back.
    pub(super) async fn standing(
        &mut self,
        ledger: &Ledger,
        earlier: Vec<EarlierClaim>,
    ) -> Result<Vec<EarlierClaim>, ledger::Error> {
        let mut standing = Vec::with_capacity(earlier.len());
        for request in earlier {
            if !self.has(ledger, request.run, request.claim.seq).await? {
                standing.push(request);
            }
        }
        Ok(standing)
    }
}

/// Returns the records of a run that were taken back. An undo has the positions of the run that it takes back.
fn taken_back(ledger: &Ledger, run: RunId) -> BoxFuture<'_, Result<BTreeSet<Seq>, ledger::Error>> {
    Box::pin(async move {
        let mut records = BTreeSet::new();
        for undo in ledger.undone_by(run).await? {
            // Undone as well, it has brought them back.
            let brought_back = taken_back(ledger, undo).await?;
            let mut from: Seq = 0;
            while let Some(block) = ledger.record_block(undo, from).await? {
                from = block.end();
                let outcomes = ledger.outcomes(undo, block.first..=from - 1).await?.into_iter();
                let sent = outcomes.filter(|(_, outcome)| outcome.state == RecordState::Sent).map(|(seq, _)| seq);
                records.extend(sent.filter(|seq| !brought_back.contains(seq)));
            }
        }
        Ok(records)
    })
}
