//! A pair of tokens in a file of the person's own: written whole, and by one process at a time.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize};

use super::Credentials;

/// Where a profile's tokens are.
#[derive(Clone, Debug)]
pub struct TokenFile {
    path: PathBuf,
}

/// What the file holds. The tokens are for this address and for no other.
#[derive(Serialize, Deserialize)]
struct Content {
    base_url: String,
    access: Option<String>,
    refresh: Option<String>,
}

/// Held while the tokens are renewed; dropped, it lets go.
pub struct Renewing {
    _file: File,
}

impl TokenFile {
    /// The file of `profile` below `home`. The name of a profile is checked before.
    pub fn of(home: &Path, profile: &str) -> TokenFile {
        TokenFile { path: home.join("credentials").join(format!("{profile}.json")) }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The address and the tokens; nothing when nobody is logged in.
    pub fn read(&self) -> io::Result<Option<(String, Credentials)>> {
        let content = match std::fs::read(&self.path) {
            Ok(content) => content,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        // What serde would say may repeat a part of a token.
        let content: Content =
            serde_json::from_slice(&content).map_err(|_| io::Error::other("it is not what `login` writes"))?;
        let credentials = Credentials {
            access: content.access.map(SecretString::from),
            refresh: content.refresh.map(SecretString::from),
            file: Some(self.clone()),
        };
        Ok(Some((content.base_url, credentials)))
    }

    /// Puts this pair in the place of the one that is there, whole or not at all. Only its owner may read it, as far as the
    /// system has owners; elsewhere it is as private as the person's folder for application data.
    pub fn write(&self, base_url: &str, credentials: &Credentials) -> io::Result<()> {
        let text = |token: &Option<SecretString>| token.as_ref().map(|token| token.expose_secret().to_owned());
        let content = Content {
            base_url: base_url.to_owned(),
            access: text(&credentials.access),
            refresh: text(&credentials.refresh),
        };
        let folder = self.folder()?;
        // Temporary files are made for their owner alone.
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        file.write_all(&serde_json::to_vec(&content)?)?;
        file.as_file().sync_all()?;
        file.persist(&self.path).map_err(|error| error.error)?;
        Ok(())
    }

    /// Takes the tokens away. False: there were none.
    pub fn remove(&self) -> io::Result<bool> {
        match std::fs::remove_file(&self.path) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Waits until no other process renews these tokens.
    pub fn lock(&self) -> io::Result<Renewing> {
        self.folder()?;
        let path = self.path.with_extension("lock");
        let file = OpenOptions::new().create(true).truncate(false).write(true).open(path)?;
        file.lock()?;
        Ok(Renewing { _file: file })
    }

    fn folder(&self) -> io::Result<&Path> {
        let folder = self.path.parent().unwrap_or(Path::new("."));
        let mut builder = std::fs::DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(folder)?;
        Ok(folder)
    }
}
