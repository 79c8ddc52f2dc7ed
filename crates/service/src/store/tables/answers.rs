//! Responses to requests with an idempotency key, written in the transaction of the request.

use sheetport_sql::{query, query_as, query_scalar};

use super::transaction::Transaction;

/// How long a response is kept, in milliseconds.
const RETENTION: i64 = 24 * 60 * 60 * 1000;

/// Maximum number of responses per workspace; beyond it, the oldest are deleted.
const MAX_ANSWERS: i64 = 1_000_000;

/// The response to an earlier request with the same key.
pub(crate) struct KeptAnswer {
    /// Hash of method, path and body of the request.
    pub fingerprint: String,
    pub body: String,
}

impl Transaction<'_> {
    /// Returns the response to the request with this key, unless the response has expired.
    pub(crate) async fn kept_answer(&mut self, key: &str) -> Result<Option<KeptAnswer>, sqlx::Error> {
        let select = "SELECT fingerprint, body FROM idempotency_keys \
                      WHERE workspace = $1 AND idempotency_key = $2 AND created_at > $3";
        let oldest = self.now - RETENTION;
        let query = query_as(select).bind(self.workspace).bind(key).bind(oldest);
        let found: Option<(String, String)> = query.fetch_optional(&mut *self.sql).await?;
        Ok(found.map(|(fingerprint, body)| KeptAnswer { fingerprint, body }))
    }

    /// Stores the response to a request with a new key, and deletes the oldest responses.
    pub(crate) async fn keep_answer(&mut self, key: &str, answer: &KeptAnswer) -> Result<(), sqlx::Error> {
        let last: i64 = query_scalar("SELECT coalesce(max(position), 0) FROM idempotency_keys WHERE workspace = $1")
            .bind(self.workspace)
            .fetch_one(&mut *self.sql)
            .await?;
        query("DELETE FROM idempotency_keys WHERE workspace = $1 AND (created_at <= $2 OR position <= $3)")
            .bind(self.workspace)
            .bind(self.now - RETENTION)
            .bind(last + 1 - MAX_ANSWERS)
            .execute(&mut *self.sql)
            .await?;
        query(
            "INSERT INTO idempotency_keys (workspace, idempotency_key, position, created_at, fingerprint, body) \
             VALUES ($1, $2, $3, $4, $5, $6)",
        )
        .bind(self.workspace)
        .bind(key)
        .bind(last + 1)
        .bind(self.now)
        .bind(&answer.fingerprint)
        .bind(&answer.body)
        .execute(&mut *self.sql)
        .await?;
        Ok(())
    }
}
