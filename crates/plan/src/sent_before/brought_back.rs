//! What an undo of an undo books again, if somebody has uploaded it anew in between: then it would count twice.

use std::collections::{BTreeSet, HashMap};

use sheetport_ledger::{self as ledger, Claim, ClaimDigest, EarlierClaim, Ledger, RecordBlock, Run, RunId, Seq};

use super::identity::{Scope, creations};
use super::taken_back::TakenBack;

/// The records that a run brings back.
#[derive(Debug)]
pub(super) struct BroughtBack {
    /// The run whose records are brought back. The undos have its positions.
    first: Run,
    /// The undo of that run, which is taken back.
    undo: RunId,
    /// The undo of the undo.
    run: RunId,
    /// Requests that stand for a record of this run. Another record with equal values needs another one.
    used: BTreeSet<(RunId, Seq)>,
}

impl BroughtBack {
    /// Returns what a run brings back. `None` if it does not take back an undo, or that is not known any more. An undo of an undo is not taken
    /// back itself, so there are no further ones.
    ///
    /// # Errors
    /// If the first run was removed: then nobody knows what its records were.
    pub(super) async fn by(ledger: &Ledger, run: &Run) -> Result<Option<BroughtBack>, ledger::Error> {
        let Some(undo) = run.about.undo_of else { return Ok(None) };
        let first = match ledger.run(undo).await {
            Ok(undo) => undo.about.undo_of,
            Err(ledger::Error::NoSuchRun(_)) => None,
            Err(error) => return Err(error),
        };
        let Some(first) = first else { return Ok(None) };
        let first = ledger.run(first).await?;
        Ok(Some(BroughtBack { first, undo, run: run.id, used: BTreeSet::new() }))
    }

    /// Returns the requests that others have made for the records of a block since these were taken back, by position.
    pub(super) async fn sent_anew(
        &mut self,
        ledger: &Ledger,
        taken_back: &mut TakenBack,
        block: &RecordBlock,
    ) -> Result<HashMap<Seq, EarlierClaim>, ledger::Error> {
        let scope = Scope::of(&self.first);
        let own = [self.first.id, self.undo, self.run];
        let mut records: Vec<Claim> = Vec::new();
        let mut from = block.first;
        while let Some(first) = ledger.record_block(self.first.id, from).await?.filter(|_| from < block.end()) {
            from = first.end();
            records.extend(creations(&scope, &first).map(|(claim, ..)| claim));
        }
        records.retain(|claim| (block.first..block.end()).contains(&claim.seq));
        let taking_back = |claim: &Claim| scope.taking_back(self.first.id, claim.seq);
        let asked: Vec<Claim> = records.iter().cloned().chain(records.iter().map(taking_back)).collect();
        let requests = ledger.earlier_claims(&asked).await?;
        // The order of claims, in which they were made.
        let places: HashMap<(RunId, Seq), usize> =
            requests.iter().enumerate().map(|(place, request)| ((request.run, request.claim.seq), place)).collect();
        let others = requests.into_iter().filter(|request| !own.contains(&request.run)).collect();
        let others = taken_back.standing(ledger, &scope, others).await?;
        let mut alike: HashMap<ClaimDigest, Vec<&EarlierClaim>> = HashMap::new();
        for request in &others {
            digests(&request.claim).for_each(|digest| alike.entry(digest).or_default().push(request));
        }
        let mut anew = HashMap::new();
        for claim in records {
            let taken_away = places.get(&(self.undo, claim.seq));
            let found = digests(&claim).filter_map(|digest| alike.get(&digest)).flatten().find(|request| {
                let place = (request.run, request.claim.seq);
                claim.fact(request).is_some() && places.get(&place) > taken_away && !self.used.contains(&place)
            });
            if let Some(request) = found {
                self.used.insert((request.run, request.claim.seq));
                anew.insert(claim.seq, (*request).clone());
            }
        }
        Ok(anew)
    }
}

/// Iterates over what two requests for the same record have in common: the name, or the body.
fn digests(claim: &Claim) -> impl Iterator<Item = ClaimDigest> + use<> {
    claim.name.as_ref().map(|name| name.digest).into_iter().chain([claim.body])
}
