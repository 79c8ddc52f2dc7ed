//! Flags of `report`.

use std::path::PathBuf;

use clap::Args;
use sheetport_report::RowFilter;
use sheetport_sheet::Options;

use crate::cli::flag_groups::Titles;

const EXAMPLES: &str = "\
Examples:
  sheetport report -o outcome.xlsx
  sheetport report 12 -o to-fix.csv --only problems
  sheetport report 12 -o problems.html
  sheetport report 12 -o to-fix.csv --delimiter ';' --bom
  sheetport report 12 -o outcome.csv --titles en

The first sheet of a workbook summarizes the run, with the problems grouped by cause. Fix the rows in place, then hand the
report back: `sheetport retry to-fix.csv`.";

#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Report {
    /// Number of the run [default: the newest]
    pub run: Option<i64>,
    /// New file: .xlsx or .csv to fix the rows in, .html for a page to read, search and print
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
    /// Rows to include: all, problems (rows that need attention), or the rows of one state [default: all; problems for
    /// .html]
    #[arg(long, value_name = "WHICH", value_parser = only)]
    pub only: Option<RowFilter>,
    /// Character between the fields of a CSV, or "tab" [default: as Excel has it in the language of this computer (LC_ALL,
    /// LC_NUMERIC or LANG), or else as in the uploaded file]
    #[arg(long, value_name = "CHAR", value_parser = Options::delimiter_named)]
    pub delimiter: Option<u8>,
    /// Start a CSV with a byte order mark, so that Excel reads it as UTF-8 [default: by the language of this computer, or else
    /// as in the uploaded file]
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub bom: Option<bool>,
    #[command(flatten)]
    pub titles: Titles,
    /// Leave out what a supplier should not know: lookup tables, paths, template, service, its ids, workspace [default: as in the
    /// run]
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub for_supplier: Option<bool>,
}

fn only(name: &str) -> Result<RowFilter, String> {
    RowFilter::from_name(name).ok_or_else(|| format!("expected one of: {}", RowFilter::NAMES.join(", ")))
}
