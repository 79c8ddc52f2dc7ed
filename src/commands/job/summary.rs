//! The summary of a job: for people, for notices, and as JSON.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use sheetport_export::Exported;
use sheetport_jobs::{ExportFailure, FileOutcome, Job, JobRun, News, Notified, Occasion, Place, Step, StepOutcome};
use sheetport_language::{counted_in_english, message, thousands_in_english};
use sheetport_ledger::Accounting;
use sheetport_operations::{Finished, Withheld};

use crate::commands::export;
use crate::commands::summary::finish::exit_of;
use crate::commands::summary::{SentBefore, Summary, causes, open_questions};
use crate::error::{Exit, Failure};
use crate::settings::Output;
use crate::ui;

/// Exit codes, the worst first. A stop by a person or by the system comes before all.
const WORST_FIRST: [Exit; 12] = [
    Exit::Interrupted,
    Exit::Terminated,
    Exit::Fault,
    Exit::Credentials,
    Exit::Stopped,
    Exit::Usage,
    Exit::Incomplete,
    Exit::Busy,
    Exit::InputRefused,
    Exit::Unknown,
    Exit::RowsFailed,
    Exit::Done,
];

/// The result of a job, for people and programs.
#[derive(Debug)]
pub(super) struct JobSummary {
    pub exit: Exit,
    lines: Vec<String>,
    json: Value,
    warnings: Vec<String>,
    reports: Vec<PathBuf>,
    /// An upload step found no file.
    found_nothing: bool,
    /// In a few words.
    outcome: String,
}

/// The description of a step.
#[derive(Default)]
struct Told {
    exits: Vec<Exit>,
    lines: Vec<String>,
    files: Vec<Value>,
    warnings: Vec<String>,
    reports: Vec<PathBuf>,
}

impl JobSummary {
    pub(super) fn of(job: &Job, run: JobRun, interrupted: Exit, again: String) -> JobSummary {
        let (mut told, mut steps) = (Told::default(), Vec::new());
        let (mut found_nothing, mut was_interrupted) = (false, false);
        let previous = run.previous.as_ref();
        let previous =
            previous.map(|previous| json!({"began": rfc3339(previous.began), "ended": previous.ended.map(rfc3339)}));
        for (step, outcome) in job.steps.iter().zip(run.steps) {
            let is_nothing = matches!(&outcome, StepOutcome::Uploaded { files, waiting, left } if files.is_empty() && waiting.is_empty() && left.is_empty());
            found_nothing |= is_nothing;
            let of_step = Told::of(job, outcome, interrupted, &mut was_interrupted);
            let exit = worst(&of_step.exits);
            let state = if is_nothing { "nothing" } else { of_step.state(exit) };
            told.lines.push(step.name.clone());
            let nothing = is_nothing.then(|| "  nothing came".to_owned());
            told.lines.extend(nothing.into_iter().chain(of_step.lines));
            steps.push(step_json(step, state, exit, of_step.files));
            told.exits.push(exit);
            told.warnings.extend(of_step.warnings);
            told.reports.extend(of_step.reports);
        }
        let mut exit = worst(&told.exits);
        if was_interrupted {
            exit = interrupted;
        }
        let warnings: Vec<String> = told.warnings.into_iter().chain(run.warnings).collect();
        let next = matches!(exit, Exit::Stopped | Exit::Interrupted | Exit::Terminated | Exit::Incomplete | Exit::Busy)
            .then_some(again);
        if !warnings.is_empty() {
            told.lines.push("Warnings".to_owned());
            told.lines.extend(warnings.iter().map(|warning| format!("  {warning}")));
        }
        if let Some(next) = &next {
            told.lines.push(format!("Next  {next}"));
        }
        let json = json!({
            "command": "job run",
            "job": job.name,
            "file": job.path,
            "began": rfc3339(run.began),
            "seconds": (run.ended - run.began) as f64 / 1000.0,
            "previous": previous,
            "exit": exit as u8,
            "steps": steps,
            "warnings": warnings,
            "reports": told.reports,
            "notices": [],
            "next": next,
        });
        let outcome = outcome(exit, &warnings, found_nothing);
        JobSummary { exit, lines: told.lines, json, warnings, reports: told.reports, found_nothing, outcome }
    }

    /// Returns the content of the notices of the job.
    pub(super) fn news(&self, job: &Job) -> News {
        let mut occasions = Vec::new();
        let given = [
            (Occasion::Failure, self.exit != Exit::Done),
            (Occasion::Warnings, !self.warnings.is_empty()),
            (Occasion::Nothing, self.found_nothing),
        ];
        occasions.extend(given.into_iter().filter(|(_, is_given)| *is_given).map(|(occasion, _)| occasion));
        if occasions.is_empty() {
            occasions.push(Occasion::Success);
        }
        News {
            occasions,
            subject: format!("Sheetport job {}: {}", job.name, self.outcome),
            text: self.lines.join("\n"),
            summary: self.json.clone(),
            exit: self.exit as u8,
            reports: self.reports.clone(),
        }
    }

    /// Adds the results of the notices. A notice that was not sent is a failure of the job: the next problem would go unnoticed.
    pub(super) fn add_notices(&mut self, notices: &[Notified]) {
        let notice = |notified: &Notified| {
            let on: Vec<&str> = notified.on.iter().map(|occasion| occasion.name()).collect();
            json!({"by": notified.by, "on": on, "error": notified.error})
        };
        self.json["notices"] = notices.iter().map(notice).collect();
        for Notified { by, error, .. } in notices {
            match error {
                None => self.lines.push(format!("told by {by}")),
                Some(error) => {
                    self.lines.push(format!("not told by {by}: {error}"));
                    self.exit = worst(&[self.exit, Exit::Fault]);
                }
            }
        }
        self.json["exit"] = json!(self.exit as u8);
    }

    /// Prints the summary: with `--quiet` only if something is not well.
    pub(super) fn print(&self, output: Output) {
        if output.json {
            ui::json(&self.json);
        } else if output.talks() || self.exit != Exit::Done || !self.warnings.is_empty() {
            if output.talks() {
                ui::line("");
            }
            self.lines.iter().for_each(|line| ui::line(message_of_line(line)));
        }
    }
}

impl Told {
    fn of(job: &Job, outcome: StepOutcome, interrupted: Exit, was_interrupted: &mut bool) -> Told {
        let mut told = Told::default();
        match outcome {
            StepOutcome::NotRun(why) => told.lines.push(format!("  not run: {why}")),
            StepOutcome::Failed(error) => told.fail(&Failure::from(error)),
            StepOutcome::Exported(results) => {
                for result in results {
                    match result {
                        Ok(lists) => lists.iter().for_each(|list| told.exported(job, list)),
                        Err(ExportFailure { records, error: None }) => {
                            *was_interrupted = true;
                            told.exits.push(interrupted);
                            told.lines.push(format!("  interrupted: {}", records.join(", ")));
                        }
                        Err(ExportFailure { records, error: Some(error) }) => {
                            let failure = Failure::from(error);
                            let message = format!("{} were not exported: {}", records.join(", "), failure.message);
                            told.fail(&Failure { message, ..failure });
                        }
                    }
                }
            }
            StepOutcome::Uploaded { files, waiting, left } => {
                for file in files {
                    told.uploaded(job, file, interrupted, was_interrupted);
                }
                for waiting in waiting {
                    let text = format!("{}: {}", shown(job, &waiting.path), waiting.why);
                    told.files.push(json!({"file": waiting.path, "now": waiting.path, "place": "waiting", "exit": 0, "why": waiting.why}));
                    told.warnings.push(text);
                }
                for path in left {
                    told.lines.push(format!("  left for the next run: {}", shown(job, &path)));
                    told.files.push(json!({"file": path, "now": path, "place": "kept", "exit": 0}));
                }
            }
        }
        told
    }

    fn state(&self, exit: Exit) -> &'static str {
        match exit {
            _ if self.exits.is_empty() && self.files.is_empty() => "not-run",
            Exit::Done => "done",
            _ => "failed",
        }
    }

    fn fail(&mut self, failure: &Failure) {
        self.exits.push(failure.exit());
        self.lines.push(format!("  failed: {}", failure.message));
        self.lines.extend(failure.hint.iter().map(|hint| format!("    {hint}")));
        self.files.push(json!({"exit": failure.exit() as u8, "error": failure.json()}));
    }

    fn exported(&mut self, job: &Job, list: &Exported) {
        let exit = match (list.manifest.complete, list.manifest.not_found) {
            (false, _) => Exit::Incomplete,
            (true, 1..) => Exit::RowsFailed,
            (true, 0) => Exit::Done,
        };
        let file = list.path.as_deref().map(|path| shown(job, path)).unwrap_or_default();
        let count = thousands_in_english(list.manifest.count);
        let how = if list.manifest.complete { "complete" } else { "may be incomplete" };
        self.lines.push(format!("  {file}: {count} {}, {how}: {}", list.manifest.records, list.manifest.how));
        if exit == Exit::RowsFailed {
            let missing = counted_in_english(list.manifest.not_found, "ID");
            self.lines.push(format!("    {missing} not found"));
        }
        let mut json = export::as_json(list);
        json["exit"] = json!(exit as u8);
        self.files.push(json);
        self.exits.push(exit);
        self.reports.extend(list.not_found.clone().filter(|_| exit == Exit::RowsFailed));
    }

    fn uploaded(&mut self, job: &Job, outcome: FileOutcome, interrupted: Exit, was_interrupted: &mut bool) {
        let FileOutcome { file, now, place, result, report, warnings } = outcome;
        let name = shown(job, &file);
        let target = if now == file { String::new() } else { format!(" → {}", shown(job, &now)) };
        let mut json = json!({"file": file, "now": now, "place": place.name(), "report": report});
        match result {
            Ok(finished) => {
                let exit = exit_of(&finished.accounting, finished.withheld, finished.stopped.as_ref(), interrupted);
                *was_interrupted |= matches!(exit, Exit::Interrupted | Exit::Terminated);
                json["exit"] = json!(exit as u8);
                self.exits.push(exit);
                self.lines.push(format!("  {name}: {}{target}", counts(&finished.accounting)));
                self.about_run(job, &name, &finished, report.as_deref());
                json["summary"] =
                    serde_json::to_value(Summary::of_finished("upload", *finished, report.clone())).unwrap_or_default();
            }
            Err(error) => {
                let failure = Failure::from(error);
                let exit = match failure.exit() {
                    // Nothing is wrong with the job.
                    Exit::Usage if place == Place::Failed => Exit::InputRefused,
                    exit => exit,
                };
                json["exit"] = json!(exit as u8);
                json["error"] = failure.json();
                json["error"]["exit"] = json!(exit as u8);
                self.exits.push(exit);
                self.lines.push(format!("  {name}: {}{target}", failure.message.lines().next().unwrap_or_default()));
                self.lines.extend(failure.hint.iter().map(|hint| format!("    {hint}")));
                self.lines.extend(report.iter().map(|report| format!("    Report  {}", shown(job, report))));
            }
        }
        if place == Place::Kept {
            self.lines.push("    it is continued by the next run".to_owned());
        }
        self.warnings.extend(warnings);
        self.reports.extend(report);
        self.files.push(json);
    }

    fn about_run(&mut self, job: &Job, name: &str, finished: &Finished, report: Option<&Path>) {
        if let Some(reason) = &finished.stopped {
            self.lines.push(format!("    stopped: {reason}"));
        }
        match finished.withheld {
            Some(Withheld::Questions) => {
                let codes: Vec<&str> = open_questions(&finished.run).into_iter().map(|code| code.name()).collect();
                let codes = codes.join("\", \"");
                self.lines.push(format!(
                    "    nothing was sent: there is a question about the file; if it is right, add accept = [\"{codes}\"] to the step"
                ));
            }
            Some(_) => self.lines.push("    nothing was sent, as the step wants it".to_owned()),
            None => {}
        }
        for cause in causes(&finished.refused).iter().take(3) {
            self.lines.push(format!("    {} refused: {}", thousands_in_english(cause.count), cause.message));
        }
        if let Some(report) = report {
            self.lines.push(format!("    Report  {}", shown(job, report)));
        }
        if let Some(next) = &finished.next {
            self.lines.push(format!("    Next    {next}"));
        }
        for cause in causes(&finished.warnings) {
            self.warnings.push(format!("{name}: {}: {}", counted_in_english(cause.count, "row"), cause.message));
        }
        for SentBefore { run, records, .. } in finished.superseded.iter().map(SentBefore::of) {
            let records = counted_in_english(records, "record");
            self.warnings.push(format!("{name}: {records} left out, because the newer run {run} has sent them"));
        }
    }
}

fn step_json(step: &Step, state: &str, exit: Exit, files: Vec<Value>) -> Value {
    json!({"name": step.name, "kind": step.work.name(), "state": state, "exit": exit as u8, "files": files})
}

/// Returns the worst exit code.
fn worst(exits: &[Exit]) -> Exit {
    WORST_FIRST.into_iter().find(|exit| exits.contains(exit)).unwrap_or(Exit::Done)
}

fn outcome(exit: Exit, warnings: &[String], found_nothing: bool) -> String {
    match exit {
        Exit::Done if !warnings.is_empty() => counted_in_english(warnings.len() as u64, "warning"),
        Exit::Done if found_nothing => "nothing came".to_owned(),
        Exit::Done => "done".to_owned(),
        Exit::RowsFailed => "some rows need fixing or were refused".to_owned(),
        Exit::Unknown => "the outcome of some records is unknown".to_owned(),
        Exit::Credentials => "the service refused the credentials".to_owned(),
        Exit::InputRefused => "a file can't be read".to_owned(),
        Exit::Incomplete => "an export may be incomplete".to_owned(),
        Exit::Stopped => "stopped early; the next run continues".to_owned(),
        Exit::Interrupted | Exit::Terminated => "interrupted; the next run continues".to_owned(),
        Exit::Fault | Exit::Usage | Exit::Busy => "failed".to_owned(),
    }
}

/// Returns the counts other than zero.
fn counts(accounting: &Accounting) -> String {
    let names = accounting.states().into_iter().filter(|(_, count)| *count > 0);
    let names: Vec<String> =
        names.map(|(state, count)| format!("{} {}", thousands_in_english(count), state.name())).collect();
    if names.is_empty() { "no records".to_owned() } else { names.join(", ") }
}

/// Returns a path as seen from the folder of the job.
fn shown(job: &Job, path: &Path) -> String {
    path.strip_prefix(job.folder()).unwrap_or(path).display().to_string()
}

fn rfc3339(millis: i64) -> String {
    jiff::Timestamp::from_millisecond(millis).unwrap_or_default().to_string()
}

/// Translates a line for the terminal, without its indent.
fn message_of_line(line: &str) -> String {
    let text = line.trim_start();
    format!("{}{}", &line[..line.len() - text.len()], message(text))
}
