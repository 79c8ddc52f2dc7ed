//! SQL of the records table.

use jiff::Timestamp;

use super::model::{Key, Kind, Page, Record};
use crate::sql::{Builder, Dialect, Executor, Row, Transaction, Value, query_as, query_scalar};

/// $1 workspace, $2 kind, $3 position before the page, $4 last position of the page. The entries are in the order of
/// the inner SELECT, from the index; an ORDER BY in the aggregate would sort them again and take a third of the time.
const PAGE: &str = "\
SELECT (SELECT coalesce(max(position), 0) FROM records WHERE workspace = $1 AND kind = $2), \
 (SELECT string_agg(body, ',') FROM (SELECT body FROM records \
  WHERE workspace = $1 AND kind = $2 AND position > $3 AND position <= $4 ORDER BY position) AS page)";

/// $1 workspace, $2 kind.
const LAST_POSITION: &str = "SELECT coalesce(max(position), 0) FROM records WHERE workspace = $1 AND kind = $2";

pub(super) const SELECT: &str =
    "SELECT id, position, number, external_id, created_at, updated_at, body, state FROM records";

const INSERT: &str = "INSERT INTO records \
(workspace, kind, id, position, number, external_id, created_at, updated_at, body, state) ";

const ON_CONFLICT: &str = " ON CONFLICT (workspace, kind, id) DO UPDATE SET number = excluded.number, \
external_id = excluded.external_id, created_at = excluded.created_at, updated_at = excluded.updated_at, \
body = excluded.body, state = excluded.state";

/// Maximum number of rows per statement. Databases limit the number of parameters.
const MAX_ROWS: usize = 1000;

/// Returns a page of a list and the total number of records.
pub(super) async fn page(
    on: impl Executor,
    workspace: &str,
    kind: Kind,
    page: u64,
    limit: u64,
) -> Result<Page, sqlx::Error> {
    // Positions beyond `i64::MAX` are past the end of every list.
    let position = |pages: u64| i64::try_from(pages.saturating_mul(limit)).unwrap_or(i64::MAX);
    let (total, entries): (i64, Option<String>) = query_as(PAGE)
        .bind(workspace)
        .bind(kind.name())
        .bind(position(page.saturating_sub(1)))
        .bind(position(page))
        .fetch_one(on)
        .await?;
    // The aggregate of an empty page is NULL.
    Ok(Page { entries: entries.unwrap_or_default(), total })
}

/// Returns the record with this key, if it exists.
pub(super) async fn find(
    on: impl Executor,
    workspace: &str,
    kind: Kind,
    key: Key,
    value: &str,
) -> Result<Option<Record>, sqlx::Error> {
    let row = select(on.dialect(), workspace, kind, key, &[value]).build().fetch_optional(on).await?;
    row.as_ref().map(record).transpose()
}

/// Returns the existing records with these keys, in any order.
pub(super) async fn find_all(
    sql: &mut Transaction,
    workspace: &str,
    kind: Kind,
    key: Key,
    values: &[&str],
) -> Result<Vec<Record>, sqlx::Error> {
    let mut records = Vec::with_capacity(values.len());
    for values in values.chunks(MAX_ROWS) {
        let select = select(sql.dialect(), workspace, kind, key, values);
        for row in select.build().fetch_all(&mut *sql).await? {
            records.push(record(&row)?);
        }
    }
    Ok(records)
}

fn select(dialect: Dialect, workspace: &str, kind: Kind, key: Key, values: &[&str]) -> Builder {
    let mut select = Builder::new(dialect, SELECT);
    select.push(" WHERE workspace = ").push_bind(workspace).push(" AND kind = ").push_bind(kind.name());
    select.push(" AND ").push(key.column()).push(" IN (").push_list(values.iter().copied());
    select
}

/// Returns the position of the newest record, or 0 if the list is empty.
pub(super) async fn last_position(on: impl Executor, workspace: &str, kind: Kind) -> Result<i64, sqlx::Error> {
    query_scalar(LAST_POSITION).bind(workspace).bind(kind.name()).fetch_one(on).await
}

/// Inserts new records and replaces existing ones, matched by id. A record keeps its position.
pub(super) async fn save(
    sql: &mut Transaction,
    workspace: &str,
    kind: Kind,
    records: &[Record],
) -> Result<(), sqlx::Error> {
    for records in records.chunks(MAX_ROWS) {
        let mut insert = Builder::new(sql.dialect(), INSERT);
        insert.push_rows(records.iter().map(|record| -> [Value; 10] {
            [
                workspace.into(),
                kind.name().into(),
                (&record.id).into(),
                record.position.into(),
                (&record.number).into(),
                (&record.external_id).into(),
                record.created_at.into(),
                record.updated_at.into(),
                (&record.body).into(),
                (&record.state).into(),
            ]
        }));
        insert.push(ON_CONFLICT);
        insert.build().execute(&mut *sql).await?;
    }
    Ok(())
}

pub(super) fn record(row: &Row) -> Result<Record, sqlx::Error> {
    Ok(Record {
        id: row.try_get(0)?,
        position: row.try_get(1)?,
        number: row.try_get(2)?,
        external_id: row.try_get(3)?,
        created_at: millisecond(row, 4)?,
        updated_at: millisecond(row, 5)?,
        body: row.try_get(6)?,
        state: row.try_get(7)?,
    })
}

/// Returns a time. Fails outside the range of [`Timestamp`].
fn millisecond(row: &Row, column: usize) -> Result<i64, sqlx::Error> {
    let millisecond = row.try_get(column)?;
    Timestamp::from_millisecond(millisecond).map_err(|error| sqlx::Error::Decode(error.into()))?;
    Ok(millisecond)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::service::store::Store;

    #[tokio::test]
    async fn no_statement_scans_the_table() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = Store::open(&folder.path().join("plan.db"), std::time::Duration::ZERO, 0).await.expect("opened");
        let mut statements = vec![PAGE.to_owned(), LAST_POSITION.to_owned()];
        for key in [Key::Id, Key::Number, Key::ExternalId] {
            statements.push(select(Dialect::Sqlite, "w", Kind::Item, key, &["A", "B"]).sql().to_owned());
        }
        for sql in statements {
            let explain = format!("EXPLAIN QUERY PLAN {sql}");
            let plan = crate::sql::query(explain).fetch_all(store.reader()).await.expect("a plan");
            let plan: Vec<String> = plan.iter().map(|row| row.try_get("detail").expect("a text")).collect();
            assert!(plan.iter().any(|step| step.starts_with("SEARCH")), "{sql}: {plan:?}");
            assert!(!plan.iter().any(|step| step.starts_with("SCAN records")), "{sql}: {plan:?}");
        }
        store.close().await;
    }
}
