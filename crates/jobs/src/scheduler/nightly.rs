//! Setting up an upload for every night: an inbox, the file of a job, and an entry of the scheduler.

use std::io::Write;
use std::path::{Path, PathBuf};

use jiff::Zoned;
use sheetport_client::auth::TokenOrigin;
use sheetport_files::absolute_path::absolute;
use sheetport_files::digest;
use sheetport_mapping::builtin;
use sheetport_operations::command_line::CommandLine;
use sheetport_operations::context::{Context, now};
use sheetport_operations::error::Error;
use sheetport_sheet::write::{Existing, WholeFile};
use toml_edit::{DocumentMut, Item, Table, value};

use super::super::definition::{Job, parse};
use super::super::lock;
use super::entry::{Entry, Scheduler};
use super::install::{Installed, install};

/// Name of the inbox, in the folder of the job.
const INBOX: &str = "inbox";

/// An upload of the files of an inbox at a time of the day.
#[derive(Clone, Debug)]
pub struct Nightly {
    /// Name of the job and of its file.
    pub name: String,
    /// The folder of the job. The inbox is a folder below.
    pub folder: PathBuf,
    /// Extension of the files, such as `xlsx`.
    pub extension: String,
    /// Name of a built-in template, or path of a template file.
    pub template: String,
    pub sheet: Option<String>,
    pub changed_only: bool,
    /// Such as `04:30`.
    pub at: String,
}

/// The result of setting up a job.
#[derive(Debug)]
pub struct NightlyJob {
    /// The file of the job.
    pub file: PathBuf,
    pub inbox: PathBuf,
    pub scheduler: Scheduler,
    /// The scheduler entry, or the reason why the scheduler refused.
    pub installed: Result<Installed, Error>,
    /// The command that runs the job now.
    pub run: String,
    /// The command that removes the scheduler entry.
    pub remove: String,
    /// Problems that keep the job from working.
    pub obstacles: Vec<String>,
}

impl Nightly {
    /// Returns the text of the job.
    pub fn text(&self, context: &Context) -> String {
        self.text_for(Some(context.profile.as_str()).filter(|_| context.is_profile_chosen))
    }

    fn text_for(&self, profile: Option<&str>) -> String {
        let mut document = DocumentMut::new();
        if let Some(profile) = profile {
            document["profile"] = value(profile);
        }
        // Must be unique among the scheduler entries, so the name includes a hash of the folder.
        let folder = digest::hex(&digest::of_parts([self.folder.as_os_str().as_encoded_bytes()]));
        document["name"] = value(format!("{} {}", self.name, folder.get(..6).unwrap_or_default()));
        let mut step = Table::new();
        step["upload"] = value(format!("{INBOX}/*.{}", self.extension));
        step["template"] = value(&self.template);
        if let Some(sheet) = &self.sheet {
            step["sheet"] = value(sheet);
        }
        if self.changed_only {
            step["changed_only"] = value(true);
        }
        document["step"] = Item::ArrayOfTables([step].into_iter().collect());
        let mut schedule = Table::new();
        schedule["at"] = value(&self.at);
        document["schedule"] = Item::Table(schedule);
        document.to_string()
    }

    /// Returns the path of the job's file.
    pub fn file(&self) -> PathBuf {
        self.folder.join(format!("{}-nightly.toml", self.name))
    }

    pub fn inbox(&self) -> PathBuf {
        self.folder.join(INBOX)
    }

    /// Creates the inbox, writes the job file unless the same text is already there, and adds the job to the scheduler.
    ///
    /// # Errors
    /// If the folder is relative or can't be written, another job has the name, or the job has a mistake.
    pub fn set_up(&self, context: &Context, program: &Path) -> Result<NightlyJob, Error> {
        if !self.folder.is_absolute() {
            let message = format!("the folder {} has no full path", self.folder.display());
            return Err(Error::invalid(message, "write it as your file manager shows it"));
        }
        let wanted = Nightly { template: self.lasting_template(), ..self.clone() };
        let (file, inbox) = (self.file(), self.inbox());
        let failed = |error: &std::io::Error, path: &Path| {
            Error::invalid(format!("{} can't be written: {error}", path.display()), "choose another folder")
        };
        let text = wanted.text(context);
        // Nothing is left behind by a mistake.
        let job = parse(&file, &text)?;
        std::fs::create_dir_all(&inbox).map_err(|error| failed(&error, &inbox))?;
        let before = std::fs::read_to_string(&file).ok();
        if before.as_ref() != Some(&text) {
            let is_own = before.is_some_and(|before| without_time(&before) == without_time(&text));
            let mut whole = WholeFile::create(&file, if is_own { Existing::Replace } else { Existing::Keep })?;
            whole.write_all(text.as_bytes()).map_err(|error| failed(&error, &file))?;
            whole.finish()?;
        }
        let scheduler = Scheduler::usual();
        let entry = Entry::of(&job, program, context);
        let installed = install(&entry, scheduler);
        if installed.is_ok() {
            lock::note_schedule(context, &file, Some(now()))?;
        }
        let schedule = || CommandLine::new(context, "job schedule").file(&file);
        Ok(NightlyJob {
            installed,
            run: CommandLine::new(context, "job run").file(&file).to_string(),
            remove: schedule().switch("remove", true).to_string(),
            obstacles: obstacles(&job, context),
            file,
            inbox,
            scheduler,
        })
    }

    /// Returns the template for use in the job file, where paths are relative to the folder of the job.
    fn lasting_template(&self) -> String {
        match builtin::find(&self.template) {
            Some(_) => self.template.clone(),
            None => absolute(&self.template).display().to_string(),
        }
    }
}

/// Returns the text of a job without the time of day.
fn without_time(text: &str) -> Option<String> {
    let mut document: DocumentMut = text.parse().ok()?;
    document.get_mut("schedule")?.as_table_mut()?.remove("at");
    Some(document.to_string())
}

/// Returns the problems that keep a scheduled job from working.
pub fn obstacles(job: &Job, context: &Context) -> Vec<String> {
    let mut found = Vec::new();
    if job.schedule.is_none() {
        found.push("the job has no [schedule], so it runs every day at 04:30".to_owned());
    }
    let schedule = job.schedule.clone().unwrap_or_default();
    if let Some(day) = schedule.odd_day(&Zoned::now().with_time_zone(job.zone())) {
        found.push(format!(
            "on {day}, the clock skips or repeats the time of the schedule; choose another, such as 04:30"
        ));
    }
    match context.tokens_from {
        Some(TokenOrigin::Environment) => found.push(
            "the tokens are in the environment of this shell, which a scheduler does not have; store them: `sheetport login`"
                .to_owned(),
        ),
        None => found.push("there are no tokens yet; store them before: `sheetport login`".to_owned()),
        Some(TokenOrigin::Login | TokenOrigin::Keyring) => {}
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_job_is_written_as_toml() {
        let nightly = Nightly {
            name: "price list".to_owned(),
            folder: PathBuf::from("/home/anna/Sheetport"),
            extension: "xlsx".to_owned(),
            template: "C:\\x \"1\".toml".to_owned(),
            sheet: Some("März".to_owned()),
            changed_only: true,
            at: "04:30".to_owned(),
        };
        let text = nightly.text_for(Some("shop"));
        let read: toml::Table = text.parse().expect("TOML");
        assert_eq!(read["step"][0]["upload"].as_str(), Some("inbox/*.xlsx"), "{text}");
        assert_eq!(read["step"][0]["template"].as_str(), Some("C:\\x \"1\".toml"), "{text}");
        assert_eq!(read["step"][0]["sheet"].as_str(), Some("März"), "{text}");
        assert_eq!(read["profile"].as_str(), Some("shop"), "{text}");
        assert_eq!(read["schedule"]["at"].as_str(), Some("04:30"), "{text}");
    }
}
