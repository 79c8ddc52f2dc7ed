//! Kills the executable repeatedly for each kind of record and resumes. The accounting must add up, no non-idempotent call
//! may be repeated, at most the records in flight may be unknown, and all others must end as in an undisturbed run.
//!
//! The service answers after random delays, so that a kill hits each record at one of five points: before its intent,
//! after it, after its request was written, after its answer, or after its outcome was committed. Every point must be hit.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

use sheetport_ledger::{Ledger, Outcome, RecordState, RunState};
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{ConnectOptions, Connection};

use super::process::{Place, Running, Sheetport};
use super::{accounting, count, summary};
use crate::faults::server::{Reply, Seen, Server};

/// Minimum number of kills per kind; continued up to [`MOST_KILLS`] until every point was hit.
const KILLS: usize = 15;
const MOST_KILLS: usize = 90;
/// Number of kills per file before its upload may finish.
const KILLS_OF_ONE: usize = 5;
const RECORDS: usize = 40;
const CONCURRENCY: usize = 3;

const ITEM: &str = "\
record = \"item\"
[fields.externalId]
column = \"Id\"
[fields.price]
column = \"Amount\"
";
pub const ORDER: &str = "\
record = \"order\"
[group]
by = [\"Id\"]
[fields.order_id]
column = \"Id\"
[fields.externalId]
column = \"Id\"
[lines.itemExternalId]
column = \"Id\"
[lines.quantity]
column = \"Amount\"
";
pub const TRANSACTION: &str = "\
record = \"inventory-transaction\"
[fields.transactionType]
value = \"in\"
[fields.inventoryExternalId]
column = \"Id\"
[fields.transactionAmount]
column = \"Amount\"
[fields.transaction_id]
column = \"Update\"
on_blank = \"omit\"
";
pub const SUBSCRIPTION: &str = "\
record = \"subscription\"
[group]
by = [\"Id\"]
[fields.cid]
column = \"Id\"
[lines.id]
column = \"Id\"
[lines.amount]
column = \"Amount\"
";

#[tokio::test(flavor = "multi_thread")]
async fn items_end_as_in_an_undisturbed_run() {
    kill_repeatedly(ITEM, |_| false).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn orders_end_as_in_an_undisturbed_run() {
    kill_repeatedly(ORDER, |_| false).await;
}

/// Every second transaction is an idempotent update.
#[tokio::test(flavor = "multi_thread")]
async fn transactions_are_created_once_and_updated_at_least_once() {
    kill_repeatedly(TRANSACTION, |seq| seq % 2 == 0).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn subscriptions_are_created_once() {
    kill_repeatedly(SUBSCRIPTION, |_| true).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn invoices_are_created_once() {
    kill_repeatedly(&SUBSCRIPTION.replace("subscription", "invoice"), |_| true).await;
}

/// The progress of a record at a kill.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Point {
    BeforeIntent,
    AfterIntent,
    AfterWrite,
    AfterAnswer,
    AfterCommit,
}

/// When to kill.
#[derive(Debug)]
enum Moment {
    /// After a time, at whatever progress.
    After(Duration),
    /// When the service has received this many more requests.
    AtRequest(usize),
    /// When the service has answered the request with this index.
    AtAnswer(usize),
    /// When the ledger has more outcomes than before.
    AtCommit,
    /// When the ledger exists.
    AtLedger,
}

async fn kill_repeatedly(template: &str, is_non_idempotent: fn(usize) -> bool) {
    let seed = fastrand::u64(..);
    println!("seed {seed}");
    let mut random = fastrand::Rng::with_seed(seed);
    let mut hit: BTreeMap<Point, usize> = BTreeMap::new();
    let mut kills = 0;
    while kills < KILLS || hit.len() < 5 && kills < MOST_KILLS {
        let file = File::new(template, is_non_idempotent).await;
        // Estimated time to the first request.
        let mut to_start = Duration::from_millis(200);
        // Records that were in flight at any of the kills; an early kill of a resume leaves them as they were.
        let mut unknown = BTreeSet::new();
        let mut ended = None;
        for kill in 0..KILLS_OF_ONE {
            let moment = match kills % 4 {
                // Intents of idempotent calls are written for all records at once, so only this moment is before them.
                _ if kill == 0 => Moment::AtLedger,
                0 => Moment::AtRequest(1 + random.usize(..RECORDS / 6)),
                1 => Moment::After(to_start.mul_f64(0.6 + 0.8 * random.f64())),
                2 => Moment::AtCommit,
                _ => Moment::AtAnswer(random.usize(..RECORDS / 6)),
            };
            let jitter = Duration::from_micros(if random.bool() { random.u64(..1_500) } else { 0 });
            let begun = Instant::now();
            let Some(killed) = file.kill(moment, jitter, &mut ended) else { break };
            if let Some(first) = file.server.log().iter().map(|seen| seen.came).find(|came| *came > begun) {
                to_start = first - begun;
            }
            kills += 1;
            let found = file.inspect(killed).await;
            assert!(found.in_flight.len() <= CONCURRENCY, "kill {kill}, seed {seed}: {found:?}");
            unknown.extend(found.in_flight);
            for point in found.points.values().copied().collect::<BTreeSet<_>>() {
                *hit.entry(point).or_default() += 1;
            }
        }
        let ended = match ended {
            Some(ended) => ended,
            None => file.command().await.run(),
        };
        file.check(ended, unknown.len(), seed).await;
    }
    println!("{hit:?}");
    assert_eq!(hit.len(), 5, "seed {seed}: {hit:?}");
}

/// A file to upload, and a service that answers after random delays.
struct File {
    place: Place,
    server: Server,
    is_non_idempotent: fn(usize) -> bool,
    /// Number of requests until [`File::arrived`] gets a message.
    until: Arc<AtomicUsize>,
    arrived: Receiver<()>,
}

/// The state after a kill.
#[derive(Debug)]
struct Found {
    points: BTreeMap<usize, Point>,
    in_flight: Vec<i64>,
}

impl File {
    async fn new(template: &str, is_non_idempotent: fn(usize) -> bool) -> File {
        let place = Place::new();
        let rows = (0..RECORDS).map(|seq| {
            let update = if is_non_idempotent(seq) { String::new() } else { format!("t-{seq}") };
            format!("r{seq:04},{update},{}\n", seq + 1)
        });
        place.write("r.csv", std::iter::once("Id,Update,Amount\n".to_owned()).chain(rows).collect::<String>());
        place.write("t.toml", template);
        let (told, arrived) = mpsc::channel();
        let until = Arc::new(AtomicUsize::new(usize::MAX));
        let left = Arc::clone(&until);
        let server = Server::start(move |_| {
            if left.fetch_sub(1, Ordering::Relaxed) == 1 {
                let _ = told.send(());
            }
            Reply::Late(Duration::from_micros(fastrand::u64(..4_000)), Box::new(Reply::Accept))
        });
        File { place, server: server.await, is_non_idempotent, until, arrived }
    }

    /// Returns the command to continue: `upload`, or `resume` once the plan is complete.
    async fn command(&self) -> Sheetport {
        let planned = match self.ledger().await {
            None => None,
            Some(ledger) => {
                let runs = ledger.runs(100).await.unwrap();
                runs.into_iter().find(|run| run.state != RunState::Planning).map(|run| run.id)
            }
        };
        let concurrency = CONCURRENCY.to_string();
        let command = match planned {
            None => self.place.sheetport(["upload", "r.csv", "-t", "t.toml"]),
            Some(run) => self.place.sheetport(["resume", &run.to_string()]),
        };
        let command = command.args(["--concurrency", &concurrency, "--json"]);
        command.env("SHEETPORT_BASE_URL", &self.server.address).secret("SHEETPORT_ACCESS_TOKEN", "access-1")
    }

    /// Returns the ledger, if it exists.
    async fn ledger(&self) -> Option<Ledger> {
        let home = self.place.path("home");
        match home.join("ledger.db").exists() {
            true => Some(Ledger::open(&home).await.unwrap()),
            false => None,
        }
    }

    /// Starts the command and kills it. Returns the time of the kill, or `None` if the command ended before, with its result in
    /// `ended`.
    fn kill(&self, moment: Moment, jitter: Duration, ended: &mut Option<super::process::Ended>) -> Option<Instant> {
        while self.arrived.try_recv().is_ok() {}
        let before = self.server.log().len();
        let running = tokio::task::block_in_place(|| tokio::runtime::Handle::current().block_on(self.command()));
        self.until.store(if let Moment::AtRequest(number) = moment { number } else { usize::MAX }, Ordering::Relaxed);
        let outcomes = self.outcomes();
        let mut running: Running = running.start();
        let end = Instant::now() + Duration::from_secs(30);
        let is_time = |since: Instant| match moment {
            Moment::After(wait) => since.elapsed() >= wait,
            Moment::AtRequest(_) => self.arrived.try_recv().is_ok(),
            Moment::AtCommit => self.outcomes() > outcomes,
            Moment::AtLedger => self.place.path("home/ledger.db").exists(),
            Moment::AtAnswer(place) => self.server.log().get(before + place).is_some_and(|seen| seen.left.is_some()),
        };
        let since = Instant::now();
        while !is_time(since) && !running.has_ended() {
            assert!(Instant::now() < end, "{moment:?} was not reached");
            std::thread::sleep(Duration::from_micros(100));
        }
        std::thread::sleep(jitter);
        let killed = Instant::now();
        let was_running = !running.has_ended();
        let end = running.kill();
        if was_running && end.code.is_none() {
            return Some(killed);
        }
        *ended = Some(end);
        None
    }

    /// Returns the number of outcomes in the ledger, which may be incomplete.
    fn outcomes(&self) -> i64 {
        let path = self.place.path("home/ledger.db");
        if !path.exists() {
            return 0;
        }
        let count = async {
            let mut database = SqliteConnectOptions::new().filename(path).read_only(true).connect().await.ok()?;
            sqlx::query_scalar("SELECT COUNT(*) FROM outcome").fetch_one(&mut database).await.ok()
        };
        tokio::task::block_in_place(|| tokio::runtime::Handle::current().block_on(count)).unwrap_or_default()
    }

    /// Returns the progress of each record at the kill.
    async fn inspect(&self, killed: Instant) -> Found {
        let mut found = Found { points: BTreeMap::new(), in_flight: Vec::new() };
        let mut intended: Vec<(i64, i64)> = Vec::new();
        let mut outcomes: BTreeMap<i64, Outcome> = BTreeMap::new();
        if let Some(ledger) = self.ledger().await {
            let runs = ledger.runs(100).await.unwrap();
            if let Some(run) = runs.iter().find(|run| run.state != RunState::Planning).map(|run| run.id) {
                let options = SqliteConnectOptions::new().filename(self.place.path("home/ledger.db"));
                let mut database = SqliteConnection::connect_with(&options).await.unwrap();
                let intents = sqlx::query_as("SELECT first, last FROM intent WHERE run = $1").bind(run);
                intended = intents.fetch_all(&mut database).await.unwrap();
                let in_flight = sqlx::query_scalar("SELECT seq FROM in_flight WHERE run = $1").bind(run);
                found.in_flight = in_flight.fetch_all(&mut database).await.unwrap();
                outcomes = ledger.outcomes(run, 0..=RECORDS as i64).await.unwrap();
                database.close().await.unwrap();
            }
            ledger.close().await;
        }
        let log = self.server.log();
        for seq in 0..RECORDS {
            let place = seq as i64;
            let last = log.iter().rfind(|seen| seq_of(seen) == seq);
            let is_intended = match (self.is_non_idempotent)(seq) {
                true => found.in_flight.contains(&place),
                false => intended.iter().any(|(first, last)| (*first..=*last).contains(&place)),
            };
            let point = match last {
                _ if outcomes.contains_key(&place) => Point::AfterCommit,
                Some(Seen { left: Some(left), .. }) if *left <= killed => Point::AfterAnswer,
                Some(_) => Point::AfterWrite,
                None if is_intended => Point::AfterIntent,
                None => Point::BeforeIntent,
            };
            found.points.insert(seq, point);
        }
        found
    }

    /// Checks the finished run. `unknown` is the number of records that were in flight at the kills.
    async fn check(&self, ended: super::process::Ended, unknown: usize, seed: u64) {
        let said = summary(&ended);
        let context = format!("seed {seed}: {said}");
        assert_eq!(ended.code, Some(if unknown > 0 { 4 } else { 0 }), "{context}");
        assert_eq!(count(&said, "unknown"), unknown as u64, "{context}");
        assert_eq!(count(&said, "sent"), (RECORDS - unknown) as u64, "{context}");
        assert!(accounting(&said).starts_with(&format!("{RECORDS}: sent ")), "{context}");
        let mut bodies: BTreeMap<usize, Vec<String>> = BTreeMap::new();
        for seen in self.server.log() {
            bodies.entry(seq_of(&seen)).or_default().push(seen.body);
        }
        let ledger = self.ledger().await.unwrap();
        let run = said["run"].as_i64().unwrap();
        let outcomes = ledger.outcomes(run, 0..=RECORDS as i64).await.unwrap();
        for seq in 0..RECORDS {
            let made = bodies.remove(&seq).unwrap_or_default();
            let state = outcomes.get(&(seq as i64)).map(|outcome| outcome.state);
            assert!(made.iter().all(|body| *body == made[0]), "other bytes for {seq}: {made:?}; {context}");
            let fits = match ((self.is_non_idempotent)(seq), state) {
                (true, Some(RecordState::Sent)) => made.len() == 1,
                (true, Some(RecordState::Unknown)) => made.len() <= 1,
                (false, Some(RecordState::Sent)) => !made.is_empty(),
                _ => false,
            };
            assert!(fits, "record {seq} is {state:?} and was made {} times; {context}", made.len());
        }
        assert!(bodies.is_empty(), "{bodies:?}; {context}");
        ledger.close().await;
    }
}

/// Returns the index of the record in a request.
fn seq_of(seen: &Seen) -> usize {
    let (_, name) = seen.body.split_once("\"r").unwrap_or_else(|| panic!("no name in {}", seen.body));
    name[..4].parse().unwrap()
}
