//! `job`: runs, checks, shows and schedules jobs.

mod status;
mod summary;

use std::sync::{Arc, Mutex, PoisonError};

use serde_json::json;
use sheetport_jobs::{Entry, JobObserver, Scheduler, Work, load_job, missing_secrets};
use sheetport_language::say;
use sheetport_ledger::ActivityOutcome;
use sheetport_operations::context::now;
use sheetport_operations::{self as operations, CommandLine, Context, Event, Given};
use sheetport_send::{Stage, Stopping, pass_on};
use sheetport_storage::ObjectAddress;
use tokio::sync::watch;

use super::console::Console;
use super::console::signals::Interrupt;
use crate::cli::{self, JobFile, JobSchedule};
use crate::error::{ErrorCode, Exit, Failure};
use crate::settings::{Output, Settings};
use crate::ui;
use summary::JobSummary;

pub(super) async fn run(args: &cli::Job, settings: &Settings) -> Result<Exit, Failure> {
    match args {
        cli::Job::Run(args) => run_job(args, settings).await,
        cli::Job::Check(args) => check(args, settings),
        cli::Job::Status(args) => status::run(args, settings),
        cli::Job::Schedule(args) => schedule(args, settings),
    }
}

/// Returns the profile in a job file. Mistakes are reported when the job is loaded again.
pub fn profile_of_job(args: &cli::Job) -> Option<String> {
    load_job(args.file()?).ok()?.profile
}

async fn run_job(args: &JobFile, settings: &Settings) -> Result<Exit, Failure> {
    // Suggested commands are read in mails and logs, and run somewhere else.
    let context =
        &Context { given: Given { here: None, ..settings.context.given.clone() }, ..settings.context.clone() };
    let output = settings.output;
    let job = load_job(&args.file)?;
    let interrupt = Arc::new(Interrupt::default());
    let stopping = stopping(&interrupt);
    // The steps report by the summary; of the rest, only progress is shown.
    let console = Mutex::new(progress_of(output));
    let warnings: Mutex<Vec<String>> = Mutex::default();
    let talks = output.talks();
    let begins = |index: usize| {
        if talks && let Some(step) = job.steps.get(index) {
            ui::remark(&step.name);
        }
    };
    let takes = |path: &std::path::Path| {
        if talks && let Some(name) = path.file_name() {
            ui::remark(say!("  {}", name.display()));
        }
    };
    let ends = || {
        let mut console = console.lock().unwrap_or_else(PoisonError::into_inner);
        *console = progress_of(output);
    };
    let events = |event: Event<'_>| match event {
        Event::Warning(message) => {
            warnings.lock().unwrap_or_else(PoisonError::into_inner).push(message.to_owned());
        }
        Event::Reading { .. } | Event::Sending { .. } | Event::Sent { .. } | Event::Exported { .. } => {
            console.lock().unwrap_or_else(PoisonError::into_inner).show(event);
        }
        Event::Checked(tally) => console.lock().unwrap_or_else(PoisonError::into_inner).finish(tally.rows),
        Event::SendingEnded { done } => console.lock().unwrap_or_else(PoisonError::into_inner).finish(done),
        _ => {}
    };
    let observer = JobObserver { begins: &begins, takes: &takes, ends: &ends, events: &events };
    let mut run = sheetport_jobs::run_job(context, &job, &stopping, observer).await?;
    run.warnings.extend(warnings.into_inner().unwrap_or_else(PoisonError::into_inner));
    let again = CommandLine::new(context, "job run").file(&args.file).to_string();
    let (began, files, activity) = (run.began, run.files(), run.activity);
    let mut summary = JobSummary::of(&job, run, interrupt.exit(), again);
    let notified = sheetport_jobs::notify(context, &job, &summary.news(&job)).await;
    summary.add_notices(&notified);
    if let Err(error) = sheetport_jobs::record_exit(context, &job.path, began, summary.exit as u8, files) {
        ui::remark(Failure::from(error).to_string());
    }
    let (outcome, note) = match summary.exit {
        Exit::Done => (ActivityOutcome::Complete, None),
        exit => (ActivityOutcome::Failed, Some(format!("exit {}", exit as u8))),
    };
    operations::end_activity(context, activity, outcome, Some(files), note).await;
    summary.print(output);
    Ok(summary.exit)
}

/// Passes the signals of the process on to all steps.
fn stopping(interrupt: &Arc<Interrupt>) -> Stopping {
    let (sender, receiver) = watch::channel(Stage::Running);
    let interrupt = Arc::clone(interrupt);
    tokio::spawn(async move { pass_on(interrupt.wait(), &sender).await });
    Stopping::new(receiver)
}

fn progress_of(output: Output) -> Console {
    Console::new(Output { quiet: true, ..output })
}

fn check(args: &JobFile, settings: &Settings) -> Result<Exit, Failure> {
    let job = load_job(&args.file)?;
    let mut missing = missing_secrets(&job);
    let context = &settings.context;
    if let Err(error) = context.base_url().and_then(|base_url| context.writing_client(base_url, 1).map(drop)) {
        missing.push(Failure::from(error).to_string());
    }
    for step in &job.steps {
        let Work::Upload(upload) = &step.work else { continue };
        match ObjectAddress::of(&upload.folder) {
            Ok(None) if !upload.folder.is_dir() => {
                missing.push(format!("the folder {} does not exist yet", upload.folder.display()));
            }
            Ok(_) => {}
            Err(error) => missing.push(Failure::from(error).to_string()),
        }
    }
    if settings.output.json {
        let steps = job.steps.iter().map(|step| json!({"name": step.name, "kind": step.work.name()}));
        ui::json(&json!({
            "command": "job check",
            "job": job.name,
            "file": job.path,
            "steps": steps.collect::<Vec<_>>(),
            "notices": job.notices.len(),
            "missing": missing,
        }));
        return Ok(Exit::Done);
    }
    if settings.output.talks() {
        ui::line(say!("{}: no mistakes", job.path.display()));
        for step in &job.steps {
            ui::line(say!("  {}", step.name));
        }
    }
    missing.iter().for_each(|what| ui::remark(say!("missing: {what}")));
    if settings.output.talks() {
        let next = CommandLine::new(context, "job run").file(&args.file).to_string();
        ui::next(Some(&next));
    }
    Ok(Exit::Done)
}

fn schedule(args: &JobSchedule, settings: &Settings) -> Result<Exit, Failure> {
    let context = &settings.context;
    let job = load_job(&args.job.file)?;
    let program = std::env::current_exe().map_err(|error| {
        let message = format!("the path of this program is not known: {error}");
        Failure::new(ErrorCode::Local, message, "write the entry by hand")
    })?;
    let scheduler = args.scheduler.unwrap_or_else(Scheduler::usual);
    let entry = Entry::of(&job, &program, context);
    if !args.remove {
        entry.check_zone(scheduler)?;
    }
    let installed = match (args.install, args.remove) {
        (true, _) => Some(sheetport_jobs::install(&entry, scheduler)?),
        (_, true) => Some(sheetport_jobs::uninstall(&entry, scheduler)?),
        _ => None,
    };
    // From now on, `doctor` and `job status` expect its runs.
    if installed.is_some() {
        sheetport_jobs::note_schedule(context, &job.path, args.install.then(now))?;
    }
    let files = entry.files(scheduler);
    if settings.output.json {
        let files = files.iter().map(|file| json!({"name": file.name, "text": file.text})).collect::<Vec<_>>();
        let changed = installed.as_ref().map(|installed| &installed.changed);
        ui::json(&json!({
            "command": "job schedule",
            "job": job.name,
            "scheduler": scheduler.name(),
            "files": files,
            "changed": changed,
        }));
    } else if let Some(installed) = &installed {
        installed.changed.iter().for_each(ui::line);
        installed.remaining.iter().for_each(ui::remark);
    } else {
        for file in &files {
            if files.len() > 1 {
                ui::line(say!("# {}", file.name));
            }
            ui::text(&file.text);
        }
        if settings.output.talks() {
            let install = CommandLine::new(context, "job schedule")
                .file(&args.job.file)
                .flag("for", args.scheduler.map(Scheduler::name));
            ui::next_remark(Some(&install.switch("install", true).to_string()));
        }
    }
    if !args.remove {
        sheetport_jobs::obstacles(&job, context).iter().for_each(ui::remark);
    }
    Ok(Exit::Done)
}
