//! Flags, environment, `sheetport.toml` and stored credentials resolved into one value before any work starts.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use directories::ProjectDirs;
use secrecy::SecretString;
use serde::Deserialize;

use crate::cli::{Color, Global};
use crate::client::Speed;
use crate::client::auth::{Credentials, TokenFile};
use crate::diagnostics::TomlFile;
use crate::error::{Exit, Failure};

/// The profile of whoever names none.
const DEFAULT_PROFILE: &str = "default";

/// What the settings file is for.
const MAY_SAY: &str =
    "it may say profile = \"…\", and under [profiles.NAME] base_url = \"https://…\" and rate = \"10/s\"";

/// What every command is told.
#[derive(Clone, Debug)]
pub struct Settings {
    pub profile: String,
    pub base_url: Option<String>,
    pub credentials: Credentials,
    /// Where the profile's credentials are kept, whether or not there are any or they are used.
    pub token_file: TokenFile,
    /// The rate of the profile, for commands that are not told another.
    pub rate: Option<Speed>,
    /// The folder of the ledger and of what else outlives a run.
    pub home: PathBuf,
    pub output: Output,
}

/// `sheetport.toml` in the home folder.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    /// The profile of whoever names none.
    profile: Option<String>,
    #[serde(default)]
    profiles: BTreeMap<String, Profile>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Profile {
    base_url: Option<String>,
    rate: Option<String>,
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
        let path = home.join("sheetport.toml");
        let mut file = read(&path)?;
        let name = global.profile.or(file.profile).unwrap_or_else(|| DEFAULT_PROFILE.to_owned());
        check_name(&name)?;
        let profile = file.profiles.remove(&name).unwrap_or_default();
        let rate = profile.rate.map(|rate| rate.parse().map_err(|why: String| wrong(&path, &why))).transpose()?;
        let token_file = TokenFile::of(&home, &name);
        let (base_url, credentials) = credentials(global.base_url.or(profile.base_url), &token_file);
        Ok(Settings {
            profile: name,
            base_url,
            credentials,
            token_file,
            rate,
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
                "run `sheetport login`, or give its root address with --base-url or in SHEETPORT_BASE_URL; `sheetport serve` runs one on this machine",
            )
        })
    }
}

fn token(name: &str) -> Option<SecretString> {
    let token = std::env::var(name).ok()?;
    let token = token.trim();
    (!token.is_empty()).then(|| SecretString::from(token.to_owned()))
}

/// Tokens in the environment come before stored ones. Those are for the address that they were stored with: another
/// address never gets them.
fn credentials(base_url: Option<String>, file: &TokenFile) -> (Option<String>, Credentials) {
    let given =
        Credentials { access: token("SHEETPORT_ACCESS_TOKEN"), refresh: token("SHEETPORT_REFRESH_TOKEN"), file: None };
    let stored = file.read().unwrap_or_else(|error| {
        tracing::warn!("{} can't be read: {error}", file.path().display());
        None
    });
    let plain = |address: &str| address.trim().trim_end_matches('/').to_owned();
    match (stored, base_url) {
        (Some((stored, credentials)), base_url)
            if base_url.as_deref().is_none_or(|base| plain(base) == plain(&stored)) =>
        {
            (Some(stored), if given.is_empty() { credentials } else { given })
        }
        (_, base_url) => (base_url, given),
    }
}

fn read(path: &Path) -> Result<File, Failure> {
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory) => {
            return Ok(File::default());
        }
        Err(error) => return Err(wrong(path, &error.to_string())),
    };
    let name = path.display().to_string();
    let file = TomlFile { what: "settings file", name: &name, source: &text };
    toml::from_str(&text).map_err(|error| {
        let mut mistake = file.syntax(&error);
        mistake.hint.get_or_insert_with(|| MAY_SAY.to_owned());
        mistake.into()
    })
}

fn wrong(path: &Path, why: &str) -> Failure {
    Failure::new(Exit::Usage, format!("{} has a mistake: {why}", path.display()), MAY_SAY)
}

/// A profile's name becomes a file's.
fn check_name(name: &str) -> Result<(), Failure> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    if !name.is_empty() && name.len() <= 64 && name.chars().all(is_plain) {
        return Ok(());
    }
    Err(Failure::new(
        Exit::Usage,
        format!("'{name}' is no name for a profile"),
        "use letters, digits, - and _, at most 64 of them",
    ))
}
