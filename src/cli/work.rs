//! Flags of `work`.

use std::net::SocketAddr;

use clap::Args;

const EXAMPLES: &str = "\
`upload --queue` plans a run and leaves its records to workers. Each worker takes a part of a run at a time; a part whose worker died is
taken by another one after 30 seconds. Workers need tokens for the workspaces that they send to, by SHEETPORT_TOKEN or `sheetport login`,
and the same ledger: see `--ledger`. Ctrl-C and SIGTERM let the requests in flight finish, and leave the rest to the others.

Examples:
  sheetport work --ledger postgres://anna@db.example/sheetport
  sheetport work --until-idle
  sheetport work --at-once 4 --listen 127.0.0.1:9187";

#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Work {
    /// Number of parts sent at the same time
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=64))]
    pub at_once: u16,
    /// End when no queued run is left that this worker can send
    #[arg(long)]
    pub until_idle: bool,
    /// Serve /livez, /readyz and /metrics at this address
    #[arg(long, value_name = "ADDRESS")]
    pub listen: Option<SocketAddr>,
}
