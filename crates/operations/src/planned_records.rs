//! The records of a planned run that are to be sent, with what earlier runs have sent for them.

use sheetport_ledger::{KeyScope, Ledger, OtherRequest, RecordBlock, Run, Seq};
use sheetport_plan::compare::{Candidate, Candidates, LastSent};

use super::context::Context;
use super::error::Error;

/// Maximum memory for a comparison, in bytes. Further records are not compared.
const MAX_HELD: usize = 1 << 30;
/// Memory for a record beside the values that change: its places in the file and the index, and the change.
const RECORD: usize = 150;
/// Records of which the last requests are looked up at once: what is kept for that is a few MB, and each block of an earlier run is read once
/// for most files.
const AT_ONCE: u64 = 1 << 16;

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

/// The pending records of a batch that are to be compared.
pub(super) struct ToCompare {
    pub candidates: Candidates,
    /// The number of those beyond the limit.
    pub not_held: u64,
    /// The last record of the batch: [`Seq::MAX`] if no further ones are pending.
    pub last: Seq,
}

impl ToCompare {
    /// Loads the pending records of a batch for which `prepare` holds, with what earlier runs sent for them. `prepare` is called for all.
    pub(super) async fn load(
        context: &Context,
        ledger: &Ledger,
        run: &Run,
        batch: Batch,
        prepare: &mut (dyn FnMut(&mut Candidate) -> bool + Send),
    ) -> Result<ToCompare, Error> {
        let has_last_sent = run.about.record.input().may_be_repeated();
        if has_last_sent {
            ledger.update_accepted(KeyScope::of(run), Some(run.id)).await?;
        }
        let mut loaded = ToCompare { candidates: Candidates::new(&context.home), not_held: 0, last: Seq::MAX };
        let (mut rest, mut bytes) = (batch, 0);
        loop {
            let (mut records, last) = pending(ledger, run, Batch { most: rest.most.min(AT_ONCE), ..rest }).await?;
            rest = Batch { first: last.saturating_add(1), most: rest.most - records.len() as u64, ..rest };
            records.retain_mut(|candidate| prepare(candidate));
            if has_last_sent {
                add_last_sent(ledger, run, &mut records).await?;
            }
            for candidate in &records {
                if bytes < MAX_HELD {
                    bytes += RECORD + 2 * candidate.body.len();
                    loaded.candidates.push(candidate)?;
                } else {
                    loaded.not_held += 1;
                }
            }
            if last == Seq::MAX || rest.most == 0 {
                return Ok(ToCompare { last, ..loaded });
            }
        }
    }
}

/// Returns the last of the first `most` pending records of a run, or [`Seq::MAX`] if no further ones are pending.
pub(super) async fn last_of_first(ledger: &Ledger, run: &Run, most: u64) -> Result<Seq, Error> {
    Ok(pending(ledger, run, Batch::first(most)).await?.1)
}

/// Returns the pending records of a batch, and the last of them: [`Seq::MAX`] if no further ones are pending.
async fn pending(ledger: &Ledger, run: &Run, batch: Batch) -> Result<(Vec<Candidate>, Seq), Error> {
    let (mut records, mut last) = (Vec::new(), None);
    let mut from = batch.first;
    while let Some(block) = next_block(ledger, run, from).await? {
        let first = block.first.max(from);
        from = block.end();
        let settled = ledger.settled(run.id, first..=from - 1).await?;
        for (seq, record) in (block.first..).zip(block.records) {
            if seq > batch.last {
                return Ok((records, Seq::MAX));
            }
            if seq < first || settled.contains(&seq) {
                continue;
            }
            let Some(candidate) = Candidate::of(seq, record) else { continue };
            if records.len() as u64 == batch.most {
                return Ok((records, last.unwrap_or(Seq::MAX)));
            }
            last = Some(seq);
            records.push(candidate.or_else(run.about.settings.only));
        }
    }
    Ok((records, Seq::MAX))
}

/// Returns the block with the record `from`, or else the next one.
async fn next_block(ledger: &Ledger, run: &Run, from: Seq) -> Result<Option<RecordBlock>, Error> {
    match ledger.record_block_of(run.id, from).await? {
        Some(block) => Ok(Some(block)),
        None => Ok(ledger.record_block(run.id, from).await?),
    }
}

/// Adds what earlier runs sent for these records.
async fn add_last_sent(ledger: &Ledger, run: &Run, candidates: &mut [Candidate]) -> Result<(), Error> {
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
