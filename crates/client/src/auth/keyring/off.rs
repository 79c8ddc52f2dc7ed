//! Without the feature `keyring`: no call reaches a keyring.

use std::io;
use std::path::Path;

use secrecy::SecretString;

use super::unusable::Unusable;

pub(in crate::auth) fn read(_: &Path) -> io::Result<Option<SecretString>> {
    Err(not_included())
}

pub(in crate::auth) fn write(_: &Path, _: SecretString) -> io::Result<()> {
    Err(not_included())
}

pub(in crate::auth) fn remove(_: &Path) -> io::Result<()> {
    Err(not_included())
}

fn not_included() -> io::Error {
    io::Error::other(Unusable("this executable is built without it".to_owned()))
}
