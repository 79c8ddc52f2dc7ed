//! Authentication: tokens, token files and renewal.

mod credentials;
mod token_file;
mod tokens;

pub use credentials::{Credentials, TokenFile};
pub(super) use tokens::{TokenPair, Tokens};
