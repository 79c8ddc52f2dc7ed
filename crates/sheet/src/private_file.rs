//! Temporary copies of spreadsheets, readable only by this user.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use sheetport_files::readers::private_temporary_folder;
use tempfile::TempDir;

/// The open files of a process, under Linux.
const OPEN_FILES: &str = "/proc/self/fd";

/// A copy of a spreadsheet from a stream or an archive. On Linux the file has no name in any folder, so that nothing is left
/// behind however the process ends. Elsewhere the file is in a private folder that is removed on drop.
#[derive(Debug)]
pub struct PrivateFile {
    file: File,
    path: PathBuf,
    /// The folder of a file with a name.
    _folder: Option<TempDir>,
}

impl PrivateFile {
    /// The name of a copy, without an extension.
    pub(crate) const TITLE: &str = "stdin";

    pub fn create() -> io::Result<PrivateFile> {
        PrivateFile::unnamed().map_or_else(PrivateFile::named, Ok)
    }

    /// Returns a path that opens the copy in this process, as often as needed.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns true for the path of a copy.
    pub(super) fn is_private(path: &Path) -> bool {
        path.starts_with(OPEN_FILES)
    }

    /// Returns a path for opening the same file in other processes.
    pub(super) fn path_for_others(path: &Path) -> PathBuf {
        match path.strip_prefix("/proc/self") {
            Ok(rest) if cfg!(target_os = "linux") => Path::new("/proc").join(std::process::id().to_string()).join(rest),
            _ => path.to_owned(),
        }
    }

    #[cfg(target_os = "linux")]
    fn unnamed() -> Option<PrivateFile> {
        use std::os::fd::AsRawFd as _;
        use std::os::unix::fs::PermissionsExt as _;

        let file = tempfile::tempfile().ok()?;
        file.set_permissions(std::fs::Permissions::from_mode(0o600)).ok()?;
        let path = Path::new(OPEN_FILES).join(file.as_raw_fd().to_string());
        // Without /proc, the file cannot be opened again.
        File::open(&path).ok()?;
        Some(PrivateFile { file, path, _folder: None })
    }

    #[cfg(not(target_os = "linux"))]
    fn unnamed() -> Option<PrivateFile> {
        None
    }

    fn named() -> io::Result<PrivateFile> {
        let folder = private_temporary_folder(&std::env::temp_dir(), "sheetport-", "")?;
        let path = folder.path().join(PrivateFile::TITLE);
        let mut options = File::options();
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.write(true).create_new(true).open(&path)?;
        Ok(PrivateFile { file, path, _folder: Some(folder) })
    }
}

impl Write for PrivateFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_can_be_read_again_and_only_by_their_owner() {
        for mut copy in [PrivateFile::create().expect("a file"), PrivateFile::named().expect("a file")] {
            copy.write_all(b"SKU;Name").expect("written");
            for _ in 0..2 {
                assert_eq!(std::fs::read(copy.path()).expect("read"), b"SKU;Name");
            }
            #[cfg(unix)]
            {
                use std::os::unix::fs::PermissionsExt as _;
                let mode = std::fs::metadata(copy.path()).expect("a file").permissions().mode();
                assert_eq!(mode & 0o777, 0o600);
            }
        }
    }
}
