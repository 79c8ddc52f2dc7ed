//! Uploading a spreadsheet: reads and plans the whole file, then sends the records.

use std::sync::Arc;

use super::compare::compare_keys;
use super::context::Context;
use super::error::Error;
use super::event::Observer;
use super::input::{Spreadsheet, new_run};
use super::preview::{Preview, preview};
use super::report::check_report_path;
use super::runs::retry_report::{RetryReport, preview_retry, retry_report};
use super::runs::uploaded_report::{UploadedReport, uploaded_report};
use super::send::{Finished, SendOptions, Sending, plan_run, speed};
use super::service::local_service::LocalService;
use crate::ledger::{AllowRepeat, CallOption, RunCommand, RunSettings};
use crate::upload::compare::{Connection, count_changed};
use crate::upload::{Grace, Source, Tally};

/// A spreadsheet to upload.
#[derive(Debug)]
pub struct Upload<'a> {
    pub input: Spreadsheet<'a>,
    pub sending: SendOptions<'a>,
    /// Skips records unchanged since the last upload, or with the same values in the service's list.
    pub changed_only: bool,
    /// Sends nothing if a row can't be sent.
    pub all_or_nothing: bool,
    /// Records to send although they were sent before, which creates duplicates.
    pub allow_repeat: AllowRepeat,
    /// Takes texts of an export back that a spreadsheet program changed.
    pub restore_texts: bool,
    /// Lets the service create unknown items of orders.
    pub create_missing_items: bool,
    /// Lets the service run workflows for orders.
    pub trigger_workflows: bool,
    /// Sends everything to a temporary, empty service.
    pub is_rehearsal: bool,
}

impl<'a> Upload<'a> {
    /// Returns the retry of a report. Accepted rows are sent again if they can be, because they may be edited.
    fn into_retry(self) -> RetryReport<'a> {
        RetryReport {
            file: self.input.file,
            text: self.input.text,
            sends_accepted: !self.input.template.record.input().must_not_repeat(),
            template: Some(self.input.template),
            as_new: false,
            changed_only: self.changed_only,
            all_or_nothing: Some(self.all_or_nothing),
            strict: Some(self.input.is_strict),
            sending: self.sending,
        }
    }

    /// Finds out which run the file is a report of. A rehearsal knows no runs.
    async fn reported(
        &self,
        context: &Context,
        source: &Source,
        observer: Observer<'_>,
    ) -> Result<UploadedReport, Error> {
        match self.is_rehearsal {
            true => Ok(UploadedReport::No),
            false => uploaded_report(context, &self.input, &self.allow_repeat, source, observer).await,
        }
    }
}

/// Questions to a person, asked before anything is sent.
#[derive(Clone, Copy)]
pub struct Questions<'a> {
    /// Whether to send a file with warnings.
    pub sends_with_warnings: &'a (dyn Fn(&Tally) -> bool + Sync),
    /// Whether to take so many identifiers of an export back that a spreadsheet program changed.
    pub restores_texts: &'a (dyn Fn(u64) -> bool + Sync),
}

/// Uploads a spreadsheet. Without `questions`, nobody is asked, and warnings hold nothing back. `interrupt` resolves when the upload is to stop, with the time allowed for requests in flight.
///
/// A rehearsal uploads to a temporary service in this process, and leaves only the report, if a path was given.
///
/// # Errors
/// If the request is refused, the file can't be planned, or the ledger fails. Refused records are no error.
pub async fn upload(
    context: &Context,
    upload: Upload<'_>,
    questions: Option<Questions<'_>>,
    interrupt: impl Future<Output = Grace>,
    observer: Observer<'_>,
) -> Result<Finished, Error> {
    if !upload.is_rehearsal {
        return run_upload(context, upload, questions, interrupt, observer).await;
    }
    let folder = tempfile::tempdir().map_err(|error| Error::no_temporary_files(&error))?;
    let service = LocalService::start(folder.path(), "rehearsal", context).await?;
    let finished = run_upload(&service.context, upload, questions, interrupt, observer).await;
    // The data is temporary, so an error at the end does not matter.
    let _ = service.stop().await;
    finished
}

/// Reads the whole spreadsheet and returns the first requests of an upload.
pub async fn preview_upload(
    context: &Context,
    mut upload: Upload<'_>,
    observer: Observer<'_>,
) -> Result<Preview, Error> {
    apply_options(&mut upload)?;
    let mut source = upload.input.open_for_sending(context).await?;
    match upload.reported(context, &source, observer).await? {
        UploadedReport::OfRun => {
            return preview_retry(context, upload.into_retry(), observer).await.map(|(_, preview)| preview);
        }
        UploadedReport::OfOtherService => source.ignore_status(),
        UploadedReport::No => {}
    }
    preview(Some(context), &source, &upload.input.template, observer).await
}

async fn run_upload(
    context: &Context,
    mut upload: Upload<'_>,
    questions: Option<Questions<'_>>,
    interrupt: impl Future<Output = Grace>,
    observer: Observer<'_>,
) -> Result<Finished, Error> {
    apply_options(&mut upload)?;
    let settings = RunSettings {
        all_or_nothing: upload.all_or_nothing,
        strict: upload.input.is_strict,
        changed_only: upload.changed_only,
        allow_repeat: upload.allow_repeat.clone(),
        ..upload.sending.settings(context)
    };
    let client = context.writing_client(context.base_url()?, settings.concurrency)?;
    let mut source = upload.input.open_for_sending(context).await?;
    match upload.reported(context, &source, observer).await? {
        UploadedReport::OfRun => return retry_report(context, upload.into_retry(), interrupt, observer).await,
        UploadedReport::OfOtherService => source.ignore_status(),
        UploadedReport::No => {}
    }
    let connection = Connection::new(&client, speed(&settings, context)?, settings.concurrency);
    compare_keys(&connection, &mut source, &upload.input.template, upload.restore_texts, observer).await?;
    if let Some(questions) = questions {
        restore_on_request(&mut source, questions)?;
    }
    let ledger = context.ledger().await?;
    let mut about =
        new_run(RunCommand::Upload, context, client.address(), upload.input.file, &source, &upload.input.template)?;
    about.options = call_options(&upload).map(|(_, option)| option).collect();
    about.settings = settings;
    let lock = ledger.lock_upload(&about)?;
    let template = Arc::new(upload.input.template);
    let (run, tally) = plan_run(&ledger, &about, lock, source, template, observer).await?;
    let asks = questions.filter(|_| !tally.warnings.is_empty() && tally.to_send > 0);
    let sending = Sending {
        context,
        ledger: &ledger,
        client: Arc::clone(&client),
        run,
        report: upload.sending.report,
        is_rehearsal: upload.is_rehearsal,
        is_declined: asks.is_some_and(|questions| !(questions.sends_with_warnings)(&tally)),
        observer,
    };
    let finished = sending.send(interrupt).await?;
    ledger.close().await;
    Ok(finished)
}

/// Takes identifiers of an export back that a spreadsheet program changed, if there are any and a person wants it.
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
    if let Some(report) = upload.sending.report {
        check_report_path(report)?;
    }
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
    if upload.changed_only && input.key.is_empty() {
        let message = format!("--changed-only is not possible for {}, which have no key to compare by", input.plural);
        return Err(Error::invalid(message, "leave out --changed-only"));
    }
    Ok(())
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
