//! `undo`: plans the way back of a run.
//!
//! The undo is a run of its own, with a record for each record of the run that is taken back, at the same position. Its plan is kept with what
//! the service has now, so that `apply` sends it, and it can be taken back as well.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use sheetport_findings::{Code, SkipReason};
use sheetport_ledger::{
    self as ledger, Accounting, AllowRepeat, Causes, Disposition, KeyScope, Ledger, NewRun, OtherRequest, Outcome,
    PlannedRecord, Problem, RecordState, Run, RunCommand, RunId, RunSettings, RunState, Seen, Seq, SourceRow,
};
use sheetport_plan::compare::{
    Candidate, Candidates, Change, Connection, Depth, Difference, LastSent, WhyNot, difference, difference_from,
};
use sheetport_plan::undo::{Now, SentRecord, WayBack, needs_no_look, way_back};
use sheetport_records::RecordKind;

use super::super::context::Context;
use super::super::error::Error;
use super::super::event::{Event, Observer};
use super::super::files::{check_report_path, lasting};
use super::super::learned::{load_sizes, store_learned_sizes};
use super::super::look_again::not_read_for_undo;
use super::super::rate::speed;
use super::super::results::next_command;
use super::super::send::{SendOptions, Sending};
use super::super::uploads::changes_file;
use super::list_runs::gone;
use super::resume::{Bound, NOT_READ, bind, refused};
use crate::operation::LocalOperation;

const UNDONE: &str = "taken back";

/// A run to take back.
#[derive(Clone, Copy, Debug)]
pub struct Undo<'a> {
    pub run: RunId,
    /// Only the records that begin on these rows. `None`: all.
    pub rows: Option<(u64, u64)>,
    /// A new file for the changes.
    pub output: Option<&'a Path>,
    pub sending: SendOptions<'a>,
}

/// The planned undo of a run.
#[derive(Debug)]
pub struct PlannedUndo {
    pub run: Run,
    pub accounting: Accounting,
    pub ways: WaysBack,
    /// What the undo changes in the service.
    pub difference: Difference,
    /// Why records and fields stay as they are.
    pub causes: Causes,
    /// The file of the changes, if asked for.
    pub written: Option<PathBuf>,
    /// The command that sends the plan, if there is anything to send.
    pub next: Option<String>,
    /// Requests of the comparison.
    pub requests: u64,
}

/// The records that a run has sent, by what becomes of them.
#[derive(Clone, Copy, Debug, Default)]
pub struct WaysBack {
    /// The run that is taken back.
    pub of: RunId,
    /// Those that are to be taken back.
    pub returned: u64,
    /// Those of them with a field that stays as it is.
    pub partly: u64,
    /// Edited by somebody since, or uploaded anew.
    pub kept: u64,
    pub cannot: u64,
    /// With the values from before the run.
    pub as_before: u64,
    /// Taken back by another undo of the same run.
    pub taken_back_before: u64,
}

/// Plans to take a run back. Sends nothing. A plan of the same undo that was never applied is withheld.
///
/// # Errors
/// If the run can't be taken back here and now, it is not known what the service had before, or the service can't be read.
pub fn plan_undo<'a>(
    context: &'a Context,
    request: Undo<'a>,
    observer: Observer<'a>,
) -> LocalOperation<'a, PlannedUndo> {
    Box::pin(async move {
        check_report_path(context, request.sending.report).await?;
        let output = match request.output {
            Some(path) => Some((path, changes_file::new_table(path)?)),
            None => None,
        };
        let ledger = context.ledger().await?;
        let run = match ledger.run(request.run).await {
            Err(ledger::Error::NoSuchRun(id)) => return Err(gone(&ledger, id).await?),
            run => run?,
        };
        check_was_sent(context, &run)?;
        check_leads_one_way(context, &ledger, &run).await?;
        let settings = settings(&request.sending, &run);
        let Bound { context, client, run: locked } = bind(&ledger, &run, context, settings.concurrency, UNDONE).await?;
        check_was_sent(&context, locked.run())?;
        let settings = RunSettings { connection: context.run_connection(), ..settings };
        let waiting = waiting(&context, &ledger, run.id).await?;

        let looked_at = ledger.now();
        let mut sent = Sent::load(&ledger, locked.run(), request.rows).await?;
        let connection = Connection::new(&client, speed(&settings, &context)?, settings.concurrency);
        load_sizes(&context, &connection, client.address()).await;
        let progress = |done, all| observer(Event::Comparing { done, all });
        let candidates = Candidates::of(&context.home, std::mem::take(&mut sent.candidates))?;
        sent.now = difference(run.about.record, candidates, Depth::Fields, &connection, &progress).await?;
        store_learned_sizes(&context, &connection, client.address()).await;
        if matches!(sent.now.why_not, Some(WhyNot::Failed(_) | WhyNot::Incomplete(_))) {
            return Err(not_read_for_undo(sent.now.why_not.take()));
        }

        let about = NewRun {
            command: RunCommand::Undo,
            retry_of: None,
            undo_of: Some(run.id),
            chosen: request.rows,
            options: Vec::new(),
            settings,
            ..run.about.clone()
        };
        let mut planned = Planned { ways: WaysBack { of: run.id, ..WaysBack::default() }, ..Planned::default() };
        let undo = planned.write(&ledger, locked.run(), &about, &sent, looked_at).await?;
        let locked = ledger.lock_run_with(locked.into_lock(), undo).await?;
        let Planned { mut ways, mut causes, returns } = planned;
        let mut difference = difference_from(run.about.record, returns);
        ledger.store_seen(undo, difference.seen(), Some(looked_at)).await?;
        for older in waiting {
            ledger.withhold(older, ledger.now()).await?;
        }
        let sending = Sending::unattended(&context, &ledger, Some(client.clone()), locked, &request.sending, observer);
        let compared = sending.leave_out_sent().await?;
        for left_out in &compared.left_out {
            *(if left_out.is_undo { &mut ways.taken_back_before } else { &mut ways.kept }) += left_out.records;
            causes.add_counted(left_out.records, &left_out.rows, &left_out.warning(sending.run.run()));
        }
        let accounting = ledger.accounting(undo).await?;
        ways.cannot += compared.rejected;
        ways.returned = accounting.pending;
        // Movements alone are new records.
        difference.new = difference.new.min(accounting.pending);
        if accounting.pending == 0 {
            ledger.end_sending(undo, 0, None, 0, ledger.now()).await?;
        }
        let run = ledger.run(undo).await?;
        let written = match output {
            Some((path, format)) => Some(changes_file::write(&ledger, &run, &difference, path, format).await?),
            None => None,
        };
        let next = (accounting.pending > 0).then(|| next_command::apply(&context, undo, written.as_deref()));
        drop(sending);
        ledger.close().await;
        Ok(PlannedUndo { run, accounting, ways, difference, causes, written, next, requests: client.requests() })
    })
}

/// Returns the settings of the undo of a run: those of its connection, and none that are about its file.
fn settings(options: &SendOptions<'_>, run: &Run) -> RunSettings {
    RunSettings {
        report: options.report.map(lasting),
        all_or_nothing: false,
        strict: false,
        accept: Vec::new(),
        changed_only: false,
        keep_lines: false,
        only: None,
        commands: false,
        fill_blank: false,
        undoable: false,
        allow_repeat: AllowRepeat::None,
        ..options.over(&run.about.settings)
    }
}

/// Refuses runs of which nothing was sent, and those that workers are sending.
fn check_was_sent(context: &Context, run: &Run) -> Result<(), Error> {
    let refuse = |reason: &str, hint: &str| Err(refused(run.id, UNDONE, reason, hint));
    match run.state {
        RunState::Planning => refuse(NOT_READ, "nothing has to be taken back"),
        RunState::Withheld => refuse("nothing of it was sent", "nothing has to be taken back"),
        RunState::Queued => {
            let hint = format!("to wait for them: `{}`", next_command::wait(context, run.id));
            refuse("workers are sending it", &hint)
        }
        RunState::Planned | RunState::Finished => Ok(()),
    }
}

/// Refuses to take back a run that has brought records back which must not be sent twice: the run that has sent them first is taken back
/// again instead. Of two ways to take the same movement back, none would see that the other was gone.
async fn check_leads_one_way(context: &Context, ledger: &Ledger, run: &Run) -> Result<(), Error> {
    let Some(undo) = run.about.undo_of.filter(|_| run.about.record.input().must_not_repeat()) else { return Ok(()) };
    let first = match ledger.run(undo).await {
        Ok(undo) => undo.about.undo_of,
        Err(ledger::Error::NoSuchRun(_)) => None,
        Err(error) => return Err(error.into()),
    };
    let Some(first) = first else { return Ok(()) };
    let reason = format!("it has brought back what run {first} had sent");
    let hint = format!("to take that back again: `{}`", next_command::undo(context, first));
    Err(refused(run.id, UNDONE, &reason, &hint))
}

/// Returns the plans to take the run back that nobody has applied.
///
/// # Errors
/// If one of them was begun, and is not finished.
async fn waiting(context: &Context, ledger: &Ledger, undone: RunId) -> Result<Vec<RunId>, Error> {
    let mut waiting = Vec::new();
    for id in ledger.undone_by(undone).await? {
        let undo = ledger.run(id).await?;
        if !matches!(undo.state, RunState::Planned | RunState::Queued) {
            continue;
        }
        if undo.state == RunState::Planned && !ledger.is_begun(id).await? {
            waiting.push(id);
        } else if ledger.accounting(id).await?.pending > 0 {
            let hint = format!("to go on: `{}`", next_command::go_on(context, id));
            let reason = format!("run {id} is taking it back, and is not finished");
            return Err(refused(undone, UNDONE, &reason, &hint));
        }
    }
    Ok(waiting)
}

/// What a run has sent, and what the service has of it.
struct Sent {
    rows: Option<(u64, u64)>,
    /// What the service had before, by record.
    then: BTreeMap<Seq, Seen>,
    /// The records to compare with the service.
    candidates: Vec<Candidate>,
    /// What was sent for them from this machine.
    last: BTreeMap<Seq, LastBodies>,
    now: Difference,
}

/// The bodies of the last accepted requests for a record.
#[derive(Clone, Debug, Default)]
struct LastBodies {
    /// Of any run.
    last: Option<Box<str>>,
    /// Of the runs before the one that is taken back.
    earlier: Option<Box<str>>,
    /// Whether the last one is of a newer run.
    is_newer: bool,
}

impl Sent {
    async fn load(ledger: &Ledger, run: &Run, rows: Option<(u64, u64)>) -> Result<Sent, Error> {
        let (id, kind) = (run.id, run.about.record);
        let then = ledger.seen(id).await?;
        let mut sent = Sent { rows, then, candidates: Vec::new(), last: BTreeMap::new(), now: Difference::default() };
        let (mut accepted, mut unlooked, mut without, mut from) = (0_u64, 0_u64, 0_u64, 0);
        while let Some(block) = ledger.record_block(id, from).await? {
            from = block.end();
            let outcomes = ledger.outcomes(id, block.first..=from - 1).await?;
            for (seq, record) in (block.first..).zip(block.records) {
                let state = outcomes.get(&seq).map(|outcome| outcome.state);
                if !sent.is_chosen(&record) {
                    continue;
                }
                accepted += u64::from(matches!(state, Some(RecordState::Sent | RecordState::Unknown)));
                if state != Some(RecordState::Sent) {
                    continue;
                }
                if needs_no_look(kind, record.target.is_some()) {
                    unlooked += 1;
                    // It may have been changed since.
                    let id = outcomes.get(&seq).and_then(|outcome| outcome.service_id.clone());
                    if let Some(id) = id.filter(|_| kind == RecordKind::InventoryTransaction) {
                        sent.candidates.extend(Candidate::of(seq, PlannedRecord { target: Some(id), ..record }));
                    }
                } else if matches!(sent.then.get(&seq), Some(Seen::There(_))) {
                    sent.candidates.extend(Candidate::of(seq, record));
                } else if !sent.then.contains_key(&seq) {
                    without += 1;
                }
            }
        }
        if accepted == 0 {
            let reason = match rows {
                None => "the service has accepted none of its records",
                Some(_) => "the service has accepted no record of these rows",
            };
            return Err(refused(id, UNDONE, reason, "`sheetport runs show` has its counts, and its report the rows"));
        }
        if without > 0 && unlooked == 0 && sent.then.is_empty() {
            let reason = "what the service had before it was not read, so the values to go back to are not known";
            let hint = "`sheetport upload --undoable` reads that before it sends, and so do `sheetport plan` and `apply`; an export from \
                        before the run can be uploaded";
            return Err(refused(id, UNDONE, reason, hint));
        }
        sent.load_last(ledger, run).await?;
        Ok(sent)
    }

    /// Whether the record begins on one of the rows asked for.
    fn is_chosen<B>(&self, record: &PlannedRecord<B>) -> bool {
        let row = record.rows.first().copied().unwrap_or_default();
        self.rows.is_none_or(|(first, last)| (first..=last).contains(&row))
    }

    /// Loads what was sent last for the records, by this run and before.
    async fn load_last(&mut self, ledger: &Ledger, run: &Run) -> Result<(), Error> {
        if !run.about.record.input().may_be_repeated() || self.candidates.is_empty() {
            return Ok(());
        }
        ledger.update_accepted(KeyScope::of(run), None).await?;
        let undos = undos(ledger, run.id).await?;
        let identities: Vec<&str> = self.candidates.iter().map(Candidate::identity).collect();
        let mut all = vec![(None::<Box<str>>, LastBodies::default()); identities.len()];
        let take = |place: usize, request: OtherRequest, id: Option<&str>, body: &str| {
            let (known_id, bodies) = &mut all[place];
            if known_id.is_none() {
                *known_id = id.map(Into::into);
            }
            if request.is_accepted {
                if bodies.last.is_none() {
                    bodies.is_newer = request.run > run.id && !undos.contains(&request.run);
                }
                bodies.last.get_or_insert_with(|| body.into());
                if request.run < run.id {
                    bodies.earlier.get_or_insert_with(|| body.into());
                }
            }
            known_id.is_some() && bodies.earlier.is_some()
        };
        ledger.last_bodies(KeyScope::of(run), &identities, take).await?;
        for (candidate, (id, bodies)) in self.candidates.iter_mut().zip(all) {
            self.last.insert(candidate.seq, bodies);
            candidate.sent = LastSent { id, body: None };
        }
        Ok(())
    }

    /// Returns the way back of a record that was sent.
    fn way_back(&self, run: &Run, seq: Seq, record: &PlannedRecord, at: i64) -> WayBack {
        let Disposition::Send(body) = &record.disposition else { return WayBack::AsBefore };
        let bodies = self.last.get(&seq);
        let last = bodies.and_then(|bodies| bodies.last.as_deref());
        let earlier = bodies.and_then(|bodies| bodies.earlier.as_deref());
        let now = match (self.now.shown.get(&seq), self.now.records.get(&seq)) {
            (Some(shown), _) => Now::Shown(shown),
            (None, Some(Change::New | Change::Missing)) => Now::Gone,
            (None, _) => Now::NotCompared,
        };
        let (kind, is_update) = (run.about.record, record.target.is_some());
        let is_sent_again = bodies.is_some_and(|bodies| bodies.is_newer);
        let then = self.then.get(&seq);
        let sent = SentRecord { kind, run: run.id, body, is_update, then, now, last, earlier, is_sent_again };
        way_back(&sent, at)
    }
}

/// Returns the runs that take a run back, those that take these back, and so on. What they sent is no decision of its own.
async fn undos(ledger: &Ledger, run: RunId) -> Result<BTreeSet<RunId>, Error> {
    let (mut undos, mut next) = (BTreeSet::new(), vec![run]);
    while let Some(run) = next.pop() {
        next.extend(ledger.undone_by(run).await?.into_iter().filter(|undo| undos.insert(*undo)));
    }
    Ok(undos)
}

/// The plan of an undo.
#[derive(Default)]
struct Planned {
    ways: WaysBack,
    causes: Causes,
    /// The records that are taken back, with what the service shows of them.
    returns: Vec<(Candidate, Option<Box<str>>)>,
}

impl Planned {
    /// Writes a record for each record of the run, with the same rows. Returns the number of the undo.
    async fn write(
        &mut self,
        ledger: &Ledger,
        run: &Run,
        about: &NewRun,
        sent: &Sent,
        at: i64,
    ) -> Result<RunId, Error> {
        let mut plan = ledger.begin_plan(about, at).await?;
        let mut from = 0;
        while let Some(block) = ledger.source_block(run.id, from).await? {
            from = block.end();
            for row in block.rows {
                plan.add_row(SourceRow { origin: ledger::Origin::Same, ..row }).await?;
            }
        }
        let mut from: Seq = 0;
        while let Some(block) = ledger.record_block(run.id, from).await? {
            from = block.end();
            let outcomes = ledger.outcomes(run.id, block.first..=from - 1).await?;
            for (seq, record) in (block.first..).zip(block.records) {
                let state = outcomes.get(&seq).map_or_else(|| record.disposition.state(), |outcome| outcome.state);
                let (record, left_out) = self.back(run, sent, (seq, record, state), at);
                if let Some(outcome) = left_out {
                    plan.leave_out(outcome);
                }
                plan.add_record(record).await?;
            }
        }
        Ok(plan.finish(about.header.len()).await?)
    }

    /// Returns the record that takes a record back, and its outcome if nothing is sent for it.
    fn back(
        &mut self,
        run: &Run,
        sent: &Sent,
        (seq, record, state): (Seq, PlannedRecord, RecordState),
        at: i64,
    ) -> (PlannedRecord, Option<Outcome>) {
        let row = record.rows.first().copied();
        let placed = |problem: Problem| Problem { row, sheet: record.sheet.clone(), ..problem };
        let mut add = |problem: &Problem| {
            self.causes.add(row.unwrap_or_default(), problem);
        };
        let skipped = |problems: Vec<Problem>| {
            let problems = problems.into_iter().map(placed).collect();
            Some(Outcome { problems, ..Outcome::new(seq, RecordState::Skipped, at) })
        };
        // Nothing is sent of a body with an outcome.
        let nothing = || Disposition::Send("{}".into());
        let (mut warnings, mut left_out) = (Vec::new(), None);
        let disposition = match (&record.disposition, state) {
            (Disposition::Skipped(reason), _) => Disposition::Skipped(*reason),
            _ if !sent.is_chosen(&record) => Disposition::Skipped(SkipReason::NotChosen),
            (_, RecordState::Sent) => match sent.way_back(run, seq, &record, at) {
                WayBack::Return { body, warnings: stays } => {
                    self.ways.partly += u64::from(!stays.is_empty());
                    stays.iter().for_each(&mut add);
                    warnings.extend(stays.into_iter().map(placed));
                    let last = sent.last.get(&seq).and_then(|bodies| bodies.last.clone());
                    let name = record.key.clone().or_else(|| row.map(|row| row.to_string())).unwrap_or_default();
                    let (target, last) = (record.target.clone(), LastSent { id: None, body: last });
                    let candidate = Candidate { row, target, sent: last, ..Candidate::new(seq, name, body.clone()) };
                    // A counter-movement is a new one.
                    let is_new = needs_no_look(run.about.record, record.target.is_some());
                    let shown = sent.now.shown.get(&seq).filter(|_| !is_new).cloned();
                    self.returns.push((candidate, shown));
                    Disposition::Send(body)
                }
                WayBack::Kept { body, problems } => {
                    self.ways.kept += 1;
                    problems.iter().for_each(&mut add);
                    left_out = skipped(problems);
                    Disposition::Send(body)
                }
                WayBack::AsBefore => {
                    self.ways.as_before += 1;
                    let message = format!("has the values from before run {} already", run.id);
                    left_out = skipped(vec![Problem::of_record(Code::NothingToUndo, message)]);
                    nothing()
                }
                WayBack::Cannot(problems) => {
                    self.ways.cannot += 1;
                    problems.iter().for_each(&mut add);
                    left_out = skipped(problems);
                    nothing()
                }
            },
            (_, RecordState::Unknown) => {
                self.ways.cannot += 1;
                let message = format!("may or may not have been applied in run {}", run.id);
                let remedy = format!("look it up in the service, run `sheetport resolve {}`, then undo again", run.id);
                let problem = Problem { remedy, ..Problem::of_record(Code::CannotUndo, message) };
                add(&problem);
                left_out = skipped(vec![problem]);
                nothing()
            }
            _ => {
                let message = format!("was not sent by run {}", run.id);
                left_out = skipped(vec![Problem::of_record(Code::NothingToUndo, message)]);
                nothing()
            }
        };
        let PlannedRecord { key, target, rows, sheet, .. } = record;
        (PlannedRecord { key, target, rows, sheet, disposition, command: None, warnings }, left_out)
    }
}
