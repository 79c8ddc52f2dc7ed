//! What follows from an attempt. Pure: no clock, no chance, no network.

use std::time::Duration;

use super::answer::{self, Read, Sent};
use super::transport::Exchange;

/// A record is given up after this many attempts.
pub const MAX_ATTEMPTS: u32 = 5;
/// A service that asks to wait longer than this gets its wish: the run stops, and is resumed later.
pub const LONGEST_WAIT: Duration = Duration::from_secs(15 * 60);

const BASE: Duration = Duration::from_millis(500);
const THROTTLED_BASE: Duration = Duration::from_secs(1);
const CAP: Duration = Duration::from_secs(20);
/// Waiting less than this after a 429 would be no waiting.
pub(super) const SHORTEST_THROTTLE: Duration = Duration::from_secs(1);

/// What to do about a record after an attempt.
#[derive(Clone, Debug, PartialEq)]
pub enum Next {
    Sent {
        status: u16,
        read: Read,
    },
    /// The service refused the record.
    Failed {
        status: u16,
        read: Read,
    },
    /// Try again after a pause of the backoff, or of `after` where the service named one. Without a status, the
    /// connection broke and nobody answered.
    Retry {
        after: Option<Duration>,
        status: Option<u16>,
        reason: String,
    },
    /// Nobody may send for a while; then this record is tried again.
    Throttled {
        after: Option<Duration>,
    },
    /// It was not let in with the token it had, and there is a newer one: send it again, but not for ever.
    Again {
        reason: String,
    },
    /// It may or may not have been applied, and must not be repeated. `after` is how long the service asked everybody to
    /// wait, if it did.
    Unknown {
        after: Option<Duration>,
        status: Option<u16>,
        reason: String,
    },
    Stop(Stop),
}

/// Why a run can't go on for any of its records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    Unauthorized(String),
    Redirected {
        status: u16,
    },
    /// The service named a pause longer than [`LONGEST_WAIT`].
    WaitTooLong(Duration),
}

/// The table of the retry policy, read top to bottom.
pub fn decide(sent: &Sent<'_>, exchange: Exchange) -> Next {
    let repeatable = sent.is_repeatable();
    let lost = |status: Option<u16>, reason: String, after: Option<Duration>| match repeatable {
        true => Next::Retry { after, status, reason },
        false => Next::Unknown { after, status, reason },
    };
    let answer = match exchange {
        Exchange::NotSent { reason } => return Next::Retry { after: None, status: None, reason },
        Exchange::Lost { reason } => return lost(None, reason, None),
        Exchange::Renewed { reason } => return Next::Again { reason },
        Exchange::Unauthorized { reason } => return Next::Stop(Stop::Unauthorized(reason)),
        Exchange::CutAnswer { status, reason } => return lost(Some(status), reason, None),
        Exchange::Answered(answer) => answer,
    };
    let wait = answer.retry_after.as_deref().and_then(parse_retry_after).map(|wait| wait.max(SHORTEST_THROTTLE));
    if let Some(wait) = wait
        && wait > LONGEST_WAIT
        && (repeatable || answer.status == 429)
    {
        return Next::Stop(Stop::WaitTooLong(wait));
    }
    match answer.status {
        status @ 200..=299 => match answer::read(sent, &answer.body) {
            Some(read) if read.ok && read.errors.is_empty() => Next::Sent { status, read },
            Some(read) => Next::Failed { status, read },
            None => lost(Some(status), "the answer can't be understood".to_owned(), None),
        },
        status @ 300..=399 => Next::Stop(Stop::Redirected { status }),
        401 => Next::Stop(Stop::Unauthorized(answer::message(&answer.body).unwrap_or_default())),
        429 => Next::Throttled { after: wait },
        status @ (408 | 500 | 502..=504) => {
            let words = answer::message(&answer.body).map(|words| format!(": {words}")).unwrap_or_default();
            lost(Some(status), format!("the service answered {status}{words}"), wait)
        }
        status => Next::Failed { status, read: answer::refusal(status, &answer.body) },
    }
}

/// How long to wait before the attempt after number `attempt` (from 1). `chance` is from 0 to 1: with full jitter, the
/// workers of many runs do not come back together.
pub fn backoff(attempt: u32, throttled: bool, chance: f64) -> Duration {
    let base = if throttled { THROTTLED_BASE } else { BASE };
    let ceiling = base.saturating_mul(1 << attempt.saturating_sub(1).min(16)).min(CAP);
    let jittered = ceiling.mul_f64(chance.clamp(0.0, 1.0));
    // A throttled service is given its second; without throttling a retry may come almost at once.
    if throttled { jittered.max(SHORTEST_THROTTLE) } else { jittered }
}

/// Retry-After in seconds, however many.
pub(super) fn parse_retry_after(value: &str) -> Option<Duration> {
    let value = value.trim();
    let is_number = !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| Duration::from_secs(value.parse().unwrap_or(u64::MAX)))
}

#[cfg(test)]
mod tests {
    use crate::records::RecordKind;

    const ITEM: Sent<'_> = Sent { kind: RecordKind::Item, target: None, key: Some("1"), body: b"{}" };

    use super::*;
    use crate::client::transport::Answer;

    const SENT: &str = r#"{"ok": true, "status": "created", "external_id": "1", "item_id": "i", "ctx_id": null}"#;

    fn answered(status: u16, body: &str, retry_after: Option<&str>) -> Next {
        let answer =
            Answer { status, body: body.as_bytes().to_vec(), retry_after: retry_after.map(str::to_owned), quota: None };
        decide(&ITEM, Exchange::Answered(answer))
    }

    #[test]
    fn the_policy_table_holds_for_calls_that_may_be_repeated() {
        assert!(matches!(answered(200, SENT, None), Next::Sent { status: 200, .. }));
        assert!(matches!(answered(201, SENT, None), Next::Sent { status: 201, .. }));
        assert!(matches!(answered(200, &SENT.replace("true", "false"), None), Next::Failed { .. }));
        assert!(matches!(answered(200, &SENT.replace("null", r#"null, "errors": ["no"]"#), None), Next::Failed { .. }));
        assert!(matches!(answered(200, &SENT[..20], None), Next::Retry { status: Some(200), .. }));
        for status in [400, 403, 404, 405, 409, 413, 415, 422, 501] {
            assert!(matches!(answered(status, "{}", None), Next::Failed { .. }), "{status}");
        }
        for status in [408, 500, 502, 503, 504] {
            assert!(matches!(answered(status, "<html>", None), Next::Retry { status: Some(_), .. }), "{status}");
        }
        for status in [301, 302, 307, 308] {
            assert_eq!(answered(status, SENT, None), Next::Stop(Stop::Redirected { status }));
        }
        assert!(matches!(answered(401, "{}", None), Next::Stop(Stop::Unauthorized(_))));
        for exchange in
            [Exchange::Lost { reason: "reset".into() }, Exchange::NotSent { reason: "connection refused".into() }]
        {
            assert!(matches!(decide(&ITEM, exchange), Next::Retry { status: None, .. }));
        }
        let cut = Exchange::CutAnswer { status: 200, reason: "cut".into() };
        assert!(matches!(decide(&ITEM, cut), Next::Retry { status: Some(200), .. }));
    }

    #[test]
    fn the_service_may_name_a_pause_but_not_too_short_or_long_a_one() {
        let wait = |after: Option<u64>| Next::Throttled { after: after.map(Duration::from_secs) };
        assert_eq!(answered(429, "", None), wait(None));
        assert_eq!(answered(429, "", Some("soon")), wait(None));
        assert_eq!(answered(429, "", Some("0")), wait(Some(1)));
        assert_eq!(answered(429, "", Some("7")), wait(Some(7)));
        assert_eq!(answered(429, "", Some("901")), Next::Stop(Stop::WaitTooLong(Duration::from_secs(901))));
        let endless = Duration::from_secs(u64::MAX);
        assert_eq!(answered(429, "", Some("99999999999999999999")), Next::Stop(Stop::WaitTooLong(endless)));
        assert!(matches!(answered(503, "", Some("0")), Next::Retry { after: Some(after), .. } if after.as_secs() == 1));
        assert!(matches!(answered(503, "", Some("3")), Next::Retry { after: Some(after), .. } if after.as_secs() == 3));
    }

    #[test]
    fn pauses_double_up_to_a_cap_and_are_jittered() {
        let millis = |attempt, throttled, chance| backoff(attempt, throttled, chance).as_millis();
        assert_eq!(
            [1, 2, 3, 6, 7, 40].map(|attempt| millis(attempt, false, 1.0)),
            [500, 1000, 2000, 16_000, 20_000, 20_000]
        );
        assert_eq!(millis(3, false, 0.0), 0);
        assert_eq!(millis(3, false, 0.5), 1000);
        assert_eq!([1, 2].map(|attempt| millis(attempt, true, 1.0)), [1000, 2000]);
        assert_eq!(millis(1, true, 0.0), 1000);
    }
}
