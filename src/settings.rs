//! Settings: flags, environment, `sheetport.toml` and stored credentials, resolved into one `Settings` value at the start.

use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::time::Duration;

use directories::ProjectDirs;
use secrecy::SecretString;
use serde::{Deserialize, Deserializer, de};
use sheetport_client::auth::{
    self, AddressOrigin, Choice, Credentials, EnvironmentTokens, NamedAddress, TokenFile, TokenHome,
};
use sheetport_client::{ClientCert, ConnectOptions, KeyMemory, ProxyAddress, Speed};
use sheetport_documents::{Notes, Parsed, TomlFile};
use sheetport_files::text_file::read_text;
use sheetport_ledger::ServerAddress;
use sheetport_operations::{
    Context, CurrencyCode, DEFAULT_PROFILE, Defaults, Given, LocaleName, ProfileOptions, ZoneName,
};

use crate::cli::{Global, age};
use crate::error::{ErrorCode, Failure};

/// Hint for a mistake in the settings file.
const KEYS: &str = "valid keys: profile = \"…\", keep = \"90d\", and under [profiles.NAME] base_url = \"https://…\", rate = \"10/s\", \
                    ledger = \"postgres://…\", accept_recognized, keyring, idempotency_key = \"24h\", ca_file, client_cert, client_key, proxy, \
                    insecure_http, locale = \"de\", time_zone = \"Europe/Berlin\" and currency = \"EUR\"";

#[derive(Clone, Debug)]
pub struct Settings {
    /// The profile's token file, existing or not.
    pub token_file: TokenFile,
    /// Service, credentials, rate and home folder.
    pub context: Context,
    pub output: Output,
    /// The age from which runs are removed after each transfer.
    pub keep: Option<Duration>,
    /// Whether uploads accept a clearly recognized template without asking.
    pub accepts_recognized: bool,
    /// Whether `login` stores tokens in the keyring of the system.
    pub keyring: bool,
}

/// `sheetport.toml` in the home folder.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    /// The default profile.
    profile: Option<String>,
    /// Runs that are older are removed after each transfer.
    #[serde(default, deserialize_with = "keep")]
    keep: Option<Duration>,
    #[serde(default)]
    profiles: BTreeMap<String, Profile>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Profile {
    base_url: Option<String>,
    rate: Option<Parsed<Speed>>,
    /// The address of a ledger on a server.
    ledger: Option<Parsed<ServerAddress>>,
    #[serde(default)]
    accept_recognized: bool,
    #[serde(default)]
    keyring: bool,
    /// Time for which the service remembers idempotency keys, if supported.
    idempotency_key: Option<Parsed<KeyMemory>>,
    /// Paths of PEM files, relative to the settings file.
    ca_file: Option<PathBuf>,
    client_cert: Option<PathBuf>,
    client_key: Option<PathBuf>,
    proxy: Option<Parsed<ProxyAddress>>,
    #[serde(default)]
    insecure_http: bool,
    /// For sheets and templates that say nothing.
    locale: Option<Parsed<LocaleName>>,
    time_zone: Option<Parsed<ZoneName>>,
    currency: Option<Parsed<CurrencyCode>>,
}

fn keep<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Duration>, D::Error> {
    age(&String::deserialize(deserializer)?).map(Some).map_err(de::Error::custom)
}

impl Profile {
    fn defaults(&self) -> Defaults {
        Defaults {
            locale: self.locale.clone().map(|Parsed(LocaleName(name))| name),
            time_zone: self.time_zone.clone().map(|Parsed(ZoneName(name))| name),
            currency: self.currency.clone().map(|Parsed(CurrencyCode(code))| code),
        }
    }

    /// Returns how to connect. Paths are relative to `folder`. Fails with the reason if a value is wrong.
    fn connection(&self, folder: &Path) -> Result<ConnectOptions, String> {
        let path = |path: &Option<PathBuf>| path.as_ref().map(|path| folder.join(path));
        Ok(ConnectOptions {
            ca_file: path(&self.ca_file),
            client_cert: client_cert(path(&self.client_cert), path(&self.client_key))
                .ok_or("client_key needs client_cert")?,
            proxy: self.proxy.clone().map(|Parsed(proxy)| proxy),
            insecure_http: self.insecure_http,
            is_direct: false,
        })
    }
}

/// Returns the client certificate, if any. Returns `None` for a key without a certificate.
fn client_cert(cert: Option<PathBuf>, key: Option<PathBuf>) -> Option<Option<ClientCert>> {
    match (cert, key) {
        (None, Some(_)) => None,
        (cert, key) => Some(cert.map(|cert| ClientCert { cert, key })),
    }
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
    /// Resolves the settings of a command, with tokens if it uses any. Tokens and passwords are not accepted as flags, because other users can read the command line.
    pub fn resolve(global: Global, uses_tokens: bool) -> Result<Settings, Failure> {
        let (is_address_chosen, is_profile_chosen) = (global.base_url.is_some(), global.profile.is_some());
        if let Some(name) = global.acts_as.as_ref().filter(|name| !name.trim().is_empty()) {
            sheetport_ledger::act_as(name.clone());
        }
        let mut given = global.given();
        let chosen_connection = chosen_connection(&global, &given)?;
        let chosen_server = chosen_server(&global, &given)?;
        let home = match global.home {
            Some(home) => home,
            None => ProjectDirs::from("", "", "sheetport").map(|dirs| dirs.data_dir().to_owned()).ok_or_else(|| {
                Failure::new(
                    ErrorCode::Usage,
                    "this system has no folder for application data",
                    "set SHEETPORT_HOME to a folder of your own",
                )
            })?,
        };
        let path = home.join("sheetport.toml");
        let mut file = read(&path)?;
        let name = global.profile.or(file.profile).unwrap_or_else(|| DEFAULT_PROFILE.to_owned());
        check_name(&name)?;
        let mut profiles = BTreeMap::new();
        for (name, profile) in &file.profiles {
            let connection = profile.connection(&home).map_err(|why| wrong(&path, &why))?;
            let (base_url, keys) = (profile.base_url.clone(), profile.idempotency_key.clone().map(|Parsed(keys)| keys));
            profiles.insert(name.clone(), ProfileOptions { base_url, connection, keys, defaults: profile.defaults() });
        }
        if profiles.values().filter_map(|profile| profile.connection.proxy.as_ref()).any(ProxyAddress::has_credentials)
        {
            check_private(&path, "the password of a proxy")?;
        }
        let mut servers = BTreeMap::new();
        for (name, profile) in &file.profiles {
            servers.extend(profile.ledger.clone().map(|Parsed(server)| (name.clone(), server)));
        }
        if servers.values().any(ServerAddress::has_password) {
            check_private(&path, "the password of a ledger")?;
        }
        let profile = file.profiles.remove(&name).unwrap_or_default();
        let rate = profile.rate.map(|Parsed(rate)| rate);
        let token_file = TokenFile::of(&home, &name);
        let environment = environment_tokens();
        if global.no_store && environment.credentials.refresh.is_some() {
            return Err(Failure::new(
                ErrorCode::Usage,
                "SHEETPORT_REFRESH_TOKEN is set, but a renewed pair of tokens may not be stored (--no-store)",
                "set SHEETPORT_ACCESS_TOKEN alone, or leave out --no-store",
            ));
        }
        let named = |address: Option<String>, from| address.map(|address| NamedAddress { address, from });
        let by_flag = named(given.base_url.clone(), AddressOrigin::Flag);
        let by_environment = named(global.base_url.filter(|_| by_flag.is_none()), AddressOrigin::Environment);
        let by_profile = named(profile.base_url.clone(), AddressOrigin::Settings);
        // A profile named on the command line has priority over the environment.
        let (address, fallback) = match given.profile.is_some() {
            true => (by_flag.or(by_profile), by_environment),
            false => (by_flag.or(by_environment).or(by_profile), None),
        };
        let choice = Choice {
            environment: &environment,
            address,
            fallback,
            file: &token_file,
            prefers_stored: is_profile_chosen,
            home: &home,
            uses_tokens,
        };
        let chosen = choice.make();
        // Without the variable of this shell, a printed command would go to the address of the profile.
        if let Some(NamedAddress { address, from: AddressOrigin::Environment }) = &chosen.address {
            let of_profile = profile.base_url.or_else(|| token_file.address());
            let is_other = |other: String| other.trim_end_matches('/') != address.trim_end_matches('/');
            if of_profile.is_some_and(is_other) {
                given.base_url = Some(address.clone());
            }
        }
        let of_profile = profiles.get(&name).map(|profile| profile.connection.clone()).unwrap_or_default();
        let context = Context {
            base_url: None,
            address_from: None,
            credentials: Credentials::default(),
            tokens_from: None,
            withheld: None,
            connection: chosen_connection.clone().or(&of_profile),
            chosen_connection,
            profiles,
            server: chosen_server.or_else(|| servers.remove(&name)),
            kept: None,
            state: state_folder(),
            accepts_older_ledger: global.accept_older_ledger,
            home,
            profile: name,
            environment,
            rate,
            given,
            is_address_chosen,
            is_profile_chosen,
            locale: locale(),
            report_words: None,
        };
        Ok(Settings {
            token_file,
            context: context.with_access(chosen),
            accepts_recognized: profile.accept_recognized,
            keep: file.keep,
            keyring: profile.keyring,
            output: Output { json: global.json, quiet: global.quiet, progress: !global.no_progress && !global.quiet },
        })
    }
}

/// Returns the folder that remembers how far this machine has written its ledgers: outside of the home folder, which may be an older
/// copy. An empty SHEETPORT_STATE keeps nothing.
fn state_folder() -> Option<PathBuf> {
    if let Some(folder) = std::env::var_os("SHEETPORT_STATE") {
        return Some(PathBuf::from(folder)).filter(|folder| !folder.as_os_str().is_empty());
    }
    let folders = ProjectDirs::from("", "", "sheetport")?;
    // Where the system has no folder for the state of programs, that of their data may be the home folder.
    let beside = || folders.data_local_dir().with_file_name("sheetport-state");
    Some(folders.state_dir().map_or_else(beside, Path::to_owned))
}

/// Returns how to connect as far as flags or the environment say so.
fn chosen_connection(global: &Global, given: &Given) -> Result<ConnectOptions, Failure> {
    let usage = |message: &str, hint: &str| Failure::new(ErrorCode::Usage, message, hint);
    let proxy: Option<ProxyAddress> = global.proxy.as_deref().map(str::parse).transpose().map_err(|why: String| {
        usage(&why, "a user name and a password belong in SHEETPORT_PROXY or the settings file, not in a flag")
    })?;
    if given.proxy.is_some() && proxy.as_ref().is_some_and(ProxyAddress::has_credentials) {
        return Err(usage(
            "--proxy has a user name or a password, which other users of this machine can read in the list of processes",
            "set SHEETPORT_PROXY, or `proxy` of a profile in sheetport.toml",
        ));
    }
    let client_cert = client_cert(global.client_cert.clone(), global.client_key.clone()).ok_or_else(|| {
        usage(
            "there is a client key without a client certificate",
            "name it with --client-cert or SHEETPORT_CLIENT_CERT",
        )
    })?;
    Ok(ConnectOptions {
        ca_file: global.ca_file.clone(),
        client_cert,
        proxy,
        insecure_http: global.insecure_http,
        is_direct: false,
    })
}

/// Returns the server of the ledger, if a flag or the environment names a server.
fn chosen_server(global: &Global, given: &Given) -> Result<Option<ServerAddress>, Failure> {
    let Some(text) = global.ledger.as_deref().filter(|text| !text.trim().is_empty()) else { return Ok(None) };
    let hint =
        "name a database such as postgres://anna@db.example/ledger; without it, the ledger is a file in SHEETPORT_HOME";
    let server: ServerAddress = text.parse().map_err(|why: String| Failure::new(ErrorCode::Usage, why, hint))?;
    if given.ledger.is_some() && server.has_password() {
        return Err(Failure::new(
            ErrorCode::Usage,
            "--ledger has a password, which other users of this machine can read in the list of processes",
            "set PGPASSWORD or SHEETPORT_LEDGER, or enter the password in the file .pgpass",
        ));
    }
    Ok(Some(server))
}

/// Returns the tokens from the environment, with the service they belong to.
fn environment_tokens() -> EnvironmentTokens {
    let variable = |name| std::env::var(name).ok().filter(|value| !value.trim().is_empty());
    let host = variable("SHEETPORT_TOKEN_HOST").map(TokenHome::Host);
    let home = host.or_else(|| variable("SHEETPORT_BASE_URL").map(TokenHome::Address));
    let credentials =
        Credentials { access: token("SHEETPORT_ACCESS_TOKEN"), refresh: token("SHEETPORT_REFRESH_TOKEN"), file: None };
    EnvironmentTokens { credentials, home }
}

/// Returns the locale for numbers and lists, by the rules of POSIX.
fn locale() -> Option<String> {
    let variables = ["LC_ALL", "LC_NUMERIC", "LANG"].into_iter();
    variables.filter_map(|name| std::env::var(name).ok()).find(|value| !value.is_empty())
}

/// Checks that only this user can read the settings file, because the file contains a password. `what` names the password.
fn check_private(path: &Path, what: &str) -> Result<(), Failure> {
    let exposed = std::fs::File::open(path).and_then(|file| auth::check_private(&file, path));
    match exposed.map_err(|error| wrong(path, &error.to_string()))? {
        None => Ok(()),
        Some(exposed) => {
            let message = format!("the settings file has {what}: {exposed}");
            Err(Failure::new(ErrorCode::Usage, message, exposed.hint()))
        }
    }
}

fn token(name: &str) -> Option<SecretString> {
    let token = std::env::var(name).ok()?;
    let token = token.trim();
    (!token.is_empty()).then(|| SecretString::from(token.to_owned()))
}

fn read(path: &Path) -> Result<File, Failure> {
    let text = match read_text(path) {
        Ok(text) => text,
        Err(error) if matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory) => {
            return Ok(File::default());
        }
        Err(error) => return Err(wrong(path, &error.to_string())),
    };
    let name = path.display().to_string();
    let file = TomlFile { what: "settings file", name: &name, source: &text };
    let (settings, notes) = Notes::read(file);
    Ok(notes.finish(settings)?)
}

fn wrong(path: &Path, why: &str) -> Failure {
    Failure::new(ErrorCode::Usage, format!("{} is invalid: {why}", path.display()), KEYS)
}

/// Checks that the name of a profile is safe as a file name.
fn check_name(name: &str) -> Result<(), Failure> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    if !name.is_empty() && name.len() <= 64 && name.chars().all(is_plain) {
        return Ok(());
    }
    Err(Failure::new(
        ErrorCode::Usage,
        format!("'{name}' is not a valid profile name"),
        "use up to 64 letters, digits, - and _",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_mistakes_of_the_settings_are_found_at_their_places() {
        let source = "\
proflie = \"test\"
keep = \"long\"
[profiles.test]
rate = \"fast\"
insecure_http = \"yes\"
ledger = \"mysql://nowhere\"
";
        let (settings, notes) = Notes::read::<File>(TomlFile { what: "settings file", name: "s.toml", source });
        let mistakes = notes.finish(settings).expect_err("settings with mistakes");
        let found: Vec<_> = mistakes.iter().filter_map(|mistake| mistake.position()).collect();
        assert_eq!(found, [(1, 1), (2, 8), (4, 8), (5, 17), (6, 10)], "{mistakes}");
    }
}
