//! What has to work on every system, with the executable and nothing else: an upload that is killed and goes on, its report, an export, the
//! page over HTTP, and the scheduler of the system. `tests/it`, which tries everything, needs Linux.

#![allow(clippy::unwrap_used)]

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

const ROWS: usize = 300;
/// So that the upload takes some seconds.
const RATE: &str = "60";
const DEADLINE: Duration = Duration::from_secs(60);

/// A process that ends with its test.
struct Background(Child);

impl Drop for Background {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A folder with a home, and a service whose data is in it.
struct Desk {
    folder: TempDir,
    address: String,
    token: String,
    _service: Background,
}

impl Desk {
    fn new() -> Desk {
        let folder = TempDir::new().unwrap();
        let (service, line) = first_line(sheetport(
            folder.path(),
            &["serve", "--listen", "127.0.0.1:0", "--data", "data", "--demo", "--json"],
        ));
        let token = sheetport(folder.path(), &["serve", "token", "--data", "data", "--workspace", "demo", "--json"]);
        let token = json(&ends(token, 0))["access"].as_str().unwrap().to_owned();
        Desk { folder, address: line["listening"].as_str().unwrap().to_owned(), token, _service: service }
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = sheetport(self.folder.path(), words);
        command.env("SHEETPORT_BASE_URL", &self.address).env("SHEETPORT_ACCESS_TOKEN", &self.token);
        command
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.folder.path().join(name), text).unwrap();
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.folder.path().join(name)).unwrap()
    }
}

fn sheetport(folder: &Path, words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sheetport"));
    command.args(words).current_dir(folder).env("SHEETPORT_HOME", folder.join("home")).stdin(Stdio::null());
    for variable in ["SHEETPORT_BASE_URL", "SHEETPORT_PROFILE", "SHEETPORT_REFRESH_TOKEN", "SHEETPORT_LEDGER"] {
        command.env_remove(variable);
    }
    command
}

#[track_caller]
fn ends(mut command: Command, code: i32) -> Output {
    let output = command.output().unwrap();
    let said = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned());
    assert_eq!(output.status.code(), Some(code), "{command:?}: {}\n{}", said[0], said[1]);
    output
}

#[track_caller]
fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Starts a process, and returns it with the JSON of its first line.
fn first_line(mut command: Command) -> (Background, Value) {
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    (Background(child), serde_json::from_str(&line).unwrap())
}

#[test]
fn an_upload_that_is_killed_goes_on_and_nothing_is_missing() {
    let desk = Desk::new();
    let rows: String = (0..ROWS).map(|row| format!("P-{row:04},Item {row},{row}.50\r\n")).collect();
    desk.write("items.csv", &format!("SKU,Name,Price\r\n{rows}P-9999,Bad,free\r\n"));
    let mut upload = desk.command(&["upload", "items.csv", "-t", "items", "--rate", RATE, "--no-progress"]);
    let mut upload = Background(upload.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap());
    let begun = Instant::now();
    let sent = || {
        let runs = desk.command(&["runs", "--json"]).output().unwrap();
        let runs: Value = serde_json::from_slice(&runs.stdout).unwrap_or_default();
        runs["runs"][0]["sent"].as_u64().unwrap_or(0)
    };
    while sent() == 0 {
        assert!(begun.elapsed() < DEADLINE, "nothing is sent");
        thread::sleep(Duration::from_millis(100));
    }
    upload.0.kill().unwrap();
    upload.0.wait().unwrap();
    assert!(sent() < ROWS as u64, "it was too quick to be killed");
    let resumed = json(&ends(desk.command(&["resume", "--rate", "5000", "--json"]), 3));
    assert_eq!((&resumed["sent"], &resumed["rejected"]), (&ROWS.into(), &1.into()), "{resumed}");
    ends(desk.command(&["report", "-o", "report.csv"]), 0);
    let report = desk.read("report.csv");
    assert_eq!(report.lines().filter(|line| line.contains("P-0")).count(), ROWS, "{report}");
    assert!(report.contains("P-9999"), "{report}");
    ends(desk.command(&["export", "items", "-o", "out.csv", "-q"]), 0);
    let exported = desk.read("out.csv");
    let times = |row: usize| exported.matches(&format!("Item {row},")).count();
    assert!((0..ROWS).all(|row| times(row) == 1), "each item is there once: {exported}");
}

#[test]
fn the_page_answers_its_own_browser_alone() {
    let desk = Desk::new();
    desk.write("items.csv", "SKU,Name,Price\nA-1,Bolt,1.50\n");
    let (_page, line) = first_line(desk.command(&["review", "items.csv", "--no-open", "--json"]));
    let address = line["listening"].as_str().unwrap().strip_prefix("http://").unwrap();
    let host = address.split('/').next().unwrap();
    let ask = |path: &str| {
        let mut stream = TcpStream::connect(host).unwrap();
        write!(stream, "GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    };
    let page = ask("/");
    assert!(page.starts_with("HTTP/1.1 200") && page.contains("content-security-policy"), "{page}");
    assert!(ask("/api/start").starts_with("HTTP/1.1 401"), "{}", ask("/api/start"));
}

#[test]
fn the_scheduler_of_the_system_takes_a_job() {
    let desk = Desk::new();
    desk.write("nightly.toml", "[[step]]\nexport = \"items\"\noutput = \"items.csv\"\n[schedule]\nat = \"04:30\"\n");
    let schedule = |words: &[&str]| ends(desk.command(&[&["job", "schedule", "nightly.toml"], words].concat()), 0);
    if cfg!(windows) {
        schedule(&["--install"]);
        let task = Command::new("schtasks").args(["/query", "/fo", "csv"]).output().unwrap();
        assert!(String::from_utf8_lossy(&task.stdout).contains("sheetport-nightly"));
        schedule(&["--remove"]);
    } else if cfg!(target_os = "macos") {
        desk.write("nightly.plist", &String::from_utf8(schedule(&["--for", "launchd"]).stdout).unwrap());
        let mut plutil = Command::new("plutil");
        plutil.args(["-lint", "nightly.plist"]).current_dir(desk.folder.path());
        ends(plutil, 0);
    } else {
        let entry = String::from_utf8(schedule(&["--for", "cron"]).stdout).unwrap();
        assert!(entry.contains("30 4 * * * "), "{entry}");
    }
}
