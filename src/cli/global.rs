//! Flags of every command.

use std::path::PathBuf;

use clap::builder::FalseyValueParser;
use clap::parser::ValueSource;
use clap::{ArgMatches, Args, ValueEnum};
use sheetport_operations::Given;

use super::help::GLOBAL;

#[derive(Args, Debug)]
#[command(next_help_heading = GLOBAL)]
pub struct Global {
    /// Root address of the service
    #[arg(long, global = true, env = "SHEETPORT_BASE_URL", value_name = "URL")]
    pub base_url: Option<String>,
    /// Profile that provides address, tokens, rate, defaults for sheets and whether the service honours idempotency keys [default: the one in sheetport.toml, or "default"]
    #[arg(long, global = true, env = "SHEETPORT_PROFILE", value_name = "NAME")]
    pub profile: Option<String>,
    /// PEM file with CA certificates to trust in addition to those of the system
    #[arg(long, global = true, env = "SHEETPORT_CA_FILE", value_name = "FILE")]
    pub ca_file: Option<PathBuf>,
    /// PEM file with the certificate that identifies you to the service, and perhaps its key
    #[arg(long, global = true, env = "SHEETPORT_CLIENT_CERT", value_name = "FILE")]
    pub client_cert: Option<PathBuf>,
    /// PEM file with the private key of --client-cert, readable only by you
    #[arg(long, global = true, env = "SHEETPORT_CLIENT_KEY", value_name = "FILE")]
    pub client_key: Option<PathBuf>,
    /// Proxy, such as http://proxy.example:8080 or socks5h://proxy.example:1080 [default: HTTPS_PROXY, HTTP_PROXY or ALL_PROXY]
    #[allow(rustdoc::bare_urls, reason = "the text of --help")]
    #[arg(long, global = true, env = "SHEETPORT_PROXY", hide_env_values = true, value_name = "URL")]
    pub proxy: Option<String>,
    /// Allow http:// to another machine, which sends the token unencrypted
    #[arg(long, global = true, env = "SHEETPORT_INSECURE_HTTP", value_parser = FalseyValueParser::new())]
    pub insecure_http: bool,
    /// Folder of the ledger, the credentials and sheetport.toml [default: the system's folder for application data]
    #[arg(long, global = true, env = "SHEETPORT_HOME", value_name = "DIR")]
    pub home: Option<PathBuf>,
    /// Ledger on a PostgreSQL server, for several machines, such as postgres://anna@db.example/ledger; put the password in SHEETPORT_LEDGER, PGPASSWORD or .pgpass [default: a file in --home]
    #[allow(rustdoc::bare_urls, reason = "the text of --help")]
    #[arg(long, global = true, env = "SHEETPORT_LEDGER", hide_env_values = true, value_name = "URL")]
    pub ledger: Option<String>,
    /// Send also from a ledger that lacks what this machine has written into it, such as a restored copy: what was sent since is not recognised, so look it up in the service first
    #[arg(long, global = true, hide_short_help = true)]
    pub accept_older_ledger: bool,
    /// Name in the history of runs, instead of that of the user of the system
    #[arg(long = "as", global = true, env = "SHEETPORT_AS", value_name = "NAME")]
    pub acts_as: Option<String>,
    /// Print one JSON object to stdout when done
    #[arg(long, global = true)]
    pub json: bool,
    /// Print only errors and results
    #[arg(short, long, global = true)]
    pub quiet: bool,
    /// Write a log to stderr; repeat for more detail
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub verbose: u8,
    /// Format of the log
    #[arg(long, global = true, value_name = "FORMAT", default_value = "text")]
    pub log_format: LogFormat,
    /// When to use colors
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub color: Color,
    /// Refuse a refresh token from the environment, because the pair that replaces it would have to be stored
    #[arg(long, global = true)]
    pub no_store: bool,
    /// Language of messages and help: en or de [default: that of LC_ALL, LC_MESSAGES or LANG, otherwise en]
    #[arg(long, global = true, env = "SHEETPORT_LANG", value_name = "LANGUAGE")]
    pub lang: Option<String>,
    /// Show words only: no colors, bars, drawings and tables; for screen readers and simple terminals (also with TERM=dumb)
    #[arg(long, global = true, env = "SHEETPORT_PLAIN", value_parser = FalseyValueParser::new())]
    pub plain: bool,
    /// Hide progress
    #[arg(long, global = true)]
    pub no_progress: bool,
    /// Names of the options that are flags of this command, not variables of the environment.
    #[arg(skip)]
    pub(super) flags: Vec<&'static str>,
}

impl Global {
    const OPTIONS: [&str; 9] =
        ["base_url", "profile", "home", "ledger", "ca_file", "client_cert", "client_key", "proxy", "insecure_http"];

    /// Records the options given by flags.
    pub(super) fn note_flags(&mut self, matches: &ArgMatches) {
        let is_flag = |name: &&str| matches.value_source(name) == Some(ValueSource::CommandLine);
        self.flags = Global::OPTIONS.into_iter().filter(is_flag).collect();
    }

    /// Uses the profile of a job file, as if given by a flag, unless another profile was chosen.
    pub fn use_profile(&mut self, profile: String) {
        if self.profile.is_none() {
            self.profile = Some(profile);
            self.flags.push("profile");
        }
    }

    /// Returns the options given by flags.
    pub fn given(&self) -> Given {
        let is_flag = |name| self.flags.contains(&name);
        Given {
            base_url: self.base_url.clone().filter(|_| is_flag("base_url")),
            profile: self.profile.clone().filter(|_| is_flag("profile")),
            home: self.home.clone().filter(|_| is_flag("home")),
            ledger: self.ledger.clone().filter(|_| is_flag("ledger")),
            ca_file: self.ca_file.clone().filter(|_| is_flag("ca_file")),
            client_cert: self.client_cert.clone().filter(|_| is_flag("client_cert")),
            client_key: self.client_key.clone().filter(|_| is_flag("client_key")),
            proxy: self.proxy.clone().filter(|_| is_flag("proxy")),
            insecure_http: self.insecure_http && is_flag("insecure_http"),
            here: std::env::current_dir().ok(),
        }
    }
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
    /// One JSON object per line
    Json,
}
