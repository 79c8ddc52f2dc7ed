//! What Sheetport costs beside a bare loop over the library below it.
//!
//! Each row of [`ROWS`] compares two sides that do the same work: Sheetport's own code, and the shortest program that
//! a person could write with the same library. Each side runs in a process of its own, so that its processor time and
//! its peak memory are its own; the sides take turns, so that a machine that slows down slows both. The two must have
//! seen the same data, or the bench fails. How to run it and how to read it: `docs/performance.md`.

mod args;
mod child;
mod client;
mod compare;
mod exporting;
mod items;
mod mapping;
mod reading;
mod reporting;
mod sending;
mod serving;
mod summary;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Parser as _;

use args::Args;

/// Every comparison, in the order in which they run and print. A new one is a line here.
const ROWS: &[Row] = &[
    reading::READ_CSV,
    reading::READ_XLSX,
    reading::READ_XLSX_INLINE,
    mapping::CHECK_ITEMS,
    mapping::CHECK_ORDERS,
    mapping::CHECK_SCATTERED_ORDERS,
    sending::SEND_ITEMS,
    exporting::EXPORT_CSV,
    exporting::EXPORT_XLSX,
    exporting::EXPORT_SERVED,
    reporting::REPORT_CSV,
    reporting::REPORT_XLSX,
    serving::SERVE_UPSERTS,
    serving::SERVE_PAGES,
    serving::SERVE_LAST_PAGES,
];

/// Where the other side is the library in a bare loop.
const BARE: &str = "bare";

/// Errors end the bench; they are for the person who runs it.
type Outcome<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// One comparison.
struct Row {
    name: &'static str,
    /// Both sides in a few words, ours first.
    compares: &'static str,
    /// What [`child::Seen::units`] counts.
    unit: &'static str,
    /// The ratio of the sides' wall times, ours to bare, that the product wants to stay below.
    target: f64,
    /// What the table calls the other side.
    beside: &'static str,
    /// Writes what the sides work on into a folder, for a share of the full size. Not measured.
    prepare: fn(&Path, f64) -> Outcome<()>,
    /// True if the sides talk to one server, which then runs in a process of its own.
    needs_server: bool,
    ours: Side,
    bare: Side,
}

/// Does the work once and says what it took.
type Side = fn(&Job) -> Outcome<child::Sample>;

/// What a side works on.
struct Job {
    /// The folder that [`Row::prepare`] filled.
    folder: PathBuf,
    /// `http://127.0.0.1:PORT` where the row needs a server.
    server: Option<String>,
}

fn main() -> ExitCode {
    if let Some(exit) = sheetport::sheet::run_reader_if_asked() {
        return exit;
    }
    let mut words = std::env::args().skip(1);
    let outcome = match words.next().as_deref() {
        Some(child::FLAG) => child::run(&words.collect::<Vec<_>>()),
        _ => compare_all(&Args::parse()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn compare_all(args: &Args) -> Outcome<()> {
    if let Some(path) = &args.check {
        return summary::check(path);
    }
    let mut results = Vec::new();
    for row in args.rows()? {
        results.push(compare::compare(row, args)?);
    }
    print!("{}", summary::table(&results));
    if let Some(path) = &args.json {
        summary::write_json(path, args, &results)?;
        eprintln!("written: {}", path.display());
    }
    Ok(())
}
