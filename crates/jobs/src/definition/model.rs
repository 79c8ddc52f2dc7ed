//! The model of a job: its uploads and exports in order, its notices, and its schedule.

use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::tz::TimeZone;
use sheetport_operations::exports::ExportRequest;

use super::raw::UploadKeys;

/// A job, as described by its file. Paths are absolute.
#[derive(Debug)]
pub struct Job {
    /// Path of the job's file.
    pub path: PathBuf,
    pub name: String,
    pub profile: Option<String>,
    pub steps: Vec<Step>,
    pub notices: Vec<Notice>,
    /// The address that is called after each run with exit code 0, so that somebody elsewhere notices a run that never comes.
    pub heartbeat: Option<Secret>,
    pub schedule: Option<Schedule>,
    /// The time zone of the schedule. `None` for that of the machine.
    pub zone: Option<TimeZone>,
}

#[derive(Debug)]
pub struct Step {
    pub name: String,
    /// Whether a failure of this step skips the following steps.
    pub stops: bool,
    pub work: Work,
}

#[derive(Debug)]
pub enum Work {
    Upload(Box<UploadStep>),
    Export(Box<ExportRequest>),
}

impl Work {
    /// Returns the name for programs and people.
    pub fn name(&self) -> &'static str {
        match self {
            Work::Upload(_) => "upload",
            Work::Export(_) => "export",
        }
    }
}

/// How long a file must have been unchanged, unless a step says otherwise.
pub(super) const SETTLE: Duration = Duration::from_secs(10);

/// Files to upload with a template.
#[derive(Debug)]
pub struct UploadStep {
    pub folder: PathBuf,
    /// Name of the files, with `*` and `?` as wildcards.
    pub files: String,
    /// Name of a built-in template, or path of a template file.
    pub template: String,
    pub set: Vec<(String, String)>,
    /// Folders for uploaded files. `None` leaves the files in place.
    pub folders: Option<Folders>,
    /// How long a file must have been unchanged.
    pub settle: Duration,
    /// What the step says about its uploads.
    pub(crate) keys: UploadKeys,
}

impl UploadStep {
    /// Returns a step with the defaults of `upload`.
    pub(crate) fn usual(folder: PathBuf, files: String, template: String, folders: Folders) -> UploadStep {
        let (set, keys) = (Vec::new(), UploadKeys::default());
        UploadStep { folder, files, template, set, folders: Some(folders), settle: SETTLE, keys }
    }
}

/// Folders for uploaded files. Their names may contain `{date}` and `{time}`.
#[derive(Debug)]
pub struct Folders {
    pub done: PathBuf,
    pub failed: PathBuf,
}

/// An event to send notices about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Occasion {
    /// A step failed, or rows need fixing or were refused.
    Failure,
    Warnings,
    /// An upload step found no file.
    Nothing,
    /// All steps ended without any of the other events.
    Success,
}

impl Occasion {
    pub const ALL: [Occasion; 4] = [Occasion::Failure, Occasion::Warnings, Occasion::Nothing, Occasion::Success];

    /// Returns the name in job files.
    pub fn name(self) -> &'static str {
        match self {
            Occasion::Failure => "failure",
            Occasion::Warnings => "warnings",
            Occasion::Nothing => "nothing",
            Occasion::Success => "success",
        }
    }
}

/// A notice: the events, and the channel for the message.
#[derive(Debug)]
pub struct Notice {
    pub on: Vec<Occasion>,
    pub by: Channel,
    /// Sends the reports along.
    pub attach: bool,
}

#[derive(Debug)]
pub enum Channel {
    /// A program with its arguments. The program reads the summary from standard input.
    Command(Vec<String>),
    Webhook(Secret),
    Mail(Box<Mail>),
}

impl Channel {
    pub fn name(&self) -> &'static str {
        match self {
            Channel::Command(_) => "command",
            Channel::Webhook(_) => "webhook",
            Channel::Mail(_) => "mail",
        }
    }

    pub(crate) fn secret(&self) -> Option<&Secret> {
        match self {
            Channel::Command(_) => None,
            Channel::Webhook(address) => Some(address),
            Channel::Mail(mail) => mail.password.as_ref(),
        }
    }
}

#[derive(Debug)]
pub struct Mail {
    pub from: String,
    pub to: Vec<String>,
    pub server: String,
    pub port: u16,
    pub security: Security,
    pub user: Option<String>,
    pub password: Option<Secret>,
    pub ca_file: Option<PathBuf>,
}

/// How a connection to a mail server is protected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Security {
    Tls,
    StartTls,
    /// Only for a server on this machine.
    None,
}

/// The location of a secret. The job file never contains the secret itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Secret {
    /// Not secret: the address of a webhook without a key.
    Plain(String),
    Environment(String),
    File(PathBuf),
}

impl Secret {
    /// Returns the name of the environment variable that holds the secret.
    pub(crate) fn variable(&self) -> Option<&str> {
        match self {
            Secret::Environment(name) => Some(name),
            Secret::Plain(_) | Secret::File(_) => None,
        }
    }
}

/// When the scheduler of the system starts a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Schedule {
    /// At a time of the day, on these days of the week (0 is Monday).
    At { hour: u8, minute: u8, days: Vec<u8> },
    /// Interval in minutes; divides an hour or a day evenly.
    Every { minutes: u32 },
}

impl Default for Schedule {
    /// Every day at 04:30, a time that no change to or from summer time skips or repeats.
    fn default() -> Schedule {
        Schedule::At { hour: 4, minute: 30, days: (0..7).collect() }
    }
}

impl Job {
    /// Returns the secrets of the notices and of the heartbeat.
    pub(crate) fn secrets(&self) -> impl Iterator<Item = &Secret> {
        self.notices.iter().filter_map(|notice| notice.by.secret()).chain(&self.heartbeat)
    }

    /// Returns the time zone of the schedule.
    pub(crate) fn zone(&self) -> TimeZone {
        self.zone.clone().unwrap_or_else(TimeZone::system)
    }

    /// Returns the folder of the job file. Paths in the file are relative to this folder.
    pub fn folder(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new("."))
    }
}
