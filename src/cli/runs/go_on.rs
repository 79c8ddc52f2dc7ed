//! Flags of `continue`.

use std::path::PathBuf;

use clap::Args;

use super::retry::target_of;
use super::{Resolve, Resume, Retry, RetryTarget};
use crate::cli::Command;
use crate::cli::flag_groups::Sending;

const CONTINUE_EXAMPLES: &str = "\
A stopped run is resumed, a report with fixed rows is retried, and for unknown outcomes you are asked. What is done is said first, as the
command that does the same: `resume`, `retry` and `resolve` are for scripts. A plan waits for `apply`.

Examples:
  sheetport continue
  sheetport continue 12
  sheetport continue prices.report.xlsx";

/// Go on with the newest run, with any other, or with a report whose rows were fixed
#[derive(Args, Debug)]
#[command(after_help = CONTINUE_EXAMPLES)]
pub struct Continue {
    /// Number of a run, or a report with fixed rows; write ./42 for a file called 42 [default: the newest run]
    #[arg(value_name = "RUN|REPORT")]
    pub what: Option<PathBuf>,
    #[command(flatten)]
    pub sending: Sending,
}

impl Continue {
    /// Returns the report or the number of the run, if one is named.
    pub fn target(&self) -> Option<RetryTarget<'_>> {
        self.what.as_deref().map(target_of)
    }

    /// Returns the command that resumes a run.
    pub fn resume(self, run: i64) -> Command {
        Command::Resume(Resume { run: Some(run), sending: self.sending })
    }

    /// Returns the command that asks about the unknown outcomes of a run.
    pub fn resolve(run: i64) -> Command {
        let (sent, failed, by) = (None, None, None);
        Command::Resolve(Resolve { run: Some(run), sent, failed, all_sent: false, all_failed: false, by })
    }

    /// Returns the command that sends the fixed rows of a report.
    pub fn retry(self, report: PathBuf) -> Command {
        Command::Retry(Box::new(Retry::of(report, self.sending)))
    }
}
