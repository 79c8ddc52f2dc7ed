//! Flags of `apply`.

use std::path::PathBuf;

use clap::Args;
use clap::builder::PossibleValue;
use sheetport_plan::approve::Approve;

use super::retry::{RetryTarget, target_of};
use crate::cli::choice::choice;
use crate::cli::flag_groups::Sending;

const APPLY_EXAMPLES: &str = "\
In a file of changes, write yes or no into the column 'approve', take rows away, or set a value back to the one in 'now': nothing else can
be changed there. If only some rows have no, the blank ones are approved; if only some have yes, the blank ones are not. What counts is
the plan in the ledger.

Before anything is sent, the records are read in the service again. Those that somebody has changed there since the plan are left out, with
the values then, now and planned in the report (exit code 3).

Examples:
  sheetport plan prices.xlsx -t items -o changes.xlsx
  sheetport apply changes.xlsx
  sheetport apply changes.xlsx --approve none
  sheetport apply 12";

#[derive(Args, Debug)]
#[command(after_help = APPLY_EXAMPLES)]
pub struct Apply {
    /// File of changes that `sheetport plan -o` has written (.xlsx, .csv, .ndjson; - for standard input), or number of a planned run; write ./42
    /// for a file called 42
    #[arg(value_name = "FILE|RUN")]
    pub what: PathBuf,
    /// What counts for rows with a blank cell in 'approve', and for all records without a file [default: as the other rows show;
    /// all, if none has yes or no]
    #[arg(long, value_name = "WHICH", value_parser = choice(approvals()))]
    pub approve: Option<Approve>,
    /// Apply a plan that is older than 24 hours without asking
    #[arg(short, long)]
    pub yes: bool,
    #[command(flatten)]
    pub sending: Sending,
}

impl Apply {
    pub fn target(&self) -> RetryTarget<'_> {
        target_of(&self.what)
    }
}

fn approvals() -> impl Iterator<Item = (PossibleValue, Approve)> {
    [("all", Approve::All), ("none", Approve::None)]
        .into_iter()
        .map(|(name, approve)| (PossibleValue::new(name), approve))
}
