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

#[derive(Subcommand, Debug)]
pub enum Job {
    /// Run the uploads and exports of a job in their order, and send its notices
    #[command(after_help = RUN_HELP)]
    Run(JobFile),
    /// Find all mistakes in the file of a job, and what is missing to run it
    Check(JobFile),
    /// Print the entry for the scheduler of the system, install it, or remove it
    Schedule(JobSchedule),
}

impl Job {
    /// Returns the path of the job's file.
    pub fn file(&self) -> &Path {
        match self {
            Job::Run(job) | Job::Check(job) => &job.file,
            Job::Schedule(job) => &job.job.file,
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
