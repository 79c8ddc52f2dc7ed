//! The process that holds the lock of a SQLite file, as far as the system tells.

use std::path::Path;

/// Returns the program and process that hold the file for writing. Never opens a file of the database, which would drop the locks of this
/// process (see `open_files`).
#[cfg(target_os = "linux")]
pub(super) fn holder_of(path: &Path) -> Option<String> {
    use std::os::unix::fs::MetadataExt as _;
    let mut index = path.as_os_str().to_owned();
    index.push("-shm");
    let inode = std::fs::metadata(index).ok()?.ino();
    let locks = std::fs::read_to_string("/proc/locks").ok()?;
    let process = writer(&locks, inode).filter(|process| *process != std::process::id())?;
    let program = std::fs::read_to_string(format!("/proc/{process}/comm")).unwrap_or_default();
    Some(match program.trim() {
        "" => format!("process {process}"),
        program => format!("{program}, process {process}"),
    })
}

#[cfg(not(target_os = "linux"))]
pub(super) fn holder_of(_path: &Path) -> Option<String> {
    None
}

/// Byte of the index that a writer locks (WAL_WRITE_LOCK in SQLite's description of its log).
#[cfg(target_os = "linux")]
const WRITER: &str = "120";

/// Returns the process with the lock of the writer, from the lines of /proc/locks such as
/// `1: POSIX  ADVISORY  WRITE 4242 fe:00:131074 120 120`.
#[cfg(target_os = "linux")]
fn writer(locks: &str, inode: u64) -> Option<u32> {
    locks.lines().find_map(|line| {
        let fields: Vec<&str> = line.split_ascii_whitespace().collect();
        let [_, "POSIX", _, "WRITE", process, file, first, last] = fields[..] else { return None };
        let is_file = file.rsplit(':').next()?.parse() == Ok(inode);
        let is_writer = is_file && (first, last) == (WRITER, WRITER);
        process.parse().ok().filter(|_| is_writer)
    })
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::writer;

    #[test]
    fn the_writer_is_found_among_other_locks() {
        let locks = "1: POSIX  ADVISORY  READ 11 fe:00:77 124 124\n\
                     2: FLOCK  ADVISORY  WRITE 12 fe:00:77 0 EOF\n\
                     2: -> POSIX  ADVISORY  WRITE 13 fe:00:77 120 120\n\
                     3: POSIX  ADVISORY  WRITE 14 fe:00:78 120 120\n\
                     4: POSIX  ADVISORY  WRITE 15 fe:00:77 120 120\n";
        assert_eq!(writer(locks, 77), Some(15));
        assert_eq!(writer(locks, 79), None);
        assert_eq!(writer("nonsense\n", 77), None);
    }
}
