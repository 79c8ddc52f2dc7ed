//! The policy table: every status, and the copies of the tables in docs/sending.md.

use super::*;

const BEGIN: &str =
    "<!-- Generated from crates/client/src/policy: SHEETPORT_UPDATE_DOCS=1 cargo test -p sheetport-client policy -->\n";

/// The agreed policy, written a second time and in another form.
fn expected(call: Call, outcome: Outcome) -> Action {
    let lost = match call {
        Call::Idempotent | Call::Keyed => Action::Retry,
        Call::NonIdempotent => Action::Unknown,
    };
    match outcome {
        Outcome::NotConnected => Action::Retry,
        Outcome::Untrusted => Action::Stop,
        Outcome::Short => Action::Narrow,
        Outcome::NoResponse | Outcome::Unreadable => lost,
        Outcome::Moved => Action::Stop,
        Outcome::Status(status) => match status {
            204 | 205 => lost,
            200..=299 => Action::Accept,
            300..=399 if call != Call::Idempotent => Action::UnknownAndStop,
            300..=399 | 407 => Action::Stop,
            401 => Action::RenewToken,
            408 => lost,
            409 if call == Call::Keyed => Action::Retry,
            423 | 425 => Action::Retry,
            429 => Action::Throttle,
            400..=499 => Action::Fail,
            _ => lost,
        },
    }
}

#[test]
fn every_status_and_every_transport_failure_has_its_action() {
    let failures = [
        Outcome::Short,
        Outcome::NotConnected,
        Outcome::Untrusted,
        Outcome::NoResponse,
        Outcome::Unreadable,
        Outcome::Moved,
    ];
    // HTTP defines 100 to 599; the client accepts any three digits.
    for outcome in (0..=999).map(Outcome::Status).chain(failures) {
        for call in [Call::Idempotent, Call::Keyed, Call::NonIdempotent] {
            assert_eq!(decide(call, outcome), expected(call, outcome), "{call:?} {outcome:?}");
        }
    }
}

#[test]
fn a_server_error_is_never_a_refusal() {
    for status in 500..=599 {
        assert_eq!(decide(Call::Idempotent, Outcome::Status(status)), Action::Retry);
        assert_eq!(decide(Call::Keyed, Outcome::Status(status)), Action::Retry);
        assert_eq!(decide(Call::NonIdempotent, Outcome::Status(status)), Action::Unknown);
    }
}

#[test]
fn the_tables_in_the_docs_are_these() {
    let tables = [markdown(), verdict::tests::markdown()];
    sheetport_testing::generated::assert_tables("docs/sending.md", BEGIN, &tables);
}

/// Returns the policy table in Markdown.
fn markdown() -> String {
    let mut table =
        "| outcome of an attempt | idempotent call | call with a key | other call |\n|---|---|---|---|\n".to_owned();
    for rule in TABLE {
        let outcome = match &rule.applies_to {
            Matcher::Outcome(_) => rule.note.to_owned(),
            Matcher::Statuses(ranges) if *ranges.last().expect("a range") == (0..=u16::MAX) => rule.note.to_owned(),
            Matcher::Statuses(ranges) => {
                let statuses: Vec<String> = ranges.iter().map(range).collect();
                let note = if rule.note.is_empty() { String::new() } else { format!(" ({})", rule.note) };
                statuses.join(", ") + &note
            }
        };
        let [idempotent, keyed, other] = [rule.idempotent, rule.keyed, rule.non_idempotent].map(describe);
        table.push_str(&format!("| {outcome} | {idempotent} | {keyed} | {other} |\n"));
    }
    table
}

fn range(statuses: &RangeInclusive<u16>) -> String {
    match (statuses.start(), statuses.end()) {
        (first, last) if first == last => first.to_string(),
        (first, last) => format!("{first}–{last}"),
    }
}

fn describe(action: Action) -> &'static str {
    match action {
        Action::Accept => "as the body says: see the next table",
        Action::Fail => "*failed*",
        Action::Retry => "retry",
        Action::Throttle => "all workers wait, then retry",
        Action::Narrow => "fewer requests at once, then retry; counts as no attempt",
        Action::RenewToken => "renew the token, send once more, then stop",
        Action::Stop => "stop",
        Action::Unknown => "***unknown***",
        Action::UnknownAndStop => "***unknown***, then stop",
    }
}

#[test]
fn backoff_doubles_up_to_its_cap_with_full_jitter() {
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

#[test]
fn retry_after_is_parsed_as_seconds() {
    for (text, seconds) in [
        ("7", Some(7)),
        (" 0 ", Some(0)),
        ("99999999999999999999", Some(u64::MAX)),
        ("soon", None),
        ("", None),
        ("-1", None),
        ("1.5", Some(2)),
        ("2.0", Some(2)),
        ("1.", None),
        (".5", None),
        ("1.2.3", None),
        ("1e9", None),
    ] {
        assert_eq!(parse_retry_after(text), seconds.map(Duration::from_secs), "{text}");
    }
}
