//! Compares Sheetport with bare programs that use the same libraries.
//!
//! Each row of [`ROWS`] compares two sides that do the same work: Sheetport, and the shortest program with the same library.
//! Each side runs in its own process, so that processor time and peak memory are measured separately. The sides take
//! turns, so that a slow phase of the machine affects both, and must process the same data. See `benches/README.md`.

#![allow(unreachable_pub, reason = "nothing outside reads the benches")]

mod args;
mod child;
mod client;
mod compare;
mod counting;
mod exporting;
mod items;
mod mapping;
mod reading;
mod reporting;
mod sending;
mod server_ledger;
mod serving;
mod summary;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Parser as _;

use args::Args;

/// All comparisons, in the order of the output.
const ROWS: &[Row] = &[
    reading::READ_CSV,
    reading::READ_XLSX,
    reading::READ_XLSX_INLINE,
    mapping::CHECK_ITEMS,
    mapping::CHECK_ORDERS,
    mapping::CHECK_SCATTERED_ORDERS,
    sending::SEND_ITEMS,
    server_ledger::SEND_SERVER,
    exporting::EXPORT_CSV,
    exporting::EXPORT_XLSX,
    exporting::EXPORT_PARQUET,
    exporting::EXPORT_SQLITE,
    exporting::EXPORT_SERVED,
    exporting::EXPORT_SERVED_100,
    reporting::REPORT_CSV,
    reporting::REPORT_XLSX,
    serving::SERVE_UPSERTS,
    serving::SERVE_PAGES,
    serving::SERVE_LAST_PAGES,
];

/// Name of the other side if it is the library in a loop.
const BARE: &str = "bare";

/// Any error stops the benchmark.
type Outcome<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// One comparison.
struct Row {
    name: &'static str,
    /// Both sides in a few words, Sheetport first.
    compares: &'static str,
    /// Unit of [`child::Seen::units`].
    unit: &'static str,
    /// Maximum ratio of the wall times, Sheetport to bare.
    target: f64,
    /// Name of the other side in the table.
    beside: &'static str,
    /// Writes the workload into a folder, for a fraction of the full size. Not measured.
    prepare: fn(&Path, f64) -> Outcome<()>,
    needs: Needs,
    ours: Side,
    bare: Side,
}

/// The servers that both sides need, each in processes of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Needs {
    Nothing,
    /// The service.
    Server,
    /// The service and PostgreSQL.
    ServerAndPostgres,
}

/// Does the work once and returns its measurements.
type Side = fn(&Job) -> Outcome<child::Sample>;

/// The input of a side.
struct Job {
    /// Folder with the workload of [`Row::prepare`].
    folder: PathBuf,
    /// `http://127.0.0.1:PORT`, if the comparison needs a server.
    server: Option<String>,
    /// The address of an empty database, if the comparison needs PostgreSQL.
    database: Option<String>,
}

fn main() -> ExitCode {
    if let Some(exit) = sheetport_sheet::run_reader_if_asked() {
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
    if args.count {
        return counting::count(args.keep);
    }
    let (mut results, mut left_out) = (Vec::new(), Vec::new());
    for row in args.rows()? {
        match compare::compare(row, args)? {
            Some(comparison) => results.push(comparison),
            None => left_out.push(row.name),
        }
    }
    print!("{}", summary::table(&results));
    if let Some(path) = &args.json {
        summary::write_json(path, args, &results, &left_out)?;
        eprintln!("written: {}", path.display());
    }
    Ok(())
}
