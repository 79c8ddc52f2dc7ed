//! Flags of `job`.

use std::path::{Path, PathBuf};

use clap::builder::PossibleValue;
use clap::{Args, Subcommand};
use sheetport_jobs::Scheduler;

use super::choice::choice;

const RUN_HELP: &str = "\
Uploads take their files out of an inbox, one after the other, the oldest first. Each goes to the folder `done`, or to `failed` with a
report beside it. If a run is stopped or killed, the next one continues with the records that were not sent. The exit code is the
worst of all steps. With -q, nothing is printed when all is well.

Examples:
  sheetport job run nightly.toml
  sheetport job run nightly.toml --json
  sheetport job check nightly.toml
  sheetport job schedule nightly.toml --install

docs/jobs.md describes the file of a job.";

const STATUS_HELP: &str = "\
A job is late if a start of its schedule is over by more than 15 minutes and it has not begun since. Jobs are known once they have run
or were entered into a scheduler by `job schedule --install`. The exit code is 1 if a job is late.

Examples:
  sheetport job status
  sheetport job status nightly.toml --json";

#[derive(Subcommand, Debug)]
pub enum Job {
    /// Run the uploads and exports of a job in their order, and send its notices
    #[command(after_help = RUN_HELP)]
    Run(JobFile),
    /// Find all mistakes in the file of a job, and what is missing to run it
    Check(JobFile),
    /// Show when jobs last ran and how that ended, when they are due, and which are late
    #[command(after_help = STATUS_HELP)]
    Status(JobsShown),
    /// Print the entry for the scheduler of the system, install it, or remove it
    Schedule(JobSchedule),
}

impl Job {
    /// Returns the path of the job's file, if the command is about one job.
    pub fn file(&self) -> Option<&Path> {
        match self {
            Job::Run(job) | Job::Check(job) => Some(&job.file),
            Job::Status(shown) => shown.file.as_deref(),
            Job::Schedule(job) => Some(&job.job.file),
        }
    }
}

#[derive(Args, Debug)]
pub struct JobFile {
    /// TOML file with the steps of the job
    #[arg(value_name = "JOB")]
    pub file: PathBuf,
}

#[derive(Args, Debug)]
pub struct JobsShown {
    /// TOML file of a job [default: all jobs that have run here or are scheduled]
    #[arg(value_name = "JOB")]
    pub file: Option<PathBuf>,
}

#[derive(Args, Debug)]
pub struct JobSchedule {
    #[command(flatten)]
    pub job: JobFile,
    /// Scheduler [default: that of this system]
    #[arg(long = "for", value_name = "SCHEDULER", value_parser = choice(schedulers()))]
    pub scheduler: Option<Scheduler>,
    /// Enter the job into the scheduler of this user, in place of an earlier entry
    #[arg(long)]
    pub install: bool,
    /// Remove the job from the scheduler of this user
    #[arg(long, conflicts_with = "install")]
    pub remove: bool,
}

fn schedulers() -> [(PossibleValue, Scheduler); 4] {
    Scheduler::ALL.map(|scheduler| {
        let help = match scheduler {
            Scheduler::Cron => "A line of your crontab",
            Scheduler::Systemd => "A timer of your user",
            Scheduler::Launchd => "macOS",
            Scheduler::Windows => "The Task Scheduler of Windows",
        };
        (PossibleValue::new(scheduler.name()).help(help), scheduler)
    })
}
