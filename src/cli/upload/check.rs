//! Flags of `check` and `explain`.

use std::path::PathBuf;

use clap::Args;
use sheetport_operations::RowName;

use super::Upload;
use crate::cli::flag_groups::{Input, Pacing, Titles};

const CHECK_EXAMPLES: &str = "\
Examples:
  sheetport check prices.xlsx
  sheetport check prices.xlsx -t items
  sheetport check prices.csv -t prices.toml --report to-fix.xlsx
  sheetport check orders.xlsx -t orders --online
  sheetport check orders.xlsx -t orders --requests
  sheetport check prices.csv -t prices.toml --json
  sheetport check prices.csv -t prices.toml --json-rows";

const EXPLAIN_EXAMPLES: &str = "\
Examples:
  sheetport explain prices.xlsx -t items --row 17
  sheetport explain prices.xlsx -t items --sheet \"*\" --row 'South!4'
  sheetport explain orders.csv -t orders --row 2 --json
  sheetport explain prices.xlsx -t items --column SKU";

#[derive(Args, Debug)]
#[command(after_help = CHECK_EXAMPLES)]
pub struct Check {
    #[command(flatten)]
    pub input: Input,
    /// Treat warnings as problems
    #[arg(long)]
    pub strict: bool,
    /// Also look up companies, contacts, items and inventories of the rows in the service, and the identifiers of an export
    #[arg(long)]
    pub online: bool,
    /// Orders: check for an upload with --keep-lines, which sends the lines that an order has only in the service
    #[arg(long, requires = "online")]
    pub keep_lines: bool,
    #[command(flatten)]
    pub pacing: Pacing,
    /// Show the first requests that an upload would send, as `upload --dry-run` does
    #[arg(long, conflicts_with_all = ["online", "json_rows", "report"])]
    pub requests: bool,
    /// Print a JSON object for each row, and nothing else
    #[arg(long, conflicts_with = "json")]
    pub json_rows: bool,
    /// Write the spreadsheet with the problems of each row to a new file
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
    #[command(flatten)]
    pub titles: Titles,
    /// Leave out of the report what a supplier should not know: lookup tables, paths, template, service, its ids, workspace
    #[arg(long, requires = "report")]
    pub for_supplier: bool,
}

impl Check {
    /// Returns the upload whose requests are shown instead of being sent.
    pub fn into_dry_run(self) -> Upload {
        let Check { input, strict, pacing, .. } = self;
        Upload { input, strict, pacing, dry_run: true, ..Upload::default() }
    }
}

#[derive(Args, Debug)]
#[command(after_help = EXPLAIN_EXAMPLES)]
pub struct Explain {
    #[command(flatten)]
    pub input: Input,
    /// Row number as in the spreadsheet program, or SHEET!N if several sheets are read
    #[arg(long, value_name = "N", required_unless_present = "column")]
    pub row: Option<RowName>,
    /// Instead of a row, show what is known about the values of this column: header or letters
    #[arg(long, value_name = "NAME", conflicts_with = "row")]
    pub column: Option<String>,
}
