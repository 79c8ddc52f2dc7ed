//! What an undo of an undo books again, if somebody has uploaded it anew in between: then it would count twice.

use std::collections::{BTreeSet, HashMap};

use sheetport_ledger::{self as ledger, Claim, ClaimDigest, EarlierClaim, Ledger, RecordBlock, Run, RunId, Seq};

use super::identity::{Scope, creations};
use super::taken_back::TakenBack;

/// The records that a run brings back.
#[derive(Debug)]
pub(super) struct BroughtBack {
    /// The run whose records are brought back. All later ones have its positions.
    first: Run,
    /// The undo that is taken back, and the run that it has taken back.
    undo: (RunId, RunId),
    /// The first run, and all that have taken it or each other back.
    chain: Vec<RunId>,
    /// Requests that stand for a record of this run. Another record with equal values needs another one.
    used: BTreeSet<(RunId, Seq)>,
}

impl BroughtBack {
    /// Returns what a run brings back. `None` if it does not take back an undo.
    ///
    /// # Errors
    /// If one of the runs before it was removed: then nobody knows what its records were.
    pub(super) async fn by(ledger: &Ledger, run: &Run) -> Result<Option<BroughtBack>, ledger::Error> {
        let mut chain = vec![run.clone()];
        while let Some(undone) = chain.last().and_then(|last| last.about.undo_of) {
            chain.push(ledger.run(undone).await?);
        }
        let is_bringing_back = chain.len() > 2 && chain.len() % 2 == 1;
        let undo = (run.about.undo_of).zip(chain.get(1).and_then(|undo| undo.about.undo_of));
        let ids = chain.iter().map(|run| run.id).collect();
        let (Some(first), Some(undo)) = (chain.pop().filter(|_| is_bringing_back), undo) else { return Ok(None) };
        Ok(Some(BroughtBack { first, undo, chain: ids, used: BTreeSet::new() }))
    }

    /// Returns the requests that others have made for the records of a block since these were taken back, by position.
    pub(super) async fn sent_anew(
        &mut self,
        ledger: &Ledger,
        taken_back: &mut TakenBack,
        block: &RecordBlock,
    ) -> Result<HashMap<Seq, EarlierClaim>, ledger::Error> {
        let scope = Scope::of(&self.first);
        let (undo, undone) = self.undo;
        let mut records: Vec<Claim> = Vec::new();
        let mut from = block.first;
        while let Some(first) = ledger.record_block(self.first.id, from).await?.filter(|_| from < block.end()) {
            from = first.end();
            records.extend(creations(&scope, &first).map(|(claim, ..)| claim));
        }
        records.retain(|claim| (block.first..block.end()).contains(&claim.seq));
        let taking_back = |claim: &Claim| scope.taking_back(undone, claim.seq);
        let asked: Vec<Claim> = records.iter().cloned().chain(records.iter().map(taking_back)).collect();
        let requests = ledger.earlier_claims(&asked).await?;
        // The order of claims, in which they were made.
        let places: HashMap<(RunId, Seq), usize> =
            requests.iter().enumerate().map(|(place, request)| ((request.run, request.claim.seq), place)).collect();
        let others = requests.into_iter().filter(|request| !self.chain.contains(&request.run)).collect();
        let others = taken_back.standing(ledger, &scope, others).await?;
        let mut alike: HashMap<ClaimDigest, Vec<&EarlierClaim>> = HashMap::new();
        for request in &others {
            let name = request.claim.name.as_ref().map(|name| name.digest);
            name.into_iter()
                .chain([request.claim.body])
                .for_each(|digest| alike.entry(digest).or_default().push(request));
        }
        let mut anew = HashMap::new();
        for claim in records {
            let taken_away = places.get(&(undo, claim.seq));
            let name = claim.name.as_ref().map(|name| name.digest);
            let mut found = name.into_iter().chain([claim.body]).filter_map(|digest| alike.get(&digest)).flatten();
            let found = found.find(|request| {
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
