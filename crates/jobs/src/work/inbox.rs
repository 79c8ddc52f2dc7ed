//! The inbox of a worker: files in a folder or below a prefix are uploaded on arrival.

use std::time::Duration;

use sheetport_operations::context::Context;
use sheetport_operations::error::Error;

use super::event::{WorkEvent, WorkObserver};
use super::lasting::is_lasting;
use super::left::{Left, Obstacle, Unsent};
use super::stop::Stop;
use crate::{FileOutcome, JobObserver, Place, StepOutcome, UploadStep, upload_step};

/// Interval of looking for files.
const POLL: Duration = Duration::from_secs(5);
/// First and maximum pause after a failure that is not specific to the file, such as an expired token.
const BACKOFF: (Duration, Duration) = (Duration::from_secs(10), Duration::from_secs(300));

/// Uploads the files of an inbox until the worker is stopped, or until there are none if `until_idle`. Returns the files that an
/// idle worker leaves.
///
/// # Errors
/// If the inbox can't be read at the beginning, or the ledger fails with a lasting error. Later, the worker tries again, unless it is
/// to end when idle.
pub(super) async fn run(
    context: &Context,
    step: &UploadStep,
    until_idle: bool,
    stop: &Stop,
    observer: WorkObserver<'_>,
) -> Result<Vec<Left>, Error> {
    let mut keeping = None;
    let left = upload_files(context, &mut keeping, step, until_idle, stop, observer).await;
    close(&mut keeping).await;
    left
}

/// Does the same as [`run`], with the ledger of `keeping`, which stays open at the end.
async fn upload_files(
    context: &Context,
    keeping: &mut Option<Context>,
    step: &UploadStep,
    until_idle: bool,
    stop: &Stop,
    observer: WorkObserver<'_>,
) -> Result<Vec<Left>, Error> {
    let (stopping, mut pause, mut is_first) = (stop.stopping(), BACKOFF.0, true);
    let observed = JobObserver {
        begins: &|_| {},
        takes: &|file| observer(WorkEvent::FileTaken { file }),
        ends: &|| {},
        events: &|_| {},
    };
    let mut kept = Vec::new();
    while !stop.is_set() {
        let outcome = match opened(context, keeping).await {
            Ok(context) => upload_step::run(context, step, &stopping, observed).await,
            Err(error) => StepOutcome::Failed(error),
        };
        let wait = match outcome {
            StepOutcome::Failed(error) if is_first || is_lasting(&error) => return Err(error),
            StepOutcome::Failed(error) if until_idle && !matches!(error, Error::Ledger(_)) => {
                return Ok(vec![Left { what: Unsent::File(step.folder.clone()), why: Obstacle::Error(error) }]);
            }
            StepOutcome::Failed(error) => {
                observer(WorkEvent::Lost { why: &error.to_string() });
                close(keeping).await;
                stop.sleep(pause).await;
                pause = (pause * 2).min(BACKOFF.1);
                continue;
            }
            StepOutcome::Uploaded { mut files, left, .. } => {
                files.iter().for_each(|file| observer(WorkEvent::File(file)));
                let fails = |file: &FileOutcome| file.result.as_ref().is_err_and(is_lasting);
                if let Some(index) = files.iter().position(fails)
                    && let Err(error) = files.swap_remove(index).result
                {
                    return Err(error);
                }
                let is_held_up = !left.is_empty() || files.iter().any(is_kept);
                match (is_held_up, files.is_empty()) {
                    (true, _) => {
                        kept = files.into_iter().filter(is_kept).collect();
                        Some(pause)
                    }
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
                close(keeping).await;
                stop.sleep(wait).await;
                pause = (pause * 2).min(BACKOFF.1);
            }
            None => {
                pause = BACKOFF.0;
                stop.sleep(POLL.mul_f64(0.75 + fastrand::f64() / 2.0)).await;
            }
        }
    }
    let left = |file: FileOutcome| Left { what: Unsent::File(file.file.clone()), why: Obstacle::of_file(file) };
    Ok(kept.into_iter().map(left).collect())
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
