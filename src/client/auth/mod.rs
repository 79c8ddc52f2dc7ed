//! Authentication: the user's tokens, the file that stores them, and their renewal.

mod credentials;
mod token_file;
mod tokens;

pub use credentials::{Credentials, TokenFile};
pub(super) use tokens::{TokenPair, Tokens};
