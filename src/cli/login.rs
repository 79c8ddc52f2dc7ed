//! The words of `login`.

use clap::Args;

const LOGIN_EXAMPLES: &str = "\
The tokens are asked for and not shown. Where standard input is no terminal, its first line is the access token and its
second the refresh token; either may be empty. They are checked with one call and stored for you alone.

Examples:
  sheetport login --base-url https://host.example
  sheetport login --profile test --base-url http://127.0.0.1:8787 < tokens.txt";

#[derive(Args, Debug)]
#[command(after_help = LOGIN_EXAMPLES)]
pub struct Login {
    /// Store the tokens without asking the service whether they are good
    #[arg(long)]
    pub unchecked: bool,
}
