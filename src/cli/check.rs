//! The words of `check` and `explain`.

use std::path::PathBuf;

use clap::Args;

use super::Input;

const CHECK_EXAMPLES: &str = "\
Examples:
  sheetport check prices.xlsx -t items
  sheetport check prices.csv -t prices.toml --report to-mend.xlsx
  sheetport check prices.csv -t prices.toml --json";

const EXPLAIN_EXAMPLES: &str = "\
Examples:
  sheetport explain prices.xlsx -t items --row 17
  sheetport explain orders.csv -t orders --row 2 --json";

#[derive(Args, Debug)]
#[command(after_help = CHECK_EXAMPLES)]
pub struct Check {
    #[command(flatten)]
    pub input: Input,
    /// Write the spreadsheet with what is wrong beside each row, into a file that is not there yet
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
}

#[derive(Args, Debug)]
#[command(after_help = EXPLAIN_EXAMPLES)]
pub struct Explain {
    #[command(flatten)]
    pub input: Input,
    /// The row, as the spreadsheet program counts
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub row: u64,
}
