//! Flags of `plan`.

use std::path::PathBuf;

use clap::Args;
use sheetport_findings::Only;
use sheetport_mapping::missing::{AtMost, SetField};

use crate::cli::choice::choice;
use crate::cli::flag_groups::{Input, Pacing};

use super::Upload;

const PLAN_EXAMPLES: &str = "\
Nothing is sent. The plan is kept as a run: `sheetport apply` sends what is approved of it, by its file of changes or its number.

Examples:
  sheetport plan prices.xlsx -t items
  sheetport plan prices.csv -t prices.toml -o changes.xlsx
  sheetport plan orders.csv -t orders --json
  sheetport plan prices.csv -t prices.toml --missing set:status=inactive --at-most 5%
  sheetport plan prices.csv -t prices.toml --markdown >> \"$GITHUB_STEP_SUMMARY\"";

#[derive(Args, Debug, Default)]
#[command(after_help = PLAN_EXAMPLES)]
pub struct Plan {
    #[command(flatten)]
    pub input: Input,
    #[command(flatten)]
    pub pacing: Pacing,
    /// Write each change to a new file, to approve and apply: row, record, field, the value now and the planned one
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Print the plan as Markdown, for a pull request: counts, fields, and the first changes, odd ones before others
    #[arg(long, conflicts_with = "json")]
    pub markdown: bool,
    /// Leave records out of the plan that have not changed since the service accepted them from this machine, or that its list
    /// of items shows with the same values
    #[arg(long)]
    pub changed_only: bool,
    /// Plan only records that the service does not have yet, or only those that it has: a mistyped SKU creates nothing
    /// [default: as the template says, or all]
    #[arg(long, value_name = "WHICH", value_parser = choice(super::only()))]
    pub only: Option<Only>,
    /// Plan to write only fields that are blank in the service; new records are sent whole
    #[arg(long)]
    pub fill_blank: bool,
    /// Plan to set this in records of the service that the file lacks, of those for which the template says in its table missing that it is complete:
    /// set:status=inactive [default: as the template says]
    #[arg(long, value_name = "set:FIELD=VALUE")]
    pub missing: Option<SetField>,
    /// Plan nothing for missing records if there are more than N, or than N% of those that the template selects in its table missing
    /// [default: as the template says, or 5%]
    #[arg(long, value_name = "N|N%")]
    pub at_most: Option<AtMost>,
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

impl Upload {
    /// Returns the flags of `plan` with the same meaning.
    pub fn into_plan(self) -> Plan {
        let Upload {
            input,
            pacing,
            changed_only,
            only,
            fill_blank,
            missing,
            at_most,
            rows,
            strict,
            yes,
            keep_lines,
            ..
        } = self;
        Plan {
            input,
            pacing,
            output: None,
            markdown: false,
            changed_only,
            only,
            fill_blank,
            missing,
            at_most,
            rows,
            strict,
            yes,
            keep_lines,
        }
    }
}
