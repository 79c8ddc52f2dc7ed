//! Tokens in the keyring of the system: the Keychain of macOS, the Credential Manager of Windows, and the Secret Service of other
//! systems, such as GNOME Keyring and KWallet. Without the feature `keyring`, every call is an error.

#[cfg(not(feature = "keyring"))]
mod off;
#[cfg(feature = "keyring")]
mod on;
mod unusable;

#[cfg(not(feature = "keyring"))]
pub(super) use off::{read, remove, write};
#[cfg(feature = "keyring")]
pub(super) use on::{read, remove, write};
pub(super) use unusable::KEYRING_HINT;
pub(super) use unusable::{IS_INCLUDED, is_at_fault};
