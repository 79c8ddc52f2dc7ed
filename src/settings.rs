//! Settings: flags, environment, `sheetport.toml` and stored credentials, resolved into one value at the start.

use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::path::Path;

use directories::ProjectDirs;
use secrecy::SecretString;
use serde::Deserialize;

use crate::cli::Global;
use crate::client::auth::{Credentials, TokenFile};
use crate::diagnostics::TomlFile;
use crate::error::{Exit, Failure};
use crate::operations::Context;

/// The default profile.
const DEFAULT_PROFILE: &str = "default";

/// Hint for a mistake in the settings file.
const KEYS: &str =
    "valid keys: profile = \"…\", and under [profiles.NAME] base_url = \"https://…\" and rate = \"10/s\"";

#[derive(Clone, Debug)]
pub struct Settings {
    /// The profile's token file, existing or not.
    pub token_file: TokenFile,
    /// Service, credentials, rate and home folder.
    pub context: Context,
    pub output: Output,
    /// Whether uploads accept a clearly recognized template without asking.
    pub accepts_recognized: bool,
}

/// `sheetport.toml` in the home folder.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    /// The default profile.
    profile: Option<String>,
    #[serde(default)]
    profiles: BTreeMap<String, Profile>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Profile {
    base_url: Option<String>,
    rate: Option<String>,
    #[serde(default)]
    accept_recognized: bool,
}

/// Kind and amount of output.
#[derive(Clone, Copy, Debug)]
pub struct Output {
    pub json: bool,
    pub quiet: bool,
    pub progress: bool,
}

impl Output {
    /// Whether to print text for people: neither `--json` nor `--quiet` was given.
    pub fn talks(&self) -> bool {
        !self.json && !self.quiet
    }

    /// Whether a person can answer a question.
    pub fn can_ask(&self) -> bool {
        self.talks() && std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
    }
}

impl Settings {
    /// Resolves the settings. Tokens are not accepted as flags, because other users can read the command line.
    pub fn resolve(global: Global) -> Result<Settings, Failure> {
        let (is_address_chosen, is_profile_chosen) = (global.base_url.is_some(), global.profile.is_some());
        let given = global.given();
        let home = match global.home {
            Some(home) => home,
            None => ProjectDirs::from("", "", "sheetport").map(|dirs| dirs.data_dir().to_owned()).ok_or_else(|| {
                Failure::new(
                    Exit::Usage,
                    "this system has no folder for application data",
                    "set SHEETPORT_HOME to a folder of your own",
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
        // Tokens of the environment take precedence over stored ones.
        let tokens = Credentials {
            access: token("SHEETPORT_ACCESS_TOKEN"),
            refresh: token("SHEETPORT_REFRESH_TOKEN"),
            file: None,
        };
        if global.no_store && tokens.refresh.is_some() {
            return Err(Failure::new(
                Exit::Usage,
                "SHEETPORT_REFRESH_TOKEN is set, but a renewed pair of tokens may not be stored (--no-store)",
                "set SHEETPORT_ACCESS_TOKEN alone, or leave out --no-store",
            ));
        }
        let (base_url, credentials) = tokens.clone().in_use(global.base_url.or(profile.base_url), &token_file, &home);
        Ok(Settings {
            token_file,
            context: Context {
                home,
                profile: name,
                base_url,
                credentials,
                environment: tokens,
                rate,
                given,
                is_address_chosen,
                is_profile_chosen,
            },
            accepts_recognized: profile.accept_recognized,
            output: Output { json: global.json, quiet: global.quiet, progress: !global.no_progress && !global.quiet },
        })
    }
}

fn token(name: &str) -> Option<SecretString> {
    let token = std::env::var(name).ok()?;
    let token = token.trim();
    (!token.is_empty()).then(|| SecretString::from(token.to_owned()))
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
        mistake.hint.get_or_insert_with(|| KEYS.to_owned());
        mistake.into()
    })
}

fn wrong(path: &Path, why: &str) -> Failure {
    Failure::new(Exit::Usage, format!("{} is invalid: {why}", path.display()), KEYS)
}

/// Checks that the name of a profile is safe as a file name.
fn check_name(name: &str) -> Result<(), Failure> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    if !name.is_empty() && name.len() <= 64 && name.chars().all(is_plain) {
        return Ok(());
    }
    Err(Failure::new(
        Exit::Usage,
        format!("'{name}' is not a valid profile name"),
        "use up to 64 letters, digits, - and _",
    ))
}
