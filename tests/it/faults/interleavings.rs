//! Uploads, plans, undos and another writer in random order, with senders that end at random moments and are resumed, against the embedded
//! service. After each step, what the service has is compared with what the step may have changed: no plan and no undo overwrites what
//! somebody else has written since it was made, no older run overwrites a newer one, and what nobody else has touched arrives.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use sheetport_ledger::RunId;
use sheetport_operations::{self as operations, Apply, InputFile, PlanTarget, SendOptions, Undo, Upload};
use sheetport_testing::tries;

use super::kinds::{FIELDS, KEYS, Kept, Records};
use super::stage::{Stage, plain, play_schedules, within};

/// Orders of steps, and with `SHEETPORT_LONG=1`.
const USUAL_SCHEDULES: usize = 15;
const LONG_SCHEDULES: usize = 1000;
const STEPS: usize = 12;
/// A run and what is known of it.
struct Run {
    id: RunId,
    kind: Kind,
    /// The values that it writes; of an undo, those from before.
    wanted: Kept,
    /// Whether all of it was sent.
    is_ended: bool,
    /// The keys of which it has changed something.
    changed: BTreeSet<&'static str>,
}

enum Kind {
    /// With what the service had before, if it was read.
    Upload { before: Option<Kept> },
    /// With what the service had when it was looked at.
    Plan { seen: Kept },
    /// With what the service had when it was looked at, and the values that the run to be taken back had written.
    Undo { seen: Kept, of: RunId, sent: Kept },
}

/// A service, and all runs so far.
struct World {
    records: Records,
    stage: Stage,
    runs: Vec<Run>,
    /// Uploads that were ended before they had changed anything, and resumed: they may have read what the service had then or later.
    read_late: BTreeSet<RunId>,
    /// How many steps of each kind have changed the service.
    effects: BTreeMap<&'static str, usize>,
}

#[test]
fn no_change_of_another_writer_is_lost() {
    play(Records::Items, &["upload", "apply", "resume", "undo"]);
}

#[test]
fn no_line_of_another_writer_is_lost() {
    play(Records::Orders, &["upload", "apply", "resume", "undo"]);
}

fn play(records: Records, steps: &[&'static str]) {
    play_schedules(tries(USUAL_SCHEDULES, LONG_SCHEDULES), steps, |seed| {
        let mut world = World::new(records, seed);
        for _ in 0..STEPS {
            world.step();
        }
        world.effects
    });
}

impl World {
    fn new(records: Records, seed: u64) -> World {
        let stage = Stage::new(seed, records.there());
        let mut world =
            World { records, stage, runs: Vec::new(), read_late: BTreeSet::new(), effects: BTreeMap::new() };
        for key in world.kept().into_keys() {
            world.write_as_another(key);
        }
        world
    }

    fn step(&mut self) {
        let before = self.kept();
        match self.stage.random.u8(..10) {
            0 | 1 => {
                let key = KEYS[self.stage.random.usize(..KEYS.len())];
                self.write_as_another(key);
            }
            2 | 3 => self.upload(&before),
            4 | 5 => self.plan(&before),
            6 => self.apply(&before),
            7 => self.resume(&before),
            _ => self.undo(&before),
        }
    }

    fn write_as_another(&mut self, key: &'static str) {
        let record = self.records.any(&mut self.stage.random);
        let _ = write!(self.stage.story, "\nanother writes {key} {record:?}");
        let (method, path, body) = self.records.request(key, &record);
        self.stage.write(method, &path, &body);
    }

    fn upload(&mut self, before: &Kept) {
        let (wanted, end, undoable) = (self.file(), self.stage.end(), self.stage.random.bool());
        let _ = write!(self.stage.story, "\nupload {wanted:?}, undoable {undoable}, end {end:?}");
        let (context, file) = (self.stage.context(), self.write(&wanted));
        let done = within(end, async {
            let upload = Upload { undoable, ..plain(&file, self.records.template()) };
            operations::upload(&context, upload, None, Box::pin(std::future::pending()), &|_| {}).await
        });
        let Some(id) = self.newest() else { return };
        let is_ended = self.stage.done(done).is_some();
        let kind = Kind::Upload { before: undoable.then(|| before.clone()) };
        self.runs.push(Run { id, kind, wanted, is_ended, changed: BTreeSet::new() });
        self.check("upload", id, before, true, is_ended);
    }

    fn plan(&mut self, before: &Kept) {
        let wanted = self.file();
        let _ = write!(self.stage.story, "\nplan {wanted:?}");
        let (context, file) = (self.stage.context(), self.write(&wanted));
        let planned = within(None, async {
            operations::plan_changes(&context, plain(&file, self.records.template()), None, 0, &|_| {}).await
        })
        .unwrap();
        let id = planned.unwrap_or_else(|error| panic!("{error}: {}", self.stage.story)).run.id;
        self.runs.push(Run {
            id,
            kind: Kind::Plan { seen: before.clone() },
            wanted,
            is_ended: false,
            changed: BTreeSet::new(),
        });
        assert_eq!(self.kept(), *before, "a plan writes nothing: {}", self.stage.story);
    }

    fn apply(&mut self, before: &Kept) {
        let plans: Vec<RunId> =
            self.runs.iter().filter(|run| !matches!(run.kind, Kind::Upload { .. })).map(|run| run.id).collect();
        if let Some(id) = self.stage.random.choice(plans) {
            self.send("apply", id, before);
        }
    }

    fn resume(&mut self, before: &Kept) {
        let open: Vec<RunId> = self.runs.iter().filter(|run| !run.is_ended).map(|run| run.id).collect();
        if let Some(id) = self.stage.random.choice(open) {
            self.send("resume", id, before);
        }
    }

    fn undo(&mut self, before: &Kept) {
        let is_known = |run: &&Run| !run.changed.is_empty() && !self.read_late.contains(&run.id);
        let candidates = self.runs.iter().filter(is_known);
        let known: Vec<(RunId, Kept, Kept)> = candidates
            .map(|run| {
                let earlier = match &run.kind {
                    Kind::Upload { before } => before.clone().unwrap_or_default(),
                    Kind::Plan { seen } | Kind::Undo { seen, .. } => seen.clone(),
                };
                (run.id, earlier, run.wanted.clone())
            })
            .collect();
        let Some((of, wanted, sent)) = self.stage.random.choice(known) else { return };
        let _ = write!(self.stage.story, "\nplan the undo of {of}");
        let context = self.stage.context();
        let request = Undo { run: of, rows: None, output: None, sending: SendOptions::default() };
        let planned = within(None, async { operations::plan_undo(&context, request, &|_| {}).await }).unwrap();
        assert_eq!(self.kept(), *before, "a plan writes nothing: {}", self.stage.story);
        match planned {
            Ok(planned) => {
                let id = planned.run.id;
                let kind = Kind::Undo { seen: before.clone(), of, sent };
                self.runs.push(Run { id, kind, wanted, is_ended: false, changed: BTreeSet::new() });
                // Some wait, while others write.
                if self.stage.random.u8(..3) > 0 {
                    self.send("undo", id, before);
                }
            }
            Err(error) => drop(write!(self.stage.story, ": {error}")),
        }
    }

    /// Applies or resumes a run.
    fn send(&mut self, step: &'static str, id: RunId, before: &Kept) {
        let end = self.stage.end();
        if matches!(self.run(id), Run { kind: Kind::Upload { .. }, changed, .. } if changed.is_empty()) {
            self.read_late.insert(id);
        }
        // Resumed without an approval, a plan is sent like any upload.
        let is_upload = step == "resume" && !self.stage.looks_again(id);
        let _ = write!(self.stage.story, "\n{step} {id}, end {end:?}");
        let context = self.stage.context();
        let done = within(end, async {
            let interrupt = Box::pin(std::future::pending());
            let sending = SendOptions::default();
            match step {
                "resume" => operations::resume(&context, Some(id), sending, interrupt, &|_| {}).await.map(drop),
                _ => {
                    let target = PlanTarget::Run(id);
                    let apply = Apply { target, approve: None, accepts_old: true, asks_of_old: None, sending };
                    operations::apply(&context, apply, interrupt, &|_| {}).await.map(drop)
                }
            }
        });
        let is_ended = self.stage.done(done).is_some();
        self.run(id).is_ended |= is_ended;
        self.check(step, id, before, is_upload, is_ended);
    }

    /// Compares what the service has with what a step of a run may have changed.
    /// `is_upload`: whether it overwrites what others have written. `is_ended`: whether it was not ended early.
    fn check(&mut self, step: &'static str, id: RunId, before: &Kept, is_upload: bool, is_ended: bool) {
        let after = match is_ended {
            true => self.kept(),
            false => self.stage.settled(|| self.kept()),
        };
        let _ = write!(self.stage.story, "\n  {before:?}\n  {after:?}");
        let run = self.runs.iter().find(|run| run.id == id).unwrap();
        let (story, mut changed) = (&self.stage.story, BTreeSet::new());
        for key in KEYS {
            let (was, is) = (before.get(key), after.get(key));
            let is_newer = |other: &&Run| other.id > id && other.changed.contains(key);
            let newer = self.runs.iter().find(is_newer).map(|run| run.id);
            if was != is {
                changed.insert(key);
                assert_eq!(newer, None, "{step} {id} overwrites a newer run in {key}: {story}");
            }
            for field in 0..FIELDS {
                let of = |kept: &Kept| kept.get(key).map(|record| record[field].clone());
                let (was, is) = (of(before), of(&after));
                if was != is {
                    assert_eq!(is, of(&run.wanted), "{step} {id} writes another value in {key}: {story}");
                    let expected = match &run.kind {
                        Kind::Plan { seen } if !is_upload => of(seen),
                        Kind::Undo { sent, .. } => of(sent),
                        Kind::Upload { .. } | Kind::Plan { .. } => was.clone(),
                    };
                    assert_eq!(was, expected, "{step} {id} overwrites what somebody has written in {key}: {story}");
                }
            }
            let others = |since: RunId| {
                self.runs.iter().any(|run| run.id > since && run.id != id && (run.wanted.contains_key(key)))
            };
            let Some(wanted) = run.wanted.get(key).filter(|_| run.is_ended && run.changed.is_empty()) else { continue };
            let arrives = match &run.kind {
                Kind::Upload { .. } => step == "upload",
                Kind::Plan { seen } => step == "apply" && !others(id) && seen.get(key) == was,
                Kind::Undo { seen, of, sent } => {
                    // What is in doubt of a run that was ended early stays.
                    let is_certain = self.runs.iter().any(|run| run.id == *of && run.is_ended);
                    let is_undone = step == "undo" && is_certain && !others(*of);
                    is_undone && seen.get(key) == was && sent.get(key) == was && was.is_some()
                }
            };
            assert!(!arrives || is == Some(wanted), "{step} {id} has not written {key}: {story}");
        }
        if !changed.is_empty() {
            *self.effects.entry(step).or_default() += 1;
        }
        self.run(id).changed.extend(changed);
    }

    fn run(&mut self, id: RunId) -> &mut Run {
        self.runs.iter_mut().find(|run| run.id == id).unwrap()
    }

    /// Returns the newest run of the ledger, if it is not known yet.
    fn newest(&self) -> Option<RunId> {
        self.stage.newest().filter(|id| self.runs.iter().all(|run| run.id != *id))
    }

    /// Returns the records of a file.
    fn file(&mut self) -> Kept {
        let count = self.stage.random.usize(1..=KEYS.len());
        let keys = self.stage.random.choose_multiple(KEYS, count);
        keys.into_iter().map(|key| (key, self.records.any(&mut self.stage.random))).collect()
    }

    fn write(&mut self, wanted: &Kept) -> InputFile {
        self.stage.file("records.csv", &self.records.csv(wanted))
    }

    fn kept(&self) -> Kept {
        self.records.kept(|path| self.stage.get(path))
    }
}
