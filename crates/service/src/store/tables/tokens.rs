//! Replaced refresh tokens. No other tokens are stored.

use sheetport_sql::{Executor, query, query_as};

use super::transaction::{Transaction, Work};

/// A valid refresh token to be replaced.
#[derive(Debug)]
pub(crate) struct ReplaceToken {
    pub id: String,
    /// The token replaced by this one. Revoked now, because using this token proves that the client has received it.
    pub predecessor: Option<String>,
    /// The time of expiry, in milliseconds since 1970.
    pub expires_at: i64,
    /// Grace period for using the token again after its first use, in milliseconds: the response may have been lost.
    pub grace: i64,
}

impl Work for ReplaceToken {
    /// Whether the token may still be used.
    type Done = bool;

    async fn run(self, tx: &mut Transaction<'_>) -> Result<bool, sqlx::Error> {
        let now = tx.now;
        // Other workspaces, in other services, may delete the same rows.
        let expired = format!(
            "DELETE FROM replaced_tokens WHERE id IN (SELECT id FROM replaced_tokens WHERE expires_at <= $1{})",
            tx.sql.dialect().for_update_of_free_rows()
        );
        query(expired).bind(now).execute(&mut *tx.sql).await?;
        if is_void(&mut *tx.sql, &self.id, now, self.grace).await? {
            return Ok(false);
        }
        query("INSERT INTO replaced_tokens (id, replaced_at, is_void, expires_at) VALUES ($1, $2, 0, $3) ON CONFLICT (id) DO NOTHING")
            .bind(&self.id)
            .bind(now)
            .bind(self.expires_at)
            .execute(&mut *tx.sql)
            .await?;
        if let Some(predecessor) = &self.predecessor {
            query("UPDATE replaced_tokens SET is_void = 1 WHERE id = $1")
                .bind(predecessor)
                .execute(&mut *tx.sql)
                .await?;
        }
        Ok(true)
    }
}

/// Returns whether a refresh token was replaced, and its successor was used or its grace period is over.
pub(crate) async fn is_void(on: impl Executor, id: &str, now: i64, grace: i64) -> Result<bool, sqlx::Error> {
    let select = "SELECT replaced_at, CAST(is_void AS BIGINT) FROM replaced_tokens WHERE id = $1";
    let found: Option<(i64, i64)> = query_as(select).bind(id).fetch_optional(on).await?;
    Ok(found.is_some_and(|(replaced_at, is_void)| is_void != 0 || now >= replaced_at.saturating_add(grace)))
}
