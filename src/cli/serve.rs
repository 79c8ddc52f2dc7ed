//! Flags of `serve`, `serve token` and `serve load`.

use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::builder::PossibleValue;
use clap::{Args, Subcommand, ValueEnum};
use sheetport_records::token::Access;
use sheetport_service::{self as service, Limit, Plan, ServerAddress, ShownKind, Storage};
use sheetport_trial::{LOAD_KINDS, LoadKind};

use super::choice::choice;

const SERVE_EXAMPLES: &str = "\
To use the service, run in another terminal:
  eval \"$(sheetport serve token --workspace demo)\"
  export SHEETPORT_BASE_URL=http://127.0.0.1:8787
In PowerShell:
  $tokens = sheetport serve token --workspace demo --json | ConvertFrom-Json
  $env:SHEETPORT_ACCESS_TOKEN = $tokens.access; $env:SHEETPORT_REFRESH_TOKEN = $tokens.refresh
  $env:SHEETPORT_BASE_URL = \"http://127.0.0.1:8787\"

Examples:
  sheetport serve --listen 127.0.0.1:0 --data /srv/sheetport
  sheetport serve --listen 0.0.0.0:8787 --host-name api.example.com --store postgres://anna@db.example/service
  sheetport serve --demo
  sheetport serve --limit 600/min --latency 50ms
  sheetport serve --fail \"500:0.02,reset:0.01,slow:0.01\" --seed 7
  sheetport serve --plan refusals
  sheetport serve --print-plan unsure > plan.toml";

const LOAD_EXAMPLES: &str = "\
Stop the service first if it uses the same data folder. Loading a file twice has no effect.

Examples:
  sheetport serve load --workspace demo companies.csv contacts.csv
  sheetport serve load --workspace demo --kind items price-list-2026.xlsx";

const SHOW_EXAMPLES: &str = "\
It works while the service runs, and when it is stopped. Nothing is changed.

Examples:
  sheetport serve show
  sheetport serve show orders
  sheetport serve show orders 5001 --json
  sheetport serve show requests --limit all
  sheetport serve show requests 17";

#[derive(Args, Debug)]
#[command(after_help = SERVE_EXAMPLES)]
pub struct Serve {
    #[command(subcommand)]
    pub action: Option<ServeAction>,
    /// Address or name of this machine, and port, such as localhost:8787; port 0 picks a free port
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8787", value_parser = listen)]
    pub listen: Listen,
    /// Also answer requests to this host, such as the name of a proxy in front. Others are answered with 421, except for
    /// addresses and names of this machine
    #[arg(long, value_name = "NAME", value_parser = host_name)]
    pub host_name: Vec<String>,
    #[command(flatten)]
    pub data: Data,
    #[command(flatten)]
    pub lifetimes: Lifetimes,
    /// Return a new refresh token with each refresh. The old one is void when the new one is used, or after a minute
    #[arg(long)]
    pub rotate_refresh: bool,
    /// Fill the workspace `demo` with sample records, if it is empty
    #[arg(long)]
    pub demo: bool,
    /// Refuse unknown fields of bodies and unknown query parameters with a 422 that names them and what was probably meant
    #[arg(long)]
    pub strict: bool,
    /// Take and return only what the contract shows: record ids alone in paths, no further members, headers or idempotency keys. For
    /// testing that a client depends on nothing else
    #[arg(long, conflicts_with = "strict")]
    pub literal: bool,
    /// Number of requests kept for `serve show`, counted separately for requests that may write and for all others; 0 keeps
    /// none
    #[arg(long, value_name = "N", default_value_t = 100_000, value_parser = clap::value_parser!(u64).range(..=10_000_000))]
    pub journal: u64,
    #[command(flatten)]
    pub rehearsal: Rehearsal,
}

/// Where the service listens.
#[derive(Clone, Debug)]
pub enum Listen {
    Address(SocketAddr),
    Name { host: String, port: u16 },
}

impl fmt::Display for Listen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Listen::Address(address) => write!(f, "{address}"),
            Listen::Name { host, port } => write!(f, "{host}:{port}"),
        }
    }
}

/// Faults on purpose.
#[derive(Args, Debug)]
#[command(next_help_heading = "Rehearsing faults")]
pub struct Rehearsal {
    /// Answer 429 when a workspace exceeds this rate, such as 10/s or 600/min
    #[arg(long, value_name = "RATE")]
    pub limit: Option<Limit>,
    /// Delay every answer, such as 50ms or 1.5s
    #[arg(long, value_name = "TIME", value_parser = service::delay)]
    pub latency: Option<Duration>,
    /// Let a share of the requests fail: a status from 400 to 599, reset (no answer), slow (five seconds late) or cut (half
    /// an answer). A 4xx refuses the request; the others come before or after it takes effect
    #[arg(long, value_name = "KIND:SHARE,…", value_parser = Plan::of_short_form)]
    pub fail: Option<Plan>,
    /// Fault plan: a TOML file, or one of refusals, outage, throttled, unsure, nonsense and paging (`--print-plan` shows them)
    #[arg(long, value_name = "FILE|NAME")]
    pub plan: Option<PathBuf>,
    /// Print a fault plan as a start for your own, and end
    #[arg(long, value_name = "NAME", exclusive = true, value_parser = choice(plans()))]
    pub print_plan: Option<&'static str>,
    /// Seed of the shares: the same seed lets the same requests fail, in any order
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
}

/// Where the service keeps its records.
#[derive(Args, Debug)]
pub struct Data {
    /// Data folder of the service [default: sheetport-service]
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Keep the records in a PostgreSQL database instead, such as postgres://anna@db.example/service. Any number of services can
    /// share it. Put its password into PGPASSWORD, the file .pgpass or SHEETPORT_STORE, which may have the whole address
    #[arg(long, value_name = "URL", conflicts_with = "data")]
    store: Option<String>,
}

impl Data {
    /// Returns where the records are: as the flags say, else in the database of SHEETPORT_STORE, else in the default folder. Returns
    /// the reason if an address is not valid.
    pub fn storage(&self) -> Result<Storage, String> {
        if let Some(folder) = &self.data {
            return Ok(Storage::Folder(folder.clone()));
        }
        let variable = std::env::var("SHEETPORT_STORE").ok().filter(|address| !address.trim().is_empty());
        let Some(address) = self.store.as_ref().or(variable.as_ref()) else {
            return Ok(Storage::Folder(PathBuf::from("sheetport-service")));
        };
        let address: ServerAddress = address.parse()?;
        if self.store.is_some() && address.has_password() {
            return Err("--store has a password, which other users of this machine can read in the list of processes"
                .to_owned());
        }
        Ok(Storage::Server(address))
    }
}

/// Lifetimes of tokens.
#[derive(Args, Debug)]
pub struct Lifetimes {
    /// Lifetime of access tokens in minutes
    #[arg(long, value_name = "MINUTES", default_value_t = 15, value_parser = clap::value_parser!(u32).range(1..))]
    pub access_minutes: u32,
    /// Lifetime of refresh tokens in days
    #[arg(long, value_name = "DAYS", default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..=36_500))]
    pub refresh_days: u32,
}

#[derive(Debug, Subcommand)]
pub enum ServeAction {
    /// Print an access and a refresh token for a workspace; works while the service is running
    Token(Token),
    /// Load records from spreadsheets into a workspace, such as files written by `export`
    Load(Load),
    /// Show the stored records with their lines, jobs and requests, what arrived twice, and the journal of requests
    Show(Show),
}

#[derive(Args, Debug)]
pub struct Token {
    #[command(flatten)]
    pub data: Data,
    /// Workspace of the tokens
    #[arg(long, value_name = "NAME")]
    pub workspace: String,
    /// Access level: full can read and write, regular can only read
    #[arg(long, value_name = "ACCESS", default_value = "full", value_parser = choice(access_levels()))]
    pub access: Access,
    #[command(flatten)]
    pub lifetimes: Lifetimes,
    /// Shell whose commands set the tokens [default: powershell on Windows, bash elsewhere]
    #[arg(long, value_name = "SHELL")]
    pub shell: Option<VariableShell>,
}

/// A shell in which variables of the environment are set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum VariableShell {
    /// Bash, zsh and other shells of Unix
    Bash,
    Powershell,
    Cmd,
}

impl VariableShell {
    /// Returns the default shell of the system.
    pub fn of_system() -> VariableShell {
        if cfg!(windows) { VariableShell::Powershell } else { VariableShell::Bash }
    }

    /// Returns the command for setting a variable to a value without quotes and spaces.
    pub fn set(self, name: &str, value: &str) -> String {
        match self {
            VariableShell::Bash => format!("export {name}={value}"),
            VariableShell::Powershell => format!("$env:{name} = \"{value}\""),
            VariableShell::Cmd => format!("set {name}={value}"),
        }
    }
}

#[derive(Args, Debug)]
#[command(after_help = LOAD_EXAMPLES)]
pub struct Load {
    /// .csv, .xlsx or .ndjson files whose first row, or whose keys, are the fields of the API
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    #[command(flatten)]
    pub data: Data,
    /// Workspace that receives the records
    #[arg(long, value_name = "NAME")]
    pub workspace: String,
    /// Kind of the records [default: taken from the file name]
    #[arg(long, value_name = "RECORDS", value_parser = choice(load_kinds()))]
    pub kind: Option<&'static LoadKind>,
}

#[derive(Args, Debug)]
#[command(after_help = SHOW_EXAMPLES)]
pub struct Show {
    /// What to show: a kind of records, or the journal of requests [default: numbers, and what arrived twice]
    #[arg(value_name = "WHAT", value_parser = choice(shown()))]
    pub what: Option<Shown>,
    /// Show only the record with this id, number or external id, or the request with this number or context id
    #[arg(value_name = "ID")]
    pub id: Option<String>,
    #[command(flatten)]
    pub data: Data,
    /// Show only this workspace
    #[arg(long, value_name = "NAME")]
    pub workspace: Option<String>,
    /// Maximum number of records of each workspace, or of requests; the last ones are shown
    #[arg(long, value_name = "N|all", default_value = "50", value_parser = show_limit)]
    pub limit: ShowLimit,
}

/// What `serve show` shows.
#[derive(Clone, Copy, Debug)]
pub enum Shown {
    Records(ShownKind),
    Requests,
}

/// A number of records; `None` for all.
pub(crate) type ShowLimit = Option<u64>;

fn shown() -> impl Iterator<Item = (PossibleValue, Shown)> {
    let kinds = ShownKind::all().map(|kind| (PossibleValue::new(kind.name()), Shown::Records(kind)));
    kinds.chain([(PossibleValue::new("requests"), Shown::Requests)])
}

fn show_limit(text: &str) -> Result<ShowLimit, String> {
    match text.parse() {
        _ if text == "all" => Ok(None),
        Ok(limit @ 1..) => Ok(Some(limit)),
        _ => Err("expected a number of at least 1, or all".to_owned()),
    }
}

fn plans() -> impl Iterator<Item = (PossibleValue, &'static str)> {
    service::EXAMPLES.iter().map(|(name, source)| (PossibleValue::new(*name), *source))
}

fn access_levels() -> [(PossibleValue, Access); 2] {
    [(PossibleValue::new("full"), Access::Full), (PossibleValue::new("regular"), Access::Regular)]
}

fn load_kinds() -> impl Iterator<Item = (PossibleValue, &'static LoadKind)> {
    LOAD_KINDS.iter().map(|kind| (PossibleValue::new(kind.name), kind))
}

fn host_name(text: &str) -> Result<String, String> {
    match text.is_empty() || text.contains(['/', ':', '@', '*', ' ']) {
        true => Err("expected a name without protocol and port, such as api.example.com".to_owned()),
        false => Ok(text.to_owned()),
    }
}

fn listen(text: &str) -> Result<Listen, String> {
    if let Ok(address) = text.parse() {
        return Ok(Listen::Address(address));
    }
    let parsed = text.rsplit_once(':').and_then(|(host, port)| Some((host_name(host).ok()?, port.parse().ok()?)));
    let (host, port) = parsed.ok_or("expected an address with a port, such as 127.0.0.1:8787 or localhost:8787")?;
    Ok(Listen::Name { host, port })
}

#[cfg(test)]
mod tests {
    use super::listen;

    #[test]
    fn addresses_to_listen_on_have_a_host_and_a_port() {
        for good in ["127.0.0.1:8787", "[::1]:0", "0.0.0.0:80", "localhost:8787"] {
            assert_eq!(listen(good).map(|listen| listen.to_string()), Ok(good.to_owned()));
        }
        for bad in ["localhost", "8787", ":8787", "localhost:", "localhost:65536", "http://localhost:8787", "::1:x"] {
            assert!(listen(bad).is_err(), "{bad}");
        }
    }
}
