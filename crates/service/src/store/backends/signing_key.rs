//! The key for signing tokens, for services that share a database on a server.

use sheetport_sql::{self as sql, ServerAddress, ServerError};

use super::server;
use crate::error::Error;

/// Returns the key in the database. If there is none, stores `new` and returns it. Concurrent first uses all return the same key.
pub(crate) async fn shared_signing_key(address: &ServerAddress, new: &[u8]) -> Result<Vec<u8>, Error> {
    let pool = server::connect(address).await?.pool(1);
    let key = async {
        sql::query("INSERT INTO signing_key (id, key) VALUES (1, $1) ON CONFLICT (id) DO NOTHING")
            .bind(new.to_vec())
            .execute(&pool)
            .await?;
        sql::query_scalar("SELECT key FROM signing_key").fetch_one(&pool).await
    };
    let key = key.await;
    pool.close().await;
    key.map_err(|error| server::failed(address, ServerError::Database(error)))
}
