//! Erasing what the ledger stores about the records with one key, such as those of a person, in every run.

use std::collections::BTreeSet;

use sheetport_ledger::{self as ledger, Erased, KeyScope, Ledger, Run, RunId, SourceRow};
use sheetport_sheet::Row;

use super::super::context::Context;
use super::super::error::Error;
use crate::operation::Operation;

/// Texts shorter than this are in too many sentences to say whose they are.
const TELLING: usize = 3;

/// The result of erasing a key.
#[derive(Clone, Debug, Default)]
pub struct ErasedKey {
    /// What was erased, by run, newest first.
    pub runs: Vec<(RunId, Erased)>,
    /// Runs with the key of which nothing was erased, each with the reason.
    pub kept: Vec<(RunId, &'static str)>,
    /// Files with the records that are not part of the ledger: spreadsheets, and their reports as far as they are known.
    pub files: Vec<String>,
    /// Another process uses the log of the ledger, which still has parts of what was erased.
    pub is_log_in_use: bool,
}

/// Erases what the ledger stores about the records with this key or id. `dry_run` erases nothing.
pub fn erase_key<'a>(context: &'a Context, key: &'a str, dry_run: bool) -> Operation<'a, ErasedKey> {
    Box::pin(async move {
        if !context.has_ledger() {
            return Err(ledger::Error::NoRuns.into());
        }
        let ledger = context.ledger().await?;
        ledger.overwrite_deleted().await?;
        let mut erased = ErasedKey::default();
        let mut ids = ledger.run_ids();
        while let Some(id) = ids.next().await? {
            match ledger.run(id).await {
                Err(error) if error.is_damage() => erased.kept.push((id, "it is damaged; see `sheetport runs check`")),
                run => erase_of_run(&ledger, &run?, key, dry_run, &mut erased).await?,
            }
        }
        if !erased.runs.is_empty() && !dry_run {
            erased.is_log_in_use = !ledger.erase_deleted().await?;
        }
        ledger.close().await;
        erased.files.sort();
        erased.files.dedup();
        Ok(erased)
    })
}

async fn erase_of_run(
    ledger: &Ledger,
    run: &Run,
    key: &str,
    dry_run: bool,
    erased: &mut ErasedKey,
) -> Result<(), Error> {
    let records = ledger.records_of_key(run.id, key).await?;
    if records.is_empty() {
        return Ok(());
    }
    erased.files.push(run.about.file.clone());
    erased.files.extend(run.about.settings.report.as_ref().map(|report| report.display().to_string()));
    let locked = match ledger.lock_run(run.id).await {
        Err(ledger::Error::Busy { .. }) => {
            erased.kept.push((run.id, "another process is using it"));
            return Ok(());
        }
        locked => locked?,
    };
    if ledger.is_any_in_flight(run.id, &records).await? {
        erased.kept.push((run.id, "a record may be in flight; resume the run first"));
        return Ok(());
    }
    if dry_run {
        erased.runs.push((run.id, Erased { records: records.len() as u64, ..Erased::default() }));
        return Ok(());
    }
    // Keeps the hashes of the accepted payloads for --changed-only.
    ledger.update_accepted(KeyScope::of(run), None).await?;
    let texts = texts_of(ledger, run.id, &records, key).await?;
    let is_quoting = |sentence: &str| texts.iter().any(|text| sentence.contains(text.as_str()));
    let mut blank = |row: &SourceRow| {
        let (mut empty, mut cells) = (Row::default(), Vec::new());
        empty.clear(row.number);
        empty.encode(&mut cells);
        cells
    };
    let of_run = ledger.erase(&locked, &records, &mut blank, &is_quoting, ledger.now()).await?;
    erased.runs.push((run.id, of_run));
    Ok(())
}

/// Returns the key and the texts in the rows of the records, which sentences about the file may quote.
async fn texts_of(ledger: &Ledger, run: RunId, records: &BTreeSet<i64>, key: &str) -> Result<Vec<String>, Error> {
    let mut texts = vec![key.to_owned()];
    let mut from = 0;
    let mut cells = Row::default();
    while let Some(block) = ledger.source_block(run, from).await? {
        from = block.end();
        for row in block.rows.iter().filter(|row| records.contains(&row.seq)) {
            if cells.decode_one(&row.cells).is_some() {
                texts.extend(
                    cells.cells().map(|cell| cell.shown().into_owned()).filter(|text| text.chars().count() >= TELLING),
                );
            }
        }
    }
    Ok(texts)
}
