//! Child processes of the benchmark, one for each side, workload and server.
//!
//! Workloads are written by a child, too: on Linux, a process inherits the peak memory of its parent, so the parent must
//! stay small.

use std::ffi::OsString;
use std::fmt;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use serde::{Deserialize, Serialize};

use crate::{Job, Outcome, ROWS, Row, sending};

/// The first argument of a child process.
pub const FLAG: &str = "--child";

/// The result of one run of a side.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Sample {
    pub seen: Seen,
    pub wall_seconds: f64,
    /// User and system time of all threads and of child processes; `None` if the system does not report it.
    pub cpu_seconds: Option<f64>,
    /// Peak memory of the process plus that of its largest child; `None` if the system does not report it.
    pub peak_bytes: Option<u64>,
    /// Requests for a thousand records, all repetitions included; `None` for comparisons that count them otherwise.
    pub requests_per_thousand: Option<f64>,
    /// Transactions of a database on a server for a thousand records; `None` without a server.
    pub transactions_per_thousand: Option<f64>,
    /// Bytes that this database writes ahead to its log for a thousand records; `None` without a server.
    pub log_bytes_per_thousand: Option<f64>,
}

/// The amount of data that a side processed, which must be the same on both sides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seen {
    /// Number of cells, requests and so on, see [`Row::unit`].
    pub units: u64,
    pub bytes: u64,
}

impl fmt::Display for Seen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} with {} bytes", self.units, self.bytes)
    }
}

/// One of the two sides of a comparison.
#[derive(Clone, Copy, Debug)]
pub enum Who {
    Ours,
    Bare,
}

impl Who {
    pub fn word(self) -> &'static str {
        match self {
            Who::Ours => "ours",
            Who::Bare => "bare",
        }
    }
}

/// Measures `work` in this process and its children. Preparations belong before the call.
pub fn timed<T>(work: impl FnOnce() -> Outcome<T>, seen: impl FnOnce(T) -> Outcome<Seen>) -> Outcome<Sample> {
    let cpu = usage().map(|usage| usage.cpu_seconds);
    let start = Instant::now();
    let done = work()?;
    let wall_seconds = start.elapsed().as_secs_f64();
    let after = usage();
    Ok(Sample {
        seen: seen(done)?,
        wall_seconds,
        cpu_seconds: after.as_ref().zip(cpu).map(|(after, before)| after.cpu_seconds - before),
        peak_bytes: after.map(|after| after.peak_bytes),
        requests_per_thousand: None,
        transactions_per_thousand: None,
        log_bytes_per_thousand: None,
    })
}

/// Writes the workload of a comparison into `folder`.
pub fn prepare(row: &Row, folder: &Path, scale: f64) -> Outcome<()> {
    let mut command = command()?;
    command.args(["prepare", row.name]).arg(folder).arg(scale.to_string());
    output(command).map(drop)
}

/// Runs one side once.
pub fn measure(row: &Row, who: Who, job: &Job) -> Outcome<Sample> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(arguments(row, who, job));
    Ok(serde_json::from_slice(&output(command)?)?)
}

/// Returns the arguments of the child process that runs a side.
pub fn arguments(row: &Row, who: Who, job: &Job) -> Vec<OsString> {
    let words = [FLAG, who.word(), row.name].map(OsString::from).into_iter();
    let addresses = job.server.iter().chain(&job.database).map(OsString::from);
    words.chain([job.folder.clone().into_os_string()]).chain(addresses).collect()
}

/// A server process, which exits when this value is dropped or this process exits.
pub struct Server {
    pub address: String,
    process: Child,
}

impl Server {
    /// Starts a server with the arguments of [`sending::serve`].
    pub fn start(words: &[&str]) -> Outcome<Server> {
        let mut process = command()?.arg("serve").args(words).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let mut address = String::new();
        if let Some(stdout) = process.stdout.take() {
            BufReader::new(stdout).read_line(&mut address)?;
        }
        Ok(Server { address: address.trim_end().to_owned(), process })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // The server exits at the end of its standard input.
        drop(self.process.stdin.take());
        let _ = self.process.wait();
    }
}

/// Runs a child process; `words` are its arguments after [`FLAG`].
pub fn run(words: &[String]) -> Outcome<()> {
    let words: Vec<_> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["serve", page @ ..] => {
            // Standard input ends when the parent exits.
            std::thread::spawn(|| {
                let _ = std::io::stdin().read_to_end(&mut Vec::new());
                std::process::exit(0);
            });
            sending::serve(page.first().map(Path::new))
        }
        ["prepare", name, folder, scale] => (row(name)?.prepare)(Path::new(folder), scale.parse()?),
        [who @ ("ours" | "bare"), name, folder, addresses @ ..] => {
            let row = row(name)?;
            let side = if *who == "ours" { row.ours } else { row.bare };
            let mut addresses = addresses.iter().map(|address| (*address).to_owned());
            let job = Job { folder: folder.into(), server: addresses.next(), database: addresses.next() };
            println!("{}", serde_json::to_string(&side(&job)?)?);
            Ok(())
        }
        _ => Err(format!("{FLAG} is only for the benchmark itself").into()),
    }
}

fn row(name: &str) -> Outcome<&'static Row> {
    Ok(ROWS.iter().find(|row| row.name == name).ok_or("no such comparison")?)
}

fn command() -> Outcome<Command> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg(FLAG);
    Ok(command)
}

fn output(mut command: Command) -> Outcome<Vec<u8>> {
    let output = command.stdin(Stdio::null()).stderr(Stdio::inherit()).output()?;
    if output.status.success() {
        Ok(output.stdout)
    } else {
        Err(format!("a side failed with {}", output.status).into())
    }
}

struct Usage {
    cpu_seconds: f64,
    peak_bytes: u64,
}

/// Returns the usage of this process and of its finished children.
fn usage() -> Option<Usage> {
    let (own, children) = (usage_of(false)?, usage_of(true)?);
    Some(Usage {
        cpu_seconds: own.cpu_seconds + children.cpu_seconds,
        peak_bytes: own.peak_bytes + children.peak_bytes,
    })
}

/// Returns the processor time of all finished children, and the peak memory of the largest.
pub fn children_usage() -> Option<(f64, u64)> {
    usage_of(true).map(|usage| (usage.cpu_seconds, usage.peak_bytes))
}

#[cfg(unix)]
fn usage_of(children: bool) -> Option<Usage> {
    use nix::sys::resource::{UsageWho, getrusage};
    use nix::sys::time::TimeVal;

    let seconds = |time: TimeVal| time.tv_sec() as f64 + time.tv_usec() as f64 / 1e6;
    let usage = getrusage(if children { UsageWho::RUSAGE_CHILDREN } else { UsageWho::RUSAGE_SELF }).ok()?;
    // Apple's systems report bytes, others kibibytes.
    let unit = if cfg!(target_vendor = "apple") { 1 } else { 1024 };
    Some(Usage {
        cpu_seconds: seconds(usage.user_time()) + seconds(usage.system_time()),
        peak_bytes: u64::try_from(usage.max_rss()).ok()? * unit,
    })
}

#[cfg(not(unix))]
fn usage_of(_children: bool) -> Option<Usage> {
    None
}
