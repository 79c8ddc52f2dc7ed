//! The first requests of an upload, as they would be made.

use crate::ledger::{Fate, PlannedRecord, Seq};
use crate::records::RecordKind;
use crate::ui;
use crate::upload::read::Batch;

/// Requests that are shown.
const SHOWN: usize = 3;
/// Records kept until it is known which of them are sent after all.
const KEPT: usize = 64;

#[derive(Default)]
pub struct Preview {
    next: Seq,
    first: Vec<(Seq, PlannedRecord)>,
}

impl Preview {
    /// Takes in what was read next. It always wants more: a later row may take an earlier one back.
    pub fn take(&mut self, batch: Batch) -> bool {
        for record in batch.records {
            if self.first.len() < KEPT && matches!(record.fate, Fate::Send(_)) {
                self.first.push((self.next, record));
            }
            self.next += 1;
        }
        for (seq, ..) in batch.late {
            self.first.retain(|(kept, _)| *kept != seq);
        }
        true
    }

    pub fn print(&self, kind: RecordKind) {
        if self.first.is_empty() {
            return;
        }
        ui::heading("The first requests would be");
        for (_, record) in self.first.iter().take(SHOWN) {
            let target = record.target.as_deref();
            let Some(call) = kind.input().call(target.is_some()) else { continue };
            let path = call.path(target.unwrap_or_default()).unwrap_or_default();
            let (strong, faint) = (ui::style::STRONG, ui::style::FAINT);
            ui::line(format_args!("  {strong}{} {path}{strong:#}", call.method));
            if let Fate::Send(body) = &record.fate {
                ui::line(format_args!("  {faint}{}{faint:#}", body.get()));
            }
        }
    }
}
