//! A ledger on a server that lost its end: a standby that lags is promoted, or a backup is restored. Nothing is created twice, and a failover
//! that loses nothing goes unnoticed.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde_json::Value;
use tempfile::TempDir;
use tokio::task::block_in_place;

use super::desk::{Desk, late, moves};
use super::process::{Ended, Running, Sheetport, until};
use super::{column, count, table};
use crate::faults::server::Reply;
use crate::postgres::Cluster;

/// Transactions of a run.
const MOVES: usize = 600;

/// A desk whose ledger is on the server that a name leads to.
struct Failover {
    desk: Desk,
    name: TempDir,
}

impl Failover {
    async fn new() -> Option<Failover> {
        let mut desk = Desk::new(|_| late(Reply::Accept)).await?;
        let name = tempfile::tempdir().unwrap();
        let at = name.path().join("s").display().to_string().replace('/', "%2F");
        desk.ledger = format!("postgres:///ledger?host={at}&user=sheetport");
        let failover = Failover { desk, name };
        failover.lead_to(failover.desk.server.folder());
        failover.desk.place.write("moves.csv", moves(MOVES));
        Some(failover)
    }

    /// Lets the name lead to another server.
    fn lead_to(&self, folder: &Path) {
        let link: PathBuf = self.name.path().join("s");
        let _ = std::fs::remove_file(&link);
        std::os::unix::fs::symlink(folder, link).unwrap();
    }

    /// Returns a command on a machine, which remembers how far it has written the ledger.
    fn on(&self, machine: &str, args: &[&str]) -> Sheetport {
        let state = self.desk.place.path(&format!("state-{machine}"));
        self.desk.on(machine, args).env("SHEETPORT_STATE", state.to_str().unwrap())
    }

    async fn run(&self, machine: &str, args: &[&str], code: i32) -> Ended {
        let command = self.on(machine, args);
        tokio::task::spawn_blocking(move || command.exits(code)).await.unwrap()
    }

    async fn queue(&self) {
        self.run("planner", &["upload", "moves.csv", "-t", "movements.toml", "--queue", "-q"], 0).await;
    }

    fn workers<const N: usize>(&self, machines: [&str; N]) -> [Running; N] {
        machines.map(|machine| self.on(machine, &["work"]).start())
    }

    fn until_sent(&self, requests: usize) {
        until("some requests", || (self.desk.service.log().len() >= requests).then_some(()));
    }

    fn until_done(&self, server: &Cluster) {
        until("the end of the run", || {
            (server.query("ledger", "SELECT COUNT(*) FROM run WHERE state = 'queued'") == "0").then_some(())
        });
    }

    /// Asserts that nothing arrived twice, and that the ledger is right about every record. Returns the run.
    async fn assert_right(&self, code: i32) -> Value {
        let bodies: BTreeMap<String, usize> = self.desk.service.bodies();
        let twice = bodies.values().filter(|times| **times > 1).count();
        let shown = self.run("reader", &["runs", "show", "1", "--json"], 0).await.json();
        assert_eq!(twice, 0, "{shown}");
        let (sent, unknown) = (count(&shown, "sent"), count(&shown, "unknown"));
        assert_eq!(sent + unknown, MOVES as u64, "{shown}");
        self.run("reader", &["runs", "wait", "1", "--report", "report.csv", "-q"], code).await;
        let report = table(&self.desk.place.path("report.csv"));
        for (key, state) in column(&report, "SKU").iter().zip(column(&report, "sheetport_status")) {
            let arrived = bodies.keys().any(|body| body.contains(&format!("\"{key}\"")));
            assert!(arrived || state == "unknown", "{key} is {state} and did not arrive");
        }
        self.run("reader", &["runs", "check"], 0).await;
        println!("{sent} sent, {unknown} unknown, {} arrived", bodies.len());
        shown
    }

    /// Asserts that further transactions wait for a person.
    async fn assert_asks(&self) {
        let desk = &self.desk;
        let before = desk.service.log().len();
        let more = moves(3).replace("S-", "T-");
        desk.place.write("more.csv", more);
        let upload = ["upload", "more.csv", "-t", "movements.toml"];
        self.run("reader", &upload, 2).await.says(&["may lack what was sent last", "--accept-older-ledger"]);
        self.run("reader", &["doctor", "--offline"], 0).await.shows(&["may lack what was sent last"]);
        assert_eq!(desk.service.log().len(), before);
        let runs = self.run("reader", &["runs", "--json"], 0).await.json();
        let run = runs["runs"][0]["run"].to_string();
        self.run("reader", &["resume", &run, "--accept-older-ledger", "-q"], 0).await;
        assert_eq!(desk.service.log().len(), before + 3);
        // The doubts about the first run stay.
        self.run("reader", &["runs", "check"], 0).await;
    }
}

/// Lets a standby lag, and promotes it after a crash of the primary server.
fn promote_lagging(failover: &mut Failover, standby: &Cluster) {
    failover.until_sent(100);
    failover.desk.server.wait_for_standby();
    standby.lag();
    let lagging = failover.desk.service.log().len();
    failover.until_sent(lagging + 120);
    failover.desk.server.crash();
    standby.promote();
    failover.lead_to(standby.folder());
}

/// Sends with two workers until the run ends after a promotion of the lagging standby. Returns the workers.
fn send_through_promotion(failover: &mut Failover, standby: &Cluster) -> [Running; 2] {
    let workers = failover.workers(["one", "two"]);
    block_in_place(|| {
        promote_lagging(failover, standby);
        failover.until_done(standby);
    });
    workers
}

/// With idempotency keys, whatever is sent again after a failover has the key of its first request, so the service applies it once.
#[tokio::test(flavor = "multi_thread")]
async fn no_record_has_two_keys_after_a_promotion() {
    let Some(mut failover) = Failover::new().await else { return };
    for machine in ["planner", "one", "two", "reader"] {
        let settings = "[profiles.default]\nidempotency_key = \"24h\"\n";
        std::fs::create_dir_all(failover.desk.place.path(machine)).unwrap();
        failover.desk.place.write(&format!("{machine}/sheetport.toml"), settings);
    }
    failover.queue().await;
    let Some(standby) = failover.desk.server.standby() else { return };
    let workers = send_through_promotion(&mut failover, &standby);
    for worker in workers {
        worker.kill();
    }
    let mut keys: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for seen in failover.desk.service.log() {
        keys.entry(seen.body).or_default().insert(seen.idempotency_key.expect("a key"));
    }
    assert!(keys.values().all(|keys| keys.len() == 1), "{keys:?}");
    let shown = failover.run("reader", &["runs", "show", "1", "--json"], 0).await.json();
    assert_eq!(count(&shown, "sent") + count(&shown, "unknown"), MOVES as u64, "{shown}");
    assert!(keys.len() as u64 >= count(&shown, "sent"), "{} of {shown}", keys.len());
}

#[tokio::test(flavor = "multi_thread")]
async fn workers_repeat_nothing_after_a_lagging_standby_was_promoted() {
    let Some(mut failover) = Failover::new().await else { return };
    failover.queue().await;
    let Some(standby) = failover.desk.server.standby() else { return };
    let workers = send_through_promotion(&mut failover, &standby);
    let shown = failover.assert_right(4).await;
    assert!(count(&shown, "unknown") > 0, "{shown}");
    for worker in workers {
        worker.kill();
    }
    let report = std::fs::read_to_string(failover.desk.place.path("report.csv")).unwrap();
    assert!(report.contains("timeline 2 instead of 1") || report.contains("of a process is missing"), "{report}");
    failover.assert_asks().await;
}

/// The workers that have sent what was lost are gone, too.
#[tokio::test(flavor = "multi_thread")]
async fn a_worker_elsewhere_repeats_nothing_after_a_promotion() {
    let Some(mut failover) = Failover::new().await else { return };
    failover.queue().await;
    let Some(standby) = failover.desk.server.standby() else { return };
    let workers = failover.workers(["one", "two"]);
    block_in_place(|| promote_lagging(&mut failover, &standby));
    for worker in workers {
        worker.kill();
    }
    standby.end_leases("ledger");
    failover.run("three", &["work", "--until-idle"], 0).await;
    let shown = failover.assert_right(4).await;
    assert!(count(&shown, "unknown") > 100, "{shown}");
    failover.assert_asks().await;
}

/// An upload that sends by itself, and its continuation elsewhere.
#[tokio::test(flavor = "multi_thread")]
async fn a_resume_elsewhere_repeats_nothing_after_a_promotion() {
    let Some(mut failover) = Failover::new().await else { return };
    failover.run("reader", &["runs"], 0).await;
    let Some(standby) = failover.desk.server.standby() else { return };
    let upload = failover.on("one", &["upload", "moves.csv", "-t", "movements.toml", "-q"]).start();
    block_in_place(|| promote_lagging(&mut failover, &standby));
    upload.kill();
    standby.end_leases("ledger");
    failover.run("two", &["resume", "1", "-q"], 4).await;
    failover.assert_right(4).await;
    failover.assert_asks().await;
}

/// With a synchronous standby, nothing is lost, and the workers know it. They find the new server by themselves.
#[tokio::test(flavor = "multi_thread")]
async fn workers_go_on_after_a_failover_that_loses_nothing() {
    let Some(mut failover) = Failover::new().await else { return };
    failover.queue().await;
    let Some(standby) = failover.desk.server.standby() else { return };
    failover.desk.server.query("postgres", "ALTER SYSTEM SET synchronous_standby_names = '*'");
    failover.desk.server.query("postgres", "SELECT pg_reload_conf()");
    let synchronous = "SELECT COUNT(*) FROM pg_stat_replication WHERE sync_state = 'sync'";
    until("a synchronous standby", || (failover.desk.server.query("postgres", synchronous) == "1").then_some(()));
    // Both are named, and found by the processes themselves.
    let socket = |server: &Cluster| server.folder().display().to_string().replace('/', "%2F");
    let (one, other) = (socket(&failover.desk.server), socket(&standby));
    failover.desk.ledger =
        format!("postgres:///ledger?host={one},{other}&user=sheetport&target_session_attrs=read-write");
    let workers = failover.workers(["one", "two"]);
    block_in_place(|| {
        failover.until_sent(150);
        failover.desk.server.crash();
        standby.promote();
        failover.until_done(&standby);
    });
    let shown = failover.assert_right(0).await;
    assert_eq!(count(&shown, "unknown"), 0, "{shown}");
    for worker in workers {
        worker.kill();
    }
    assert_eq!(standby.query("ledger", "SELECT COUNT(*) FROM doubt"), "0");
    failover.desk.place.write("more.csv", moves(3).replace("S-", "T-"));
    failover.run("reader", &["upload", "more.csv", "-t", "movements.toml", "-q"], 0).await;
}

/// Restores an older copy of the files, as of a backup with its log, or as of a snapshot of the disk.
async fn restore_older(recovers: bool, resumes_on: &str) {
    let Some(mut failover) = Failover::new().await else { return };
    failover.queue().await;
    let copy = failover.name.path().join("copy");
    let workers = failover.workers(["one"]);
    block_in_place(|| {
        failover.until_sent(100);
        failover.desk.server.crash();
        failover.desk.server.copy_files(&copy);
        failover.desk.server.run();
        let sent = failover.desk.service.log().len();
        failover.until_sent(sent + 150);
        failover.desk.server.crash();
    });
    for worker in workers {
        worker.kill();
    }
    failover.desk.server.restore_files(&copy, recovers);
    failover.desk.server.run();
    until("the end of the recovery", || {
        (failover.desk.server.query("postgres", "SELECT pg_is_in_recovery()") == "f").then_some(())
    });
    failover.desk.server.end_leases("ledger");
    failover.run(resumes_on, &["work", "--until-idle"], 0).await;
    let shown = failover.assert_right(4).await;
    assert!(count(&shown, "unknown") > 150, "{shown}");
    failover.assert_asks().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_elsewhere_repeats_nothing_after_a_backup_was_restored() {
    restore_older(true, "two").await;
}

/// Such a copy is on the same timeline, and only the machine that has written more can tell.
#[tokio::test(flavor = "multi_thread")]
async fn a_machine_that_has_written_more_recognises_an_older_snapshot() {
    restore_older(false, "one").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_elsewhere_repeats_nothing_after_a_dump_was_loaded() {
    let Some(failover) = Failover::new().await else { return };
    failover.queue().await;
    let dump = failover.name.path().join("dump.sql");
    let [worker] = failover.workers(["one"]);
    block_in_place(|| {
        failover.until_sent(100);
        failover.desk.server.dump("ledger", &dump);
        let sent = failover.desk.service.log().len();
        failover.until_sent(sent + 100);
    });
    worker.kill();
    failover.desk.server.load("ledger", &dump);
    failover.desk.server.end_leases("ledger");
    failover.run("two", &["work", "--until-idle"], 0).await;
    let shown = failover.assert_right(4).await;
    assert!(count(&shown, "unknown") > 100, "{shown}");
    let report = std::fs::read_to_string(failover.desk.place.path("report.csv")).unwrap();
    assert!(report.contains("loaded from a dump"), "{report}");
    failover.assert_asks().await;
}

/// A role that may not read the identifier of the system still sees the timeline, and one that sees neither is warned.
#[tokio::test(flavor = "multi_thread")]
async fn a_role_without_rights_is_warned() {
    let Some(failover) = Failover::new().await else { return };
    failover.queue().await;
    let server = &failover.desk.server;
    server.query("ledger", "CREATE ROLE clerk LOGIN");
    server.query(
        "ledger",
        "GRANT ALL ON ALL TABLES IN SCHEMA public TO clerk; GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO clerk",
    );
    server.query("ledger", "REVOKE EXECUTE ON FUNCTION pg_control_system() FROM PUBLIC");
    let address = failover.desk.ledger.replace("user=sheetport", "user=clerk");
    let doctor = ["doctor", "--offline", "--ledger", &address];
    let sees = failover.run("one", &doctor, 0).await;
    assert!(!sees.stdout.contains("does not tell its timeline"), "{sees:?}");
    server.query("ledger", "REVOKE EXECUTE ON FUNCTION pg_walfile_name(pg_lsn) FROM PUBLIC");
    failover.run("one", &doctor, 0).await.shows(&["does not tell its timeline", "fsync is off"]);
    // Roles that see different parts agree on the place.
    for (machine, address) in [("one", &address), ("two", &failover.desk.ledger)] {
        let worker = failover.on(machine, &["work", "--ledger", address]).start();
        let sent = failover.desk.service.log().len();
        failover.until_sent(sent + 100);
        worker.kill();
        failover.desk.server.end_leases("ledger");
    }
    assert_eq!(server.query("ledger", "SELECT COUNT(*) FROM doubt"), "0");
    assert_eq!(server.query("ledger", "SELECT COUNT(lost_at) FROM place"), "0");
}
