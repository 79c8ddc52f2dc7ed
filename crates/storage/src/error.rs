//! Why an object can't be read or written.

use super::ObjectAddress;
use super::address_error::AddressError;
use super::scheme::Scheme;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Address(#[from] AddressError),
    /// A setting of the environment can't be used.
    #[error("the object storage of {address} can't be used: {reason}")]
    Settings { address: ObjectAddress, reason: String },
    #[error("{address} does not exist")]
    NotFound { address: ObjectAddress },
    /// The existing object must not be replaced.
    #[error("{address} already exists")]
    Exists { address: ObjectAddress },
    #[error("{address} changed while it was read")]
    Changed { address: ObjectAddress },
    #[error("{address} can't be {action}: access denied: {reason}")]
    Denied { address: ObjectAddress, action: &'static str, reason: String },
    #[error("{address} can't be {action}: {reason}")]
    Failed { address: ObjectAddress, action: &'static str, reason: String },
    /// The local copy of an object.
    #[error("a copy of {address} can't be {action} on this machine: {source}")]
    Local { address: ObjectAddress, action: &'static str, source: std::io::Error },
}

impl Error {
    /// Returns advice for fixing the error.
    pub fn hint(&self) -> String {
        match self {
            Error::Address(AddressError::NotIncluded { .. }) => {
                "published executables include it; to build one: cargo install --locked --path . --features keyring --features parquet \
                 --features storage"
                    .to_owned()
            }
            Error::Address(AddressError::Malformed { .. }) => {
                "write it as s3://bucket/folder/file.xlsx, gs://… or az://container/…".to_owned()
            }
            Error::Settings { address, .. } => settings(address.scheme()).to_owned(),
            Error::NotFound { address } => format!(
                "check the bucket and the key, in which upper and lower case differ; {}",
                settings(address.scheme())
            ),
            Error::Exists { .. } => "give another name, or move that one away".to_owned(),
            Error::Changed { .. } => "nothing was sent; repeat the command when it is complete".to_owned(),
            Error::Denied { address, .. } => {
                format!("check the credentials and what they may do in this bucket; {}", settings(address.scheme()))
            }
            Error::Failed { address, .. } => {
                format!("check the connection, then repeat the command; {}", settings(address.scheme()))
            }
            Error::Local { .. } => "free some disk space, or set TMPDIR to another folder".to_owned(),
        }
    }
}

/// Says where the settings of a service come from.
fn settings(scheme: Scheme) -> &'static str {
    match scheme {
        Scheme::S3 => {
            "credentials, region and endpoint come from AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION, AWS_ENDPOINT_URL, or \
             ~/.aws"
        }
        Scheme::Google => "credentials come from GOOGLE_APPLICATION_CREDENTIALS, or the login of gcloud",
        Scheme::Azure => "the account and its key come from AZURE_STORAGE_ACCOUNT_NAME and AZURE_STORAGE_ACCOUNT_KEY",
    }
}
