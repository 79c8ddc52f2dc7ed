//! What a run came to: for people as a few lines, for scripts as one JSON object, for both as an exit code.

use std::path::PathBuf;

use serde::Serialize;

use crate::client::Stop;
use crate::error::Exit;
use crate::ledger::{Accounting, Group, Run, RunId};
use crate::settings::Output;
use crate::sheet::column_letters;
use crate::ui;
use crate::upload::StopReason;
use crate::upload::tally::Tally;

/// The object that `--json` prints. Its fields are part of the interface.
#[derive(Debug, Serialize)]
pub struct Summary {
    pub run: Option<RunId>,
    pub command: String,
    pub record: String,
    pub template: String,
    pub file: String,
    #[serde(flatten)]
    pub accounting: Accounting,
    pub seconds: f64,
    /// Requests a second.
    pub rate: f64,
    pub report: Option<PathBuf>,
    /// The command that a person would run next.
    pub next: Option<String>,
    /// Why the run stopped before its end.
    pub stopped: Option<String>,
    /// What is wrong with the sheet, grouped by cause; of `check` alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problems: Option<Vec<Cause>>,
}

/// Problems with one cause, as scripts get them.
#[derive(Debug, Serialize)]
pub struct Cause {
    pub code: String,
    pub count: u64,
    /// The first few rows that have it.
    pub rows: Vec<u64>,
    /// Its letters; null when the cause is not one cell.
    pub column: Option<String>,
    pub header: String,
    pub field: String,
    /// Of the first of them.
    pub value: String,
    pub message: String,
    pub remedy: String,
}

impl Cause {
    pub fn of(group: &Group) -> Cause {
        let problem = group.problem.clone();
        Cause {
            code: problem.code,
            count: group.count,
            rows: group.rows.clone(),
            column: problem.column.map(column_letters),
            header: problem.header,
            field: problem.field,
            value: problem.value,
            message: problem.message,
            remedy: problem.remedy,
        }
    }
}

impl Summary {
    pub fn of_run(
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
            file: run.about.file.clone(),
            accounting: *accounting,
            seconds,
            rate: (rate * 10.0).round() / 10.0,
            report,
            next,
            stopped: run.stopped_why.clone(),
            problems: None,
        }
    }

    /// Of a pass over a file that sent nothing and is in no ledger.
    pub fn of_tally(
        command: &str,
        record: &str,
        template: &str,
        file: &str,
        tally: &Tally,
        next: Option<String>,
    ) -> Summary {
        Summary {
            run: None,
            command: command.to_owned(),
            record: record.to_owned(),
            template: template.to_owned(),
            file: file.to_owned(),
            accounting: Accounting {
                rows: tally.rows,
                total: tally.to_send + tally.skipped + tally.rejected + tally.kept,
                unchanged: tally.kept,
                skipped: tally.skipped,
                rejected: tally.rejected,
                pending: tally.to_send,
                ..Accounting::default()
            },
            seconds: 0.0,
            rate: 0.0,
            report: None,
            next,
            stopped: None,
            problems: None,
        }
    }

    /// Prints it as `output` wants it.
    pub fn print(&self, output: Output) {
        if output.json {
            ui::json(self);
            return;
        }
        if !output.quiet {
            ui::line("");
        }
        ui::accounting::print(&self.accounting);
        let (faint, strong) = (ui::style::FAINT, ui::style::STRONG);
        if self.accounting.requests > 0 {
            let requests = ui::counted(self.accounting.requests, "request");
            let retries = match self.accounting.retries {
                0 => String::new(),
                retries => format!(", {} of them repeated", ui::thousands(retries)),
            };
            // A rate measured over less than a second says nothing.
            let rate = if self.seconds >= 1.0 { format!(", {:.0}/s", self.rate) } else { String::new() };
            ui::line(format_args!("  {faint}{requests}{retries} in {:.1} s{rate}{faint:#}", self.seconds));
        }
        if let Some(report) = &self.report {
            ui::line(format_args!("  {strong}Report{strong:#}  {}", report.display()));
        }
        if let Some(next) = &self.next {
            let is_mended = self.report.is_some() && next.starts_with("sheetport retry ");
            let mend = if is_mended { "mend the rows in the report, then: " } else { "" };
            ui::line(format_args!("  {strong}Next{strong:#}    {mend}{next}"));
        }
    }
}

/// The exit code of a run that ended so. `interrupted` is the code for the signal, if there was one.
pub fn exit(accounting: &Accounting, stopped: Option<&StopReason>, interrupted: Exit) -> Exit {
    match stopped {
        Some(StopReason::Interrupted) => interrupted,
        Some(StopReason::Service(Stop::Unauthorized(_) | Stop::Forbidden(_))) => Exit::Credentials,
        Some(_) => Exit::Stopped,
        None if accounting.unknown > 0 => Exit::Unknown,
        None if accounting.rejected + accounting.failed > 0 => Exit::RowsFailed,
        None => Exit::Done,
    }
}
