//! Flags of `login` and `whoami`.

use clap::Args;

const LOGIN_EXAMPLES: &str = "\
Prompts for the tokens without showing them. If standard input is not a terminal, its first line is the access token and
its second line the refresh token; either may be empty. The tokens are checked with one request and stored in a file that
only you can read.

Examples:
  sheetport login --base-url https://host.example
  sheetport login --profile test --base-url http://127.0.0.1:8787 < tokens.txt";

#[derive(Args, Debug)]
#[command(after_help = LOGIN_EXAMPLES)]
pub struct Login {
    /// Store the tokens without a check
    #[arg(long)]
    pub unchecked: bool,
}

const WHOAMI_NOTES: &str = "\
The tokens in SHEETPORT_ACCESS_TOKEN and SHEETPORT_REFRESH_TOKEN are sent to SHEETPORT_BASE_URL, or to addresses on the host
in SHEETPORT_TOKEN_HOST, and to no other service. Stored tokens are sent to the address that they were stored with.

Examples:
  sheetport whoami
  sheetport whoami --offline --json";

#[derive(Args, Debug)]
#[command(after_help = WHOAMI_NOTES)]
pub struct Whoami {
    /// Send nothing: show where the tokens would go, and what they say themselves
    #[arg(long)]
    pub offline: bool,
}
