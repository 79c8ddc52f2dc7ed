//! Why the service could not be opened, could not go on, or could not issue tokens. What a request does wrong is not
//! here: that is `answer::Refusal`.

use std::io;
use std::path::PathBuf;

use sqlx::migrate::MigrateError;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("{} is in use by another running service", path.display())]
    InUse { path: PathBuf },

    #[error("could not {what} {}: {source}", path.display())]
    File { what: &'static str, path: PathBuf, source: io::Error },

    #[error("the signing key {} is damaged: it has to be {expected} bytes long", path.display())]
    SigningKey { path: PathBuf, expected: usize },

    #[error("the system gave no random bytes for {}: {reason}", path.display())]
    Random { path: PathBuf, reason: String },

    #[error("{name:?} is not a workspace name")]
    WorkspaceName { name: String },

    #[error("could not sign a token: {0}")]
    Sign(#[from] jsonwebtoken::errors::Error),

    #[error("could not {what} the database {}: {source}", path.display())]
    Database { what: &'static str, path: PathBuf, source: sqlx::Error },

    #[error("the records could not be read: {0}")]
    NotRead(sqlx::Error),

    #[error("the records could not be stored; the log says why")]
    NotStored,

    #[error("could not bring the database {} up to date: {source}", path.display())]
    Migrate { path: PathBuf, source: MigrateError },
}

impl Error {
    /// What a person can do about it.
    pub fn hint(&self) -> String {
        match self {
            Error::InUse { .. } => "stop the other service, or give this one a data folder of its own".to_owned(),
            Error::File { path, .. } => {
                format!("check that {} may be read and written by you, and that the disk has room", path.display())
            }
            Error::SigningKey { path, .. } => format!(
                "put {} back from a backup; or delete it, and issue new tokens, because all earlier ones stop working",
                path.display()
            ),
            Error::Random { .. } => "try again; if it stays, the system's random source is not working".to_owned(),
            Error::WorkspaceName { .. } => "use 1 to 64 letters, digits, dots, underscores and hyphens".to_owned(),
            Error::NotRead(_) => {
                "check that the disk works; if the database is damaged, put it back from a backup".to_owned()
            }
            Error::NotStored => "check that the disk has room, then load the same again: nothing is doubled".to_owned(),
            Error::Sign(_) => "try again; if it stays, please report it".to_owned(),
            Error::Migrate { source: MigrateError::VersionMissing(_) | MigrateError::VersionMismatch(_), .. } => {
                "it was last used by another version of Sheetport: use that version, or another data folder".to_owned()
            }
            Error::Database { path, .. } | Error::Migrate { path, .. } => format!(
                "check that the disk has room and that {} is a Sheetport database; if it is damaged, put it back from \
                 a backup",
                path.display()
            ),
        }
    }
}
