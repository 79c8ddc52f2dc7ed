//! A ledger on a server far away: each question to it takes time, and a worker is slower, but not silent.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::mpsc;

use super::desk::{Desk, moves};
use super::{count, items};
use crate::faults::server::Reply;

/// The service's time for an answer.
const LATENCY: Duration = Duration::from_millis(50);

/// As a worker on two cores chooses for a server that allows 100 connections.
const AT_ONCE: &str = "3";

/// A desk whose ledger answers late.
struct Far {
    desk: Desk,
    _folder: TempDir,
}

impl Far {
    /// `round_trip`: how much later each answer comes.
    async fn new(round_trip: Duration) -> Option<Far> {
        let mut desk = Desk::new(|_| Reply::Late(LATENCY, Box::new(Reply::Accept))).await?;
        let folder = tempfile::tempdir().unwrap();
        let listener = UnixListener::bind(folder.path().join(".s.PGSQL.5432")).unwrap();
        tokio::spawn(serve(listener, desk.server.socket(), round_trip / 2));
        desk.ledger = format!("postgres:///ledger?host={}&user=sheetport", encoded(folder.path()));
        Some(Far { desk, _folder: folder })
    }

    /// Sends a queued run by one worker. Returns what it said, and the requests per second of the service.
    async fn send(&self, file: &str, text: &str, template: &str, rate: &str) -> (String, f64) {
        self.desk.place.write(file, text);
        self.desk.run("planner", &["upload", file, "-t", template, "--queue", "-q", "--rate", rate], 0).await;
        let before = self.desk.service.log().len();
        let ended = self.desk.run("worker", &["work", "--until-idle", "--at-once", AT_ONCE], 0).await;
        let log = self.desk.service.log();
        let came: Vec<Instant> = log.iter().skip(before).map(|seen| seen.came).collect();
        let (first, last) = (came.iter().min().unwrap(), came.iter().max().unwrap());
        (ended.stderr, came.len() as f64 / (*last - *first).as_secs_f64())
    }
}

fn encoded(folder: &Path) -> String {
    folder.display().to_string().replace('/', "%2F")
}

/// Passes connections on to `to`, each byte later by `delay` in each direction.
async fn serve(listener: UnixListener, to: PathBuf, delay: Duration) {
    while let Ok((near, _)) = listener.accept().await {
        let Ok(far) = UnixStream::connect(&to).await else { continue };
        let ((near_in, near_out), (far_in, far_out)) = (near.into_split(), far.into_split());
        tokio::spawn(pass(near_in, far_out, delay));
        tokio::spawn(pass(far_in, near_out, delay));
    }
}

async fn pass(
    mut from: impl AsyncReadExt + Unpin + Send + 'static,
    mut to: impl AsyncWriteExt + Unpin,
    delay: Duration,
) {
    let (bytes, mut arriving) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        let mut buffer = vec![0; 65_536];
        while let Ok(length @ 1..) = from.read(&mut buffer).await {
            if bytes.send((Instant::now() + delay, buffer[..length].to_vec())).is_err() {
                return;
            }
        }
    });
    let mut waiting = VecDeque::new();
    while let Some(next) = arriving.recv().await {
        waiting.push_back(next);
        while let Some((at, bytes)) = waiting.pop_front() {
            tokio::time::sleep_until(at.into()).await;
            if to.write_all(&bytes).await.is_err() {
                return;
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_far_from_its_ledger_goes_on_and_says_why_it_is_slow() {
    let Some(far) = Far::new(Duration::from_millis(100)).await else { return };
    let (said, _) = far.send("items.csv", &items(64), "items", "1000/s").await;
    assert!(said.contains("records per second instead of 1000.0"), "{said}");
    let shown = far.desk.run("planner", &["runs", "show", "1", "--json"], 0).await.json();
    assert_eq!(count(&shown, "sent"), 64, "{shown}");
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "measures time: for an idle machine and an optimized executable"]
async fn the_speed_of_a_worker_by_the_distance_of_its_ledger() {
    for millis in [0, 1, 10, 50] {
        let Some(far) = Far::new(Duration::from_millis(millis)).await else { return };
        let (_, of_items) = far.send("items.csv", &items(1_500), "items", "100/s").await;
        let (_, of_moves) = far.send("moves.csv", &moves(1_500), "movements.toml", "100/s").await;
        println!("{millis} ms: {of_items:.0} items/s, {of_moves:.0} transactions/s");
    }
}
