//! The records of a planned run that are to be sent, with what earlier runs have sent for them.

use sheetport_ledger::{KeyScope, Ledger, OtherRequest, Part, Run, Seq};
use sheetport_plan::compare::{Candidate, LastSent};

use super::error::Error;

/// Maximum memory for the records of a comparison, in bytes. Further records are not compared.
const MAX_HELD: usize = 1 << 30;
/// Memory for a record beside its request and the one sent before: names, ids, places in maps, and the change.
const RECORD: usize = 500;

/// Returns the pending records of a run, and the number of those beyond the limit.
pub(super) async fn candidates(ledger: &Ledger, run: &Run) -> Result<(Vec<Candidate>, u64), Error> {
    let (mut held, mut bytes, mut not_held) = (Vec::new(), 0, 0);
    let mut from: Seq = Part::whole(run.id).first;
    while let Some(block) = ledger.record_block(run.id, from).await? {
        from = block.end();
        let settled = ledger.settled(run.id, block.first..=from - 1).await?;
        for (seq, record) in (block.first..).zip(block.records) {
            let Some(candidate) = Candidate::of(seq, record).filter(|_| !settled.contains(&seq)) else { continue };
            let candidate = candidate.or_else(run.about.settings.only);
            if bytes < MAX_HELD {
                bytes += RECORD + 2 * candidate.body.len();
                held.push(candidate);
            } else {
                not_held += 1;
            }
        }
    }
    Ok((held, not_held))
}

/// Adds what earlier runs sent for these records.
pub(super) async fn add_last_sent(ledger: &Ledger, run: &Run, candidates: &mut [Candidate]) -> Result<(), Error> {
    if !run.about.record.input().may_be_repeated() {
        return Ok(());
    }
    ledger.update_accepted(KeyScope::of(run), Some(run.id)).await?;
    let identities: Vec<&str> = candidates.iter().map(Candidate::identity).collect();
    let mut all = vec![LastSent::default(); identities.len()];
    let take = |place: usize, request: OtherRequest, id: Option<&str>, body: &str| {
        let sent = &mut all[place];
        if sent.id.is_none() {
            sent.id = id.map(Into::into);
        }
        if sent.body.is_none() && request.is_accepted {
            sent.body = Some(body.into());
        }
        sent.id.is_some() && sent.body.is_some()
    };
    ledger.last_bodies(KeyScope::of(run), &identities, take).await?;
    for (candidate, sent) in candidates.iter_mut().zip(all) {
        candidate.sent = sent;
    }
    Ok(())
}
