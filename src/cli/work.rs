//! Flags of `work`.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::flag_groups::parameter;

const EXAMPLES: &str = "\
`upload --queue` plans a run and leaves its records to workers. Each worker takes a part of a run at a time; a part whose worker died is
taken by another one after 30 seconds. Workers need tokens for the workspaces that they send to, by SHEETPORT_ACCESS_TOKEN and
SHEETPORT_REFRESH_TOKEN or by `sheetport login`, and the same ledger: see `--ledger`. Ctrl-C and SIGTERM let the requests in flight
finish, and leave the rest to the others.

Examples:
  sheetport work --ledger postgres://anna@db.example/sheetport
  sheetport work --until-idle
  sheetport work --at-once 4 --listen 127.0.0.1:9187
  sheetport work --tokens /run/secrets/sheetport
  sheetport work --inbox s3://bucket/in/ -t items
  sheetport work --inbox /srv/in --files '*.xlsx' -t orders --done /srv/sent";

#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Work {
    /// Number of parts sent at the same time [default: by the cores of this machine and the connections that the database allows, up to 8; 1
    /// with a ledger file]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=64))]
    pub at_once: Option<u16>,
    /// Send the runs of all workspaces whose tokens are in this folder: in WORKSPACE.toml with base_url, access and refresh. Changed files are
    /// read
    #[arg(long, env = "SHEETPORT_TOKENS", value_name = "FOLDER")]
    pub tokens: Option<PathBuf>,
    /// End when no queued run is left that this worker can send
    #[arg(long)]
    pub until_idle: bool,
    /// Remove runs that began longer ago, such as 90d, at the beginning and each hour, as `runs prune` does
    #[arg(long, value_name = "AGE", value_parser = super::age)]
    pub keep: Option<Duration>,
    /// Upload the files that come into this folder, or below this prefix such as s3://bucket/in/, too; each is moved to `done` or,
    /// with its report, to `failed`
    #[arg(long, value_name = "FOLDER", requires = "template")]
    pub inbox: Option<PathBuf>,
    /// Template of the files of the inbox: a built-in one by its name, or a template file
    #[arg(short, long, value_name = "TEMPLATE", requires = "inbox")]
    pub template: Option<String>,
    /// Names of the files of the inbox, with * and ?
    #[arg(long, value_name = "PATTERN", default_value = "*", requires = "inbox")]
    pub files: String,
    /// Set a parameter of the template: warehouse=W1
    #[arg(long, value_name = "NAME=VALUE", value_parser = parameter, requires = "inbox")]
    pub set: Vec<(String, String)>,
    /// Where uploaded files are moved, may contain {date} [default: the folder done beside the inbox]
    #[arg(long, value_name = "FOLDER", requires = "inbox")]
    pub done: Option<PathBuf>,
    /// Where files with problems are moved, may contain {date} [default: the folder failed beside the inbox]
    #[arg(long, value_name = "FOLDER", requires = "inbox")]
    pub failed: Option<PathBuf>,
    /// Serve /livez, /readyz and /metrics at this address
    #[arg(long, value_name = "ADDRESS")]
    pub listen: Option<SocketAddr>,
    /// With --listen: serve a page of the newest runs at /, too, which shows their files and workspaces to everybody who can reach the address
    #[arg(long, requires = "listen")]
    pub show_runs: bool,
}
