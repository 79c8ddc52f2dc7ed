//! Uploads, plans, undos and another writer in random order, with senders that end at random moments and are resumed, against the embedded
//! service. After each step, what the service has is compared with what the step may have changed: no plan and no undo overwrites what
//! somebody else has written since it was made, no older run overwrites a newer one, and what nobody else has touched arrives.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::pin::pin;
use std::time::Duration;

use serde_json::{Value, json};
use sheetport_client::auth::{AddressOrigin, Credentials, EnvironmentTokens, TokenHome, TokenOrigin};
use sheetport_ledger::RunId;
use sheetport_operations::{
    self as operations, Apply, Context, Error, InputFile, PlanTarget, SendOptions, Spreadsheet, TemplateChanges, Undo,
    Upload,
};
use sheetport_records::token::Access;
use sheetport_service::{Config, Service};
use sheetport_sheet::Options;
use sheetport_testing::tries;
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};

use crate::environment::context;

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

/// A service, a home folder, and all runs so far.
struct World {
    serving: Runtime,
    http: reqwest::Client,
    base: String,
    token: String,
    folder: TempDir,
    runs: Vec<Run>,
    random: fastrand::Rng,
    /// The steps so far, for the message of a failure.
    story: String,
    /// How many steps of each kind have changed the service.
    effects: BTreeMap<&'static str, usize>,
    files: usize,
}

#[test]
fn no_change_of_another_writer_is_lost() {
    let seed = fastrand::u64(..);
    let mut effects: BTreeMap<&str, usize> = BTreeMap::new();
    for schedule in 0..tries(USUAL_SCHEDULES, LONG_SCHEDULES) {
        let mut world = World::new(seed.wrapping_add(schedule as u64));
        for _ in 0..STEPS {
            world.step();
        }
        for (step, count) in &world.effects {
            *effects.entry(step).or_default() += count;
        }
    }
    // Otherwise the steps would show nothing.
    for step in ["upload", "apply", "resume", "undo"] {
        assert!(
            effects.get(step).is_some_and(|count| *count > 0),
            "{step} never changed anything: {effects:?}, seed {seed}"
        );
    }
}

impl World {
    fn new(seed: u64) -> World {
        // Commits to memory are fast, and nothing has to survive the machine.
        let memory = Path::new("/dev/shm");
        let folder = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() }.unwrap();
        let serving = Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let config = Config::new(folder.path().join("service"));
        let (base, token) = serving.block_on(async {
            let service = Service::open(config).await.unwrap();
            let token = service.issue_tokens("acme", Access::Full).unwrap().access;
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let base = format!("http://{}", listener.local_addr().unwrap());
            tokio::spawn(service.serve(listener, Box::pin(std::future::pending())));
            (base, token)
        });
        World {
            serving,
            http: reqwest::Client::builder().no_proxy().build().unwrap(),
            base,
            token,
            folder,
            runs: Vec::new(),
            random: fastrand::Rng::with_seed(seed),
            story: format!("seed {seed}"),
            effects: BTreeMap::new(),
            files: 0,
        }
    }

    fn step(&mut self) {
        let before = self.items();
        match self.random.u8(..10) {
            0 | 1 => self.write_as_another(&before),
            2 | 3 => self.upload(&before),
            4 | 5 => self.plan(&before),
            6 => self.apply(&before),
            7 => self.resume(&before),
            _ => self.undo(&before),
        }
    }

    fn write_as_another(&mut self, before: &Items) {
        let (key, item) = (KEYS[self.random.usize(..KEYS.len())], self.item());
        let _ = write!(self.story, "\nanother writes {key} {item:?}, was {:?}", before.get(key));
        let body = json!({"externalId": key, "name": item[0], "price": price(&item), "currency": "EUR"}).to_string();
        let request = self.http.post(format!("{}/v1/public/items", self.base)).bearer_auth(&self.token);
        let request = request.header("content-type", "application/json").body(body);
        self.serving.block_on(async { request.send().await.unwrap().error_for_status().unwrap() });
    }

    fn upload(&mut self, before: &Items) {
        let (wanted, end, undoable) = (self.file(), self.end(), self.random.bool());
        let _ = write!(self.story, "\nupload {wanted:?}, undoable {undoable}, end {end:?}");
        let (context, file) = (self.context(), self.write(&wanted));
        let done = within(end, async {
            let upload = Upload { undoable, ..plain(&file) };
            operations::upload(&context, upload, None, Box::pin(std::future::pending()), &|_| {}).await
        });
        let Some(id) = self.newest() else { return };
        let is_ended = self.has_ended(done.map(|done| done.map(drop)));
        let kind = Kind::Upload { before: undoable.then(|| before.clone()) };
        self.runs.push(Run { id, kind, wanted, is_ended, changed: BTreeSet::new() });
        self.check("upload", id, before, true);
    }

    fn plan(&mut self, before: &Items) {
        let wanted = self.file();
        let _ = write!(self.story, "\nplan {wanted:?}");
        let (context, file) = (self.context(), self.write(&wanted));
        let planned =
            within(None, async { operations::plan_changes(&context, plain(&file), None, 0, &|_| {}).await }).unwrap();
        let id = planned.unwrap_or_else(|error| panic!("{error}: {}", self.story)).run.id;
        self.runs.push(Run {
            id,
            kind: Kind::Plan { seen: before.clone() },
            wanted,
            is_ended: false,
            changed: BTreeSet::new(),
        });
        assert_eq!(self.items(), *before, "a plan writes nothing: {}", self.story);
    }

    fn apply(&mut self, before: &Items) {
        let plans: Vec<RunId> =
            self.runs.iter().filter(|run| !matches!(run.kind, Kind::Upload { .. })).map(|run| run.id).collect();
        if let Some(id) = self.random.choice(plans) {
            self.send("apply", id, before);
        }
    }

    fn resume(&mut self, before: &Items) {
        let open: Vec<RunId> = self.runs.iter().filter(|run| !run.is_ended).map(|run| run.id).collect();
        if let Some(id) = self.random.choice(open) {
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
        let Some((of, wanted, sent)) = self.random.choice(known) else { return };
        let _ = write!(self.story, "\nplan the undo of {of}");
        let context = self.context();
        let request = Undo { run: of, rows: None, output: None, sending: SendOptions::default() };
        let planned = within(None, async { operations::plan_undo(&context, request, &|_| {}).await }).unwrap();
        assert_eq!(self.items(), *before, "a plan writes nothing: {}", self.story);
        match planned {
            Ok(planned) => {
                let id = planned.run.id;
                let kind = Kind::Undo { seen: before.clone(), of, sent };
                self.runs.push(Run { id, kind, wanted, is_ended: false, changed: BTreeSet::new() });
                // Some wait, while others write.
                if self.random.u8(..3) > 0 {
                    self.send("undo", id, before);
                }
            }
            Err(error) => drop(write!(self.story, ": {error}")),
        }
    }

    /// Applies or resumes a run.
    fn send(&mut self, step: &'static str, id: RunId, before: &Items) {
        let end = self.end();
        // Resumed without an approval, a plan is sent like any upload.
        let is_upload = step == "resume" && !self.looks_again(id);
        let _ = write!(self.story, "\n{step} {id}, end {end:?}");
        let context = self.context();
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
        let is_ended = self.has_ended(done);
        self.run(id).is_ended |= is_ended;
        self.check(step, id, before, is_upload);
    }

    /// Compares what the service has with what a step of a run may have changed.
    /// `is_upload`: whether it overwrites what others have written.
    fn check(&mut self, step: &'static str, id: RunId, before: &Items, is_upload: bool) {
        let after = self.items();
        let _ = write!(self.story, "\n  {before:?}\n  {after:?}");
        let run = self.runs.iter().find(|run| run.id == id).unwrap();
        let (story, mut changed) = (&self.story, BTreeSet::new());
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

    /// Whether all of a run was sent. A refusal sends nothing, which `check` compares.
    fn has_ended(&mut self, done: Option<Result<(), Error>>) -> bool {
        match done {
            Some(Ok(())) => true,
            Some(Err(error)) => {
                let _ = write!(self.story, ": {error}");
                false
            }
            None => false,
        }
    }

    /// Whether a run compares its records with the service again before it sends them.
    fn looks_again(&self, id: RunId) -> bool {
        let context = self.context();
        let run = self.serving.block_on(async {
            let ledger = context.ledger().await.unwrap();
            let run = ledger.run(id).await;
            ledger.close().await;
            run.unwrap()
        });
        run.looks_again()
    }

    /// Returns the newest run of the ledger, if it is not known yet.
    fn newest(&mut self) -> Option<RunId> {
        let context = self.context();
        let runs = self.serving.block_on(async {
            let ledger = context.ledger().await.unwrap();
            let runs = ledger.runs(1).await;
            ledger.close().await;
            runs.unwrap()
        });
        runs.first().map(|run| run.id).filter(|id| self.runs.iter().all(|run| run.id != *id))
    }

    /// Returns a random moment for the end of a sender, if it is to end early.
    fn end(&mut self) -> Option<Duration> {
        self.random.bool().then(|| Duration::from_micros(self.random.u64(..150_000)))
    }

    fn item(&mut self) -> Item {
        [NAMES[self.random.usize(..NAMES.len())].to_owned(), self.random.u8(1..5).to_string()]
    }

    /// Returns the records of a file.
    fn file(&mut self) -> Items {
        let count = self.random.usize(1..=KEYS.len());
        let keys = self.random.choose_multiple(KEYS, count);
        keys.into_iter().map(|key| (key, self.item())).collect()
    }

    fn write(&mut self, items: &Items) -> InputFile {
        let mut csv = "Item number,Name,Price,Currency\n".to_owned();
        for (key, [name, price]) in items {
            let _ = writeln!(csv, "{key},{name},{price},EUR");
        }
        self.files += 1;
        let folder = self.folder.path().join(self.files.to_string());
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join("items.csv"), csv).unwrap();
        InputFile::at(&folder.join("items.csv"))
    }

    /// Returns what the service has.
    fn items(&self) -> Items {
        let request = self.http.get(format!("{}/v1/public/items", self.base)).bearer_auth(&self.token);
        let list = self.serving.block_on(async { request.send().await.unwrap().text().await.unwrap() });
        let list: Value = serde_json::from_str(&list).unwrap();
        let item = |entry: &Value| {
            let key = KEYS.into_iter().find(|key| entry["external_id"] == *key).unwrap();
            (key, [entry["name"].as_str().unwrap().to_owned(), entry["price"].to_string()])
        };
        list["data"].as_array().unwrap().iter().map(item).collect()
    }

    fn context(&self) -> Context {
        let home = self.folder.path().join("home");
        fs::create_dir_all(&home).unwrap();
        let credentials = Credentials { access: Some(self.token.as_str().into()), refresh: None, file: None };
        Context {
            profile: String::new(),
            base_url: Some(self.base.clone()),
            address_from: Some(AddressOrigin::Environment),
            environment: EnvironmentTokens {
                credentials: credentials.clone(),
                home: Some(TokenHome::Address(self.base.clone())),
            },
            credentials,
            tokens_from: Some(TokenOrigin::Environment),
            ..context(&home)
        }
    }
}

fn price(item: &Item) -> Value {
    item[1].parse::<u8>().unwrap().into()
}

fn plain(file: &InputFile) -> Upload<'_> {
    let template = operations::load_template("items", TemplateChanges::default()).unwrap();
    let input = Spreadsheet {
        file,
        template,
        sheet: None,
        text: Options::default(),
        rows: None,
        is_strict: false,
        accepts: &[],
        edits: None,
    };
    Upload { accepts_doubts: true, ..Upload::plain(input, SendOptions::default()) }
}

/// Runs an operation, or ends it with all of its tasks after a while, as a process would end.
fn within<T>(end: Option<Duration>, operation: impl Future<Output = T>) -> Option<T> {
    let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let done = runtime.block_on(async {
        let operation = pin!(operation);
        match end {
            None => Some(operation.await),
            Some(after) => tokio::time::timeout(after, operation).await.ok(),
        }
    });
    runtime.shutdown_timeout(Duration::from_secs(20));
    done
}
