//! The outcome of a run of a job.

use std::path::{Path, PathBuf};

use sheetport_export::Exported;
use sheetport_operations::error::Error;
use sheetport_operations::event::Observer;
use sheetport_operations::results::Finished;

use super::inbox::Waiting;
use super::lock::PreviousRun;

/// A finished run of a job.
#[derive(Debug)]
pub struct JobRun {
    /// In milliseconds since 1970, UTC.
    pub began: i64,
    pub ended: i64,
    /// Its number in the ledger, for `end_activity` of sheetport-operations.
    pub activity: Option<i64>,
    /// The previous run, if any.
    pub previous: Option<PreviousRun>,
    /// The outcome of each step.
    pub steps: Vec<StepOutcome>,
    /// Warnings about the job as a whole.
    pub warnings: Vec<String>,
}

impl JobRun {
    /// Returns the number of files that were uploaded or written.
    pub fn files(&self) -> u64 {
        let of_step = |step: &StepOutcome| match step {
            StepOutcome::Uploaded { files, .. } => files.len(),
            StepOutcome::Exported(results) => results.iter().filter(|result| result.is_ok()).count(),
            StepOutcome::Failed(_) | StepOutcome::NotRun(_) => 0,
        };
        self.steps.iter().map(|step| of_step(step) as u64).sum()
    }
}

/// How a step ended.
#[derive(Debug)]
pub enum StepOutcome {
    Uploaded {
        files: Vec<FileOutcome>,
        /// Files left for the next run.
        waiting: Vec<Waiting>,
        /// Files left because the step ended early.
        left: Vec<PathBuf>,
    },
    /// The result of each file.
    Exported(Vec<Result<Vec<Exported>, ExportFailure>>),
    /// Nothing was begun.
    Failed(Error),
    /// A step before has failed, or the job was asked to stop.
    NotRun(&'static str),
}

/// Lists that were not exported.
#[derive(Debug)]
pub struct ExportFailure {
    pub records: Vec<&'static str>,
    /// `None` if the export was interrupted.
    pub error: Option<Error>,
}

/// How the upload of a file ended.
#[derive(Debug)]
pub struct FileOutcome {
    /// Where the file was found.
    pub file: PathBuf,
    /// The current path.
    pub now: PathBuf,
    pub place: Place,
    pub result: Result<Box<Finished>, Error>,
    pub report: Option<PathBuf>,
    /// Problems with the folders of the job.
    pub warnings: Vec<String>,
}

/// The place of a file after its upload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    Done,
    Failed,
    /// The step does not move its files.
    Same,
    /// The next run continues the upload of the file.
    Kept,
}

impl FileOutcome {
    /// Returns why the file was not uploaded, or not to its end.
    pub fn problem(&self) -> Option<String> {
        match &self.result {
            Err(error) => Some(error.to_string()),
            Ok(finished) => match &finished.stopped {
                Some(reason) => Some(reason.to_string()),
                None if self.place == Place::Kept && !self.warnings.is_empty() => Some(self.warnings.join("; ")),
                None => None,
            },
        }
    }
}

impl Place {
    /// Returns the name for programs.
    pub fn name(self) -> &'static str {
        match self {
            Place::Done => "done",
            Place::Failed => "failed",
            Place::Same => "same",
            Place::Kept => "kept",
        }
    }
}

impl StepOutcome {
    /// Returns whether the step completed without problems.
    pub fn is_success(&self) -> bool {
        match self {
            StepOutcome::Uploaded { files, left, .. } => {
                left.is_empty() && files.iter().all(|file| is_clean(&file.result))
            }
            StepOutcome::Exported(results) => results.iter().all(|result| {
                result
                    .as_ref()
                    .is_ok_and(|lists| lists.iter().all(|list| list.manifest.complete && list.manifest.not_found == 0))
            }),
            StepOutcome::Failed(_) | StepOutcome::NotRun(_) => false,
        }
    }
}

/// Tells the caller about the steps.
#[derive(Clone, Copy)]
pub struct JobObserver<'a> {
    /// A step begins.
    pub begins: &'a (dyn Fn(usize) + Sync),
    /// A file of a step is uploaded.
    pub takes: &'a (dyn Fn(&Path) + Sync),
    /// A file or a step has ended.
    pub ends: &'a (dyn Fn() + Sync),
    pub events: Observer<'a>,
}

/// Whether every record of a file was sent, or was to be left out.
pub(super) fn is_clean(result: &Result<Box<Finished>, Error>) -> bool {
    result.as_ref().is_ok_and(|finished| {
        let counts = &finished.accounting;
        let problems = counts.rejected + counts.failed + counts.unknown + counts.pending;
        finished.stopped.is_none() && finished.withheld.is_none() && problems == 0
    })
}
