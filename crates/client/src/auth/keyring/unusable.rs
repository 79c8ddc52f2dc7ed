//! Why a keyring can't be used.

use std::io;

/// Whether this executable can use a keyring.
pub(in crate::auth) const IS_INCLUDED: bool = cfg!(feature = "keyring");

/// Remedy for a missing keyring.
pub(in crate::auth) const KEYRING_HINT: &str = if IS_INCLUDED {
    "start and unlock a keyring, such as GNOME Keyring or KWallet, in a session with D-Bus; or store the tokens in a file that only you \
     can read: sheetport login --keyring=false"
} else {
    "published executables include it; to build one: cargo install --locked --path . --features keyring --features parquet --features storage; or store the tokens in \
     a file that only you can read: sheetport login --keyring=false"
};

/// Why the keyring can't be used.
#[derive(Debug, thiserror::Error)]
#[error("the keyring of the system can't be used: {0}")]
pub(super) struct Unusable(pub(super) String);

/// Returns whether an error of a token file comes from the keyring.
pub(in crate::auth) fn is_at_fault(error: &io::Error) -> bool {
    error.get_ref().is_some_and(|inner| inner.is::<Unusable>())
}
