//! `plan`: reads a spreadsheet as an upload does, and compares each record with the service before anybody sends it.
//!
//! The planned run stays in the ledger: `resume` sends exactly what was compared.

use std::path::{Path, PathBuf};

use sheetport_findings::SkipReason;
use sheetport_ledger::{
    Accounting, Disposition, KeyScope, Ledger, OtherRequest, Outcome, Part, PlannedRecord, Run, Seq, SheetSelection,
};
use sheetport_plan::Tally;
use sheetport_plan::compare::{
    Candidate, Change, ChangedField, Connection, Depth, Difference, LastSent, OddChange, difference,
};
use sheetport_plan::sent_before::{Compared, LeftOut};
use sheetport_sheet::write::{FileFormat, Style, Value, ValueTable};
use sheetport_storage::ObjectAddress;

use super::super::context::{Context, now};
use super::super::error::Error;
use super::super::event::{Event, Observer};
use super::super::learned::{load_sizes, store_learned_sizes};
use super::super::results::next_command;
use super::super::send::{Sending, speed};
use super::upload::{Begun, Planned, Upload, plan_upload};
use crate::operation::LocalOperation;

/// Maximum memory for the records of a comparison, in bytes. Further records are not compared.
const MAX_HELD: usize = 1 << 30;
/// Memory for a record beside its request and the one sent before: names, ids, places in maps, and the change.
const RECORD: usize = 500;
/// The columns of a file of changes. Programs read them, so they are not translated.
const COLUMNS: [&str; 7] = ["row", "record", "change", "field", "now", "planned", "remark"];
const SHEET: &str = "sheet";

/// A planned upload, compared with the service.
#[derive(Debug)]
pub struct PlannedChanges {
    pub run: Run,
    pub accounting: Accounting,
    pub tally: Tally,
    pub difference: Difference,
    /// Records left out because earlier runs sent them.
    pub left_out: Vec<LeftOut>,
    /// The file of the changes, if asked for.
    pub written: Option<PathBuf>,
    /// The command that sends the plan, if there is anything to send.
    pub next: Option<String>,
    /// Requests of the comparison.
    pub requests: u64,
}

/// Plans an upload and compares each of its records with the service. Sends nothing. `output`: a new file for the changes.
///
/// # Errors
/// Those of an upload, and if the changes can't be written. A service whose records can't be read is no error: the difference says why they
/// were not compared.
pub fn plan_changes<'a>(
    context: &'a Context,
    upload: Upload<'a>,
    output: Option<&'a Path>,
    observer: Observer<'a>,
) -> LocalOperation<'a, PlannedChanges> {
    Box::pin(async move {
        let output = match output {
            Some(path) => Some((path, new_table(path)?)),
            None => None,
        };
        let Planned { ledger, client, run, tally, .. } = match plan_upload(context, upload, None, None, observer)
            .await?
        {
            Begun::Planned(planned) => *planned,
            Begun::Report(upload) => {
                let file = upload.input.file.name.display();
                let message = format!("{file} is a report: its rows are sent again by their run");
                return Err(Error::invalid(message, format!("sheetport retry {file} --dry-run shows what it sends")));
            }
        };
        let id = run.id();
        let sending = Sending {
            context,
            ledger: &ledger,
            client: Some(client.clone()),
            run,
            report: None,
            answer: None,
            is_to_queue: false,
            asks_of_edited: None,
            observer,
        };
        let Compared { left_out, .. } = sending.leave_out_sent().await?;
        let planned = sending.run.run();
        let settings = &planned.about.settings;
        let connection = Connection::new(&client, speed(settings, context)?, settings.concurrency);
        load_sizes(context, &connection, client.address()).await;
        let progress = |done, all| observer(Event::Comparing { done, all });
        let (mut candidates, not_held) = candidates(&ledger, planned).await?;
        add_last_sent(&ledger, planned, &mut candidates).await?;
        let mut difference = difference(planned.about.record, candidates, Depth::Whole, &connection, &progress).await;
        difference.not_compared += not_held;
        store_learned_sizes(context, &connection, client.address()).await;
        let accounting = ledger.accounting(id).await?;
        if accounting.pending == 0 {
            ledger.end_sending(id, 0, None, 0, now()).await?;
        }
        let run = ledger.run(id).await?;
        let written = match output {
            Some((path, format)) => Some(write(&ledger, &run, &difference, path, format).await?),
            None => None,
        };
        let next = (accounting.pending > 0).then(|| next_command::resume(context, id));
        drop(sending);
        ledger.close().await;
        Ok(PlannedChanges { run, accounting, tally, difference, left_out, written, next, requests: client.requests() })
    })
}

/// Returns the format of a new file for changes.
fn new_table(path: &Path) -> Result<FileFormat, Error> {
    let format = FileFormat::of(path).ok_or_else(|| {
        let message = format!("{} has no extension that says what to write", path.display());
        Error::invalid(message, format!("name it {}", FileFormat::NAMES))
    })?;
    if ObjectAddress::of(path)?.is_some() {
        let message = format!("{} is in a bucket, but changes are written to a file on this machine", path.display());
        return Err(Error::invalid(message, "name a file in a folder"));
    }
    if path.exists() {
        let message = format!("{} exists already", path.display());
        return Err(Error::invalid(message, "choose another name for the changes, or remove the file"));
    }
    Ok(format)
}

/// Returns the pending records of a run, and the number of those beyond the limit.
async fn candidates(ledger: &Ledger, run: &Run) -> Result<(Vec<Candidate>, u64), Error> {
    let (mut held, mut bytes, mut not_held) = (Vec::new(), 0, 0);
    let mut from: Seq = Part::whole(run.id).first;
    while let Some(block) = ledger.record_block(run.id, from).await? {
        from = block.end();
        let settled = ledger.settled(run.id, block.first..=from - 1).await?;
        for (seq, record) in (block.first..).zip(block.records) {
            let Some(candidate) = Candidate::of(seq, record).filter(|_| !settled.contains(&seq)) else { continue };
            if bytes < MAX_HELD {
                bytes += RECORD + 2 * candidate.body.len();
                held.push(candidate);
            } else {
                not_held += 1;
            }
        }
    }
    Ok((held, not_held))
}

/// Adds what earlier runs sent for these records.
async fn add_last_sent(ledger: &Ledger, run: &Run, candidates: &mut [Candidate]) -> Result<(), Error> {
    if !run.about.record.input().may_be_repeated() {
        return Ok(());
    }
    ledger.update_accepted(KeyScope::of(run), Some(run.id)).await?;
    let identities: Vec<&str> = candidates.iter().map(Candidate::identity).collect();
    let mut all = vec![LastSent::default(); identities.len()];
    let take = |place: usize, request: OtherRequest, id: Option<&str>, body: &str| {
        let sent = &mut all[place];
        if sent.id.is_none() {
            sent.id = id.map(Into::into);
        }
        if sent.body.is_none() && request.is_accepted {
            sent.body = Some(body.into());
        }
        sent.id.is_some() && sent.body.is_some()
    };
    ledger.last_bodies(KeyScope::of(run), &identities, take).await?;
    for (candidate, sent) in candidates.iter_mut().zip(all) {
        candidate.sent = sent;
    }
    Ok(())
}

/// Writes a row for each changed field, and one for each other record.
async fn write(
    ledger: &Ledger,
    run: &Run,
    difference: &Difference,
    path: &Path,
    format: FileFormat,
) -> Result<PathBuf, Error> {
    let has_sheets = !matches!(run.about.sheet, SheetSelection::One(_));
    let header = has_sheets.then_some(SHEET).into_iter().chain(COLUMNS).map(str::to_owned).collect::<Vec<_>>();
    let mut table = ValueTable::create(path, format, Style::default(), "changes", &header)?;
    let mut from: Seq = 0;
    while let Some(block) = ledger.records_without_bodies(run.id, from, 1).await?.filter(|block| block.end() > from) {
        from = block.end();
        let outcomes = ledger.outcomes(run.id, block.first..=from - 1).await?;
        for (seq, record) in block.numbered() {
            let state = State::of(record, outcomes.get(&seq), difference.records.get(&seq));
            let row = record.rows.first().map(u64::to_string).unwrap_or_default();
            let start = [
                has_sheets.then(|| text(&record.sheet)),
                Some(if row.is_empty() { Value::Blank } else { Value::Number(&row) }),
                Some(text(record.key.as_deref().unwrap_or_default())),
                Some(text(state.name)),
            ];
            let start: Vec<Value<'_>> = start.into_iter().flatten().collect();
            for ChangedField { field, old, new, is_number, is_as_sent, odd } in state.fields {
                let remarks = [odd.map(remark), is_as_sent.then_some("now as last sent from here")];
                let remark = remarks.into_iter().flatten().collect::<Vec<_>>().join("; ");
                let rest = [text(field), value(old, *is_number), value(new, *is_number), text(&remark)];
                table.row(&start.iter().cloned().chain(rest).collect::<Vec<_>>())?;
            }
            if state.fields.is_empty() {
                let rest = [Value::Blank, Value::Blank, Value::Blank, text(&state.remark)];
                table.row(&start.iter().cloned().chain(rest).collect::<Vec<_>>())?;
            }
        }
    }
    table.finish_as(path.to_owned())?;
    Ok(path.to_owned())
}

/// What happens to a record, for the file of changes.
struct State<'a> {
    name: &'static str,
    fields: &'a [ChangedField],
    remark: String,
}

impl<'a> State<'a> {
    fn of(record: &PlannedRecord<()>, outcome: Option<&Outcome>, change: Option<&'a Change>) -> State<'a> {
        let plain = |name| State { name, fields: &[], remark: String::new() };
        let problem = match (&record.disposition, outcome) {
            (Disposition::Rejected(problems), _) => problems.first(),
            (_, Some(outcome)) => outcome.problems.first(),
            _ => None,
        };
        let remark = problem.map(|problem| problem.message.clone()).unwrap_or_default();
        match (&record.disposition, outcome, change) {
            (Disposition::Rejected(_), ..) => State { remark, ..plain("refused") },
            (Disposition::Skipped(SkipReason::AlreadySent), ..) | (Disposition::AcceptedEarlier(_), ..) => {
                plain("sent before")
            }
            (Disposition::Skipped(_), ..) => plain("left out"),
            (Disposition::Send(()), Some(outcome), _) => State { remark, ..plain(outcome.state.name()) },
            (Disposition::Send(()), None, None) => plain("not compared"),
            (Disposition::Send(()), None, Some(change)) => match change {
                Change::New => plain("new"),
                Change::Changed(fields) => State { fields, ..plain("changed") },
                Change::Unchanged => plain("unchanged"),
                Change::NotShown => plain("not shown"),
                Change::Missing => plain("not there"),
            },
        }
    }
}

fn text(text: &str) -> Value<'_> {
    if text.is_empty() { Value::Blank } else { Value::Text(text.into()) }
}

fn value(shown: &str, is_number: bool) -> Value<'_> {
    if is_number && !shown.is_empty() { Value::Number(shown) } else { text(shown) }
}

fn remark(odd: OddChange) -> &'static str {
    match odd {
        OddChange::TenTimes => "ten times as large or more",
        OddChange::TenthOrLess => "a tenth or less",
        OddChange::Zero => "becomes 0",
        OddChange::Blank => "becomes blank",
    }
}
