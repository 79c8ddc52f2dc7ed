//! Flags of `undo`.

use std::path::PathBuf;

use clap::Args;

use crate::cli::flag_groups::Sending;
use crate::cli::upload::range;

const UNDO_EXAMPLES: &str = "\
A field returns to the value that it had before the run, if the service still has the one that the run sent. What somebody has edited since
stays, and is shown with all three values. A movement of stock is answered by the opposite movement, dated today. What the run created
otherwise can't be deleted: it is listed. Exit code 3 if anything stays.

The values from before are known of runs of `sheetport apply` and `sheetport upload --undoable`; movements need none. The undo is a run
itself: it can be shown, resumed, reported and taken back. Without a terminal and without --yes, nothing is sent, and the command that
goes on is printed.

Examples:
  sheetport undo 12
  sheetport undo 12 --rows 4-10 --yes
  sheetport undo 12 -o changes.xlsx";

#[derive(Args, Debug)]
#[command(after_help = UNDO_EXAMPLES)]
pub struct Undo {
    /// Number of the run
    pub run: i64,
    /// Take back only the records that begin on these rows of the sheet
    #[arg(long, value_name = "FIRST-LAST", value_parser = range)]
    pub rows: Option<(u64, u64)>,
    /// Write each change to a new file, to approve and apply, and send nothing
    #[arg(short, long, value_name = "FILE", conflicts_with = "yes")]
    pub output: Option<PathBuf>,
    /// Send without asking
    #[arg(short, long)]
    pub yes: bool,
    #[command(flatten)]
    pub sending: Sending,
}
