//! With the feature `keyring`: the keyring of the system by the library of the same name.

use std::io;
use std::path::Path;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use keyring::v1::{Entry, Error, Result};
use secrecy::{ExposeSecret, SecretString};
use sheetport_files::absolute_path::absolute;

use super::unusable::Unusable;

/// The name of our entries in the keyring.
const SERVICE: &str = "sheetport";
/// Maximum time for a response. Includes time for a person to unlock the keyring.
const PATIENCE: Duration = Duration::from_secs(120);

/// Returns the secret for the token file at `path`, or `None` if the keyring has no entry.
pub(in crate::auth) fn read(path: &Path) -> io::Result<Option<SecretString>> {
    let read = ask(path, |entry| entry.get_password().map(SecretString::from));
    match read {
        Ok(secret) => Ok(Some(secret)),
        Err(Problem::Keyring(Error::NoEntry)) => Ok(None),
        Err(problem) => Err(problem.into()),
    }
}

/// Stores the secret of the token file at `path`.
pub(in crate::auth) fn write(path: &Path, secret: SecretString) -> io::Result<()> {
    Ok(ask(path, move |entry| entry.set_password(secret.expose_secret()))?)
}

/// Removes the secret for the token file at `path`, if any.
pub(in crate::auth) fn remove(path: &Path) -> io::Result<()> {
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
