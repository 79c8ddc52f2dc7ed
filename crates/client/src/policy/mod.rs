//! The retry policy: a table from the kind of call and the outcome of an attempt to the next action.
//!
//! Every attempt of every command is decided here. docs/sending.md contains the same table, generated from [`TABLE`]. [`verdict`]
//! is the table for the body of a 2xx answer.

pub(crate) mod verdict;

use std::fmt;
use std::ops::RangeInclusive;
use std::time::Duration;

pub use verdict::Verdict;

/// Maximum number of attempts per request.
pub const MAX_ATTEMPTS: u32 = 5;
/// Number of failures after which a service that has answered before counts as gone. Counts failures after [`MAX_ATTEMPTS`], and
/// failed probes.
pub const MAX_PROBES: u32 = 5;
/// Longest pause on request of the service. After a request for a longer pause the run stops and can be resumed.
pub const LONGEST_WAIT: Duration = Duration::from_secs(15 * 60);
/// Shortest pause after a 429 or a Retry-After.
pub(super) const SHORTEST_THROTTLE: Duration = Duration::from_secs(1);

/// Base of the exponential backoff after a failure.
const BASE: Duration = Duration::from_millis(500);
/// Base of the exponential backoff after a 429 without Retry-After.
const THROTTLED_BASE: Duration = Duration::from_secs(1);
/// Upper limit of a backoff.
const CAP: Duration = Duration::from_secs(20);

/// Whether a request may be repeated after a lost response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    Idempotent,
    /// Repeating the request could create a duplicate, but the service honours the idempotency key.
    Keyed,
    /// Repeating the request could create a record twice.
    NonIdempotent,
}

/// How an attempt ended, without details.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// No connection was established: nothing was written.
    NotConnected,
    /// This machine has no file or port for another connection: nothing was written.
    Short,
    /// The connection was established but not trusted: nothing was written.
    Untrusted,
    /// The connection broke or timed out after the request may have been written.
    NoResponse,
    /// A 2xx response with a missing, truncated or unreadable body.
    Unreadable,
    /// A redirect to the same path at another address: the request was not handled.
    Moved,
    /// A response with this status and, for 2xx, a complete body.
    Status(u16),
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Outcome::NotConnected => f.write_str("not connected"),
            Outcome::Short => f.write_str("too many connections"),
            Outcome::Untrusted => f.write_str("not trusted"),
            Outcome::NoResponse => f.write_str("no response"),
            Outcome::Unreadable => f.write_str("unreadable response"),
            Outcome::Moved => f.write_str("redirect to the same path"),
            Outcome::Status(status) => write!(f, "{status}"),
        }
    }
}

/// The next action after an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Read the result from the body.
    Accept,
    /// The service refused the request.
    Fail,
    /// Send the request again after a backoff or Retry-After.
    Retry,
    /// Send nothing for a while, then send the request again.
    Throttle,
    /// Have fewer requests in flight, and send the request again as if this attempt had not been.
    Narrow,
    /// Renew the token and send the request once more.
    RenewToken,
    /// Stop, because no request can succeed.
    Stop,
    /// The request may have been applied and must not be repeated.
    Unknown,
    /// As [`Action::Unknown`]; further requests would end in the same way.
    UnknownAndStop,
}

/// A row of the policy table.
struct Rule {
    applies_to: Matcher,
    #[cfg_attr(not(test), expect(dead_code, reason = "printed into docs/sending.md by a test"))]
    note: &'static str,
    idempotent: Action,
    keyed: Action,
    non_idempotent: Action,
}

enum Matcher {
    Outcome(Outcome),
    Statuses(&'static [RangeInclusive<u16>]),
}

/// The actions of a rule: for an idempotent call, for a call with a key, and for other calls.
type Actions = [Action; 3];

const fn transport(outcome: Outcome, note: &'static str, actions: Actions) -> Rule {
    rule(Matcher::Outcome(outcome), note, actions)
}

const fn status(statuses: &'static [RangeInclusive<u16>], note: &'static str, actions: Actions) -> Rule {
    rule(Matcher::Statuses(statuses), note, actions)
}

const fn rule(applies_to: Matcher, note: &'static str, [idempotent, keyed, non_idempotent]: Actions) -> Rule {
    Rule { applies_to, note, idempotent, keyed, non_idempotent }
}

/// The same for all calls.
const fn any(action: Action) -> Actions {
    [action; 3]
}

/// For requests that may have been applied.
const LOST: Actions = [Action::Retry, Action::Retry, Action::Unknown];

/// The policy. The first matching row applies; the last row matches every remaining status.
#[rustfmt::skip]
const TABLE: &[Rule] = &[
    transport(Outcome::Untrusted, "a certificate that is not accepted, or HTTP where HTTPS is expected: nothing was sent", any(Action::Stop)),
    transport(Outcome::Short, "no connection, because this machine has too many open files or no free port: nothing was sent", any(Action::Narrow)),
    transport(Outcome::NotConnected, "no connection (DNS, TCP or other TLS failure): nothing was sent", any(Action::Retry)),
    transport(Outcome::NoResponse, "connection lost or timeout after the request may have been sent", LOST),
    transport(Outcome::Unreadable, "2xx with a missing, truncated or unreadable body", LOST),
    status(&[204..=205], "no body", LOST),
    status(&[200..=299], "", any(Action::Accept)),
    transport(Outcome::Moved, "a redirect other than 303 to the same path at another address, such as from HTTP to HTTPS", any(Action::Stop)),
    status(&[300..=399], "other redirects; none is followed", [Action::Stop, Action::UnknownAndStop, Action::UnknownAndStop]),
    status(&[401..=401], "", any(Action::RenewToken)),
    status(&[403..=403], "five in a row stop the run, and these records stay *pending*", any(Action::Fail)),
    status(&[404..=404], "if each of the first five requests and a read of the items get it, the run stops and these records stay *pending*: wrong base address?", any(Action::Fail)),
    status(&[407..=407], "the proxy requires credentials", any(Action::Stop)),
    status(&[408..=408], "", LOST),
    status(&[409..=409], "with a key: a request with this key is in progress", [Action::Fail, Action::Retry, Action::Fail]),
    status(&[423..=423, 425..=425], "", any(Action::Retry)),
    status(&[429..=429], "", any(Action::Throttle)),
    status(&[400..=499], "all others, such as 400, 413, 422", any(Action::Fail)),
    status(&[500..=599], "", LOST),
    status(&[0..=u16::MAX], "any other status, such as 1xx", LOST),
];

/// Returns the next action after an attempt.
pub fn decide(call: Call, outcome: Outcome) -> Action {
    let matches = |rule: &&Rule| match (&rule.applies_to, outcome) {
        (Matcher::Outcome(expected), outcome) => *expected == outcome,
        (Matcher::Statuses(ranges), Outcome::Status(status)) => ranges.iter().any(|range| range.contains(&status)),
        (Matcher::Statuses(_), _) => false,
    };
    let rule = TABLE.iter().find(matches).expect("the last row matches every status");
    match call {
        Call::Idempotent => rule.idempotent,
        Call::Keyed => rule.keyed,
        Call::NonIdempotent => rule.non_idempotent,
    }
}

/// Returns the pause before the attempt after number `attempt` (from 1), with full jitter by `chance` (0 to 1).
pub fn backoff(attempt: u32, throttled: bool, chance: f64) -> Duration {
    let base = if throttled { THROTTLED_BASE } else { BASE };
    let ceiling = base.saturating_mul(1 << attempt.saturating_sub(1).min(16)).min(CAP);
    let jittered = ceiling.mul_f64(chance.clamp(0.0, 1.0));
    if throttled { jittered.max(SHORTEST_THROTTLE) } else { jittered }
}

/// Returns the pause before the probe after number `failed` (from 1): half a minute and more for a service to restart.
pub fn outage_pause(failed: u32) -> Duration {
    Duration::from_secs(1 << failed.min(4))
}

/// Parses Retry-After in seconds, with any number of digits. A fraction is rounded up.
pub(super) fn parse_retry_after(value: &str) -> Option<Duration> {
    let value = value.trim();
    if let Some((seconds, fraction)) = value.split_once('.') {
        let is_fraction = !fraction.is_empty() && fraction.bytes().all(|byte| byte.is_ascii_digit());
        let more = u64::from(fraction.bytes().any(|byte| byte != b'0'));
        return parse_retry_after(seconds)
            .filter(|_| is_fraction)
            .map(|whole| whole.saturating_add(Duration::from_secs(more)));
    }
    let is_number = !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit());
    // More digits than a u64 holds: as long as can be.
    is_number.then(|| Duration::from_secs(value.parse().unwrap_or(u64::MAX)))
}

#[cfg(test)]
mod tests;
