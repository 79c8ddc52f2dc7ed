//! The half of an upload that `upload` and `resume` share: send, account, report.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::now;
use super::reporting::{self, beside, choices, has_bom, has_problems};
use super::signals::Interrupt;
use super::summary::{self, Summary};
use crate::cli::Pacing;
use crate::client::{Client, Speed};
use crate::error::{Exit, Failure};
use crate::ledger::{Accounting, Ledger, LockedRun, RunId, RunState};
use crate::records::RecordKind;
use crate::report::{self, Format, Request};
use crate::settings::Settings;
use crate::sheet;
use crate::sheet::write::Existing;
use crate::ui;
use crate::ui::progress::Progress;
use crate::upload::{self, StopReason, send};

/// Refused records that the terminal groups by cause; a report has them all.
const REFUSED_SHOWN: u32 = 2_000;

/// A planned run, about to be sent.
pub struct Sending<'a> {
    pub settings: &'a Settings,
    pub ledger: &'a Ledger,
    pub client: Arc<Client>,
    pub run: LockedRun,
    pub kind: RecordKind,
    pub pacing: &'a Pacing,
    /// Refused records after which nothing more is sent.
    pub max_errors: Option<u64>,
    /// Where the person wants the report; otherwise it goes beside the file.
    pub report: Option<&'a Path>,
    /// Nothing of it is kept, so that there is nothing to go on with.
    pub is_rehearsal: bool,
}

impl Sending<'_> {
    /// Sends what is pending, writes the report where there is something to report, and answers the accounting. A report
    /// that can't be written is said and costs the exit code, not the accounting.
    pub async fn finish(self, command: &str) -> Result<(Exit, Summary), Failure> {
        let run = self.run.id();
        let before = self.ledger.accounting(run).await?;
        let interrupt = Interrupt::default();
        let was_done = self.run.run().state == RunState::Finished;
        let stopped = match before.pending {
            0 if was_done => {
                ui::remark(format_args!("run {run} was done before; nothing of it is pending"));
                None
            }
            0 => {
                self.ledger.end_sending(run, 0, None, 0, now()).await?;
                None
            }
            _ => self.send(&before, &interrupt).await?,
        };
        let accounting = self.ledger.accounting(run).await?;
        self.show_refused(&accounting).await?;
        let only_if_named = stopped.is_some() || was_done || self.is_rehearsal;
        let next = |report: &Path| self.next(&accounting, stopped.is_some(), Some(report));
        let report = match self.write_report(&accounting, only_if_named, next).await {
            Ok(report) => Ok(report),
            Err(failure) => {
                ui::failure(&failure, false);
                Err(failure.exit)
            }
        };
        let unreported = report.as_ref().err().copied();
        let report = report.unwrap_or_default();
        let next = self.next(&accounting, stopped.is_some(), report.as_deref());
        let ended = self.ledger.run(run).await?;
        if let Some(reason) = &stopped {
            let doubt = ui::style::DOUBT;
            ui::remark(format_args!("{doubt}stopped{doubt:#}: {reason}; what was done is kept"));
            if let Some(words) = reason.hint() {
                ui::hint(&words);
            }
        }
        let exit = summary::exit(&accounting, stopped.as_ref(), interrupt.exit());
        let exit = unreported.filter(|_| stopped.is_none()).unwrap_or(exit);
        Ok((exit, Summary::of_run(command, &ended, &accounting, report, next)))
    }

    /// Sends nothing, now or later: some rows can't be sent, and the person wanted all or nothing.
    pub async fn withhold(self, command: &str) -> Result<(Exit, Summary), Failure> {
        self.ledger.withhold(self.run.id()).await?;
        let accounting = self.ledger.accounting(self.run.id()).await?;
        let mend = |report: Option<&Path>| {
            (!self.is_rehearsal).then(|| match report {
                Some(_) => format!("{} --all-or-nothing", reporting::mend(self.run.run(), report)),
                None => reporting::mend(self.run.run(), None),
            })
        };
        let report = self.write_report(&accounting, self.is_rehearsal, |report| mend(Some(report))).await?;
        let next = mend(report.as_deref());
        ui::remark("nothing was sent: some rows can't be, and --all-or-nothing was given");
        Ok((Exit::RowsFailed, Summary::of_run(command, self.run.run(), &accounting, report, next)))
    }

    async fn send(&self, before: &Accounting, interrupt: &Interrupt) -> Result<Option<StopReason>, Failure> {
        let progress = Progress::new(self.settings.output.progress, "sending", "record", Some(before.pending));
        let about = &self.run.run().about;
        let (base_url, workspace) = (&about.base_url, &about.workspace);
        let rate = match self.pacing.rate.or(self.settings.rate) {
            Some(Speed::Auto(_)) => Some(Speed::Auto(self.ledger.learned_rate(base_url, workspace).await?)),
            rate => rate,
        };
        if self.settings.output.talks() {
            forecast(before.pending, rate);
        }
        let rate_file = self.ledger.rate_file(base_url, workspace);
        let work = upload::Work {
            ledger: self.ledger,
            client: Arc::clone(&self.client),
            run: &self.run,
            kind: self.kind,
            concurrency: usize::from(self.pacing.concurrency),
            rate,
            rate_file: Some(&rate_file),
            max_errors: self.max_errors,
            wall: now,
        };
        let show = |state: &upload::Progress| {
            let done = state.sent + state.failed + state.unknown;
            progress.at(done, || remark(state, before.pending.saturating_sub(done)));
        };
        let ended = send::send(&work, interrupt.wait(), &show).await?;
        if let Some(learnt) = ended.learnt {
            self.ledger.store_rate(base_url, workspace, learnt, now()).await?;
        }
        let after = self.ledger.accounting(self.run.id()).await?;
        progress.finish(before.pending - after.pending.min(before.pending));
        let why = ended.stopped.as_ref().map(ToString::to_string);
        self.ledger.end_sending(self.run.id(), after.pending, why.as_deref(), ended.millis, now()).await?;
        Ok(ended.stopped)
    }

    /// The problems of the sheet were shown when it was read; these are the service's.
    async fn show_refused(&self, accounting: &Accounting) -> Result<(), Failure> {
        if accounting.failed == 0 || !self.settings.output.talks() {
            return Ok(());
        }
        let causes = report::refused(self.ledger, self.run.run(), REFUSED_SHOWN).await?;
        ui::heading("The service refused");
        ui::problems::print(&causes);
        Ok(())
    }

    /// A run that stopped gets its report when it is done, and one that was done before has it; `only_if_named` is for
    /// both: then a report is written only where the person named a file for it. `next` tells the command that comes
    /// after a report of that name.
    async fn write_report(
        &self,
        accounting: &Accounting,
        only_if_named: bool,
        next: impl Fn(&Path) -> Option<String>,
    ) -> Result<Option<PathBuf>, Failure> {
        if let Some(path) = self.report {
            return Ok(Some(self.write_report_to(path, next(path)).await?));
        }
        if only_if_named || !has_problems(accounting) {
            return Ok(None);
        }
        for path in beside(Path::new(&self.run.run().about.file)).filter(|path| !path.exists()) {
            match self.write_report_to(&path, next(&path)).await {
                // Somebody took the name meanwhile.
                Err(report::Error::Sheet(sheet::Error::Exists { .. })) => {}
                written => return Ok(Some(written?)),
            }
        }
        Ok(None)
    }

    async fn write_report_to(&self, path: &Path, next: Option<String>) -> Result<PathBuf, report::Error> {
        // Names of reports were looked at before anything was sent.
        let format = Format::of(path).unwrap_or(Format::Csv);
        let request = Request {
            path,
            format,
            existing: Existing::Keep,
            rows: format.default_rows(),
            next: next.as_deref(),
            is_kept: !self.is_rehearsal,
            choices: &choices(self.run.run(), format, self.settings.output.talks()),
            has_bom: has_bom(Path::new(&self.run.run().about.file)),
        };
        // As it is now: when it ended, and why it stopped.
        let run = self.ledger.run(self.run.id()).await?;
        Ok(report::write(self.ledger, &run, &request).await?.path)
    }

    fn next(&self, accounting: &Accounting, is_stopped: bool, report: Option<&Path>) -> Option<String> {
        if self.is_rehearsal { None } else { reporting::next(self.run.run(), accounting, is_stopped, report) }
    }
}

/// Opens the ledger of these settings.
pub async fn ledger(settings: &Settings) -> Result<Ledger, Failure> {
    Ok(Ledger::open(&settings.home).await?)
}

pub fn no_run_to_send(run: RunId, why: &str, hint: &str) -> Failure {
    Failure::new(Exit::Usage, format!("run {run} can't be resumed: {why}"), hint)
}

/// How long it will take where that is known: before it starts, somebody may think better of it.
fn forecast(pending: u64, rate: Option<Speed>) {
    let (per_second, rate) = match rate {
        None => return,
        Some(Speed::Fixed(rate)) => (rate.per_second(), rate.to_string()),
        Some(Speed::Auto(Some(known))) => (known, format!("{known:.1}/s, as fast as the service was found to go")),
        Some(Speed::Auto(None)) => {
            ui::remark("How fast the service goes is found out while sending.");
            return;
        }
    };
    ui::remark(format_args!("{} at {rate}: about {}", ui::counted(pending, "record"), about(pending, per_second)));
}

/// The time that so many requests take, in words.
fn about(requests: u64, per_second: f64) -> String {
    let seconds = (requests as f64 / per_second.max(f64::MIN_POSITIVE)).ceil();
    match seconds {
        ..=90.0 => format!("{seconds:.0} s"),
        ..=5_400.0 => format!("{:.0} min", seconds / 60.0),
        _ => format!("{:.1} h", seconds / 3_600.0),
    }
}

fn remark(state: &upload::Progress, left: u64) -> String {
    let mut parts = Vec::new();
    if let Some(rate) = state.rate.filter(|_| left > 0) {
        parts.push(format!("about {} left at {rate:.1}/s", about(left, rate)));
    }
    if state.failed > 0 {
        parts.push(format!("{} refused", ui::thousands(state.failed)));
    }
    if state.unknown > 0 {
        parts.push(format!("{} in doubt", ui::thousands(state.unknown)));
    }
    if state.retries > 0 {
        parts.push(format!("{} repeated", ui::thousands(state.retries)));
    }
    if state.retrying > 0 {
        parts.push(format!("{} to be repeated", ui::thousands(state.retrying)));
    }
    if let Some(pause) = state.pause {
        parts.push(format!("the service asks to wait {} s", pause.as_secs() + 1));
    }
    parts.join(", ")
}

#[cfg(test)]
mod tests {
    use super::about;

    #[test]
    fn a_forecast_is_in_the_unit_that_a_person_would_use() {
        assert_eq!(about(12_000, 10.0), "20 min");
        assert_eq!(about(5, 10.0), "1 s");
        assert_eq!(about(900, 10.0), "90 s");
        assert_eq!(about(100_000, 10.0), "2.8 h");
    }
}
