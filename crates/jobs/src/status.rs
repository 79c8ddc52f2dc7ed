//! What is known of a job between its runs: when it last ran and how that ended, when it is due, and whether it is late.

use std::path::{Path, PathBuf};

use jiff::{SignedDuration, Zoned};
use sheetport_operations::context::{Context, now};
use sheetport_operations::error::Error;
use sheetport_operations::{Finding, Health};
use sheetport_values::date::local_time;

use super::definition::{Job, load_job};
use super::lock::{self, PreviousRun};

/// How long after its time a scheduler may start a job: those of systemd and Windows wait for a busy or sleeping machine.
const GRACE: SignedDuration = SignedDuration::from_mins(15);

/// A job between its runs.
#[derive(Debug)]
pub struct JobStatus {
    pub name: String,
    pub file: PathBuf,
    pub is_running: bool,
    pub last: Option<PreviousRun>,
    /// The next start, if the job has a schedule.
    pub next: Option<Zoned>,
    /// The first start that was missed.
    pub missed: Option<Zoned>,
}

/// Returns the status of a job.
///
/// # Errors
/// If the file of the job can't be read or has mistakes.
pub fn job_status(context: &Context, file: &Path) -> Result<JobStatus, Error> {
    Ok(status_of(context, load_job(file)?, &local_time(now())))
}

/// Returns the status of each job that has run in this home or was scheduled there, and the reason for those whose file can't be read. Jobs
/// whose file is gone are left out, unless a scheduler still starts them.
pub fn known_jobs(context: &Context) -> Vec<(PathBuf, Result<JobStatus, Error>)> {
    let mut files = lock::known(context);
    files.retain(|known| known.is_scheduled || known.job.exists());
    files.into_iter().map(|known| (known.job.clone(), job_status(context, &known.job))).collect()
}

/// Returns a finding of `doctor` about all known jobs. `None` if there are none.
pub fn examine_jobs(context: &Context) -> Option<Finding> {
    const NAME: &str = "jobs";
    let jobs = known_jobs(context);
    let finding = |health, text: String, remedy: Option<String>| Finding { name: NAME, health, text, remedy };
    for (file, status) in &jobs {
        match status {
            Err(error) => {
                let text = format!("{}: {error}", file.display());
                return Some(finding(Health::Problem, text, error.hint()));
            }
            Ok(JobStatus { missed: Some(missed), .. }) => {
                let text = format!("{} is {} late", file.display(), lateness(missed, &local_time(now())));
                let remedy = "see whether its scheduler still has it, and run it by hand: `sheetport job status` shows when it last ran";
                return Some(finding(Health::Problem, text, Some(remedy.to_owned())));
            }
            Ok(_) => {}
        }
    }
    let text = match jobs.len() {
        0 => return None,
        1 => "1 job, not late".to_owned(),
        count => format!("{count} jobs, none of them late"),
    };
    Some(finding(Health::Ok, text, None))
}

/// Returns how late a job is that missed a start, such as `31 h`.
pub fn lateness(missed: &Zoned, now: &Zoned) -> String {
    let minutes = now.duration_since(missed).as_mins();
    if minutes < 120 { format!("{minutes} min") } else { format!("{} h", minutes / 60) }
}

fn status_of(context: &Context, job: Job, now: &Zoned) -> JobStatus {
    let known = lock::of(context, &job.path);
    // Without [schedule], a job is only due if its entry was installed, at the usual time.
    let schedule = job.schedule.clone().or_else(|| known.scheduled.map(|_| Default::default()));
    let zone = job.zone();
    let began = known.last.as_ref().map(|last| last.began);
    // A job that was just installed missed nothing before that.
    let since = began.max(known.scheduled).map(|millis| local_time(millis).with_time_zone(zone.clone()));
    let next = schedule.as_ref().and_then(|schedule| schedule.next(&now.with_time_zone(zone)));
    let missed = schedule.zip(since).and_then(|(schedule, since)| schedule.next(&since));
    let missed = missed.filter(|due| !known.is_running && now.duration_since(due) > GRACE);
    JobStatus { name: job.name, file: job.path, is_running: known.is_running, last: known.last, next, missed }
}
