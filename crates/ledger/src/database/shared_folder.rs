//! Folders on other machines. SQLite keeps the index of its log in memory that processes share, which no two machines do: a ledger in a
//! folder on a server, opened by two of them, would be damaged.

use std::path::Path;

/// Numbers of file systems that another machine serves: `statfs(2)` and `linux/magic.h`.
#[cfg(any(target_os = "linux", test))]
const SERVED: [(u64, &str); 6] = [
    (0x6969, "NFS"),
    (0x517B, "SMB"),
    (0xFF53_4D42, "SMB"),
    (0xFE53_4D42, "SMB"),
    (0x5346_414F, "AFS"),
    (0x00C3_6400, "Ceph"),
];

/// Returns the name of the file system of a folder, or of its nearest existing parent, if another machine serves it.
#[cfg(target_os = "linux")]
pub(super) fn served_by(folder: &Path) -> Option<&'static str> {
    let existing = folder.ancestors().find(|folder| folder.is_dir())?;
    // Some architectures have signed numbers of 32 bits.
    of_number((rustix::fs::statfs(existing).ok()?.f_type as u64) & 0xFFFF_FFFF)
}

/// Returns the name of the file system of a folder, or of its nearest existing parent, if another machine serves it.
#[cfg(target_os = "macos")]
pub(super) fn served_by(folder: &Path) -> Option<&'static str> {
    let existing = folder.ancestors().find(|folder| folder.is_dir())?;
    let name: Vec<u8> = rustix::fs::statfs(existing).ok()?.f_fstypename.iter().map(|letter| *letter as u8).collect();
    let name = name.split(|letter| *letter == 0).next().unwrap_or_default();
    [(&b"nfs"[..], "NFS"), (b"smbfs", "SMB"), (b"afpfs", "AFP"), (b"webdav", "WebDAV")]
        .iter()
        .find_map(|(known, system)| (*known == name).then_some(*system))
}

/// Returns the name of the file system of a folder if another machine serves it, as its path says.
#[cfg(windows)]
pub(super) fn served_by(folder: &Path) -> Option<&'static str> {
    use std::path::{Component, Prefix};

    match folder.components().next() {
        Some(Component::Prefix(prefix)) => {
            matches!(prefix.kind(), Prefix::UNC(..) | Prefix::VerbatimUNC(..)).then_some("SMB")
        }
        _ => None,
    }
}

#[cfg(not(any(target_os = "linux", target_os = "macos", windows)))]
pub(super) fn served_by(_: &Path) -> Option<&'static str> {
    None
}

#[cfg(any(target_os = "linux", test))]
fn of_number(number: u64) -> Option<&'static str> {
    SERVED.iter().find(|(known, _)| *known == number).map(|(_, name)| *name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_systems_of_servers_are_known_by_their_numbers() {
        // ext4, btrfs, XFS, tmpfs, overlay, ZFS
        for local in [0xEF53, 0x9123_683E, 0x5846_5342, 0x0102_1994, 0x794C_7630, 0x2FC1_2FC1] {
            assert_eq!(of_number(local), None, "{local:x}");
        }
        assert_eq!([0x6969, 0xFE53_4D42].map(of_number), [Some("NFS"), Some("SMB")]);
        let folder = tempfile::tempdir().expect("a folder");
        assert_eq!(served_by(&folder.path().join("not/yet")), None);
    }
}
