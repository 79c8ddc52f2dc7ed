//! Uploads, plans, undos and another writer in random order, with senders that end at random moments and are resumed, against the embedded
//! service. After each step, what the service has is compared with what the step may have changed: no plan and no undo overwrites what
//! somebody else has written since it was made, no older run overwrites a newer one, and what nobody else has touched arrives.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use serde_json::{Value, json};
use sheetport_ledger::RunId;
use sheetport_operations::{self as operations, Apply, InputFile, PlanTarget, SendOptions, Undo, Upload};
use sheetport_testing::tries;

use super::stage::{Stage, plain, within};

/// Orders of steps, and with `SHEETPORT_LONG=1`.
const USUAL_SCHEDULES: usize = 15;
const LONG_SCHEDULES: usize = 1000;
const STEPS: usize = 12;
const KEYS: [&str; 4] = ["A-1", "B-2", "C-3", "D-4"];
const NAMES: [&str; 3] = ["Bolt", "Nut", "Washer"];
const FIELDS: usize = 2;

/// The name and the price of an item.
type Item = [String; FIELDS];
/// What the service has, by key.
type Items = BTreeMap<&'static str, Item>;

/// A run and what is known of it.
struct Run {
    id: RunId,
    kind: Kind,
    /// The values that it writes; of an undo, those from before.
    wanted: Items,
    /// Whether all of it was sent.
    is_ended: bool,
    /// The keys of which it has changed something.
    changed: BTreeSet<&'static str>,
}

enum Kind {
    /// With what the service had before, if it was read.
    Upload { before: Option<Items> },
    /// With what the service had when it was looked at.
    Plan { seen: Items },
    /// With what the service had when it was looked at, and the values that the run to be taken back had written.
    Undo { seen: Items, of: RunId, sent: Items },
}

/// A service, and all runs so far.
struct World {
    stage: Stage,
    runs: Vec<Run>,
    /// How many steps of each kind have changed the service.
    effects: BTreeMap<&'static str, usize>,
}

#[test]
fn no_change_of_another_writer_is_lost() {
    let seed = fastrand::u64(..);
    let schedules = tries(USUAL_SCHEDULES, LONG_SCHEDULES);
    let mut effects: BTreeMap<&str, usize> = BTreeMap::new();
    let mut schedule = 0;
    // Steps without an effect show nothing. On a busy machine, most senders end before their first request.
    while schedule < schedules || !["upload", "apply", "resume", "undo"].iter().all(|step| effects.contains_key(step)) {
        assert!(schedule < 10 * schedules, "some steps never changed anything: {effects:?}, seed {seed}");
        let mut world = World::new(seed.wrapping_add(schedule as u64));
        for _ in 0..STEPS {
            world.step();
        }
        for (step, count) in &world.effects {
            *effects.entry(step).or_default() += count;
        }
        schedule += 1;
    }
}

impl World {
    fn new(seed: u64) -> World {
        World { stage: Stage::new(seed, Vec::new()), runs: Vec::new(), effects: BTreeMap::new() }
    }

    fn step(&mut self) {
        let before = self.items();
        match self.stage.random.u8(..10) {
            0 | 1 => self.write_as_another(&before),
            2 | 3 => self.upload(&before),
            4 | 5 => self.plan(&before),
            6 => self.apply(&before),
            7 => self.resume(&before),
            _ => self.undo(&before),
        }
    }

    fn write_as_another(&mut self, before: &Items) {
        let (key, item) = (KEYS[self.stage.random.usize(..KEYS.len())], self.item());
        let _ = write!(self.stage.story, "\nanother writes {key} {item:?}, was {:?}", before.get(key));
        let body = json!({"externalId": key, "name": item[0], "price": price(&item), "currency": "EUR"});
        self.stage.post_item(&body);
    }

    fn upload(&mut self, before: &Items) {
        let (wanted, end, undoable) = (self.file(), self.stage.end(), self.stage.random.bool());
        let _ = write!(self.stage.story, "\nupload {wanted:?}, undoable {undoable}, end {end:?}");
        let (context, file) = (self.stage.context(), self.write(&wanted));
        let done = within(end, async {
            let upload = Upload { undoable, ..plain(&file, "items") };
            operations::upload(&context, upload, None, Box::pin(std::future::pending()), &|_| {}).await
        });
        let Some(id) = self.newest() else { return };
        let is_ended = self.stage.done(done).is_some();
        let kind = Kind::Upload { before: undoable.then(|| before.clone()) };
        self.runs.push(Run { id, kind, wanted, is_ended, changed: BTreeSet::new() });
        self.check("upload", id, before, true);
    }

    fn plan(&mut self, before: &Items) {
        let wanted = self.file();
        let _ = write!(self.stage.story, "\nplan {wanted:?}");
        let (context, file) = (self.stage.context(), self.write(&wanted));
        let planned =
            within(None, async { operations::plan_changes(&context, plain(&file, "items"), None, 0, &|_| {}).await })
                .unwrap();
        let id = planned.unwrap_or_else(|error| panic!("{error}: {}", self.stage.story)).run.id;
        self.runs.push(Run {
            id,
            kind: Kind::Plan { seen: before.clone() },
            wanted,
            is_ended: false,
            changed: BTreeSet::new(),
        });
        assert_eq!(self.items(), *before, "a plan writes nothing: {}", self.stage.story);
    }

    fn apply(&mut self, before: &Items) {
        let plans: Vec<RunId> =
            self.runs.iter().filter(|run| !matches!(run.kind, Kind::Upload { .. })).map(|run| run.id).collect();
        if let Some(id) = self.stage.random.choice(plans) {
            self.send("apply", id, before);
        }
    }

    fn resume(&mut self, before: &Items) {
        let open: Vec<RunId> = self.runs.iter().filter(|run| !run.is_ended).map(|run| run.id).collect();
        if let Some(id) = self.stage.random.choice(open) {
            self.send("resume", id, before);
        }
    }

    fn undo(&mut self, before: &Items) {
        let candidates = self.runs.iter().filter(|run| !run.changed.is_empty());
        let known: Vec<(RunId, Items, Items)> = candidates
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
        assert_eq!(self.items(), *before, "a plan writes nothing: {}", self.stage.story);
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
    fn send(&mut self, step: &'static str, id: RunId, before: &Items) {
        let end = self.stage.end();
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
        self.check(step, id, before, is_upload);
    }

    /// Compares what the service has with what a step of a run may have changed.
    /// `is_upload`: whether it overwrites what others have written.
    fn check(&mut self, step: &'static str, id: RunId, before: &Items, is_upload: bool) {
        let after = self.items();
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
                let of = |items: &Items| items.get(key).map(|item| item[field].clone());
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
                    step == "undo" && !others(*of) && seen.get(key) == was && sent.get(key) == was && was.is_some()
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

    fn item(&mut self) -> Item {
        [NAMES[self.stage.random.usize(..NAMES.len())].to_owned(), self.stage.random.u8(1..5).to_string()]
    }

    /// Returns the records of a file.
    fn file(&mut self) -> Items {
        let count = self.stage.random.usize(1..=KEYS.len());
        let keys = self.stage.random.choose_multiple(KEYS, count);
        keys.into_iter().map(|key| (key, self.item())).collect()
    }

    fn write(&mut self, items: &Items) -> InputFile {
        let mut csv = "Item number,Name,Price,Currency\n".to_owned();
        for (key, [name, price]) in items {
            let _ = writeln!(csv, "{key},{name},{price},EUR");
        }
        self.stage.file("items.csv", &csv)
    }

    /// Returns what the service has.
    fn items(&self) -> Items {
        let list = self.stage.get("/v1/public/items");
        let item = |entry: &Value| {
            let key = KEYS.into_iter().find(|key| entry["external_id"] == *key).unwrap();
            (key, [entry["name"].as_str().unwrap().to_owned(), entry["price"].to_string()])
        };
        list["data"].as_array().unwrap().iter().map(item).collect()
    }
}

fn price(item: &Item) -> Value {
    item[1].parse::<u8>().unwrap().into()
}
