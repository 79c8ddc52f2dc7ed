//! Runs the steps of a job in order.

use futures_util::future::LocalBoxFuture;

use sheetport_ledger::ActivityKind;
use sheetport_operations::begin_activity;
use sheetport_operations::context::{Context, now};
use sheetport_operations::error::Error;
use sheetport_operations::exports::{ExportRequest, export};
use sheetport_operations::files::create_folder;
use sheetport_send::Stopping;
use sheetport_values::date;

use super::definition::{Job, Work};
use super::lock;
use super::outcome::{ExportFailure, JobObserver, JobRun, StepOutcome};
use super::upload_step;

/// Remaining lifetime of a refresh token below which a job warns, in seconds.
const SOON: i64 = 7 * 24 * 60 * 60;

/// Runs a job. Failures of steps are part of the result.
///
/// # Errors
/// If another process runs the job, or the start or the end of the run can't be recorded.
pub fn run_job<'a>(
    context: &'a Context,
    job: &'a Job,
    stopping: &'a Stopping,
    observer: JobObserver<'a>,
) -> LocalBoxFuture<'a, Result<JobRun, Error>> {
    Box::pin(async move {
        let began = now();
        // First, because a refused run leaves no record.
        let everywhere = lock::lock_everywhere(context, job).await?;
        let locked = lock::lock(context, job, began)?;
        let activity =
            begin_activity(context, ActivityKind::Job, &job.name, Some(&job.path.display().to_string())).await;
        let mut warnings = Vec::new();
        let previous = locked.previous.clone();
        if let Some(previous) = previous.as_ref().filter(|previous| previous.ended.is_none()) {
            let began = date::local_minute(previous.began);
            warnings.push(format!("the run before, of {began}, did not come to its end; its work is continued"));
        }
        let mut steps = Vec::new();
        let mut why_not = None;
        for (index, step) in job.steps.iter().enumerate() {
            if stopping.is_asked() {
                why_not = Some("the job was interrupted");
            }
            if let Some(why) = why_not {
                steps.push(StepOutcome::NotRun(why));
                continue;
            }
            (observer.begins)(index);
            let outcome = match &step.work {
                Work::Upload(upload) => upload_step::run(context, upload, stopping, observer).await,
                Work::Export(request) => run_export(context, request, stopping, observer).await,
            };
            (observer.ends)();
            if step.stops && !outcome.is_success() {
                why_not = Some("a step before it failed");
            }
            steps.push(outcome);
        }
        warnings.extend(ending_token(context));
        let ended = now();
        if let Err(error) = locked.end(ended) {
            warnings.push(error.to_string());
        }
        if let Some(everywhere) = everywhere {
            everywhere.release().await;
        }
        Ok(JobRun { began, ended, activity, previous, steps, warnings })
    })
}

/// Exports each file of the step. One failure does not stop the remaining exports.
async fn run_export(
    context: &Context,
    request: &ExportRequest,
    stopping: &Stopping,
    observer: JobObserver<'_>,
) -> StepOutcome {
    let requests = match request.by_file() {
        Ok(requests) => requests,
        Err(error) => return StepOutcome::Failed(error),
    };
    if let Some(output) = &request.output
        && let Some(error) = output.parent().and_then(|folder| create_folder(folder).err())
    {
        let message = format!("the folder of {} can't be created: {error}", output.display());
        return StepOutcome::Failed(Error::Local { message, hint: "check its permissions".to_owned() });
    }
    let mut results = Vec::new();
    for request in &requests {
        let failed = |error| ExportFailure { records: request.records.clone(), error };
        let exported = tokio::select! {
            biased;
            _ = stopping.wait() => Err(failed(None)),
            exported = export(context, request, observer.events) => exported.map_err(|error| failed(Some(error))),
        };
        results.push(exported);
        (observer.ends)();
    }
    StepOutcome::Exported(results)
}

/// Returns a warning about a refresh token that expires soon: nobody can log in again at night.
fn ending_token(context: &Context) -> Option<String> {
    // The pair may have been renewed by a step.
    let stored = context.credentials.file.as_ref().and_then(|file| file.read().ok().flatten());
    let credentials = stored.map_or_else(|| context.credentials.clone(), |(_, credentials)| credentials);
    let (what, ends) = match credentials.refresh_expires_at() {
        Some(ends) => ("refresh token", ends),
        None if credentials.refresh.is_none() => {
            ("access token, which has no refresh token,", credentials.expires_at()?)
        }
        None => return None,
    };
    let time = jiff::Timestamp::from_second(ends).ok()?;
    let left = ends - jiff::Timestamp::now().as_second();
    let day = time.to_zoned(date::local_zone()).date();
    (left < SOON).then(|| match left {
        ..=0 => format!("the {what} ended on {day}; log in with new tokens: `sheetport login`"),
        _ => format!("the {what} ends on {day}; log in with new tokens before: `sheetport login`"),
    })
}
