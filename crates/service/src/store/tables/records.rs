//! SQL of the tables `lists` and `records`. The place of a record is the id of a list (a workspace and a kind) times 2^40, plus
//! the position. The place is the primary key, in SQLite the rowid: a page is a range of the table, and the last position a single search.

use sheetport_sql::{Builder, Dialect, Executor, Row, Transaction, Value, query, query_as, query_scalar};

use super::super::model::{Key, Kind, Page, Record};
use crate::timestamp;

/// Number of the lower bits of a place, which are the position.
const POSITION_BITS: u32 = 40;
const MAX_POSITION: i64 = (1 << POSITION_BITS) - 1;

/// $1 workspace, $2 kind. Has one row if the list exists.
macro_rules! bounds {
    () => {
        "(SELECT id << 40 AS start, (id + 1) << 40 AS beyond FROM lists WHERE workspace = $1 AND kind = $2) AS bounds"
    };
}

/// $3 position before the page, $4 last position of the page. The entries are in the order of the inner SELECT; an ORDER BY in the
/// aggregate would sort them again and double the time.
const PAGE: &str = concat!(
    "SELECT (SELECT coalesce(max(place), start) - start FROM records WHERE place > start AND place < beyond), \
     (SELECT string_agg(body, ',') FROM (SELECT body FROM records \
     WHERE place > start + $3 AND place <= start + $4 ORDER BY place) AS page) FROM ",
    bounds!()
);

const NEWEST: &str = concat!(
    "SELECT start >> 40, (SELECT coalesce(max(place), start) - start FROM records WHERE place > start AND place < beyond) FROM ",
    bounds!()
);

/// $3 position before the first record, $4 number of records.
const AFTER: &str = concat!(
    "SELECT place, id, number, external_id, created_at, updated_at, body, state FROM records, ",
    bounds!(),
    " WHERE place > start + $3 AND place < beyond ORDER BY place LIMIT $4"
);

const COUNTS: &str = "SELECT workspace, kind, max(place) - (lists.id << 40) FROM lists JOIN records ON list = lists.id \
GROUP BY lists.id, workspace, kind ORDER BY workspace, lists.id";

const SELECT: &str = "SELECT place, id, number, external_id, created_at, updated_at, body, state FROM records \
WHERE list = (SELECT id FROM lists WHERE workspace = ";

const INSERT: &str = "INSERT INTO records (place, list, id, number, external_id, created_at, updated_at, body, state) ";

const ON_CONFLICT: &str = " ON CONFLICT (list, id) DO UPDATE SET number = excluded.number, \
external_id = excluded.external_id, created_at = excluded.created_at, updated_at = excluded.updated_at, \
body = excluded.body, state = excluded.state";

/// Returns a page of a list and the total number of records.
pub(crate) async fn page(
    on: impl Executor,
    workspace: &str,
    kind: Kind,
    page: u64,
    limit: u64,
) -> Result<Page, sqlx::Error> {
    // Later positions are past the end of every list.
    let position = |pages: u64| i64::try_from(pages.saturating_mul(limit)).unwrap_or(MAX_POSITION).min(MAX_POSITION);
    let found: Option<(i64, Option<String>)> = query_as(PAGE)
        .bind(workspace)
        .bind(kind.name())
        .bind(position(page.saturating_sub(1)))
        .bind(position(page))
        .fetch_optional(on)
        .await?;
    let (total, entries) = found.unwrap_or_default();
    // The aggregate of an empty page is NULL.
    Ok(Page { entries: entries.unwrap_or_default(), total })
}

/// Returns records in the order of their positions, at most `limit` of those after a position.
pub(crate) async fn after(
    on: impl Executor,
    workspace: &str,
    kind: Kind,
    position: i64,
    limit: i64,
) -> Result<Vec<Record>, sqlx::Error> {
    let query = query(AFTER).bind(workspace).bind(kind.name()).bind(position.min(MAX_POSITION)).bind(limit);
    query.fetch_all(on).await?.iter().map(record).collect()
}

/// Returns the number of records by workspace and kind.
pub(crate) async fn counts(on: impl Executor) -> Result<Vec<(String, String, i64)>, sqlx::Error> {
    query_as(COUNTS).fetch_all(on).await
}

/// Returns the record with this key, if it exists.
pub(crate) async fn find(
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
    for values in values.chunks(sql.dialect().rows_per_statement()) {
        records.extend(find_some(&mut *sql, workspace, kind, key, values).await?);
    }
    Ok(records)
}

/// Returns the existing records with these keys, in any order. There are no more keys than rows per statement.
pub(crate) async fn find_some(
    on: impl Executor,
    workspace: &str,
    kind: Kind,
    key: Key,
    values: &[&str],
) -> Result<Vec<Record>, sqlx::Error> {
    let select = select(on.dialect(), workspace, kind, key, values).build_for(values.len());
    select.fetch_all(on).await?.iter().map(record).collect()
}

fn select(dialect: Dialect, workspace: &str, kind: Kind, key: Key, values: &[&str]) -> Builder {
    let mut select = Builder::new(dialect, SELECT);
    select.push_bind(workspace).push(" AND kind = ").push_bind(kind.name());
    select.push(") AND ").push(key.column()).push(" IN (").push_list(values.iter().copied());
    select
}

/// Returns the list of a workspace and kind, and the position of its newest record, or 0 if it is empty. Creates the list if it does
/// not exist.
pub(super) async fn newest(sql: &mut Transaction, workspace: &str, kind: Kind) -> Result<(i64, i64), sqlx::Error> {
    let newest = query_as(NEWEST).bind(workspace).bind(kind.name());
    if let Some(newest) = newest.fetch_optional(&mut *sql).await? {
        return Ok(newest);
    }
    let create = query_scalar("INSERT INTO lists (workspace, kind) VALUES ($1, $2) RETURNING id");
    Ok((create.bind(workspace).bind(kind.name()).fetch_one(sql).await?, 0))
}

/// Inserts new records and replaces existing ones, matched by id. A record keeps its place.
pub(super) async fn save(sql: &mut Transaction, records: &[Record]) -> Result<(), sqlx::Error> {
    for records in records.chunks(sql.dialect().rows_per_statement()) {
        let mut insert = Builder::new(sql.dialect(), INSERT);
        insert.push_rows(records.iter().map(|record| -> [Value; 9] {
            [
                ((record.list << POSITION_BITS) + record.position).into(),
                record.list.into(),
                (&record.id).into(),
                (&record.number).into(),
                (&record.external_id).into(),
                record.created_at.into(),
                record.updated_at.into(),
                (&record.body).into(),
                (&record.state).into(),
            ]
        }));
        insert.push(ON_CONFLICT);
        insert.build_for(records.len()).execute(&mut *sql).await?;
    }
    Ok(())
}

fn record(row: &Row) -> Result<Record, sqlx::Error> {
    let place: i64 = row.try_get(0)?;
    Ok(Record {
        list: place >> POSITION_BITS,
        position: place & MAX_POSITION,
        id: row.try_get(1)?,
        number: row.try_get(2)?,
        external_id: row.try_get(3)?,
        created_at: millisecond(row, 4)?,
        updated_at: millisecond(row, 5)?,
        body: row.try_get(6)?,
        state: row.try_get(7)?,
    })
}

/// Returns a time. Fails outside the range of the service.
fn millisecond(row: &Row, column: usize) -> Result<i64, sqlx::Error> {
    let millisecond = row.try_get(column)?;
    match timestamp::is_valid(millisecond) {
        true => Ok(millisecond),
        false => Err(sqlx::Error::Decode(format!("{millisecond} is not a time").into())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Store;

    #[tokio::test]
    async fn no_statement_scans_the_table() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = Store::open(&folder.path().join("plan.db"), std::time::Duration::ZERO, 0).await.expect("opened");
        let mut statements = vec![PAGE.to_owned(), NEWEST.to_owned(), AFTER.to_owned()];
        for key in [Key::Id, Key::Number, Key::ExternalId] {
            statements.push(select(Dialect::Sqlite, "w", Kind::Item, key, &["A", "B"]).sql().to_owned());
        }
        for sql in statements {
            let explain = format!("EXPLAIN QUERY PLAN {sql}");
            let plan = query(explain).fetch_all(store.readers()).await.expect("a plan");
            let plan: Vec<String> = plan.iter().map(|row| row.try_get("detail").expect("a text")).collect();
            assert!(plan.iter().any(|step| step.starts_with("SEARCH")), "{sql}: {plan:?}");
            assert!(!plan.iter().any(|step| step.starts_with("SCAN records")), "{sql}: {plan:?}");
            assert!(!plan.iter().any(|step| step.contains("TEMP B-TREE")), "{sql}: {plan:?}");
        }
        store.close().await;
    }
}
