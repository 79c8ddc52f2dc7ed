//! Errors that end a command.

use std::path::{Path, PathBuf};

use super::auth::{Exposed, StoreError, Withheld};
use super::next_step::Failure;
use super::outcome::{Response, service_message};
use super::stop::Stop;

/// A failure to set up the client, or a permanently failed request. `Display` never shows a token.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Error {
    #[error("'{0}' is not a base address")]
    BaseUrl(String),
    #[error("'{0}' is not a language tag")]
    Language(String),
    #[error("the HTTP client can't be set up: {0}")]
    Client(String),
    #[error("there are no credentials for {0}")]
    NoCredentials(String),
    #[error(
        "the access token is for the workspace '{access}', and the refresh token for '{refresh}', so nothing was sent"
    )]
    TwoWorkspaces { access: String, refresh: String },
    /// Tokens exist, but must not be used.
    #[error(transparent)]
    Withheld(#[from] Withheld),
    /// A token would be sent unencrypted to another machine: the service or a proxy.
    #[error("a token would travel unencrypted to {0}, so nothing was sent")]
    Unencrypted(String),
    #[error(transparent)]
    Exposed(#[from] Exposed),
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A file with connection settings is unusable.
    #[error("the {what} {} can't be used: {why}", path.display())]
    File { what: &'static str, path: PathBuf, why: String, hint: String },
    #[error(transparent)]
    Stopped(#[from] Stop),
    #[error("the service answered {status} for {path}: {message}")]
    Status {
        status: u16,
        message: String,
        /// Path of the request without query.
        path: String,
    },
    /// An answer is longer than this number of bytes.
    #[error("the answer of the service is longer than {} MiB", .0 >> 20)]
    TooLong(usize),
    #[error("the service's answer can't be read: {0}")]
    Unreadable(String),
}

impl Error {
    /// Returns a hint for the user.
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Error::BaseUrl(_) => "give the service's root address, such as https://host.example, in --base-url or SHEETPORT_BASE_URL".to_owned(),
            Error::Language(_) => "write it as de or en-GB".to_owned(),
            Error::Client(_) => "check that the system's CA certificates are installed (package ca-certificates), or name a file with --ca-file".to_owned(),
            Error::Withheld(why) => why.hint(),
            Error::Unencrypted(_) => {
                "use the https:// address of the service, and no proxy for a service on this machine; if every network on the way is trusted, add --insecure-http or set SHEETPORT_INSECURE_HTTP=1".to_owned()
            }
            Error::TwoWorkspaces { .. } => "give two tokens that were issued together".to_owned(),
            Error::Exposed(exposed) => exposed.hint(),
            Error::File { hint, .. } => hint.clone(),
            Error::Store(error) => error.hint().to_owned(),
            Error::NoCredentials(_) => {
                "run `sheetport login`, or set SHEETPORT_BASE_URL and SHEETPORT_ACCESS_TOKEN, SHEETPORT_REFRESH_TOKEN or both; `sheetport serve token` makes a pair for the embedded service".to_owned()
            }
            Error::Stopped(stop) => stop.hint().to_owned(),
            Error::TooLong(_) => {
                "the service sends more than it was asked for; contact its support, or check the base URL".to_owned()
            }
            Error::Status { status, .. } => hint_on(*status).to_owned(),
            Error::Unreadable(_) => "try again later; if the error persists, contact the service's support".to_owned(),
        })
    }

    /// Returns the error for an unusable file. `what` is the purpose of the file.
    pub(super) fn unusable(what: &'static str, path: &Path, why: &str, hint: &str) -> Error {
        Error::File { what, path: path.to_owned(), why: why.to_owned(), hint: hint.to_owned() }
    }

    /// Returns the error for the refusal of a request for `path`.
    pub(super) fn refused(response: &Response, path: &str) -> Error {
        Error::status(response.status, service_message::summary(&response.body), path)
    }

    /// Returns the error for the last failure of a request for `path`, after all attempts.
    pub(super) fn failed(failure: Failure, path: &str) -> Error {
        match failure {
            Failure::NotSent(reason) | Failure::NoAnswer(reason) => Error::Stopped(Stop::Unreachable(reason)),
            Failure::Unreadable { reason, .. } => Error::Unreadable(reason),
            Failure::Status { status, message, .. } => Error::status(status, message, path),
        }
    }

    fn status(status: u16, message: Option<String>, path: &str) -> Error {
        let path = path.split('?').next().unwrap_or_default().to_owned();
        Error::Status { status, message: message.unwrap_or_else(|| "no reason given".to_owned()), path }
    }
}

/// Returns the remedy for a read with this status.
fn hint_on(status: u16) -> &'static str {
    match status {
        403 => {
            "the token may not read this, or something in between, such as a firewall, does not let it pass: use the tokens of a user who may read these records (Regular is enough), and see with `sheetport doctor` which workspace they are for"
        }
        404 | 410 => {
            "nothing is there: check the base address, which must be the service's own root address, such as https://host.example, without /v1"
        }
        400..=499 => {
            "the service does not accept the request, and will not accept it later: check that the base address is that of this service, and contact its support with this message"
        }
        _ => "the service fails: try again later, and contact its support if it goes on",
    }
}
