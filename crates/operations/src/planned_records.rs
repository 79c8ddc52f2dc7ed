//! The records of a planned run that are to be sent, with what earlier runs have sent for them.

use sheetport_ledger::{KeyScope, Ledger, OtherRequest, RecordBlock, Run, Seq};
use sheetport_plan::compare::{Candidate, LastSent};

use super::error::Error;

/// Maximum memory for the records of a comparison, in bytes. Further records are not compared.
const MAX_HELD: usize = 1 << 30;
/// Memory for a record beside its request and the one sent before: names, ids, places in maps, and the change.
const RECORD: usize = 500;
/// Records of which the last requests are looked up at once: what is kept for that is a few MB, and each block of an earlier run is read once
/// for most files.
const AT_ONCE: usize = 1 << 16;

/// Some of the pending records of a run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Batch {
    pub first: Seq,
    pub last: Seq,
    /// The number of records, at most.
    pub most: u64,
}

impl Batch {
    /// Returns the first `most` records of a run.
    pub(super) fn first(most: u64) -> Batch {
        Batch { first: 0, last: Seq::MAX, most }
    }
}

/// Returns the pending records of a batch, the number of those beyond the limit, and the last record of the batch: [`Seq::MAX`] if no further ones
/// are pending.
pub(super) async fn candidates(ledger: &Ledger, run: &Run, batch: Batch) -> Result<(Vec<Candidate>, u64, Seq), Error> {
    let (mut held, mut bytes, mut not_held) = (Vec::new(), 0, 0);
    let mut from = batch.first;
    let mut last = None;
    while let Some(block) = next_block(ledger, run, from).await? {
        let first = block.first.max(from);
        from = block.end();
        let settled = ledger.settled(run.id, first..=from - 1).await?;
        for (seq, record) in (block.first..).zip(block.records) {
            if seq > batch.last {
                return Ok((held, not_held, Seq::MAX));
            }
            if seq < first || settled.contains(&seq) {
                continue;
            }
            let Some(candidate) = Candidate::of(seq, record) else { continue };
            if held.len() as u64 == batch.most {
                return Ok((held, not_held, last.unwrap_or(Seq::MAX)));
            }
            last = Some(seq);
            let candidate = candidate.or_else(run.about.settings.only);
            if bytes < MAX_HELD {
                bytes += RECORD + 2 * candidate.body().len();
                held.push(candidate);
            } else {
                not_held += 1;
            }
        }
    }
    Ok((held, not_held, Seq::MAX))
}

/// Returns the block with the record `from`, or else the next one.
async fn next_block(ledger: &Ledger, run: &Run, from: Seq) -> Result<Option<RecordBlock>, Error> {
    match ledger.record_block_of(run.id, from).await? {
        Some(block) => Ok(Some(block)),
        None => Ok(ledger.record_block(run.id, from).await?),
    }
}

/// Adds what earlier runs sent for these records.
pub(super) async fn add_last_sent(ledger: &Ledger, run: &Run, candidates: &mut [Candidate]) -> Result<(), Error> {
    if !run.about.record.input().may_be_repeated() {
        return Ok(());
    }
    ledger.update_accepted(KeyScope::of(run), Some(run.id)).await?;
    for candidates in candidates.chunks_mut(AT_ONCE) {
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
            let is_known = sent.id.is_some() || sent.body.is_some();
            candidate.sent = is_known.then(|| Box::new(sent));
        }
    }
    Ok(())
}
