//! What the tables know about the requests for a key. The tables have different lives: claims are stored before sending and stay when a run
//! is removed, accepted requests are kept once for each key, and intents and outcomes live as long as their run.

use std::collections::HashMap;

use sheetport_sql as sql;

use super::super::database::{Ledger, to_json};
use super::super::error::Error;
use super::super::ids::{RunId, Seq};
use super::super::state::RecordState;
use crate::Outcome;

/// Keys per query.
const KEYS: usize = 4_096;

/// What a planned request has done to the service, by its outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    Accepted,
    /// None, because the service had the values.
    NotNeeded,
    /// Perhaps applied: without an answer, or in flight.
    Uncertain,
    /// Refused. What was sent before the refusal may have had an effect.
    Refused,
}

impl Effect {
    /// Returns the effect of a request. `is_begun`: it may be or have been in flight. `None` for a request that was never made.
    pub(super) fn of(outcome: Option<RecordState>, is_begun: bool) -> Option<Effect> {
        match outcome {
            Some(RecordState::Sent) => Some(Effect::Accepted),
            Some(RecordState::Unchanged) => Some(Effect::NotNeeded),
            Some(RecordState::Unknown) => Some(Effect::Uncertain),
            Some(RecordState::Failed) => Some(Effect::Refused),
            Some(RecordState::Skipped | RecordState::Rejected) => None,
            Some(RecordState::Pending) | None => is_begun.then_some(Effect::Uncertain),
        }
    }

    /// Returns the effect of a planned record. `begun`: when its requests may first have been in flight. A record that was left out later,
    /// when its killed run was resumed, may have been applied before.
    pub(super) fn of_record(outcome: Option<&Outcome>, begun: Option<i64>) -> Option<Effect> {
        let is_left_out = |outcome: &&Outcome| matches!(outcome.state, RecordState::Skipped | RecordState::Rejected);
        match outcome.filter(is_left_out) {
            Some(left_out) => begun.filter(|begun| *begun <= left_out.at).map(|_| Effect::Uncertain),
            None => Effect::of(outcome.map(|outcome| outcome.state), begun.is_some()),
        }
    }
}

/// When the requests of a record may first and last have been begun.
#[derive(Clone, Copy, Debug)]
pub(super) struct Begun {
    pub(super) first: i64,
    pub(super) last: i64,
}

impl Begun {
    /// Returns when a record may have been begun, from the ranges of all intents of its run with their times, oldest first.
    pub(super) fn of(intents: &[(Seq, Seq, i64)], seq: Seq) -> Option<Begun> {
        let mut times = intents.iter().filter(|(first, last, _)| (*first..=*last).contains(&seq)).map(|(.., at)| *at);
        let first = times.next()?;
        Some(Begun { first, last: times.next_back().unwrap_or(first) })
    }
}

/// The last request for a key, also of a removed run.
#[derive(Clone, Copy, Debug)]
pub(super) struct LastRequest {
    /// The hash of the request, or `None` if the result is not certain.
    pub(super) request: Option<i64>,
    pub(super) at: i64,
    /// The first run of the family.
    pub(super) family: RunId,
}

impl Ledger {
    /// Returns what the table `accepted` knows about keys of a scope, all by their hashes: requests of families after `after`.
    pub(super) async fn known(
        &self,
        scope: i64,
        after: RunId,
        keys: impl IntoIterator<Item = i64>,
    ) -> Result<HashMap<i64, LastRequest>, Error> {
        let is_in = self.dialect().is_in("$3");
        let query = format!("SELECT key, body, at, run FROM accepted WHERE scope = $1 AND run > $2 AND key {is_in}");
        let keys: Vec<i64> = keys.into_iter().collect();
        let mut known = HashMap::new();
        for keys in keys.chunks(KEYS) {
            let rows: Vec<(i64, Option<i64>, i64, RunId)> = sql::query_as(query.clone())
                .bind(scope)
                .bind(after)
                .bind(to_json(keys)?)
                .fetch_all(&self.reader)
                .await?;
            let last = |(key, request, at, family)| (key, LastRequest { request, at, family });
            known.extend(rows.into_iter().map(last));
        }
        Ok(known)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_begun_by_the_first_and_the_last_intent_that_has_it() {
        let intents = [(0, 9, 1), (5, 6, 2), (0, 4, 3)];
        let of = |seq| Begun::of(&intents, seq).map(|begun| (begun.first, begun.last));
        assert_eq!((of(5), of(3), of(9), of(10)), (Some((1, 2)), Some((1, 3)), Some((1, 1)), None));
    }

    #[test]
    fn records_left_out_after_a_request_may_have_been_applied() {
        let skipped = |at| Outcome::new(1, RecordState::Skipped, at);
        for (left_out, begun, expected) in [
            (skipped(5), Some(4), Some(Effect::Uncertain)),
            (skipped(5), Some(5), Some(Effect::Uncertain)),
            (skipped(5), Some(6), None),
            (skipped(5), None, None),
        ] {
            assert_eq!(Effect::of_record(Some(&left_out), begun), expected, "{begun:?}");
        }
        assert_eq!(Effect::of_record(None, Some(1)), Some(Effect::Uncertain));
    }

    #[test]
    fn only_requests_that_were_made_have_an_effect() {
        for (outcome, when_begun, otherwise) in [
            (Some(RecordState::Sent), Some(Effect::Accepted), Some(Effect::Accepted)),
            (Some(RecordState::Unchanged), Some(Effect::NotNeeded), Some(Effect::NotNeeded)),
            (Some(RecordState::Unknown), Some(Effect::Uncertain), Some(Effect::Uncertain)),
            (Some(RecordState::Failed), Some(Effect::Refused), Some(Effect::Refused)),
            (Some(RecordState::Skipped), None, None),
            (Some(RecordState::Rejected), None, None),
            (Some(RecordState::Pending), Some(Effect::Uncertain), None),
            (None, Some(Effect::Uncertain), None),
        ] {
            assert_eq!((Effect::of(outcome, true), Effect::of(outcome, false)), (when_begun, otherwise), "{outcome:?}");
        }
    }
}
