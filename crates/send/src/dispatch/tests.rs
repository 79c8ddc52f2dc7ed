//! Simulations of the dispatcher: random answers of the service at random times, with invariants checked at every step.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use proptest::collection::vec;
use proptest::prelude::{Just, Strategy, any, prop_assert, prop_assert_eq, prop_oneof, proptest};
use proptest::test_runner::TestCaseError;
use sheetport_client::policy::MAX_ATTEMPTS;
use sheetport_client::{Pace, Redirect, Response, Shortage, Stop, TransportOutcome};
use sheetport_ledger::{RecordState, Seq};
use sheetport_records::RecordKind;

use super::{Dispatcher, Job, Limits, Settled, Step, StopReason};

/// The service's reaction to an attempt.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Reaction {
    Accepted,
    Refused,
    Forbidden,
    NotFound,
    Locked,
    SeeOther,
    Garbled,
    Busy,
    BusyFor(u16),
    Throttled,
    ThrottledFor(u16),
    Lost,
    NotSent,
    Short,
    Renewed,
    Redirected,
}

impl Reaction {
    fn outcome(self, key: &str) -> TransportOutcome {
        let answered = |status: u16, body: String, retry_after: Option<u16>| {
            let retry_after = retry_after.map(|seconds| seconds.to_string());
            TransportOutcome::Response(Response {
                status,
                body: body.into_bytes(),
                retry_after,
                redirect: None,
                quota: None,
            })
        };
        let reason = || "broken".to_owned();
        match self {
            Reaction::Accepted => answered(200, format!(r#"{{"ok": true, "external_id": "{key}"}}"#), None),
            Reaction::Refused => answered(422, String::new(), None),
            Reaction::Forbidden => answered(403, String::new(), None),
            Reaction::NotFound => answered(404, String::new(), None),
            Reaction::Locked => answered(423, String::new(), None),
            Reaction::SeeOther => answered(303, String::new(), None),
            Reaction::Garbled => answered(200, "<html>".to_owned(), None),
            Reaction::Busy => answered(503, String::new(), None),
            Reaction::BusyFor(seconds) => answered(503, String::new(), Some(seconds)),
            Reaction::Throttled => answered(429, String::new(), None),
            Reaction::ThrottledFor(seconds) => answered(429, String::new(), Some(seconds)),
            Reaction::Lost => TransportOutcome::NoResponse { reason: reason() },
            Reaction::NotSent => TransportOutcome::NotSent { reason: reason() },
            Reaction::Short => TransportOutcome::Short(Shortage::OpenFiles),
            Reaction::Renewed => TransportOutcome::TokenRenewed { reason: reason() },
            Reaction::Redirected => TransportOutcome::Response(Response {
                status: 308,
                body: Vec::new(),
                retry_after: None,
                redirect: Some(Redirect { to: "https://shop.example/v1".to_owned(), is_same_path: true }),
                quota: None,
            }),
        }
    }

    /// Whether a non-idempotent call may have been applied.
    fn is_ambiguous(self) -> bool {
        matches!(self, Reaction::Lost | Reaction::Garbled | Reaction::Busy | Reaction::BusyFor(_) | Reaction::SeeOther)
    }

    /// How long the record may not be sent again after this reaction.
    fn wait(self) -> Duration {
        match self {
            Reaction::BusyFor(seconds) | Reaction::ThrottledFor(seconds) => {
                Duration::from_secs(u64::from(seconds.max(1)))
            }
            Reaction::Throttled => Duration::from_secs(1),
            _ => Duration::ZERO,
        }
    }
}

fn reaction() -> impl Strategy<Value = Reaction> {
    prop_oneof![
        8 => Just(Reaction::Accepted),
        1 => Just(Reaction::Refused),
        1 => Just(Reaction::Forbidden),
        1 => Just(Reaction::NotFound),
        1 => Just(Reaction::Locked),
        1 => Just(Reaction::Garbled),
        2 => Just(Reaction::Busy),
        1 => (0u16..1000).prop_map(Reaction::BusyFor),
        2 => Just(Reaction::Throttled),
        1 => (0u16..1000).prop_map(Reaction::ThrottledFor),
        3 => Just(Reaction::Lost),
        1 => Just(Reaction::NotSent),
        1 => Just(Reaction::Short),
        1 => Just(Reaction::Renewed),
    ]
}

/// An event of the schedule, which is repeated: the reaction, the index of the attempt in flight that gets it, its time in
/// milliseconds, and whether it comes before a wait is over.
type Event = (Reaction, u8, u16, bool);

/// A dispatcher, its records and everything observed about them.
struct Simulation {
    dispatcher: Dispatcher,
    concurrency: usize,
    gap: Duration,
    now: Instant,
    keys: Vec<u8>,
    loaded: usize,
    in_flight: Vec<Job>,
    probes: usize,
    settled: BTreeMap<Seq, Settled>,
    sends: Vec<(Seq, Instant)>,
    paused_until: Instant,
    /// The last answers in a row that asked for a wait.
    asked_to_wait: usize,
    /// When records may be sent again.
    waiting: BTreeMap<Seq, Instant>,
    kind: RecordKind,
    /// Records that may have been applied and must not be sent again.
    ambiguous: BTreeSet<Seq>,
}

impl Simulation {
    fn new(keys: Vec<u8>, concurrency: usize, is_paced: bool) -> Simulation {
        Simulation::of(RecordKind::Item, keys, concurrency, is_paced)
    }

    fn of(kind: RecordKind, keys: Vec<u8>, concurrency: usize, is_paced: bool) -> Simulation {
        let now = Instant::now();
        let rate = is_paced.then(|| "10/s".parse().expect("a rate"));
        Simulation {
            dispatcher: Dispatcher::new(kind, concurrency, Pace::new(rate, now), Limits::default()),
            concurrency,
            gap: if is_paced { Duration::from_millis(100) } else { Duration::ZERO },
            now,
            keys,
            loaded: 0,
            in_flight: Vec::new(),
            probes: 0,
            settled: BTreeMap::new(),
            sends: Vec::new(),
            paused_until: now,
            asked_to_wait: 0,
            waiting: BTreeMap::new(),
            kind,
            ambiguous: BTreeSet::new(),
        }
    }

    fn is_non_idempotent(&self) -> bool {
        self.kind == RecordKind::Invoice
    }

    fn key(&self, seq: Seq) -> u8 {
        self.keys[usize::try_from(seq).expect("a place")]
    }

    /// Runs until everything is settled or nothing more is sent.
    fn run(&mut self, events: &[Event]) -> Result<(), TestCaseError> {
        let mut events = events.iter().cycle();
        for _ in 0..100_000 {
            while self.loaded < self.keys.len() && self.dispatcher.backlog() < 16 {
                let key = (!self.is_non_idempotent()).then(|| self.keys[self.loaded].to_string());
                self.dispatcher.push(Job::new(self.kind, self.loaded as Seq, key, None, String::new()));
                self.loaded += 1;
            }
            self.keep_released()?;
            prop_assert!(self.dispatcher.backlog() <= 16 + self.concurrency);
            match self.dispatcher.step(self.now) {
                Step::Send(job) => self.sent(job)?,
                Step::Probe => self.probe(*events.next().expect("the schedule repeats"))?,
                Step::WaitUntil(at) => {
                    prop_assert!(at > self.now, "a wait until a time in the past");
                    let &event = events.next().expect("the schedule repeats");
                    if event.3 && !self.in_flight.is_empty() { self.answer(event)? } else { self.now = at }
                }
                Step::Wait if self.in_flight.is_empty() => {
                    let is_done = self.dispatcher.is_empty() && self.loaded == self.keys.len();
                    prop_assert!(is_done || self.dispatcher.stop_reason().is_some(), "stuck");
                    return self.ended();
                }
                Step::Wait => self.answer(*events.next().expect("the schedule repeats"))?,
            }
        }
        Err(TestCaseError::fail("the run does not end"))
    }

    fn sent(&mut self, job: Job) -> Result<(), TestCaseError> {
        prop_assert!(self.dispatcher.stop_reason().is_none(), "sent after the stop");
        prop_assert!(self.now >= self.paused_until, "sent during a pause");
        let waits = self.waiting.get(&job.seq).is_some_and(|until| self.now < *until);
        prop_assert!(!waits, "sent again before the time that the service asked for");
        prop_assert!(
            self.in_flight.iter().all(|other| other.ordering_key != job.ordering_key),
            "two records with one key in flight"
        );
        prop_assert!(!self.settled.contains_key(&job.seq), "sent after it was settled");
        prop_assert!(!self.ambiguous.contains(&job.seq), "sent again after it may have been applied");
        if let Some((_, last)) = self.sends.last() {
            prop_assert!(self.now - *last >= self.gap, "faster than the pace");
        }
        let earlier =
            self.sends.iter().filter(|(seq, _)| !self.is_non_idempotent() && self.key(*seq) == self.key(job.seq));
        prop_assert!(earlier.map(|(seq, _)| *seq).max().is_none_or(|seq| seq <= job.seq), "overtaken");
        self.sends.push((job.seq, self.now));
        self.in_flight.push(job);
        prop_assert!(self.in_flight.len() <= self.concurrency);
        prop_assert_eq!(self.in_flight.len(), self.dispatcher.in_flight());
        Ok(())
    }

    fn answer(&mut self, (reaction, which, millis, _): Event) -> Result<(), TestCaseError> {
        self.now += Duration::from_millis(u64::from(millis));
        let job = self.in_flight.swap_remove(usize::from(which) % self.in_flight.len());
        let until = self.now + reaction.wait();
        self.waiting.insert(job.seq, until);
        match reaction {
            Reaction::BusyFor(_) => self.asked_to_wait += 1,
            Reaction::Accepted | Reaction::Refused | Reaction::Forbidden | Reaction::NotFound => self.asked_to_wait = 0,
            _ => {}
        }
        if matches!(reaction, Reaction::Throttled | Reaction::ThrottledFor(_)) || self.asked_to_wait >= 5 {
            self.paused_until = self.paused_until.max(until);
        }
        if self.is_non_idempotent() && reaction.is_ambiguous() {
            self.ambiguous.insert(job.seq);
        }
        let outcome = reaction.outcome(job.key.as_deref().unwrap_or_default());
        let requests = u32::from(reaction != Reaction::Short);
        if requests == 0 {
            let sent = self.sends.iter().rposition(|(seq, _)| *seq == job.seq);
            self.sends.remove(sent.expect("it was sent"));
        }
        let settled = self.dispatcher.settle(job, requests, outcome, self.now, f64::from(which) / 255.0);
        settled.map_or(Ok(()), |settled| self.keep(settled))?;
        self.keep_released()
    }

    fn probe(&mut self, (reaction, which, millis, _): Event) -> Result<(), TestCaseError> {
        prop_assert!(self.in_flight.is_empty(), "a probe beside other requests");
        prop_assert!(self.now >= self.paused_until, "probed during a pause");
        self.probes += 1;
        self.now += Duration::from_millis(u64::from(millis));
        self.paused_until = self.paused_until.max(self.now + reaction.wait());
        self.dispatcher.probed(reaction.outcome(""), self.now, f64::from(which) / 255.0);
        Ok(())
    }

    fn keep_released(&mut self) -> Result<(), TestCaseError> {
        self.dispatcher.released().into_iter().try_for_each(|settled| self.keep(settled))
    }

    fn keep(&mut self, settled: Settled) -> Result<(), TestCaseError> {
        let seq = settled.job.seq;
        let sends = self.sends.iter().filter(|(other, _)| *other == seq).count();
        prop_assert_eq!(settled.job.requests as usize, sends, "the number of requests of a record");
        prop_assert!(self.settled.insert(seq, settled).is_none(), "settled twice");
        Ok(())
    }

    fn unknown(&self) -> usize {
        self.settled.values().filter(|settled| settled.state == RecordState::Unknown).count()
    }

    fn ended(&self) -> Result<(), TestCaseError> {
        let settled = self.settled.len() as u64;
        prop_assert_eq!(settled + self.dispatcher.unsettled(), self.loaded as u64, "the number of records");
        if self.dispatcher.stop_reason().is_none() {
            prop_assert_eq!(self.dispatcher.unsettled(), deferred(&self.dispatcher));
        }
        Ok(())
    }
}

proptest! {
    #![proptest_config(proptest::test_runner::Config::with_cases(300))]

    #[test]
    fn invariants_hold_for_any_sequence_of_reactions(
        keys in vec(0u8..30, 1..120),
        concurrency in 1usize..12,
        is_paced in any::<bool>(),
        events in vec((reaction(), any::<u8>(), 0u16..3_000, any::<bool>()), 1..80),
    ) {
        Simulation::new(keys, concurrency, is_paced).run(&events)?;
    }

    /// Schedules of few reactions are the hardest: no success ever resets a counter.
    #[test]
    fn runs_end_if_the_service_keeps_failing(
        keys in vec(0u8..100, 1..120),
        concurrency in 1usize..12,
        events in vec((reaction(), any::<u8>(), 0u16..200, any::<bool>()), 1..4),
    ) {
        Simulation::new(keys, concurrency, false).run(&events)?;
    }
}

/// Runs 25,000 short schedules with and without a rate limit, from mostly successful to mostly failing.
fn run_random_schedules(kind: RecordKind, seed: u64) {
    let mut random = fastrand::Rng::with_seed(seed);
    for number in 0..25_000 {
        let keys = (0..random.usize(1..10)).map(|_| random.u8(..6)).collect();
        let mut simulation = Simulation::of(kind, keys, random.usize(1..5), random.bool());
        let failing = random.u32(1..10);
        let events: Vec<Event> = (0..random.usize(1..12)).map(|_| event(&mut random, failing)).collect();
        if let Err(broken) = simulation.run(&events) {
            panic!("{broken} in schedule {number} of the seed {seed}: {events:?}");
        }
    }
}

fn event(random: &mut fastrand::Rng, failing: u32) -> Event {
    let seconds = random.u16(..1_000);
    let reaction = match random.u32(..10) {
        chance if chance >= failing => Reaction::Accepted,
        _ => [
            Reaction::Refused,
            Reaction::Forbidden,
            Reaction::NotFound,
            Reaction::Locked,
            Reaction::SeeOther,
            Reaction::Garbled,
            Reaction::Busy,
            Reaction::BusyFor(seconds),
            Reaction::Throttled,
            Reaction::ThrottledFor(seconds),
            Reaction::Lost,
            Reaction::NotSent,
            Reaction::Short,
            Reaction::Renewed,
            Reaction::Redirected,
        ][random.usize(..15)],
    };
    (reaction, random.u8(..), random.u16(..3_000), random.bool())
}

#[test]
fn random_schedules_keep_the_invariants_for_items_1() {
    run_random_schedules(RecordKind::Item, fastrand::u64(..));
}

#[test]
fn random_schedules_keep_the_invariants_for_items_2() {
    run_random_schedules(RecordKind::Item, fastrand::u64(..));
}

#[test]
fn random_schedules_keep_the_invariants_for_invoices_1() {
    run_random_schedules(RecordKind::Invoice, fastrand::u64(..));
}

#[test]
fn random_schedules_keep_the_invariants_for_invoices_2() {
    run_random_schedules(RecordKind::Invoice, fastrand::u64(..));
}

fn all(reaction: Reaction, count: u8, concurrency: usize) -> Simulation {
    let mut simulation = Simulation::new((0..count).collect(), concurrency, false);
    simulation.run(&[(reaction, 0, 0, true)]).expect("the run ends");
    simulation
}

#[test]
fn accepted_records_are_sent_once_and_in_order() {
    let simulation = all(Reaction::Accepted, 200, 1);
    assert!(simulation.sends.iter().map(|(seq, _)| *seq).eq(0..200));
    assert!(simulation.settled.values().all(|settled| settled.state == RecordState::Sent));
}

/// Runs a simulation of 200 records in which the service accepts the first records and then always reacts in the same way,
/// to probes in another.
fn outage(kind: RecordKind, concurrency: usize, accepted: usize, reaction: Reaction, probes: Reaction) -> Simulation {
    let mut simulation = Simulation::of(kind, (0..200).collect(), concurrency, false);
    let mut answers = 0;
    for _ in 0..100_000 {
        while simulation.loaded < 200 && simulation.dispatcher.backlog() < 16 {
            let key = (kind != RecordKind::Invoice).then(|| simulation.loaded.to_string());
            simulation.dispatcher.push(Job::new(kind, simulation.loaded as Seq, key, None, String::new()));
            simulation.loaded += 1;
        }
        let invariants = match simulation.dispatcher.step(simulation.now) {
            Step::Send(job) => simulation.sent(job),
            Step::Probe => {
                simulation.probe((if answers < accepted { Reaction::Accepted } else { probes }, 0, 10, true))
            }
            Step::WaitUntil(at) if simulation.in_flight.is_empty() => {
                simulation.now = at;
                Ok(())
            }
            _ if simulation.in_flight.is_empty() => return simulation,
            _ => {
                answers += 1;
                simulation.answer((if answers <= accepted { Reaction::Accepted } else { reaction }, 0, 10, true))
            }
        };
        invariants.expect("all invariants hold");
    }
    panic!("the run does not end");
}

#[test]
fn unreachable_service_is_probed_before_records_are_sent_again() {
    let unreachable = StopReason::Service(Stop::Unreachable("broken".to_owned()));
    let simulation = outage(RecordKind::Item, 8, 8, Reaction::Lost, Reaction::Lost);
    assert_eq!(simulation.dispatcher.stop_reason(), Some(&unreachable));
    assert_eq!((simulation.probes, simulation.settled.len()), (5, 8));
    // Reads are answered, but writes are not: each probe is followed by a single record.
    let simulation = outage(RecordKind::Item, 8, 8, Reaction::Lost, Reaction::Accepted);
    assert_eq!(simulation.dispatcher.stop_reason(), Some(&unreachable));
    assert_eq!((simulation.probes, simulation.settled.len()), (5, 8));
}

#[test]
fn outage_leaves_at_most_twice_the_requests_in_flight_unknown() {
    let seconds = 3;
    for reaction in [Reaction::Lost, Reaction::Garbled, Reaction::Busy, Reaction::BusyFor(seconds)] {
        for probes in [reaction, Reaction::Accepted, Reaction::Forbidden] {
            for (concurrency, accepted) in (1..40).flat_map(|concurrency| [(concurrency, 0), (concurrency, 60)]) {
                let simulation = outage(RecordKind::Invoice, concurrency, accepted, reaction, probes);
                let unknown = simulation.unknown();
                let of = format!("{reaction:?}, {probes:?}, {concurrency} at a time, {accepted} accepted");
                assert!(unknown <= 2 * concurrency.max(2), "{unknown} unknown: {of}");
                assert!(simulation.dispatcher.stop_reason().is_some(), "{of}");
                if accepted == 0 && probes == reaction {
                    assert_eq!(simulation.sends.len(), 0, "a record was sent to a service that is down: {of}");
                }
            }
        }
    }
}

#[test]
fn service_that_often_leaves_records_unknown_stops_the_run_soon() {
    for (concurrency, percent) in [(4, 20), (8, 20), (8, 50), (16, 50), (16, 90)] {
        let mut random = fastrand::Rng::with_seed(percent.into());
        let events: Vec<Event> = (0..2_000)
            .map(|_| (if random.u32(..100) < percent { Reaction::Lost } else { Reaction::Accepted }, 0, 10, true))
            .collect();
        let keys = vec![0; 3_000];
        let mut simulation = Simulation::of(RecordKind::Invoice, keys, concurrency, false);
        simulation.run(&events).expect("the run ends");
        assert!(simulation.dispatcher.stop_reason().is_some());
        let unknown = simulation.unknown();
        assert!(unknown <= 3 * concurrency + 2, "{unknown} unknown with {concurrency} at a time and {percent} %");
    }
}

#[test]
fn single_unknown_outcomes_do_not_stop_the_run() {
    let events: Vec<Event> =
        (0..100).map(|number| (if number == 50 { Reaction::Lost } else { Reaction::Accepted }, 0, 10, true)).collect();
    for concurrency in [1, 2, 8] {
        let mut simulation = Simulation::of(RecordKind::Invoice, vec![0; 3_000], concurrency, false);
        simulation.run(&events).expect("the run ends");
        assert_eq!(simulation.dispatcher.stop_reason(), None, "{concurrency}");
        assert!((10..=35).contains(&simulation.unknown()), "{}", simulation.unknown());
    }
}

#[test]
fn max_errors_counts_unknown_records() {
    let now = Instant::now();
    let mut dispatcher = Dispatcher::new(
        RecordKind::Invoice,
        4,
        Pace::new(None, now),
        Limits { max_errors: Some(0), ..Limits::default() },
    );
    dispatcher.push(Job::new(RecordKind::Invoice, 0, None::<String>, None, String::new()));
    assert!(matches!(dispatcher.step(now), Step::Probe));
    dispatcher.probed(Reaction::Accepted.outcome(""), now, 0.5);
    let Step::Send(job) = dispatcher.step(now) else { panic!("not sent") };
    assert!(dispatcher.settle(job, 1, Reaction::Lost.outcome(""), now, 0.5).is_some());
    assert_eq!(dispatcher.stop_reason(), Some(&StopReason::TooManyErrors(1)));
}

#[test]
fn unreadable_success_ends_as_unknown_and_a_busy_service_leaves_the_record_pending() {
    let simulation = all(Reaction::Garbled, 1, 1);
    let settled = &simulation.settled[&0];
    assert_eq!((settled.state, settled.http_status), (RecordState::Unknown, Some(200)));
    let simulation = all(Reaction::Busy, 1, 1);
    assert_eq!((simulation.settled.len(), deferred(&simulation.dispatcher)), (0, 1));
    assert_eq!(simulation.sends.len(), MAX_ATTEMPTS as usize);
}

#[test]
fn endless_throttling_stops_the_run() {
    for concurrency in [1, 8, 64] {
        let simulation = all(Reaction::ThrottledFor(2), 200, concurrency);
        assert_eq!(simulation.dispatcher.stop_reason(), Some(&StopReason::Service(Stop::Throttled)));
        assert_eq!(simulation.dispatcher.unsettled(), simulation.loaded as u64);
        let pauses = (simulation.now - simulation.sends[0].1).as_secs() / 2;
        assert!((19..=21).contains(&pauses), "{pauses} pauses");
    }
}

#[test]
fn redirect_stops_the_run() {
    let simulation = all(Reaction::Redirected, 100, 4);
    assert!(matches!(
        simulation.dispatcher.stop_reason(),
        Some(StopReason::Service(Stop::Redirected { status: 308, .. }))
    ));
    assert_eq!(simulation.sends.len(), 4);
}

#[test]
fn records_do_not_overtake_a_deferred_record_with_their_key() {
    let mut simulation = Simulation::new(vec![1, 2, 1, 3, 2, 1], 2, false);
    // All attempts of record 0 fail; all others succeed.
    for _ in 0..200 {
        while simulation.loaded < simulation.keys.len() {
            simulation.dispatcher.push(Job::new(
                simulation.kind,
                simulation.loaded as Seq,
                Some(simulation.keys[simulation.loaded].to_string()),
                None,
                String::new(),
            ));
            simulation.loaded += 1;
        }
        match simulation.dispatcher.step(simulation.now) {
            Step::Send(job) => simulation.sent(job).expect("all invariants hold"),
            Step::Probe => panic!("no record is non-idempotent"),
            Step::WaitUntil(at) => simulation.now = at,
            Step::Wait if simulation.in_flight.is_empty() => break,
            Step::Wait => {
                let last = simulation.in_flight.len() - 1;
                let reaction = if simulation.in_flight[last].seq == 0 { Reaction::Lost } else { Reaction::Accepted };
                simulation.answer((reaction, last as u8, 10, true)).expect("all invariants hold");
            }
        }
        if simulation.in_flight.len() == 1 && !simulation.settled.is_empty() {
            let reaction = if simulation.in_flight[0].seq == 0 { Reaction::Lost } else { Reaction::Accepted };
            simulation.answer((reaction, 0, 10, true)).expect("all invariants hold");
        }
    }
    assert_eq!(simulation.dispatcher.stop_reason(), None);
    assert_eq!(simulation.settled.keys().copied().collect::<Vec<_>>(), [1, 3, 4]);
    assert_eq!((deferred(&simulation.dispatcher), simulation.dispatcher.unsettled()), (3, 3));
}

fn deferred(dispatcher: &Dispatcher) -> u64 {
    dispatcher.deferred().map_or(0, |(records, _)| records)
}

#[test]
fn wrong_base_address_stops_the_run() {
    let simulation = all(Reaction::NotFound, 100, 1);
    assert_eq!(simulation.dispatcher.stop_reason(), Some(&StopReason::Service(Stop::WrongAddress)));
    assert_eq!((simulation.settled.len(), simulation.dispatcher.unsettled()), (0, simulation.loaded as u64));
    // A probe that is answered shows that the service has none of these records, and so does any other response.
    for records in [5, 100] {
        let mut simulation = Simulation::new((0..records).collect(), 4, false);
        let first = [(Reaction::NotFound, 0, 0, true); 5].into_iter().chain([(Reaction::NotFound, 0, 0, true); 3]);
        let in_flight = if records == 5 { 5 } else { 8 };
        let events = first.take(in_flight).chain([(Reaction::Accepted, 0, 0, true)]);
        simulation
            .run(&events.chain([(Reaction::NotFound, 0, 0, true); 200]).collect::<Vec<_>>())
            .expect("the run ends");
        assert_eq!((simulation.probes, simulation.dispatcher.stop_reason()), (1, None));
        assert_eq!(simulation.settled.len(), usize::from(records));
        assert!(simulation.settled.values().all(|settled| settled.state == RecordState::Failed));
    }
    let mut simulation = Simulation::new((0..100).collect(), 1, false);
    let events = [(Reaction::Accepted, 0, 0, true)].into_iter().chain([(Reaction::NotFound, 0, 0, true); 99]);
    simulation.run(&events.collect::<Vec<_>>()).expect("the run ends");
    assert_eq!((simulation.dispatcher.stop_reason(), simulation.settled.len()), (None, 100));
}

#[test]
fn see_other_to_a_create_is_unknown_and_stops_the_run() {
    let mut simulation = Simulation::of(RecordKind::Invoice, (0..20).collect(), 1, false);
    let events = [Reaction::Accepted, Reaction::SeeOther].map(|reaction| (reaction, 0, 0, true));
    simulation.run(&events).expect("the run ends");
    let stop = StopReason::Service(Stop::Redirected { status: 303, to: None });
    assert_eq!(simulation.dispatcher.stop_reason(), Some(&stop));
    assert_eq!(simulation.settled.values().map(|settled| settled.state).collect::<Vec<_>>(), [RecordState::Unknown]);
}
