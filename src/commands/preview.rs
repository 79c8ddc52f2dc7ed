//! The first requests of an upload, as they would be made.

use super::reading;
use crate::error::Failure;
use crate::ledger::{Disposition, PlannedRecord, Seq};
use crate::records::{Method, RecordKind};
use crate::settings::Settings;
use crate::template::Template;
use crate::ui;
use crate::upload::plan::{Batch, ReadMode, read};
use crate::upload::{Source, Tally};

/// Requests that are shown.
const SHOWN: usize = 3;
/// Records kept until it is known which of them are sent after all: so many, or, of long ones, so many bytes.
const KEPT: usize = 64;
const KEPT_BYTES: usize = 16 << 20;

/// Reads a whole file, says what is wrong with it and what would be sent first, and sends nothing.
pub fn dry_run(source: &Source, template: &Template, settings: &Settings) -> Result<Tally, Failure> {
    reading::describe(settings, source, template);
    let mut preview = Preview::default();
    let tally = read(source, template, ReadMode::Records, |batch| preview.take(batch))?;
    if settings.output.talks() {
        reading::show_problems(&tally);
        preview.print(template.record);
    }
    Ok(tally)
}

/// The method and the path of the request that a record is sent with.
pub fn call(kind: RecordKind, record: &PlannedRecord) -> Option<(Method, String)> {
    let target = record.target.as_deref();
    let call = kind.input().call(target.is_some())?;
    Some((call.method, call.path(target.unwrap_or_default())?))
}

#[derive(Default)]
struct Preview {
    next: Seq,
    bytes: usize,
    first: Vec<(Seq, PlannedRecord)>,
}

impl Preview {
    /// Takes in what was read next. It always wants more: a later row may take an earlier one back.
    fn take(&mut self, batch: Batch) -> bool {
        for record in batch.records {
            if let Disposition::Send(body) = &record.disposition
                && self.first.len() < KEPT
                && self.bytes < KEPT_BYTES
            {
                self.bytes += body.len();
                self.first.push((self.next, record));
            }
            self.next += 1;
        }
        for withdrawal in batch.withdrawn {
            self.first.retain(|(seq, _)| *seq != withdrawal.seq);
        }
        true
    }

    fn print(&self, kind: RecordKind) {
        if self.first.is_empty() {
            return;
        }
        ui::heading("The first requests would be");
        for (_, record) in self.first.iter().take(SHOWN) {
            let Some((method, path)) = call(kind, record) else { continue };
            let (strong, faint) = (ui::style::STRONG, ui::style::FAINT);
            ui::line(format_args!("  {strong}{method} {path}{strong:#}"));
            if let Disposition::Send(body) = &record.disposition {
                ui::line(format_args!("  {faint}{}{faint:#}", body));
            }
        }
    }
}
