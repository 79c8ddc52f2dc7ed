//! Simulations of rate limits.

use super::*;

#[test]
fn auto_rate_finds_the_limit_and_stays_below() {
    for (limit, burst) in [(10.0, 1.0), (10.0, 10.0), (50.0, 5.0), (300.0, 30.0), (2.0, 1.0)] {
        let mut service = Service { limit, burst, tokens: burst, at: Instant::now() };
        let search = Pace::new(Some(Speed::Auto(None)), service.at);
        let first = drive(&mut service, search, 600);
        assert!((0.9..=1.0).contains(&(first.rate / limit)), "{limit}: {first:?}");
        assert!(first.refused < 0.01, "{limit}: {first:?}");
        // The next run starts with the limit that was found.
        let next = Pace::new(Some(Speed::Auto(first.learned_rate)), service.at);
        let begun = drive(&mut service, next, 30);
        assert!((0.8..=1.05).contains(&(begun.rate / limit)), "{limit}: {begun:?}");
    }
}

#[test]
fn a_free_rate_finds_the_limit_once_it_is_refused() {
    for (limit, burst) in [(10.0, 1.0), (10.0, 10.0), (50.0, 50.0), (300.0, 30.0)] {
        let mut service = Service { limit, burst, tokens: burst, at: Instant::now() };
        let pace = Pace::free_until_refused(service.at);
        assert_eq!(pace.per_second(service.at), None);
        let driven = drive(&mut service, pace, 600);
        assert!((0.9..=1.0).contains(&(driven.rate / limit)), "{limit}: {driven:?}");
        assert!(driven.refused < 0.01, "{limit}: {driven:?}");
    }
    let pace = Pace::free_until_refused(Instant::now());
    let now = Instant::now();
    assert!((0..100_000).all(|_| pace.permit(now).is_ok()), "without a refusal there is no limit");
}

#[test]
fn auto_rate_does_not_grow_while_nothing_is_sent() {
    let began = Instant::now();
    let pace = Pace::new(Some(Speed::Auto(None)), began);
    let mut now = began;
    // The caller waits a minute after each request.
    for _ in 0..20 {
        now += Duration::from_secs(60);
        assert!(pace.permit(now).is_ok());
    }
    assert!(pace.per_second(now).is_some_and(|rate| rate < 30.0), "{:?}", pace.per_second(now));
    assert_eq!(pace.learned_rate(), None);
}

#[test]
fn auto_rate_follows_a_raised_limit() {
    let mut service = Service { limit: 20.0, burst: 20.0, tokens: 0.0, at: Instant::now() };
    let pace = Pace::new(Some(Speed::Auto(Some(9.5))), service.at);
    let driven = drive(&mut service, pace, 1_200);
    assert!(driven.learned_rate.is_some_and(|rate| rate > 17.0), "{driven:?}");
}

/// A token bucket that fills at `limit` tokens per second.
struct Service {
    limit: f64,
    burst: f64,
    tokens: f64,
    at: Instant,
}

impl Service {
    fn accepts(&mut self, now: Instant) -> bool {
        self.tokens = (self.tokens + (now - self.at).as_secs_f64() * self.limit).min(self.burst);
        self.at = now;
        if self.tokens >= 1.0 {
            self.tokens -= 1.0;
            true
        } else {
            false
        }
    }
}

#[derive(Debug)]
struct Measured {
    /// Accepted requests per second in the second half.
    rate: f64,
    /// Share of refused requests.
    refused: f64,
    learned_rate: Option<f64>,
}

/// Sends requests as fast as permitted. A refusal holds the pace; reporting it as well makes no difference.
fn drive(service: &mut Service, pace: Pace, seconds: u64) -> Measured {
    let reports_refusals = seconds.is_multiple_of(60);
    let mut now = service.at;
    let (began, half) = (now, now + Duration::from_secs(seconds) / 2);
    let (mut all, mut refused, mut late) = (0.0, 0.0, 0.0);
    while now < began + Duration::from_secs(seconds) {
        match pace.permit(now) {
            Err(until) => now = until,
            Ok(()) => {
                all += 1.0;
                if service.accepts(now) {
                    late += f64::from(u8::from(now >= half));
                } else {
                    refused += 1.0;
                    if reports_refusals {
                        pace.refused(now);
                    }
                    pace.hold(now + Duration::from_secs(1));
                }
            }
        }
    }
    Measured { rate: late / (seconds as f64 / 2.0), refused: refused / all, learned_rate: pace.learned_rate() }
}

#[test]
fn limiters_with_the_same_file_share_a_rate() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("rate");
    let now = Instant::now();
    let pace = || Pace::new("100/s".parse().ok(), now).shared(&file, now);
    let (one, other) = (pace(), pace());
    let permits = (0..1_000u64).flat_map(|millis| {
        let now = now + Duration::from_millis(millis);
        [one.permit(now).is_ok(), other.permit(now).is_ok()]
    });
    let granted = permits.filter(|granted| *granted).count();
    assert!((99..=101).contains(&granted), "{granted}");
    // An invalid time in the file is ignored.
    std::fs::write(&file, [255; 8]).expect("a file");
    assert!(pace().permit(now + Duration::from_secs(2)).is_ok());
}

proptest::proptest! {
    #[test]
    fn every_second_has_at_most_the_rate_and_the_rate_is_reached(count in 1u32..5000, steps in proptest::collection::vec(0u64..40_000_000, 60)) {
        let began = Instant::now();
        let rate = format!("{count}/s").parse().expect("a rate");
        let pace = Pace::new(Some(Speed::Fixed(rate)), began);
        let burst = (count / 100).max(1);
        let mut now = began;
        let mut granted = Vec::new();
        for step in steps {
            now += Duration::from_nanos(step);
            while pace.permit(now).is_ok() {
                granted.push(now);
            }
        }
        let mut oldest = 0;
        for (newest, at) in granted.iter().enumerate() {
            while *at - granted[oldest] >= Duration::from_secs(1) {
                oldest += 1;
            }
            let within = newest - oldest + 1;
            proptest::prop_assert!(within as u32 <= count + burst, "{within} in a second at {count}/s");
        }
        let refused_until = pace.permit(now).expect_err("the loop ends with a refusal");
        proptest::prop_assert!(refused_until > now && pace.permit(refused_until).is_ok());
    }
}
