//! What outlives an export to a name: the lock that keeps two from running at once, the spool of one that was cut off,
//! and what is remembered of the last one that was put in place.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::Write;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::Error;
use crate::sheet;
use crate::sheet::write::{Existing, WholeFile};

const STATE: &str = "state.json";
const PRINTS: &str = "records";
const LOCK: &str = "lock";

/// The folder of one export: of the same records of the same workspace to the same name.
#[derive(Debug)]
pub struct History {
    folder: PathBuf,
    _lock: File,
}

/// What is remembered of the last export that was put in place whole.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    pub file: PathBuf,
    /// Records in the service's list.
    pub distinct: u64,
    /// From here on the next `--since last` asks.
    pub changed_until: String,
    pub finished: String,
}

impl History {
    /// Takes the folder below `home` of the export that `identity` describes. While it is held, nobody else gets it.
    pub fn take(home: &Path, identity: &str) -> Result<History, Error> {
        let digest = Sha256::digest(identity.as_bytes());
        let name: String = digest.iter().take(12).map(|byte| format!("{byte:02x}")).collect();
        let folder = home.join("exports").join(name);
        let failed = |source| Error::Spool { path: folder.clone(), source };
        let mut builder = std::fs::DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(&folder).map_err(failed)?;
        let lock = OpenOptions::new().create(true).truncate(false).write(true).open(folder.join(LOCK));
        let lock = lock.map_err(failed)?;
        match lock.try_lock() {
            Ok(()) => Ok(History { folder, _lock: lock }),
            Err(TryLockError::WouldBlock) => Err(Error::Busy),
            Err(TryLockError::Error(source)) => Err(failed(source)),
        }
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Where the hashes of the last export's records are.
    pub fn prints(&self) -> PathBuf {
        self.folder.join(PRINTS)
    }

    /// Nothing before the first, and where it can't be read.
    pub fn state(&self) -> Option<State> {
        serde_json::from_slice(&std::fs::read(self.folder.join(STATE)).ok()?).ok()
    }

    pub fn remember(&self, state: &State) -> Result<(), Error> {
        let path = self.folder.join(STATE);
        let failed = |source| sheet::Error::Write { path: path.clone(), source };
        let mut file = WholeFile::create(&path, Existing::Replace)?;
        let text = serde_json::to_string(state).map_err(|error| failed(error.into()))?;
        file.write_all(text.as_bytes()).map_err(failed)?;
        file.finish()?;
        Ok(())
    }
}
