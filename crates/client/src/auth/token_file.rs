//! Token files: atomic writes, and a lock against concurrent renewal. The tokens are in the file, or in the keyring of the system.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::Path;

use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize};
use sheetport_files::digest;
use sheetport_files::readers::create_private_folder;

use super::credentials::{Credentials, TokenFile};
use super::exposure::{Exposed, check_private};
use super::keyring;
use super::store_error::StoreError;
use crate::base_url;

/// The file's JSON. The tokens may be sent to no other address than `base_url`.
#[derive(Serialize, Deserialize)]
struct Content {
    base_url: String,
    #[serde(flatten)]
    tokens: Pair,
    /// The tokens are in the keyring of the system.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    keyring: bool,
}

/// The JSON in the keyring. Includes the address, so that the tokens stay bound to it even if the file changes.
#[derive(Serialize, Deserialize)]
struct Secret {
    base_url: String,
    #[serde(flatten)]
    tokens: Pair,
}

/// The tokens, as JSON in the file or in the keyring.
#[derive(Default, Serialize, Deserialize)]
struct Pair {
    access: Option<String>,
    refresh: Option<String>,
}

/// Exclusive lock for renewing the tokens, released on drop.
pub(super) struct RenewalLock {
    _file: File,
}

/// Why the tokens in a file can't be used.
#[derive(Debug)]
pub enum Unreadable {
    Io(io::Error),
    Exposed(Exposed),
}

impl From<io::Error> for Unreadable {
    fn from(error: io::Error) -> Unreadable {
        Unreadable::Io(error)
    }
}

impl TokenFile {
    /// Returns the file of `profile` below `home`. The caller has validated the profile's name.
    pub fn of(home: &Path, profile: &str) -> TokenFile {
        TokenFile { path: home.join("credentials").join(format!("{profile}.json")), is_in_keyring: false }
    }

    /// Returns the same file, for tokens in the keyring of the system or in the file itself.
    ///
    /// # Errors
    /// If this executable is built without a keyring.
    pub fn in_keyring(&self, is_in_keyring: bool) -> Result<TokenFile, StoreError> {
        match is_in_keyring && !keyring::IS_INCLUDED {
            true => Err(StoreError::NoKeyring),
            false => Ok(TokenFile { path: self.path.clone(), is_in_keyring }),
        }
    }

    pub fn is_in_keyring(&self) -> bool {
        self.is_in_keyring
    }

    /// Returns the file below `home` for the successors of tokens from the environment, by address and refresh token. The
    /// environment still contains the old pair, so the next command finds the new pair here.
    fn of_environment(home: &Path, base_url: &str, refresh: &SecretString) -> TokenFile {
        let parts = [base_url, refresh.expose_secret()];
        let name = digest::hex(&digest::of_parts(parts.map(str::as_bytes)));
        let path = home.join("credentials").join("environment").join(format!("{name}.json"));
        TokenFile { path, is_in_keyring: false }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Reads only the address, without accessing the keyring. Returns `None` if the file is unusable.
    pub fn address(&self) -> Option<String> {
        Some(self.content().ok()??.base_url)
    }

    /// Reads the address and the tokens. Returns `None` if the file does not exist.
    pub fn read(&self) -> Result<Option<(String, Credentials)>, Unreadable> {
        let Some(content) = self.content()? else { return Ok(None) };
        let tokens = match content.keyring {
            false => content.tokens,
            true => match keyring::read(&self.path)? {
                None => return Err(io::Error::other("its tokens are not in the keyring any more").into()),
                Some(secret) => match serde_json::from_str::<Secret>(secret.expose_secret()) {
                    Ok(secret) if secret.base_url == content.base_url => secret.tokens,
                    Ok(_) => {
                        return Err(io::Error::other("its tokens in the keyring are for another address").into());
                    }
                    Err(_) => {
                        let why = "its entry in the keyring was not written by `sheetport login`";
                        return Err(io::Error::other(why).into());
                    }
                },
            },
        };
        let credentials = Credentials {
            access: tokens.access.map(SecretString::from),
            refresh: tokens.refresh.map(SecretString::from),
            file: Some(TokenFile { path: self.path.clone(), is_in_keyring: content.keyring }),
        };
        Ok(Some((content.base_url, credentials)))
    }

    fn content(&self) -> Result<Option<Content>, Unreadable> {
        let mut file = match File::open(&self.path) {
            Ok(file) => file,
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                return Ok(None);
            }
            Err(error) => return Err(error.into()),
        };
        if let Some(exposed) = check_private(&file, &self.path)? {
            return Err(Unreadable::Exposed(exposed));
        }
        let mut content = Vec::new();
        file.read_to_end(&mut content)?;
        // The parser's message could quote a part of a token.
        let content = serde_json::from_slice(&content)
            .map_err(|_| io::Error::other("it was not written by `sheetport login`"))?;
        Ok(Some(content))
    }

    /// Replaces the file atomically, with mode 0600 on Unix. Other systems rely on the folder's permissions. Tokens for the
    /// keyring are only there.
    pub fn write(&self, base_url: &str, credentials: &Credentials) -> io::Result<()> {
        let text = |token: &Option<SecretString>| token.as_ref().map(|token| token.expose_secret().to_owned());
        let tokens = Pair { access: text(&credentials.access), refresh: text(&credentials.refresh) };
        let was_in_keyring = self.may_be_in_keyring();
        let tokens = match self.is_in_keyring {
            false => tokens,
            true => {
                let secret = Secret { base_url: base_url.to_owned(), tokens };
                keyring::write(&self.path, serde_json::to_string(&secret)?.into())?;
                Pair::default()
            }
        };
        let content = Content { base_url: base_url.to_owned(), tokens, keyring: self.is_in_keyring };
        let folder = self.create_folder()?;
        // Temporary files are created with mode 0600.
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        file.write_all(&serde_json::to_vec(&content)?)?;
        file.as_file().sync_all()?;
        file.persist(&self.path).map_err(|error| error.error)?;
        // Tokens are never stored in both places.
        match self.is_in_keyring {
            true => Ok(()),
            false => self.leave_keyring(was_in_keyring).or_else(|error| match keyring::IS_INCLUDED {
                true => Err(error),
                // The new tokens are stored, and another login would find the same.
                false => {
                    tracing::warn!("the previous tokens stay in the keyring of the system");
                    Ok(())
                }
            }),
        }
    }

    /// Returns whether the tokens are in the keyring according to the file, without checking permissions. Returns `None` if the
    /// file is damaged.
    fn may_be_in_keyring(&self) -> Option<bool> {
        match std::fs::read(&self.path) {
            Ok(content) => serde_json::from_slice::<Content>(&content).ok().map(|content| content.keyring),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Some(false),
            Err(_) => None,
        }
    }

    /// Removes the tokens from the keyring if stored there. For a damaged file this is unknown, and there may be no keyring at
    /// all.
    fn leave_keyring(&self, was_in_keyring: Option<bool>) -> io::Result<()> {
        match was_in_keyring {
            Some(true) => keyring::remove(&self.path),
            Some(false) => Ok(()),
            None => {
                if let Err(error) = keyring::remove(&self.path) {
                    tracing::debug!(%error, "the keyring was not asked");
                }
                Ok(())
            }
        }
    }

    /// Removes the file, and its tokens from the keyring. Returns false if there was no file.
    pub fn remove(&self) -> io::Result<bool> {
        self.leave_keyring(self.may_be_in_keyring())?;
        match std::fs::remove_file(&self.path) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Waits for renewals by other processes, then locks the tokens.
    pub(super) fn lock(&self) -> io::Result<RenewalLock> {
        self.create_folder()?;
        let path = self.path.with_extension("lock");
        let file = OpenOptions::new().create(true).truncate(false).write(true).open(path)?;
        file.lock()?;
        Ok(RenewalLock { _file: file })
    }

    fn create_folder(&self) -> io::Result<&Path> {
        let folder = self.path.parent().expect("the path ends with the name of a file");
        create_private_folder(folder)?;
        Ok(folder)
    }
}

impl Credentials {
    /// Keeps renewals of tokens from the environment. Returns the pair that replaced these tokens at this address, if there was a
    /// renewal before, and otherwise the same pair with a file below `home` for its successor.
    ///
    /// # Errors
    /// If the file of the successor is unusable.
    pub(super) fn kept_below(self, home: &Path, base_url: &str) -> Result<Credentials, (TokenFile, Unreadable)> {
        let Some(refresh) = self.refresh.as_ref().filter(|_| self.file.is_none()) else { return Ok(self) };
        let file = TokenFile::of_environment(home, base_url::plain(base_url), refresh);
        match file.read() {
            Ok(Some((stored, renewed))) if base_url::is_same(&stored, base_url) => Ok(renewed),
            Ok(_) => Ok(Credentials { file: Some(file), ..self }),
            Err(why) => Err((file, why)),
        }
    }
}
