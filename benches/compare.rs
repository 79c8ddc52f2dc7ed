//! Runs one comparison: writes the workload, runs the sides in turn, and computes the figures.

use std::env;

use serde::Serialize;

use crate::args::Args;
use crate::child::{self, Sample, Seen, Server, Who};
use crate::server_ledger::Database;
use crate::{Job, Needs, Outcome, Row};

/// The result of a comparison. The ratio is that of the median wall times; its range is that of pairs of neighbouring
/// runs.
#[derive(Debug, Serialize)]
pub struct Comparison {
    pub name: &'static str,
    pub compares: &'static str,
    pub unit: &'static str,
    pub seen: Seen,
    pub ours: Figures,
    pub bare: Figures,
    pub ratio: f64,
    pub ratio_min: f64,
    pub ratio_max: f64,
    pub target: f64,
    pub within_target: bool,
    pub beside: &'static str,
}

/// Medians of the runs of one side.
#[derive(Debug, Serialize)]
pub struct Figures {
    pub wall_seconds: f64,
    pub cpu_seconds: Option<f64>,
    pub peak_bytes: Option<u64>,
    pub requests_per_thousand: Option<f64>,
    pub transactions_per_thousand: Option<f64>,
    pub log_bytes_per_thousand: Option<f64>,
}

/// Returns `None`, with a message, if a program that the comparison needs is not installed.
///
/// # Errors
/// The same if `SHEETPORT_REQUIRE_TOOLS` is set, as by `tests/run`.
pub fn compare(row: &'static Row, args: &Args) -> Outcome<Option<Comparison>> {
    let database = match row.needs {
        Needs::ServerAndPostgres => match Database::start()? {
            Some(database) => Some(database),
            None => {
                let message = format!("{}: left out: PostgreSQL is not installed", row.name);
                if env::var_os("SHEETPORT_REQUIRE_TOOLS").is_some() {
                    return Err(message.into());
                }
                eprintln!("{message}");
                return Ok(None);
            }
        },
        Needs::Nothing | Needs::Server => None,
    };
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR"))?;
    eprintln!("{}: writing the workload", row.name);
    child::prepare(row, folder.path(), args.scale).map_err(|error| named(row, "the workload", &error.to_string()))?;
    let server = if row.needs == Needs::Nothing { None } else { Some(Server::start(&[])?) };
    let mut ours = Vec::new();
    let mut bare = Vec::new();
    for run in 1..=args.runs {
        let job = Job {
            folder: folder.path().to_owned(),
            server: server.as_ref().map(|server| server.address.clone()),
            database: database.as_ref().map(|database| database.create(run)).transpose()?,
        };
        ours.push(measured(row, Who::Ours, &job, run)?);
        bare.push(measured(row, Who::Bare, &job, run)?);
    }
    let seen = same(row, ours.iter().chain(&bare).map(|sample| sample.seen))?;
    Ok(Some(conclude(row, seen, &ours, &bare)))
}

fn measured(row: &Row, who: Who, job: &Job, run: u32) -> Outcome<Sample> {
    let sample = child::measure(row, who, job).map_err(|error| named(row, who.word(), &error.to_string()))?;
    eprintln!("{}: run {run}, {}: {:.3} s", row.name, who.word(), sample.wall_seconds);
    Ok(sample)
}

fn named(row: &Row, what: &str, error: &str) -> String {
    format!("{}: {what}: {error}", row.name)
}

/// Returns the amount of data of all runs; fails if it differs between runs.
fn same(row: &Row, seen: impl Iterator<Item = Seen>) -> Outcome<Seen> {
    let mut all: Vec<_> = seen.collect();
    all.dedup();
    match all.as_slice() {
        [seen] if seen.units > 0 => Ok(*seen),
        _ => {
            let all: Vec<_> = all.iter().map(Seen::to_string).collect();
            Err(format!("{}: the runs processed different numbers of {}: {}", row.name, row.unit, all.join("; "))
                .into())
        }
    }
}

fn conclude(row: &'static Row, seen: Seen, ours: &[Sample], bare: &[Sample]) -> Comparison {
    let pairs = ours.iter().zip(bare).map(|(ours, bare)| ours.wall_seconds / bare.wall_seconds);
    let (ratio_min, ratio_max) =
        pairs.fold((f64::INFINITY, 0.0_f64), |(min, max), ratio| (min.min(ratio), max.max(ratio)));
    let (ours, bare) = (figures(ours), figures(bare));
    let ratio = ours.wall_seconds / bare.wall_seconds;
    Comparison {
        name: row.name,
        compares: row.compares,
        unit: row.unit,
        seen,
        ours,
        bare,
        ratio,
        ratio_min,
        ratio_max,
        target: row.target,
        within_target: ratio <= row.target,
        beside: row.beside,
    }
}

fn figures(samples: &[Sample]) -> Figures {
    Figures {
        wall_seconds: median(samples.iter().map(|sample| sample.wall_seconds)).expect("--runs is at least 1"),
        cpu_seconds: median(samples.iter().filter_map(|sample| sample.cpu_seconds)),
        peak_bytes: median(samples.iter().filter_map(|sample| sample.peak_bytes).map(|bytes| bytes as f64))
            .map(|bytes| bytes as u64),
        requests_per_thousand: median(samples.iter().filter_map(|sample| sample.requests_per_thousand)),
        transactions_per_thousand: median(samples.iter().filter_map(|sample| sample.transactions_per_thousand)),
        log_bytes_per_thousand: median(samples.iter().filter_map(|sample| sample.log_bytes_per_thousand)),
    }
}

/// Returns the middle value, or the mean of the middle two; `None` without values.
fn median(values: impl Iterator<Item = f64>) -> Option<f64> {
    let mut values: Vec<_> = values.collect();
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() {
        0 => None,
        len if len % 2 == 1 => Some(values[middle]),
        _ => Some((values[middle - 1] + values[middle]) / 2.0),
    }
}
