//! Machines whose clocks are wrong by days, with a ledger on a server: limits, durations, ages and times go by the clock of the database.

use std::path::PathBuf;
use std::process::Command;

use super::desk::{Desk, late};
use super::process::{Ended, Sheetport};
use super::{count, items, summary};
use crate::environment;
use crate::faults::server::{Reply, answer};

/// Moves the clock of a program by the seconds in `MOVED_BY`.
const SHIM: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>
int clock_gettime(clockid_t id, struct timespec *at) {
    static int (*real)(clockid_t, struct timespec *);
    if (!real) real = (int (*)(clockid_t, struct timespec *)) dlsym(RTLD_NEXT, "clock_gettime");
    int ended = real(id, at);
    const char *by = getenv("MOVED_BY");
    if (id == CLOCK_REALTIME && by) at->tv_sec += atol(by);
    return ended;
}
"#;
const HOUR: i64 = 60 * 60;
const DAY: i64 = 24 * HOUR;

/// A desk, and a way to move the clocks of its machines.
struct Clocks {
    desk: Desk,
    shim: PathBuf,
}

impl Clocks {
    /// Returns `None` with a message if PostgreSQL or a compiler of C is missing.
    async fn new(reply: fn() -> Reply) -> Option<Clocks> {
        let desk = Desk::new(move |_| late(reply())).await?;
        let source = desk.place.write("shim.c", SHIM);
        let shim = desk.place.path("shim.so");
        let built = Command::new("cc").args(["-shared", "-fPIC", "-o"]).arg(&shim).arg(source).arg("-ldl").status();
        if !built.is_ok_and(|built| built.success()) {
            environment::report_missing("cc");
            return None;
        }
        Some(Clocks { desk, shim })
    }

    /// Returns a command on a machine whose clock is wrong by `seconds`.
    fn at(&self, seconds: i64, args: &[&str]) -> Sheetport {
        let command = self.desk.on(&format!("machine{seconds}"), args);
        command.env("LD_PRELOAD", self.shim.to_str().unwrap()).env("MOVED_BY", &seconds.to_string())
    }

    async fn run(&self, seconds: i64, args: &[&str], code: i32) -> Ended {
        let command = self.at(seconds, args);
        tokio::task::spawn_blocking(move || command.exits(code)).await.unwrap()
    }

    fn number(&self, query: &str) -> i64 {
        self.desk.server.query("ledger", query).parse().unwrap()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_limit_of_errors_holds_on_machines_with_wrong_clocks() {
    let Some(clocks) = Clocks::new(|| answer(422, "", "{\"message\":\"no\"}")).await else { return };
    for (run, seconds) in [("1", -3 * DAY), ("2", HOUR), ("3", -60)] {
        let file = format!("{run}.csv");
        clocks.desk.place.write(&file, items(600).replace("Item ", &format!("Item {run}-")));
        clocks.run(0, &["upload", &file, "-t", "items", "--queue", "-q", "--max-errors", "20"], 0).await;
        clocks.run(seconds, &["work", "--until-idle"], 0).await;
        let shown = clocks.run(0, &["runs", "show", run, "--json"], 0).await.json();
        let failed = count(&shown, "failed");
        assert!((21..=80).contains(&failed), "{seconds} s: {shown}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn times_durations_and_ages_are_those_of_the_database() {
    let Some(clocks) = Clocks::new(|| Reply::Accept).await else { return };
    clocks.desk.place.write("items.csv", items(300));
    clocks.run(HOUR, &["upload", "items.csv", "-t", "items", "--queue", "-q"], 0).await;
    // Two workers share the run.
    let behind = clocks.at(-3 * DAY, &["work", "--until-idle"]).start();
    clocks.run(HOUR, &["work", "--until-idle"], 0).await;
    tokio::task::spawn_blocking(move || behind.wait()).await.unwrap();
    let ended = summary(&clocks.run(-3 * DAY, &["runs", "wait", "1", "--json"], 0).await);
    assert_eq!(count(&ended, "sent"), 300, "{ended}");
    let now = "CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)";
    for (times, table) in [
        ("at", "outcome"),
        ("at", "intent"),
        ("at", "event"),
        ("last_at", "event"),
        ("created_at", "run"),
        ("queued_at", "run"),
        ("finished_at", "run"),
    ] {
        let most = format!("SELECT COALESCE(MAX(ABS({now} - {times})), 0) FROM {table}");
        assert!(clocks.number(&most) < 120_000, "{times} of {table}");
    }
    let millis = clocks.number("SELECT millis FROM run WHERE id = 1");
    assert!((1..120_000).contains(&millis), "{millis} ms");

    // Nothing is old today, and what is old is so for everybody.
    for seconds in [3 * DAY, -3 * DAY] {
        clocks.run(seconds, &["runs", "prune", "--older-than", "1d"], 0).await;
        assert_eq!(clocks.number("SELECT COUNT(*) FROM run"), 1, "{seconds} s");
    }
    clocks.run(-3 * DAY, &["runs", "prune", "--older-than", "0h"], 0).await;
    assert_eq!(clocks.number("SELECT COUNT(*) FROM run"), 0);
}
