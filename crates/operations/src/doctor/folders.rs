//! Checks the home folder: permissions, free space, and the ledger inside.

use std::io;
use std::path::Path;

use super::super::command_line::quoted;
use super::super::context::Context;
use super::super::older_ledger::{LOOK_UP, older_ledger};
use super::super::runs::check_runs::{Checked, check_runs};
use super::finding::Finding;

/// Free space in bytes below which writing may fail, and below which large transfers may fail.
const TOO_LITTLE: u64 = 100 << 20;
const LITTLE: u64 = 1 << 30;
const OTHER_FOLDER: &str = "make it writable, or set SHEETPORT_HOME to another folder";

/// Checks the folder itself.
pub(super) fn home(context: &Context) -> Finding {
    const NAME: &str = "folder";
    let home = &context.home;
    let shown = home.display();
    let unusable = |error: &io::Error| Finding::problem(NAME, format!("{shown} can't be used: {error}"), OTHER_FOLDER);
    let existing = existing(home);
    if let Err(error) = tempfile::tempfile_in(existing) {
        return unusable(&error);
    }
    if existing != home {
        return Finding::ok(NAME, format!("{shown} will be created by the first transfer"));
    }
    match open_to_others(home) {
        Err(error) => unusable(&error),
        Ok(Some(mode)) => Finding::warning(
            NAME,
            format!(
                "{shown} holds what you send, and other users of this machine can enter it (its mode is {mode:03o})"
            ),
            format!("run: chmod 700 {}", quoted(&shown.to_string())),
        ),
        Ok(None) => Finding::ok(NAME, format!("{shown} is writable, and only you can enter it")),
    }
}

/// Checks the free space.
pub(super) fn space(context: &Context) -> Finding {
    const NAME: &str = "space";
    match free_space(existing(&context.home)) {
        None => Finding::ok(NAME, "the free space is not known on this system"),
        Some(bytes) => {
            let text = format!("{} MiB free for the ledger, exports and temporary files", bytes >> 20);
            let remedy = "free some space, or set SHEETPORT_HOME to a folder on another disk";
            match bytes {
                ..TOO_LITTLE => Finding::problem(NAME, text, remedy),
                TOO_LITTLE..LITTLE => Finding::warning(NAME, text, remedy),
                _ => Finding::ok(NAME, text),
            }
        }
    }
}

/// Checks the ledger as `runs check` does.
pub(super) async fn ledger(context: &Context) -> Finding {
    const NAME: &str = "ledger";
    if !context.has_ledger() {
        return Finding::ok(NAME, "there are no runs yet");
    }
    match check_runs(context, None).await {
        Err(error) => Finding::failed(NAME, &error),
        Ok(Checked { remedy: Some(remedy), .. }) => {
            Finding::problem(NAME, "it is damaged; `sheetport runs check` says where", remedy)
        }
        Ok(checked) => match older_ledger(context).await {
            Err(error) => Finding::failed(NAME, &error),
            Ok(Some(older)) => Finding::warning(NAME, older, LOOK_UP),
            Ok(None) => Finding::ok(
                NAME,
                match checked.runs.len() {
                    1 => "1 run checked, no damage".to_owned(),
                    runs => format!("{runs} runs checked, no damage"),
                },
            ),
        },
    }
}

/// Returns the folder, or its nearest existing parent.
fn existing(folder: &Path) -> &Path {
    folder.ancestors().find(|folder| folder.is_dir()).unwrap_or(Path::new("."))
}

/// Returns the mode of the folder, if other users have access.
#[cfg(unix)]
fn open_to_others(folder: &Path) -> io::Result<Option<u32>> {
    use std::os::unix::fs::MetadataExt as _;
    let mode = folder.metadata()?.mode() & 0o777;
    Ok((mode & 0o077 != 0).then_some(mode))
}

/// Other systems rely on the permissions of the user's folder.
#[cfg(not(unix))]
fn open_to_others(_: &Path) -> io::Result<Option<u32>> {
    Ok(None)
}

/// Returns the free space available to this user, in bytes.
#[cfg(unix)]
fn free_space(folder: &Path) -> Option<u64> {
    let found = rustix::fs::statvfs(folder).ok()?;
    Some(found.f_bavail.saturating_mul(found.f_frsize))
}

#[cfg(not(unix))]
fn free_space(_: &Path) -> Option<u64> {
    None
}
