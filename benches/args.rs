//! The bench's own flags.

use std::path::PathBuf;

use clap::Parser;

use crate::{Outcome, ROWS, Row};

/// Measures Sheetport beside bare loops over the libraries below it.
#[derive(Debug, Parser)]
#[command(name = "sheetport-bench")]
pub struct Args {
    /// Share of the full size: 1 is a million rows to read, a hundred thousand records to send
    #[arg(long, value_name = "F", default_value_t = 1.0, value_parser = scale)]
    pub scale: f64,
    /// Times that each side runs; the figures are medians
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    pub runs: u32,
    /// Run this comparison alone; can be given more than once
    #[arg(long, value_name = "NAME")]
    pub only: Vec<String>,
    /// Write the figures as JSON, too
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Measure nothing: check that FILE, written by --json, is whole and has every comparison
    #[arg(long, value_name = "FILE")]
    pub check: Option<PathBuf>,
    /// `cargo bench` passes this to every bench
    #[arg(long, hide = true)]
    bench: bool,
}

impl Args {
    /// The rows that were asked for, in the order of [`ROWS`].
    pub fn rows(&self) -> Outcome<Vec<&'static Row>> {
        if let Some(unknown) = self.only.iter().find(|name| ROWS.iter().all(|row| row.name != **name)) {
            let names: Vec<_> = ROWS.iter().map(|row| row.name).collect();
            return Err(format!("there is no comparison '{unknown}'; there are: {}", names.join(", ")).into());
        }
        Ok(ROWS.iter().filter(|row| self.only.is_empty() || self.only.iter().any(|name| name == row.name)).collect())
    }
}

/// A workbook's sheet ends a little above a million rows, hence the upper bound.
fn scale(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(scale) if scale > 0.0 && scale <= 1.0 => Ok(scale),
        _ => Err("must be above 0 and at most 1".to_owned()),
    }
}
