//! `check`: everything that is wrong with a file, in one pass and without a network.

use std::path::Path;
use std::sync::Arc;

use super::input::InputFile;
use super::summary::Cause;
use super::{now, reading, reporting, template};
use crate::cli::Check;
use crate::error::{Exit, Failure};
use crate::ledger::{Ledger, RecordState, RunCommand};
use crate::report::{self, Request, RowFilter};
use crate::settings::Settings;
use crate::sheet::write::Existing;
use crate::template::Template;
use crate::ui::progress::Progress;
use crate::upload::plan::{ReadMode, plan, read};
use crate::upload::{Source, Tally};

pub async fn run(args: &Check, settings: &Settings) -> Result<Exit, Failure> {
    if let Some(report) = &args.report {
        reporting::check_report(report)?;
    }
    let template = Arc::new(template::load(&args.input.template)?);
    let file = InputFile::open(&args.input.file)?;
    let source = Arc::new(reading::open(&file, &args.input, &template)?);
    reading::describe(settings, &source, &template);
    let progress = Progress::new(settings.output.progress, "checking", "row", None);
    let tally = match &args.report {
        Some(report) => reported(report, args, settings, &file, &source, &template, &progress).await?,
        None => {
            let mut rows = 0;
            read(&source, &template, ReadMode::TallyOnly, |batch| {
                rows += batch.read;
                progress.at(rows, String::new);
                true
            })?
        }
    };
    progress.finish(tally.rows);
    if !settings.output.json {
        reading::show_problems(&tally);
    }
    let (exit, mut summary) = reading::ended("check", &source, &template, &tally, || reading::upload_of(&args.input));
    summary.problems = Some(tally.causes.groups().into_iter().map(Cause::of).collect());
    summary.report = args.report.clone();
    summary.print(settings.output);
    Ok(exit)
}

/// The same pass with a report of it. Reports are made from a ledger; this one is thrown away.
async fn reported(
    report: &Path,
    args: &Check,
    settings: &Settings,
    file: &InputFile,
    source: &Arc<Source>,
    template: &Arc<Template>,
    progress: &Progress,
) -> Result<Tally, Failure> {
    let folder = tempfile::tempdir().map_err(|error| {
        let hint = "check that the folder for temporary files has room, or set TMPDIR to another";
        Failure::new(Exit::Fault, format!("there is no place for temporary files: {error}"), hint)
    })?;
    let ledger = Ledger::open(folder.path()).await?;
    let about = reading::about(RunCommand::Check, settings, "", file, source, template)?;
    let show = |rows| progress.at(rows, String::new);
    let (run, tally) = plan(&ledger, &about, Arc::clone(source), Arc::clone(template), now(), &show).await?;
    let run = ledger.run(run).await?;
    let format = reporting::report_format(report)?;
    // What can be sent is no problem yet, though it is pending.
    let rows = if format.is_editable() { RowFilter::All } else { RowFilter::State(RecordState::Rejected) };
    let next = (tally.to_send > 0).then(|| reading::upload_of(&args.input));
    let request = Request {
        path: report,
        format,
        existing: Existing::Keep,
        rows,
        next: next.as_deref(),
        is_kept: false,
        choices: &reporting::choices(&run, format, settings.output.talks()),
        has_bom: reporting::has_bom(&file.path),
    };
    report::write(&ledger, &run, &request).await?;
    ledger.close().await;
    Ok(tally)
}
