//! Progress events of an operation.

use sheetport_client::Speed;
use sheetport_findings::Only;
use sheetport_ledger::{Causes, Run};
use sheetport_mapping::Template;
use sheetport_plan::sent_before::{Compared, LeftOut};
use sheetport_plan::{Source, Tally};
use sheetport_records::RecordKind;
use sheetport_report::CheckedRow;
use sheetport_send::Progress;

use super::approval::{Approval, LeftOutRows};

/// Receives the events of an operation.
pub type Observer<'a> = &'a (dyn Fn(Event<'_>) + Sync);

#[derive(Clone, Copy, Debug)]
pub enum Event<'a> {
    /// The spreadsheet was opened and the template's columns were found.
    Opened { source: &'a Source, template: &'a Template },
    /// Rows read so far.
    Reading { rows: u64 },
    /// The whole file was read and checked.
    Checked(&'a Tally),
    /// A row of the checked file.
    CheckedRow(&'a CheckedRow<'a>),
    /// Requests made so far to compare the records with the service, out of `all` as far as known.
    Comparing { done: u64, all: u64 },
    /// The comparison with the service ended after `done` requests.
    ComparingEnded { done: u64 },
    /// The records were compared with earlier uploads.
    Compared { compared: &'a Compared, kind: RecordKind },
    /// A person has approved records of a planned run.
    Approved { run: &'a Run, approval: &'a Approval },
    /// Records of an approved plan that are not sent, because somebody has changed them in the service since. `again` is the command for
    /// planning them again.
    MovedOn { records: u64, causes: &'a Causes, again: Option<&'a str> },
    /// Counted stocks were compared with those in the service. The warnings and problems of the rows, at least one.
    Counted(&'a Causes),
    /// Records that are not sent, because only the new or the known ones are.
    LeftOutOthers { only: Only, left_out: &'a LeftOutRows },
    /// Records that are not sent, because newer runs have sent their keys. `anyway` is the command for sending them.
    Superseded { by: &'a [LeftOut], kind: RecordKind, anyway: &'a str },
    /// A run is about to be resumed.
    Resuming(&'a Run),
    /// `run` sends refused records of `of` again.
    Retrying { run: &'a Run, of: &'a Run, records: u64 },
    /// A report of this run was recognised.
    ReportOf(&'a Run),
    /// Sending begins, at this rate if known.
    Sending { pending: u64, rate: Option<Speed> },
    /// Records sent so far, out of `pending`.
    Sent { progress: &'a Progress, pending: u64 },
    /// Sending ended after `done` records.
    SendingEnded { done: u64 },
    /// Records exported so far, and the total if the service reports a total.
    Exported { records: u64, total: Option<u64> },
    /// A problem without effect on the rest of the operation.
    Warning(&'a str),
    /// Additional information.
    Note(&'a str),
}
