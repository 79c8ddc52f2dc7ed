//! The service, the credentials and the folder of operations.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use futures_util::future::BoxFuture;

use sheetport_client::auth::{
    AddressOrigin, Choice, Chosen, Credentials, EnvironmentTokens, NamedAddress, TokenFile, TokenOrigin, Withheld,
};
use sheetport_client::{self as client, Client, ClientCert, ConnectOptions, KeyMemory, Speed};
use sheetport_files::absolute_path::absolute;
use sheetport_ledger::{self as ledger, Ledger, Run, RunConnection, ServerAddress};
use sheetport_mapping::load::SheetKeys;
use sheetport_report::CsvForm;
use sheetport_sheet::ReportWords;

use super::command_line::{Given, with_login};
use super::error::Error;
use crate::operation::Operation;

/// Settings from a profile for its service.
#[derive(Clone, Debug, Default)]
pub struct ProfileOptions {
    /// Root address of the service, if set.
    pub base_url: Option<String>,
    pub connection: ConnectOptions,
    /// The time for which the service remembers idempotency keys, if supported.
    pub keys: Option<KeyMemory>,
    pub defaults: Defaults,
}

/// What holds for the sheets of a company, where a template and the sheet say nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Defaults {
    /// Name of the locale.
    pub locale: Option<String>,
    /// IANA name of the time zone.
    pub time_zone: Option<String>,
    /// ISO 4217 code of the currency.
    pub currency: Option<String>,
}

impl Defaults {
    /// Returns the defaults as keys of `[sheet]` of a template.
    pub fn keys(&self) -> SheetKeys<'_> {
        let Defaults { locale, time_zone, currency } = self;
        SheetKeys { locale: locale.as_deref(), time_zone: time_zone.as_deref(), currency: currency.as_deref() }
    }
}

#[derive(Clone, Debug)]
pub struct Context {
    /// Folder of the ledger and all other lasting data.
    pub home: PathBuf,
    /// Folder outside of `home` that remembers how far this machine has written its ledgers. `None` if that is not kept.
    pub state: Option<PathBuf>,
    /// Whether an older copy of a ledger is taken for the ledger from now on.
    pub accepts_older_ledger: bool,
    /// The server of the ledger. `None` for a ledger file in `home`.
    pub server: Option<ServerAddress>,
    /// The ledger file that this process keeps open, so that each operation need not open the file again.
    pub kept: Option<Ledger>,
    /// Name of the profile.
    pub profile: String,
    /// Root address of the service, if set.
    pub base_url: Option<String>,
    /// Where the address comes from.
    pub address_from: Option<AddressOrigin>,
    pub credentials: Credentials,
    /// Where the credentials come from.
    pub tokens_from: Option<TokenOrigin>,
    /// Why existing credentials are not used.
    pub withheld: Option<Withheld>,
    pub environment: EnvironmentTokens,
    /// How to connect to the service.
    pub connection: ConnectOptions,
    /// How to connect as far as flags or the environment say so.
    pub chosen_connection: ConnectOptions,
    /// The profiles of the settings file.
    pub profiles: BTreeMap<String, ProfileOptions>,
    /// The request rate of the profile.
    pub rate: Option<Speed>,
    pub given: Given,
    /// Whether a flag or the environment has chosen the address.
    pub is_address_chosen: bool,
    /// Whether a flag or the environment has chosen the profile.
    pub is_profile_chosen: bool,
    /// The locale of the user from the environment, such as `de_DE.UTF-8`.
    pub locale: Option<String>,
    /// The titles and states of reports. `None` means the language of the sheet.
    pub report_words: Option<&'static ReportWords>,
}

impl Context {
    /// Returns the defaults of the profile for templates.
    pub fn defaults(&self) -> SheetKeys<'_> {
        self.profiles.get(&self.profile).map(|profile| profile.defaults.keys()).unwrap_or_default()
    }

    /// Returns the context with these defaults before those of the profile.
    pub fn with_defaults(&self, chosen: SheetKeys<'_>) -> Context {
        let mut context = self.clone();
        let SheetKeys { locale, time_zone, currency } = chosen;
        let defaults = &mut context.profiles.entry(self.profile.clone()).or_default().defaults;
        let set = |default: &mut Option<String>, chosen: Option<&str>| {
            if let Some(chosen) = chosen {
                *default = Some(chosen.to_owned());
            }
        };
        set(&mut defaults.locale, locale);
        set(&mut defaults.time_zone, time_zone);
        set(&mut defaults.currency, currency);
        context
    }

    /// Returns the defaults of the profile, for what outlives this context.
    pub(crate) fn profile_defaults(&self) -> Defaults {
        self.profiles.get(&self.profile).map(|profile| profile.defaults.clone()).unwrap_or_default()
    }

    /// Returns how a CSV for the user is written.
    pub(super) fn csv_form(&self) -> CsvForm {
        self.locale.as_deref().map(CsvForm::of_locale).unwrap_or_default()
    }

    /// Returns the context for an operation on an existing run: with the profile, the address and the connection of the run,
    /// unless others were chosen for this command.
    pub fn for_run(&self, run: &Run) -> Result<Context, Error> {
        let profile = self.profile_of(run);
        let address = match self.is_address_chosen || self.is_profile_chosen {
            true => self.named_address(),
            false => Some(NamedAddress { address: run.about.base_url.clone(), from: AddressOrigin::Run }),
        };
        let chosen_connection = self.chosen_connection.clone().or(&from_run(&run.about.settings.connection)?);
        let of_profile = self.profiles.get(profile).map(|profile| profile.connection.clone()).unwrap_or_default();
        let rate = self.rate.filter(|_| profile == self.profile);
        let context = Context {
            profile: profile.to_owned(),
            connection: chosen_connection.clone().or(&of_profile),
            chosen_connection,
            rate,
            ..self.clone()
        };
        Ok(context.with_access(self.access(profile, address)))
    }

    /// Chooses between the tokens of the environment and those of a profile for an address.
    fn access(&self, profile: &str, address: Option<NamedAddress>) -> Chosen {
        let choice = Choice {
            environment: &self.environment,
            address,
            fallback: None,
            file: &TokenFile::of(&self.home, profile),
            prefers_stored: self.is_profile_chosen,
            home: &self.home,
            uses_tokens: true,
        };
        choice.make()
    }

    /// Returns the profile of an operation on an existing run.
    fn profile_of<'a>(&'a self, run: &'a Run) -> &'a str {
        let remembered = &run.about.settings.profile;
        let keeps_profile = self.is_profile_chosen || remembered.is_empty();
        if keeps_profile { &self.profile } else { remembered }
    }

    fn named_address(&self) -> Option<NamedAddress> {
        let (address, from) = self.base_url.clone().zip(self.address_from)?;
        Some(NamedAddress { address, from })
    }

    /// Replaces the address and the credentials.
    pub fn with_access(self, chosen: Chosen) -> Context {
        let Chosen { address, credentials, tokens, withheld } = chosen;
        Context {
            address_from: address.as_ref().map(|address| address.from),
            base_url: address.map(|address| address.address),
            credentials,
            tokens_from: tokens,
            withheld,
            ..self
        }
    }

    /// Returns the context with the address and the tokens that are stored now, unless others were chosen for this command.
    pub fn with_stored_access(&self) -> Context {
        let address = self.named_address().filter(|address| address.from != AddressOrigin::Login);
        self.clone().with_access(self.access(&self.profile, address))
    }

    /// Returns the context with tokens that the service has accepted and `file` has stored.
    pub fn signed_in(&self, base_url: String, credentials: Credentials, file: &TokenFile) -> Context {
        self.clone().with_access(Chosen {
            address: Some(NamedAddress { address: base_url, from: AddressOrigin::Login }),
            credentials: Credentials { file: Some(file.clone()), ..credentials },
            tokens: Some(TokenOrigin::of_login(file)),
            withheld: None,
        })
    }

    /// Returns the connection options to store with a run.
    pub(super) fn run_connection(&self) -> RunConnection {
        let ConnectOptions { ca_file, client_cert, proxy, insecure_http, is_direct: _ } = &self.chosen_connection;
        RunConnection {
            ca_file: ca_file.as_ref().map(absolute),
            client_cert: client_cert.as_ref().map(|client| absolute(&client.cert)),
            client_key: client_cert.as_ref().and_then(|client| client.key.as_ref()).map(absolute),
            proxy: proxy.as_ref().map(ToString::to_string),
            insecure_http: *insecure_http,
        }
    }

    /// Opens the ledger, unless it is kept open.
    pub fn ledger(&self) -> Operation<'_, Ledger> {
        Box::pin(async move {
            match &self.kept {
                Some(kept) => Ok(kept.borrowed()),
                None => self.open_ledger().await,
            }
        })
    }

    /// Opens the ledger for showing runs. Of a damaged ledger, what can still be read is shown, and nothing can be changed.
    pub(crate) async fn readable_ledger(&self) -> Result<Ledger, Error> {
        match self.ledger().await {
            Err(Error::Ledger(error)) if error.is_damage() && self.server.is_none() => {
                Ok(Ledger::open_damaged(&self.home).await.map_err(|_| error)?)
            }
            ledger => ledger,
        }
    }

    async fn open_ledger(&self) -> Result<Ledger, Error> {
        let ledger = match &self.server {
            Some(address) => Ledger::connect(address, &self.home).await?,
            None => Ledger::open(&self.home).await?,
        };
        Ok(match &self.state {
            Some(state) => ledger.marked_in(state),
            None => ledger,
        })
    }

    /// Opens a ledger file for many operations one after another. Each operation has connections of its own to a ledger on a server,
    /// because its transactions check all leases of its ledger.
    pub fn keeping_ledger(&self) -> Operation<'_, Context> {
        Box::pin(async move {
            let kept = match self.server {
                Some(_) => None,
                None => Some(self.open_ledger().await?),
            };
            Ok(Context { kept, ..self.clone() })
        })
    }

    /// Closes the ledger of [`Context::keeping_ledger`].
    pub fn close_ledger(self) -> BoxFuture<'static, ()> {
        Box::pin(async move {
            if let Some(kept) = self.kept {
                kept.close().await;
            }
        })
    }

    /// Returns whether a ledger exists. A ledger on a server counts as existing: opening creates it.
    pub fn has_ledger(&self) -> bool {
        self.server.is_some() || self.home.join("ledger.db").is_file()
    }

    /// Opens the ledger, if it exists.
    pub fn existing_ledger(&self) -> Operation<'_, Option<Ledger>> {
        Box::pin(async move {
            match self.has_ledger() {
                true => self.ledger().await.map(Some),
                false => Ok(None),
            }
        })
    }

    /// Returns the address of the service.
    pub fn base_url(&self) -> Result<&str, Error> {
        match (&self.base_url, &self.withheld) {
            (Some(base_url), _) => Ok(base_url),
            (None, Some(withheld)) => Err(self.in_profile(client::Error::from(withheld.clone()).into())),
            (None, None) => Err(self.in_profile(Error::NoBaseUrl)),
        }
    }

    /// Creates a client for the service at `base_url`.
    pub fn client(&self, base_url: &str, connections: u16) -> Result<Client, Error> {
        client::normal_address(base_url)?;
        if let Some(withheld) = &self.withheld {
            return Err(self.in_profile(client::Error::from(withheld.clone()).into()));
        }
        let client = Client::new(base_url, self.credentials.clone(), &self.connection, usize::from(connections));
        client.map_err(|error| self.in_profile(error.into()))
    }

    /// Adapts the login command in the hint of an error to this profile.
    fn in_profile(&self, error: Error) -> Error {
        let Some(hint) = error.hint() else { return error };
        let named = with_login(&hint, &self.given, &self.profile);
        if named == hint { error } else { error.with_other_hint(named) }
    }

    /// Creates a client for writing. Fails if the claims of the token say read-only.
    pub fn writing_client(&self, base_url: &str, connections: u16) -> Result<Arc<Client>, Error> {
        let client = self.client(base_url, connections)?;
        if self.credentials.is_read_only() {
            return Err(self.in_profile(Error::ReadOnlyToken));
        }
        Ok(Arc::new(client))
    }

    /// Returns the request rate for the service at `base_url`: as asked for, of the profile, or else found by measuring.
    /// A service on this machine has no limit that is worth finding.
    pub fn speed(&self, asked: Option<Speed>, base_url: &str) -> Option<Speed> {
        asked.or(self.rate).or_else(|| (!client::is_local(base_url)).then_some(Speed::Auto(None)))
    }

    /// Like [`Context::speed`], but an automatic rate starts with the rate measured before.
    pub async fn measured_speed(&self, asked: Option<Speed>, base_url: &str) -> Result<Option<Speed>, Error> {
        let speed = self.speed(asked, base_url);
        let Some(Speed::Auto(_)) = speed else { return Ok(speed) };
        let Some(ledger) = self.existing_ledger().await? else { return Ok(speed) };
        let known = ledger.learned_rate(base_url, &self.workspace()).await?;
        ledger.close().await;
        Ok(Some(Speed::Auto(known)))
    }

    /// Returns the time for which the service of a run remembers idempotency keys, according to the profile. Returns `None` if
    /// the profile has another address.
    pub(super) fn idempotency_keys(&self, run: &Run) -> Option<KeyMemory> {
        let name = self.profile_of(run);
        let profile = self.profiles.get(name)?;
        let keys = profile.keys?;
        let address = profile.base_url.clone().or_else(|| TokenFile::of(&self.home, name).address());
        let is_other = |address: String| client::normal_address(&address).ok().as_ref() != Some(&run.about.base_url);
        (!address.is_some_and(is_other)).then_some(keys)
    }

    /// Returns the workspace in the token's claims, or an empty string for an opaque or damaged token.
    pub fn workspace(&self) -> String {
        self.credentials.workspace().unwrap_or_default()
    }

    /// Returns why a run of the workspace `planned` can't be sent with the token, and what to do. Returns `None` if the token is for
    /// that workspace.
    pub(super) fn other_workspace(&self, planned: &str) -> Option<(String, &'static str)> {
        let workspace = self.workspace();
        if planned == workspace {
            return None;
        }
        Some(match (planned, workspace.as_str()) {
            (_, "") => (
                format!(
                    "it was planned for the workspace '{planned}', but the token does not say for which workspace it is"
                ),
                "check that the token is complete, and use a token of that workspace",
            ),
            ("", _) => (
                format!(
                    "it was planned with a token that does not say for which workspace it is, but the token here is for '{workspace}'"
                ),
                "`sheetport resume` binds a run of which nothing was sent to the workspace of its token",
            ),
            _ => (
                format!("it was planned for the workspace '{planned}', but the token is for '{workspace}'"),
                "use a token of that workspace",
            ),
        })
    }
}

/// Returns how a run remembers to connect.
fn from_run(run: &RunConnection) -> Result<ConnectOptions, Error> {
    let RunConnection { ca_file, client_cert, client_key, proxy, insecure_http } = run.clone();
    let proxy = proxy.map(|proxy| proxy.parse().map_err(ledger::Error::Corrupt)).transpose()?;
    let client_cert = client_cert.map(|cert| ClientCert { cert, key: client_key });
    Ok(ConnectOptions { ca_file, client_cert, proxy, insecure_http, is_direct: false })
}

/// Returns the current time in milliseconds since 1970, UTC, as recorded in the ledger.
pub fn now() -> i64 {
    jiff::Timestamp::now().as_millisecond()
}
