//! Errors of opening and running the service and of issuing tokens. Errors of single requests are
//! `response::ErrorResponse`.

use std::io;
use std::path::PathBuf;

use sqlx::migrate::MigrateError;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("{} is in use by another running service", path.display())]
    InUse { path: PathBuf },

    #[error("failed to {action} {}: {source}", path.display())]
    File { action: &'static str, path: PathBuf, source: io::Error },

    /// The database server is unusable.
    #[error("the database {storage} can't be used: {reason}")]
    Server { storage: String, reason: String, remedy: String },

    #[error("the signing key in {storage} is damaged: it is not {expected} bytes long")]
    SigningKey { storage: String, expected: usize },

    #[error("the signing key {} is not used, because other users of this machine can read or change it (its mode is {mode:03o})", path.display())]
    ExposedKey { path: PathBuf, mode: u32 },

    #[error("the system provided no random bytes for {storage}: {reason}")]
    Random { storage: String, reason: String },

    #[error("{name:?} is not a valid workspace name")]
    WorkspaceName { name: String },

    #[error("failed to sign a token: {0}")]
    Sign(#[from] jsonwebtoken::errors::Error),

    #[error("failed to {action} the database {}: {source}", path.display())]
    Database { action: &'static str, path: PathBuf, source: sqlx::Error },

    #[error("the address of the service is not known: {0}")]
    Listen(io::Error),

    #[error("there is no data of a service in {}", path.display())]
    NoData { path: PathBuf },

    #[error("the data in {storage} was written by another version of Sheetport")]
    OtherVersion { storage: String },

    #[error("failed to read records: {0}")]
    NotRead(sqlx::Error),

    #[error("failed to store records; see the log for the cause")]
    NotStored,

    #[error("failed to migrate the database {}: {source}", path.display())]
    Migrate { path: PathBuf, source: MigrateError },
}

impl Error {
    /// Returns advice for fixing the error.
    pub fn hint(&self) -> String {
        match self {
            Error::InUse { .. } => "stop the other service, or choose another data folder".to_owned(),
            Error::File { path, .. } => {
                format!("check the permissions of {} and the free disk space", path.display())
            }
            Error::Server { remedy, .. } => remedy.clone(),
            Error::SigningKey { storage, .. } => format!(
                "restore {storage} from a backup; or delete the key and issue new tokens (all earlier tokens become invalid)"
            ),
            Error::ExposedKey { path, .. } => {
                let path = path.display().to_string().replace('\'', r"'\''");
                format!(
                    "run: chmod 600 '{path}'; if somebody may have read it, delete it instead and issue new tokens (all \
                     earlier tokens become invalid)"
                )
            }
            Error::Random { .. } => "try again; if this persists, the system's random source is not working".to_owned(),
            Error::WorkspaceName { .. } => "use 1 to 64 letters, digits, dots, underscores and hyphens".to_owned(),
            Error::NoData { .. } => "name the folder of the service with --data".to_owned(),
            Error::OtherVersion { .. } => {
                "if it is an earlier version, start the service on it once with this one; otherwise use that version"
                    .to_owned()
            }
            Error::NotRead(_) => "check the disk; if the database is damaged, restore it from a backup".to_owned(),
            Error::NotStored => {
                "check the free disk space, then load the same files again: this creates no duplicates".to_owned()
            }
            Error::Listen(_) => "choose another address with --listen".to_owned(),
            Error::Sign(_) => "try again; if this persists, please report it".to_owned(),
            Error::Migrate { source: MigrateError::VersionMissing(_) | MigrateError::VersionMismatch(_), .. } => {
                "another version of Sheetport wrote it: use that version, or another data folder".to_owned()
            }
            Error::Database { path, .. } | Error::Migrate { path, .. } => format!(
                "check the free disk space, and that {} is a Sheetport database; if it is damaged, restore it from a \
                 backup",
                path.display()
            ),
        }
    }
}
