//! Reads for `serve show`: records, requests and their changes. Independent of a running service.

use std::path::Path;

use serde_json::Value;
use sheetport_sql::{Dialect, Row, ServerAddress, ServerError, Transaction, query};

use super::backends::{file, server};
use super::model::{Kind, Record};
use super::tables::records;
use crate::error::Error;

const REQUEST: &str = "number, ctx_id, at, workspace, method, path, query, record_key, content, idempotency_key, status, \
micros, fault, reason";

/// A snapshot of a database.
pub(crate) struct Overview {
    sql: Transaction,
}

/// A request of the journal.
#[derive(Clone, Debug)]
pub(crate) struct StoredRequest {
    pub number: i64,
    pub ctx_id: String,
    pub at: i64,
    pub workspace: Option<String>,
    pub method: String,
    pub path: String,
    pub query: Option<String>,
    pub key: Option<String>,
    pub content: Option<i64>,
    pub idempotency_key: Option<String>,
    pub status: Option<i64>,
    pub micros: i64,
    pub fault: Option<String>,
    pub reason: Option<String>,
}

/// The effect of a request on a record.
#[derive(Clone, Debug)]
pub(crate) struct Change {
    pub request: i64,
    pub workspace: String,
    pub kind: String,
    pub record_id: String,
    /// `created`, `updated` or `unchanged`.
    pub outcome: String,
    /// The changed fields with their old and new values.
    pub fields: Option<Value>,
}

impl Overview {
    /// Opens an existing file.
    pub(crate) async fn open(path: &Path) -> Result<Overview, Error> {
        Ok(Overview { sql: file::open_snapshot(path).await? })
    }

    /// Opens the database on a server.
    pub(crate) async fn connect(address: &ServerAddress) -> Result<Overview, Error> {
        let begun = server::connect(address).await?.pool(1).begin_snapshot().await;
        Ok(Overview { sql: begun.map_err(|error| server::failed(address, ServerError::Database(error)))? })
    }

    /// Returns the number of records by workspace and kind.
    pub(crate) async fn counts(&mut self) -> Result<Vec<(String, String, i64)>, sqlx::Error> {
        records::counts(&mut self.sql).await
    }

    /// Returns the records after a position, in the order of creation.
    pub(crate) async fn records(
        &mut self,
        workspace: &str,
        kind: Kind,
        after: i64,
        limit: i64,
    ) -> Result<Vec<Record>, sqlx::Error> {
        records::after(&mut self.sql, workspace, kind, after, limit).await
    }

    /// Returns all requests in order, or the request with this number.
    pub(crate) async fn requests(&mut self, number: Option<i64>) -> Result<Vec<StoredRequest>, sqlx::Error> {
        // On a server, each service has a separate range of numbers.
        let order = if self.sql.dialect() == Dialect::Postgres { "at, number" } else { "number" };
        let select = format!("SELECT {REQUEST} FROM requests WHERE $1 IS NULL OR number = $1 ORDER BY {order}");
        let rows = query(select).bind(number).fetch_all(&mut self.sql).await?;
        rows.iter().map(request).collect()
    }

    /// Returns the changes of all requests in order.
    pub(crate) async fn changes(&mut self) -> Result<Vec<Change>, sqlx::Error> {
        let select = "SELECT request, workspace, kind, record_id, outcome, fields FROM changes ORDER BY request";
        query(select).fetch_all(&mut self.sql).await?.iter().map(change).collect()
    }
}

fn request(row: &Row) -> Result<StoredRequest, sqlx::Error> {
    Ok(StoredRequest {
        number: row.try_get(0)?,
        ctx_id: row.try_get(1)?,
        at: row.try_get(2)?,
        workspace: row.try_get(3)?,
        method: row.try_get(4)?,
        path: row.try_get(5)?,
        query: row.try_get(6)?,
        key: row.try_get(7)?,
        content: row.try_get(8)?,
        idempotency_key: row.try_get(9)?,
        status: row.try_get(10)?,
        micros: row.try_get(11)?,
        fault: row.try_get(12)?,
        reason: row.try_get(13)?,
    })
}

fn change(row: &Row) -> Result<Change, sqlx::Error> {
    let fields: Option<String> = row.try_get(5)?;
    Ok(Change {
        request: row.try_get(0)?,
        workspace: row.try_get(1)?,
        kind: row.try_get(2)?,
        record_id: row.try_get(3)?,
        outcome: row.try_get(4)?,
        fields: fields.and_then(|fields| serde_json::from_str(&fields).ok()),
    })
}
