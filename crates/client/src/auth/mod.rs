//! Authentication: tokens, token files and renewal.

mod choice;
mod credentials;
mod exposure;
mod keyring;
mod redaction;
mod store_error;
mod token_file;
mod tokens;

pub use choice::{AddressOrigin, Choice, Chosen, EnvironmentTokens, NamedAddress, TokenHome, TokenOrigin, Withheld};
pub use credentials::{Credentials, TokenFile};
pub use exposure::{Exposed, check_private, exposed_beyond_group};
pub(super) use redaction::redacted;
pub use store_error::StoreError;
pub use token_file::Unreadable;
pub(super) use tokens::{Bearer, TokenPair, Tokens};
