//! What a sender has to know at the beginning of a part, asked by one message, because each is a round trip.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use sheetport_sql::{self as sql, Dialect};

use super::super::database::Ledger;
use super::super::error::Error;
use super::super::history::{AGE, entering};
use super::super::ids::{Part, RunId, Seq};
use super::super::runs::{FAMILY, Run};
use super::in_flight::{IN_FLIGHT, Interrupted};

/// A run at the beginning of sending.
#[derive(Clone, Debug)]
pub struct Begun {
    pub run: Run,
    /// The runs connected with this run by retries, and the age of the values that they send.
    pub family: Vec<RunId>,
    pub age: RunId,
    /// The records left in flight by the last process.
    pub interrupted: Interrupted,
    /// Records that follow a record with the same key in another part. Another process may send that part.
    pub chained: BTreeMap<Seq, Seq>,
}

impl Ledger {
    /// Settles the records of a part that are in flight, as [`Ledger::settle_in_flight`] does, and returns what its sender has to know. `yields`:
    /// also registers the part as [`Ledger::enter_sender`] does. Idempotent. Requires the lock of the part.
    pub async fn begin_part(
        &self,
        part: Part,
        yields: bool,
        remembered: Option<RangeInclusive<i64>>,
        now: i64,
    ) -> Result<Begun, Error> {
        self.leases.set_sending(part.run);
        let of_part = |query: &'static str| sql::query(query).bind(part.run).bind(part.first).bind(part.last);
        // Since the part was taken, nobody else has written about its records.
        let of_run = |query: &'static str| sql::query(query).bind(part.run);
        let mut reads = vec![self.selecting_run(part.run), of_run(FAMILY), of_run(AGE), of_part(IN_FLIGHT)];
        let is_divided = part != Part::whole(part.run) && self.dialect() == Dialect::Postgres;
        if is_divided {
            reads.push(of_part("SELECT seq, after FROM chain WHERE run = $1 AND seq BETWEEN $2 AND $3"));
        }
        let reading = reads.len();
        let mut results = match yields {
            true => self.write_and_read(entering(part, now), reads).await?,
            false => self.reader.run_all(reads).await?,
        };
        let mut results = results.split_off(results.len().saturating_sub(reading)).into_iter();
        let mut next = || results.next().unwrap_or_default();
        let run = Run::of_row(next().rows().first().ok_or(Error::NoSuchRun(part.run))?)?;
        let family = next().rows().iter().map(|row| row.try_get(0)).collect::<Result<_, _>>()?;
        let age: Option<RunId> = next().rows().first().map(|row| row.try_get(0)).transpose()?.flatten();
        let interrupted = match next().rows() {
            [] => Interrupted::default(),
            _ => self.settle_in_flight(part, remembered).await?,
        };
        let link = |row: &sql::Row| Ok((row.try_get(0)?, row.try_get(1)?));
        let chained = next().rows().iter().map(link).collect::<Result<_, sqlx::Error>>()?;
        Ok(Begun { age: age.unwrap_or(run.id), run, family, interrupted, chained })
    }
}
