//! Errors that end a command.

use std::path::{Path, PathBuf};

use super::auth::{Exposed, Withheld};
use super::next_step::Failure;
use super::outcome::Response;
use super::service_message;
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
    /// Tokens exist, but must not be used.
    #[error(transparent)]
    Withheld(#[from] Withheld),
    /// A token would travel unencrypted to another machine.
    #[error("a token would travel unencrypted to {0}, so nothing was sent")]
    Unencrypted(String),
    #[error(transparent)]
    Exposed(#[from] Exposed),
    /// A file that says how to connect.
    #[error("the {what} {} can't be used: {why}", path.display())]
    File { what: &'static str, path: PathBuf, why: String, hint: String },
    #[error(transparent)]
    Stopped(#[from] Stop),
    #[error("the service answered {status}: {message}")]
    Status { status: u16, message: String },
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
                "use the https:// address of the service; if every network on the way is trusted, add --insecure-http or set SHEETPORT_INSECURE_HTTP=1".to_owned()
            }
            Error::Exposed(exposed) => exposed.hint(),
            Error::File { hint, .. } => hint.clone(),
            Error::NoCredentials(_) => {
                "run `sheetport login`, or set SHEETPORT_BASE_URL and SHEETPORT_ACCESS_TOKEN, SHEETPORT_REFRESH_TOKEN or both; `sheetport serve token` makes a pair for the embedded service".to_owned()
            }
            Error::Stopped(stop) => stop.hint().to_owned(),
            Error::TooLong(_) => {
                "the service sends more than it was asked for; contact its support, or check the base URL".to_owned()
            }
            Error::Status { .. } | Error::Unreadable(_) => "try again later; if the error persists, contact the service's support".to_owned(),
        })
    }

    /// Returns the error for a file that can't be used. `what` names its purpose.
    pub(super) fn unusable(what: &'static str, path: &Path, why: &str, hint: &str) -> Error {
        Error::File { what, path: path.to_owned(), why: why.to_owned(), hint: hint.to_owned() }
    }

    /// Returns the error for a refusal.
    pub(super) fn refused(response: &Response) -> Error {
        Error::status(response.status, service_message::summary(&response.body))
    }

    fn status(status: u16, message: Option<String>) -> Error {
        Error::Status { status, message: message.unwrap_or_else(|| "no reason given".to_owned()) }
    }
}

/// Converts the last failure after all attempts.
impl From<Failure> for Error {
    fn from(failure: Failure) -> Error {
        match failure {
            Failure::NoAnswer(reason) => Error::Stopped(Stop::Unreachable(reason)),
            Failure::Unreadable { reason, .. } => Error::Unreadable(reason),
            Failure::Status { status, message } => Error::status(status, message),
        }
    }
}
