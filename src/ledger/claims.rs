//! Claims: non-idempotent requests by content, to recognize their records in other files and runs.
//!
//! A claim is stored together with the intent of its request, and stays. Its state follows from the outcome of the
//! record.

use sqlx::query_builder::Separated;
use sqlx::sqlite::{SqliteConnection, SqliteRow};
use sqlx::{QueryBuilder, Row, Sqlite};

use super::database::Ledger;
use super::error::{Error, corrupt};
use super::ids::{RunId, Seq};
use super::state::RecordState;

/// Claims per statement.
const PER_STATEMENT: usize = 256;

/// A hash that includes service, workspace and kind. Not interpreted by the ledger.
pub type ClaimDigest = [u8; 16];

/// The content of a request that must not be sent twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Claim {
    pub seq: Seq,
    /// The name of the record, such as the number of an invoice; `None` without a name.
    pub name: Option<ClaimDigest>,
    pub body: ClaimDigest,
}

/// A request that was started before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EarlierClaim {
    pub claim: Claim,
    pub run: RunId,
    pub state: EarlierState,
    /// The time of the outcome, or of the claim without an outcome. Milliseconds since 1970, UTC.
    pub at: i64,
    pub service_id: Option<String>,
}

/// What is known about an earlier request. Requests that were certainly not applied are not returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EarlierState {
    Sent,
    /// The run was pruned.
    Pruned,
    Unknown,
    /// In flight, or interrupted and not resumed.
    InFlight,
}

impl Claim {
    /// Whether `other` is about the same record: the same name, or the same body if one of the two has no name.
    pub fn is_same_record(&self, other: &Claim) -> bool {
        match (self.name, other.name) {
            (Some(name), Some(other)) => name == other,
            _ => self.body == other.body,
        }
    }

    /// Whether another run sent the record of this claim of `run`. In its family, rows tell records without a name
    /// apart.
    pub fn is_repeated_by(&self, other: &EarlierClaim, run: RunId, family: &[RunId]) -> bool {
        let is_distinct = other.run == run || self.name.is_none() && family.contains(&other.run);
        !is_distinct && self.is_same_record(&other.claim)
    }
}

impl Ledger {
    /// Returns the started requests for the same records as `claims`, in the order of their claims.
    pub async fn earlier_claims(&self, claims: &[Claim]) -> Result<Vec<EarlierClaim>, Error> {
        let mut connection = self.reader.acquire().await?;
        earlier_claims(&mut connection, claims, 0).await
    }

    /// Returns the id of the last claim, 0 without claims.
    pub async fn last_claim(&self) -> Result<i64, Error> {
        Ok(sqlx::query_scalar("SELECT COALESCE(MAX(id), 0) FROM claim").fetch_one(&self.reader).await?)
    }

    /// Stores that the records of `run` were compared with all claims up to `last`.
    pub async fn set_compared(&self, run: RunId, last: i64) -> Result<(), Error> {
        let query = sqlx::query("UPDATE run SET compared_to = $2 WHERE id = $1").bind(run).bind(last);
        query.execute(&self.writer).await?;
        Ok(())
    }
}

/// Returns the claims after the claim `after` with the name or body of one of `claims`, unless certainly not applied.
pub(super) async fn earlier_claims(
    connection: &mut SqliteConnection,
    claims: &[Claim],
    after: i64,
) -> Result<Vec<EarlierClaim>, Error> {
    let mut found: Vec<(i64, EarlierClaim)> = Vec::new();
    for claims in claims.chunks(PER_STATEMENT) {
        let mut query = QueryBuilder::<Sqlite>::new(
            "SELECT claim.id, claim.run, claim.seq, claim.name, claim.body, COALESCE(outcome.at, claim.at), \
             outcome.service_id, COALESCE(resolution.state, outcome.state), in_flight.seq, run.id FROM claim \
             LEFT JOIN run ON run.id = claim.run \
             LEFT JOIN outcome ON outcome.run = claim.run AND outcome.seq = claim.seq \
             LEFT JOIN resolution ON resolution.run = claim.run AND resolution.seq = claim.seq \
             LEFT JOIN in_flight ON in_flight.run = claim.run AND in_flight.seq = claim.seq WHERE (",
        );
        let (named, unnamed): (Vec<&Claim>, Vec<&Claim>) = claims.iter().partition(|claim| claim.name.is_some());
        let names = named.iter().filter_map(|claim| claim.name);
        let named_bodies = named.iter().map(|claim| claim.body);
        let mut conditions = query.separated(" OR ");
        if !named.is_empty() {
            conditions.push("claim.name IN (");
            push_digests(&mut conditions, names);
            conditions.push("(claim.name IS NULL AND claim.body IN (");
            push_digests(&mut conditions, named_bodies);
            conditions.push_unseparated(")");
        }
        if !unnamed.is_empty() {
            conditions.push("claim.body IN (");
            push_digests(&mut conditions, unnamed.iter().map(|claim| claim.body));
        }
        // The plus sign keeps SQLite from reading all claims after the first one by the index of ids.
        query.push(") AND +claim.id > ").push_bind(after);
        for row in query.build().persistent(false).fetch_all(&mut *connection).await? {
            if let Some(earlier) = earlier_claim(&row)? {
                found.push((row.try_get(0)?, earlier));
            }
        }
    }
    found.sort_by_key(|(id, _)| *id);
    found.dedup_by_key(|(id, _)| *id);
    Ok(found.into_iter().map(|(_, earlier)| earlier).collect())
}

/// Pushes the values of a list and its closing parenthesis.
fn push_digests(query: &mut Separated<'_, Sqlite, &str>, digests: impl Iterator<Item = ClaimDigest>) {
    for (nth, digest) in digests.enumerate() {
        if nth > 0 {
            query.push_unseparated(", ");
        }
        query.push_bind_unseparated(digest.to_vec());
    }
    query.push_unseparated(")");
}

/// Reads a claim, or returns `None` if the request was certainly not applied.
fn earlier_claim(row: &SqliteRow) -> Result<Option<EarlierClaim>, Error> {
    let state: Option<String> = row.try_get(7)?;
    let state = match state.as_deref().map(RecordState::from_name) {
        Some(Some(RecordState::Sent)) => EarlierState::Sent,
        Some(Some(RecordState::Unknown)) => EarlierState::Unknown,
        Some(Some(_)) => return Ok(None),
        Some(None) => return Err(corrupt(format_args!("an outcome with the state '{}'", state.unwrap_or_default()))),
        None if row.try_get::<Option<RunId>, _>(9)?.is_none() => EarlierState::Pruned,
        None if row.try_get::<Option<Seq>, _>(8)?.is_some() => EarlierState::InFlight,
        None => return Ok(None),
    };
    let digest = |bytes: &[u8]| ClaimDigest::try_from(bytes).map_err(corrupt);
    let name: Option<&[u8]> = row.try_get(3)?;
    let claim = Claim { seq: row.try_get(2)?, name: name.map(digest).transpose()?, body: digest(row.try_get(4)?)? };
    Ok(Some(EarlierClaim { claim, run: row.try_get(1)?, state, at: row.try_get(5)?, service_id: row.try_get(6)? }))
}

/// Inserts claims. Records that were claimed before keep their claim.
pub(super) async fn insert_claims(
    connection: &mut SqliteConnection,
    run: RunId,
    claims: &[Claim],
    now: i64,
) -> Result<(), Error> {
    if claims.is_empty() {
        return Ok(());
    }
    let last: i64 = sqlx::query_scalar("SELECT COALESCE(MAX(id), 0) FROM claim").fetch_one(&mut *connection).await?;
    let numbered: Vec<(i64, &Claim)> = (last + 1..).zip(claims).collect();
    for claims in numbered.chunks(PER_STATEMENT) {
        let mut query = QueryBuilder::<Sqlite>::new("INSERT INTO claim (run, seq, id, name, body, at) ");
        query.push_values(claims, |mut row, (id, claim)| {
            row.push_bind(run)
                .push_bind(claim.seq)
                .push_bind(id)
                .push_bind(claim.name.map(|name| name.to_vec()))
                .push_bind(claim.body.to_vec())
                .push_bind(now);
        });
        query.push(" ON CONFLICT (run, seq) DO NOTHING");
        query.build().persistent(false).execute(&mut *connection).await?;
    }
    Ok(())
}

/// Removes the claims of a run about to be deleted, except for requests that were or may have been applied.
///
/// The last claim stays in any case, without content, so that ids are never assigned again.
pub(super) async fn keep_claims(connection: &mut SqliteConnection, run: RunId) -> Result<(), Error> {
    const NOT_APPLIED: &str = "run = $1 AND NOT EXISTS (SELECT 1 FROM in_flight WHERE in_flight.run = claim.run \
        AND in_flight.seq = claim.seq) AND NOT EXISTS (SELECT 1 FROM outcome LEFT JOIN resolution \
        ON resolution.run = outcome.run AND resolution.seq = outcome.seq WHERE outcome.run = claim.run \
        AND outcome.seq = claim.seq AND COALESCE(resolution.state, outcome.state) IN ('sent', 'unknown'))";
    for statement in [
        format!("UPDATE claim SET name = NULL, body = '' WHERE id = (SELECT MAX(id) FROM claim) AND {NOT_APPLIED}"),
        format!("DELETE FROM claim WHERE id < (SELECT MAX(id) FROM claim) AND {NOT_APPLIED}"),
    ] {
        sqlx::query(sqlx::AssertSqlSafe(statement)).bind(run).execute(&mut *connection).await?;
    }
    Ok(())
}
