//! Flags of `review`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;

const EXAMPLES: &str = "\
Examples:
  sheetport review
  sheetport review prices.xlsx
  sheetport review prices.xlsx --no-open

The page is served by this program, to this machine only. Press Ctrl-C to stop.";

#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Review {
    /// Spreadsheet to begin with; others can be dropped on the page
    pub file: Option<PathBuf>,
    /// Address and port of the page [default: 127.0.0.1 and any free port]
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:0", hide_default_value = true)]
    pub listen: SocketAddr,
    /// Print the address of the page, without opening a browser
    #[arg(long)]
    pub no_open: bool,
}
