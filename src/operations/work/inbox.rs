//! The inbox of a worker: files in a folder or below a prefix are uploaded on arrival.

use std::time::Duration;

use super::super::context::Context;
use super::super::error::Error;
use super::super::jobs::{FileOutcome, JobObserver, Place, StepOutcome, UploadStep, upload_step};
use super::event::{WorkEvent, WorkObserver};
use super::stop::Stop;

/// Interval of looking for files.
const POLL: Duration = Duration::from_secs(5);
/// First and maximum pause after a failure that is not specific to the file, such as an expired token.
const BACKOFF: (Duration, Duration) = (Duration::from_secs(10), Duration::from_secs(300));

/// Uploads the files of an inbox until the worker is stopped, or until there are none if `until_idle`.
///
/// # Errors
/// If the inbox can't be read at the beginning. Later, the worker tries again.
pub(super) async fn run(
    context: &Context,
    step: &UploadStep,
    until_idle: bool,
    stop: &Stop,
    observer: WorkObserver<'_>,
) -> Result<(), Error> {
    let (stopping, mut pause, mut is_first) = (stop.stopping(), BACKOFF.0, true);
    let observed = JobObserver {
        begins: &|_| {},
        takes: &|file| observer(WorkEvent::FileTaken { file }),
        ends: &|| {},
        events: &|_| {},
    };
    let mut keeping = None;
    while !stop.is_set() {
        let outcome = match opened(context, &mut keeping).await {
            Ok(context) => upload_step::run(context, step, &stopping, observed).await,
            Err(error) => StepOutcome::Failed(error),
        };
        let wait = match outcome {
            StepOutcome::Failed(error) if is_first => return Err(error),
            StepOutcome::Failed(error) => {
                observer(WorkEvent::Lost { why: &error.to_string() });
                Some(pause)
            }
            StepOutcome::Uploaded { files, left, .. } => {
                files.iter().for_each(|file| observer(WorkEvent::File(file)));
                let is_held_up = !left.is_empty() || files.iter().any(is_kept);
                match (is_held_up, files.is_empty()) {
                    (true, _) => Some(pause),
                    (false, true) if until_idle => break,
                    (false, true) => None,
                    // More may have come meanwhile.
                    (false, false) => {
                        pause = BACKOFF.0;
                        continue;
                    }
                }
            }
            StepOutcome::Exported(_) | StepOutcome::NotRun(_) => None,
        };
        is_first = false;
        match wait {
            // The same problem would stop all waiting files.
            Some(_) if until_idle => break,
            Some(wait) => {
                close(&mut keeping).await;
                stop.sleep(wait).await;
                pause = (pause * 2).min(BACKOFF.1);
            }
            None => {
                pause = BACKOFF.0;
                stop.sleep(POLL.mul_f64(0.75 + fastrand::f64() / 2.0)).await;
            }
        }
    }
    close(&mut keeping).await;
    Ok(())
}

/// Returns the context with a ledger that is kept open. Opens the ledger if necessary.
async fn opened<'a>(context: &Context, keeping: &'a mut Option<Context>) -> Result<&'a Context, Error> {
    let opened = match keeping.take() {
        Some(opened) => opened,
        None => context.keeping_ledger().await?,
    };
    Ok(keeping.insert(opened))
}

/// Closes the ledger. After a failure, it is opened and checked again.
async fn close(keeping: &mut Option<Context>) {
    if let Some(context) = keeping.take() {
        context.close_ledger().await;
    }
}

/// Returns whether a file was not sent for a reason that is not specific to the file.
fn is_kept(file: &FileOutcome) -> bool {
    file.place == Place::Kept
}
