//! Checking and repairing the ledger.

use std::fs;
use std::path::{Path, PathBuf};

use sheetport_files::readers::private_temporary_folder;
use sheetport_ledger::{self as ledger, Claim, DamagedPart, Inspection, Ledger, LockedRun, Repaired, RunId};
use sheetport_plan::sent_before;

use super::super::command_line::CommandLine;
use super::super::context::{Context, now};
use super::super::error::Error;
use crate::operation::Operation;

/// The result of checking the ledger.
#[derive(Clone, Debug, Default)]
pub struct Checked {
    /// Problems of the file as a whole.
    pub file: Vec<String>,
    /// The checked runs, newest first.
    pub runs: Vec<Inspection>,
    /// The command for repairing the damage.
    pub next: Option<String>,
}

/// The result of repairing the ledger.
#[derive(Clone, Debug, Default)]
pub struct RepairedRuns {
    /// A copy of the ledger before the repair, if there was any damage.
    pub copy: Option<PathBuf>,
    /// Problems of the file as a whole, and whether the file is now undamaged.
    pub file: Vec<String>,
    pub is_file_whole: bool,
    pub runs: Vec<(RunId, Repaired)>,
}

impl Checked {
    pub fn is_damaged(&self) -> bool {
        !self.file.is_empty() || self.runs.iter().any(|run| !run.damage.is_empty())
    }
}

/// Verifies the stored data of a run against checksums and counts; for `None`, of all runs and the file. Changes nothing.
pub fn check_runs(context: &Context, run: Option<RunId>) -> Operation<'_, Checked> {
    Box::pin(async move {
        if !context.has_ledger() {
            return Err(ledger::Error::NoRuns.into());
        }
        let mut checked = Checked::default();
        match context.ledger().await {
            Ok(ledger) => {
                checked = inspect(&ledger, run).await?;
                ledger.close().await;
            }
            Err(Error::Ledger(error)) if error.is_damage() => checked.file.push(error.to_string()),
            Err(error) => return Err(error),
        }
        if checked.is_damaged() && context.server.is_none() {
            let command = CommandLine::new(context, "runs repair");
            checked.next = Some(run.iter().fold(command, |command, run| command.run(*run)).to_string());
        }
        Ok(checked)
    })
}

/// Rebuilds lost or altered data of a run as far as possible; for `None`, of all runs and the file. Keeps a copy of the original
/// ledger.
///
/// # Errors
/// [`ledger::Error::OnlyForFiles`] if the ledger is on a server. [`ledger::Error::Busy`] if another process is working on one of
/// the runs.
pub fn repair_runs(context: &Context, run: Option<RunId>) -> Operation<'_, RepairedRuns> {
    Box::pin(async move {
        let home = &context.home;
        if context.server.is_some() {
            return Err(ledger::Error::OnlyForFiles("`sheetport runs repair`").into());
        }
        if !context.has_ledger() {
            return Err(ledger::Error::NoRuns.into());
        }
        let time = jiff::Timestamp::now().strftime("%Y%m%d-%H%M%S");
        let name = (0..).map(|nth| match nth {
            0 => format!("damaged-{time}"),
            nth => format!("damaged-{time}-{nth}"),
        });
        let name = name.into_iter().find(|name| !home.join(format!("ledger.db.{name}")).exists());
        // Opening the ledger may change the file, so the copy comes first.
        let copy = Ledger::copy_files(home, &name.unwrap_or_default())?;
        let has_lost_changes = Ledger::has_lost_changes(home)?;
        let mut ledger = match Ledger::open_damaged(home).await {
            Err(error) if error.is_damage() => {
                Ledger::remove_copy(&copy)?;
                let hint = "restore the ledger's folder from a backup, or set SHEETPORT_HOME to a new folder; what was sent is not \
                        recognized there, so look it up in the service first";
                return Err(Error::Local { message: format!("{error}; it can't be rebuilt"), hint: hint.to_owned() });
            }
            ledger => ledger?,
        };
        let found = inspect(&ledger, run).await?;
        if !found.is_damaged() && !has_lost_changes {
            ledger.close().await;
            Ledger::remove_copy(&copy)?;
            return Ok(RepairedRuns { is_file_whole: true, ..RepairedRuns::default() });
        }
        let locked = lock_all(&ledger).await?;
        let mut repaired = RepairedRuns { copy: Some(copy), is_file_whole: true, ..RepairedRuns::default() };
        if has_lost_changes {
            repaired.file.push("its latest changes can't be read, and are lost".to_owned());
        }
        let mut runs = found.runs;
        if !found.file.is_empty() {
            repaired.file.extend(found.file);
            if !ledger.rebuild_file().await? {
                ledger = replaced(ledger, home).await?;
            }
            let again = inspect(&ledger, None).await?;
            repaired.is_file_whole = again.file.is_empty();
            runs = again.runs;
        }
        for found in runs {
            let is_affected = !found.damage.is_empty() || has_lost_changes;
            if is_affected {
                let claims = claims(&ledger, &found).await?;
                let result = ledger.repair(&found, has_lost_changes, &claims, now()).await?;
                if !found.damage.is_empty() || result.unknown > 0 {
                    repaired.runs.push((found.run, result));
                }
            }
        }
        drop(locked);
        ledger.close().await;
        Ok(repaired)
    })
}

/// Checks a run; for `None`, all runs and the file.
pub(super) async fn inspect(ledger: &Ledger, run: Option<RunId>) -> Result<Checked, Error> {
    let mut checked = Checked::default();
    if let Some(run) = run {
        match ledger.run(run).await {
            Err(error @ ledger::Error::NoSuchRun(_)) => return Err(error.into()),
            _ => checked.runs.push(ledger.inspect(run).await?),
        }
        return Ok(checked);
    }
    checked.file = ledger.inspect_file().await?;
    for run in all_runs(ledger).await? {
        checked.runs.push(ledger.inspect(run).await?);
    }
    Ok(checked)
}

/// Returns the numbers of all runs, newest first.
async fn all_runs(ledger: &Ledger) -> Result<Vec<RunId>, Error> {
    let (mut all, mut ids) = (Vec::new(), ledger.run_ids());
    loop {
        match ids.next().await {
            Ok(Some(id)) => all.push(id),
            Ok(None) => return Ok(all),
            // The damage of the file is known.
            Err(error) if error.is_damage() => return Ok(all),
            Err(error) => return Err(error.into()),
        }
    }
}

/// Locks all runs with a readable row. Related runs and uploads of the same file share a lock.
async fn lock_all(ledger: &Ledger) -> Result<Vec<LockedRun>, Error> {
    let mut locked: Vec<LockedRun> = Vec::new();
    let mut families: Vec<RunId> = Vec::new();
    for run in all_runs(ledger).await? {
        if families.contains(&run) {
            continue;
        }
        match ledger.lock_run(run).await {
            Ok(run) => {
                let members = ledger.family(run.run()).await;
                families.extend(members.iter().flat_map(|family| family.runs.iter().map(|member| member.id)));
                locked.push(run);
            }
            // Uploads of the same file share a lock.
            Err(ledger::Error::Busy { .. }) if shares_lock(ledger, &locked, run).await? => {}
            Err(error) if error.is_damage() => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(locked)
}

/// Returns whether one of the locks also covers the upload of `run`.
async fn shares_lock(ledger: &Ledger, locked: &[LockedRun], run: RunId) -> Result<bool, Error> {
    let about = ledger.run(run).await?.about;
    Ok(locked.iter().map(|other| &other.run().about).any(|other| {
        (&other.base_url, &other.workspace, other.record, &other.file_hash)
            == (&about.base_url, &about.workspace, about.record, &about.file_hash)
    }))
}

/// Replaces the ledger by a new ledger with the readable data.
async fn replaced(ledger: Ledger, home: &Path) -> Result<Ledger, Error> {
    let folder = private_temporary_folder(home, "repair-", "");
    let local = |error: std::io::Error| Error::Local {
        message: format!("the repaired ledger can't be written: {error}"),
        hint: "free some disk space, then repair again; the ledger is as it was".to_owned(),
    };
    let folder = folder.map_err(local)?;
    ledger.salvage(folder.path()).await?;
    ledger.close().await;
    for suffix in ["-wal", "-shm"] {
        let path = home.join(format!("ledger.db{suffix}"));
        if path.exists() {
            fs::remove_file(path).map_err(local)?;
        }
    }
    fs::rename(folder.path().join("ledger.db"), home.join("ledger.db")).map_err(local)?;
    Ok(Ledger::open(home).await?)
}

/// Returns the claims of a run according to its plan, if stored claims are damaged.
async fn claims(ledger: &Ledger, found: &Inspection) -> Result<Vec<Claim>, Error> {
    if !found.is_damaged(DamagedPart::Claims) || found.lasting_damage().is_some() {
        return Ok(Vec::new());
    }
    Ok(sent_before::claims(ledger, &ledger.run(found.run).await?).await?)
}
