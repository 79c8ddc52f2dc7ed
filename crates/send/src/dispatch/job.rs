//! Records to be sent, and settled records.

use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;
use sheetport_client::policy::{Call, Verdict};
use sheetport_client::{Failure, IdempotencyKey, WriteResult};
use sheetport_ledger::{Claim, RecordState, Seq};
use sheetport_records::RecordKind;
use sheetport_telemetry::RecordSpan;

/// Message about a failed record, after an earlier attempt without a usable answer.
const MAY_BE_APPLIED: &str =
    "an earlier request for this record got no usable answer, so it may have been applied all the same";

/// A record to be sent.
#[derive(Debug)]
pub struct Job {
    pub seq: Seq,
    pub ordering_key: OrderingKey,
    /// The name of the record in the file, if any.
    pub key: Option<Arc<str>>,
    /// Name of the record in the path, if any.
    pub target: Option<String>,
    /// JSON body, sent unchanged.
    pub body: Bytes,
    pub call: Call,
    /// The content of a non-idempotent call, for recognizing repetitions.
    pub claim: Option<Claim>,
    /// The rows of the lines of the body, if each has a row of its own in one sheet; otherwise empty, or of another number.
    pub rows: Box<[u64]>,
    /// Of a call with a key.
    pub idempotency_key: Option<IdempotencyKey>,
    /// For a call with a key that is stored as in flight: time before the first attempt that may have been applied, in
    /// milliseconds since 1970.
    pub in_flight_since: Option<i64>,
    /// Requests made so far.
    pub requests: u32,
    pub span: RecordSpan,
    /// When the permit for the request may be used.
    pub starts_at: Option<Instant>,
    /// Attempts counted towards [`MAX_ATTEMPTS`](sheetport_client::policy::MAX_ATTEMPTS).
    pub(super) attempts: u32,
    /// Whether an attempt without a usable answer may have been applied.
    pub(super) may_be_applied: bool,
    /// Whether the job holds the ordering key: from the first attempt until the job is settled.
    pub(super) holds_key: bool,
    /// Whether the last attempt failed for an old token.
    pub(super) was_renewed: bool,
}

/// Jobs with the same ordering key are sent one after another, in the order of the sheet.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum OrderingKey {
    /// The identity of the record, see [`sheetport_ledger::PlannedRecord::identity`].
    Record(Arc<str>),
    /// A record without an identity has no order to keep.
    Unique(Seq),
}

impl OrderingKey {
    /// Returns the identity of the record.
    pub fn identity(&self) -> Option<&str> {
        match self {
            OrderingKey::Record(identity) => Some(identity),
            OrderingKey::Unique(_) => None,
        }
    }
}

impl Job {
    /// Creates the job of a planned record. A kind without a call for such a record counts as non-idempotent.
    pub fn new(
        kind: RecordKind,
        seq: Seq,
        key: Option<impl Into<Arc<str>>>,
        target: Option<String>,
        body: impl Into<Bytes>,
    ) -> Job {
        let call = match kind.input().call(target.is_some()) {
            Some(call) if call.repeatable => Call::Idempotent,
            _ => Call::NonIdempotent,
        };
        let key = key.map(Into::into);
        let identity = target.as_deref().map(Into::into).or_else(|| key.clone());
        Job {
            seq,
            ordering_key: identity.map_or(OrderingKey::Unique(seq), OrderingKey::Record),
            key,
            target,
            body: body.into(),
            call,
            claim: None,
            rows: Box::default(),
            idempotency_key: None,
            in_flight_since: None,
            requests: 0,
            span: RecordSpan::default(),
            starts_at: None,
            attempts: 0,
            may_be_applied: false,
            holds_key: false,
            was_renewed: false,
        }
    }

    /// Makes this a call with a key. `first_attempt`: when another process first sent the record, with the same key and without
    /// an outcome.
    pub fn with_key(self, key: IdempotencyKey, first_attempt: Option<i64>) -> Job {
        Job {
            call: Call::Keyed,
            idempotency_key: Some(key),
            in_flight_since: first_attempt,
            may_be_applied: first_attempt.is_some(),
            ..self
        }
    }

    /// Whether an attempt without a usable answer may have been applied.
    pub fn may_be_applied(&self) -> bool {
        self.may_be_applied
    }
}

/// A job with the final outcome.
#[derive(Debug)]
pub struct Settled {
    pub job: Job,
    /// Sent, failed or unknown.
    pub state: RecordState,
    pub http_status: Option<u16>,
    pub result: WriteResult,
}

impl Settled {
    pub(super) fn answered(job: Job, status: u16, result: WriteResult) -> Settled {
        let state = match result.verdict {
            Verdict::Accepted => RecordState::Sent,
            Verdict::InDoubt => RecordState::Unknown,
            // A refusal does not show the outcome of the earlier request, and a retry would have another key.
            Verdict::Refused if job.call == Call::Keyed && job.may_be_applied => RecordState::Unknown,
            Verdict::Refused => RecordState::Failed,
        };
        let mut settled = Settled { job, state, http_status: Some(status), result };
        if settled.state != RecordState::Sent && settled.job.may_be_applied {
            settled.result.add_error(MAY_BE_APPLIED);
        }
        settled
    }

    pub(super) fn unknown(job: Job, failure: &Failure, reason: String) -> Settled {
        let result = WriteResult::refused(reason);
        Settled { job, state: RecordState::Unknown, http_status: failure.status(), result }
    }
}
