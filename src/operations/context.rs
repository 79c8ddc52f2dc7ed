//! The service, the credentials and the folder of operations.

use std::path::PathBuf;
use std::sync::Arc;

use super::error::Error;
use crate::client::auth::Credentials;
use crate::client::{Client, Speed};
use crate::ledger::Ledger;

#[derive(Clone, Debug)]
pub struct Context {
    /// Folder of the ledger and all other lasting data.
    pub home: PathBuf,
    /// Root address of the service, if set.
    pub base_url: Option<String>,
    pub credentials: Credentials,
    /// Default request rate of operations.
    pub rate: Option<Speed>,
}

impl Context {
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

    /// Returns the workspace in the token's claims, or an empty string.
    pub fn workspace(&self) -> String {
        self.credentials.workspace().unwrap_or_default()
    }
}

/// Returns the current time in milliseconds since 1970, UTC, as recorded in the ledger.
pub(super) fn now() -> i64 {
    jiff::Timestamp::now().as_millisecond()
}
