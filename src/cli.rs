//! The command line, and nothing but: what can be said, and its help. Saying something does nothing yet.

mod check;
mod export;
mod infer;
mod login;
mod retry;
mod runs;
mod upload;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};

pub use self::check::{Check, Explain, RowName};
pub use self::export::{Export, Exportable, Family, StdoutFormat};
use crate::client::Speed;
use crate::error::EXIT_CODES;
use crate::records::RecordKind;
use crate::report::RowFilter;
use crate::service::{Faults, Limit};
use crate::sheet::Options;
pub use infer::Infer;

pub use login::Login;
pub use retry::{Retried, Retry};
pub use runs::{Prune, Resolve, Resume, Rows, Runs, RunsAction, StateFilter};
pub use upload::Upload;

/// The heading over [`Reading`]'s flags. It stands at each, because a heading of the whole would go on below it.
const READING: &str = "Reading a CSV, where it is not found out rightly";

const VIEW_EXAMPLES: &str = "\
--csv prints one clean table. Left out are titles above the header, blank rows, and all rows from where the header comes
again as that of a second table; after a blank row the same header is a new page, and its rows go on. A header over
several rows is joined with spaces; where there is none, none is made up. --every-row leaves nothing out.

Examples:
  sheetport view prices.csv
  sheetport view prices.csv.gz --csv > clean.csv
  sheetport view prices.txt --delimiter tab --encoding windows-1252 --quote none
  sheetport view prices.xlsx --json --all-sheets
  curl -s https://example.com/prices.csv | sheetport view -";

const REPORT_EXAMPLES: &str = "\
Examples:
  sheetport report -o outcome.xlsx
  sheetport report 12 -o to-mend.csv --only problems
  sheetport report 12 -o problems.html
  sheetport report 12 -o to-mend.csv --bom

A workbook begins with a sheet that sums the run up, with what is wrong by cause. Mend the rows in place, then hand the
report back: `sheetport retry to-mend.csv`.";

const SERVE_EXAMPLES: &str = "\
In another terminal:
  eval \"$(sheetport serve token --workspace demo)\"
  export SHEETPORT_BASE_URL=http://127.0.0.1:8787

Examples:
  sheetport serve --listen 127.0.0.1:0 --data /srv/sheetport
  sheetport serve --demo
  sheetport serve --limit 600/min --latency 50ms
  sheetport serve --fail 500:0.02,reset:0.01,slow:0.01 --seed 7";

const LOAD_EXAMPLES: &str = "\
The service must not be running on the same data. Loading the same twice changes nothing.

Examples:
  sheetport serve load --workspace demo companies.csv contacts.csv
  sheetport serve load --workspace demo --kind items price-list-2026.xlsx";

/// Carries business records between spreadsheets and the Workspace Business-Records API.
///
/// Hand it the spreadsheet that you have and a mapping template. It says everything that is wrong with the file before
/// anything is sent, uploads the rest, and hands the same spreadsheet back with each row's outcome beside it.
#[derive(Debug, Parser)]
#[command(name = "sheetport", version, max_term_width = 100, after_help = EXIT_CODES, arg_required_else_help = true)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
    #[command(flatten)]
    pub global: Global,
}

#[derive(Args, Debug)]
#[command(next_help_heading = "Everywhere")]
pub struct Global {
    /// The service's root address
    #[arg(long, global = true, env = "SHEETPORT_BASE_URL", value_name = "URL")]
    pub base_url: Option<String>,
    /// The profile whose address, tokens and rate are used [default: what sheetport.toml says, else "default"]
    #[arg(long, global = true, env = "SHEETPORT_PROFILE", value_name = "NAME")]
    pub profile: Option<String>,
    /// Where ledger, credentials and sheetport.toml are kept [default: your system's folder for application data]
    #[arg(long, global = true, env = "SHEETPORT_HOME", value_name = "DIR")]
    pub home: Option<PathBuf>,
    /// Print one JSON object on stdout when done
    #[arg(long, global = true)]
    pub json: bool,
    /// Say nothing but errors and results
    #[arg(short, long, global = true)]
    pub quiet: bool,
    /// Log what happens; twice for more
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub verbose: u8,
    /// How log lines are written
    #[arg(long, global = true, value_name = "FORMAT", default_value = "text")]
    pub log_format: LogFormat,
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub color: Color,
    /// Show no progress
    #[arg(long, global = true)]
    pub no_progress: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Color {
    Auto,
    Always,
    Never,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    Text,
    /// One JSON object a line
    Json,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// See it all at work in a few seconds: a service, an upload, its report, an export
    Demo(Demo),
    /// Read a spreadsheet, check it in full, and send its records
    Upload(Upload),
    /// Say everything that is wrong with a spreadsheet; sends nothing and needs no service
    Check(Check),
    /// Show how one row becomes a request: cell, conversion, field, and what would be sent
    Explain(Explain),
    /// Show what a spreadsheet is read as: encoding, delimiter, sheets, header, columns, first rows
    View(View),
    /// Read a whole list from the service into a file, with a manifest that says how it is known to be whole
    Export(Export),
    /// Write a run's outcomes as a spreadsheet: your columns, then what became of each row
    Report(Report),
    /// Carry on with a run that stopped
    Resume(Resume),
    Retry(Box<Retry>),
    /// Say what became of records that may or may not have been applied
    Resolve(Resolve),
    /// List the runs, newest first; look at one; remove old ones
    #[command(args_conflicts_with_subcommands = true)]
    Runs(Runs),
    /// The mapping templates that come with sheetport
    #[command(subcommand)]
    Template(Template),
    /// Store a service's address and a pair of tokens, for this profile
    Login(Login),
    /// Say which service, workspace and access level would be used
    Whoami,
    /// Remove the stored tokens of this profile
    Logout,
    /// Run the service itself on this machine, to rehearse against
    #[command(args_conflicts_with_subcommands = true)]
    Serve(Serve),
}

#[derive(Args, Debug)]
pub struct Demo {
    /// The folder that gets the demo's files
    #[arg(long, value_name = "DIR", default_value = "sheetport-demo")]
    pub folder: PathBuf,
}

/// A spreadsheet and what it means.
#[derive(Args, Debug)]
pub struct Input {
    /// A spreadsheet: a CSV or another text, also compressed, or a workbook (.xlsx, .xlsm, .xlsb, .xls, .ods); - is
    /// standard input
    pub file: PathBuf,
    /// A built-in template's name, or a template file
    #[arg(short, long, value_name = "TEMPLATE")]
    pub template: String,
    /// The sheet of a workbook, by name or number; "*" for all that have the template's columns [default: the first that
    /// has them]
    #[arg(long, value_name = "SHEET")]
    pub sheet: Option<String>,
    #[command(flatten)]
    pub reading: Reading,
}

/// How to read a text file, where it should not be found out.
#[derive(Args, Debug, Default)]
pub struct Reading {
    /// The character between fields, or "tab" or "space"
    #[arg(long, help_heading = READING, value_name = "CHAR", value_parser = Options::delimiter_named)]
    pub delimiter: Option<u8>,
    /// The encoding, such as windows-1252
    #[arg(long, help_heading = READING, value_name = "NAME")]
    pub encoding: Option<String>,
    /// The character around fields, or "none"
    #[arg(long, help_heading = READING, value_name = "CHAR", value_parser = quote)]
    pub quote: Option<Mark>,
    /// The character that makes a quote text, or "none" where quotes are doubled
    #[arg(long, help_heading = READING, value_name = "CHAR", value_parser = quote)]
    pub escape: Option<Mark>,
}

/// A character, or the word that there is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark(pub Option<u8>);

#[derive(Args, Debug)]
#[command(after_help = VIEW_EXAMPLES)]
pub struct View {
    /// A spreadsheet: CSV or another text, also compressed by gzip or Zstandard, or a workbook; - is standard input
    pub file: PathBuf,
    /// Print the table as UTF-8 CSV
    #[arg(long, conflicts_with = "json")]
    pub csv: bool,
    /// With --csv: every row as it is, also titles, blank rows and further tables
    #[arg(long, requires = "csv")]
    pub every_row: bool,
    /// With --json: every cell of every sheet
    #[arg(long, requires = "json")]
    pub all_sheets: bool,
    /// The sheet of a workbook, by name or number [default: the first]
    #[arg(long, value_name = "SHEET")]
    pub sheet: Option<String>,
    /// How many rows to show
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub rows: usize,
    #[command(flatten)]
    pub reading: Reading,
}

#[derive(Args, Debug)]
pub struct Pacing {
    /// Never send faster than this: 10/s or 600/min, or auto to find out what the service takes
    #[arg(long, value_name = "RATE")]
    pub rate: Option<Speed>,
    /// Requests under way together
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u16).range(1..=256))]
    pub concurrency: u16,
}

#[derive(Args, Debug)]
#[command(after_help = REPORT_EXAMPLES)]
pub struct Report {
    /// The run's number [default: the newest]
    pub run: Option<i64>,
    /// A file that is not there yet: .xlsx or .csv to mend the rows in, .html for a page to read, search and print
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
    /// Which rows: all, problems (somebody has to look at them), or those of one state [default: all, and in .html problems]
    #[arg(long, value_name = "WHICH", value_parser = only)]
    pub only: Option<RowFilter>,
    /// Begin a CSV with a byte order mark, by which Excel knows that it is UTF-8
    #[arg(long)]
    pub bom: bool,
}

#[derive(Debug, Subcommand)]
pub enum Template {
    /// List the built-in templates
    List,
    /// Print a built-in template, to be saved and changed
    Show { name: String },
    /// Check a template and run its examples
    Check { template: String },
    /// Print an empty template of a kind: every field that it has, and what each is
    New {
        /// What its rows become
        #[arg(value_name = "RECORD", value_parser = record)]
        record: RecordKind,
    },
    /// Print the JSON Schema of templates, by which editors check them while you type
    Schema,
    /// Write a template for a spreadsheet, from its column names and first values
    Infer(Infer),
}

#[derive(Args, Debug)]
#[command(after_help = SERVE_EXAMPLES)]
pub struct Serve {
    #[command(subcommand)]
    pub action: Option<ServeAction>,
    /// Address and port; port 0 picks a free one
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8787")]
    pub listen: SocketAddr,
    #[command(flatten)]
    pub data: Data,
    #[command(flatten)]
    pub lifetimes: Lifetimes,
    /// Give a new refresh token at each refresh
    #[arg(long)]
    pub rotate_refresh: bool,
    /// Fill the workspace `demo` with a small company, unless there is something in it
    #[arg(long)]
    pub demo: bool,
    #[command(flatten)]
    pub rehearsal: Rehearsal,
}

/// Bad weather on demand.
#[derive(Args, Debug)]
#[command(next_help_heading = "Rehearsing")]
pub struct Rehearsal {
    /// Answer 429 to a workspace that makes more requests than this: 10/s or 600/min
    #[arg(long, value_name = "RATE")]
    pub limit: Option<Limit>,
    /// Wait this long before every answer: 50ms or 1.5s
    #[arg(long, value_name = "TIME", value_parser = latency)]
    pub latency: Option<Duration>,
    /// Let a share of the requests go wrong, before or after they are carried out: statuses 400 to 599, reset (no
    /// answer), slow (five seconds late), cut (half an answer)
    #[arg(long, value_name = "KIND:SHARE,…")]
    pub fail: Option<Faults>,
    /// Repeat the faults of an earlier start: the same seed spoils the same requests, counted in their order
    #[arg(long, value_name = "N", requires = "fail")]
    pub seed: Option<u64>,
}

#[derive(Args, Debug)]
pub struct Data {
    /// The service's data
    #[arg(long, value_name = "DIR", default_value = "sheetport-service")]
    pub data: PathBuf,
}

/// How long tokens are good for: those that a service gives at a refresh, and those that `token` prints.
#[derive(Args, Debug)]
pub struct Lifetimes {
    /// How long an access token lives, in minutes
    #[arg(long, value_name = "MINUTES", default_value_t = 15, value_parser = clap::value_parser!(u32).range(1..))]
    pub access_minutes: u32,
    /// How long a refresh token lives, in days
    #[arg(long, value_name = "DAYS", default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..=36_500))]
    pub refresh_days: u32,
}

#[derive(Debug, Subcommand)]
pub enum ServeAction {
    /// Print an access and a refresh token for a workspace, once; also while the service runs
    Token(Token),
    /// Load records from spreadsheets into a workspace, such as files that `export` wrote
    Load(Load),
}

#[derive(Args, Debug)]
pub struct Token {
    #[command(flatten)]
    pub data: Data,
    #[arg(long, value_name = "NAME")]
    pub workspace: String,
    /// full reads and writes, regular reads only
    #[arg(long, value_name = "ACCESS", default_value = "full")]
    pub access: TokenAccess,
    #[command(flatten)]
    pub lifetimes: Lifetimes,
}

#[derive(Args, Debug)]
#[command(after_help = LOAD_EXAMPLES)]
pub struct Load {
    /// .csv or .xlsx files; their first row names the columns like the contract's fields
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    #[command(flatten)]
    pub data: Data,
    /// The workspace that gets them
    #[arg(long, value_name = "NAME")]
    pub workspace: String,
    /// What the records are [default: what a file's name says]
    #[arg(long, value_name = "RECORDS")]
    pub kind: Option<LoadKind>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LoadKind {
    Companies,
    Contacts,
    Inventories,
    Orders,
    Items,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TokenAccess {
    Full,
    Regular,
}

fn record(name: &str) -> Result<RecordKind, String> {
    let names: Vec<&str> = RecordKind::ALL.iter().map(|kind| kind.name()).collect();
    RecordKind::from_name(name).ok_or_else(|| format!("it is one of: {}", names.join(", ")))
}

fn quote(word: &str) -> Result<Mark, String> {
    Options::mark_named(word).map(Mark)
}

fn latency(text: &str) -> Result<Duration, String> {
    let (number, scale) = match (text.strip_suffix("ms"), text.strip_suffix('s')) {
        (Some(number), _) => (number, 0.001),
        (None, Some(number)) => (number, 1.0),
        (None, None) => (text, f64::NAN),
    };
    let seconds = number.parse::<f64>().map_or(f64::NAN, |number| number * scale);
    if (0.0..=60.0).contains(&seconds) {
        Ok(Duration::from_secs_f64(seconds))
    } else {
        Err("write it as 50ms or 1.5s, a minute at most".to_owned())
    }
}

fn only(name: &str) -> Result<RowFilter, String> {
    RowFilter::from_name(name).ok_or_else(|| format!("it is one of: {}", RowFilter::NAMES.join(", ")))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::{Duration, latency};

    #[test]
    fn latencies_have_a_unit_and_a_bound() {
        assert_eq!(latency("50ms"), Ok(Duration::from_millis(50)));
        assert_eq!(latency("1.5s"), Ok(Duration::from_millis(1500)));
        assert_eq!(latency("0s"), Ok(Duration::ZERO));
        for bad in ["", "50", "s", "-1s", "61s", "1m", "NaNs", "infs"] {
            assert!(latency(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn the_command_line_is_consistent() {
        super::Cli::command().debug_assert();
    }
}
