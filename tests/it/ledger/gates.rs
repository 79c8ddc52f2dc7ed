//! Many workers that take the permits of many workspaces from one table.
//!
//! ```text
//! cargo nextest run --run-ignored all --no-capture a_thousand_workspaces_and_a_hundred_workers
//! ```

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use sheetport_ledger::Ledger;

use crate::postgres::Cluster;

/// Requests of a workspace per second.
const RATE: u64 = 100;
/// Ledgers shared by the workers, with two connections each, as through a pooler.
const LEDGERS: usize = 16;
/// Nobody is granted a permit longer than this in advance.
const AHEAD: Duration = Duration::from_secs(1);

/// What a simulation has measured.
struct Figures {
    /// Permits of each workspace.
    granted: BTreeMap<usize, u64>,
    /// Of each statement.
    latencies: Vec<Duration>,
    took: Duration,
}

/// Lets `workers` take permits of workspaces at random for some time.
async fn simulate(server: &Cluster, workspaces: usize, workers: usize, time: Duration) -> Figures {
    let address = server.database("ledger").parse().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mut ledgers = Vec::new();
    for _ in 0..LEDGERS.min(workers) {
        ledgers.push(Ledger::connect(&address, folder.path()).await.unwrap());
    }
    let began = Instant::now();
    let tasks = (0..workers).map(|worker| {
        let ledger = ledgers[worker % ledgers.len()].clone();
        tokio::spawn(async move {
            let (mut granted, mut latencies) = (Vec::new(), Vec::new());
            while began.elapsed() < time {
                let workspace = fastrand::usize(..workspaces);
                let interval = Some(Duration::from_millis(1_000 / RATE));
                let asked = Instant::now();
                let gate = ledger.take_permits("http://h/", &workspace.to_string(), interval, 10).await.unwrap();
                latencies.push(asked.elapsed());
                granted.extend(gate.granted.map(|granted| (workspace, u64::from(granted.count))));
            }
            (granted, latencies)
        })
    });
    let mut figures = Figures { granted: BTreeMap::new(), latencies: Vec::new(), took: Duration::ZERO };
    for task in tasks.collect::<Vec<_>>() {
        let (granted, latencies) = task.await.unwrap();
        figures.latencies.extend(latencies);
        for (workspace, count) in granted {
            *figures.granted.entry(workspace).or_default() += count;
        }
    }
    figures.took = began.elapsed();
    figures.latencies.sort_unstable();
    figures
}

impl Figures {
    fn latency(&self, of_hundred: usize) -> Duration {
        self.latencies[(self.latencies.len() - 1) * of_hundred / 100]
    }

    /// Asserts that no workspace has granted more than its rate, and that each has granted something.
    fn check(&self, workspaces: usize) {
        assert_eq!(self.granted.len(), workspaces);
        let most = (self.took + AHEAD).as_millis() as u64 * RATE / 1_000 + 20;
        let granted = self.granted.values().max().unwrap();
        assert!(*granted <= most, "{granted} permits in {:?}", self.took);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn workspaces_keep_their_rates_among_many_workers() {
    let Some(server) = Cluster::start() else { return };
    let figures = simulate(&server, 5, 20, Duration::from_secs(1)).await;
    figures.check(5);
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "prints figures for docs/scale.md"]
async fn a_thousand_workspaces_and_a_hundred_workers() {
    let Some(server) = Cluster::start() else { return };
    let figures = simulate(&server, 1_000, 100, Duration::from_secs(30)).await;
    figures.check(1_000);
    let permits: u64 = figures.granted.values().sum();
    let seconds = figures.took.as_secs_f64();
    println!("{:.0} permits/s, {:.0} statements/s", permits as f64 / seconds, figures.latencies.len() as f64 / seconds);
    println!("median {:?}, 99 % {:?}, longest {:?}", figures.latency(50), figures.latency(99), figures.latency(100));
    println!("{}", server.query("ledger", "SELECT pg_size_pretty(pg_total_relation_size('gate'))"));
}
