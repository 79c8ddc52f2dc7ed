//! Finds the files of an upload step: complete files that no program has open.

use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use sheetport_files::links::{NotOpened, may_follow, open_dropped};
use wildmatch::WildMatch;

use super::super::definition::UploadStep;

/// Extensions of incomplete files, as used by browsers, mail programs and file transfers.
const PARTIAL: [&str; 8] = ["tmp", "temp", "part", "partial", "crdownload", "download", "filepart", "swp"];
/// Pause between two looks at the files.
const POLL: Duration = Duration::from_millis(200);

/// The files of a step.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Found {
    /// Files to upload, the oldest first: a later file of the same records wins.
    pub ready: Vec<PathBuf>,
    pub waiting: Vec<Waiting>,
}

/// A file left for the next run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    pub path: PathBuf,
    pub why: String,
}

/// Size and time of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Look {
    path: PathBuf,
    len: u64,
    modified: Option<SystemTime>,
}

/// Returns the files of a step. Waits once until all new files have settled.
///
/// # Errors
/// If the folder can't be read.
pub(super) async fn find(step: &UploadStep) -> io::Result<Found> {
    let Looks { files: mut before, refused } = looks(step)?;
    if before.is_empty() {
        return Ok(Found { ready: Vec::new(), waiting: refused });
    }
    // A time in the future comes from the clock of another machine and is ignored: size and time must then be the same after
    // waiting.
    let is_fresh = |look: &Look| look.modified.is_none_or(|modified| age(modified).is_none_or(|age| age < step.settle));
    let wait = before.iter().filter(|look| is_fresh(look)).map(|look| match look.modified.and_then(age) {
        Some(age) => step.settle.saturating_sub(age),
        None => step.settle,
    });
    if let Some(wait) = wait.max() {
        tokio::time::sleep(wait.max(POLL).min(step.settle)).await;
    }
    let Looks { files: after, refused } = looks(step)?;
    // Files added since the first look have had no time to settle.
    before.retain(|look| after.iter().any(|other| other.path == look.path));
    let mut found = Found { ready: Vec::new(), waiting: refused };
    let mut ready: Vec<&Look> = Vec::new();
    for look in &before {
        let path = look.path.clone();
        if !after.contains(look) {
            found.waiting.push(Waiting { path, why: "it is still being written".to_owned() });
        } else if let Some(why) = opened(&look.path) {
            found.waiting.push(Waiting { path, why });
        } else {
            ready.push(look);
        }
    }
    ready.sort_by(|a, b| (a.modified, &a.path).cmp(&(b.modified, &b.path)));
    found.ready = ready.into_iter().map(|look| look.path.clone()).collect();
    Ok(found)
}

/// Returns the age of a file, or `None` if its time is in the future.
fn age(modified: SystemTime) -> Option<Duration> {
    SystemTime::now().duration_since(modified).ok()
}

/// The files that match a step.
#[derive(Debug, Default)]
struct Looks {
    files: Vec<Look>,
    /// Links of other users, and what is no file.
    refused: Vec<Waiting>,
}

impl Looks {
    fn add(&mut self, path: PathBuf, folder: &Path) -> io::Result<()> {
        let found = match open_dropped(&path, folder) {
            Ok(file) => file.metadata()?,
            // Without permission to read, or while another program has the file open, the upload gives the reason.
            Err(NotOpened::Io(error)) => match path.symlink_metadata() {
                Ok(found) if found.is_file() => found,
                _ => return Err(error),
            },
            Err(why) => {
                self.refused.push(Waiting { path, why: why.to_string() });
                return Ok(());
            }
        };
        self.files.push(Look { len: found.len(), modified: found.modified().ok(), path });
        Ok(())
    }
}

/// Reads size and time of the files that match the step. A missing folder counts as empty.
///
/// # Errors
/// If the folder can't be read, or is a link of another user.
fn looks(step: &UploadStep) -> io::Result<Looks> {
    let mut looks = Looks::default();
    if step.folder.is_symlink() && !may_follow(&step.folder) {
        return Err(io::Error::other("it is a link of another user, which is not followed"));
    }
    let pattern = WildMatch::new_case_insensitive(&step.files);
    if !step.files.contains(['*', '?']) {
        let path = step.folder.join(&step.files);
        if path.is_dir() {
            return Err(io::Error::other("it is no file"));
        }
        return match looks.add(path, &step.folder) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(looks),
        };
    }
    let entries = match std::fs::read_dir(&step.folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(looks),
        entries => entries?,
    };
    for entry in entries {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if pattern.matches(&name) && !is_temporary(&name) {
            let path = entry.path();
            // A link to a folder is a folder.
            if !path.is_dir() {
                // The file may have been removed in the meantime.
                let _ = looks.add(path, &step.folder);
            }
        }
    }
    Ok(looks)
}

/// Returns whether the name is temporary, because a program will rename the file, or belongs to the lock file of an office
/// program.
pub(super) fn is_temporary(name: &str) -> bool {
    let extension = Path::new(name).extension().map(|extension| extension.to_string_lossy().to_lowercase());
    name.starts_with(['.', '~']) || extension.is_some_and(|extension| PARTIAL.contains(&extension.as_str()))
}

/// Returns who has a file open, according to the lock file next to it.
fn opened(path: &Path) -> Option<String> {
    let name = path.file_name()?.to_string_lossy().into_owned();
    // Excel shortens long names.
    let shortened: String = name.chars().skip(2).collect();
    let excel = [format!("~${name}"), format!("~${shortened}")];
    let (lock, program) = excel
        .into_iter()
        .map(|lock| (lock, "Excel"))
        .chain([(format!(".~lock.{name}#"), "LibreOffice")])
        .map(|(lock, program)| (path.with_file_name(lock), program))
        .find(|(lock, _)| lock.is_file())?;
    let owner = owner(&lock_content(&lock), program);
    let by = owner.map(|owner| format!(" ({owner})")).unwrap_or_default();
    Some(format!("it is open in {program}{by}; if it is not, delete {}", lock.display()))
}

/// Returns the beginning of a lock file, or nothing if it is a link of another user.
fn lock_content(lock: &Path) -> Vec<u8> {
    const LONGEST: u64 = 4096;
    let mut content = Vec::new();
    let opened = open_dropped(lock, lock.parent().unwrap_or(lock));
    // Without a name, the message says which program has the file open.
    let _ = opened.map(|file| file.take(LONGEST).read_to_end(&mut content));
    content
}

/// Returns the name of the person in the lock of an office program.
fn owner(lock: &[u8], program: &str) -> Option<String> {
    let name = match program {
        // A byte with the length, then the name.
        "Excel" => {
            let (length, rest) = lock.split_first()?;
            String::from_utf8_lossy(rest.get(..usize::from(*length))?).into_owned()
        }
        // Fields separated by commas, the name first.
        _ => String::from_utf8_lossy(lock).split(',').next()?.to_owned(),
    };
    let name = name.trim().trim_end_matches('\0').to_owned();
    (!name.is_empty() && name.len() <= 60).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::definition::Folders;

    fn step(folder: &Path, files: &str, settle: Duration) -> UploadStep {
        let folders = Folders { done: folder.join("done"), failed: folder.join("failed") };
        UploadStep { settle, ..UploadStep::usual(folder.to_owned(), files.to_owned(), "items".to_owned(), folders) }
    }

    fn write(folder: &Path, name: &str, content: &[u8], age: u64) -> PathBuf {
        let path = folder.join(name);
        std::fs::write(&path, content).expect("written");
        let file = std::fs::File::options().write(true).open(&path).expect("a file");
        file.set_modified(SystemTime::now() - Duration::from_secs(age)).expect("set");
        path
    }

    #[tokio::test]
    async fn complete_files_are_found_oldest_first_and_others_are_left() {
        let folder = tempfile::tempdir().expect("a folder");
        let folder = folder.path();
        let newer = write(folder, "a.xlsx", b"x", 100);
        let older = write(folder, "B.XLSX", b"x", 200);
        for other in ["a.csv", "~$b.xlsx", ".a.xlsx", "c.xlsx.part", "d.tmp", "~e.xlsx"] {
            write(folder, other, b"x", 300);
        }
        let open = write(folder, "open.xlsx", b"x", 300);
        write(folder, "~$open.xlsx", b"\x04Anna      ", 300);
        std::fs::create_dir(folder.join("folder.xlsx")).expect("created");
        let found = find(&step(folder, "*.xlsx", Duration::from_secs(10))).await.expect("a folder");
        assert_eq!(found.ready, [older, newer]);
        let [waiting] = found.waiting.as_slice() else { panic!("{found:?}") };
        assert_eq!(waiting.path, open);
        assert!(waiting.why.starts_with("it is open in Excel (Anna)"), "{waiting:?}");
    }

    #[tokio::test]
    async fn a_file_that_grows_is_left_for_the_next_run() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = write(folder.path(), "a.xlsx", b"x", 0);
        let step = step(folder.path(), "*.xlsx", Duration::from_millis(400));
        let growing = path.clone();
        let grows = tokio::spawn(async move {
            tokio::time::sleep(Duration::from_millis(100)).await;
            std::fs::write(growing, "xx").expect("written");
        });
        let found = find(&step).await.expect("a folder");
        grows.await.expect("written");
        assert_eq!((found.ready.len(), found.waiting.len()), (0, 1), "{found:?}");
        let found = find(&step).await.expect("a folder");
        assert_eq!((found.ready.len(), found.waiting.len()), (1, 0), "{found:?}");
    }

    #[test]
    fn missing_folders_and_files_count_as_empty() {
        let folder = tempfile::tempdir().expect("a folder");
        for files in ["*.xlsx", "stock.csv"] {
            let step = step(&folder.path().join("missing"), files, Duration::ZERO);
            assert_eq!(looks(&step).expect("no error").files, []);
        }
    }

    #[test]
    fn names_in_locks_are_read() {
        assert_eq!(owner(b"\x04Anna\0\0\0", "Excel").as_deref(), Some("Anna"));
        assert_eq!(owner(b",,,", "LibreOffice"), None);
        assert_eq!(owner(b"Anna M,anna,pc,23.11.2026 10:00,file", "LibreOffice").as_deref(), Some("Anna M"));
        assert_eq!(owner(b"\xFFA", "Excel"), None);
        assert_eq!(owner(b"", "Excel"), None);
    }
}
