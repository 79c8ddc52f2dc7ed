//! Claims: the contents of non-idempotent requests, to recognize the same records in other files and runs.
//!
//! A claim has hashes of a request's content, is stored in the same transaction as the intent of the request, and is permanent. The state of a
//! claim follows from the outcome of the record. `plan::sent_before` compares a plan with the claims once, before sending; then
//! `Ledger::start` claims each record unless another run has claimed the same since.
//!
//! On a server, transactions with new claims for the same service, workspace and kind wait for each other ([`wait_for_claims`]), so claims
//! are committed in the order of ids: a run that has compared all claims up to the last must not miss an earlier claim, not
//! yet committed.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use sheetport_sql::{self as sql, Builder, Dialect, Query, Results, Row, Transaction, Value};

use super::super::checksums::{Checksum, totals};
use super::super::database::{Ledger, to_json};
use super::super::error::{Error, corrupt, damaged};
use super::super::ids::{RunId, Seq};
use super::super::runs::Run;
use super::super::state::RecordState;
use super::accepted::scope;
use super::decide::Fact;
use super::known::Effect;

/// Claims per query.
const PER_QUERY: usize = 256;

/// A hash over content, service, workspace and kind. Opaque to the ledger.
pub type ClaimDigest = [u8; 16];

/// The content of a non-idempotent request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    pub seq: Seq,
    /// The name of the record, such as the number of an invoice; `None` without a name.
    pub name: Option<ClaimName>,
    pub body: ClaimDigest,
}

/// The name of a record, as hashes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaimName {
    pub digest: ClaimDigest,
    /// Identifies the columns of the name.
    pub columns: i64,
    /// The value of each of these columns. Empty if the name can't be split into columns.
    pub parts: Vec<NamePart>,
}

/// One column of a name and its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NamePart {
    pub column: i64,
    pub value: i64,
}

/// Why two requests may be about the same record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Likeness {
    /// The same name, or the same body if the new record has no name.
    SameRecord,
    /// The same body, and names from different columns without a contradiction.
    SameWithOtherColumns,
    /// The same body, but undecided names: either one record has no name, or the names have neither a column nor a value in
    /// common.
    SameBody,
}

/// A request that an earlier run, or this run, has started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EarlierClaim {
    pub claim: Claim,
    pub run: RunId,
    pub state: EarlierState,
    /// The time of the outcome, or of the claim without an outcome. Milliseconds since 1970, UTC.
    pub at: i64,
    pub service_id: Option<String>,
}

/// The state of an earlier request. Requests that were certainly not applied are never returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EarlierState {
    Sent,
    /// The run was pruned.
    Pruned,
    Unknown,
    /// In flight, or interrupted and not resumed.
    InFlight,
}

impl ClaimName {
    /// Whether two names from different columns agree in their common columns or values. Returns `None` if they have no column or
    /// value in common.
    fn agrees_with(&self, other: &ClaimName) -> Option<bool> {
        let other_value = |part: &NamePart| other.parts.iter().find(|it| it.column == part.column).map(|it| it.value);
        let mut shared = self.parts.iter().filter_map(|part| Some(part.value == other_value(part)?)).peekable();
        if shared.peek().is_some() {
            return Some(shared.all(|is_equal| is_equal));
        }
        let (fewer, more) = match self.parts.len() <= other.parts.len() {
            true => (&self.parts, &other.parts),
            false => (&other.parts, &self.parts),
        };
        let is_included = |part: &NamePart| more.iter().any(|other| other.value == part.value);
        (!fewer.is_empty() && fewer.iter().all(is_included)).then_some(true)
    }
}

impl Claim {
    /// Compares two requests. Returns `None` for different records: if both names come from the same columns, only the names
    /// count, not the bodies.
    pub fn likeness(&self, other: &Claim) -> Option<Likeness> {
        let has_same_body = self.body == other.body;
        match (&self.name, &other.name) {
            (Some(name), Some(other)) if name.digest == other.digest => Some(Likeness::SameRecord),
            (Some(name), Some(other)) if has_same_body && name.columns != other.columns => {
                match name.agrees_with(other) {
                    Some(true) => Some(Likeness::SameWithOtherColumns),
                    Some(false) => None,
                    None => Some(Likeness::SameBody),
                }
            }
            (Some(_), Some(_)) => None,
            (None, _) => has_same_body.then_some(Likeness::SameRecord),
            (Some(_), None) => has_same_body.then_some(Likeness::SameBody),
        }
    }

    /// Returns what the request of another run shows about the record of this claim of `run`. Within a family, records without a
    /// name are identified by their rows instead.
    pub fn shown_by(&self, other: &EarlierClaim, run: RunId, family: &[RunId]) -> Option<Fact> {
        let is_distinct = other.run == run || self.name.is_none() && family.contains(&other.run);
        if is_distinct { None } else { self.fact(other) }
    }

    /// Returns what a request shows about the record of this claim. `None` for a different record.
    pub fn fact(&self, other: &EarlierClaim) -> Option<Fact> {
        let likeness = self.likeness(&other.claim)?;
        Some(match (other.state, likeness) {
            (EarlierState::Unknown | EarlierState::InFlight, _) => Fact::MayBeSent,
            (EarlierState::Sent | EarlierState::Pruned, Likeness::SameBody) => Fact::SameValuesSent,
            (EarlierState::Sent | EarlierState::Pruned, Likeness::SameRecord | Likeness::SameWithOtherColumns) => {
                if self.body == other.claim.body {
                    Fact::SameSent
                } else {
                    Fact::OtherValuesSent
                }
            }
        })
    }
}

impl Ledger {
    /// Returns the started requests for the same records as `claims`, ordered by claim.
    pub async fn earlier_claims(&self, claims: &[Claim]) -> Result<Vec<EarlierClaim>, Error> {
        let mut transaction = self.reader.begin_reading().await?;
        earlier_claims(&mut transaction, claims, 0).await
    }

    /// Returns the id of the last claim, or 0 without claims. Later requests to the same service, workspace and kind as `run` get
    /// higher ids.
    pub async fn last_claim(&self, run: &Run) -> Result<i64, Error> {
        let query = sql::query_scalar("SELECT COALESCE(MAX(id), 0) FROM claim");
        if self.dialect().one_at_a_time().is_none() {
            return Ok(query.fetch_one(&self.reader).await?);
        }
        let mut transaction = self.begin().await?;
        wait_for_claims(&mut transaction, run).await?;
        let last = query.fetch_one(&mut transaction).await?;
        transaction.commit().await?;
        Ok(last)
    }

    /// Stores that the records of `run` were compared with all claims up to `last`.
    pub async fn set_compared(&self, run: RunId, last: i64) -> Result<(), Error> {
        let update = sql::query("UPDATE run SET compared_to = $2 WHERE id = $1").bind(run).bind(last);
        self.change_run(run, update).await?;
        Ok(())
    }
}

/// Waits for other transactions that claim records for the service, workspace and kind of `run`, and blocks new ones until this
/// transaction ends: claims are committed in id order.
pub(crate) async fn wait_for_claims(transaction: &mut Transaction, run: &Run) -> Result<(), Error> {
    if let Some(statement) = waiting_for_claims(transaction.dialect(), run) {
        statement.execute(transaction).await?;
    }
    Ok(())
}

/// Returns the statement of [`wait_for_claims`], if the database needs one.
pub(crate) fn waiting_for_claims(dialect: Dialect, run: &Run) -> Option<Query<Row>> {
    dialect.one_at_a_time().map(|statement| sql::query(statement).bind(scope(run)))
}

/// Returns the claims after `after` with the name or body of one of `claims`, except for requests that were certainly not
/// applied.
pub(crate) async fn earlier_claims(
    transaction: &mut Transaction,
    claims: &[Claim],
    after: i64,
) -> Result<Vec<EarlierClaim>, Error> {
    let mut rows = Vec::new();
    for query in looking_for_earlier(transaction.dialect(), claims, after) {
        rows.extend(query.fetch_all(&mut *transaction).await?);
    }
    found_earlier(transaction, rows.iter()).await
}

/// Returns the queries of [`earlier_claims`]. [`found_earlier`] reads their rows.
pub(crate) fn looking_for_earlier(dialect: Dialect, claims: &[Claim], after: i64) -> Vec<Query<Row>> {
    let query_for = |claims: &[Claim]| {
        let mut query = Builder::new(dialect, "SELECT ");
        query.push(StoredClaim::COLUMNS).push(
            ", COALESCE(outcome.at, claim.at), outcome.service_id, COALESCE(resolution.state, outcome.state), \
             in_flight.seq, run.id FROM claim \
             LEFT JOIN run ON run.id = claim.run \
             LEFT JOIN outcome ON outcome.run = claim.run AND outcome.seq = claim.seq \
             LEFT JOIN resolution ON resolution.run = claim.run AND resolution.seq = claim.seq \
             LEFT JOIN in_flight ON in_flight.run = claim.run AND in_flight.seq = claim.seq WHERE (",
        );
        let (named, unnamed): (Vec<&Claim>, Vec<&Claim>) = claims.iter().partition(|claim| claim.name.is_some());
        let names = || named.iter().filter_map(|claim| claim.name.as_ref());
        if let Some(first) = names().next() {
            query.push("claim.name IN (").push_list(names().map(|name| name.digest.to_vec()));
            // The names of a run are from the same columns. Other records with these columns have other names.
            query.push(" OR ((claim.name IS NULL OR claim.name_columns <> ").push_bind(first.columns);
            query.push(") AND claim.body IN (").push_list(named.iter().map(|claim| claim.body.to_vec())).push(")");
        }
        if !unnamed.is_empty() {
            query.push(if named.is_empty() { "" } else { " OR " });
            query.push("claim.body IN (").push_list(unnamed.iter().map(|claim| claim.body.to_vec()));
        }
        // The plus sign keeps SQLite from scanning all later claims through the id index.
        query.push(") AND +claim.id > ").push_bind(after);
        query.build().persistent(false)
    };
    claims.chunks(PER_QUERY).map(query_for).collect()
}

/// Reads the rows of [`looking_for_earlier`], in the same transaction.
pub(crate) async fn found_earlier(
    transaction: &mut Transaction,
    rows: impl Iterator<Item = &Row> + Send,
) -> Result<Vec<EarlierClaim>, Error> {
    let mut found: Vec<(i64, EarlierClaim)> = Vec::new();
    let mut without_outcome = BTreeSet::new();
    for row in rows {
        let (stored, is_intact) = StoredClaim::from_row(row)?;
        if !is_intact {
            let what = format_args!("what says that its record {} was sent was altered", stored.seq);
            return Err(damaged(stored.run, what));
        }
        if let Some(earlier) = earlier_claim(&stored, row)? {
            found.push((stored.id, earlier));
        } else if row.try_get::<Option<&str>, _>(11)?.is_none() {
            without_outcome.insert(stored.run);
        }
    }
    for run in without_outcome {
        refuse_lost_outcomes(transaction, run).await?;
    }
    found.sort_by_key(|(id, _)| *id);
    found.dedup_by_key(|(id, _)| *id);
    Ok(found.into_iter().map(|(_, earlier)| earlier).collect())
}

/// Fails if outcomes of a run are lost. A claim without an outcome is a request that was certainly not applied, unless its outcome is
/// lost: then it may have been applied.
async fn refuse_lost_outcomes(transaction: &mut Transaction, run: RunId) -> Result<(), Error> {
    // One statement, so that a run that is being sent has not changed in between.
    let query = "SELECT outcomes, (SELECT COUNT(*) FROM outcome WHERE outcome.run = $1) FROM total WHERE run = $1";
    let counts: Option<(i64, i64)> = sql::query_as(query).bind(run).fetch_optional(&mut *transaction).await?;
    match counts {
        Some((stored, actual)) if actual < stored => {
            Err(damaged(run, format_args!("{actual} of its {stored} outcomes are there")))
        }
        _ => Ok(()),
    }
}

/// Returns an earlier claim, from the columns after [`StoredClaim::COLUMNS`], or `None` if the request was certainly not applied.
fn earlier_claim(stored: &StoredClaim<'_>, row: &Row) -> Result<Option<EarlierClaim>, Error> {
    let outcome = match row.try_get::<Option<String>, _>(11)? {
        Some(name) => Some(
            RecordState::from_name(&name).ok_or_else(|| corrupt(format_args!("an outcome with the state '{name}'")))?,
        ),
        None => None,
    };
    let is_in_flight = row.try_get::<Option<Seq>, _>(12)?.is_some();
    // The row of a removed run goes first, its outcomes later, and claims of requests that were certainly not applied with them.
    let is_removed = row.try_get::<Option<RunId>, _>(13)?.is_none();
    let state = match Effect::of(outcome, is_in_flight || is_removed) {
        Some(Effect::Accepted | Effect::Uncertain) if is_removed => EarlierState::Pruned,
        Some(Effect::Accepted) => EarlierState::Sent,
        Some(Effect::Uncertain) if outcome.is_some() => EarlierState::Unknown,
        Some(Effect::Uncertain) => EarlierState::InFlight,
        Some(Effect::Refused | Effect::NotNeeded) | None => return Ok(None),
    };
    let digest = |bytes: &[u8]| ClaimDigest::try_from(bytes).map_err(corrupt);
    let name = match &stored.name {
        // A claim with a name also has columns and parts, so they are never NULL.
        Some(name) => {
            Some(ClaimName { digest: digest(name)?, columns: row.try_get(4)?, parts: decode_parts(&row.bytes(5)?)? })
        }
        None => None,
    };
    let claim = Claim { seq: stored.seq, name, body: digest(&stored.body)? };
    Ok(Some(EarlierClaim { claim, run: stored.run, state, at: row.try_get(9)?, service_id: row.try_get(10)? }))
}

/// The columns of a claim but the checksum.
pub(crate) struct StoredClaim<'r> {
    pub run: RunId,
    pub seq: Seq,
    pub id: i64,
    pub name: Option<Cow<'r, [u8]>>,
    pub name_columns: Option<i64>,
    pub name_parts: Option<Cow<'r, [u8]>>,
    pub body: Cow<'r, [u8]>,
    pub at: i64,
}

impl<'r> StoredClaim<'r> {
    /// The columns of a claim and its checksum. A query for [`StoredClaim::from_row`] must select them first.
    pub(crate) const COLUMNS: &'static str = "claim.run, claim.seq, claim.id, claim.name, claim.name_columns, \
                                              claim.name_parts, claim.body, claim.at, claim.checksum";

    /// Reads a claim. Returns false with it if the checksum does not match.
    pub(crate) fn from_row(row: &'r Row) -> Result<(StoredClaim<'r>, bool), Error> {
        let stored = StoredClaim {
            run: row.try_get(0)?,
            seq: row.try_get(1)?,
            id: row.try_get(2)?,
            name: row.optional_bytes(3)?,
            name_columns: row.try_get(4)?,
            name_parts: row.optional_bytes(5)?,
            body: row.bytes(6)?,
            at: row.try_get(7)?,
        };
        let is_intact = row.try_get::<Option<i64>, _>(8)? == Some(stored.checksum());
        Ok((stored, is_intact))
    }

    pub(crate) fn checksum(&self) -> i64 {
        Checksum::of("claim")
            .number(self.run)
            .number(self.seq)
            .number(self.id)
            .optional_bytes(self.name.as_deref())
            .optional_number(self.name_columns)
            .optional_bytes(self.name_parts.as_deref())
            .bytes(&self.body)
            .number(self.at)
            .short()
    }
}

fn encode_parts(parts: &[NamePart]) -> Vec<u8> {
    parts.iter().flat_map(|part| [part.column.to_le_bytes(), part.value.to_le_bytes()]).flatten().collect()
}

fn decode_parts(bytes: &[u8]) -> Result<Vec<NamePart>, Error> {
    let (numbers, rest) = bytes.as_chunks::<8>();
    let (parts, odd) = numbers.as_chunks::<2>();
    if !rest.is_empty() || !odd.is_empty() {
        return Err(corrupt(format_args!("a name of {} bytes", bytes.len())));
    }
    let part = |[column, value]: &[[u8; 8]; 2]| NamePart {
        column: i64::from_le_bytes(*column),
        value: i64::from_le_bytes(*value),
    };
    Ok(parts.iter().map(part).collect())
}

/// Inserts claims. A record claimed before gets a new claim and loses the old one: another run, compared in between, has treated
/// the old claim as a request that was not applied. Returns the id of the last claim.
pub(crate) async fn insert_claims(
    transaction: &mut Transaction,
    run: RunId,
    claims: &[Claim],
    now: i64,
) -> Result<Option<i64>, Error> {
    if claims.is_empty() {
        return Ok(None);
    }
    let dialect = transaction.dialect();
    let rows = transaction.run_all(counting_claims(dialect, run, claims)?.into()).await?;
    let Counted { ids, known } = counted(&rows)?;
    let inserting = inserting_claims(dialect, run, claims, ids, now);
    for insert in inserting.inserts {
        insert.execute(&mut *transaction).await?;
    }
    totals::change(transaction, run, |totals| totals.claims += claims.len() as i64 - known.len() as i64).await?;
    Ok(inserting.last)
}

/// Ids for claims, and the records among them that have a claim.
pub(crate) struct Counted {
    pub(crate) ids: Vec<i64>,
    pub(crate) known: Vec<Seq>,
}

/// Returns the queries for [`counted`].
pub(crate) fn counting_claims(dialect: Dialect, run: RunId, claims: &[Claim]) -> Result<[Query<Row>; 2], Error> {
    let seqs: Vec<Seq> = claims.iter().map(|claim| claim.seq).collect();
    let known = format!("SELECT seq FROM claim WHERE run = $1 AND seq {}", dialect.is_in("$2"));
    Ok([sql::query(next_ids(dialect)).bind(claims.len() as i64), sql::query(known).bind(run).bind(to_json(&seqs)?)])
}

/// Reads the results of [`counting_claims`].
pub(crate) fn counted(results: &[Results]) -> Result<Counted, Error> {
    let numbers = |nth: usize| -> Result<Vec<i64>, sqlx::Error> {
        results.get(nth).into_iter().flat_map(Results::rows).map(|row| row.try_get(0)).collect()
    };
    Ok(Counted { ids: numbers(0)?, known: numbers(1)? })
}

/// The statements that add claims, and the last of their ids.
pub(crate) struct Inserting {
    pub(crate) inserts: Vec<Query<Row>>,
    pub(crate) last: Option<i64>,
}

/// Gives claims their ids, of which there may be more.
pub(crate) fn inserting_claims(dialect: Dialect, run: RunId, claims: &[Claim], ids: Vec<i64>, now: i64) -> Inserting {
    let numbered: Vec<(i64, &Claim)> = ids.into_iter().zip(claims).collect();
    let last = numbered.iter().map(|(id, _)| *id).max();
    let mut inserts = Vec::new();
    for claims in numbered.chunks(dialect.rows_per_statement()) {
        let mut query = Builder::new(
            dialect,
            "INSERT INTO claim (run, seq, id, name, name_columns, name_parts, body, at, checksum) ",
        );
        query.push_rows(claims.iter().map(|(id, claim)| {
            let name = claim.name.as_ref().map(|name| name.digest.to_vec());
            let name_columns = claim.name.as_ref().map(|name| name.columns);
            let name_parts = claim.name.as_ref().map(|name| encode_parts(&name.parts));
            let stored = StoredClaim {
                run,
                seq: claim.seq,
                id: *id,
                name: name.as_deref().map(Cow::Borrowed),
                name_columns,
                name_parts: name_parts.as_deref().map(Cow::Borrowed),
                body: Cow::Borrowed(&claim.body),
                at: now,
            };
            let checksum = stored.checksum();
            [
                Value::from(run),
                claim.seq.into(),
                id.into(),
                name.into(),
                name_columns.into(),
                name_parts.into(),
                claim.body.to_vec().into(),
                now.into(),
                checksum.into(),
            ]
        }));
        query.push(
            " ON CONFLICT (run, seq) DO UPDATE SET id = excluded.id, name = excluded.name, \
             name_columns = excluded.name_columns, name_parts = excluded.name_parts, body = excluded.body, \
             at = excluded.at, checksum = excluded.checksum",
        );
        inserts.push(query.build_for(claims.len()));
    }
    Inserting { inserts, last }
}

/// Removes the claims in this range of a run that is about to be deleted, except for requests that were or may have been applied.
///
/// The last claim always stays, without content, so that ids are never reused.
pub(crate) async fn keep_claims(
    transaction: &mut Transaction,
    run: RunId,
    range: &RangeInclusive<Seq>,
) -> Result<(), Error> {
    const NOT_APPLIED: &str = "run = $1 AND seq BETWEEN $2 AND $3 AND NOT EXISTS (SELECT 1 FROM in_flight WHERE in_flight.run = claim.run \
        AND in_flight.seq = claim.seq) AND NOT EXISTS (SELECT 1 FROM outcome LEFT JOIN resolution \
        ON resolution.run = outcome.run AND resolution.seq = outcome.seq WHERE outcome.run = claim.run \
        AND outcome.seq = claim.seq AND COALESCE(resolution.state, outcome.state) IN ('sent', 'unknown'))";
    for statement in [
        format!(
            "UPDATE claim SET name = NULL, name_columns = NULL, name_parts = NULL, body = '', checksum = NULL WHERE id = (SELECT MAX(id) FROM claim) AND {NOT_APPLIED}"
        ),
        format!("DELETE FROM claim WHERE id < (SELECT MAX(id) FROM claim) AND {NOT_APPLIED}"),
    ] {
        sql::query(statement).bind(run).bind(range.start()).bind(range.end()).execute(&mut *transaction).await?;
    }
    Ok(())
}

/// Returns the query for new claim ids. The parameter is their number.
fn next_ids(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::Sqlite => {
            "WITH RECURSIVE counted (nth) AS (SELECT 1 UNION ALL SELECT nth + 1 FROM counted WHERE nth < $1) \
             SELECT (SELECT COALESCE(MAX(id), 0) FROM claim) + nth FROM counted ORDER BY nth"
        }
        Dialect::Postgres => "SELECT nextval('claim_id_value') FROM generate_series(1, $1)",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claim(body: u8, columns: i64, parts: &[(i64, i64)]) -> Claim {
        let mut digest = [columns as u8; 16];
        parts.iter().enumerate().for_each(|(place, (_, value))| digest[place] = *value as u8);
        let parts = parts.iter().map(|(column, value)| NamePart { column: *column, value: *value }).collect();
        Claim { seq: 0, name: Some(ClaimName { digest, columns, parts }), body: [body; 16] }
    }

    #[test]
    fn names_from_other_columns_are_compared_by_what_they_have_in_common() {
        use Likeness::{SameBody, SameRecord, SameWithOtherColumns};
        let (number, customer, order) = (1, 2, 3);
        let invoice = claim(1, 100, &[(number, 7)]);
        for (other, likeness) in [
            (claim(1, 100, &[(number, 7)]), Some(SameRecord)),
            (claim(2, 100, &[(number, 7)]), Some(SameRecord)),
            // Two invoices with equal values.
            (claim(1, 100, &[(number, 8)]), None),
            (claim(1, 200, &[(number, 7), (customer, 5)]), Some(SameWithOtherColumns)),
            (claim(2, 200, &[(number, 7), (customer, 5)]), None),
            (claim(1, 200, &[(number, 8), (customer, 5)]), None),
            // A column with another header.
            (claim(1, 300, &[(order, 5), (customer, 7)]), Some(SameWithOtherColumns)),
            (claim(1, 300, &[(order, 9)]), Some(SameBody)),
            (claim(2, 300, &[(order, 9)]), None),
            (claim(1, 300, &[]), Some(SameBody)),
            (Claim { name: None, ..invoice.clone() }, Some(SameBody)),
            (Claim { name: None, body: [2; 16], ..invoice.clone() }, None),
        ] {
            assert_eq!(invoice.likeness(&other), likeness, "{other:?}");
            if other.name.is_some() {
                assert_eq!(other.likeness(&invoice), likeness, "{other:?}");
            }
        }
    }

    #[test]
    fn parts_of_names_survive_encoding() {
        let parts = [NamePart { column: -1, value: 2 }, NamePart { column: i64::MAX, value: i64::MIN }];
        assert_eq!(decode_parts(&encode_parts(&parts)).expect("parts"), parts);
        assert!(decode_parts(&[0; 8]).is_err() && decode_parts(&[0; 17]).is_err());
        assert_eq!(decode_parts(&[]).expect("no parts"), []);
    }
}
