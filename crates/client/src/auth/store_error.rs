//! Why tokens can't be stored or removed.

use std::io;

use super::keyring::{self, KEYRING_HINT};

/// A failure to store or to remove tokens.
#[derive(Clone, Debug, thiserror::Error)]
pub enum StoreError {
    /// The tokens are or should be in a keyring, and this executable is built without the feature `keyring`.
    #[error("this executable is built without the keyring of the system")]
    NoKeyring,
    #[error("{place} can't be used: {why}")]
    Keyring { place: String, why: String },
    #[error("{place} can't be used: {why}")]
    File { place: String, why: String },
}

impl StoreError {
    /// Returns the error for a place: a file, or where the tokens come from.
    pub fn new(place: String, error: &io::Error) -> StoreError {
        let why = error.to_string();
        match keyring::is_at_fault(error) {
            true if !keyring::IS_INCLUDED => StoreError::NoKeyring,
            true => StoreError::Keyring { place, why },
            false => StoreError::File { place, why },
        }
    }

    pub(crate) fn hint(&self) -> &'static str {
        match self {
            StoreError::NoKeyring | StoreError::Keyring { .. } => KEYRING_HINT,
            StoreError::File { .. } => "check that you own the folder in SHEETPORT_HOME and can write to it",
        }
    }
}
