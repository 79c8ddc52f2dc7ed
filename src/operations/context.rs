//! The service, the credentials and the folder of operations.

use std::path::PathBuf;
use std::sync::Arc;

use super::error::Error;
use crate::client::auth::{Credentials, TokenFile};
use crate::client::{self, Client, Speed};
use crate::ledger::{Ledger, Run};

/// What the flags of this command have chosen, and a later command has to be told again.
#[derive(Clone, Debug, Default)]
pub struct Given {
    pub base_url: Option<String>,
    pub profile: Option<String>,
    pub home: Option<PathBuf>,
}

#[derive(Clone, Debug)]
pub struct Context {
    /// Folder of the ledger and all other lasting data.
    pub home: PathBuf,
    /// Name of the profile.
    pub profile: String,
    /// Root address of the service, if set.
    pub base_url: Option<String>,
    pub credentials: Credentials,
    /// The tokens as given by the environment, which take precedence over those of a profile.
    pub environment: Credentials,
    /// The request rate of the profile.
    pub rate: Option<Speed>,
    pub given: Given,
    /// Whether a flag or the environment has chosen the address.
    pub is_address_chosen: bool,
    /// Whether a flag or the environment has chosen the profile.
    pub is_profile_chosen: bool,
}

impl Context {
    /// Returns the context for an operation on an existing run: with the profile and the address of the run, unless
    /// others were chosen for this command.
    pub(super) fn for_run(&self, run: &Run) -> Context {
        let remembered = &run.about.settings.profile;
        let keeps_profile = self.is_profile_chosen || remembered.is_empty();
        let profile = if keeps_profile { &self.profile } else { remembered };
        let base_url = match self.is_address_chosen || self.is_profile_chosen {
            true => self.base_url.clone(),
            false => Some(run.about.base_url.clone()),
        };
        let file = TokenFile::of(&self.home, profile);
        let (base_url, credentials) = self.environment.clone().in_use(base_url, &file, &self.home);
        let rate = self.rate.filter(|_| *profile == self.profile);
        Context { profile: profile.clone(), base_url, credentials, rate, ..self.clone() }
    }

    /// Opens the ledger.
    pub async fn ledger(&self) -> Result<Ledger, Error> {
        Ok(Ledger::open(&self.home).await?)
    }

    /// Opens the ledger if there is one.
    pub async fn existing_ledger(&self) -> Result<Option<Ledger>, Error> {
        match self.home.join("ledger.db").is_file() {
            true => self.ledger().await.map(Some),
            false => Ok(None),
        }
    }

    pub fn base_url(&self) -> Result<&str, Error> {
        self.base_url.as_deref().ok_or(Error::NoBaseUrl)
    }

    /// Creates a client for the service at `base_url`.
    pub fn client(&self, base_url: &str, connections: u16) -> Result<Client, Error> {
        Ok(Client::new(base_url, self.credentials.clone(), usize::from(connections))?)
    }

    /// Creates a client for writing. Fails if the claims of the token say read-only.
    pub fn writing_client(&self, base_url: &str, connections: u16) -> Result<Arc<Client>, Error> {
        let client = self.client(base_url, connections)?;
        if self.credentials.is_read_only() {
            return Err(Error::ReadOnlyToken);
        }
        Ok(Arc::new(client))
    }

    /// Returns the request rate for the service at `base_url`: as asked for, of the profile, or else found by measuring.
    /// A service on this machine has no limit that is worth finding.
    pub fn speed(&self, asked: Option<Speed>, base_url: &str) -> Option<Speed> {
        asked.or(self.rate).or_else(|| (!client::is_local(base_url)).then_some(Speed::Auto(None)))
    }

    /// As [`Context::speed`], beginning with the rate that was measured before.
    pub(super) async fn measured_speed(&self, asked: Option<Speed>, base_url: &str) -> Result<Option<Speed>, Error> {
        let speed = self.speed(asked, base_url);
        let Some(Speed::Auto(_)) = speed else { return Ok(speed) };
        let Some(ledger) = self.existing_ledger().await? else { return Ok(speed) };
        let known = ledger.learned_rate(base_url, &self.workspace()).await?;
        ledger.close().await;
        Ok(Some(Speed::Auto(known)))
    }

    /// Returns the workspace in the token's claims, or an empty string.
    pub fn workspace(&self) -> String {
        self.credentials.workspace().unwrap_or_default()
    }
}

/// Returns the current time in milliseconds since 1970, UTC, as recorded in the ledger.
pub(super) fn now() -> i64 {
    jiff::Timestamp::now().as_millisecond()
}
