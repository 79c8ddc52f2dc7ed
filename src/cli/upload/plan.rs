//! Flags of `plan`.

use std::path::PathBuf;

use clap::Args;

use crate::cli::flag_groups::{Input, Pacing};

const PLAN_EXAMPLES: &str = "\
Nothing is sent. The plan is kept as a run: `sheetport resume RUN` sends exactly what was shown.

Examples:
  sheetport plan prices.xlsx -t items
  sheetport plan prices.csv -t prices.toml -o changes.xlsx
  sheetport plan orders.csv -t orders --json";

#[derive(Args, Debug)]
#[command(after_help = PLAN_EXAMPLES)]
pub struct Plan {
    #[command(flatten)]
    pub input: Input,
    #[command(flatten)]
    pub pacing: Pacing,
    /// Write each change to a new file: row, record, field, the value now and the planned one
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Leave records out of the plan that have not changed since the service accepted them from this machine, or that its list
    /// of items shows with the same values
    #[arg(long)]
    pub changed_only: bool,
    /// Plan only the records that begin on these rows of the sheet
    #[arg(long, value_name = "FIRST-LAST", value_parser = super::range)]
    pub rows: Option<(u64, u64)>,
    /// Treat warnings as problems
    #[arg(long)]
    pub strict: bool,
    /// Accept the recognized template, and guesses about columns, without asking
    #[arg(short, long)]
    pub yes: bool,
    /// Orders: plan to send the lines that an order has only in the service with those of the file, so that they stay
    #[arg(long)]
    pub keep_lines: bool,
}
