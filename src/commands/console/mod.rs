//! The terminal during a command: the events of an operation, how a spreadsheet is read, and signals.

mod opened;
pub(super) mod signals;

use std::sync::{Mutex, PoisonError};

use sheetport_client::Speed;
use sheetport_language::say;
use sheetport_operations::{Event, shown_file};
use sheetport_plan::Tally;
use sheetport_plan::sent_before::{Compared, LeftOut};
use sheetport_records::RecordKind;

use crate::settings::Output;
use crate::ui;
use crate::ui::progress::Progress;

/// Prints events and draws a progress bar.
pub(super) struct Console {
    output: Output,
    /// Verb for the progress of reading.
    reading: &'static str,
    /// Prints the problems of the sheet.
    problems: bool,
    /// Prints the values in each field.
    profile: bool,
    progress: Mutex<Option<Progress>>,
}

impl Console {
    pub(super) fn new(output: Output) -> Console {
        Console { output, reading: "reading", problems: output.talks(), profile: false, progress: Mutex::default() }
    }

    /// Returns a console for `check`, with problems printed even with `--quiet`.
    pub(super) fn for_check(output: Output) -> Console {
        Console { reading: "checking", problems: !output.json, ..Console::for_preview(output) }
    }

    /// Returns a console that also prints the values of each field.
    pub(super) fn for_preview(output: Output) -> Console {
        Console { profile: output.talks(), ..Console::new(output) }
    }

    pub(super) fn show(&self, event: Event<'_>) {
        let talks = self.output.talks();
        match event {
            Event::Opened { source, template } => opened::print(self.output, source, template),
            Event::Reading { rows } => {
                self.update(self.reading, "row", None, |progress| progress.at(rows, String::new))
            }
            Event::CheckedRow(row) => ui::json(row),
            Event::Checked(tally) => {
                self.finish(tally.rows);
                if self.profile && tally.profile.records > 0 {
                    ui::heading(&say!("What would be sent"));
                    ui::profile::print(&tally.profile);
                }
                if self.problems && tally.rejected > 0 {
                    ui::heading(&say!("Rows that need fixing"));
                    ui::problems::print(&tally.causes);
                    ui::problems::print_way_on(&tally.causes);
                }
                if self.problems && !tally.warnings.groups().is_empty() {
                    ui::heading(&say!("Warnings"));
                    ui::problems::print(&tally.warnings);
                }
                warn_edited_rows(tally);
                if tally.respelled > 0 {
                    ui::remark(say!(
                        "{} changed by another program; the original texts are used",
                        ui::counted(tally.respelled, "cell")
                    ));
                }
            }
            Event::Comparing { done, all } => self.update("comparing", "request", Some(all), |progress| {
                progress.set_total(all);
                progress.at(done, String::new);
            }),
            Event::ComparingEnded { done } => self.finish(done),
            Event::Compared { compared, kind } => self.show_compared(compared, kind),
            Event::Approved { run, approval } => {
                if talks {
                    ui::line(say!("run {}  {}", run.id, shown_file(run)));
                }
                ui::approval::print(approval, talks);
            }
            Event::MovedOn { records, causes, again } => {
                ui::approval::print_moved(records, causes, again, talks);
            }
            Event::Counted(causes) if talks => {
                ui::heading(&say!("Counts and the stock in the service"));
                ui::problems::print(causes);
            }
            Event::LeftOutOthers { only, left_out } => {
                ui::approval::print_others(only, left_out);
            }
            Event::Superseded { by, kind, anyway } => show_superseded(by, kind, anyway),
            Event::Resuming(run) if talks => ui::line(say!("run {}  {}", run.id, shown_file(run))),
            Event::Retrying { run, of, records } if talks => {
                let records = ui::counted(records, "refused record");
                ui::line(say!("run {}  {records} of run {}, {}", run.id, of.id, shown_file(run)));
            }
            Event::ReportOf(run) if talks => ui::line(say!("A report of run {}, {}", run.id, shown_file(run))),
            Event::Sending { pending, rate } => {
                if talks {
                    forecast(pending, rate);
                }
                self.update("sending", "record", Some(pending), |_| {});
            }
            Event::Sent { progress, pending } => {
                let done = progress.sent + progress.failed + progress.unknown;
                let details = || details(progress, pending.saturating_sub(done));
                self.update("sending", "record", Some(pending), |bar| bar.at(done, details));
            }
            Event::SendingEnded { done } => self.finish(done),
            Event::Exported { records, total } => self.update("reading", "record", None, |progress| {
                if let Some(total) = total {
                    progress.set_total(total);
                }
                progress.at(records, String::new);
            }),
            Event::Warning(message) => ui::remark(message),
            Event::Note(message) if !self.output.quiet => ui::remark(message),
            Event::Counted(_) | Event::Resuming(_) | Event::Retrying { .. } | Event::ReportOf(_) | Event::Note(_) => {}
        }
    }

    /// Prints the number of records sent before, and their treatment.
    fn show_compared(&self, compared: &Compared, kind: RecordKind) {
        let plural = kind.input().plural;
        let is_one = |records: u64| if records == 1 { kind.name().replace('-', " ") } else { plural.to_owned() };
        for LeftOut { run, date, records, .. } in &compared.left_out {
            let what = is_one(*records);
            ui::remark(say!("{} {what} left out: sent before, in run {run} on {date}", ui::thousands(*records)));
        }
        if !compared.left_out.is_empty() {
            ui::hint(&say!("to create these {plural} a second time: --allow-repeat"));
        }
        if compared.repeated > 0 {
            let what = is_one(compared.repeated);
            ui::remark(say!("{} {what} sent again, as allowed", ui::thousands(compared.repeated)));
        }
        if self.problems && compared.rejected > 0 {
            ui::heading(&say!("Not sent, because of earlier runs"));
            ui::problems::print(&compared.causes);
        }
    }

    /// Ends the progress bar.
    pub(super) fn finish(&self, done: u64) {
        if let Some(progress) = self.progress.lock().unwrap_or_else(PoisonError::into_inner).take() {
            progress.finish(done);
        }
    }

    fn update(&self, verb: &'static str, noun: &'static str, total: Option<u64>, update: impl FnOnce(&Progress)) {
        let mut progress = self.progress.lock().unwrap_or_else(PoisonError::into_inner);
        update(progress.get_or_insert_with(|| Progress::new(self.output.progress, verb, noun, total)));
    }
}

/// Prints the number of records sent by newer runs, and the command for sending these records anyway.
fn show_superseded(by: &[LeftOut], kind: RecordKind, anyway: &str) {
    let input = kind.input();
    for LeftOut { run, date, records, .. } in by {
        let what = if *records == 1 { input.name.replace('-', " ") } else { input.plural.to_owned() };
        ui::remark(say!(
            "{} {what} superseded: sent by the newer run {run} on {date}, so the older values are not sent",
            ui::thousands(*records)
        ));
    }
    ui::hint(&say!("to send the older values: {anyway}"));
}

/// Warns that changes to rows of accepted records are not sent.
fn warn_edited_rows(tally: &Tally) {
    if tally.edited == 0 {
        return;
    }
    let rows: Vec<String> = tally.first_edited.iter().map(u64::to_string).collect();
    let more = tally.edited.saturating_sub(rows.len() as u64);
    let more = if more > 0 { say!(" and {} more", ui::thousands(more)) } else { String::new() };
    let (were, plural) = if tally.edited == 1 { ("was", "") } else { ("were", "s") };
    let edited = ui::counted(tally.edited, "row");
    let rows = format!("{}{more}", rows.join(", "));
    ui::remark(say!("{edited} of accepted records {were} edited; the changes are not sent: row{plural} {rows}"));
    ui::hint(&say!("to change what the service has, upload these rows as a separate file"));
}

/// Says how long sending will take, if the rate is known.
fn forecast(pending: u64, rate: Option<Speed>) {
    let (per_second, rate) = match rate {
        None => return,
        Some(Speed::Fixed(rate)) => (rate.per_second(), rate.to_string()),
        Some(Speed::Auto(Some(known))) => (known, say!("{known:.1}/s, the service's limit as measured before")),
        Some(Speed::Auto(None)) => {
            ui::remark(say!("The service's rate limit is measured while sending."));
            return;
        }
    };
    let (records, time) = (ui::counted(pending, "record"), duration(pending, per_second));
    ui::remark(say!("{records} at {rate}: about {time}"));
}

/// Returns the duration of so many requests, in a readable unit.
pub(super) fn duration(requests: u64, per_second: f64) -> String {
    let seconds = (requests as f64 / per_second.max(f64::MIN_POSITIVE)).ceil();
    match seconds {
        ..=90.0 => format!("{seconds:.0} s"),
        ..=5_400.0 => format!("{:.0} min", seconds / 60.0),
        _ => format!("{:.1} h", seconds / 3_600.0),
    }
}

/// Returns the text behind the progress bar.
fn details(progress: &sheetport_send::Progress, left: u64) -> String {
    let mut parts = Vec::new();
    if let Some(rate) = progress.rate.filter(|_| left > 0) {
        parts.push(say!("about {} left at {rate:.1}/s", duration(left, rate)));
    }
    let counts = [
        (progress.failed, "refused"),
        (progress.unknown, "unknown"),
        (progress.retries, "retried"),
        (progress.retrying, "to retry"),
    ];
    let counts = counts.into_iter().filter(|(count, _)| *count > 0);
    parts.extend(counts.map(|(count, state)| say!("{} {state}", ui::thousands(count))));
    if let Some(pause) = progress.pause {
        let seconds = pause.as_secs() + 1;
        parts.push(match progress.is_pause_requested {
            true => say!("paused for {seconds} s at the service's request"),
            false => say!("paused for {seconds} s, because requests get no answer"),
        });
    }
    parts.join(", ")
}

#[cfg(test)]
mod tests {
    use super::duration;

    #[test]
    fn durations_have_a_readable_unit() {
        assert_eq!(duration(12_000, 10.0), "20 min");
        assert_eq!(duration(5, 10.0), "1 s");
        assert_eq!(duration(900, 10.0), "90 s");
        assert_eq!(duration(100_000, 10.0), "2.8 h");
    }
}
