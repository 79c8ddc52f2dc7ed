//! Refresh tokens that were replaced by new ones. Tokens are not stored otherwise.

use sqlx::sqlite::SqliteConnection;
use sqlx::{query, query_as};

use super::transaction::{Transaction, Work};

/// A valid refresh token that is about to be replaced by a new one.
#[derive(Debug)]
pub(crate) struct ReplaceToken {
    pub(crate) id: String,
    /// The token that it has replaced itself. It is void from now on, because its successor has arrived.
    pub(crate) predecessor: Option<String>,
    /// When it expires, in milliseconds since 1970.
    pub(crate) expires_at: i64,
    /// How long it may be used again after its first use, in milliseconds: the answer may have been lost.
    pub(crate) grace: i64,
}

impl Work for ReplaceToken {
    /// Whether the token may still be used.
    type Done = bool;

    async fn run(self, tx: &mut Transaction<'_>) -> Result<bool, sqlx::Error> {
        let now = tx.now;
        query("DELETE FROM replaced_tokens WHERE expires_at <= $1").bind(now).execute(&mut *tx.connection).await?;
        if is_void(tx.connection, &self.id, now, self.grace).await? {
            return Ok(false);
        }
        query("INSERT INTO replaced_tokens (id, replaced_at, is_void, expires_at) VALUES ($1, $2, FALSE, $3) ON CONFLICT (id) DO NOTHING")
            .bind(&self.id)
            .bind(now)
            .bind(self.expires_at)
            .execute(&mut *tx.connection)
            .await?;
        if let Some(predecessor) = &self.predecessor {
            query("UPDATE replaced_tokens SET is_void = TRUE WHERE id = $1")
                .bind(predecessor)
                .execute(&mut *tx.connection)
                .await?;
        }
        Ok(true)
    }
}

/// Returns whether a refresh token was replaced, and its successor has arrived or its grace is over.
pub(super) async fn is_void(
    connection: &mut SqliteConnection,
    id: &str,
    now: i64,
    grace: i64,
) -> Result<bool, sqlx::Error> {
    let found: Option<(i64, bool)> = query_as("SELECT replaced_at, is_void FROM replaced_tokens WHERE id = $1")
        .bind(id)
        .fetch_optional(connection)
        .await?;
    Ok(found.is_some_and(|(replaced_at, is_void)| is_void || now >= replaced_at.saturating_add(grace)))
}
