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

/// The service and the workspace of a run.
pub(super) type Scope = (String, String);

/// Runs set aside, each with its obstacle, and the services that refuse the tokens of this worker for a workspace, which would refuse the other
/// runs, too.
#[derive(Debug, Default)]
pub(super) struct SetAside {
    runs: HashMap<RunId, Entry>,
    refused: HashMap<Scope, Refused>,
    /// Of the queued runs whose tokens were refused for one of them; `None` for the others that were looked at since the last refusal.
    scopes: HashMap<RunId, Option<Scope>>,
}

#[derive(Debug)]
struct Entry {
    obstacle: Obstacle,
    attempt: Attempt,
}

#[derive(Debug)]
struct Refused {
    why: String,
    attempt: Attempt,
}

/// The last attempt and the next one.
#[derive(Clone, Copy, Debug)]
struct Attempt {
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
        self.runs.get(&run).is_none_or(|before| before.obstacle.to_string() != obstacle.to_string())
    }

    /// Whether the service of a run has to be known, because a service has refused tokens.
    pub(super) fn asks_for_scope(&self, run: RunId) -> bool {
        !self.refused.is_empty() && !self.scopes.contains_key(&run)
    }

    /// Notes the service and workspace of a run. Returns why it is not sent now, if the same tokens were refused for another run.
    pub(super) fn note_scope(
        &mut self,
        run: RunId,
        scope: Scope,
        tokens: &Credentials,
        now: Instant,
    ) -> Option<String> {
        let is_refused =
            |refused: &&Refused| now < refused.attempt.until && refused.attempt.tokens == digest_of(tokens);
        let why = self.refused.get(&scope).filter(is_refused).map(|refused| refused.why.clone());
        self.scopes.insert(run, why.is_some().then_some(scope));
        why.filter(|_| !self.runs.contains_key(&run))
    }

    /// Sets a run aside, and the others of its service and workspace with it if the tokens were refused. `tokens`: the tokens of the next
    /// attempt, unless they change.
    pub(super) fn add(&mut self, run: RunId, scope: Scope, obstacle: Obstacle, tokens: &Credentials, now: Instant) {
        let is_refusal = obstacle.is_refusal();
        let before = self.runs.remove(&run).map(|entry| entry.attempt);
        let of_scope = self.refused.get(&scope).filter(|_| is_refusal).map(|refused| refused.attempt);
        let pause = match before.into_iter().chain(of_scope).max_by_key(|attempt| attempt.until) {
            // Another part of the run, or another run, has met the same obstacle at the same time.
            Some(before) if now < before.until => before.pause,
            Some(before) if is_refusal => (before.pause * 2).min(LONGEST),
            _ => PAUSE,
        };
        let attempt = Attempt { tokens: digest_of(tokens), pause, until: now + pause, look: now + PAUSE };
        if is_refusal {
            self.scopes.retain(|_, scope| scope.is_some());
            self.scopes.insert(run, Some(scope.clone()));
            self.refused.insert(scope, Refused { why: obstacle.to_string(), attempt });
        }
        self.runs.insert(run, Entry { obstacle, attempt });
    }

    /// Forgets the obstacle of a run that this worker can send, and that of its service.
    pub(super) fn remove(&mut self, run: RunId) {
        self.runs.remove(&run);
        if let Some(Some(scope)) = self.scopes.remove(&run) {
            self.refused.remove(&scope);
            self.scopes.clear();
        }
    }

    /// Returns the runs that can't be sent now.
    pub(super) fn held_back(&self, now: Instant) -> Vec<RunId> {
        let known = self.runs.keys().chain(self.scopes.keys()).copied();
        known.filter(|run| self.turn(*run, now) != Turn::Now).collect()
    }

    pub(super) fn turn(&self, run: RunId, now: Instant) -> Turn {
        match self.attempt(run) {
            Some(attempt) if now < attempt.look => Turn::Later,
            Some(attempt) if now < attempt.until => Turn::IfTokensChanged,
            _ => Turn::Now,
        }
    }

    /// Returns the last attempt of a run, or of another run of the same service and workspace, whichever is waited for longer.
    fn attempt(&self, run: RunId) -> Option<&Attempt> {
        let of_run = self.runs.get(&run).map(|entry| &entry.attempt);
        let of_scope =
            self.scopes.get(&run).and_then(|scope| self.refused.get(scope.as_ref()?)).map(|refused| &refused.attempt);
        of_run.into_iter().chain(of_scope).max_by_key(|attempt| attempt.until)
    }

    /// Returns whether the tokens for a run differ from those of the last attempt. Looks again after a pause.
    pub(super) fn has_new_tokens(&mut self, run: RunId, tokens: &Credentials, now: Instant) -> bool {
        let Some(before) = self.attempt(run).map(|attempt| attempt.tokens) else { return true };
        let of_run = self.runs.get_mut(&run).map(|entry| &mut entry.attempt);
        let refused = self.scopes.get(&run).and_then(|scope| self.refused.get_mut(scope.as_ref()?));
        for attempt in of_run.into_iter().chain(refused.map(|refused| &mut refused.attempt)) {
            attempt.look = now + PAUSE;
        }
        before != digest_of(tokens)
    }

    /// Takes out the runs among `queued` that this worker should have sent.
    pub(super) fn take_left(&mut self, queued: &[RunId]) -> Vec<Left> {
        let entries = queued.iter().filter_map(|run| Some((*run, self.runs.remove(run)?)));
        let left = entries.filter(|(_, entry)| !entry.obstacle.is_for_others());
        left.map(|(run, entry)| Left { what: Unsent::Run(run), why: entry.obstacle }).collect()
    }
}

pub(super) fn digest_of(tokens: &Credentials) -> [u8; 32] {
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

    fn scope() -> Scope {
        ("https://a".to_owned(), "w1".to_owned())
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
            aside.add(1, scope(), refused(), &tokens("a"), now);
            aside.add(1, scope(), refused(), &tokens("a"), now);
            pauses.push(aside.runs[&1].attempt.pause.as_secs());
            now += aside.runs[&1].attempt.pause;
        }
        assert_eq!(pauses, [30, 60, 120, 240, 480, 900, 900, 900]);
        aside.remove(1);
        assert!(aside.is_new(1, &refused()));
        aside.add(1, scope(), refused(), &tokens("a"), now);
        assert_eq!(aside.runs[&1].attempt.pause, PAUSE);
    }

    #[test]
    fn refused_tokens_hold_back_all_runs_of_the_service_and_workspace() {
        let (mut aside, now) = (SetAside::default(), Instant::now());
        assert!(!aside.asks_for_scope(2));
        aside.add(1, scope(), refused(), &tokens("a"), now);
        assert!(aside.asks_for_scope(2));
        // Another workspace, and other tokens.
        let elsewhere = ("https://a".to_owned(), "w2".to_owned());
        assert_eq!(aside.note_scope(3, elsewhere, &tokens("a"), now), None);
        assert_eq!(aside.note_scope(4, scope(), &tokens("b"), now), None);
        assert!(aside.note_scope(2, scope(), &tokens("a"), now).is_some());
        assert_eq!([1, 2, 3, 4].map(|run| aside.turn(run, now)), [Turn::Later, Turn::Later, Turn::Now, Turn::Now]);
        // One of them tries again, and the pause grows for all.
        let later = now + PAUSE;
        assert_eq!(aside.turn(2, later), Turn::Now);
        aside.add(2, scope(), refused(), &tokens("a"), later);
        assert_eq!(aside.refused[&scope()].attempt.pause, 2 * PAUSE);
        assert_eq!(aside.turn(1, later), Turn::Later);
        assert_eq!(aside.turn(1, later + PAUSE), Turn::IfTokensChanged);
        assert!(aside.has_new_tokens(1, &tokens("b"), later + PAUSE));
        aside.remove(1);
        assert_eq!(aside.turn(1, later), Turn::Now);
        assert!(aside.refused.is_empty());
    }

    #[test]
    fn new_tokens_are_tried_before_the_end_of_a_pause() {
        let (mut aside, mut now) = (SetAside::default(), Instant::now());
        for _ in 0..3 {
            aside.add(1, scope(), refused(), &tokens("a"), now);
            now += aside.runs[&1].attempt.pause;
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
            aside.add(1, scope(), unreachable(), &tokens("a"), now);
            assert_eq!(aside.runs[&1].attempt.pause, PAUSE);
            now += PAUSE;
        }
    }

    #[test]
    fn runs_of_other_workspaces_are_not_left() {
        let (mut aside, now) = (SetAside::default(), Instant::now());
        let (planned, here) = ("a".to_owned(), "b".to_owned());
        aside.add(1, scope(), Obstacle::OtherWorkspace { planned, here }, &tokens("a"), now);
        aside.add(2, scope(), refused(), &tokens("a"), now);
        aside.add(3, scope(), refused(), &tokens("a"), now);
        let left = aside.take_left(&[1, 2]);
        assert!(matches!(left.as_slice(), [Left { what: Unsent::Run(2), .. }]), "{left:?}");
    }
}
