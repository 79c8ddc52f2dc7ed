//! The summary at the end of a command, for people or as JSON.

mod cause;
pub(super) mod changes;
pub(super) mod finish;
pub(super) mod missing;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Serialize;
use sheetport_findings::Code;
use sheetport_language::{message, say, tenths};
use sheetport_ledger::{Accounting, Causes, Run, RunId};
use sheetport_operations::{Finished, Forecast, LeftOutRows, RehearsalRecords, Rehearsed, Withheld, shown_file};
use sheetport_plan::profile::Profile;
use sheetport_plan::sent_before::LeftOut;
use sheetport_plan::{Tally, unanswered};
use sheetport_records::RecordKind;

pub(super) use self::cause::{Cause, causes};
use self::changes::{Changes, Undone};
use self::missing::Missing;
use super::console::duration;
use crate::error::Exit;
use crate::settings::Output;
use crate::ui;

/// The JSON object of `--json`. The fields are a stable interface.
#[derive(Debug, Default, Serialize)]
pub(super) struct Summary {
    pub run: Option<RunId>,
    pub command: String,
    pub record: String,
    pub template: String,
    pub file: String,
    #[serde(flatten)]
    pub accounting: Accounting,
    /// Number of requests besides the requests for records.
    pub other_requests: u64,
    pub seconds: f64,
    /// Requests per second.
    pub rate: f64,
    pub report: Option<PathBuf>,
    /// The next command to run.
    pub next: Option<String>,
    /// Whether the pending records are left to workers.
    pub queued: bool,
    /// The reason for an early stop.
    pub stopped: Option<String>,
    /// Questions about the file, for which nothing is sent until they are answered with `--accept`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub questions: Vec<Code>,
    /// Records already sent by an earlier run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sent_before: Vec<SentBefore>,
    /// Records not sent because a newer run has sent their keys. Counted as skipped.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub superseded: Vec<SentBefore>,
    /// Records of a plan that were not approved. Counted as skipped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_approved: Option<LeftOutOfPlan>,
    /// Records of a plan that somebody has changed in the service since. Counted as skipped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub moved_on: Option<LeftOutOfPlan>,
    /// Records of an undo that stay as they are, because somebody has edited them since the run. Counted as skipped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kept: Option<LeftOutOfPlan>,
    /// Records of an undo that can't be taken back. Counted as skipped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cannot_undo: Option<LeftOutOfPlan>,
    /// What becomes of the records of the run that is taken back, for `undo`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undo: Option<Undone>,
    /// The content of the service in a rehearsal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rehearsal: Option<Rehearsal>,
    /// Problems grouped by cause, only for `check`, `plan` and `undo`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problems: Option<Vec<Cause>>,
    /// Warnings grouped by cause.
    pub warnings: Vec<Cause>,
    /// What the upload or the undo would change in the service, for `plan` and `undo`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changes: Option<Changes>,
    /// The records that the file of a plan lacks, if that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missing: Option<Missing>,
    /// Keys of `[sheet]` that the template lacks and the profile has, for `check`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub defaults: Option<BTreeMap<&'static str, String>>,
    /// The values in each field, for `check` and `--dry-run`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<Profile>,
}

/// The number of records at the start of a rehearsal, by kind.
#[derive(Debug, Serialize)]
pub(super) struct Rehearsal {
    pub made_up: BTreeMap<&'static str, u64>,
    pub from_exports: BTreeMap<&'static str, u64>,
    /// The duration of the upload, if its rate is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub forecast: Option<ForecastJson>,
    #[serde(skip)]
    rehearsed: Rehearsed,
}

#[derive(Debug, Serialize)]
pub(super) struct ForecastJson {
    requests: u64,
    /// Requests per second.
    rate: f64,
    seconds: u64,
}

impl Rehearsal {
    pub(super) fn of(rehearsed: Rehearsed) -> Rehearsal {
        let by_kind = |records: &[RehearsalRecords]| records.iter().map(|of| (of.kind, of.records)).collect();
        let (made_up, from_exports) = (by_kind(&rehearsed.made_up), by_kind(&rehearsed.from_exports));
        let forecast = rehearsed.forecast.as_ref().map(|forecast| ForecastJson {
            requests: forecast.requests,
            rate: forecast.per_second,
            seconds: forecast.seconds(),
        });
        Rehearsal { made_up, from_exports, forecast, rehearsed }
    }

    /// Returns a sentence about made-up records, and a sentence about records from exports, if any.
    fn sentences(&self) -> impl Iterator<Item = String> {
        let Rehearsed { made_up, from_exports, forecast } = &self.rehearsed;
        let sentence = |records: &[RehearsalRecords], what: &str| {
            let counted: Vec<String> = records
                .iter()
                .map(|of| format!("{} {}", ui::thousands(of.records), if of.records == 1 { of.one } else { of.kind }))
                .collect();
            let were = if matches!(records, [RehearsalRecords { records: 1, .. }]) { "was" } else { "were" };
            let (last, others) = counted.split_last()?;
            let all = if others.is_empty() { last.clone() } else { say!("{} and {last}", others.join(", ")) };
            Some(format!("{all} {were} {what}"))
        };
        let sentences = [sentence(from_exports, "taken from exports"), sentence(made_up, "made up for the rehearsal")];
        let forecast = forecast.as_ref().map(|Forecast { requests, per_second, rate }| {
            let time = duration(*requests, *per_second);
            say!("the upload makes {}: about {time} at {rate}", ui::counted(*requests, "request"))
        });
        sentences.into_iter().flatten().chain(forecast)
    }
}

/// Records sent by another run.
#[derive(Debug, Serialize)]
pub(super) struct SentBefore {
    pub run: RunId,
    /// The local date.
    pub date: String,
    pub records: u64,
    /// The first rows of these records.
    pub rows: Vec<u64>,
}

impl SentBefore {
    pub(super) fn of(left_out: &LeftOut) -> SentBefore {
        let LeftOut { run, date, records, rows, .. } = left_out.clone();
        SentBefore { run, date, records, rows }
    }
}

/// Records left out of a plan.
#[derive(Debug, Serialize)]
pub(super) struct LeftOutOfPlan {
    pub records: u64,
    /// The first rows of these records.
    pub rows: Vec<u64>,
}

impl LeftOutOfPlan {
    fn of(left_out: LeftOutRows) -> Option<LeftOutOfPlan> {
        let LeftOutRows { records, first: rows } = left_out;
        (records > 0).then_some(LeftOutOfPlan { records, rows })
    }
}

/// Returns the questions about the file of a run that are not answered.
pub(super) fn open_questions(run: &Run) -> Vec<Code> {
    unanswered(&run.warnings, &run.about.settings.accept).collect()
}

impl Summary {
    pub(super) fn of_run(
        command: &str,
        run: &Run,
        accounting: &Accounting,
        report: Option<PathBuf>,
        next: Option<String>,
    ) -> Summary {
        let seconds = run.millis as f64 / 1000.0;
        let rate = if seconds > 0.0 { accounting.requests as f64 / seconds } else { 0.0 };
        Summary {
            run: Some(run.id),
            command: command.to_owned(),
            record: run.about.record.name().to_owned(),
            template: run.about.template.clone(),
            file: shown_file(run),
            accounting: *accounting,
            seconds,
            rate: (rate * 10.0).round() / 10.0,
            report,
            next,
            stopped: run.stopped_why.clone(),
            ..Summary::default()
        }
    }

    /// Summarizes a run that has ended or was queued.
    pub(super) fn of_finished(command: &str, finished: Finished, report: Option<PathBuf>) -> Summary {
        let Finished {
            run,
            accounting,
            next,
            warnings,
            left_out,
            superseded,
            not_approved,
            moved_on,
            kept,
            cannot_undo,
            other_requests,
            is_queued,
            rehearsed,
            withheld,
            ..
        } = finished;
        Summary {
            questions: match withheld {
                Some(Withheld::Questions) => open_questions(&run),
                _ => Vec::new(),
            },
            queued: is_queued,
            warnings: causes(&warnings),
            sent_before: left_out.iter().map(SentBefore::of).collect(),
            superseded: superseded.iter().map(SentBefore::of).collect(),
            not_approved: LeftOutOfPlan::of(not_approved),
            moved_on: LeftOutOfPlan::of(moved_on),
            kept: LeftOutOfPlan::of(kept),
            cannot_undo: LeftOutOfPlan::of(cannot_undo),
            rehearsal: rehearsed.map(Rehearsal::of),
            other_requests,
            ..Summary::of_run(command, &run, &accounting, report, next)
        }
    }

    /// Summarizes a pass over a file without sending.
    pub(super) fn of_tally(command: &str, record: RecordKind, template: &str, tally: &Tally, file: &Path) -> Summary {
        Summary {
            command: command.to_owned(),
            record: record.name().to_owned(),
            template: template.to_owned(),
            file: file.display().to_string(),
            accounting: Accounting {
                rows: tally.rows,
                total: tally.to_send + tally.skipped + tally.rejected + tally.accepted_earlier,
                unchanged: tally.accepted_earlier,
                skipped: tally.skipped,
                rejected: tally.rejected,
                pending: tally.to_send,
                warned: tally.warned,
                ..Accounting::default()
            },
            questions: tally.questions.clone(),
            warnings: causes(&tally.warnings),
            profile: Some(tally.profile.clone()),
            ..Summary::default()
        }
    }

    /// Adds what is known of the file of a plan.
    pub(super) fn of_plan(&mut self, tally: &Tally, left_out: &[LeftOut], other_requests: u64) {
        self.problems = Some(causes(&tally.causes));
        self.questions.clone_from(&tally.questions);
        self.warnings = causes(&tally.warnings);
        self.sent_before = left_out.iter().map(SentBefore::of).collect();
        self.other_requests = other_requests;
    }

    /// Adds what becomes of the records of a run that is taken back, and why some of them stay.
    pub(super) fn set_undo(&mut self, undone: Undone, why: &Causes) {
        self.undo = Some(undone);
        self.problems = Some(causes(why));
    }

    /// Returns the exit code of a pass over a file without sending.
    pub(super) fn exit(&self) -> Exit {
        let is_held = self.missing.as_ref().is_some_and(Missing::is_held);
        match self.accounting.rejected > 0 || !self.questions.is_empty() || is_held {
            true => Exit::RowsFailed,
            false => Exit::Done,
        }
    }

    /// Prints the summary, as JSON if requested.
    pub(super) fn print(&self, output: Output) {
        if output.json {
            ui::json(self);
            return;
        }
        if !output.quiet {
            ui::line("");
        }
        match self.command.as_str() {
            // The undo that is only planned has shown its records already.
            "undo" if self.accounting.requests == 0 => {}
            "check" | "plan" => ui::accounting::print_checked(&self.accounting),
            _ => ui::accounting::print(&self.accounting),
        }
        let (faint, strong) = (ui::style::FAINT, ui::style::STRONG);
        if self.accounting.requests > 0 {
            let requests = ui::counted(self.accounting.requests, "request");
            let retries = match self.accounting.retries {
                0 => String::new(),
                retries => say!(", {} retries", ui::thousands(retries)),
            };
            // A rate measured over less than a second is meaningless.
            let rate = if self.seconds >= 1.0 { format!(", {:.0}/s", self.rate) } else { String::new() };
            let seconds = tenths(self.seconds);
            ui::line(say!("  {faint}{requests}{retries} in {seconds} s{rate}{faint:#}"));
        }
        for sentence in self.rehearsal.iter().flat_map(Rehearsal::sentences) {
            ui::line(say!("  {faint}{sentence}{faint:#}"));
        }
        let doubt = ui::style::DOUBT;
        if !self.questions.is_empty() {
            let codes: Vec<&str> = self.questions.iter().map(|code| code.name()).collect();
            let (flag, key) = (codes.join(","), codes.join("\", \""));
            ui::line(say!(
                "  {doubt}Held{doubt:#}    the file, until its question is answered; if it is right: --accept {flag}"
            ));
            ui::line(say!(
                "  {faint}        with accept = [\"{key}\"] at the top of the template, it is not asked again{faint:#}"
            ));
        }
        for SentBefore { run, date, records, .. } in &self.sent_before {
            let records = ui::counted(*records, "record");
            ui::line(say!("  {doubt}Warning{doubt:#}  {records} left out: sent before, in run {run} on {date}"));
        }
        for (left_out, what) in [
            (&self.not_approved, say!("not approved")),
            (&self.moved_on, say!("moved on in the service since the plan")),
            (&self.kept, say!("edited since by somebody, and kept")),
            (&self.cannot_undo, say!("can't be taken back")),
        ] {
            if let Some(LeftOutOfPlan { records, .. }) = left_out {
                let records = ui::counted(*records, "record");
                ui::line(say!("  {doubt}Skipped{doubt:#}  {records} {what}"));
            }
        }
        if let Some(report) = &self.report {
            ui::line(say!("  {strong}Report{strong:#}  {}", report.display()));
        }
        if let Some(next) = &self.next {
            let report = self.report.as_deref().and_then(Path::file_name).map(|name| name.to_string_lossy());
            let is_continued = next.starts_with("sheetport continue ");
            let names_report = is_continued && report.is_some_and(|report| next.contains(&*report));
            let fix = if names_report { message("fix the rows in the report, then: ") } else { "".into() };
            ui::next(Some(&format!("{fix}{next}")));
        }
    }
}
