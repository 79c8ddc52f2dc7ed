//! Flags of `init`.

use std::path::PathBuf;

use clap::Args;

const NOTES: &str = "\
Asks for the address of the service and for the tokens, which are not shown, tries them, and stores them as `login` does. Tokens that
are stored, or in the environment, are tried only. Then it looks for a spreadsheet and prints the command to run next. If standard
input is not a terminal, its first line is the access token and its second line the refresh token.

Examples:
  sheetport init
  sheetport init --folder ~/Documents/prices
  sheetport init --base-url https://host.example < tokens.txt";

#[derive(Args, Debug)]
#[command(after_help = NOTES)]
pub struct Init {
    /// Folder with spreadsheets
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub folder: PathBuf,
    /// Ask again, although there are tokens
    #[arg(long)]
    pub again: bool,
}
