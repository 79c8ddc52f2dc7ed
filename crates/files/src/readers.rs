//! Permissions of files: a file derived from another gets no more readers than the original. Also creates folders accessible only
//! to their owner. On systems other than Unix, the permissions of the folder apply.

use std::io;
use std::path::Path;

use tempfile::TempDir;

/// The users who may read a file besides its owner.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Readers {
    /// Nobody.
    #[default]
    Owner,
    /// The members of the group with this number.
    Group(u32),
    Everyone,
}

impl Readers {
    /// Returns the readers of the file at `path`, or only the owner if the file can't be examined.
    #[cfg(unix)]
    pub fn of(path: &Path) -> Readers {
        use std::os::unix::fs::MetadataExt as _;

        const GROUP_MAY_READ: u32 = 0o040;
        const OTHERS_MAY_READ: u32 = 0o004;
        match std::fs::metadata(path) {
            Ok(found) if found.mode() & GROUP_MAY_READ == 0 => Readers::Owner,
            Ok(found) if found.mode() & OTHERS_MAY_READ != 0 => Readers::Everyone,
            // With an access control list, the group bits contain the widest entry of the list.
            Ok(found) if !has_access_list(path) => Readers::Group(found.gid()),
            _ => Readers::Owner,
        }
    }

    #[cfg(not(unix))]
    pub fn of(_: &Path) -> Readers {
        Readers::Everyone
    }

    /// Returns the common readers of both.
    pub fn both(self, other: Readers) -> Readers {
        match (self, other) {
            (Readers::Everyone, readers) | (readers, Readers::Everyone) => readers,
            (Readers::Group(one), Readers::Group(other)) if one == other => self,
            _ => Readers::Owner,
        }
    }

    /// Returns a number for the ledger.
    pub fn number(self) -> Option<i64> {
        match self {
            Readers::Owner => None,
            Readers::Group(group) => Some(i64::from(group)),
            Readers::Everyone => Some(-1),
        }
    }

    /// Returns the readers with this number.
    pub fn from_number(number: Option<i64>) -> Readers {
        match number.map(u32::try_from) {
            None => Readers::Owner,
            Some(Ok(group)) => Readers::Group(group),
            Some(Err(_)) => Readers::Everyone,
        }
    }
}

/// Creates a folder and missing parents, accessible only to the owner.
pub fn create_private_folder(folder: &Path) -> io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// Creates a folder in `parent`, accessible only to the owner, which is deleted on drop.
pub fn private_temporary_folder(parent: &Path, prefix: &str, suffix: &str) -> io::Result<TempDir> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(prefix).suffix(suffix);
    // Otherwise the umask decides.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
    builder.tempdir_in(parent)
}

#[cfg(target_os = "linux")]
fn has_access_list(path: &Path) -> bool {
    rustix::fs::getxattr(path, c"system.posix_acl_access", &mut [0_u8; 0]).is_ok()
}

#[cfg(all(unix, not(target_os = "linux")))]
fn has_access_list(_: &Path) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Readers; 4] = [Readers::Owner, Readers::Group(0), Readers::Group(100), Readers::Everyone];

    #[test]
    fn numbers_stand_for_the_same_readers() {
        for readers in ALL {
            assert_eq!(Readers::from_number(readers.number()), readers);
        }
    }

    #[test]
    fn readers_in_common_are_never_more_than_either() {
        for one in ALL {
            assert_eq!(one.both(one), one);
            assert_eq!(one.both(Readers::Everyone), one);
            assert_eq!(one.both(Readers::Owner), Readers::Owner);
        }
        assert_eq!(Readers::Group(1).both(Readers::Group(2)), Readers::Owner);
    }

    #[cfg(unix)]
    #[test]
    fn readers_of_a_file_follow_from_its_mode() {
        use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};

        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a");
        std::fs::write(&path, "x").expect("written");
        let group = Readers::Group(std::fs::metadata(&path).expect("a file").gid());
        for (mode, readers) in [
            (0o600, Readers::Owner),
            (0o400, Readers::Owner),
            (0o604, Readers::Owner),
            (0o620, Readers::Owner),
            (0o640, group),
            (0o644, Readers::Everyone),
            (0o666, Readers::Everyone),
        ] {
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).expect("permitted");
            assert_eq!(Readers::of(&path), readers, "{mode:o}");
        }
        assert_eq!(Readers::of(&folder.path().join("missing")), Readers::Owner);
    }
}
