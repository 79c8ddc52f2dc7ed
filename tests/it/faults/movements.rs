//! Movements of stock that are uploaded, uploaded again, resumed and taken back in random order, with senders that end at random moments,
//! against the embedded service. After each step, the stock shows how often each movement counts: never twice, and never taken back twice.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use serde_json::json;
use sheetport_ledger::RunId;
use sheetport_operations::{self as operations, Apply, Finished, PlanTarget, SendOptions, Undo};
use sheetport_service::LoadRecord;
use sheetport_testing::tries;

use super::stage::{Stage, plain, play_schedules, within};

/// Orders of steps, and with `SHEETPORT_LONG=1`.
const USUAL_SCHEDULES: usize = 10;
const LONG_SCHEDULES: usize = 1000;
const STEPS: usize = 12;
/// Each movement is of an inventory of its own, so that the stock shows it.
const MOVEMENTS: usize = 6;

/// A run, and what it does.
#[derive(Clone)]
struct Run {
    id: RunId,
    /// Whether it books the movements or brings them back, or takes them back.
    books: bool,
    /// Whether it takes back an undo.
    brings_back: bool,
    movements: BTreeSet<usize>,
    /// Whether none of its records is left to send.
    is_ended: bool,
}

struct World {
    stage: Stage,
    runs: Vec<Run>,
    effects: BTreeMap<&'static str, usize>,
}

#[test]
fn no_movement_counts_twice() {
    play_schedules(tries(USUAL_SCHEDULES, LONG_SCHEDULES), &["upload", "resume", "undo"], |seed| {
        let mut world = World::new(seed);
        for _ in 0..STEPS {
            world.step();
        }
        world.effects
    });
}

impl World {
    fn new(seed: u64) -> World {
        let inventory = |movement: usize| {
            let fields = json!({"inventory_id": format!("INV-{movement}"), "external_id": name(movement),
                "available": 0, "total_inventory": 0});
            LoadRecord::Inventory(serde_json::from_value(fields).unwrap())
        };
        let inventories = (0..MOVEMENTS).map(inventory).collect();
        World { stage: Stage::new(seed, inventories), runs: Vec::new(), effects: BTreeMap::new() }
    }

    fn step(&mut self) {
        let before = self.booked();
        match self.stage.random.u8(..8) {
            0..=2 => self.upload(&before),
            3 | 4 => self.send_open(&before),
            _ => self.undo(&before),
        }
    }

    fn upload(&mut self, before: &[i64]) {
        let count = self.stage.random.usize(1..=MOVEMENTS);
        let movements: BTreeSet<usize> = self.stage.random.choose_multiple(0..MOVEMENTS, count).into_iter().collect();
        let end = self.stage.end();
        let _ = write!(self.stage.story, "\nupload {movements:?}, end {end:?}");
        let mut csv = "Date,Stock,Movement,Quantity\n".to_owned();
        for movement in &movements {
            let _ = writeln!(csv, "2026-09-{:02},{},in,{}", movement + 1, name(*movement), quantity(*movement));
        }
        let (context, file) = (self.stage.context(), self.stage.file("movements.csv", &csv));
        let done = within(end, async {
            operations::upload(&context, plain(&file, "transactions"), None, Box::pin(std::future::pending()), &|_| {})
                .await
        });
        let newest = self.stage.newest().filter(|id| self.runs.iter().all(|run| run.id != *id));
        let finished = self.stage.done(done);
        let Some(id) = newest else { return };
        self.runs.push(Run { id, books: true, brings_back: false, movements, is_ended: false });
        self.check("upload", id, before, finished.as_ref());
    }

    /// Resumes a run, or applies a waiting undo.
    fn send_open(&mut self, before: &[i64]) {
        let open: Vec<RunId> = self.runs.iter().filter(|run| !run.is_ended).map(|run| run.id).collect();
        let Some(id) = self.stage.random.choice(open) else { return };
        let step = if self.stage.random.bool() { "resume" } else { "apply" };
        self.send(step, id, before);
    }

    fn undo(&mut self, before: &[i64]) {
        let Some(of) = self.stage.random.choice(self.runs.clone()) else { return };
        let _ = write!(self.stage.story, "\nplan the undo of {}", of.id);
        let context = self.stage.context();
        let request = Undo { run: of.id, rows: None, output: None, sending: SendOptions::default() };
        let planned = within(None, async { operations::plan_undo(&context, request, &|_| {}).await });
        assert_eq!(self.booked(), before, "a plan writes nothing: {}", self.stage.story);
        let Some(planned) = self.stage.done(planned) else { return };
        assert!(!of.brings_back, "what was brought back is taken back by another way: {}", self.stage.story);
        let run = Run { id: planned.run.id, books: !of.books, brings_back: !of.books, is_ended: false, ..of };
        let id = run.id;
        self.runs.push(run);
        // Some wait, while others are sent.
        if self.stage.random.u8(..3) > 0 {
            self.send("undo", id, before);
        }
    }

    fn send(&mut self, step: &'static str, id: RunId, before: &[i64]) {
        let end = self.stage.end();
        let _ = write!(self.stage.story, "\n{step} {id}, end {end:?}");
        let context = self.stage.context();
        let done = within(end, async {
            let interrupt = Box::pin(std::future::pending());
            let sending = SendOptions::default();
            match step {
                "resume" => operations::resume(&context, Some(id), sending, interrupt, &|_| {}).await,
                _ => {
                    let target = PlanTarget::Run(id);
                    let apply = Apply { target, approve: None, accepts_old: true, asks_of_old: None, sending };
                    operations::apply(&context, apply, interrupt, &|_| {}).await
                }
            }
        });
        let finished = self.stage.done(done);
        self.check(step, id, before, finished.as_ref());
    }

    /// Compares the stock with what a step of a run may have changed.
    fn check(&mut self, step: &'static str, id: RunId, before: &[i64], finished: Option<&Finished>) {
        let after = match finished {
            Some(_) => self.booked(),
            None => self.stage.settled(|| self.booked()),
        };
        let _ = write!(self.stage.story, "\n  {before:?}\n  {after:?}");
        let run = self.runs.iter_mut().find(|run| run.id == id).unwrap();
        let story = &self.stage.story;
        let mut changed = 0;
        for (movement, (was, is)) in before.iter().zip(&after).enumerate().filter(|(_, (was, is))| was != is) {
            changed += 1;
            assert!(run.movements.contains(&movement), "{step} {id} books {movement}, which is not in it: {story}");
            let expected = if run.books { (0, 1) } else { (1, 0) };
            assert_eq!((*was, *is), expected, "{step} {id} books movement {movement} so often: {story}");
        }
        if changed > 0 {
            *self.effects.entry(step).or_default() += 1;
        }
        let Some(Finished { accounting, stopped, .. }) = finished else { return };
        let _ = write!(self.stage.story, "\n  {accounting:?}");
        run.is_ended |= accounting.pending == 0 && stopped.is_none();
        // What was sent by this run in one go has arrived.
        if step != "resume" && accounting.unknown == 0 && stopped.is_none() {
            assert_eq!(changed, accounting.sent, "{step} {id}: {}", self.stage.story);
        }
    }

    /// Returns how often each movement counts in the stock.
    fn booked(&self) -> Vec<i64> {
        let inventories = self.stage.get("/v1/public/inventories");
        let of = |movement: usize| {
            let name = format!("INV-{movement}");
            let found = inventories.as_array().unwrap().iter().find(|it| it["inventory_id"] == *name).unwrap();
            let available = found["available"].as_i64().unwrap();
            assert_eq!(available % quantity(movement), 0, "{movement} {found}: {}", self.stage.story);
            available / quantity(movement)
        };
        (0..MOVEMENTS).map(of).collect()
    }
}

fn name(movement: usize) -> String {
    format!("M-{movement}")
}

/// All different: rows that are alike are another matter.
fn quantity(movement: usize) -> i64 {
    [3, 5, 7, 11, 13, 17][movement]
}
