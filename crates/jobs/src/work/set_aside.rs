//! Runs that a worker can't send now.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use secrecy::ExposeSecret;
use sheetport_client::auth::Credentials;
use sheetport_files::digest;
use sheetport_ledger::RunId;

use super::left::{Left, Obstacle, Unsent};

/// Time after which a worker tries a run again.
const PAUSE: Duration = Duration::from_secs(30);
/// Longest pause after the service has refused this worker several times.
const LONGEST: Duration = Duration::from_secs(15 * 60);

/// Runs set aside, each with its obstacle.
#[derive(Debug, Default)]
pub(super) struct SetAside(HashMap<RunId, Entry>);

#[derive(Debug)]
struct Entry {
    obstacle: Obstacle,
    /// A digest of the tokens at the last attempt.
    tokens: [u8; 32],
    pause: Duration,
    /// The time of the next attempt.
    until: Instant,
    /// The time of the next look at the tokens.
    look: Instant,
}

/// Whether a run may be tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    Now,
    /// Only if the tokens differ from those of the last attempt.
    IfTokensChanged,
    Later,
}

impl SetAside {
    /// Whether an obstacle differs from the last one of the run.
    pub(super) fn is_new(&self, run: RunId, obstacle: &Obstacle) -> bool {
        self.0.get(&run).is_none_or(|before| before.obstacle.to_string() != obstacle.to_string())
    }

    /// Sets a run aside. `tokens`: the tokens of the next attempt, unless they change.
    pub(super) fn add(&mut self, run: RunId, obstacle: Obstacle, tokens: &Credentials, now: Instant) {
        let before = self.0.remove(&run);
        let pause = match &before {
            // Another part of the run has met the same obstacle at the same time.
            Some(before) if now < before.until => before.pause,
            Some(before) if obstacle.is_refusal() => (before.pause * 2).min(LONGEST),
            _ => PAUSE,
        };
        let entry = Entry { obstacle, tokens: digest_of(tokens), pause, until: now + pause, look: now + PAUSE };
        self.0.insert(run, entry);
    }

    /// Forgets the obstacle of a run that this worker can send.
    pub(super) fn remove(&mut self, run: RunId) {
        self.0.remove(&run);
    }

    pub(super) fn turn(&self, run: RunId, now: Instant) -> Turn {
        match self.0.get(&run) {
            Some(entry) if now < entry.look => Turn::Later,
            Some(entry) if now < entry.until => Turn::IfTokensChanged,
            _ => Turn::Now,
        }
    }

    /// Returns whether the tokens for a run differ from those of the last attempt. Looks again after a pause.
    pub(super) fn has_new_tokens(&mut self, run: RunId, tokens: &Credentials, now: Instant) -> bool {
        self.0.get_mut(&run).is_none_or(|entry| {
            entry.look = now + PAUSE;
            entry.tokens != digest_of(tokens)
        })
    }

    /// Takes out the runs among `queued` that this worker should have sent.
    pub(super) fn take_left(&mut self, queued: &[RunId]) -> Vec<Left> {
        let entries = queued.iter().filter_map(|run| Some((*run, self.0.remove(run)?)));
        let left = entries.filter(|(_, entry)| !entry.obstacle.is_for_others());
        left.map(|(run, entry)| Left { what: Unsent::Run(run), why: entry.obstacle }).collect()
    }
}

fn digest_of(tokens: &Credentials) -> [u8; 32] {
    let secrets = [&tokens.access, &tokens.refresh].map(|token| token.as_ref().map_or("", ExposeSecret::expose_secret));
    digest::of_parts(secrets.map(str::as_bytes))
}

#[cfg(test)]
mod tests {
    use secrecy::SecretString;
    use sheetport_client::Stop;
    use sheetport_send::StopReason;

    use super::*;

    fn refused() -> Obstacle {
        Obstacle::Stopped(StopReason::Service(Stop::Unauthorized("no".to_owned())))
    }

    fn tokens(access: &str) -> Credentials {
        Credentials { access: Some(SecretString::from(access.to_owned())), ..Credentials::default() }
    }

    #[test]
    fn pauses_grow_while_the_service_refuses_the_tokens() {
        let (mut aside, mut now) = (SetAside::default(), Instant::now());
        let mut pauses = Vec::new();
        for round in 0..8 {
            assert_eq!(aside.turn(1, now), Turn::Now);
            assert_eq!(aside.is_new(1, &refused()), round == 0);
            // Two parts of the run.
            aside.add(1, refused(), &tokens("a"), now);
            aside.add(1, refused(), &tokens("a"), now);
            pauses.push(aside.0[&1].pause.as_secs());
            now += aside.0[&1].pause;
        }
        assert_eq!(pauses, [30, 60, 120, 240, 480, 900, 900, 900]);
        aside.remove(1);
        assert!(aside.is_new(1, &refused()));
        aside.add(1, refused(), &tokens("a"), now);
        assert_eq!(aside.0[&1].pause, PAUSE);
    }

    #[test]
    fn new_tokens_are_tried_before_the_end_of_a_pause() {
        let (mut aside, mut now) = (SetAside::default(), Instant::now());
        for _ in 0..3 {
            aside.add(1, refused(), &tokens("a"), now);
            now += aside.0[&1].pause;
        }
        now -= PAUSE;
        assert_eq!(aside.turn(1, now), Turn::IfTokensChanged);
        assert!(!aside.has_new_tokens(1, &tokens("a"), now));
        assert_eq!(aside.turn(1, now), Turn::Later);
        assert!(aside.has_new_tokens(1, &tokens("b"), now));
    }

    #[test]
    fn pauses_stay_short_while_the_service_is_unreachable() {
        let (mut aside, mut now) = (SetAside::default(), Instant::now());
        let unreachable = || Obstacle::Stopped(StopReason::Service(Stop::Unreachable("no route".to_owned())));
        for _ in 0..4 {
            aside.add(1, unreachable(), &tokens("a"), now);
            assert_eq!(aside.0[&1].pause, PAUSE);
            now += PAUSE;
        }
    }

    #[test]
    fn runs_of_other_workspaces_are_not_left() {
        let (mut aside, now) = (SetAside::default(), Instant::now());
        let (planned, here) = ("a".to_owned(), "b".to_owned());
        aside.add(1, Obstacle::OtherWorkspace { planned, here }, &tokens("a"), now);
        aside.add(2, refused(), &tokens("a"), now);
        aside.add(3, refused(), &tokens("a"), now);
        let left = aside.take_left(&[1, 2]);
        assert!(matches!(left.as_slice(), [Left { what: Unsent::Run(2), .. }]), "{left:?}");
    }
}
