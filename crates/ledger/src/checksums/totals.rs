//! The totals of a run: the number of rows in the tables that grow during sending, and the sums of the positions and checksums of
//! these rows.

use sheetport_sql::{self as sql, Dialect, Executor, Query, Row, Transaction};

use super::super::error::{Error, damaged};
use super::super::ids::{RunId, Seq};
use super::super::state::RecordState;
use super::row::Checksum;

/// The totals of a run, as stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Totals {
    pub outcomes: Sum,
    pub resolutions: Sum,
    /// Rows without checksums.
    pub in_flight: Sum,
    pub claims: i64,
    /// All requests for the records of the run. `retries` is the number of repeated requests.
    pub requests: i64,
    pub retries: i64,
    pub states: States,
}

/// The number of outcomes in each state. Resolved records count in the state chosen by a person.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct States {
    counts: [i64; 6],
}

/// A number of rows, and the sums of their positions and checksums.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sum {
    pub rows: i64,
    pub seqs: i64,
    pub checksums: i64,
}

impl Sum {
    pub(crate) fn add(&mut self, seq: Seq, checksum: i64) {
        self.rows += 1;
        self.seqs += seq;
        self.checksums += checksum;
    }

    /// Removes a row without a checksum.
    pub(crate) fn remove(&mut self, seq: Seq) {
        self.rows -= 1;
        self.seqs -= seq;
    }
}

impl States {
    /// The order of the columns.
    const ORDER: [RecordState; 6] = [
        RecordState::Sent,
        RecordState::Unchanged,
        RecordState::Skipped,
        RecordState::Rejected,
        RecordState::Failed,
        RecordState::Unknown,
    ];

    /// Adds `count` outcomes, or removes outcomes if negative. Pending records have no outcome.
    pub(crate) fn add(&mut self, state: RecordState, count: i64) {
        for (known, sum) in States::ORDER.iter().zip(&mut self.counts) {
            *sum += if *known == state { count } else { 0 };
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (RecordState, i64)> {
        States::ORDER.into_iter().zip(self.counts)
    }
}

impl Totals {
    fn numbers(&self) -> [i64; NUMBERS] {
        let Totals { outcomes, resolutions, in_flight, claims, requests, retries, states } = *self;
        let [sent, unchanged, skipped, rejected, failed, unknown] = states.counts;
        [
            outcomes.rows,
            outcomes.seqs,
            outcomes.checksums,
            resolutions.rows,
            resolutions.seqs,
            resolutions.checksums,
            in_flight.rows,
            in_flight.seqs,
            claims,
            requests,
            retries,
            sent,
            unchanged,
            skipped,
            rejected,
            failed,
            unknown,
        ]
    }

    fn of_numbers(numbers: [i64; NUMBERS]) -> Totals {
        let sum = |at: usize| Sum { rows: numbers[at], seqs: numbers[at + 1], checksums: numbers[at + 2] };
        Totals {
            outcomes: sum(0),
            resolutions: sum(3),
            in_flight: Sum { rows: numbers[6], seqs: numbers[7], checksums: 0 },
            claims: numbers[8],
            requests: numbers[9],
            retries: numbers[10],
            states: States { counts: std::array::from_fn(|nth| numbers[11 + nth]) },
        }
    }

    fn checksum(&self, run: RunId) -> i64 {
        self.numbers().into_iter().fold(Checksum::of("total").number(run), Checksum::number).short()
    }
}

/// Columns of the table, except for the run and the checksum.
const NUMBERS: usize = 17;

/// Returns the totals of a run.
///
/// # Errors
/// [`Error::Damaged`] if the totals are missing or altered.
pub(crate) async fn load(on: impl Executor, run: RunId) -> Result<Totals, Error> {
    load_with(on, run, "").await
}

async fn load_with(on: impl Executor, run: RunId, end: &str) -> Result<Totals, Error> {
    let row = load_query(run, end).fetch_optional(on).await?;
    of_row(run, row.as_ref())
}

/// Returns the query for the totals of a run. [`of_row`] reads its row.
pub(crate) fn loading(run: RunId) -> Query<Row> {
    load_query(run, "")
}

/// Does the same as [`loading`], and locks them.
pub(crate) fn locking(dialect: Dialect, run: RunId) -> Query<Row> {
    load_query(run, dialect.for_update())
}

fn load_query(run: RunId, end: &str) -> Query<Row> {
    let query = "SELECT outcomes, outcome_seqs, outcome_checksums, resolutions, resolution_seqs, resolution_checksums, \
                 in_flight, in_flight_seqs, claims, requests, retries, sent, unchanged, skipped, rejected, failed, unknown, \
                 checksum FROM total WHERE run = $1";
    sql::query(format!("{query}{end}")).bind(run)
}

/// Returns the totals in a row of [`locking`].
///
/// # Errors
/// [`Error::Damaged`] if the totals are missing or altered.
pub(crate) fn of_row(run: RunId, row: Option<&Row>) -> Result<Totals, Error> {
    let row = row.ok_or_else(|| damaged(run, "its totals are missing"))?;
    let mut numbers = [0; NUMBERS];
    for (at, number) in numbers.iter_mut().enumerate() {
        *number = row.try_get(at)?;
    }
    let totals = Totals::of_numbers(numbers);
    match totals.checksum(run) == row.try_get::<i64, _>(NUMBERS)? {
        true => Ok(totals),
        false => Err(damaged(run, "its totals were altered")),
    }
}

/// Stores the totals of a run.
pub(crate) async fn store(transaction: &mut Transaction, run: RunId, totals: &Totals) -> Result<(), Error> {
    storing(run, totals).execute(transaction).await?;
    Ok(())
}

/// Returns the statement that stores the totals of a run.
pub(crate) fn storing(run: RunId, totals: &Totals) -> Query<Row> {
    let query = "INSERT INTO total (run, outcomes, outcome_seqs, outcome_checksums, resolutions, resolution_seqs, \
                 resolution_checksums, in_flight, in_flight_seqs, claims, requests, retries, sent, unchanged, skipped, \
                 rejected, failed, unknown, checksum) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, \
                 $17, $18, $19) ON CONFLICT (run) DO UPDATE SET \
                 outcomes = excluded.outcomes, outcome_seqs = excluded.outcome_seqs, \
                 outcome_checksums = excluded.outcome_checksums, resolutions = excluded.resolutions, \
                 resolution_seqs = excluded.resolution_seqs, resolution_checksums = excluded.resolution_checksums, \
                 in_flight = excluded.in_flight, in_flight_seqs = excluded.in_flight_seqs, claims = excluded.claims, \
                 requests = excluded.requests, retries = excluded.retries, sent = excluded.sent, unchanged = excluded.unchanged, skipped = excluded.skipped, \
                 rejected = excluded.rejected, failed = excluded.failed, unknown = excluded.unknown, checksum = excluded.checksum";
    let query = totals.numbers().into_iter().fold(sql::query(query).bind(run), |query, number| query.bind(number));
    query.bind(totals.checksum(run))
}

/// Locks the totals of a run, after waiting for other transactions.
pub(crate) async fn wait(transaction: &mut Transaction, run: RunId) -> Result<(), Error> {
    let for_update = transaction.dialect().for_update();
    if !for_update.is_empty() {
        let query = format!("SELECT 1 FROM total WHERE run = $1{for_update}");
        sql::query(query).bind(run).execute(transaction).await?;
    }
    Ok(())
}

/// Changes the totals of a run, in the same transaction as the counted rows.
pub(crate) async fn change(
    transaction: &mut Transaction,
    run: RunId,
    change: impl FnOnce(&mut Totals),
) -> Result<(), Error> {
    let for_update = transaction.dialect().for_update();
    let mut totals = load_with(&mut *transaction, run, for_update).await?;
    let before = totals;
    change(&mut totals);
    if totals == before { Ok(()) } else { store(transaction, run, &totals).await }
}
