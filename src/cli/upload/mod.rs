//! Flags of `upload`, and of the commands that try the same without sending.

mod check;
mod plan;

use std::path::PathBuf;

use clap::Args;
use clap::builder::PossibleValue;
use sheetport_findings::Only;
use sheetport_mapping::missing::{AtMost, SetField};

use super::choice::choice;
use super::flag_groups::{Input, Pacing, Titles};

pub use check::{Check, Explain};
pub use plan::Plan;

const UPLOAD_EXAMPLES: &str = "\
Tokens are taken from SHEETPORT_ACCESS_TOKEN and SHEETPORT_REFRESH_TOKEN, or from `sheetport login`.

Examples:
  sheetport upload prices.xlsx -t items
  sheetport upload prices.csv -t prices.toml --rate 10/s --report outcome.xlsx
  sheetport upload prices.csv -t prices.toml --dry-run
  sheetport upload orders.csv -t orders --rehearse --from exports --rate 10/s
  sheetport upload prices.csv -t prices.toml --changed-only --max-errors 20";

#[derive(Args, Debug, Default)]
#[command(after_help = UPLOAD_EXAMPLES)]
pub struct Upload {
    #[command(flatten)]
    pub input: Input,
    #[command(flatten)]
    pub pacing: Pacing,
    /// Show what would be sent, with the first requests, and send nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Send everything to a temporary service on this machine, with the records that the file refers to. --rate does not slow
    /// it down; it only serves to estimate the duration of the upload
    #[arg(long, conflicts_with = "dry_run")]
    pub rehearse: bool,
    /// Rehearse with this export, or those in this folder (items.csv, companies.xlsx, contacts.ndjson …): references to
    /// records missing there are refused; kinds of records without an export are made up. Can be repeated
    #[arg(long, value_name = "FOLDER|FILE", requires = "rehearse")]
    pub from: Vec<PathBuf>,
    /// Skip records that have not changed since the service accepted them from this machine, or that its list of items
    /// shows with the same values
    #[arg(long)]
    pub changed_only: bool,
    /// Show what would change in the service, and keep the plan: the same as `sheetport plan`
    #[arg(long, conflicts_with_all = ["dry_run", "rehearse", "queue", "all_or_nothing", "allow_repeat", "restore_texts"])]
    #[arg(conflicts_with_all = ["create_missing_items", "trigger_workflows", "report", "for_supplier", "max_errors", "max_unknown"])]
    pub plan: bool,
    /// Send only records that the service does not have yet, or only those that it has: a mistyped SKU creates nothing
    /// [default: as the template says, or all]
    #[arg(long, value_name = "WHICH", value_parser = choice(only()))]
    pub only: Option<Only>,
    /// Write only fields that are blank in the service; new records are sent whole, and records without a blank field stay unchanged
    #[arg(long)]
    pub fill_blank: bool,
    /// With --plan: set this in records of the service that the file lacks, see `sheetport plan --help`
    #[arg(long, value_name = "set:FIELD=VALUE")]
    pub missing: Option<SetField>,
    /// With --plan: set nothing if more records than this are missing
    #[arg(long, value_name = "N|N%")]
    pub at_most: Option<AtMost>,
    /// Send only the records that begin on these rows of the sheet
    #[arg(long, value_name = "FIRST-LAST", value_parser = range)]
    pub rows: Option<(u64, u64)>,
    /// Stop after more than N records were refused or are unknown
    #[arg(long, value_name = "N")]
    pub max_errors: Option<u64>,
    /// Stop after more than N records are unknown, instead of after twice as many as requests in flight in one outage
    #[arg(long, value_name = "N")]
    pub max_unknown: Option<u64>,
    /// Leave the records to `sheetport work`, on this or another machine
    #[arg(long, conflicts_with_all = ["dry_run", "rehearse"])]
    pub queue: bool,
    /// With --queue: send the run before those of its workspace with a lower number, from -100 to 100 [default: 0]
    #[arg(long, value_name = "N", requires = "queue", allow_negative_numbers = true, value_parser = clap::value_parser!(i16).range(-100..=100))]
    pub priority: Option<i16>,
    /// Treat warnings as problems
    #[arg(long)]
    pub strict: bool,
    /// Accept the recognized template, and warnings, without asking
    #[arg(short, long)]
    pub yes: bool,
    /// Send nothing if a row needs fixing
    #[arg(long)]
    pub all_or_nothing: bool,
    /// Send records again that were sent before, and rows of the file that repeat others in the same order, even if this creates
    /// duplicates: all, or records with these names, such as invoice numbers
    #[arg(
        long,
        value_name = "NAMES",
        num_args = 0..=1,
        require_equals = true,
        value_delimiter = ',',
        default_missing_value = ""
    )]
    pub allow_repeat: Option<Vec<String>>,
    /// Take back the identifiers, other texts and long numbers of an export that a spreadsheet program changed
    #[arg(long, alias = "restore-ids")]
    pub restore_texts: bool,
    /// Orders: send the lines that an order has only in the service with those of the file, so that they stay
    #[arg(long)]
    pub keep_lines: bool,
    /// Read what the service has of the records before the first of them is sent, and keep it, so that `sheetport undo` can take the upload
    /// back; this takes the requests of the list, or one for each order
    #[arg(long, conflicts_with_all = ["dry_run", "rehearse", "plan"])]
    pub undoable: bool,
    /// Orders: let the service create unknown items
    #[arg(long)]
    pub create_missing_items: bool,
    /// Orders: let the service run workflows
    #[arg(long)]
    pub trigger_workflows: bool,
    /// New file for the report: .xlsx, .csv or .html [default: a workbook next to FILE, if a row has a problem]
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
    #[command(flatten)]
    pub titles: Titles,
    /// Leave out of the report what a supplier should not know: lookup tables, paths, template, service, its ids, workspace
    #[arg(long)]
    pub for_supplier: bool,
}

fn only() -> impl Iterator<Item = (PossibleValue, Only)> {
    Only::ALL.into_iter().map(|only| (PossibleValue::new(only.name()), only))
}

/// Parses a row number such as `7`, or a range such as `2-50`.
pub(super) fn range(text: &str) -> Result<(u64, u64), String> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let row = |text: &str| text.trim().parse::<u64>().ok().filter(|row| *row > 0);
    match (row(first), row(last)) {
        (Some(first), Some(last)) if first <= last => Ok((first, last)),
        _ => Err(format!("'{text}' is not a range of rows; expected row numbers of the sheet, such as 2-50")),
    }
}

#[cfg(test)]
mod tests {
    use super::range;

    #[test]
    fn row_ranges_start_at_1_and_ascend() {
        assert_eq!(range("2-50"), Ok((2, 50)));
        assert_eq!(range("7"), Ok((7, 7)));
        for bad in ["", "-", "0-3", "5-2", "2-50-60", "a-b", "-5"] {
            assert!(range(bad).is_err(), "{bad}");
        }
    }
}
