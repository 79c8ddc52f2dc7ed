//! The first requests of an upload, without sending them.

use serde_json::Value;
use sheetport_ledger::{Disposition, PlannedRecord, Seq};
use sheetport_mapping::Template;
use sheetport_plan::plan::{Batch, ReadMode, read};
use sheetport_plan::{Source, Tally, profile};
use sheetport_records::{Method, RecordKind};

use super::super::context::Context;
use super::super::error::Error;
use super::super::event::{Event, Observer};
use super::compare::note_lookups;

/// Requests in a preview.
const PREVIEWED: usize = 3;
/// Limits of the records held for a preview, because later rows can still reject earlier records.
const MAX_HELD: usize = 64;
const MAX_HELD_BYTES: usize = 16 << 20;

/// The result of a pass over a file without sending.
#[derive(Debug)]
pub struct Preview {
    pub tally: Tally,
    /// The first requests of an upload.
    pub requests: Vec<PreviewedRequest>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PreviewedRequest {
    pub method: Method,
    pub path: String,
    pub body: String,
    /// Whether the path has an external id, in whose place the record id is sent: it is looked up then.
    pub is_looked_up: bool,
}

/// Adds a warning for each change against the last upload with the template.
pub(crate) async fn warn_of_changes(context: &Context, template: &Template, tally: &mut Tally) -> Result<(), Error> {
    if let Some(ledger) = context.existing_ledger().await? {
        profile::warn_of_changes(&ledger, &template.name, template.record, tally).await?;
        ledger.close().await;
    }
    Ok(())
}

/// Reads the whole file and returns the first requests of an upload. Compares the values with earlier runs in the ledger of
/// `history`.
pub(super) async fn preview(
    history: Option<&Context>,
    source: &Source,
    template: &Template,
    observer: Observer<'_>,
) -> Result<Preview, Error> {
    observer(Event::Opened { source, template });
    note_lookups(source, template, observer)?;
    let mut first = FirstRequests::default();
    let mut tally = read(source, template, ReadMode::Records, |batch| first.add(batch))?;
    if let Some(context) = history {
        warn_of_changes(context, template, &mut tally).await?;
    }
    observer(Event::Checked(&tally));
    let requests = first.records.into_iter().take(PREVIEWED);
    let requests = requests.filter_map(|(_, record)| request_of(template.record, &record)).collect();
    Ok(Preview { tally, requests })
}

/// Returns the request for a record, or `None` if the record is not sent.
pub(super) fn request_of(kind: RecordKind, record: &PlannedRecord) -> Option<PreviewedRequest> {
    let Disposition::Send(body) = &record.disposition else { return None };
    let target = record.target.as_deref();
    let call = kind.input().call(target.is_some())?;
    let body = body.to_string();
    let is_looked_up = kind == RecordKind::Order
        && serde_json::from_str(&body)
            .is_ok_and(|body: Value| body.pointer("/order/externalId").and_then(Value::as_str) == target);
    Some(PreviewedRequest { method: call.method, path: call.path(target.unwrap_or(""))?, body, is_looked_up })
}

#[derive(Default)]
struct FirstRequests {
    next: Seq,
    bytes: usize,
    records: Vec<(Seq, PlannedRecord)>,
}

impl FirstRequests {
    /// Adds the first records to send, and removes records rejected by a later row. Never stops reading.
    fn add(&mut self, batch: Batch) -> bool {
        if batch.restarts {
            *self = FirstRequests::default();
        }
        for record in batch.records {
            if let Disposition::Send(body) = &record.disposition
                && self.records.len() < MAX_HELD
                && self.bytes < MAX_HELD_BYTES
            {
                self.bytes += body.len();
                self.records.push((self.next, record));
            }
            self.next += 1;
        }
        for withdrawal in batch.withdrawn {
            self.records.retain(|(seq, _)| *seq != withdrawal.seq);
        }
        true
    }
}
