//! Detects files with secrets that other users can read.

use std::fs::{File, Metadata};
use std::io;
use std::path::{Path, PathBuf};

/// The reason why a file with secrets is not private.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Exposed {
    #[error("{} is not used, because other users of this machine can read it (its mode is {mode:03o})", path.display())]
    Mode { path: PathBuf, mode: u32 },
    #[error("{} is not used, because it belongs to another user of this machine (number {owner})", path.display())]
    Owner { path: PathBuf, owner: u32 },
}

impl Exposed {
    /// Returns a hint for the user, without a full stop.
    pub fn hint(&self) -> String {
        let quoted = |path: &Path| format!("'{}'", path.display().to_string().replace('\'', r"'\''"));
        match self {
            Exposed::Mode { path, .. } => format!("run: chmod 600 {}", quoted(path)),
            Exposed::Owner { path, .. } => {
                let path = quoted(path);
                format!("run as its owner, or: sudo chown \"$(id -u)\" {path} && chmod 600 {path}")
            }
        }
    }
}

/// Checks that only this user can read an open file. On systems other than Unix, relies on the permissions of the user's folder.
pub fn check_private(file: &File, path: &Path) -> io::Result<Option<Exposed>> {
    Ok(exposed(&file.metadata()?, path, false))
}

/// As [`check_private`], for a private key or a mounted secret, which may also belong to root and be readable by a group of this user.
pub fn exposed_beyond_group(path: &Path) -> io::Result<Option<Exposed>> {
    Ok(exposed(&std::fs::metadata(path)?, path, true))
}

#[cfg(unix)]
fn exposed(metadata: &Metadata, path: &Path, may_be_of_root: bool) -> Option<Exposed> {
    use std::os::unix::fs::MetadataExt as _;
    let (owner, user) = (metadata.uid(), rustix::process::geteuid().as_raw());
    let is_of_root = may_be_of_root && owner == 0 && user != 0;
    let mode = metadata.mode() & 0o777;
    if owner != user && !is_of_root {
        Some(Exposed::Owner { path: path.to_owned(), owner })
    } else if mode & if is_of_root { 0o037 } else { 0o077 } != 0 {
        Some(Exposed::Mode { path: path.to_owned(), mode })
    } else {
        None
    }
}

#[cfg(not(unix))]
fn exposed(_: &Metadata, _: &Path, _: bool) -> Option<Exposed> {
    None
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn files_that_others_can_read_are_exposed() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("it's.json");
        let file = File::create(&path).expect("a file");
        for (mode, is_exposed) in [(0o600, false), (0o400, false), (0o640, true), (0o604, true), (0o620, true)] {
            file.set_permissions(std::fs::Permissions::from_mode(mode)).expect("the mode is set");
            let found = check_private(&file, &path).expect("metadata");
            assert_eq!(found.is_some(), is_exposed, "{mode:o}");
            assert_eq!(exposed_beyond_group(&path).expect("metadata"), found);
            if let Some(found) = found {
                assert!(found.hint().starts_with("run: chmod 600 '/") && found.hint().ends_with(r"it'\''s.json'"));
                assert!(found.to_string().contains(&format!("{mode:o}")), "{found}");
            }
        }
    }
}
