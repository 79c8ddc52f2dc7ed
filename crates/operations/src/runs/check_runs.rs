//! Checking the ledger.

use sheetport_ledger::{self as ledger, Inspection, Ledger, RunId};

use super::super::context::Context;
use super::super::error::Error;
use crate::operation::Operation;

/// The result of checking the ledger.
#[derive(Clone, Debug, Default)]
pub struct Checked {
    /// Problems of the file as a whole.
    pub file: Vec<String>,
    /// The checked runs, newest first.
    pub runs: Vec<Inspection>,
    /// How to go on without the damaged ledger.
    pub remedy: Option<&'static str>,
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
        let mut checked = match context.readable_ledger().await {
            Ok(ledger) => {
                let checked = inspect(&ledger, run).await?;
                ledger.close().await;
                checked
            }
            Err(Error::Ledger(error)) if error.is_damage() => {
                Checked { file: vec![error.to_string()], ..Checked::default() }
            }
            Err(error) => return Err(error),
        };
        checked.remedy = checked.is_damaged().then_some(match context.server {
            Some(_) => "check and restore the database with PostgreSQL's own tools",
            None => ledger::GO_ON,
        });
        Ok(checked)
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
