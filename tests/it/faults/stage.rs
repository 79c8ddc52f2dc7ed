//! The embedded service in this process, and commands that end at random moments as their process would.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::pin::pin;
use std::time::Duration;

use serde_json::Value;
use sheetport_client::auth::{AddressOrigin, Credentials, EnvironmentTokens, TokenHome, TokenOrigin};
use sheetport_ledger::RunId;
use sheetport_operations::{self as operations, Context, InputFile, SendOptions, Spreadsheet, TemplateChanges, Upload};
use sheetport_records::token::Access;
use sheetport_service::{Config, LoadRecord, Service};
use sheetport_sheet::Options;
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};

use crate::environment::context;

/// So often the service has to show the same, 20 ms apart, before its requests count as handled.
const SAME: u32 = 4;

/// A service, a home folder, and what has happened so far.
pub struct Stage {
    serving: Runtime,
    http: reqwest::Client,
    base: String,
    token: String,
    folder: TempDir,
    pub random: fastrand::Rng,
    /// The steps so far, for the message of a failure.
    pub story: String,
    files: usize,
}

impl Stage {
    /// Opens a service with these records.
    pub fn new(seed: u64, records: Vec<LoadRecord>) -> Stage {
        // Commits to memory are fast, and nothing has to survive the machine.
        let memory = Path::new("/dev/shm");
        let folder = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() }.unwrap();
        let serving = Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let config = Config::new(folder.path().join("service"));
        let (base, token) = serving.block_on(async {
            let service = Service::open(config).await.unwrap();
            for result in service.load("acme", records).await.unwrap() {
                result.unwrap();
            }
            let token = service.issue_tokens("acme", Access::Full).unwrap().access;
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let base = format!("http://{}", listener.local_addr().unwrap());
            tokio::spawn(service.serve(listener, Box::pin(std::future::pending())));
            (base, token)
        });
        Stage {
            serving,
            http: reqwest::Client::builder().no_proxy().build().unwrap(),
            base,
            token,
            folder,
            random: fastrand::Rng::with_seed(seed),
            story: format!("seed {seed}"),
            files: 0,
        }
    }

    pub fn get(&self, path: &str) -> Value {
        let request = self.http.get(format!("{}{path}", self.base)).bearer_auth(&self.token);
        let text = self.serving.block_on(async { request.send().await.unwrap().text().await.unwrap() });
        serde_json::from_str(&text).unwrap()
    }

    /// Writes a record as somebody else.
    pub fn write(&self, method: reqwest::Method, path: &str, body: &Value) {
        let request = self.http.request(method, format!("{}{path}", self.base)).bearer_auth(&self.token);
        let request = request.header("content-type", "application/json").body(body.to_string());
        self.serving.block_on(async { request.send().await.unwrap().error_for_status().unwrap() });
    }

    /// Writes a file, which is in a folder of its own because its report is beside it.
    pub fn file(&mut self, name: &str, content: &str) -> InputFile {
        self.files += 1;
        let folder = self.folder.path().join(self.files.to_string());
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join(name), content).unwrap();
        InputFile::at(&folder.join(name))
    }

    /// Returns a random moment for the end of a sender, if it is to end early.
    pub fn end(&mut self) -> Option<Duration> {
        self.random.bool().then(|| Duration::from_micros(self.random.u64(..150_000)))
    }

    /// Whether a run compares its records with the service again before it sends them.
    pub fn looks_again(&self, id: RunId) -> bool {
        let context = self.context();
        let run = self.serving.block_on(async {
            let ledger = context.ledger().await.unwrap();
            let run = ledger.run(id).await;
            ledger.close().await;
            run.unwrap()
        });
        run.looks_again()
    }

    /// Returns the newest run of the ledger.
    pub fn newest(&self) -> Option<RunId> {
        let context = self.context();
        let runs = self.serving.block_on(async {
            let ledger = context.ledger().await.unwrap();
            let runs = ledger.runs(1).await;
            ledger.close().await;
            runs.unwrap()
        });
        runs.first().map(|run| run.id)
    }

    /// Reads what the service has when it has handled the last requests of a sender that was ended.
    pub fn settled<T: PartialEq>(&self, read: impl Fn() -> T) -> T {
        let (mut last, mut same) = (read(), 0);
        while same < SAME {
            std::thread::sleep(Duration::from_millis(20));
            let next = read();
            same = if next == last { same + 1 } else { 0 };
            last = next;
        }
        last
    }

    /// Adds an error to the story, and returns the result unless the command was ended or refused.
    pub fn done<T>(&mut self, done: Option<Result<T, operations::Error>>) -> Option<T> {
        match done? {
            Ok(done) => Some(done),
            Err(error) => {
                let _ = write!(self.story, ": {error}");
                None
            }
        }
    }

    pub fn context(&self) -> Context {
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

/// Plays schedules until each of `steps` has changed something. `play` plays the one of a seed, and returns how many of its steps of each
/// kind have changed something.
pub fn play_schedules(
    schedules: usize,
    steps: &[&'static str],
    mut play: impl FnMut(u64) -> BTreeMap<&'static str, usize>,
) {
    let seed = fastrand::u64(..);
    let mut effects: BTreeMap<&str, usize> = BTreeMap::new();
    let mut schedule = 0;
    // Steps without an effect show nothing. On a busy machine, most senders end before their first request.
    while schedule < schedules || !steps.iter().all(|step| effects.contains_key(step)) {
        assert!(schedule < 10 * schedules, "some steps never changed anything: {effects:?}, seed {seed}");
        for (step, count) in play(seed.wrapping_add(schedule as u64)) {
            *effects.entry(step).or_default() += count;
        }
        schedule += 1;
    }
}

pub fn plain<'a>(file: &'a InputFile, template: &str) -> Upload<'a> {
    let template = operations::load_template(template, TemplateChanges::default()).unwrap();
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
pub fn within<T>(end: Option<Duration>, operation: impl Future<Output = T>) -> Option<T> {
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
