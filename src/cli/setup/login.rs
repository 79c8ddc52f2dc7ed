//! Flags of `login`, `whoami` and `doctor`.

use clap::Args;

const LOGIN_EXAMPLES: &str = "\
Prompts for the tokens without showing them. If standard input is not a terminal, its first line is the access token and
its second line the refresh token; either may be empty. The tokens are checked with one request and stored in a file that
only you can read.

Examples:
  sheetport login --base-url https://host.example
  sheetport login --keyring --base-url https://host.example
  sheetport login --profile test --base-url http://127.0.0.1:8787 < tokens.txt";

#[derive(Args, Debug)]
#[command(after_help = LOGIN_EXAMPLES)]
pub struct Login {
    /// Store the tokens without a check
    #[arg(long)]
    pub unchecked: bool,
    /// Store the tokens in the keyring of the system [default: that of the profile, or a file that only you can read]
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub keyring: Option<bool>,
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

const DOCTOR_NOTES: &str = "\
Checks the protections of the process that reads workbooks, by trying them; the folder of SHEETPORT_HOME, its free space and
the ledger; the address, the tokens and when they end; the proxy and the certificates; and with one request, whether the
service accepts the token and how far its clock is off; and whether a job is late. Changes nothing.

The exit code is 1 if there is a problem, and 0 if there are only warnings.

Examples:
  sheetport doctor
  sheetport doctor --offline --json";

#[derive(Args, Debug)]
#[command(after_help = DOCTOR_NOTES)]
pub struct Doctor {
    /// Send nothing: check this machine and the settings only
    #[arg(long)]
    pub offline: bool,
}
