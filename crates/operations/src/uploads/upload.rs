//! Uploading a spreadsheet: reads and plans the whole file, then sends the records.

use std::sync::Arc;

use futures_util::future::BoxFuture;

use sheetport_client::Client;
use sheetport_findings::{Code, Only};
use sheetport_ledger::{AllowRepeat, CallOption, KeyScope, Ledger, LockedRun, Problem, RunCommand, RunSettings};
use sheetport_mapping::Template;
use sheetport_mapping::modes::{NOT_NEW, why_not_fill, why_not_only};
use sheetport_plan::compare::{Connection, Scope, count_changed};
use sheetport_plan::sent_before::AsksOfEdited;
use sheetport_plan::{Source, Tally, unanswered};
use sheetport_records::RecordKind;
use sheetport_send::Grace;

use super::super::context::Context;
use super::super::error::Error;
use super::super::event::{Event, Observer};
use super::super::files::{Spreadsheet, check_report_path, new_run};
use super::super::learned::{load_sizes, store_learned_sizes};
use super::super::look_again::not_queued;
use super::super::rate::speed;
use super::super::results::Finished;
use super::super::send::{SendOptions, Sending, plan_run};
use super::super::templates::decided::{accept, confirm_guesses};
use super::compare::{Earlier, compare_keys, look_up, note_lookups};
use super::missing::{MissingFlags, NOT_BY_UPLOAD, PlannedMissing, plan_missing};
use super::preview::{Preview, preview};
use super::rehearsal::{Rehearsal, Rehearsed};
use super::retry_report::{RetryReport, preview_retry, retry_report};
use super::uploaded_report::{UploadedReport, uploaded_report};
use crate::operation::{LocalOperation, Operation};

/// A spreadsheet to upload.
#[derive(Debug)]
pub struct Upload<'a> {
    pub input: Spreadsheet<'a>,
    pub sending: SendOptions<'a>,
    /// Skips records unchanged since the last upload, or with the same values in the service's list.
    pub changed_only: bool,
    /// The records to send. `None`: as the template says.
    pub only: Option<Only>,
    /// Writes only fields that are blank in the service. If false, the template decides.
    pub fill_blank: bool,
    /// Plans records of the service that the file lacks, as `[missing]` of the template says. `None`: leaves them alone.
    pub missing: Option<MissingFlags>,
    /// Sends nothing if a row can't be sent.
    pub all_or_nothing: bool,
    /// Records to send even if they were sent before. This creates duplicates.
    pub allow_repeat: AllowRepeat,
    /// Restores texts of an export that a spreadsheet program changed.
    pub restore_texts: bool,
    /// Sends the service's other lines of an order with those of the file.
    pub keep_lines: bool,
    /// Reads and keeps what the service has of the records before the first of them is sent, so that the run can be taken back.
    pub undoable: bool,
    /// Sends although a key was only guessed, or there is a question about the file: a person has agreed beforehand.
    pub accepts_doubts: bool,
    /// Lets the service create unknown items of orders.
    pub create_missing_items: bool,
    /// Lets the service run workflows for orders.
    pub trigger_workflows: bool,
}

impl<'a> Upload<'a> {
    /// Returns an upload without any options: all records as the template says, and doubts hold it back.
    pub fn plain(input: Spreadsheet<'a>, sending: SendOptions<'a>) -> Upload<'a> {
        Upload {
            input,
            sending,
            changed_only: false,
            only: None,
            fill_blank: false,
            missing: None,
            all_or_nothing: false,
            allow_repeat: AllowRepeat::None,
            restore_texts: false,
            keep_lines: false,
            undoable: false,
            accepts_doubts: false,
            create_missing_items: false,
            trigger_workflows: false,
        }
    }

    fn into_retry(self) -> RetryReport<'a> {
        RetryReport {
            changed_only: self.changed_only,
            keep_lines: self.keep_lines,
            only: self.only,
            fill_blank: self.fill_blank,
            undoable: self.undoable,
            all_or_nothing: Some(self.all_or_nothing),
            ..RetryReport::of_uploaded(self.input, self.sending)
        }
    }

    /// Finds the run of an uploaded report.
    async fn reported(
        &self,
        context: &Context,
        source: &Source,
        observer: Observer<'_>,
    ) -> Result<UploadedReport, Error> {
        uploaded_report(context, &self.input, &self.allow_repeat, source, observer).await
    }
}

/// Questions to a person, asked before anything is sent.
#[derive(Clone, Copy)]
pub struct Questions<'a> {
    /// Whether to send a file with these records.
    pub sends: &'a (dyn Fn(&Tally) -> bool + Sync),
    /// Whether that is asked for files without warnings, too.
    pub is_always_asked: bool,
    /// Asks whether to restore this number of identifiers of an export that a spreadsheet program changed.
    pub restores_texts: &'a (dyn Fn(u64) -> bool + Sync),
    /// Asks whether to send edited records beside the sent ones.
    pub sends_edited: AsksOfEdited<'a>,
}

/// Uploads a spreadsheet. Without `questions`, nobody is asked: warnings hold nothing back, except for doubts about the records
/// themselves, unless these were accepted. `interrupt` resolves when the upload is to stop, with the time allowed for requests in flight.
///
/// # Errors
/// If the request is refused, the file can't be planned, or the ledger fails. Refused records are no error.
pub fn upload<'a>(
    context: &'a Context,
    upload: Upload<'a>,
    questions: Option<Questions<'a>>,
    interrupt: BoxFuture<'a, Grace>,
    observer: Observer<'a>,
) -> LocalOperation<'a, Finished> {
    Box::pin(run_upload(context, upload, None, questions, interrupt, observer))
}

/// Uploads a spreadsheet like [`upload`], to the temporary service of a rehearsal. `context` is of that service.
pub fn rehearse_upload<'a>(
    context: &'a Context,
    upload: Upload<'a>,
    rehearsal: &'a dyn Rehearsal,
    questions: Option<Questions<'a>>,
    interrupt: BoxFuture<'a, Grace>,
    observer: Observer<'a>,
) -> LocalOperation<'a, Finished> {
    Box::pin(run_upload(context, upload, Some(rehearsal), questions, interrupt, observer))
}

/// Reads the whole spreadsheet and returns the first requests of an upload.
pub fn preview_upload<'a>(
    context: &'a Context,
    mut upload: Upload<'a>,
    observer: Observer<'a>,
) -> Operation<'a, Preview> {
    Box::pin(async move {
        check_report_path(context, upload.sending.report).await?;
        apply_options(&mut upload)?;
        let mut source = upload.input.open_for_sending(context)?;
        match upload.reported(context, &source, observer).await? {
            UploadedReport::OfRun => {
                return preview_retry(context, upload.into_retry(), observer).await.map(|(_, preview)| preview);
            }
            UploadedReport::OfOtherService => source.ignore_status(),
            UploadedReport::No => {}
        }
        repeat(&mut source, &upload.allow_repeat);
        preview(Some(context), &source, &upload.input.template, observer).await
    })
}

/// A planned upload.
pub(super) struct Planned {
    pub ledger: Ledger,
    pub client: Arc<Client>,
    pub run: LockedRun,
    pub tally: Tally,
    pub template: Arc<Template>,
    /// What the file lacks, if that was asked for.
    pub missing: Option<PlannedMissing>,
}

/// What a spreadsheet to upload turned out to be.
pub(super) enum Begun<'a> {
    Planned(Box<Planned>),
    /// A report of a run, whose rows are sent by a retry.
    Report(Box<Upload<'a>>),
}

/// Reads the whole spreadsheet into the ledger. Nothing is sent.
pub(super) async fn plan_upload<'a>(
    context: &Context,
    mut upload: Upload<'a>,
    rehearsal: Option<&dyn Rehearsal>,
    questions: Option<Questions<'_>>,
    observer: Observer<'_>,
) -> Result<Begun<'a>, Error> {
    check_report_path(context, upload.sending.report).await?;
    apply_options(&mut upload)?;
    let mut settings = RunSettings {
        all_or_nothing: upload.all_or_nothing,
        strict: upload.input.is_strict,
        changed_only: upload.changed_only,
        only: upload.only.or(upload.input.template.only),
        commands: upload.input.template.has_commands(),
        fill_blank: upload.fill_blank || upload.input.template.fill_blank,
        keep_lines: upload.keep_lines,
        undoable: upload.undoable,
        allow_repeat: upload.allow_repeat.clone(),
        ..upload.sending.settings(context)
    };
    let client = context.writing_client(context.base_url()?, settings.concurrency)?;
    let mut source = upload.input.open_for_sending(context)?;
    // The service of a rehearsal has no runs.
    let reported = match rehearsal {
        Some(_) => UploadedReport::No,
        None => upload.reported(context, &source, observer).await?,
    };
    match reported {
        UploadedReport::OfRun => return Ok(Begun::Report(Box::new(upload))),
        UploadedReport::OfOtherService => source.ignore_status(),
        UploadedReport::No => {}
    }
    repeat(&mut source, &upload.allow_repeat);
    if questions.is_none() && !upload.accepts_doubts && rehearsal.is_none() && !source.is_strict {
        refuse_guesses(&source, &upload.input.template)?;
    }
    if upload.accepts_doubts {
        source.accept(&source.questions());
    }
    settings.accept.clone_from(&source.accepts);
    let connection = Connection::new(&client, speed(&settings, context)?, settings.concurrency);
    load_sizes(context, &connection, client.address()).await;
    compare_keys(&connection, &mut source, &upload.input.template, upload.restore_texts, observer).await?;
    // The service of a rehearsal without exports gets the orders of the file only after the plan.
    let of_addresses: Observer<'_> = if rehearsal.is_some() { &|_| {} } else { observer };
    let scope = if rehearsal.is_some() { Scope::Rehearse } else { Scope::Resolve };
    let ledger = context.ledger().await?;
    let workspace = context.workspace();
    let keys = KeyScope { base_url: client.address(), workspace: &workspace, record: upload.input.template.record };
    let lines = (upload.keep_lines, Some(Earlier { ledger: &ledger, keys, is_noted: true }));
    look_up(&connection, &mut source, &upload.input.template, scope, lines, of_addresses).await?;
    let missing = match &upload.missing {
        Some(flags) => plan_missing(flags, &upload.input.template, &mut source, &connection, observer).await?,
        None => {
            if upload.input.template.missing.is_some() && rehearsal.is_none() {
                observer(Event::Note(NOT_BY_UPLOAD));
            }
            None
        }
    };
    store_learned_sizes(context, &connection, client.address()).await;
    if let Some(questions) = questions {
        restore_on_request(&mut source, questions)?;
    }
    if rehearsal.is_some_and(|rehearsal| !rehearsal.has_exports()) {
        note_lookups(&source, &upload.input.template, observer)?;
    }
    let command = if rehearsal.is_some() { RunCommand::Rehearse } else { RunCommand::Upload };
    let mut about = new_run(command, context, client.address(), upload.input.file, &source, &upload.input.template)?;
    about.options = call_options(&upload).map(|(_, option)| option).collect();
    about.settings = settings;
    if upload.sending.is_to_queue && about.workspace.is_empty() {
        observer(Event::Warning(
            "the token does not say for which workspace it is: only workers with such a token send the run; check that the token is \
             complete",
        ));
    }
    let lock = ledger.lock_upload(&about).await?;
    let template = Arc::new(upload.input.template);
    let (run, tally) = plan_run(&ledger, &about, lock, source, Arc::clone(&template), observer).await?;
    Ok(Begun::Planned(Box::new(Planned { ledger, client, run, tally, template, missing })))
}

async fn run_upload(
    context: &Context,
    upload: Upload<'_>,
    rehearsal: Option<&dyn Rehearsal>,
    questions: Option<Questions<'_>>,
    interrupt: BoxFuture<'_, Grace>,
    observer: Observer<'_>,
) -> Result<Finished, Error> {
    let SendOptions { report, is_to_queue, .. } = upload.sending;
    let Planned { ledger, client, run, tally, template, .. } =
        match plan_upload(context, upload, rehearsal, questions, observer).await? {
            Begun::Planned(planned) => *planned,
            Begun::Report(upload) => return retry_report(context, upload.into_retry(), interrupt, observer).await,
        };
    let rehearsed = match rehearsal {
        Some(rehearsal) => Some(rehearsal.make_up(&ledger, run.run(), observer).await?),
        None => None,
    };
    let asks = questions.filter(|it| tally.to_send > 0 && (it.is_always_asked || !tally.warnings.is_empty()));
    let is_declined = asks.is_some_and(|questions| !(questions.sends)(&tally));
    if asks.is_some() && !is_declined {
        confirm_guesses(context, &template)?;
        let (about, known) = (&run.run().about, &run.run().about.settings.accept);
        let asked: Vec<Code> = unanswered(&run.run().warnings, known).collect();
        for code in &asked {
            accept(context, &template, &about.header, *code)?;
        }
        if !asked.is_empty() {
            ledger.store_answers(run.id(), &[known.as_slice(), &asked].concat()).await?;
        }
    }
    let sending = Sending {
        context,
        ledger: &ledger,
        client: Some(client),
        run,
        report,
        answer: asks.map(|_| !is_declined),
        is_to_queue,
        asks_of_edited: questions.map(|questions| questions.sends_edited),
        observer,
    };
    let finished = sending.send(interrupt).await?;
    ledger.close().await;
    let rehearsed = rehearsed.map(|rehearsed| {
        let forecast = rehearsal.and_then(|rehearsal| rehearsal.forecast(finished.accounting.requests));
        Rehearsed { forecast, ..rehearsed }
    });
    Ok(Finished { rehearsed, ..finished })
}

/// Tells the source which records may be sent again.
fn repeat(source: &mut Source, allowed: &AllowRepeat) {
    source.allows_copies = *allowed == AllowRepeat::All;
    if let AllowRepeat::Named(names) = allowed {
        source.repeated.clone_from(names);
    }
}

/// Refuses a file whose records might be other ones, because the template is a guess that nobody has confirmed.
fn refuse_guesses(source: &Source, template: &Template) -> Result<(), Error> {
    let mut doubts: Vec<&Problem> = source.identifying_guesses(template).collect();
    // A doubt about the kind of record is about no column.
    doubts.sort_by_key(|doubt| !doubt.header.is_empty());
    let Some(first) = doubts.first() else { return Ok(()) };
    let others = doubts[1..].iter().map(|doubt| format!("; '{}' {}", doubt.header, doubt.message));
    let what = std::iter::once(first.message.clone()).chain(others).collect::<String>();
    let message = match first.header.as_str() {
        "" => format!("nothing was sent, because {what}"),
        header => format!("nothing was sent: '{header}' {what}"),
    };
    let hint = format!("{}; to send it as it is, add --yes", first.remedy);
    Err(Error::invalid(message, hint))
}

/// Restores identifiers of an export that a spreadsheet program changed, if the user agrees.
fn restore_on_request(source: &mut Source, questions: Questions<'_>) -> Result<(), Error> {
    let changed = match &source.known_texts {
        Some(known) if !known.restores() => count_changed(source, known)?,
        _ => 0,
    };
    if changed > 0
        && (questions.restores_texts)(changed)
        && let Some(known) = &mut source.known_texts
    {
        known.restore();
    }
    Ok(())
}

/// Checks the request and applies the call options to the template.
fn apply_options(upload: &mut Upload<'_>) -> Result<(), Error> {
    let options: Vec<_> = call_options(upload).collect();
    let template = &mut upload.input.template;
    let input = template.record.input();
    for (flag, option) in options {
        if input.options().all(|field| field.name != option.name()) {
            let message = format!("{flag} is for orders, but the template {} is for {}", template.name, input.plural);
            return Err(Error::invalid(message, format!("leave out {flag}")));
        }
        template.set_option(option.name(), true);
    }
    if upload.keep_lines {
        keeps_lines_of(template)?;
    }
    if let Some(only) = upload.only
        && let Some(why) = if template.counts { Some(NOT_NEW.to_owned()) } else { why_not_only(template.record, only) }
    {
        let flag = format!("--only {}", only.name());
        return Err(Error::invalid(format!("{flag} is not possible: {why}"), format!("leave out {flag}")));
    }
    if upload.fill_blank
        && let Some(why) = why_not_fill(template.record)
    {
        return Err(Error::invalid(format!("--fill-blank is not possible: {why}"), "leave out --fill-blank"));
    }
    if upload.sending.is_to_queue && (upload.fill_blank || template.fill_blank) {
        return Err(not_queued());
    }
    if upload.changed_only && input.key.is_empty() {
        let message = format!("--changed-only is not possible for {}, which have no key to compare by", input.plural);
        return Err(Error::invalid(message, "leave out --changed-only"));
    }
    Ok(())
}

/// Refuses `--keep-lines` for records other than orders.
pub(super) fn keeps_lines_of(template: &Template) -> Result<(), Error> {
    if template.record == RecordKind::Order {
        return Ok(());
    }
    let (name, plural) = (&template.name, template.record.input().plural);
    let message = format!("--keep-lines is for orders, but the template {name} is for {plural}");
    Err(Error::invalid(message, "leave out --keep-lines"))
}

/// Returns the requested call options and their flags.
fn call_options(upload: &Upload<'_>) -> impl Iterator<Item = (&'static str, CallOption)> + use<> {
    [
        (upload.create_missing_items, ("--create-missing-items", CallOption::CreateMissingItems)),
        (upload.trigger_workflows, ("--trigger-workflows", CallOption::TriggerWorkflows)),
    ]
    .into_iter()
    .filter_map(|(is_set, option)| is_set.then_some(option))
}
