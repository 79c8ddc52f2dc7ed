//! The flags of the benchmark.

use std::path::PathBuf;

use clap::Parser;

use crate::{Outcome, ROWS, Row};

/// Compares Sheetport with bare programs that use the same libraries.
#[derive(Debug, Parser)]
#[command(name = "sheetport-bench")]
pub struct Args {
    /// Fraction of the full size: 1 is a million rows to read, a hundred thousand records to send
    #[arg(long, value_name = "F", default_value_t = 1.0, value_parser = scale)]
    pub scale: f64,
    /// Number of runs of each side; the figures are medians
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    pub runs: u32,
    /// Run only this comparison; can be repeated
    #[arg(long, value_name = "NAME")]
    pub only: Vec<String>,
    /// Write the figures as JSON, too
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Only check that FILE, written by --json, has every comparison
    #[arg(long, value_name = "FILE")]
    pub check: Option<PathBuf>,
    /// Count the instructions of a few small workloads with valgrind, and compare them with those in benches/instructions.toml
    #[arg(long)]
    pub count: bool,
    /// With --count: keep the counts instead of comparing them
    #[arg(long, requires = "count")]
    pub keep: bool,
    /// `cargo bench` passes this flag to every benchmark
    #[arg(long, hide = true)]
    bench: bool,
}

impl Args {
    /// Returns the selected rows in the order of [`ROWS`]; fails for an unknown name.
    pub fn rows(&self) -> Outcome<Vec<&'static Row>> {
        if let Some(unknown) = self.only.iter().find(|name| ROWS.iter().all(|row| row.name != **name)) {
            let names: Vec<_> = ROWS.iter().map(|row| row.name).collect();
            return Err(format!("unknown comparison '{unknown}'; it is one of: {}", names.join(", ")).into());
        }
        Ok(ROWS.iter().filter(|row| self.only.is_empty() || self.only.iter().any(|name| name == row.name)).collect())
    }
}

/// Parses a scale. The maximum is 1, because a sheet of a workbook can hardly have more than a million rows.
fn scale(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(scale) if scale > 0.0 && scale <= 1.0 => Ok(scale),
        _ => Err("must be above 0 and at most 1".to_owned()),
    }
}
