//! `plan`: reads a spreadsheet as an upload does, and compares each record with the service before anybody sends it.
//!
//! The planned run stays in the ledger, with what the service had of its records: `apply` sends what is approved of it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use sheetport_ledger::{Accounting, Run, Seq};
use sheetport_plan::Tally;
use sheetport_plan::compare::{Candidate, Change, Connection, Depth, Difference, difference};
use sheetport_plan::sent_before::{Compared, LeftOut};

use super::super::context::Context;
use super::super::count_stocks::counts;
use super::super::error::Error;
use super::super::event::{Event, Observer};
use super::super::learned::{load_sizes, store_learned_sizes};
use super::super::look_again::{LookAgain, Pending};
use super::super::planned_records::{Batch, ToCompare};
use super::super::rate::speed;
use super::super::results::next_command;
use super::super::send::Sending;
use super::changes_file::{new_table, write};
use super::first_changes::{FirstChange, first_changes};
use super::missing::PlannedMissing;
use super::upload::{Begun, Planned, Upload, plan_upload};
use crate::operation::LocalOperation;

/// A planned upload, compared with the service.
#[derive(Debug)]
pub struct PlannedChanges {
    pub run: Run,
    pub accounting: Accounting,
    pub tally: Tally,
    pub difference: Difference,
    /// What the file lacks, if that was asked for.
    pub missing: Option<PlannedMissing>,
    /// The changes that a person should look at first.
    pub first: Vec<FirstChange>,
    /// Records left out because earlier runs sent them.
    pub left_out: Vec<LeftOut>,
    /// The file of the changes, if asked for.
    pub written: Option<PathBuf>,
    /// The command that sends the plan, if there is anything to send.
    pub next: Option<String>,
    /// Requests of the comparison.
    pub requests: u64,
}

/// Plans an upload and compares each of its records with the service. Sends nothing. `output`: a new file for the changes. `most`: how many
/// of the changed fields are listed.
///
/// # Errors
/// Those of an upload, and if the changes can't be written. A service whose records can't be read is no error: the difference says why they
/// were not compared.
pub fn plan_changes<'a>(
    context: &'a Context,
    upload: Upload<'a>,
    output: Option<&'a Path>,
    most: usize,
    observer: Observer<'a>,
) -> LocalOperation<'a, PlannedChanges> {
    Box::pin(async move {
        let output = match output {
            Some(path) => Some((path, new_table(path)?)),
            None => None,
        };
        let options = upload.sending;
        let Planned { ledger, client, run, tally, missing, .. } =
            match plan_upload(context, upload, None, None, observer).await? {
                Begun::Planned(planned) => *planned,
                Begun::Report(upload) => {
                    let file = upload.input.file.name.display();
                    let message = format!("{file} is a report: its rows are sent again by their run");
                    return Err(Error::invalid(
                        message,
                        format!("sheetport retry {file} --dry-run shows what it sends"),
                    ));
                }
            };
        let id = run.id();
        let sending = Sending::unattended(context, &ledger, Some(client.clone()), run, &options, observer);
        let Compared { left_out, .. } = sending.leave_out_sent().await?;
        let planned = sending.run.run();
        let settings = &planned.about.settings;
        let connection = Connection::new(&client, speed(settings, context)?, settings.concurrency);
        load_sizes(context, &connection, client.address()).await;
        let progress = |done, all| observer(Event::Comparing { done, all });
        let looked_at = ledger.now();
        let counts = counts(&ledger, planned).await?;
        let (mut pending, mut has_gone) = (Vec::new(), false);
        let prepare = &mut |candidate: &mut Candidate| {
            candidate.fills = settings.fill_blank && !candidate.is_gone;
            // A file may have a million records, of which nothing else is needed.
            has_gone |= candidate.is_gone;
            if counts || settings.sends_a_part() {
                pending.push(Pending::of(candidate));
            }
            true
        };
        let ToCompare { candidates, not_held, .. } =
            ToCompare::load(context, &ledger, planned, Batch::first(u64::MAX), prepare).await?;
        // Without a look, nobody would know what `apply` must leave alone.
        let is_whole = !settings.sends_a_part() && !has_gone;
        let mut difference = difference(planned.about.record, candidates, Depth::Whole, &connection, &progress).await?;
        difference.not_compared += not_held;
        let look = LookAgain::new(context, &ledger, &client, planned, observer);
        if counts {
            difference = look.settle_counts(&pending, difference).await?;
        }
        if !is_whole {
            let is_compared = |record: &Pending| difference.records.contains_key(&record.seq);
            let needs_look = |record: &Pending| settings.fill_blank || record.only.is_some();
            if not_held > 0 || pending.iter().any(|record| needs_look(record) && !is_compared(record)) {
                return Err(look.not_distinguished(difference.why_not.take()));
            }
            let is_known = |seq: Seq| difference.records.get(&seq).is_some_and(Change::is_known);
            look.settle_others(pending.iter().map(|record| (record, is_known(record.seq)))).await?;
            look.tell();
            let left_out = pending.iter().filter(|record| !record.is_taken(is_known(record.seq)));
            let left_out: BTreeSet<Seq> = left_out.map(|record| record.seq).collect();
            difference.records.retain(|seq, _| !left_out.contains(seq));
            if settings.fill_blank {
                let is_left = |record: &&Pending| difference.records.contains_key(&record.seq);
                look.fill_blanks(pending.iter().filter(is_left), &difference).await?;
            }
        }
        store_learned_sizes(context, &connection, client.address()).await;
        ledger.store_seen(id, difference.seen(), Some(looked_at)).await?;
        let accounting = ledger.accounting(id).await?;
        if accounting.pending == 0 {
            ledger.end_sending(id, 0, None, 0, ledger.now()).await?;
        }
        let run = ledger.run(id).await?;
        let written = match output {
            Some((path, format)) => Some(write(&ledger, &run, &difference, path, format).await?),
            None => None,
        };
        let first = first_changes(&ledger, id, &difference, most).await?;
        let next = (accounting.pending > 0).then(|| next_command::apply(context, id, written.as_deref()));
        drop(sending);
        ledger.close().await;
        let requests = client.requests();
        Ok(PlannedChanges { run, accounting, tally, difference, missing, first, left_out, written, next, requests })
    })
}
