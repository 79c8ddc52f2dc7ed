//! Fault plans: decides the fault of a request. Pure: no waiting, no HTTP.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::time::Duration;

use axum::http::{HeaderMap, Method, StatusCode};
use serde::Deserialize;
use twox_hash::XxHash3_64;
use wildmatch::WildMatch;

use super::limit::Limit;

/// The share of all requests, in millionths.
pub(super) const MILLION: u32 = 1_000_000;

/// The intentional faults of a service.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plan {
    /// Rate limit per workspace. Further requests get a 429.
    pub limit: Option<Limit>,
    /// Delay of every response.
    pub latency: Duration,
    /// How far the `Date` of responses is ahead of the clock, in seconds.
    pub clock: i64,
    /// The first applicable rule decides.
    pub(super) rules: Vec<Rule>,
}

/// A kind of requests, and the effect on these requests.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Rule {
    /// Name for the log.
    pub(super) name: String,
    pub(super) matcher: Matcher,
    /// Share of the matching requests in millionths. The shares of rules for the same request add up.
    pub(super) share: Option<u32>,
    pub(super) moment: Moment,
    pub(super) effect: Effect,
}

/// Conditions on a request; absent conditions always hold.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Matcher {
    pub(super) methods: Vec<Method>,
    /// Pattern of the path, with `*` and `?`.
    pub(super) path: Option<WildMatch>,
    /// Pattern of a key in the path or the body.
    pub(super) key: Option<WildMatch>,
    /// How often the same request has come, counted from 1.
    pub(super) attempts: Option<RangeInclusive<u64>>,
    /// Positions among the requests that meet the other conditions, counted from 1.
    pub(super) calls: Option<RangeInclusive<u64>>,
}

/// When a fault occurs, relative to the processing of the request. A client cannot tell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Moment {
    Before,
    After,
    /// Before half of the requests, after the other half.
    #[default]
    Either,
}

/// The effect of a rule on a request. All parts apply.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Effect {
    pub(super) delay: Duration,
    /// Replaces the response.
    pub(super) answer: Option<Answer>,
    pub(super) ending: Option<Ending>,
    /// Changes a page of a list.
    pub(super) paging: Option<Paging>,
    /// Maximum number of entries per page, regardless of the request.
    pub(super) max_page: Option<u64>,
    /// The access token is void from now on.
    pub(super) ends_token: bool,
}

/// A response that replaces the regular one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Answer {
    pub(super) status: StatusCode,
    pub(super) message: Option<String>,
    /// Errors by field, in the body of an error.
    pub(super) errors: BTreeMap<String, Vec<String>>,
    /// `results[].errors` of a response with `ok: false`.
    pub(super) refused: Vec<String>,
    pub(super) body: Option<String>,
    pub(super) headers: HeaderMap,
    /// Retry-After as an HTTP date so many seconds ahead.
    pub(super) retry_after_date: Option<u64>,
}

/// How a response ends instead of well.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Ending {
    /// The connection is closed without a response.
    Reset,
    /// The connection is closed in the middle of the body.
    Cut,
    /// There is no response, and the connection stays open.
    Hang,
    /// The body comes byte by byte.
    Drip,
    /// The body is random bytes of the same length.
    Garbage,
}

/// How a list misleads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Paging {
    /// `count` is the number of entries of the page, instead of the page size.
    CountLies,
    /// `total` is the number of entries of the page. In a list without an envelope, the header with the total is, for both.
    TotalLies,
    /// Every page has the content of the first page.
    PageIgnored,
    /// Every page starts with the last entry of the previous page.
    Repeats,
    /// Every page except the first lacks its first entry, as if a record had moved to the previous page.
    Moves,
    /// There is neither a total nor a page size.
    NoTotal,
    /// The page is an array without an envelope.
    BareArray,
}

/// A request, as matched by rules.
#[derive(Clone, Debug)]
pub(super) struct Seen<'a> {
    pub(super) method: &'a Method,
    pub(super) path: &'a str,
    /// The identifiers in the path and the body.
    pub(super) keys: &'a [String],
    /// Identifies the request and its repetitions.
    pub(super) identity: u64,
    /// The number of this repetition, counted from 1.
    pub(super) attempt: u64,
}

/// An applicable rule, and whether its fault occurs after the request was processed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Decision<'p> {
    pub(super) rule: &'p Rule,
    pub(super) is_after: bool,
}

impl Plan {
    /// Returns whether some requests fail.
    pub fn has_rules(&self) -> bool {
        !self.rules.is_empty()
    }

    /// Returns the rule for a request, if any applies. `call` receives the index of a rule and returns the position of the
    /// request among the requests matched by this rule so far, counted from 1.
    ///
    /// Shares depend on nothing but the seed and the request, so a request fails in the same way at any concurrency.
    pub(super) fn decide(
        &self,
        seed: u64,
        seen: &Seen<'_>,
        mut call: impl FnMut(usize) -> u64,
    ) -> Option<Decision<'_>> {
        let mut random = fastrand::Rng::with_seed(XxHash3_64::oneshot_with_seed(seed, &hashed(seen)));
        let mut drawn = random.u32(0..MILLION);
        let is_late = random.bool();
        for (index, rule) in self.rules.iter().enumerate() {
            if !rule.matcher.matches(seen)
                || rule.matcher.calls.as_ref().is_some_and(|calls| !calls.contains(&call(index)))
            {
                continue;
            }
            match rule.share {
                Some(share) if drawn >= share => drawn -= share,
                _ => {
                    let is_after = match rule.moment {
                        Moment::Before => false,
                        Moment::After => true,
                        Moment::Either => is_late,
                    };
                    return Some(Decision { rule, is_after });
                }
            }
        }
        None
    }
}

fn hashed(seen: &Seen<'_>) -> [u8; 16] {
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&seen.identity.to_le_bytes());
    bytes[8..].copy_from_slice(&seen.attempt.to_le_bytes());
    bytes
}

impl Matcher {
    fn matches(&self, seen: &Seen<'_>) -> bool {
        let path = seen.path.trim_end_matches('/');
        (self.methods.is_empty() || self.methods.contains(seen.method))
            && self.path.as_ref().is_none_or(|pattern| pattern.matches(path) || pattern.matches(seen.path))
            && self.key.as_ref().is_none_or(|pattern| seen.keys.iter().any(|key| pattern.matches(key)))
            && self.attempts.as_ref().is_none_or(|attempts| attempts.contains(&seen.attempt))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(identity: u64, attempt: u64) -> Seen<'static> {
        Seen { method: &Method::POST, path: "/v1/public/items", keys: &[], identity, attempt }
    }

    fn rule(share: Option<u32>, moment: Moment) -> Rule {
        Rule { share, moment, ..Rule::default() }
    }

    #[test]
    fn shares_depend_on_the_seed_and_the_request_alone() {
        let plan = Plan {
            rules: vec![rule(Some(200_000), Moment::Either), rule(Some(100_000), Moment::After)],
            ..Plan::default()
        };
        let decided = |seed, identity, attempt| {
            let decision = plan.decide(seed, &seen(identity, attempt), |_| unreachable!("no rule counts calls"));
            decision.map(|decision| (decision.rule.share, decision.is_after))
        };
        let all = |seed| (0..10_000).map(|identity| decided(seed, identity, 1)).collect::<Vec<_>>();
        assert_eq!(all(7), all(7));
        assert_ne!(all(7), all(8));
        let count = |wanted| all(7).into_iter().filter(|decision| *decision == wanted).count();
        assert!((900..1100).contains(&count(Some((Some(200_000), false)))));
        assert!((900..1100).contains(&count(Some((Some(200_000), true)))));
        assert!((900..1100).contains(&count(Some((Some(100_000), true)))));
        assert_eq!(count(Some((Some(100_000), false))), 0);
        let changed = (0..10_000).filter(|identity| decided(7, *identity, 1) != decided(7, *identity, 2)).count();
        assert!(changed > 2_000, "a repetition is another draw: {changed}");
    }

    #[test]
    fn the_first_rule_whose_conditions_hold_applies() {
        let matching = |change: fn(&mut Matcher)| {
            let mut matcher = Matcher::default();
            change(&mut matcher);
            let plan = Plan { rules: vec![Rule { matcher, ..Rule::default() }], ..Plan::default() };
            let keys = ["A-1".to_owned(), "17".to_owned()];
            let seen = Seen { path: "/v1/public/orders/17", keys: &keys, method: &Method::PUT, ..seen(1, 2) };
            plan.decide(1, &seen, |_| 3).is_some()
        };
        assert!(matching(|_| {}));
        assert!(matching(|m| m.methods = vec![Method::POST, Method::PUT]));
        assert!(!matching(|m| m.methods = vec![Method::POST]));
        assert!(matching(|m| m.path = Some(WildMatch::new("/v1/public/orders/*"))));
        assert!(!matching(|m| m.path = Some(WildMatch::new("/v1/public/orders"))));
        assert!(matching(|m| m.key = Some(WildMatch::new("A-?"))));
        assert!(!matching(|m| m.key = Some(WildMatch::new("A-??"))));
        assert!(matching(|m| m.attempts = Some(2..=u64::MAX)));
        assert!(!matching(|m| m.attempts = Some(1..=1)));
        assert!(matching(|m| m.calls = Some(3..=3)));
        assert!(!matching(|m| m.calls = Some(4..=9)));
    }
}
