//! Why the service can't be spoken to at all.

/// A fault before or outside of any one record. `Display` never shows a token.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Error {
    #[error("'{0}' is not a base address")]
    BaseUrl(String),
    #[error("'{0}' is no language that can be asked for")]
    Language(String),
    #[error("no HTTP client can be made: {0}")]
    Client(String),
    #[error("there are no credentials for {0}")]
    NoCredentials(String),
    #[error("the service refused the credentials: {0}")]
    Refused(String),
    #[error("{url} can't be reached: {reason}")]
    Unreachable { url: String, reason: String },
    #[error("the service answered {status}: {message}")]
    Status { status: u16, message: String },
    #[error("the service's answer can't be understood: {0}")]
    Unreadable(String),
}

impl Error {
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Error::BaseUrl(_) => "give the service's root address, such as https://host.example, in --base-url or SHEETPORT_BASE_URL".to_owned(),
            Error::Language(_) => "write it as de or en-GB".to_owned(),
            Error::Client(_) => "check that the system has its certificates (package ca-certificates)".to_owned(),
            Error::NoCredentials(_) => {
                "run `sheetport login`, or set SHEETPORT_ACCESS_TOKEN, SHEETPORT_REFRESH_TOKEN or both; `sheetport serve token` makes a pair for the embedded service".to_owned()
            }
            Error::Refused(_) => "get a new pair of tokens in the service's developer settings, and run `sheetport login` or set SHEETPORT_ACCESS_TOKEN and SHEETPORT_REFRESH_TOKEN".to_owned(),
            Error::Unreachable { .. } => "check the address and that the service is running".to_owned(),
            Error::Status { .. } | Error::Unreadable(_) => "try again later; if it stays so, ask the service's people".to_owned(),
        })
    }
}
