//! The half of an upload that `upload` and `resume` share: send, account, report.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use sha2::{Digest, Sha256};

use super::input::STANDARD_INPUT;
use super::now;
use super::shell::quoted;
use super::signals::Interrupt;
use super::summary::{self, Summary};
use crate::api::{Client, Speed};
use crate::cli::Pacing;
use crate::error::{Exit, Failure};
use crate::ledger::{Accounting, Causes, Ledger, Lock, NewRun, Run, RunId, RunState};
use crate::records::RecordKind;
use crate::report::{self, Format, Request};
use crate::settings::Settings;
use crate::sheet::write::{Existing, WholeFile};
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
    pub run: Run,
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
        let run = self.run.id;
        let before = self.ledger.accounting(run).await?;
        let interrupt = Interrupt::default();
        let was_done = self.run.state == RunState::Finished;
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
        let next = self.next(&accounting, stopped.as_ref(), None);
        let only_if_named = stopped.is_some() || was_done || self.is_rehearsal;
        let report = match self.write_report(&accounting, next.as_deref(), only_if_named).await {
            Ok(report) => Ok(report),
            Err(failure) => {
                ui::failure(&failure, false);
                Err(failure.exit)
            }
        };
        let unreported = report.as_ref().err().copied();
        let report = report.unwrap_or_default();
        let next = self.next(&accounting, stopped.as_ref(), report.as_deref());
        let ended = self.ledger.run(run).await?;
        if let Some(reason) = &stopped {
            let doubt = ui::style::DOUBT;
            ui::remark(format_args!("{doubt}stopped{doubt:#}: {reason}; what was done is kept"));
            if let Some(words) = reason.hint() {
                ui::hint(words);
            }
        }
        let exit = summary::exit(&accounting, stopped.as_ref(), interrupt.exit());
        let exit = unreported.filter(|_| stopped.is_none()).unwrap_or(exit);
        Ok((exit, Summary::of_run(command, &ended, &accounting, report, next)))
    }

    /// Sends nothing, now or later: some rows can't be sent, and the person wanted all or nothing.
    pub async fn withhold(self, command: &str) -> Result<(Exit, Summary), Failure> {
        self.ledger.withhold(self.run.id).await?;
        let accounting = self.ledger.accounting(self.run.id).await?;
        let mend = |report: Option<&Path>| {
            (!self.is_rehearsal).then(|| match report {
                Some(_) => format!("{} --all-or-nothing", mend(&self.run, report)),
                None => mend(&self.run, None),
            })
        };
        let report = self.write_report(&accounting, mend(None).as_deref(), self.is_rehearsal).await?;
        let next = mend(report.as_deref());
        ui::remark("nothing was sent: some rows can't be, and --all-or-nothing was given");
        Ok((Exit::RowsFailed, Summary::of_run(command, &self.run, &accounting, report, next)))
    }

    async fn send(&self, before: &Accounting, interrupt: &Interrupt) -> Result<Option<StopReason>, Failure> {
        let progress = Progress::new(self.settings.output.progress, "sending", "record", Some(before.pending));
        let about = &self.run.about;
        let (base_url, workspace) = (&about.base_url, &about.workspace);
        let rate = match self.pacing.rate.or(self.settings.rate) {
            Some(Speed::Auto(_)) => Some(Speed::Auto(self.ledger.learnt_rate(base_url, workspace).await?)),
            rate => rate,
        };
        if self.settings.output.talks() {
            forecast(before.pending, rate);
        }
        let rate_file = self.ledger.shared_file(&digest(&[base_url, workspace]));
        let work = upload::Work {
            ledger: self.ledger,
            client: Arc::clone(&self.client),
            run: self.run.id,
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
            self.ledger.learn_rate(base_url, workspace, learnt, now()).await?;
        }
        let after = self.ledger.accounting(self.run.id).await?;
        progress.finish(before.pending - after.pending.min(before.pending));
        let why = ended.stopped.as_ref().map(ToString::to_string);
        self.ledger.end_sending(self.run.id, after.pending, why.as_deref(), ended.millis, now()).await?;
        Ok(ended.stopped)
    }

    /// The problems of the sheet were shown when it was read; these are the service's.
    async fn show_refused(&self, accounting: &Accounting) -> Result<(), Failure> {
        if accounting.failed == 0 || !self.settings.output.talks() {
            return Ok(());
        }
        let mut causes = Causes::default();
        for (row, problem) in report::refused(self.ledger, &self.run, REFUSED_SHOWN).await? {
            causes.add(row, &problem);
        }
        ui::heading("The service refused");
        ui::problems::print(&causes);
        Ok(())
    }

    /// A run that stopped gets its report when it is done, and one that was done before has it; `only_if_named` is for
    /// both: then a report is written only where the person named a file for it.
    async fn write_report(
        &self,
        accounting: &Accounting,
        next: Option<&str>,
        only_if_named: bool,
    ) -> Result<Option<PathBuf>, Failure> {
        let path = match self.report {
            Some(path) => path.to_owned(),
            None if has_problems(accounting) && !only_if_named => beside(Path::new(&self.run.about.file)),
            None => return Ok(None),
        };
        let format = report_format(&path)?;
        let (only, is_kept) = (format.usual_rows(), !self.is_rehearsal);
        let request = Request { path: &path, format, existing: Existing::Keep, only, next, is_kept };
        // As it is now: when it ended, and why it stopped.
        let run = self.ledger.run(self.run.id).await?;
        Ok(Some(report::write(self.ledger, &run, &request).await?.path))
    }

    fn next(&self, accounting: &Accounting, stopped: Option<&StopReason>, report: Option<&Path>) -> Option<String> {
        match stopped {
            _ if self.is_rehearsal => None,
            Some(_) => Some(resume(&self.run)),
            None => next(&self.run, accounting, report),
        }
    }
}

/// The command that a person would run next, who has this report.
pub fn next(run: &Run, accounting: &Accounting, report: Option<&Path>) -> Option<String> {
    if run.state == RunState::Withheld {
        return Some(mend(run, report));
    }
    if accounting.pending > 0 {
        return Some(resume(run));
    }
    if accounting.unknown > 0 {
        return Some(format!("sheetport resolve {}", run.id));
    }
    has_problems(accounting).then(|| mend(run, report))
}

fn resume(run: &Run) -> String {
    format!("sheetport resume {}", run.id)
}

/// The command that comes after mending the rows: the report is handed back, or where it is none to mend, such a report
/// is written.
fn mend(run: &Run, report: Option<&Path>) -> String {
    match report.filter(|path| Format::of(path).is_some_and(Format::is_for_mending)) {
        None => format!("sheetport report {0} -o report-{0}.xlsx --only problems", run.id),
        Some(report) => format!("sheetport retry {}", quoted(&report.display().to_string())),
    }
}

fn has_problems(accounting: &Accounting) -> bool {
    accounting.rejected + accounting.failed + accounting.unknown > 0
}

/// Refuses a name for a report that it could not be written under, before anything is sent: one whose extension says
/// nothing, one that is taken, one in a folder that is not there.
pub fn check_report(path: &Path) -> Result<(), Failure> {
    report_format(path)?;
    // It leaves nothing behind.
    WholeFile::create(path, Existing::Keep)?;
    Ok(())
}

/// Takes the lock of all runs that came of one upload, so that no two processes send what either may hold.
pub async fn lock(ledger: &Ledger, run: &Run) -> Result<Lock, Failure> {
    let mut family = family_identity(ledger, run).await?;
    loop {
        let lock = ledger.lock(&family)?;
        // The first of them may have gone, or got its workspace, just before.
        let now = family_identity(ledger, run).await?;
        if now == family {
            return Ok(lock);
        }
        family = now;
    }
}

async fn family_identity(ledger: &Ledger, run: &Run) -> Result<String, Failure> {
    let family = ledger.family(run).await?;
    let root = family.runs.iter().find(|member| member.id == family.root);
    // Runs of one that is gone still have its number in common.
    Ok(root.map_or_else(|| digest(&["family", &family.root.to_string()]), |root| identity(&root.about)))
}

/// What two processes must not work on together.
pub fn identity(about: &NewRun) -> String {
    digest(&[&about.base_url, &about.workspace, &about.record, &about.file_hash])
}

fn digest(parts: &[&str]) -> String {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update(part.len().to_le_bytes());
        hasher.update(part);
    }
    hasher.finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

/// The format that a report's name asks for.
pub fn report_format(path: &Path) -> Result<Format, Failure> {
    Format::of(path).ok_or_else(|| {
        Failure::new(
            Exit::Usage,
            format!("{} has no extension that says what to write", path.display()),
            "end its name in .xlsx or .csv, or in .html for a page to look at",
        )
    })
}

/// Opens the ledger of these settings.
pub async fn ledger(settings: &Settings) -> Result<Ledger, Failure> {
    Ok(Ledger::open(&settings.home).await?)
}

pub fn no_run_to_send(run: RunId, why: &str, hint: &str) -> Failure {
    Failure::new(Exit::Usage, format!("run {run} can't be resumed: {why}"), hint)
}

/// A free name beside the file: `prices.csv` gets `prices.report.csv`, then `prices.report-2.csv`. Standard input lies
/// nowhere, so its report goes into the working folder.
fn beside(file: &Path) -> PathBuf {
    // Other files are noted with their folders.
    let stdin = (file == Path::new(STANDARD_INPUT)).then(|| std::path::absolute("stdin.csv").unwrap_or_default());
    let file = stdin.as_deref().unwrap_or(file);
    // Of any workbook it is one, which keeps what is a number or a date; a text would have to be read again.
    let is_workbook = |extension: &str| ["xlsx", "xlsm", "xlsb", "xls", "ods"].contains(&extension);
    let extension = file.extension().map(|extension| extension.to_string_lossy().to_ascii_lowercase());
    let extension = if extension.is_some_and(|extension| is_workbook(&extension)) { "xlsx" } else { "csv" };
    let stem = file.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_else(|| "rows".to_owned());
    let stem = stem.split(".report").next().unwrap_or(&stem).to_owned();
    let names = (1..).map(|number| match number {
        1 => format!("{stem}.report.{extension}"),
        number => format!("{stem}.report-{number}.{extension}"),
    });
    let mut paths = names.map(|name| file.with_file_name(name));
    paths.find(|path| !path.exists()).unwrap_or_else(|| file.with_extension(format!("report.{extension}")))
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
