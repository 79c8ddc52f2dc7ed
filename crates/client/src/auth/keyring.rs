//! Tokens in the keyring of the system: the Keychain of macOS, the Credential Manager of Windows, and the Secret Service of other
//! systems, such as GNOME Keyring and KWallet.

use std::io;
use std::path::Path;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use keyring::v1::{Entry, Error, Result};
use secrecy::{ExposeSecret, SecretString};
use sheetport_files::absolute_path::absolute;

/// The name of our entries in the keyring.
const SERVICE: &str = "sheetport";
/// Maximum time for a response. Includes time for a person to unlock the keyring.
const PATIENCE: Duration = Duration::from_secs(120);

/// Remedy for a missing keyring.
pub(super) const KEYRING_HINT: &str = "start and unlock a keyring, such as GNOME Keyring or KWallet, in a session with D-Bus; or \
     store the tokens in a file that only you can read: sheetport login --keyring=false";

/// Why the keyring can't be used.
#[derive(Debug, thiserror::Error)]
#[error("the keyring of the system can't be used: {0}")]
struct Unusable(String);

/// Returns whether an error of a token file comes from the keyring.
pub(super) fn is_at_fault(error: &io::Error) -> bool {
    error.get_ref().is_some_and(|inner| inner.is::<Unusable>())
}

/// Returns the secret for the token file at `path`, or `None` if the keyring has no entry.
pub(super) fn read(path: &Path) -> io::Result<Option<SecretString>> {
    let read = ask(path, |entry| entry.get_password().map(SecretString::from));
    match read {
        Ok(secret) => Ok(Some(secret)),
        Err(Problem::Keyring(Error::NoEntry)) => Ok(None),
        Err(problem) => Err(problem.into()),
    }
}

/// Stores the secret of the token file at `path`.
pub(super) fn write(path: &Path, secret: SecretString) -> io::Result<()> {
    Ok(ask(path, move |entry| entry.set_password(secret.expose_secret()))?)
}

/// Removes the secret for the token file at `path`, if any.
pub(super) fn remove(path: &Path) -> io::Result<()> {
    match ask(path, Entry::delete_credential) {
        Ok(()) | Err(Problem::Keyring(Error::NoEntry)) => Ok(()),
        Err(problem) => Err(problem.into()),
    }
}

enum Problem {
    Keyring(Error),
    NoAnswer,
}

impl From<Problem> for io::Error {
    fn from(problem: Problem) -> io::Error {
        let why = match problem {
            Problem::Keyring(Error::NoDefaultStore) => match Entry::store_status() {
                Err(error) => error.to_string(),
                Ok(()) => "there is none".to_owned(),
            },
            Problem::Keyring(error) => error.to_string(),
            Problem::NoAnswer => format!("no answer in {} seconds", PATIENCE.as_secs()),
        };
        io::Error::other(Unusable(why))
    }
}

/// Calls the keyring on a separate thread, because the call may wait for a person.
fn ask<T: Send + 'static>(
    path: &Path,
    call: impl FnOnce(&Entry) -> Result<T> + Send + 'static,
) -> std::result::Result<T, Problem> {
    // Every folder and profile has a separate entry.
    let name = absolute(path).display().to_string();
    let (send, receive) = channel();
    thread::spawn(move || send.send(Entry::new(SERVICE, &name).and_then(|entry| call(&entry))));
    receive.recv_timeout(PATIENCE).map_err(|_| Problem::NoAnswer)?.map_err(Problem::Keyring)
}
