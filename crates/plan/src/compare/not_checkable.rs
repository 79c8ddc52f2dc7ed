//! Why values of a file could not be compared with the service.

use sheetport_client as client;

/// Why the values of a field could not be compared.
#[derive(Debug, thiserror::Error)]
pub enum NotCheckable {
    #[error(transparent)]
    Failed(#[from] client::Error),
    #[error("the service does not show a list of {list}")]
    NoList { list: &'static str },
    #[error("the service's list of {list} is empty")]
    Empty { list: &'static str },
    #[error("the service's list of {list} does not have {member}")]
    NoMember { list: &'static str, member: &'static str },
    #[error("the service's list of {list} may be incomplete: {reason}")]
    Incomplete { list: &'static str, reason: String },
    #[error("reading the service's list of {list} takes {requests} requests")]
    TooLong { list: &'static str, requests: u64 },
    #[error("{count} values would take a request each")]
    TooMany { count: usize },
}
