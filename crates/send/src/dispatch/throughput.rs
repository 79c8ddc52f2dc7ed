//! Simulations of a service in trouble for all the time: how much it slows an upload down, and how far the upload gets.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use sheetport_client::{Pace, Response, Shortage, TransportOutcome};
use sheetport_ledger::RecordState;
use sheetport_records::RecordKind;

use super::{Dispatcher, Job, Limits, Step, StopReason};

/// Number of requests in flight, and time of an answer: enough for 1,280 requests per second.
const CONCURRENCY: usize = 64;
const LATENCY: Duration = Duration::from_millis(50);

fn accepted(job: &Job) -> TransportOutcome {
    let key = job.key.as_deref().unwrap_or_default();
    answer(200, format!(r#"{{"ok": true, "external_id": "{key}"}}"#), None)
}

fn answer(status: u16, body: String, retry_after: Option<&str>) -> TransportOutcome {
    let (body, retry_after) = (body.into_bytes(), retry_after.map(str::to_owned));
    TransportOutcome::Response(Response { status, body, retry_after, redirect: None, quota: None })
}

/// Sends `count` items at up to 900 per second to a service that answers by `fate`, which gets the number of the request and the
/// number of requests in flight. Returns the dispatcher and the time taken.
fn send(count: i64, mut fate: impl FnMut(u64, usize, &Job) -> TransportOutcome) -> (Dispatcher, Duration) {
    let began = Instant::now();
    let pace = Pace::new(Some("900/s".parse().expect("a rate")), began);
    let mut dispatcher = Dispatcher::new(RecordKind::Item, CONCURRENCY, pace, Limits::default());
    let (mut now, mut loaded, mut sent, mut settled) = (began, 0, 0, 0);
    let mut in_flight: BTreeMap<(Instant, u64), (Job, TransportOutcome)> = BTreeMap::new();
    let mut random = fastrand::Rng::with_seed(7);
    loop {
        while loaded < count && dispatcher.backlog() < 256 {
            dispatcher.push(Job::new(RecordKind::Item, loaded, Some(loaded.to_string()), None, String::new()));
            loaded += 1;
        }
        let next_answer = in_flight.first_key_value().map(|((at, _), _)| *at);
        let wake = match dispatcher.step(now) {
            Step::Send(job) => {
                sent += 1;
                let outcome = fate(sent, in_flight.len(), &job);
                let at = if matches!(outcome, TransportOutcome::Short(_)) { now } else { now + LATENCY };
                in_flight.insert((at, sent), (job, outcome));
                continue;
            }
            Step::Probe => {
                dispatcher.probed(answer(200, "[]".to_owned(), None), now, 0.5);
                continue;
            }
            Step::WaitUntil(at) => Some(next_answer.map_or(at, |answer| answer.min(at))),
            Step::Wait => next_answer,
        };
        let Some(wake) = wake else { break };
        now = now.max(wake);
        while let Some(answered) = in_flight.first_entry().filter(|next| next.key().0 <= now) {
            let (job, outcome) = answered.remove();
            let requests = u32::from(!matches!(outcome, TransportOutcome::Short(_)));
            settled += i64::from(dispatcher.settle(job, requests, outcome, now, random.f64()).is_some());
        }
    }
    assert_eq!((settled, dispatcher.stop_reason()), (count, None), "every record has its outcome");
    (dispatcher, now - began)
}

#[test]
fn some_answers_with_retry_after_delay_their_records_only() {
    let mut random = fastrand::Rng::with_seed(3);
    let (_, taken) = send(18_000, |_, _, job| match random.u32(..100) {
        ..3 => answer(503, String::new(), Some("1")),
        _ => accepted(job),
    });
    let per_second = 18_000.0 / taken.as_secs_f64();
    assert!(per_second >= 700.0, "{per_second:.0} records per second of 900 allowed");
}

#[test]
fn a_service_that_is_down_gets_five_requests_for_each_retry_after() {
    // Down from the 100th to the 119th answer: each Retry-After of 2 s counts for all.
    let (dispatcher, taken) = send(1_000, |number, _, job| match number {
        100..120 => answer(503, String::new(), Some("2")),
        _ => accepted(job),
    });
    assert!(dispatcher.retries <= 64 + 20, "{} retries", dispatcher.retries);
    assert!(taken >= Duration::from_secs(2), "{taken:?}");
}

#[test]
fn a_shortage_of_files_narrows_the_run_and_uses_up_no_attempt() {
    let files = 25;
    let mut in_vain = 0;
    let (dispatcher, taken) = send(9_000, |_, others, job| {
        if others >= files {
            in_vain += 1;
            return TransportOutcome::Short(Shortage::OpenFiles);
        }
        accepted(job)
    });
    assert_eq!((dispatcher.retries, dispatcher.throttled), (0, 0));
    let (shortage, most) = dispatcher.shortage().expect("a shortage");
    assert!(shortage == Shortage::OpenFiles && most <= files, "{most} at once");
    assert!(in_vain <= CONCURRENCY + 5, "{in_vain} attempts in vain");
    let per_second = 9_000.0 / taken.as_secs_f64();
    assert!(per_second >= 400.0, "{per_second:.0} per second of the {} that {files} files allow", files * 20);
}

#[test]
fn without_any_file_left_the_service_is_out_of_reach_and_no_record_has_failed() {
    let pace = Pace::new(None, Instant::now());
    let mut dispatcher = Dispatcher::new(RecordKind::Item, 1, pace, Limits::default());
    dispatcher.push(Job::new(RecordKind::Item, 0, Some("1"), None, String::new()));
    let mut now = Instant::now();
    for _ in 0..100 {
        match dispatcher.step(now) {
            Step::Send(job) => {
                let settled = dispatcher.settle(job, 0, TransportOutcome::Short(Shortage::Ports), now, 0.5);
                assert!(settled.is_none(), "{settled:?}");
            }
            Step::Probe => dispatcher.probed(TransportOutcome::Short(Shortage::Ports), now, 0.5),
            Step::WaitUntil(at) => now = at,
            Step::Wait => break,
        }
    }
    let reason = dispatcher.stop_reason().expect("an end").to_string();
    assert!(reason.contains("no free port"), "{reason}");
    assert_eq!(dispatcher.unsettled(), 1);
}

/// Sends `count` invoices, each of which is lost with this probability, and returns how many are settled and unknown.
fn send_invoices(count: i64, lost: f64, max_unknown: Option<u64>) -> (Dispatcher, i64, u64) {
    let mut now = Instant::now();
    let limits = Limits { max_unknown, ..Limits::default() };
    let mut dispatcher = Dispatcher::new(RecordKind::Invoice, 8, Pace::new(None, now), limits);
    (0..count).for_each(|seq| dispatcher.push(Job::new(RecordKind::Invoice, seq, None::<String>, None, String::new())));
    let (mut in_flight, mut settled, mut unknown) = (Vec::new(), 0, 0);
    let mut random = fastrand::Rng::with_seed(11);
    loop {
        match dispatcher.step(now) {
            Step::Send(job) => in_flight.push(job),
            Step::Probe => dispatcher.probed(answer(200, "[]".to_owned(), None), now, 0.5),
            Step::WaitUntil(at) if in_flight.is_empty() => now = at,
            Step::Wait if in_flight.is_empty() => return (dispatcher, settled, unknown),
            Step::WaitUntil(_) | Step::Wait => {
                let outcome = match random.f64() < lost {
                    true => TransportOutcome::NoResponse { reason: "reset".to_owned() },
                    false => answer(200, r#"{"id": 7}"#.to_owned(), None),
                };
                let done = dispatcher.settle(in_flight.remove(0), 1, outcome, now, 0.5).expect("never repeated");
                settled += 1;
                unknown += u64::from(done.state == RecordState::Unknown);
            }
        }
    }
}

#[test]
fn a_limit_for_unknown_records_carries_an_upload_through_a_faulty_service() {
    let (without, settled, _) = send_invoices(1_500, 0.17, None);
    assert!(matches!(without.stop_reason(), Some(StopReason::TooManyUnknown(_))) && settled < 500, "{settled} settled");
    let (with, settled, unknown) = send_invoices(1_500, 0.17, Some(400));
    assert_eq!((with.stop_reason(), settled), (None, 1_500), "{unknown} unknown");
    for max in [0, 1, 5, 30] {
        let (with, _, unknown) = send_invoices(1_500, 0.17, Some(max));
        assert_eq!(with.stop_reason(), Some(&StopReason::UnknownBeyondLimit(max + 1)));
        assert_eq!(unknown, max + 1, "exceeded by one record, not by all in flight");
    }
    // A service that takes nothing any more is left alone, whatever the limit.
    let (down, _, unknown) = send_invoices(1_500, 1.0, Some(1_000));
    assert!(matches!(down.stop_reason(), Some(StopReason::TooManyUnknown(_))) && unknown < 20, "{unknown} unknown");
}
