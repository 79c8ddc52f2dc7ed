//! Uploads the files of a step, and moves each file to the folder for its outcome.

use std::path::{Path, PathBuf};

use sheetport_client::Stop;
use sheetport_documents::Parsed;
use sheetport_files::digest;
use sheetport_files::links::open_dropped;
use sheetport_files::readers::Readers;
use sheetport_findings::Code;
use sheetport_ledger::{AllowRepeat, Ledger, Run, RunId, RunState};
use sheetport_operations::Question;
use sheetport_operations::context::Context;
use sheetport_operations::error::Error;
use sheetport_operations::files::{
    InputFile, Spreadsheet, beside, create_folder, inside, is_taken, open_input, write_text,
};
use sheetport_operations::results::{Finished, ReportRequest, next_command, report};
use sheetport_operations::runs::list_runs::{ListedRun, RunFilter, list_runs};
use sheetport_operations::runs::resume::resume;
use sheetport_operations::send::SendOptions;
use sheetport_operations::templates::load_template::{TemplateChanges, load_template_for};
use sheetport_operations::templates::trust::trust;
use sheetport_operations::uploads::{Upload, upload};
use sheetport_report::Format;
use sheetport_send::StopReason;
use sheetport_send::Stopping;
use sheetport_sheet as sheet;
use sheetport_storage::ObjectAddress;
use sheetport_values::date::local_zone;

use super::definition::{Folders, UploadStep};
use super::inbox::{Claimed, Inbox, Source, refused};
use super::outcome::{FileOutcome, JobObserver, Place, StepOutcome, is_clean};

/// Number of runs to load when looking for the newest run of a file.
const NEWEST: usize = 1;

/// Uploads all files of a step. Files that can't be sent now stay in the inbox.
pub(crate) async fn run(
    context: &Context,
    step: &UploadStep,
    stopping: &Stopping,
    observer: JobObserver<'_>,
) -> StepOutcome {
    // Detects problems that concern all files before touching any file.
    if let Err(error) = ready(context) {
        return StepOutcome::Failed(error);
    }
    let inbox = match Inbox::open(context, step).await {
        Ok(inbox) => inbox,
        Err(error) => return StepOutcome::Failed(error),
    };
    let (sources, waiting) = match inbox.sources(step).await {
        Ok(found) => found,
        Err(error) => return StepOutcome::Failed(error),
    };
    let mut files: Vec<FileOutcome> = Vec::new();
    let mut left: Vec<PathBuf> = Vec::new();
    for source in sources {
        let goes_on = files.last().is_none_or(|file| is_about_this_file(&file.result));
        if !goes_on || stopping.is_asked() {
            left.push(source.path());
            continue;
        }
        files.extend(Sender { context, step, inbox: &inbox, stopping, observer }.send(source).await);
        (observer.ends)();
    }
    inbox.close().await;
    StepOutcome::Uploaded { files, waiting, left }
}

/// Checks that sending is possible at all: address, credentials, and permission to write.
fn ready(context: &Context) -> Result<(), Error> {
    context.writing_client(context.base_url()?, 1).map(drop)
}

struct Sender<'a> {
    context: &'a Context,
    step: &'a UploadStep,
    inbox: &'a Inbox,
    stopping: &'a Stopping,
    observer: JobObserver<'a>,
}

impl Sender<'_> {
    /// Uploads a file. Returns `None` if another process has taken the file.
    async fn send(&self, source: Source) -> Option<FileOutcome> {
        let path = source.path();
        let Some(folders) = &self.step.folders else {
            (self.observer.takes)(&path);
            let result = match self.in_place(&path).await {
                Ok(file) => self.continue_or_upload(&file).await,
                Err(error) => Err(error),
            };
            let report = result.as_ref().ok().and_then(|finished| finished.report.as_ref().ok()?.clone());
            let (file, now) = (path.clone(), path);
            return Some(FileOutcome { file, now, place: Place::Same, result, report, warnings: Vec::new() });
        };
        let is_new = matches!(source, Source::New(_));
        let claimed = match self.inbox.claim(source).await {
            Ok(claimed) => claimed?,
            Err(error) => {
                let (file, now, result) = (path.clone(), path, Err(error));
                return Some(FileOutcome { file, now, place: Place::Kept, result, report: None, warnings: Vec::new() });
            }
        };
        let file = inside(&self.step.folder, &claimed.path().file_name().unwrap_or_default().to_string_lossy());
        (self.observer.takes)(&file);
        let run = if is_new { Ok(None) } else { self.run_of(&claimed.path()).await };
        let result = match (run, claimed.input(&file).await) {
            (Ok(run), Ok(input)) => self.upload(&input, run).await,
            (Err(error), _) | (_, Err(error)) => Err(error),
        };
        Some(self.settle(claimed, file, result, folders).await)
    }

    /// Opens a file that stays in place.
    async fn in_place(&self, path: &Path) -> Result<InputFile, Error> {
        if ObjectAddress::is_meant(path) {
            return open_input(self.context, path).await;
        }
        let file = open_dropped(path, &self.step.folder).map_err(|why| refused(path, &why.to_string()))?;
        Ok(InputFile::dropped(file, path, path))
    }

    /// Uploads a file, or continues its run.
    async fn upload(&self, file: &InputFile, run: Option<RunId>) -> Result<Box<Finished>, Error> {
        let (context, step, events) = (self.context, self.step, self.observer.events);
        let keys = &step.keys;
        if let Some(run) = run {
            let options = SendOptions::default();
            return resume(context, Some(run), options, Box::pin(self.stopping.wait()), events).await.map(Box::new);
        }
        let changes = TemplateChanges {
            parameters: &step.set,
            sheet: keys.sheet_keys(),
            defaults: context.defaults(),
            lookup_folders: &[],
        };
        let template = load_template_for(&step.template, changes, file)?;
        // Naming a template in a job implies trust.
        trust(context, &template)?;
        let accepts: Vec<Code> = keys.accept.iter().map(|Parsed(Question(code))| *code).collect();
        let input = Spreadsheet {
            file,
            template,
            sheet: keys.sheet.as_deref(),
            text: sheet::Options::default(),
            rows: None,
            is_strict: keys.strict,
            accepts: &accepts,
            edits: None,
        };
        let request = Upload {
            input,
            sending: SendOptions {
                is_to_queue: false,
                concurrency: keys.concurrency.as_ref().map(|number| number.get_ref().get()),
                rate: keys.rate.as_ref().map(|Parsed(rate)| *rate),
                max_errors: keys.max_errors,
                max_unknown: keys.max_unknown,
                priority: None,
                overwrites_newer: false,
                report: None,
                for_supplier: Some(keys.for_supplier),
            },
            changed_only: keys.changed_only,
            only: keys.only(),
            fill_blank: keys.fill_blank,
            missing: None,
            all_or_nothing: keys.all_or_nothing,
            allow_repeat: AllowRepeat::None,
            restore_texts: false,
            keep_lines: keys.keep_lines,
            undoable: false,
            accepts_doubts: false,
            create_missing_items: keys.create_missing_items,
            trigger_workflows: keys.trigger_workflows,
        };
        upload(context, request, None, Box::pin(self.stopping.wait()), events).await.map(Box::new)
    }

    /// Returns the run of a taken file, if the run has a complete plan. A withheld run has sent nothing, so its file is read
    /// again.
    async fn run_of(&self, path: &Path) -> Result<Option<RunId>, Error> {
        let run = self.newest_run(path).await?;
        Ok(run.filter(|run| matches!(run.state, RunState::Planned | RunState::Finished)).map(|run| run.id))
    }

    /// Continues the run of a file that stays in place, if the run has pending records and the file is unchanged; else uploads the
    /// file.
    async fn continue_or_upload(&self, file: &InputFile) -> Result<Box<Finished>, Error> {
        let unfinished = match self.context.existing_ledger().await? {
            Some(ledger) => {
                let unfinished = newest_unfinished(&ledger, &file.lasting_name()).await;
                ledger.close().await;
                unfinished?
            }
            None => None,
        };
        let is_unchanged = |hash: &String| digest::of_file(&file.path).is_ok_and(|found| found == *hash);
        let run = unfinished.filter(|(_, hash)| is_unchanged(hash)).map(|(run, _)| run);
        self.upload(file, run).await
    }

    /// Returns the newest run of a taken file. The path of a taken file is unique.
    async fn newest_run(&self, path: &Path) -> Result<Option<Run>, Error> {
        if !self.context.has_ledger() {
            return Ok(None);
        }
        let path = path.display().to_string();
        let filter = RunFilter { file: Some(&path), ..RunFilter::default() };
        let runs = list_runs(self.context, filter, NEWEST).await?;
        Ok(runs.into_iter().find_map(|run| match run {
            ListedRun::Known(run, ..) if run.about.file == path => Some(*run),
            _ => None,
        }))
    }

    /// Moves a file to the folder for its outcome, with a report or a note if there are problems.
    async fn settle(
        &self,
        claimed: Claimed,
        file: PathBuf,
        mut result: Result<Box<Finished>, Error>,
        folders: &Folders,
    ) -> FileOutcome {
        let mut warnings = Vec::new();
        let place = place(&result);
        if place == Place::Kept {
            // A file without a run goes back to the inbox. Otherwise, the next run continues the run of the file.
            let now = match self.newest_run(&claimed.path()).await {
                Ok(None) => claimed.put_back().await,
                Ok(Some(_)) | Err(_) => claimed.path(),
            };
            return FileOutcome { file, now, place, result, report: None, warnings };
        }
        let folder = dated(if place == Place::Done { &folders.done } else { &folders.failed });
        let mut report = None;
        if place == Place::Failed {
            match self.explain(&folder, &claimed.path(), &mut result).await {
                Ok(path) => report = path,
                Err(why) => warnings.push(why),
            }
        }
        match claimed.move_into(&folder).await {
            Ok(now) => FileOutcome { file, now, place, result, report, warnings },
            Err((claimed, error)) => {
                let from = claimed.path();
                warnings.push(format!("{} can't be moved to {}: {error}", from.display(), folder.display()));
                FileOutcome { file, now: from, place: Place::Kept, result, report, warnings }
            }
        }
    }

    /// Writes the reason for a failure next to the future place of the file: the report of its run, or a text.
    async fn explain(
        &self,
        folder: &Path,
        taken: &Path,
        result: &mut Result<Box<Finished>, Error>,
    ) -> Result<Option<PathBuf>, String> {
        let unwritable =
            |error: &dyn std::fmt::Display| format!("no report was written to {}: {error}", folder.display());
        create_folder(folder).map_err(|error| unwritable(&error))?;
        let file = inside(folder, &taken.file_name().unwrap_or_default().to_string_lossy());
        let unused = async |extension| {
            for path in beside(&file, extension) {
                if !is_taken(self.context, &path).await? {
                    return Ok(path);
                }
            }
            Err(Error::invalid("no name is free", "move the reports away"))
        };
        match result {
            Ok(finished) => {
                let written = finished.report.as_ref().ok().and_then(Option::as_deref);
                let format = written.and_then(Format::of).unwrap_or(Format::Xlsx);
                let path = unused(format.extension()).await.map_err(|error| unwritable(&error))?;
                let request = ReportRequest::of_run(finished.run.id, &path);
                report(self.context, &request, self.observer.events).await.map_err(|error| unwritable(&error))?;
                let Finished { run, accounting, stopped, .. } = &**finished;
                let next = next_command::after_run(self.context, run, accounting, stopped.as_ref(), Some(&path));
                finished.next = next;
                Ok(Some(path))
            }
            Err(error) => {
                let path = unused("txt").await.map_err(|error| unwritable(&error))?;
                let hint = error.hint().map(|hint| format!("{hint}\n")).unwrap_or_default();
                // The text quotes the file, so it gets no more readers than the file.
                let written = write_text(self.context, &path, Readers::of(taken), &format!("{error}\n{hint}")).await;
                written.map(|()| Some(path)).map_err(|error| unwritable(&error))
            }
        }
    }
}

/// Fills in the placeholders of a folder.
fn dated(folder: &Path) -> PathBuf {
    let now = jiff::Zoned::now().with_time_zone(local_zone());
    let text = folder.to_string_lossy();
    PathBuf::from(
        text.replace("{date}", &now.date().to_string()).replace("{time}", &now.strftime("%H%M%S").to_string()),
    )
}

/// Returns the newest run of a file with pending records, and the hash of the file at that time.
async fn newest_unfinished(ledger: &Ledger, file: &str) -> Result<Option<(RunId, String)>, Error> {
    let mut found = None;
    for id in ledger.unfinished().await? {
        let run = match ledger.run(id).await {
            Ok(run) => run,
            // The damage hides the name of the file. The upload recognizes requests that were sent before.
            Err(error) if error.is_damage() => continue,
            Err(error) => return Err(error.into()),
        };
        if run.about.file == file && run.state == RunState::Planned && ledger.accounting(id).await?.pending > 0 {
            found = found.max(Some((id, run.about.file_hash)));
        }
    }
    Ok(found)
}

/// Decides where a file goes.
fn place(result: &Result<Box<Finished>, Error>) -> Place {
    match result {
        Err(error) if error.is_about_file() => Place::Failed,
        Err(_) => Place::Kept,
        Ok(_) if is_clean(result) => Place::Done,
        // The next run would stop in the same place.
        Ok(finished) => match finished.stopped {
            Some(StopReason::TooManyErrors(_)) => Place::Failed,
            Some(_) => Place::Kept,
            None => Place::Failed,
        },
    }
}

/// Returns whether the result concerns this file only, so that the upload of other files may succeed.
fn is_about_this_file(result: &Result<Box<Finished>, Error>) -> bool {
    match result {
        Ok(finished) => match &finished.stopped {
            None | Some(StopReason::TooManyErrors(_)) => true,
            Some(StopReason::Service(Stop::Unauthorized(_) | Stop::Forbidden(_))) => false,
            Some(_) => false,
        },
        Err(error) => error.is_about_file() || matches!(error, Error::FileInUse { .. }),
    }
}
