//! Records that an undo has taken back: they may be sent again, as what they were or corrected.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use futures_util::future::BoxFuture;
use sheetport_ledger::{self as ledger, Claim, ClaimDigest, EarlierClaim, EarlierState, Ledger, RunId};

use super::identity::Scope;

/// The runs that were asked for, and whether somebody has planned to take them back.
#[derive(Debug, Default)]
pub(super) struct TakenBack(HashMap<RunId, bool>);

impl TakenBack {
    /// Returns the requests whose records were not taken back, or were brought back. If only an undo with an unknown outcome, or one that is
    /// being sent, tells, the record is as much in doubt as that.
    pub(super) fn standing<'a>(
        &'a mut self,
        ledger: &'a Ledger,
        scope: &'a Scope,
        requests: Vec<EarlierClaim>,
    ) -> BoxFuture<'a, Result<Vec<EarlierClaim>, ledger::Error>> {
        Box::pin(async move {
            let mut taking_back: Vec<Claim> = Vec::new();
            for request in &requests {
                let is_undone = match self.0.entry(request.run) {
                    Entry::Occupied(known) => *known.get(),
                    Entry::Vacant(place) => *place.insert(!ledger.undone_by(request.run).await?.is_empty()),
                };
                if is_undone {
                    taking_back.push(scope.taking_back(request.run, request.claim.seq));
                }
            }
            if taking_back.is_empty() {
                return Ok(requests);
            }
            let undos = ledger.earlier_claims(&taking_back).await?;
            // Undone as well, an undo has brought its records back.
            let undos = self.standing(ledger, scope, undos).await?;
            let mut by_record: HashMap<ClaimDigest, EarlierClaim> = HashMap::new();
            for undo in undos {
                if is_certain(&undo) || !by_record.contains_key(&undo.claim.body) {
                    by_record.insert(undo.claim.body, undo);
                }
            }
            let standing = requests.into_iter().filter_map(|request| {
                match by_record.get(&scope.taking_back(request.run, request.claim.seq).body) {
                    None => Some(request),
                    Some(undo) if is_certain(undo) => None,
                    Some(undo) => Some(EarlierClaim { run: undo.run, state: undo.state, at: undo.at, ..request }),
                }
            });
            Ok(standing.collect())
        })
    }
}

/// Whether the service has accepted a request. Of a run that was removed, that is not known.
fn is_certain(request: &EarlierClaim) -> bool {
    request.state == EarlierState::Sent
}
