//! What a run came to: for people as a few lines, for scripts as one JSON object, for both as an exit code.

use std::path::PathBuf;

use serde::Serialize;

use crate::error::Exit;
use crate::ledger::{Accounting, Run, RunId};
use crate::settings::Output;
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
    pub rows: u64,
    pub total: u64,
    pub sent: u64,
    pub unchanged: u64,
    pub skipped: u64,
    pub rejected: u64,
    pub failed: u64,
    pub unknown: u64,
    pub pending: u64,
    pub requests: u64,
    pub retries: u64,
    pub seconds: f64,
    /// Requests a second.
    pub rate: f64,
    pub report: Option<PathBuf>,
    pub next: Option<String>,
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
            record: run.about.record.clone(),
            template: run.about.template.clone(),
            file: run.about.file.clone(),
            rows: accounting.rows,
            total: accounting.total,
            sent: accounting.sent,
            unchanged: accounting.unchanged,
            skipped: accounting.skipped,
            rejected: accounting.rejected,
            failed: accounting.failed,
            unknown: accounting.unknown,
            pending: accounting.pending,
            requests: accounting.requests,
            retries: accounting.retries,
            seconds,
            rate: (rate * 10.0).round() / 10.0,
            report,
            next,
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
            rows: tally.rows,
            total: tally.to_send + tally.skipped + tally.rejected,
            sent: 0,
            unchanged: 0,
            skipped: tally.skipped,
            rejected: tally.rejected,
            failed: 0,
            unknown: 0,
            pending: tally.to_send,
            requests: 0,
            retries: 0,
            seconds: 0.0,
            rate: 0.0,
            report: None,
            next,
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
        ui::accounting::print(&self.accounting());
        let faint = ui::style::FAINT;
        if self.requests > 0 {
            let requests = ui::counted(self.requests, "request");
            let retries = if self.retries > 0 {
                format!(", {} of them repeated", ui::thousands(self.retries))
            } else {
                String::new()
            };
            ui::line(format_args!(
                "  {faint}{requests}{retries} in {:.1} s, {:.0}/s{faint:#}",
                self.seconds, self.rate
            ));
        }
        let strong = ui::style::STRONG;
        if let Some(report) = &self.report {
            ui::line(format_args!("  {strong}Report{strong:#}  {}", report.display()));
        }
        if let Some(next) = &self.next {
            ui::line(format_args!("  {strong}Next{strong:#}    {next}"));
        }
    }

    fn accounting(&self) -> Accounting {
        Accounting {
            rows: self.rows,
            total: self.total,
            sent: self.sent,
            unchanged: self.unchanged,
            skipped: self.skipped,
            rejected: self.rejected,
            failed: self.failed,
            unknown: self.unknown,
            pending: self.pending,
            requests: self.requests,
            retries: self.retries,
        }
    }
}

/// The exit code of a run that ended so. `interrupted` is the code for the signal, if there was one.
pub fn exit(accounting: &Accounting, stopped: Option<&StopReason>, interrupted: Exit) -> Exit {
    match stopped {
        Some(StopReason::Interrupted) => interrupted,
        Some(StopReason::Unauthorized(_) | StopReason::Forbidden(_)) => Exit::Credentials,
        Some(_) => Exit::Stopped,
        None if accounting.unknown > 0 => Exit::Unknown,
        None if accounting.rejected + accounting.failed > 0 => Exit::RowsFailed,
        None => Exit::Done,
    }
}
