//! What an upload of a reviewed sheet would change in the service, before anything is sent.

use std::collections::BTreeMap;

use super::super::compare::{ComparePace, compare_keys, compare_references};
use super::super::context::Context;
use super::super::error::Error;
use super::super::event::Observer;
use super::super::input::Spreadsheet;
use super::super::learned::{load_sizes, store_learned_sizes};
use super::checked_sheet::open_as_upload;
use crate::client::Speed;
use crate::ledger::{Disposition, Group, Seq};
use crate::upload::Tally;
use crate::upload::compare::{Candidate, Connection, Difference, difference};
use crate::upload::plan::{Batch, ReadMode, read};

/// Maximum bytes of requests that are held for the comparison.
const MAX_HELD: usize = 256 << 20;
/// The code of a reference to a record that the service does not have.
const UNKNOWN_REFERENCE: &str = "unknown-reference";

/// What an upload would change.
#[derive(Debug)]
pub struct ServiceDifference {
    /// Records that were compared, or not, one by one.
    pub difference: Difference,
    /// References to records that the service does not have, by cause.
    pub unknown: Vec<Group>,
    /// Requests of the comparison.
    pub requests: u64,
}

/// Compares a spreadsheet with the service, which is only read: its records, and the records that they name.
///
/// # Errors
/// If the file can't be read, or no address is known.
pub async fn compare_with_service(
    context: &Context,
    input: Spreadsheet<'_>,
    pace: ComparePace,
    progress: &(dyn Fn(u64, u64) + Sync),
    observer: Observer<'_>,
) -> Result<ServiceDifference, Error> {
    let base_url = context.base_url()?;
    let client = context.client(base_url, pace.concurrency)?;
    let speed = context.measured_speed(pace.rate, base_url).await?;
    let connection = Connection::new(&client, speed, pace.concurrency);
    load_sizes(context, &connection, base_url).await;
    let (mut source, template) = open_as_upload(context, input, observer).await?;
    let template = template.as_ref();
    compare_keys(&connection, &mut source, template, false, observer).await?;
    let mut records = Records::default();
    read(&source, template, ReadMode::Records, |batch| {
        records.add(batch);
        true
    })?;
    let (candidates, not_held) = (records.held.into_values().collect(), records.not_held);
    let mut difference = difference(template.record, candidates, &connection, progress).await;
    difference.not_compared += not_held;
    store_learned_sizes(context, &connection, base_url).await;
    // With them, no record with an unknown reference would be among the compared ones.
    compare_references(&connection, &mut source, template, observer).await?;
    let has_unknown = source.unknown_references.as_ref().is_some_and(|unknown| !unknown.is_empty());
    let tally = match has_unknown {
        true => read(&source, template, ReadMode::TallyOnly, |_| true)?,
        false => Tally::default(),
    };
    let unknown = tally.causes.groups().into_iter().filter(|group| group.problem.code == UNKNOWN_REFERENCE);
    let unknown = unknown.cloned().collect();
    Ok(ServiceDifference { difference, unknown, requests: client.requests() })
}

/// Returns the rate at which a spreadsheet would be sent, in words, and in requests per second if it is known.
pub async fn pace(context: &Context, asked: Option<Speed>) -> Result<(Option<String>, Option<f64>), Error> {
    let Some(base_url) = context.base_url.as_deref() else { return Ok((None, None)) };
    Ok(match context.measured_speed(asked, base_url).await? {
        None => (None, None),
        Some(Speed::Fixed(rate)) => (Some(rate.to_string()), Some(rate.per_second())),
        Some(Speed::Auto(measured)) => (Some("auto".to_owned()), measured),
    })
}

/// The requests of a pass.
#[derive(Default)]
struct Records {
    next: Seq,
    bytes: usize,
    held: BTreeMap<Seq, Candidate>,
    /// Further ones, for which there is no room.
    not_held: u64,
}

impl Records {
    fn add(&mut self, batch: Batch) {
        if batch.restarts {
            *self = Records::default();
        }
        for record in batch.records {
            if let Disposition::Send(body) = record.disposition {
                if self.bytes < MAX_HELD {
                    self.bytes += body.len();
                    let row = || record.rows.first().map(u64::to_string).unwrap_or_default();
                    let name = record.key.clone().unwrap_or_else(row);
                    self.held.insert(self.next, Candidate { name, target: record.target, body });
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
