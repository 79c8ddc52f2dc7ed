//! The dispatcher through any weather: random answers, random times, and what must hold at every step.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use proptest::collection::vec;
use proptest::prelude::{Just, Strategy, any, prop_assert, prop_assert_eq, prop_oneof, proptest};
use proptest::test_runner::TestCaseError;

use super::{Dispatcher, Halt, Job, Settled, Step, Verdict};
use crate::client::policy::MAX_ATTEMPTS;
use crate::client::{Answer, Exchange, Pace};
use crate::ledger::Seq;
use crate::records::RecordKind;

/// How an attempt ends.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Weather {
    Accepted,
    Refused,
    Forbidden,
    Garbled,
    Busy,
    BusyFor(u16),
    Throttled,
    ThrottledFor(u16),
    Lost,
    NotSent,
    Renewed,
    Redirected,
}

impl Weather {
    fn exchange(self, key: &str) -> Exchange {
        let answered = |status: u16, body: String, retry_after: Option<u16>| {
            let retry_after = retry_after.map(|seconds| seconds.to_string());
            Exchange::Answered(Answer { status, body: body.into_bytes(), retry_after, quota: None })
        };
        let reason = || "broken".to_owned();
        match self {
            Weather::Accepted => answered(200, format!(r#"{{"ok": true, "external_id": "{key}"}}"#), None),
            Weather::Refused => answered(422, String::new(), None),
            Weather::Forbidden => answered(403, String::new(), None),
            Weather::Garbled => answered(200, "<html>".to_owned(), None),
            Weather::Busy => answered(503, String::new(), None),
            Weather::BusyFor(seconds) => answered(503, String::new(), Some(seconds)),
            Weather::Throttled => answered(429, String::new(), None),
            Weather::ThrottledFor(seconds) => answered(429, String::new(), Some(seconds)),
            Weather::Lost => Exchange::Lost { reason: reason() },
            Weather::NotSent => Exchange::NotSent { reason: reason() },
            Weather::Renewed => Exchange::Renewed { reason: reason() },
            Weather::Redirected => answered(302, String::new(), None),
        }
    }

    /// How long nobody may send after this answer.
    fn pause(self) -> Duration {
        match self {
            Weather::BusyFor(seconds) | Weather::ThrottledFor(seconds) => {
                Duration::from_secs(u64::from(seconds.max(1)))
            }
            Weather::Throttled => Duration::from_secs(1),
            _ => Duration::ZERO,
        }
    }
}

fn weather() -> impl Strategy<Value = Weather> {
    prop_oneof![
        8 => Just(Weather::Accepted),
        1 => Just(Weather::Refused),
        1 => Just(Weather::Forbidden),
        1 => Just(Weather::Garbled),
        2 => Just(Weather::Busy),
        1 => (0u16..1000).prop_map(Weather::BusyFor),
        2 => Just(Weather::Throttled),
        1 => (0u16..1000).prop_map(Weather::ThrottledFor),
        3 => Just(Weather::Lost),
        1 => Just(Weather::NotSent),
        1 => Just(Weather::Renewed),
    ]
}

/// What happens in turn, over and over: the answer, which of the attempts under way gets it, how long it takes in
/// milliseconds, and whether an answer comes before a wait is over.
type Turn = (Weather, u8, u16, bool);

/// A dispatcher with its records, and what a fair witness knows of them.
struct World {
    dispatcher: Dispatcher,
    concurrency: usize,
    gap: Duration,
    now: Instant,
    keys: Vec<u8>,
    loaded: usize,
    in_flight: Vec<Job>,
    settled: BTreeMap<Seq, Settled>,
    sends: Vec<(Seq, Instant)>,
    paused_until: Instant,
    kind: RecordKind,
    /// These may have been applied, and must not be sent again.
    once: BTreeSet<Seq>,
}

impl World {
    fn new(keys: Vec<u8>, concurrency: usize, is_paced: bool) -> World {
        World::of(RecordKind::Item, keys, concurrency, is_paced)
    }

    fn of(kind: RecordKind, keys: Vec<u8>, concurrency: usize, is_paced: bool) -> World {
        let now = Instant::now();
        let rate = is_paced.then(|| "10/s".parse().expect("a rate"));
        World {
            dispatcher: Dispatcher::new(kind, concurrency, Pace::new(rate, now)),
            concurrency,
            gap: if is_paced { Duration::from_millis(100) } else { Duration::ZERO },
            now,
            keys,
            loaded: 0,
            in_flight: Vec::new(),
            settled: BTreeMap::new(),
            sends: Vec::new(),
            paused_until: now,
            kind,
            once: BTreeSet::new(),
        }
    }

    fn is_once(&self) -> bool {
        self.kind == RecordKind::Invoice
    }

    fn key(&self, seq: Seq) -> u8 {
        self.keys[usize::try_from(seq).expect("a place")]
    }

    /// Runs until everything is settled or nothing more is sent.
    fn run(&mut self, turns: &[Turn]) -> Result<(), TestCaseError> {
        let mut turns = turns.iter().cycle();
        for _ in 0..100_000 {
            while self.loaded < self.keys.len() && self.dispatcher.backlog() < 16 {
                let key = (!self.is_once()).then(|| self.keys[self.loaded].to_string());
                self.dispatcher.push(Job::new(self.loaded as Seq, key, None, String::new()));
                self.loaded += 1;
            }
            prop_assert!(self.dispatcher.backlog() <= 16 + self.concurrency);
            match self.dispatcher.step(self.now) {
                Step::Send(job) => self.sent(job)?,
                Step::WaitUntil(at) => {
                    prop_assert!(at > self.now, "a wait for what is past");
                    let &turn = turns.next().expect("it never ends");
                    if turn.3 && !self.in_flight.is_empty() { self.answer(turn)? } else { self.now = at }
                }
                Step::Wait if self.in_flight.is_empty() => {
                    let is_done = self.dispatcher.is_empty() && self.loaded == self.keys.len();
                    prop_assert!(is_done || self.dispatcher.halt().is_some(), "stuck");
                    return self.ended();
                }
                Step::Wait => self.answer(*turns.next().expect("it never ends"))?,
            }
        }
        Err(TestCaseError::fail("it does not end"))
    }

    fn sent(&mut self, job: Job) -> Result<(), TestCaseError> {
        prop_assert!(self.dispatcher.halt().is_none(), "sent after the halt");
        prop_assert!(self.now >= self.paused_until, "sent while everybody was to wait");
        prop_assert!(self.in_flight.iter().all(|other| other.lane != job.lane), "two of a key under way");
        prop_assert!(!self.settled.contains_key(&job.seq), "sent after it was settled");
        prop_assert!(!self.once.contains(&job.seq), "sent again after it may have been applied");
        if let Some((_, last)) = self.sends.last() {
            prop_assert!(self.now - *last >= self.gap, "faster than the pace");
        }
        let earlier = self.sends.iter().filter(|(seq, _)| !self.is_once() && self.key(*seq) == self.key(job.seq));
        prop_assert!(earlier.map(|(seq, _)| *seq).max().is_none_or(|seq| seq <= job.seq), "overtaken");
        self.sends.push((job.seq, self.now));
        self.in_flight.push(job);
        prop_assert!(self.in_flight.len() <= self.concurrency);
        prop_assert_eq!(self.in_flight.len(), self.dispatcher.in_flight());
        Ok(())
    }

    fn answer(&mut self, (weather, which, millis, _): Turn) -> Result<(), TestCaseError> {
        self.now += Duration::from_millis(u64::from(millis));
        let job = self.in_flight.swap_remove(usize::from(which) % self.in_flight.len());
        self.paused_until = self.paused_until.max(self.now + weather.pause());
        if self.is_once() && matches!(weather, Weather::Lost | Weather::Garbled | Weather::Busy | Weather::BusyFor(_)) {
            self.once.insert(job.seq);
        }
        let (seq, exchange) = (job.seq, weather.exchange(job.lane.key().unwrap_or_default()));
        if let Some(settled) = self.dispatcher.settle(job, 1, exchange, self.now, f64::from(which) / 255.0) {
            let sends = self.sends.iter().filter(|(other, _)| *other == seq).count();
            prop_assert_eq!(settled.job.requests as usize, sends, "the requests of a record");
            prop_assert!(self.settled.insert(seq, settled).is_none(), "settled twice");
        }
        Ok(())
    }

    fn ended(&self) -> Result<(), TestCaseError> {
        let settled = self.settled.len() as u64;
        prop_assert_eq!(settled + self.dispatcher.unsettled(), self.loaded as u64, "the sum of all records");
        if self.dispatcher.halt().is_none() {
            prop_assert_eq!(self.dispatcher.unsettled(), left(&self.dispatcher));
        }
        Ok(())
    }
}

proptest! {
    #![proptest_config(proptest::test_runner::Config::with_cases(300))]

    #[test]
    fn in_any_weather_the_promises_hold_and_it_ends(
        keys in vec(0u8..30, 1..120),
        concurrency in 1usize..12,
        is_paced in any::<bool>(),
        turns in vec((weather(), any::<u8>(), 0u16..3_000, any::<bool>()), 1..80),
    ) {
        World::new(keys, concurrency, is_paced).run(&turns)?;
    }

    /// Few kinds of answers in turn are the worst weather: no success ever resets a count.
    #[test]
    fn in_bad_weather_it_ends_too(
        keys in vec(0u8..100, 1..120),
        concurrency in 1usize..12,
        turns in vec((weather(), any::<u8>(), 0u16..200, any::<bool>()), 1..4),
    ) {
        World::new(keys, concurrency, false).run(&turns)?;
    }
}

/// Short schedules, very many of them: of each kind of call, with and without a pace, in fair weather and foul.
fn thousands(kind: RecordKind, seed: u64) {
    let mut random = fastrand::Rng::with_seed(seed);
    for number in 0..25_000 {
        let keys = (0..random.usize(1..10)).map(|_| random.u8(..6)).collect();
        let mut world = World::of(kind, keys, random.usize(1..5), random.bool());
        let foul = random.u32(1..10);
        let turns: Vec<Turn> = (0..random.usize(1..12)).map(|_| turn(&mut random, foul)).collect();
        if let Err(broken) = world.run(&turns) {
            panic!("{broken} in schedule {number} of the seed {seed}: {turns:?}");
        }
    }
}

fn turn(random: &mut fastrand::Rng, foul: u32) -> Turn {
    let seconds = random.u16(..1_000);
    let weather = match random.u32(..10) {
        fair if fair >= foul => Weather::Accepted,
        _ => [
            Weather::Refused,
            Weather::Forbidden,
            Weather::Garbled,
            Weather::Busy,
            Weather::BusyFor(seconds),
            Weather::Throttled,
            Weather::ThrottledFor(seconds),
            Weather::Lost,
            Weather::NotSent,
            Weather::Renewed,
            Weather::Redirected,
        ][random.usize(..11)],
    };
    (weather, random.u8(..), random.u16(..3_000), random.bool())
}

#[test]
fn a_hundred_thousand_schedules_keep_the_promises_part_1() {
    thousands(RecordKind::Item, fastrand::u64(..));
}

#[test]
fn a_hundred_thousand_schedules_keep_the_promises_part_2() {
    thousands(RecordKind::Item, fastrand::u64(..));
}

#[test]
fn a_hundred_thousand_schedules_keep_the_promises_part_3() {
    thousands(RecordKind::Invoice, fastrand::u64(..));
}

#[test]
fn a_hundred_thousand_schedules_keep_the_promises_part_4() {
    thousands(RecordKind::Invoice, fastrand::u64(..));
}

fn all(weather: Weather, count: u8, concurrency: usize) -> World {
    let mut world = World::new((0..count).collect(), concurrency, false);
    world.run(&[(weather, 0, 0, true)]).expect("it ends");
    world
}

#[test]
fn what_is_accepted_is_sent_once_and_in_order() {
    let world = all(Weather::Accepted, 200, 1);
    assert!(world.sends.iter().map(|(seq, _)| *seq).eq(0..200));
    assert!(world.settled.values().all(|settled| matches!(settled.verdict, Verdict::Sent { .. })));
}

#[test]
fn a_service_that_goes_away_is_probed_by_one_record_at_a_time() {
    let mut world = World::new((0..200).collect(), 8, false);
    let mut most_after_the_first_probe = 0;
    let mut answers = 0;
    let mut probes = 0;
    loop {
        while world.loaded < 200 && world.dispatcher.backlog() < 16 {
            world.dispatcher.push(Job::new(world.loaded as Seq, Some(world.loaded.to_string()), None, String::new()));
            world.loaded += 1;
        }
        match world.dispatcher.step(world.now) {
            Step::Send(job) => {
                world.sent(job).expect("no promise broken");
                if world.dispatcher.probes.is_some() {
                    probes += 1;
                    most_after_the_first_probe = most_after_the_first_probe.max(world.in_flight.len());
                }
            }
            Step::WaitUntil(at) if world.in_flight.is_empty() => world.now = at,
            _ if world.in_flight.is_empty() => break,
            _ => {
                answers += 1;
                let weather = if answers <= 8 { Weather::Accepted } else { Weather::Lost };
                world.answer((weather, 0, 10, true)).expect("no promise broken");
            }
        }
    }
    assert_eq!((most_after_the_first_probe, probes), (1, 5));
    assert_eq!(world.dispatcher.halt(), Some(&Halt::Unreachable("broken".to_owned())));
    assert_eq!(world.settled.len(), 8);
}

#[test]
fn a_success_that_is_never_understood_is_unknown_and_a_busy_service_leaves_a_record_pending() {
    let world = all(Weather::Garbled, 1, 1);
    let verdict = &world.settled[&0].verdict;
    assert!(matches!(verdict, Verdict::Unknown { status: Some(200), .. }), "{verdict:?}");
    let world = all(Weather::Busy, 1, 1);
    assert_eq!((world.settled.len(), left(&world.dispatcher)), (0, 1));
    assert_eq!(world.sends.len(), MAX_ATTEMPTS as usize);
}

#[test]
fn throttling_that_does_not_end_stops_the_run_after_a_while() {
    for concurrency in [1, 8, 64] {
        let world = all(Weather::ThrottledFor(2), 200, concurrency);
        assert_eq!(world.dispatcher.halt(), Some(&Halt::Throttled));
        assert_eq!(world.dispatcher.unsettled(), world.loaded as u64);
        let pauses = (world.now - world.sends[0].1).as_secs() / 2;
        assert!((19..=21).contains(&pauses), "{pauses} pauses");
    }
}

#[test]
fn a_redirect_stops_everything() {
    let world = all(Weather::Redirected, 100, 4);
    assert!(matches!(world.dispatcher.halt(), Some(Halt::Policy(_))));
    assert_eq!(world.sends.len(), 4);
}

#[test]
fn a_later_record_does_not_overtake_one_of_its_key_that_is_left() {
    let mut world = World::new(vec![1, 2, 1, 3, 2, 1], 2, false);
    // The record 0 alone breaks, in all of its attempts; whatever else is under way is accepted.
    for _ in 0..200 {
        while world.loaded < world.keys.len() {
            world.dispatcher.push(Job::new(
                world.loaded as Seq,
                Some(world.keys[world.loaded].to_string()),
                None,
                String::new(),
            ));
            world.loaded += 1;
        }
        match world.dispatcher.step(world.now) {
            Step::Send(job) => world.sent(job).expect("no promise broken"),
            Step::WaitUntil(at) => world.now = at,
            Step::Wait if world.in_flight.is_empty() => break,
            Step::Wait => {
                let last = world.in_flight.len() - 1;
                let weather = if world.in_flight[last].seq == 0 { Weather::Lost } else { Weather::Accepted };
                world.answer((weather, last as u8, 10, true)).expect("no promise broken");
            }
        }
        if world.in_flight.len() == 1 && !world.settled.is_empty() {
            let weather = if world.in_flight[0].seq == 0 { Weather::Lost } else { Weather::Accepted };
            world.answer((weather, 0, 10, true)).expect("no promise broken");
        }
    }
    assert_eq!(world.dispatcher.halt(), None);
    assert_eq!(world.settled.keys().copied().collect::<Vec<_>>(), [1, 3, 4]);
    assert_eq!((left(&world.dispatcher), world.dispatcher.unsettled()), (3, 3));
}

fn left(dispatcher: &Dispatcher) -> u64 {
    dispatcher.left().map_or(0, |(records, _)| records)
}
