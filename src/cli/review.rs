//! Flags of `review`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;

use super::flag_groups::OfSheet;

const EXAMPLES: &str = "\
Examples:
  sheetport review
  sheetport review prices.xlsx
  sheetport review prices.report.xlsx
  sheetport review 12
  sheetport review prices.xlsx --no-open

The page is served by this program, to this machine only. Press Ctrl-C to stop. `sheetport prices.xlsx` opens it, too.";

#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Review {
    /// Spreadsheet to begin with, or a report or the number of a run, whose rows that were not accepted can be fixed and sent
    /// again; write ./12 for a file called 12. Other files can be dropped on the page
    #[arg(value_name = "FILE|RUN")]
    pub file: Option<PathBuf>,
    /// Address and port of the page [default: 127.0.0.1 and any free port]
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:0", hide_default_value = true)]
    pub listen: SocketAddr,
    /// Print the address of the page, without opening a browser
    #[arg(long)]
    pub no_open: bool,
    #[command(flatten)]
    pub of_sheet: OfSheet,
}

impl Review {
    /// Returns the number of a run, or `None` for a file name.
    pub fn run(&self) -> Option<i64> {
        let text = self.file.as_ref()?.to_str()?;
        text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten()
    }
}
