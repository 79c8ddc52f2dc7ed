//! Simulates exports on many nights against a list that changes between and during pages, with faults of the service and the
//! machine. All files are real; the service and the clocks are simulated.

mod details;
mod rows;
mod world;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::{Duration, Instant};

use serde_json::Value;
use sheetport_client::auth::Credentials;
use sheetport_client::{Client, ConnectOptions, KnownSizes, Pace, PageSize, Request};
use sheetport_sheet::write::full_disk;
use sheetport_testing::tries;
use tokio::sync::Notify;

use self::details::DETAILS;
use self::rows::{check_changes, rows};
use self::world::{NOW, Version, World, now, sleep};
use super::{Clock, Error, Exported, Job, Since, export};

/// Chooses a single seed.
const SEED: &str = "SHEETPORT_NIGHTS_SEED";
/// Chooses the number of seeds.
const SEEDS: &str = "SHEETPORT_NIGHTS_SEEDS";
/// Number of seeds, and with `SHEETPORT_LONG=1`. The 1,000 seeds, 62,000 exports of a night, ran without a fault.
const USUAL_SEEDS: u64 = 100;
const LONG_SEEDS: u64 = 1_000;
/// The same for files with typed columns, whose exports differ in the last step only.
const TYPED_SEEDS: u64 = 16;
/// Number of tests to divide the seeds among, so that they run in parallel.
const PARTS: u64 = 4;
const NIGHTS: u32 = 30;
/// How often a scheduler repeats a failed export in a night.
const ATTEMPTS: u32 = 6;
/// Locked for writing while a test of this process starts another: until that one begins to run, it shares all locks on files, so an
/// export that has just ended seems to go on.
pub(super) static STARTS_PROCESSES: RwLock<()> = RwLock::new(());

fn lock(world: &Mutex<World>) -> MutexGuard<'_, World> {
    world.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Content and kind of file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Export {
    /// The whole list, with a list of changes for some seeds.
    All,
    /// The whole list, each time to a new file.
    Dated,
    /// The changes, each time to a new file.
    Deltas,
    /// The changes, appended to the same file.
    Appended,
    /// The whole list, with typed columns.
    #[cfg(feature = "parquet")]
    Parquet,
    /// The whole list or its changes, into a database that is updated.
    Database,
}

/// The exports of one seed.
struct Simulation {
    seed: u64,
    /// Whether all files have typed columns.
    is_typed: bool,
    client: Arc<Client>,
    world: Arc<Mutex<World>>,
    killed: Arc<Notify>,
    folder: PathBuf,
    /// The records after applying all files of changes, or all rows of the file with appended changes.
    merged: BTreeMap<u64, u64>,
    /// The rows of the file with appended changes.
    appended: Vec<(u64, u64)>,
    /// The records after all lists of changes. `None` before the first.
    listed: Option<BTreeMap<u64, u64>>,
    /// The page sizes known so far.
    known: KnownSizes,
    complete: u32,
    incomplete: u32,
}

impl Simulation {
    fn job(&self, export: Export) -> Job {
        let zone = lock(&self.world).zone.clone();
        let clock = Clock { local: jiff::Timestamp::try_from(now()).expect("a time").to_zoned(zone), now };
        let (pattern, since, append) = match export {
            Export::All => ("items.ndjson", Since::Ever, false),
            Export::Dated => ("items-{date}-{time}.ndjson", Since::Ever, false),
            Export::Deltas => ("changes-{date}-{time}.ndjson", Since::Last, false),
            Export::Appended => ("deltas.ndjson", Since::Last, true),
            #[cfg(feature = "parquet")]
            Export::Parquet => ("items.parquet", Since::Ever, false),
            Export::Database if self.seed.is_multiple_of(2) => ("records.db", Since::Ever, false),
            Export::Database => ("records.db", Since::Last, false),
        };
        let page_size = PageSize::Largest(self.known);
        let mut job = Job { page_size, ..Job::in_folder(&self.folder, pattern, clock) };
        (job.options.since, job.options.append) = (since, append);
        job.details = (since == Since::Last && self.has_details()).then_some(&DETAILS);
        match export == Export::All && !self.seed.is_multiple_of(3) {
            true => job.with_changes(&self.folder, "lists/{date}-{time}.ndjson"),
            false => job,
        }
    }

    fn deltas(&self) -> Export {
        if self.seed.is_multiple_of(2) { Export::Appended } else { Export::Deltas }
    }

    /// Exports once. `None` if the process was killed.
    async fn attempt(&self, job: &Job) -> Option<Result<Exported, Error>> {
        let pace = Arc::new(Pace::new(None, Instant::now()));
        let exported = tokio::select! {
            biased;
            () = self.killed.notified() => None,
            exported = export(Arc::clone(&self.client), pace, job, &|_, _| {}) => Some(exported),
        };
        // The only thread for such work still finishes a file if the process was killed in between.
        tokio::task::spawn_blocking(|| ()).await.expect("no panic");
        exported
    }

    /// Exports in one night, again after a failure. Returns whether the file is complete.
    async fn night(&mut self, export: Export, has_faults: bool) -> bool {
        for _ in 0..ATTEMPTS {
            {
                let mut world = lock(&self.world);
                world.kill_in = (has_faults && world.rng.u8(..8) == 0).then(|| world.rng.u32(1..12));
                if has_faults && world.rng.u8(..10) == 0 {
                    // From the first page of a spool to the last step of an export.
                    full_disk::fill_after(&self.folder, world.rng.usize(..12_000));
                }
            }
            let began = NOW.get();
            let job = self.job(export);
            let result = self.attempt(&job).await;
            full_disk::free(&self.folder);
            if let Some(Ok(exported)) = &result {
                self.known = exported.known_sizes.unwrap_or(self.known);
            }
            match result {
                Some(Ok(exported)) if exported.manifest.complete => {
                    let is_first_list = job.changes.is_some() && self.listed.is_none();
                    assert_eq!(
                        exported.remarks.len(),
                        usize::from(is_first_list),
                        "seed {}: {:?}",
                        self.seed,
                        exported.remarks
                    );
                    self.check(&exported);
                    if job.changes.is_some() {
                        self.apply(&exported);
                    }
                    self.complete += 1;
                    return true;
                }
                Some(Ok(exported)) => {
                    assert_eq!(exported.manifest.how.lines().count(), 1, "seed {}", self.seed);
                    self.incomplete += 1;
                }
                Some(Err(error)) => {
                    assert_eq!(error.to_string().lines().count(), 1, "seed {}: {error}", self.seed);
                    let is_expected = match &error {
                        Error::Api(_) | Error::Page { .. } | Error::Sheet(_) | Error::Spool { .. } => true,
                        Error::Dataset { source, .. } => matches!(source, sheetport_datasets::Error::Write(_)),
                        _ => false,
                    };
                    assert!(is_expected, "seed {}: {error}", self.seed);
                }
                None => {}
            }
            assert!(NOW.get() >= began);
            sleep(Duration::from_secs(lock(&self.world).rng.u64(10..7_000)));
        }
        false
    }

    /// Compares a complete file with the content of the list during the reading.
    fn check(&mut self, exported: &Exported) {
        let path = exported.path.as_deref().expect("a file");
        let mut rows = rows(path);
        if let Some(before) = exported.manifest.rows_before {
            assert!(rows.starts_with(&self.appended), "seed {}: earlier rows have changed", self.seed);
            let all: BTreeSet<&(u64, u64)> = rows.iter().collect();
            // A detail may be newer than its entry of the list, and comes again with that.
            let is_unique = all.len() == rows.len() || self.has_details();
            assert!(is_unique, "seed {}: nothing is appended twice: {rows:?}", self.seed);
            self.appended.clone_from(&rows);
            // Includes the rows of an export that was interrupted at its end.
            self.merged = rows.iter().copied().collect();
            rows.drain(..usize::try_from(before).expect("rows"));
            assert_eq!(rows.len() as u64, exported.manifest.rows);
        }
        let world = lock(&self.world);
        let started: jiff::Timestamp = exported.manifest.started.parse().expect("a time");
        let (started, ended) = (i64::try_from(started.as_nanosecond()).expect("now"), NOW.get());
        let during = |version: &&Version| version.from <= ended && version.until >= started;
        let versions: BTreeSet<(u64, u64)> =
            world.versions.iter().filter(during).map(|version| (version.id, version.number)).collect();
        let context = || {
            let World { order, has_total, .. } = &*world;
            format!(
                "seed {}, {order:?}, total {has_total}, {}: {rows:?}\n{versions:?}",
                self.seed, exported.manifest.how
            )
        };
        let ids: BTreeSet<u64> = rows.iter().map(|(id, _)| *id).collect();
        assert_eq!(ids.len(), rows.len(), "no record twice: {}", context());
        for row in &rows {
            assert!(versions.contains(row), "no stale row {row:?}: {}", context());
        }
        // A database has all records, and was given the changes.
        if exported.manifest.changes_only && path.extension().is_none_or(|extension| extension != "db") {
            self.merged.extend(rows.iter().copied());
            return;
        }
        // Records present throughout, in any version.
        let mut spans: BTreeMap<u64, (i64, i64)> = BTreeMap::new();
        for version in &world.versions {
            let span = spans.entry(version.id).or_insert((version.from, version.until));
            *span = (span.0.min(version.from), span.1.max(version.until));
        }
        for (id, (from, until)) in spans {
            let stayed = from < started && until > ended;
            assert!(!stayed || ids.contains(&id), "record {id} is lost: {}", context());
        }
    }

    /// Applies a list of changes to the records after all lists before.
    fn apply(&mut self, exported: &Exported) {
        let number = |value: &Value| value.as_str().and_then(|text| text.parse::<u64>().ok());
        if let Some((listed, path)) = self.listed.as_mut().zip(exported.changes_file.as_ref()) {
            for line in std::fs::read_to_string(path).expect("a list").lines() {
                let row: Value = serde_json::from_str(line).expect("JSON");
                // It changes along with the name.
                if row["field"] == "price" {
                    continue;
                }
                let (id, name) = (number(&row["id"]).expect("an ID"), number(&row["name"]).expect("a version"));
                let before = match row["change"].as_str() {
                    Some("removed") => listed.remove(&id),
                    _ => listed.insert(id, name),
                };
                let is_added = row["change"] == "added";
                assert_eq!(before.is_none(), is_added, "seed {}: {line}", self.seed);
                assert!(row["change"] != "changed" || number(&row["before"]) == before, "seed {}: {line}", self.seed);
            }
        }
        let rows: BTreeMap<u64, u64> = rows(exported.path.as_deref().expect("a file")).into_iter().collect();
        assert!(self.listed.is_none() == exported.changes_file.is_none());
        let listed = self.listed.get_or_insert_with(|| rows.clone());
        assert_eq!(*listed, rows, "seed {}: the lists of changes", self.seed);
    }

    /// Simulates a month of nights, and then a night without changes.
    async fn run(&mut self) {
        for night in 0..NIGHTS {
            {
                let mut world = lock(&self.world);
                sleep(Duration::from_secs(world.rng.u64(15..20) * 3_600));
                for _ in 0..world.rng.u32(..8) {
                    sleep(Duration::from_secs(60));
                    world.change();
                }
                world.is_busy = world.rng.u8(..3) == 0;
                world.faults = [0, 0, 20, 100][world.rng.usize(..4)];
                world.outage = 0;
            }
            if self.is_typed {
                #[cfg(feature = "parquet")]
                self.night(Export::Parquet, true).await;
                self.night(Export::Database, true).await;
                continue;
            }
            self.night(if night % 7 == 6 { Export::Dated } else { Export::All }, true).await;
            self.night(self.deltas(), true).await;
        }
        {
            let mut world = lock(&self.world);
            (world.is_busy, world.faults, world.outage) = (false, 0, 0);
            sleep(Duration::from_secs(3_600));
        }
        let fresh = |world: &Mutex<World>| -> BTreeMap<u64, u64> {
            lock(world).listed().iter().map(|version| (version.id, version.number)).collect()
        };
        if self.is_typed {
            #[cfg(feature = "parquet")]
            {
                assert!(self.night(Export::Parquet, false).await, "seed {}", self.seed);
                let nightly: BTreeMap<u64, u64> = rows(&self.folder.join("items.parquet")).into_iter().collect();
                assert_eq!(nightly, fresh(&self.world), "seed {}: the Parquet file", self.seed);
            }
            assert!(self.night(Export::Database, false).await, "seed {}", self.seed);
            let database = self.folder.join("records.db");
            let nightly: BTreeMap<u64, u64> = rows(&database).into_iter().collect();
            assert_eq!(nightly, fresh(&self.world), "seed {}: the database", self.seed);
            return check_changes(&database);
        }
        assert!(self.night(Export::All, false).await, "seed {}", self.seed);
        assert!(self.night(self.deltas(), false).await, "seed {}", self.seed);
        let fresh = fresh(&self.world);
        let nightly: BTreeMap<u64, u64> = rows(&self.folder.join("items.ndjson")).into_iter().collect();
        assert_eq!(nightly, fresh, "seed {}: the nightly file", self.seed);
        let merged = self.merged.iter().filter(|(id, _)| fresh.contains_key(id));
        assert_eq!(merged.map(|(id, number)| (*id, *number)).collect::<BTreeMap<_, _>>(), fresh, "seed {}", self.seed);
    }
}

/// Simulates every [`PARTS`]th seed from `part` on.
#[track_caller]
fn simulate(part: u64, is_typed: bool) {
    let chosen = |name| std::env::var(name).ok().map(|seed: String| seed.parse::<u64>().expect("a number"));
    let seeds = chosen(SEED).map_or(
        0..chosen(SEEDS).unwrap_or_else(|| tries(if is_typed { TYPED_SEEDS } else { USUAL_SEEDS }, LONG_SEEDS)),
        |seed| seed..seed + 1,
    );
    let seeds = seeds.filter(|seed| seed % PARTS == part);
    let world = Arc::new(Mutex::new(World::new(0)));
    let killed = Arc::new(Notify::new());
    let (answering, kill) = (Arc::clone(&world), Arc::clone(&killed));
    let script = move |request: &Request| {
        let mut world = lock(&answering);
        if let Some(left) = &mut world.kill_in {
            *left = left.saturating_sub(1);
            if *left == 0 {
                world.kill_in = None;
                kill.notify_one();
            }
        }
        world.answer(request)
    };
    let credentials = Credentials { access: Some("a".into()), refresh: Some("r".into()), file: None };
    let client = Client::new("http://localhost:1", credentials, &ConnectOptions::default(), 1).expect("a client");
    let client = Arc::new(client.with_script(Box::new(script)));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(1)
        .start_paused(true)
        .build()
        .expect("a runtime");
    let (mut complete, mut incomplete) = (0, 0);
    for seed in seeds {
        let _nobody_starts = STARTS_PROCESSES.read().unwrap_or_else(PoisonError::into_inner);
        // In memory where possible: each file is synced.
        let memory = Path::new("/dev/shm");
        let folder = match memory.is_dir() {
            true => tempfile::tempdir_in(memory),
            false => tempfile::tempdir(),
        };
        let folder = folder.expect("a folder");
        // Daylight saving time ends in this month.
        let start: jiff::Timestamp = "2026-10-05T00:00:00Z".parse().expect("a time");
        NOW.set(i64::try_from(start.as_nanosecond()).expect("this century"));
        *lock(&world) = World::new(seed);
        // For backoffs and the order of answers.
        fastrand::seed(seed);
        let mut simulation = Simulation {
            seed,
            is_typed,
            client: Arc::clone(&client),
            world: Arc::clone(&world),
            killed: Arc::clone(&killed),
            folder: folder.path().to_owned(),
            merged: BTreeMap::new(),
            appended: Vec::new(),
            listed: None,
            known: KnownSizes::default(),
            complete: 0,
            incomplete: 0,
        };
        runtime.block_on(simulation.run());
        (complete, incomplete) = (complete + simulation.complete, incomplete + simulation.incomplete);
    }
    // Most nights must end with a file, or the simulation shows nothing.
    assert!(complete >= 10 * incomplete, "{complete} complete, {incomplete} incomplete");
}

#[test]
fn a_month_of_nights_loses_nothing_1() {
    simulate(0, false);
}

#[test]
fn a_month_of_nights_loses_nothing_2() {
    simulate(1, false);
}

#[test]
fn a_month_of_nights_loses_nothing_3() {
    simulate(2, false);
}

#[test]
fn a_month_of_nights_loses_nothing_4() {
    simulate(3, false);
}

#[test]
fn a_month_of_nights_in_typed_files_loses_nothing_1() {
    simulate(0, true);
}

#[test]
fn a_month_of_nights_in_typed_files_loses_nothing_2() {
    simulate(1, true);
}

#[test]
fn a_month_of_nights_in_typed_files_loses_nothing_3() {
    simulate(2, true);
}

#[test]
fn a_month_of_nights_in_typed_files_loses_nothing_4() {
    simulate(3, true);
}
