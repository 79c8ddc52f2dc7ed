//! The journal: each request with its outcome and its changes. Changes are written in the transaction that makes them, and
//! requests with the next writes after their response.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::{Map, Value};
use sheetport_sql::{self as sql, Builder, Dialect, Executor, Readers, Transaction, query, query_scalar};
use tokio::sync::Notify;

use super::super::model::{Kind, WriteOutcome};
use crate::token_texts::masked;

/// Maximum number of requests waiting to be written; beyond it, the oldest are dropped.
const MAX_WAITING: usize = 20_000;

/// Number of journal numbers that a service reserves at a time. All services on a database share the numbers.
const BLOCK: i64 = 100;

/// The number of the advisory lock for deleting the oldest requests, held by one service at a time.
const PRUNING: i64 = 0x7368_7072;

/// Maximum number of characters of a value in a change.
const MAX_VALUE: usize = 200;

/// A request and its result.
#[derive(Clone, Debug)]
pub(crate) struct RequestEntry {
    pub number: i64,
    pub ctx_id: String,
    /// The time of arrival, in milliseconds since 1970.
    pub at: i64,
    pub is_write: bool,
    pub workspace: Option<String>,
    pub method: String,
    pub path: String,
    pub query: Option<String>,
    pub key: Option<String>,
    /// Hash of method, path and body.
    pub content: Option<i64>,
    pub idempotency_key: Option<String>,
    /// `None` if the client got no response.
    pub status: Option<u16>,
    pub micros: i64,
    pub fault: Option<String>,
    pub reason: Option<String>,
}

/// The effect of a request on a record.
#[derive(Clone, Debug)]
pub(crate) struct Change {
    pub(super) request: i64,
    pub(super) kind: Kind,
    pub(super) id: String,
    pub(super) outcome: WriteOutcome,
    /// The changed fields, each with its old and new value.
    pub(super) fields: Option<Map<String, Value>>,
}

/// The requests waiting to be written.
#[derive(Debug)]
pub(crate) struct Journal {
    /// Number of requests to keep, of writes and of others.
    keeps: u64,
    /// The numbers of the next requests.
    numbers: tokio::sync::Mutex<Range<i64>>,
    waiting: Mutex<VecDeque<RequestEntry>>,
    added: Notify,
    since_pruning: AtomicU64,
}

impl Journal {
    /// Continues the journal of a database.
    pub(crate) async fn open(reader: &Readers, keeps: u64) -> Result<Journal, sqlx::Error> {
        let numbers = match reader.dialect() {
            Dialect::Sqlite => {
                // A killed service may have stored changes for a request that was not written yet.
                let last = "SELECT max(coalesce((SELECT max(number) FROM requests), 0), coalesce((SELECT max(request) FROM changes), 0))";
                let last: i64 = query_scalar(last).fetch_one(reader).await?;
                last + 1..i64::MAX
            }
            Dialect::Postgres => 0..0,
        };
        Ok(Journal {
            keeps,
            numbers: tokio::sync::Mutex::new(numbers),
            waiting: Mutex::default(),
            added: Notify::new(),
            // Prunes soon after the start, because the number of entries to keep may have decreased.
            since_pruning: AtomicU64::new(u64::MAX / 2),
        })
    }

    /// Returns the number of the next request, or `None` without a journal, or if the database has none.
    pub(crate) async fn next_number(&self, reader: &Readers) -> Option<i64> {
        if self.keeps == 0 {
            return None;
        }
        let mut numbers = self.numbers.lock().await;
        if numbers.is_empty() {
            match query_scalar("SELECT nextval('request_block')").fetch_one(reader).await {
                Ok::<i64, _>(block) => *numbers = (block - 1) * BLOCK + 1..block * BLOCK + 1,
                Err(error) => {
                    tracing::warn!(%error, "a request is not in the journal, because it got no number");
                    return None;
                }
            }
        }
        numbers.next()
    }

    /// Adds a request, to be written soon.
    pub(crate) fn add(&self, entry: RequestEntry) {
        let mut waiting = self.waiting();
        if waiting.len() >= MAX_WAITING {
            waiting.pop_front();
            tracing::warn!("the journal has lost a request, because the disk is too slow or full");
        }
        waiting.push_back(entry);
        drop(waiting);
        self.added.notify_one();
    }

    /// Waits until a request was added.
    pub(crate) async fn added(&self) {
        self.added.notified().await;
    }

    /// Takes the waiting requests. The caller puts them back if it can't write them.
    pub(crate) fn take(&self) -> VecDeque<RequestEntry> {
        std::mem::take(&mut *self.waiting())
    }

    /// Puts back requests that could not be written.
    pub(crate) fn put_back(&self, mut entries: VecDeque<RequestEntry>) {
        let mut waiting = self.waiting();
        entries.append(&mut waiting);
        let excess = entries.len().saturating_sub(MAX_WAITING);
        entries.drain(..excess);
        *waiting = entries;
    }

    fn waiting(&self) -> MutexGuard<'_, VecDeque<RequestEntry>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes requests, and from time to time deletes the oldest.
    pub(crate) async fn write(
        &self,
        sql: &mut Transaction,
        entries: &VecDeque<RequestEntry>,
    ) -> Result<(), sqlx::Error> {
        let rows: Vec<&RequestEntry> = entries.iter().collect();
        for rows in rows.chunks(sql.dialect().rows_per_statement()) {
            insert_requests(sql, rows).await?;
        }
        let written = entries.len() as u64;
        if self.since_pruning.fetch_add(written, Ordering::Relaxed).saturating_add(written) > self.keeps / 10 {
            self.since_pruning.store(0, Ordering::Relaxed);
            self.prune(sql).await?;
        }
        Ok(())
    }

    /// Deletes the oldest requests and their changes.
    async fn prune(&self, sql: &mut Transaction) -> Result<(), sqlx::Error> {
        if sql.dialect() == Dialect::Postgres {
            // Two services would wait for each other's rows.
            let lock = query_scalar("SELECT CAST(pg_try_advisory_xact_lock($1) AS INT)::BIGINT").bind(PRUNING);
            let is_ours: i64 = lock.fetch_one(&mut *sql).await?;
            if is_ours == 0 {
                return Ok(());
            }
        }
        let keeps = i64::try_from(self.keeps).unwrap_or(i64::MAX);
        for is_write in [true, false] {
            let oldest = "SELECT number FROM requests WHERE is_write = $1 ORDER BY number DESC LIMIT 1 OFFSET $2";
            let newest_to_delete: Option<i64> =
                query_scalar(oldest).bind(i64::from(is_write)).bind(keeps).fetch_optional(&mut *sql).await?;
            let Some(newest_to_delete) = newest_to_delete else { continue };
            query("DELETE FROM requests WHERE is_write = $1 AND number <= $2")
                .bind(i64::from(is_write))
                .bind(newest_to_delete)
                .execute(&mut *sql)
                .await?;
            if is_write {
                let changes = "DELETE FROM changes WHERE request <= $1";
                query(changes).bind(newest_to_delete).execute(&mut *sql).await?;
            }
        }
        Ok(())
    }
}

async fn insert_requests(sql: &mut Transaction, rows: &[&RequestEntry]) -> Result<(), sqlx::Error> {
    let mut insert = Builder::new(
        sql.dialect(),
        "INSERT INTO requests (number, ctx_id, at, is_write, workspace, method, path, query, record_key, content, \
         idempotency_key, status, micros, fault, reason) ",
    );
    insert.push_rows(rows.iter().map(|entry| -> [sql::Value; 15] {
        [
            entry.number.into(),
            (&entry.ctx_id).into(),
            entry.at.into(),
            entry.is_write.into(),
            (&entry.workspace).into(),
            (&entry.method).into(),
            (&entry.path).into(),
            (&entry.query).into(),
            (&entry.key).into(),
            entry.content.into(),
            (&entry.idempotency_key).into(),
            entry.status.map(i64::from).into(),
            entry.micros.into(),
            (&entry.fault).into(),
            (&entry.reason).into(),
        ]
    }));
    insert.build_for(rows.len()).execute(sql).await?;
    Ok(())
}

/// Writes the changes of a workspace.
pub(crate) async fn write_changes(
    sql: &mut Transaction,
    workspace: &str,
    changes: &[Change],
) -> Result<(), sqlx::Error> {
    for changes in changes.chunks(sql.dialect().rows_per_statement()) {
        let insert = "INSERT INTO changes (request, workspace, kind, record_id, outcome, fields) ";
        let mut insert = Builder::new(sql.dialect(), insert);
        insert.push_rows(changes.iter().map(|change| -> [sql::Value; 6] {
            [
                change.request.into(),
                workspace.into(),
                change.kind.name().into(),
                (&change.id).into(),
                change.outcome.name().into(),
                change.fields.as_ref().map(|fields| Value::Object(fields.clone()).to_string()).into(),
            ]
        }));
        insert.build_for(changes.len()).execute(&mut *sql).await?;
    }
    Ok(())
}

/// Returns a change of a value for the journal. Texts that look like a token are masked, and long values are cut.
pub(super) fn changed_value(old: Option<&Value>, new: &Value) -> Value {
    Value::Array(vec![short(old.unwrap_or(&Value::Null)), short(new)])
}

fn short(value: &Value) -> Value {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Array(_) | Value::Object(_) => value.to_string(),
        _ => return value.clone(),
    };
    let masked = masked(&text);
    match masked.char_indices().nth(MAX_VALUE) {
        Some((end, _)) => Value::from(format!("{}…", &masked[..end])),
        None if masked == text => value.clone(),
        None => Value::from(masked),
    }
}

/// Returns the changed fields of a record, with their old and new values.
pub(super) fn differences(old: &Map<String, Value>, new: &Map<String, Value>) -> Map<String, Value> {
    let changed = new.iter().filter(|(name, value)| *name != "updated_at" && old.get(*name) != Some(value));
    changed.map(|(name, value)| (name.clone(), changed_value(old.get(name), value))).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn changes_have_the_old_and_the_new_values_of_changed_fields() {
        let object = |value: Value| value.as_object().cloned().expect("an object");
        let old = object(json!({"price": 1, "name": "Bolt", "updated_at": "a", "tax": null}));
        let new = object(json!({"price": 2, "name": "Bolt", "updated_at": "b", "tax": "x".repeat(300)}));
        let cut = format!("{}…", "x".repeat(200));
        assert_eq!(differences(&old, &new), object(json!({"price": [1, 2], "tax": [null, cut]})));
        let new = object(json!({"price": 1, "name": "eyJhbGci.eyJ3.sig", "tax": ["see eyJhbGci.eyJ3.sig"]}));
        let masked = json!({"name": ["Bolt", "<token>"], "tax": [null, r#"["see <token>"]"#]});
        assert_eq!(differences(&old, &new), object(masked));
    }
}
