//! A ledger with many records, on a server: what a run costs must not depend on the others.
//!
//! ```text
//! SHEETPORT_LARGE_RUNS=100 cargo nextest run --run-ignored all --no-capture a_large_ledger_answers_like_a_small_one
//! ```

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use sheetport_ledger::{Ledger, Outcome, RecordState, RunId};

use crate::faults::{about, record, row};
use crate::postgres::Cluster;

/// Records of the run that is measured.
const MEASURED: usize = 100_000;
/// Records of each of the other runs.
const OTHER: usize = 1_000_000;
const REPEATS: usize = 3;

/// Plans a run of `count` records that were all sent.
async fn sent(ledger: &Ledger, count: usize) -> RunId {
    let mut plan = ledger.begin_plan(&about(), 1).await.unwrap();
    for seq in 0..count {
        plan.add_row(row(seq)).await.unwrap();
        plan.add_record(record(seq, &seq.to_string())).await.unwrap();
    }
    let run = plan.finish(1).await.unwrap();
    let seqs: Vec<i64> = (0..count as i64).collect();
    for seqs in seqs.chunks(2_048) {
        let id = |seq: &i64| Some(format!("5f0c{seq:020}"));
        let outcome = |seq| Outcome {
            attempts: 1,
            http_status: Some(201),
            service_id: id(seq),
            ..Outcome::new(*seq, RecordState::Sent, 1)
        };
        ledger.settle(run, &seqs.iter().map(outcome).collect::<Vec<_>>()).await.unwrap();
    }
    ledger.end_sending(run, 0, None, 1, 2).await.unwrap();
    run
}

/// Returns the shortest time of a command.
fn time(address: &str, folder: &Path, args: &[&str]) -> Duration {
    let run = |_| {
        let began = Instant::now();
        let mut command = Command::new(env!("CARGO_BIN_EXE_sheetport"));
        command.env("SHEETPORT_LANG", "en");
        let command = command.args(args).current_dir(folder).env("SHEETPORT_HOME", folder);
        let done = command.env("SHEETPORT_LEDGER", address).output().unwrap();
        assert!(done.status.success(), "{args:?}: {}", String::from_utf8_lossy(&done.stderr));
        began.elapsed()
    };
    (0..REPEATS).map(run).min().unwrap()
}

fn measure(address: &str, folder: &Path, run: RunId) -> Vec<(String, Duration)> {
    let run = run.to_string();
    let commands: [&[&str]; 4] =
        [&["runs"], &["runs", "show", &run], &["report", &run, "-o", "report.csv"], &["runs", "--limit", "1"]];
    commands.into_iter().map(|args| (args.join(" "), time(address, folder, args))).collect()
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs minutes and gigabytes; SHEETPORT_LARGE_RUNS says how many million records"]
async fn a_large_ledger_answers_like_a_small_one() {
    let runs: usize = std::env::var("SHEETPORT_LARGE_RUNS").map_or(1, |runs| runs.parse().unwrap());
    let Some(server) = Cluster::start() else { return };
    let address = server.database("ledger");
    let folder = tempfile::tempdir().unwrap();
    let ledger = Ledger::connect(&address.parse().unwrap(), folder.path()).await.unwrap();
    let measured = sent(&ledger, MEASURED).await;
    let small = measure(&address, folder.path(), measured);
    let began = Instant::now();
    for _ in 0..runs {
        // The rows of the measured run ten times, below a run of their own, whose plan has one record.
        let run = sent(&ledger, 1).await;
        server.query(
            "ledger",
            &format!("DELETE FROM outcome WHERE run = {run}; DELETE FROM record_block WHERE run = {run}"),
        );
        for (table, columns, key) in [
            (
                "outcome",
                "state, attempts, at, http_status, service_status, service_id, ctx_id, job_id, problems, checksum",
                "seq",
            ),
            (
                "record_block",
                "records, skipped, rejected, unchanged, warned, heads, bodies, checksum, bodies_checksum",
                "first",
            ),
        ] {
            server.query(
                "ledger",
                &format!(
                    "INSERT INTO {table} (run, {key}, {columns}) SELECT {run}, {key} + n * {MEASURED}, {columns} FROM {table}, \
                     generate_series(0, {} - 1) AS n WHERE run = {measured}",
                    OTHER / MEASURED
                ),
            );
        }
    }
    server.query("ledger", "ANALYZE");
    println!("{runs} million records more in {:?}", began.elapsed());
    println!("{}", server.query("ledger", "SELECT pg_size_pretty(pg_database_size('ledger'))"));
    // As new as the others.
    let newest = sent(&ledger, MEASURED).await;
    let large = measure(&address, folder.path(), newest);
    for ((what, small), (_, large)) in small.iter().zip(&large) {
        println!("{what}: {small:?} with one run, {large:?} with {runs} million records more");
    }
}
