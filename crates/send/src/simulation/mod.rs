//! Simulations of sending: the real sender, dispatcher and policy with a scripted service and the ledger or a model of it, on a
//! paused clock. Processes are killed between any two steps, before or after a write to the ledger is durable; their runs are
//! resumed and retried. The requests applied by the service must agree with the ledger in every case.
//!
//! The ledger is a model in memory; the same schedules with the real ledger, on SQLite and on PostgreSQL, show that the model behaves like
//! it. The answers of the service include all kinds, after the request was applied or without.
//!
//! A schedule follows from its seed. `SHEETPORT_SIMULATION_SEED` and `SHEETPORT_SIMULATION_COUNT` choose the schedules.

mod check;
mod life;
mod model;
mod real;
mod schedule;
mod service;
mod store;

use std::env;
use std::sync::Arc;

use sheetport_ledger::{BLOCK_LEN, Run};
use sheetport_records::RecordKind;
use sheetport_testing::postgres::{Programs, Server};
use sheetport_testing::{report_missing, tries};

use model::Model;
use real::{Real, Shared};
use schedule::Schedule;
use store::Store;

/// Number of schedules in each of the four tests with a model of the ledger, and with `SHEETPORT_LONG=1`. Each run begins at a random
/// seed. Until November 2026 every run of the tests tried four times 25,000, and the last ones found no fault.
const USUAL_COUNT: u64 = 4_000;
const LONG_COUNT: u64 = 25_000;
/// The same for each of the five tests with the ledger on SQLite, and for the test with the ledger on PostgreSQL. On a busy machine, each
/// needs up to seven minutes of the ten that a test may take.
const USUAL_COUNT_WITH_LEDGER: u64 = 40;
const LONG_COUNT_WITH_LEDGER: u64 = 2_000;
const USUAL_COUNT_ON_SERVER: u64 = 12;
const LONG_COUNT_ON_SERVER: u64 = 300;
/// Schedules in one ledger. A larger one is slower, and a new one takes as long as one schedule.
const SCHEDULES_PER_LEDGER: usize = 100;

/// Returns the seeds of a test.
fn seeds(count: u64) -> impl Iterator<Item = u64> {
    let number = |name| env::var(name).ok().map(|text| text.parse::<u64>().expect("a number"));
    let first = number("SHEETPORT_SIMULATION_SEED").unwrap_or_else(|| fastrand::u64(..));
    let count = number("SHEETPORT_SIMULATION_COUNT").unwrap_or(count);
    (0..count).map(move |nth| first.wrapping_add(nth))
}

/// Returns a run from the real ledger.
fn example(shared: &Arc<Shared>) -> Run {
    let real = Real::new(shared, String::new());
    let run = real.plan(RecordKind::Item, &[], None).expect("a plan");
    real.begin(run, false, None, 1).expect("a run").run
}

fn run_with_model() {
    let example = example(&Arc::new(Shared::new()));
    for seed in seeds(tries(USUAL_COUNT, LONG_COUNT)) {
        let block_len = usize::try_from(seed % 7 + 1).expect("a small number");
        let store = || Arc::new(Model::new(example.clone(), block_len, 1));
        if Schedule::new(seed, store(), false).run().is_err() {
            trace(seed, store());
        }
    }
}

/// Runs a schedule. Returns its trace.
#[track_caller]
fn trace(seed: u64, store: Arc<dyn Store>) -> Vec<String> {
    Schedule::new(seed, store, true).run().unwrap_or_else(|(rule, trace)| {
        panic!("schedule SHEETPORT_SIMULATION_SEED={seed}: {rule}\n{}", trace.join("\n"));
    })
}

#[test]
fn ledger_agrees_with_the_service_in_any_schedule_1() {
    run_with_model();
}

#[test]
fn ledger_agrees_with_the_service_in_any_schedule_2() {
    run_with_model();
}

#[test]
fn ledger_agrees_with_the_service_in_any_schedule_3() {
    run_with_model();
}

#[test]
fn ledger_agrees_with_the_service_in_any_schedule_4() {
    run_with_model();
}

/// Runs the same schedules with the ledger and with its model.
fn compare_with_ledger(seeds: impl Iterator<Item = u64>, mut open: impl FnMut() -> Shared) {
    let mut shared = Arc::new(open());
    for (nth, seed) in seeds.enumerate() {
        if nth > 0 && nth % SCHEDULES_PER_LEDGER == 0 {
            shared = Arc::new(open());
        }
        let example = example(&shared);
        let first = example.id + 1;
        let real = trace(seed, Arc::new(Real::new(&shared, nth.to_string())));
        let model = trace(seed, Arc::new(Model::new(example, BLOCK_LEN, first)));
        assert_eq!(real, model, "schedule SHEETPORT_SIMULATION_SEED={seed}");
    }
}

fn compare_with_ledger_in_memory() {
    compare_with_ledger(seeds(tries(USUAL_COUNT_WITH_LEDGER, LONG_COUNT_WITH_LEDGER)), Shared::new);
}

#[test]
fn the_model_behaves_like_the_ledger_1() {
    compare_with_ledger_in_memory();
}

#[test]
fn the_model_behaves_like_the_ledger_2() {
    compare_with_ledger_in_memory();
}

#[test]
fn the_model_behaves_like_the_ledger_3() {
    compare_with_ledger_in_memory();
}

#[test]
fn the_model_behaves_like_the_ledger_4() {
    compare_with_ledger_in_memory();
}

#[test]
fn the_model_behaves_like_the_ledger_5() {
    compare_with_ledger_in_memory();
}

#[test]
fn the_model_behaves_like_the_ledger_on_a_server() {
    let Some(programs) = Programs::find() else { return report_missing("postgresql") };
    let mut server = Server::create(programs, None, "trust").expect("the files of a server");
    // Nothing has to survive the machine.
    server.start(&["-F"]).expect("a server");
    let mut databases = 0;
    compare_with_ledger(seeds(tries(USUAL_COUNT_ON_SERVER, LONG_COUNT_ON_SERVER)), || {
        databases += 1;
        Shared::on_server(&server.database(&format!("ledger{databases}")).expect("a database"))
    });
}

/// The simulation is able to fail.
#[test]
fn older_values_overwrite_newer_ones_without_the_handshake() {
    let example = example(&Arc::new(Shared::new()));
    let breaks = |seed: &u64| {
        let model = Model::new(example.clone(), 4, 1).without_handshake();
        let result = Schedule::new(*seed, Arc::new(model), false).run();
        result.is_err_and(|(rule, _)| rule.contains("overwrites a newer one"))
    };
    assert!(seeds(20_000).any(|seed| breaks(&seed)));
}
