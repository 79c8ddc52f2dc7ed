//! Links that other users may have made: whether to follow them, and files dropped by others that are none of theirs.
//!
//! Another user can't read our files, but can put a link to one into a folder of theirs. Whoever follows it reads our file in their place.
//! Under Windows, links have no known maker.

use std::fs::{File, Metadata};
use std::io;
use std::path::{Path, PathBuf};

/// Why a file in a folder of others is not opened.
#[derive(Debug, thiserror::Error)]
pub enum NotOpened {
    #[error("it is a link of another user, which is not followed: put the file itself there")]
    Link,
    #[error("it has a second name, which may be in a folder of another user: put a copy there")]
    SecondName,
    #[error("it is no regular file")]
    Kind,
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Returns whether a link at `path` may be followed. In a folder where others can create links, only links of this user and of the owner
/// of the folder are trusted.
#[cfg(unix)]
pub fn may_follow(link: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;

    let folder = link.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let (Ok(found), Ok(folder)) = (link.symlink_metadata(), folder.metadata()) else { return false };
    is_safe_link(found.uid(), folder.uid(), folder.mode(), user())
}

#[cfg(not(unix))]
pub fn may_follow(_: &Path) -> bool {
    true
}

/// Opens a file that somebody dropped into a folder. All checks are of the opened file, so that it can't be exchanged afterwards.
///
/// A link is followed if this user or root has made it. A second name of a file (a hard link) is refused unless nobody else can create
/// files in `folder`, because it has no maker.
///
/// # Errors
/// If the file is a link, has a second name, is no regular file, or can't be opened.
pub fn open_dropped(path: &Path, folder: &Path) -> Result<File, NotOpened> {
    let behind = target(path)?;
    let file = open_itself(&behind)?;
    let found = file.metadata()?;
    if !found.is_file() {
        return Err(NotOpened::Kind);
    }
    if behind == path && has_second_name(&found) && !is_private(&folder.metadata()?) {
        return Err(NotOpened::SecondName);
    }
    Ok(file)
}

/// Returns the path of the file, after following links of this user and of root.
fn target(path: &Path) -> Result<PathBuf, NotOpened> {
    /// As many as Linux follows.
    const MAX_LINKS: usize = 40;
    let mut path = path.to_owned();
    for _ in 0..MAX_LINKS {
        match own_link(&path)? {
            Some(target) => path = path.parent().unwrap_or(Path::new("")).join(target),
            None => return Ok(path),
        }
    }
    Err(io::Error::other("too many links").into())
}

/// Returns the target of a link, or `None` for anything else.
#[cfg(target_os = "linux")]
fn own_link(path: &Path) -> Result<Option<PathBuf>, NotOpened> {
    use std::os::unix::ffi::OsStrExt as _;

    use rustix::fs::{FileType, Mode, OFlags};

    // Holds the link itself, so that owner and target belong together.
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let link = rustix::fs::open(path, flags, Mode::empty()).map_err(io::Error::from)?;
    let found = rustix::fs::fstat(&link).map_err(io::Error::from)?;
    if FileType::from_raw_mode(found.st_mode) != FileType::Symlink {
        return Ok(None);
    }
    if !is_trusted(found.st_uid) {
        return Err(NotOpened::Link);
    }
    let target = rustix::fs::readlinkat(&link, "", Vec::new()).map_err(io::Error::from)?;
    Ok(Some(PathBuf::from(std::ffi::OsStr::from_bytes(target.as_bytes()))))
}

#[cfg(all(unix, not(target_os = "linux")))]
fn own_link(path: &Path) -> Result<Option<PathBuf>, NotOpened> {
    use std::os::unix::fs::MetadataExt as _;

    let found = path.symlink_metadata()?;
    match found.is_symlink() {
        false => Ok(None),
        true if is_trusted(found.uid()) => Ok(Some(path.read_link()?)),
        true => Err(NotOpened::Link),
    }
}

#[cfg(not(unix))]
fn own_link(path: &Path) -> Result<Option<PathBuf>, NotOpened> {
    match path.symlink_metadata()?.is_symlink() {
        true => Err(NotOpened::Link),
        false => Ok(None),
    }
}

/// Opens a file, but no link. Does not wait for the writer of a pipe.
#[cfg(unix)]
fn open_itself(path: &Path) -> Result<File, NotOpened> {
    use rustix::fs::{Mode, OFlags};

    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    match rustix::fs::open(path, flags, Mode::empty()) {
        Ok(file) => Ok(File::from(file)),
        // A link has taken the place of the file.
        Err(rustix::io::Errno::LOOP | rustix::io::Errno::MLINK) => Err(NotOpened::Link),
        // A socket.
        Err(rustix::io::Errno::NXIO) => Err(NotOpened::Kind),
        Err(error) => Err(io::Error::from(error).into()),
    }
}

/// Returns a path under which an open file can be opened again, whatever has happened to its name. Where the system has no such paths, the
/// name of the file has to do.
pub fn path_of(file: &File, name: &Path) -> PathBuf {
    #[cfg(target_os = "linux")]
    {
        let path = PathBuf::from(format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(file)));
        if path.exists() {
            return path;
        }
    }
    let _ = file;
    name.to_owned()
}

#[cfg(windows)]
fn open_itself(path: &Path) -> Result<File, NotOpened> {
    use std::os::windows::fs::OpenOptionsExt as _;

    /// Opens a link instead of its target.
    const FILE_FLAG_OPEN_REPARSE_POINT: u32 = 0x0020_0000;
    let file = File::options().read(true).custom_flags(FILE_FLAG_OPEN_REPARSE_POINT).open(path)?;
    match file.metadata()?.is_symlink() {
        true => Err(NotOpened::Link),
        false => Ok(file),
    }
}

#[cfg(not(any(unix, windows)))]
fn open_itself(path: &Path) -> Result<File, NotOpened> {
    Ok(File::open(path)?)
}

/// Whether a folder is this user's own.
#[cfg(unix)]
pub fn is_own(found: &Metadata) -> bool {
    std::os::unix::fs::MetadataExt::uid(found) == user()
}

#[cfg(not(unix))]
pub fn is_own(_: &Metadata) -> bool {
    true
}

#[cfg(unix)]
fn user() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// Root can read everything anyway.
#[cfg(unix)]
fn is_trusted(maker: u32) -> bool {
    maker == user() || maker == 0
}

#[cfg(unix)]
fn has_second_name(found: &Metadata) -> bool {
    std::os::unix::fs::MetadataExt::nlink(found) > 1
}

#[cfg(not(unix))]
fn has_second_name(_: &Metadata) -> bool {
    false
}

/// The group or everybody may create files.
#[cfg(unix)]
const SHARED: u32 = 0o022;

/// Whether only this user can create files in a folder.
#[cfg(unix)]
fn is_private(folder: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;

    is_own(folder) && folder.mode() & SHARED == 0
}

#[cfg(not(unix))]
fn is_private(_: &Metadata) -> bool {
    true
}

/// Takes the owners of a link and its folder, the mode of the folder, and the user.
#[cfg(unix)]
fn is_safe_link(link: u32, folder: u32, mode: u32, user: u32) -> bool {
    mode & SHARED == 0 || link == user || link == folder
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    #[test]
    fn links_of_others_are_not_followed() {
        const USER: u32 = 1000;
        for (link, folder, mode, is_safe) in [
            (USER, 0, 0o1777, true),
            (0, 0, 0o1777, true),
            (1001, 0, 0o1777, false),
            (1001, 0, 0o775, false),
            (1001, USER, 0o2770, false),
            (1001, 1001, 0o755, true),
            (1001, 0, 0o755, true),
        ] {
            assert_eq!(is_safe_link(link, folder, mode, USER), is_safe, "{link} {folder} {mode:o}");
        }
    }

    #[test]
    fn own_links_are_followed_and_second_names_only_in_a_private_folder() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = |name: &str| folder.path().join(name);
        std::fs::create_dir(path("in")).expect("created");
        let inbox = path("in");
        std::fs::write(path("a.csv"), "x").expect("written");
        symlink("../a.csv", inbox.join("link.csv")).expect("linked");
        symlink("link.csv", inbox.join("second.csv")).expect("linked");
        symlink("loop.csv", inbox.join("loop.csv")).expect("linked");
        std::fs::hard_link(path("a.csv"), inbox.join("hard.csv")).expect("linked");
        rustix::fs::mkfifoat(rustix::fs::CWD, inbox.join("pipe.csv"), rustix::fs::Mode::RUSR).expect("a pipe");
        let opened = |name: &str| open_dropped(&inbox.join(name), &inbox).map(drop);
        for (mode, hard) in [(0o700, true), (0o777, false)] {
            std::fs::set_permissions(&inbox, std::fs::Permissions::from_mode(mode)).expect("permitted");
            assert_eq!(opened("hard.csv").is_ok(), hard, "{mode:o}");
            assert!(opened("link.csv").is_ok() && opened("second.csv").is_ok(), "{mode:o}");
            assert!(matches!(opened("pipe.csv"), Err(NotOpened::Kind)), "{mode:o}");
            assert!(matches!(opened("loop.csv"), Err(NotOpened::Io(_))), "{mode:o}");
        }
    }
}
