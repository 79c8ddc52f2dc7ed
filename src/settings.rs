//! Flags and environment resolved into one value before any work starts.

use std::path::PathBuf;

use directories::ProjectDirs;
use secrecy::SecretString;

use crate::api::auth::Credentials;
use crate::cli::{Color, Global};
use crate::error::{Exit, Failure};

/// What every command is told.
#[derive(Clone, Debug)]
pub struct Settings {
    pub base_url: Option<String>,
    pub credentials: Credentials,
    /// The folder of the ledger and of what else outlives a run.
    pub home: PathBuf,
    pub output: Output,
}

/// How to speak to the person.
#[derive(Clone, Copy, Debug)]
pub struct Output {
    pub json: bool,
    pub quiet: bool,
    pub verbose: u8,
    pub color: Color,
    pub progress: bool,
}

impl Output {
    /// Whether somebody reads along: neither a script nor a person who wants quiet.
    pub fn talks(&self) -> bool {
        !self.json && !self.quiet
    }
}

impl Settings {
    /// Tokens come from the environment alone: what is in argv, everybody on the machine can read.
    pub fn resolve(global: Global) -> Result<Settings, Failure> {
        let home = match global.home {
            Some(home) => home,
            None => ProjectDirs::from("", "", "sheetport").map(|dirs| dirs.data_dir().to_owned()).ok_or_else(|| {
                Failure::new(
                    Exit::Usage,
                    "your system names no folder for application data",
                    "set SHEETPORT_HOME to a folder of yours",
                )
            })?,
        };
        Ok(Settings {
            base_url: global.base_url,
            credentials: Credentials {
                access: token("SHEETPORT_ACCESS_TOKEN"),
                refresh: token("SHEETPORT_REFRESH_TOKEN"),
            },
            home,
            output: Output {
                json: global.json,
                quiet: global.quiet,
                verbose: global.verbose,
                color: global.color,
                progress: !global.no_progress && !global.quiet,
            },
        })
    }

    /// The service's address, or what to do to have one.
    pub fn base_url(&self) -> Result<&str, Failure> {
        self.base_url.as_deref().ok_or_else(|| {
            Failure::new(
                Exit::Usage,
                "no service is named",
                "give its root address with --base-url or in SHEETPORT_BASE_URL; `sheetport serve` runs one on this machine",
            )
        })
    }
}

fn token(name: &str) -> Option<SecretString> {
    let token = std::env::var(name).ok()?;
    let token = token.trim();
    (!token.is_empty()).then(|| SecretString::from(token.to_owned()))
}
