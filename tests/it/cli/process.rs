//! Runs the executable in a temporary folder with a clean environment.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

use super::described::assert_described;

/// Timeout for conditions that a test waits for, generous for busy machines.
const DEADLINE: Duration = Duration::from_secs(180);
const POLL: Duration = Duration::from_millis(10);

/// The working folder of a test, with the ledger in `home`.
pub struct Place(TempDir);

impl Place {
    pub fn new() -> Place {
        Place(tempfile::tempdir().unwrap())
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, content).unwrap();
        path
    }

    /// Returns the file names in the folder, sorted.
    pub fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.0.path()).unwrap();
        let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// Returns a command that runs the executable here, without a service or credentials.
    pub fn sheetport<A: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = A>) -> Sheetport {
        self.command(env!("CARGO_BIN_EXE_sheetport"), args)
    }

    /// Returns a command that runs any program here.
    pub fn command<A: AsRef<OsStr>>(&self, program: &str, args: impl IntoIterator<Item = A>) -> Sheetport {
        let mut command = Command::new(program);
        for (name, _) in std::env::vars_os() {
            let upper = name.to_string_lossy().to_uppercase();
            let is_trace = upper.starts_with("OTEL_") || matches!(upper.as_str(), "TRACEPARENT" | "TRACESTATE");
            if upper.starts_with("SHEETPORT_") || upper.ends_with("_PROXY") || is_trace {
                command.env_remove(name);
            }
        }
        // Messages and CSV reports follow the locale of the user.
        command.env_remove("LC_ALL").env_remove("LC_MESSAGES").env("LANG", "C").env("LC_NUMERIC", "C");
        command.args(args).current_dir(self.0.path()).env("SHEETPORT_HOME", self.path("home"));
        // Nothing of a test stays on the machine.
        command.env("SHEETPORT_STATE", "");
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        Sheetport { command, secrets: Vec::new(), input: Vec::new() }
    }
}

/// A command to run.
pub struct Sheetport {
    command: Command,
    secrets: Vec<String>,
    input: Vec<u8>,
}

impl Sheetport {
    /// Runs the command in this folder.
    pub fn current_dir(mut self, folder: impl AsRef<Path>) -> Sheetport {
        self.command.current_dir(folder);
        self
    }

    pub fn env(mut self, name: &str, value: &str) -> Sheetport {
        self.command.env(name, value);
        self
    }

    pub fn without(mut self, name: &str) -> Sheetport {
        self.command.env_remove(name);
        self
    }

    pub fn arg(mut self, arg: impl AsRef<OsStr>) -> Sheetport {
        self.command.arg(arg);
        self
    }

    pub fn args<A: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = A>) -> Sheetport {
        self.command.args(args);
        self
    }

    /// Writes the report as a CSV, which tests can read and edit, instead of a workbook next to the file. A report of an
    /// earlier command is replaced.
    pub fn csv_report(self, name: &str) -> Sheetport {
        let folder = self.command.get_current_dir().expect("commands run in a place");
        let _ = fs::remove_file(folder.join(name));
        self.args(["--report", name])
    }

    /// Sets a variable whose value must never be printed.
    pub fn secret(mut self, name: &str, value: &str) -> Sheetport {
        self.secrets.push(value.to_owned());
        self.env(name, value)
    }

    /// Sets the standard input.
    pub fn fed(mut self, input: impl AsRef<[u8]>) -> Sheetport {
        self.command.stdin(Stdio::piped());
        self.input = input.as_ref().to_owned();
        self
    }

    /// Runs the command and waits for its end.
    #[track_caller]
    pub fn run(self) -> Ended {
        self.start().wait()
    }

    #[track_caller]
    pub fn exits(self, code: i32) -> Ended {
        self.run().exits(code)
    }

    #[track_caller]
    pub fn start(mut self) -> Running {
        let mut child = self.command.spawn().unwrap();
        let lines = read_lines(child.stdout.take().unwrap());
        let said = read_lines(child.stderr.take().unwrap());
        if let Some(mut stdin) = child.stdin.take() {
            // It may end before it has taken all.
            thread::spawn(move || drop(stdin.write_all(&self.input)));
        }
        let args = self.command.get_args().map(OsStr::to_owned).collect();
        Running { child, args, stdout: lines, stderr: said, secrets: self.secrets, begun: Instant::now() }
    }
}

/// A running process, killed on drop.
pub struct Running {
    child: Child,
    args: Vec<OsString>,
    stdout: Receiver<String>,
    stderr: Receiver<String>,
    secrets: Vec<String>,
    begun: Instant,
}

impl Running {
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Returns the next line of stdout.
    #[track_caller]
    pub fn line(&self) -> String {
        self.try_line().expect("a line on stdout")
    }

    /// Returns the next line of stdout, or `None` if the process ends without one.
    pub fn try_line(&self) -> Option<String> {
        self.stdout.recv_timeout(DEADLINE).ok()
    }

    /// Waits until stderr contains these words.
    #[track_caller]
    pub fn has_said(&self, words: &str) {
        self.said(words);
    }

    /// Waits until stderr contains these words. Returns the line.
    #[track_caller]
    pub fn said(&self, words: &str) -> String {
        loop {
            let line = self.stderr.recv_timeout(DEADLINE).expect("more on stderr");
            if line.contains(words) {
                return line;
            }
        }
    }

    /// Sends a signal to the process.
    #[cfg(unix)]
    #[track_caller]
    pub fn signal(&self, name: &str) {
        let sent = Command::new("kill").args(["-s", name, &self.id().to_string()]).status().unwrap();
        assert!(sent.success());
    }

    /// Whether the process has exited.
    pub fn has_ended(&mut self) -> bool {
        self.child.try_wait().unwrap().is_some()
    }

    /// Kills the process like the out-of-memory killer.
    pub fn kill(mut self) -> Ended {
        self.child.kill().unwrap();
        self.wait()
    }

    #[track_caller]
    pub fn wait(mut self) -> Ended {
        // The pipes close when the process ends, so their ends are waited for with a deadline, and the process without.
        let stdout = drain(&self.stdout);
        let stderr = drain(&self.stderr);
        let status = self.child.wait().unwrap();
        let ended = Ended { code: status.code(), stdout, stderr, took: self.begun.elapsed() };
        for secret in &self.secrets {
            assert!(!ended.all().contains(secret.as_str()), "a token was printed: {ended:?}");
        }
        assert!(!ended.all().contains("panicked"), "{ended:?}");
        assert_described(&self.args, &ended.stdout);
        ended
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Exit code and output of a process.
#[derive(Debug, Default)]
pub struct Ended {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
    pub took: Duration,
}

impl Ended {
    #[track_caller]
    pub fn exits(self, code: i32) -> Ended {
        assert_eq!(self.code, Some(code), "{self:#?}");
        self
    }

    /// Asserts that stderr contains all of `words`.
    #[track_caller]
    pub fn says(self, words: &[&str]) -> Ended {
        for words in words {
            assert!(self.stderr.contains(words), "{words:?} is not in {}", self.stderr);
        }
        self
    }

    /// Asserts that stdout contains all of `words`.
    #[track_caller]
    pub fn shows(self, words: &[&str]) -> Ended {
        for words in words {
            assert!(self.stdout.contains(words), "{words:?} is not in {}", self.stdout);
        }
        self
    }

    /// Parses stdout as one JSON object.
    #[track_caller]
    pub fn json(&self) -> Value {
        let value = serde_json::from_str(&self.stdout);
        value.unwrap_or_else(|error| panic!("stdout is not one JSON object ({error}): {self:#?}"))
    }

    fn all(&self) -> String {
        format!("{}{}", self.stdout, self.stderr)
    }
}

/// Polls `condition` until it returns a value.
#[track_caller]
pub fn until<T>(what: &str, mut condition: impl FnMut() -> Option<T>) -> T {
    let end = Instant::now() + DEADLINE;
    loop {
        if let Some(found) = condition() {
            return found;
        }
        assert!(Instant::now() < end, "not in time: {what}");
        thread::sleep(POLL);
    }
}

/// Returns a path as an argument.
pub fn name(path: &Path) -> &str {
    path.to_str().unwrap()
}

fn read_lines(pipe: impl Read + Send + 'static) -> Receiver<String> {
    let (sender, lines) = channel();
    thread::spawn(move || {
        let mut pipe = BufReader::new(pipe);
        let mut line = String::new();
        while pipe.read_line(&mut line).is_ok_and(|read| read > 0) {
            // A test that has let go of the process does not read on.
            let _ = sender.send(std::mem::take(&mut line));
        }
    });
    lines
}

#[track_caller]
fn drain(lines: &Receiver<String>) -> String {
    let end = Instant::now() + DEADLINE;
    let mut text = String::new();
    loop {
        match lines.recv_timeout(end.saturating_duration_since(Instant::now())) {
            Ok(line) => text.push_str(&line),
            Err(std::sync::mpsc::RecvTimeoutError::Disconnected) => return text,
            Err(std::sync::mpsc::RecvTimeoutError::Timeout) => panic!("it does not end; so far it said: {text}"),
        }
    }
}
