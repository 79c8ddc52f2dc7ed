//! Benchmarks of the embedded service: durable upserts, and pages of a large list.
//!
//! The same client calls the real executable and the bare server of the benchmarks, which responds at once. Processor time
//! and memory are those of the servers.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use hyper::body::Bytes;
use serde_json::Value;
use tokio::runtime::{Builder, Runtime};

use crate::child::{Sample, Seen, Server, children_usage, timed};
use crate::client::{self, Calls, Each};
use crate::sending::{BODIES, ITEMS, TOKEN};
use crate::{BARE, Job, Needs, Outcome, Row, items};

pub const SERVE_UPSERTS: Row = Row {
    name: "serve-upserts",
    compares: "item upserts on disk by `sheetport serve`, beside a hyper server that keeps nothing; 64 connections",
    unit: "requests",
    target: 6.0,
    beside: BARE,
    prepare: |folder, scale| items::write_bodies(&folder.join(BODIES), items::count(FULL, scale)),
    needs: Needs::Nothing,
    ours: |job| {
        let data = tempfile::tempdir_in(&job.folder)?;
        let runtime = runtime()?;
        let service = Service::start(data.path())?;
        let calls = upserts(&job.folder, &service.address, &service.token)?;
        let count = count(&calls);
        let sample = measure(&runtime, calls)?;
        if service.total(&runtime)? != count {
            return Err("not every item is in the list".into());
        }
        Ok(service.end(sample))
    },
    bare: |job| {
        let server = Server::start(&[])?;
        let sample = measure(&runtime()?, upserts(&job.folder, &server.address, TOKEN)?)?;
        Ok(with_usage_of(sample, || drop(server)))
    },
};

pub const SERVE_PAGES: Row = Row {
    name: "serve-pages",
    compares: "pages of 100 items anywhere in the list, beside a hyper server that has one ready; 64 connections",
    unit: "pages",
    target: 4.0,
    beside: BARE,
    prepare: fill,
    needs: Needs::Nothing,
    ours: |job| pages_of(job, anywhere),
    bare: |job| {
        let server = Server::start(&[&job.folder.join(PAGE).to_string_lossy()])?;
        let sample = measure(&runtime()?, pages(&job.folder, &server.address, TOKEN, anywhere)?)?;
        Ok(with_usage_of(sample, || drop(server)))
    },
};

pub const SERVE_LAST_PAGES: Row = Row {
    name: "serve-last-pages",
    compares: "the last page of 100 items, beside the first one, of the same service; 64 connections",
    target: 2.0,
    beside: "first page",
    ours: |job| pages_of(job, |_, last| last),
    bare: |job| pages_of(job, |_, _| 1),
    ..SERVE_PAGES
};

const FULL: u32 = 1_000_000;
const CONNECTIONS: usize = 64;
const LIMIT: u32 = 100;
/// Number of pages read at scale 1.
const PAGES: u32 = 100_000;
/// Data folder of a service with all items.
pub const DATA: &str = "service";
/// A page of the service, returned by the bare server.
const PAGE: &str = "page.json";
const COUNT: &str = "pages.txt";

/// A running executable, killed on drop.
pub struct Service {
    process: Child,
    pub address: String,
    pub token: String,
}

impl Service {
    pub fn start(data: &Path) -> Outcome<Service> {
        let serve = || {
            let mut command = Command::new(env!("CARGO_BIN_EXE_sheetport"));
            command.arg("serve").stdin(Stdio::null());
            command
        };
        let mut command = serve();
        command.args(["--json", "--listen", "127.0.0.1:0", "--access-minutes", "600", "--data"]).arg(data);
        let mut process = command.stdout(Stdio::piped()).spawn()?;
        let mut line = String::new();
        if let Some(stdout) = process.stdout.take() {
            BufReader::new(stdout).read_line(&mut line)?;
        }
        // Errors from here on drop the service and end the process.
        let mut service = Service { process, address: text_at(&line, "listening")?, token: String::new() };
        let tokens = serve().args(["token", "--json", "--workspace", "bench", "--data"]).arg(data).output()?;
        service.token = text_at(&String::from_utf8(tokens.stdout)?, "access")?;
        Ok(service)
    }

    fn total(&self, runtime: &Runtime) -> Outcome<u64> {
        let page = runtime.block_on(client::get(&self.address, &format!("{ITEMS}?limit=1"), &self.token))?;
        let page: Value = serde_json::from_slice(&page)?;
        Ok(page["total"].as_u64().ok_or("no total")?)
    }

    fn end(self, sample: Sample) -> Sample {
        with_usage_of(sample, || drop(self))
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        // Acknowledged writes are on disk: a graceful stop is not needed.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn text_at(json: &str, name: &str) -> Outcome<String> {
    let value: Value = serde_json::from_str(json)?;
    Ok(value[name].as_str().ok_or_else(|| format!("no '{name}' in {json}"))?.to_owned())
}

/// Returns the sample with the processor time and memory of the server. `end` stops the server.
fn with_usage_of(sample: Sample, end: impl FnOnce()) -> Sample {
    end();
    let (cpu_seconds, peak_bytes) = children_usage().unzip();
    Sample { cpu_seconds, peak_bytes, ..sample }
}

fn measure(runtime: &Runtime, calls: Calls) -> Outcome<Sample> {
    let seen = Seen { units: count(&calls), bytes: bytes(&calls) };
    let calls = Arc::new(calls);
    timed(|| runtime.block_on(client::make(calls)), |()| Ok(seen))
}

fn count(calls: &Calls) -> u64 {
    match &calls.each {
        Each::Post { bodies, .. } => bodies.len() as u64,
        Each::Get { paths, .. } => paths.len() as u64,
    }
}

/// Returns the number of bytes sent, without headers.
fn bytes(calls: &Calls) -> u64 {
    match &calls.each {
        Each::Post { bodies, .. } => bodies.iter().map(|body| body.len() as u64).sum(),
        Each::Get { paths, .. } => paths.iter().map(|path| path.len() as u64).sum(),
    }
}

fn upserts(folder: &Path, server: &str, token: &str) -> Outcome<Calls> {
    let all = Bytes::from(fs::read(folder.join(BODIES))?);
    let bodies = all.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    let bodies = bodies.map(|line| all.slice_ref(line)).collect();
    Ok(Calls {
        server: server.to_owned(),
        token: token.to_owned(),
        connections: CONNECTIONS,
        each: Each::Post { path: ITEMS, bodies },
    })
}

/// Fills the data folder with all items and saves one page.
pub fn fill(folder: &Path, scale: f64) -> Outcome<()> {
    let items = items::count(FULL, scale).max(LIMIT);
    items::write_bodies(&folder.join(BODIES), items)?;
    fs::create_dir(folder.join(DATA))?;
    let runtime = runtime()?;
    let service = Service::start(&folder.join(DATA))?;
    let calls = upserts(folder, &service.address, &service.token)?;
    runtime.block_on(client::make(Arc::new(calls)))?;
    let page = runtime.block_on(client::get(&service.address, &path(1), &service.token))?;
    fs::write(folder.join(PAGE), page)?;
    let last = items / LIMIT;
    fs::write(folder.join(COUNT), format!("{} {last}", items::count(PAGES, scale)))?;
    Ok(())
}

/// Returns the number of the last page in a folder filled by [`fill`].
/// Returns the number of items.
pub fn item_count(folder: &Path) -> Outcome<u64> {
    Ok(u64::from(last_page(folder)?) * u64::from(LIMIT))
}

pub fn last_page(folder: &Path) -> Outcome<u32> {
    let counts = fs::read_to_string(folder.join(COUNT))?;
    Ok(counts.split_once(' ').ok_or("no counts")?.1.parse()?)
}

fn pages_of(job: &Job, choose: Choose) -> Outcome<Sample> {
    let runtime = runtime()?;
    let service = Service::start(&job.folder.join(DATA))?;
    let calls = pages(&job.folder, &service.address, &service.token, choose)?;
    let sample = measure(&runtime, calls)?;
    Ok(service.end(sample))
}

/// Selects a page by the number of the request and the number of pages.
type Choose = fn(u32, u32) -> u32;

/// Spreads the requests over the whole list, in the same order on each run.
fn anywhere(request: u32, last: u32) -> u32 {
    1 + (u64::from(request) * 7919 % u64::from(last)) as u32
}

fn pages(folder: &Path, server: &str, token: &str, choose: Choose) -> Outcome<Calls> {
    let counts = fs::read_to_string(folder.join(COUNT))?;
    let (count, last) = counts.split_once(' ').ok_or("no counts")?;
    let (count, last): (u32, u32) = (count.parse()?, last.parse()?);
    Ok(Calls {
        server: server.to_owned(),
        token: token.to_owned(),
        connections: CONNECTIONS,
        each: Each::Get {
            paths: (0..count).map(|request| path(choose(request, last))).collect(),
            // The only objects are the envelope and the entries.
            is_good: |body| body.iter().filter(|byte| **byte == b'{').count() == 1 + LIMIT as usize,
        },
    })
}

/// Paths have a fixed length, so that both sides send the same number of bytes.
fn path(page: u32) -> String {
    format!("{ITEMS}?page={page:07}&limit={LIMIT}")
}

fn runtime() -> Outcome<Runtime> {
    Ok(Builder::new_multi_thread().enable_all().build()?)
}
