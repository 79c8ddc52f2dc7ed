//! Compares a reviewed sheet with the service before sending: the changes that an upload would make.

use std::collections::BTreeMap;

use sheetport_client::Speed;
use sheetport_findings::{Code, Scope};
use sheetport_ledger::{Causes, Group, Seq};
use sheetport_mapping::map::Resolved;
use sheetport_plan::Tally;
use sheetport_plan::compare::{Candidate, Candidates, Connection, Depth, Difference, difference};
use sheetport_plan::plan::{Batch, ReadMode, read};

use super::super::context::Context;
use super::super::event::Observer;
use super::super::files::Spreadsheet;
use super::super::learned::{load_sizes, store_learned_sizes};
use super::super::uploads::{ComparePace, compare_keys, look_up_for_check};
use super::problems::open_as_upload;
use crate::operation::Operation;

/// Maximum size of the requests held in memory for the comparison, in bytes.
const MAX_HELD: usize = 256 << 20;

/// The changes that an upload would make.
#[derive(Debug)]
pub struct ServiceDifference {
    /// The comparison of the records, one by one.
    pub difference: Difference,
    /// References to records that the service does not have, by cause.
    pub unknown: Vec<Group>,
    /// Lines of orders that would go, or can't be kept, by cause.
    pub lines: Vec<Group>,
    /// Requests of the comparison.
    pub requests: u64,
}

/// Compares the records of a spreadsheet, and the records they reference, with the service. Only reads from the service. `keep_lines`:
/// the upload is to send the service's other lines of an order with those of the file.
///
/// # Errors
/// If the file can't be read, or no address is configured.
pub fn compare_with_service<'a>(
    context: &'a Context,
    input: Spreadsheet<'a>,
    keep_lines: bool,
    pace: ComparePace,
    progress: &'a (dyn Fn(u64, u64) + Sync),
    observer: Observer<'a>,
) -> Operation<'a, ServiceDifference> {
    Box::pin(async move {
        let base_url = context.base_url()?;
        let client = context.client(base_url, pace.concurrency)?;
        let speed = context.measured_speed(pace.rate, base_url).await?;
        let connection = Connection::new(&client, speed, pace.concurrency);
        load_sizes(context, &connection, base_url).await;
        let (mut source, template) = open_as_upload(context, input, observer).await?;
        let template = template.as_ref();
        compare_keys(&connection, &mut source, template, false, observer).await?;
        // The comparison sends the ids that were found, and leaves out no record for one that was not.
        look_up_for_check(context, &client, &connection, &mut source, template, keep_lines, observer).await?;
        let references = source.references.take().unwrap_or_default();
        let orders = source.orders.take();
        source.references = Some(references.clone().without_problems());
        let mut records = Records { fills: template.fill_blank, ..Records::default() };
        read(&source, template, ReadMode::Records, |batch| {
            records.add(batch);
            true
        })?;
        let candidates = Candidates::of(&context.home, records.held.into_values())?;
        let not_held = records.not_held;
        let mut difference = difference(template.record, candidates, Depth::Preview, &connection, progress).await?;
        difference.not_compared += not_held;
        store_learned_sizes(context, &connection, base_url).await;
        (source.references, source.orders) = (Some(references), orders);
        // Orders were looked up for what is to be told of their lines, too.
        let has_unknown = source.references.as_ref().is_some_and(Resolved::has_problems);
        let tally = match has_unknown || source.orders.is_some() {
            true => read(&source, template, ReadMode::TallyOnly, |_| true)?,
            false => Tally::default(),
        };
        let groups = |causes: &Causes, is_wanted: fn(Code) -> bool| -> Vec<Group> {
            causes.groups().into_iter().filter(|group| is_wanted(group.problem.code)).cloned().collect()
        };
        let is_of_lines = |code: Code| code.scope() == Scope::ServiceLines;
        let unknown = groups(&tally.causes, |code| code == Code::UnknownReference);
        let lines = [groups(&tally.causes, is_of_lines), groups(&tally.warnings, is_of_lines)].concat();
        Ok(ServiceDifference { difference, unknown, lines, requests: client.requests() })
    })
}

/// Returns the rate of an upload: in words, and in requests per second if known.
pub fn pace(context: &Context, asked: Option<Speed>) -> Operation<'_, (Option<String>, Option<f64>)> {
    Box::pin(async move {
        let Some(base_url) = context.base_url.as_deref() else { return Ok((None, None)) };
        Ok(match context.measured_speed(asked, base_url).await? {
            None => (None, None),
            Some(Speed::Fixed(rate)) => (Some(rate.to_string()), Some(rate.per_second())),
            Some(Speed::Auto(measured)) => (Some("auto".to_owned()), measured),
        })
    })
}

/// The requests of a pass.
#[derive(Default)]
struct Records {
    /// Whether only blank fields are written.
    fills: bool,
    next: Seq,
    bytes: usize,
    held: BTreeMap<Seq, Candidate>,
    /// Number of requests beyond the limit, which are not compared.
    not_held: u64,
}

impl Records {
    fn add(&mut self, batch: Batch) {
        if batch.restarts {
            *self = Records { fills: self.fills, ..Records::default() };
        }
        for record in batch.records {
            if let Some(candidate) = Candidate::of(self.next, record) {
                let mut candidate = candidate.or_else(None);
                candidate.fills = self.fills;
                if self.bytes < MAX_HELD {
                    self.bytes += candidate.body.len();
                    self.held.insert(self.next, candidate);
                } else {
                    self.not_held += 1;
                }
            }
            self.next += 1;
        }
        for withdrawal in batch.withdrawn {
            self.held.remove(&withdrawal.seq);
        }
    }
}
