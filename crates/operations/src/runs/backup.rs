//! A copy of the ledger in a file, also while it is written. The obvious copy of `ledger.db` would lack what is in its log.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use sheetport_files::absolute_path::absolute;
use sheetport_ledger::{self as ledger, Ledger};
use sheetport_sheet::write::sync_folder;

use super::super::command_line::quoted;
use super::super::context::Context;
use super::super::error::Error;
use super::check_runs::{Checked, inspect};
use crate::operation::Operation;

/// A backup that was written.
#[derive(Clone, Debug)]
pub struct Backup {
    pub path: PathBuf,
    pub bytes: u64,
    pub runs: usize,
}

/// Writes the ledger as of now into a new file, which appears complete or not at all, readable only by its owner. The copy was
/// checked like `runs check` does.
///
/// # Errors
/// If the file exists, unless it is to be replaced; if the copy is damaged; or if the ledger is on a server.
pub fn backup<'a>(context: &'a Context, path: &'a Path, replaces: bool) -> Operation<'a, Backup> {
    Box::pin(async move {
        if let Some(server) = &context.server {
            return Err(Error::invalid(
                "the ledger is on a PostgreSQL server, which has its own backups",
                format!("run: pg_dump --format=custom --file={} {server}", quoted(&path.display().to_string())),
            ));
        }
        if !context.has_ledger() {
            return Err(ledger::Error::NoRuns.into());
        }
        let path = absolute(path);
        if path.exists() && !replaces {
            return Err(exists(&path));
        }
        let failed = |error: io::Error| Error::Local {
            message: format!("{} can't be written: {error}", path.display()),
            hint: "choose a folder with enough space where you may write".to_owned(),
        };
        let folder = path.parent().unwrap_or(Path::new("/"));
        let temporary = tempfile::Builder::new().prefix(".sheetport-backup-").tempdir_in(folder).map_err(failed)?;
        let ledger = context.ledger().await?;
        let copy = temporary.path().join("ledger.db");
        let copied = ledger.copy_into(&copy).await;
        ledger.close().await;
        copied?;
        let checked = check(temporary.path()).await?;
        let file = fs::File::options().read(true).write(true).open(&copy).map_err(failed)?;
        #[cfg(unix)]
        file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o600)).map_err(failed)?;
        file.sync_all().map_err(failed)?;
        let bytes = file.metadata().map_err(failed)?.len();
        drop(file);
        match replaces {
            true => fs::rename(&copy, &path).map_err(failed)?,
            // A hard link never replaces another file.
            false => match fs::hard_link(&copy, &path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Err(exists(&path)),
                Err(_) if !path.exists() => fs::rename(&copy, &path).map_err(failed)?,
                linked => linked.map_err(failed)?,
            },
        }
        sync_folder(folder).map_err(failed)?;
        Ok(Backup { path, bytes, runs: checked.runs.len() })
    })
}

/// Checks the copy in `folder`, and leaves all of it in one file.
pub(crate) async fn check(folder: &Path) -> Result<Checked, Error> {
    let copy = Ledger::open(folder).await?;
    let checked = inspect(&copy, None).await;
    copy.close().await;
    let checked = checked?;
    if checked.is_damaged() {
        return Err(Error::Local {
            message: "the ledger is damaged, so it was not copied".to_owned(),
            hint: format!("`sheetport runs check` shows what is damaged; {}", ledger::GO_ON),
        });
    }
    Ok(checked)
}

fn exists(path: &Path) -> Error {
    Error::invalid(format!("{} already exists", path.display()), "choose another name, or add --replace")
}
