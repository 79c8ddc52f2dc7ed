//! The records table: every record that is not an item, found by its keys. What a record holds is JSON here; only the
//! resources' own files know what it means.

use serde::Serialize;
use serde::de::DeserializeOwned;
use sqlx::sqlite::{SqliteConnection, SqliteRow};
use sqlx::{Row, query, query_as, query_scalar};

use super::items::EntryPage;
use super::readers::Readers;

/// $1 workspace, $2 kind, $3 position before the page, $4 last position of the page.
const PAGE: &str = "\
SELECT (SELECT coalesce(max(position), 0) FROM records WHERE workspace = $1 AND kind = $2), \
 (SELECT string_agg(shown, ',') FROM (SELECT shown FROM records \
  WHERE workspace = $1 AND kind = $2 AND position > $3 AND position <= $4 ORDER BY position) AS page)";

/// $1 workspace, $2 kind, $3 key.
const BY_ID: &str = "SELECT id, position, number, external_id, created_at, updated_at, shown, kept FROM records \
WHERE workspace = $1 AND kind = $2 AND id = $3";
const BY_NUMBER: &str = "SELECT id, position, number, external_id, created_at, updated_at, shown, kept FROM records \
WHERE workspace = $1 AND kind = $2 AND number = $3";
const BY_EXTERNAL_ID: &str = "SELECT id, position, number, external_id, created_at, updated_at, shown, kept \
FROM records WHERE workspace = $1 AND kind = $2 AND external_id = $3";

/// $1 workspace, $2 kind.
const LAST_POSITION: &str = "SELECT coalesce(max(position), 0) FROM records WHERE workspace = $1 AND kind = $2";

const INSERT: &str = "INSERT INTO records \
(workspace, kind, id, position, number, external_id, created_at, updated_at, shown, kept) \
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)";

const UPDATE: &str = "UPDATE records SET number = $4, external_id = $5, created_at = $6, updated_at = $7, shown = $8, \
kept = $9 WHERE workspace = $1 AND kind = $2 AND id = $3";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Company,
    Contact,
    Inventory,
    Order,
    Transaction,
    Subscription,
    Invoice,
    /// Workflows that an update triggered.
    Job,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Kind::Company => "company",
            Kind::Contact => "contact",
            Kind::Inventory => "inventory",
            Kind::Order => "order",
            Kind::Transaction => "transaction",
            Kind::Subscription => "subscription",
            Kind::Invoice => "invoice",
            Kind::Job => "job",
        }
    }
}

/// By what a record is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key<'a> {
    Id(&'a str),
    Number(&'a str),
    ExternalId(&'a str),
}

/// A record as the database has it; the columns are explained in its migration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    pub id: String,
    pub position: i64,
    pub number: Option<String>,
    pub external_id: Option<String>,
    pub created_at: i64,
    pub updated_at: i64,
    pub shown: String,
    pub kept: Option<String>,
}

impl Record {
    /// The record as it is read, as a `T`.
    pub fn shown_as<T: DeserializeOwned>(&self) -> Result<T, sqlx::Error> {
        serde_json::from_str(&self.shown).map_err(|error| self.damaged(&error))
    }

    /// What else is remembered of it; the default where there is nothing.
    pub fn kept_as<T: DeserializeOwned + Default>(&self) -> Result<T, sqlx::Error> {
        let Some(kept) = &self.kept else { return Ok(T::default()) };
        serde_json::from_str(kept).map_err(|error| self.damaged(&error))
    }

    fn damaged(&self, error: &serde_json::Error) -> sqlx::Error {
        sqlx::Error::Decode(format!("record {}: {error}", self.id).into())
    }
}

/// What is stored of a record, as JSON.
pub fn to_json(value: &impl Serialize) -> Result<String, sqlx::Error> {
    serde_json::to_string(value).map_err(|error| sqlx::Error::Encode(error.into()))
}

pub async fn page(
    readers: &Readers,
    workspace: &str,
    kind: Kind,
    page: u64,
    limit: u64,
) -> Result<EntryPage, sqlx::Error> {
    let position = |pages: u64| i64::try_from(pages.saturating_mul(limit)).unwrap_or(i64::MAX);
    let (total, entries): (i64, Option<String>) = query_as(PAGE)
        .bind(workspace)
        .bind(kind.name())
        .bind(position(page.saturating_sub(1)))
        .bind(position(page))
        .fetch_one(readers.get().await?.connection()?)
        .await?;
    Ok(EntryPage { entries: entries.unwrap_or_default(), total })
}

pub async fn find(
    connection: &mut SqliteConnection,
    workspace: &str,
    kind: Kind,
    key: Key<'_>,
) -> Result<Option<Record>, sqlx::Error> {
    let (sql, key) = match key {
        Key::Id(id) => (BY_ID, id),
        Key::Number(number) => (BY_NUMBER, number),
        Key::ExternalId(external_id) => (BY_EXTERNAL_ID, external_id),
    };
    // No key has a NUL, and PostgreSQL takes no text with one.
    if key.contains('\0') {
        return Ok(None);
    }
    let row = query(sql).bind(workspace).bind(kind.name()).bind(key).fetch_optional(connection).await?;
    row.as_ref().map(record).transpose()
}

/// The position that the next record of this kind gets.
pub async fn next_position(connection: &mut SqliteConnection, workspace: &str, kind: Kind) -> Result<i64, sqlx::Error> {
    let last: i64 = query_scalar(LAST_POSITION).bind(workspace).bind(kind.name()).fetch_one(connection).await?;
    Ok(last + 1)
}

pub async fn insert(
    connection: &mut SqliteConnection,
    workspace: &str,
    kind: Kind,
    record: &Record,
) -> Result<(), sqlx::Error> {
    query(INSERT)
        .bind(workspace)
        .bind(kind.name())
        .bind(&*record.id)
        .bind(record.position)
        .bind(record.number.as_deref())
        .bind(record.external_id.as_deref())
        .bind(record.created_at)
        .bind(record.updated_at)
        .bind(&*record.shown)
        .bind(record.kept.as_deref())
        .execute(connection)
        .await?;
    Ok(())
}

/// Replaces everything but the id and the position.
pub async fn update(
    connection: &mut SqliteConnection,
    workspace: &str,
    kind: Kind,
    record: &Record,
) -> Result<(), sqlx::Error> {
    query(UPDATE)
        .bind(workspace)
        .bind(kind.name())
        .bind(&*record.id)
        .bind(record.number.as_deref())
        .bind(record.external_id.as_deref())
        .bind(record.created_at)
        .bind(record.updated_at)
        .bind(&*record.shown)
        .bind(record.kept.as_deref())
        .execute(connection)
        .await?;
    Ok(())
}

fn record(row: &SqliteRow) -> Result<Record, sqlx::Error> {
    Ok(Record {
        id: row.try_get(0)?,
        position: row.try_get(1)?,
        number: row.try_get(2)?,
        external_id: row.try_get(3)?,
        created_at: row.try_get(4)?,
        updated_at: row.try_get(5)?,
        shown: row.try_get(6)?,
        kept: row.try_get(7)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::service::store::Store;

    #[tokio::test]
    async fn no_statement_scans_the_table() {
        let folder = tempfile::tempdir().expect("a folder");
        let (store, closer) =
            Store::open(&folder.path().join("plan.db"), std::time::Duration::ZERO).await.expect("opened");
        for sql in [PAGE, BY_ID, BY_NUMBER, BY_EXTERNAL_ID, LAST_POSITION, UPDATE] {
            let explain = sqlx::AssertSqlSafe(format!("EXPLAIN QUERY PLAN {sql}"));
            let mut reader = store.readers.get().await.expect("a reader");
            let plan = query(explain).fetch_all(reader.connection().expect("open")).await.expect("a plan");
            let plan: Vec<String> = plan.iter().map(|row| row.get("detail")).collect();
            assert!(plan.iter().any(|step| step.starts_with("SEARCH")), "{sql}: {plan:?}");
            assert!(!plan.iter().any(|step| step.starts_with("SCAN records")), "{sql}: {plan:?}");
        }
        closer.close().await;
    }
}
