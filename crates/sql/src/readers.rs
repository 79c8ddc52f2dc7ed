//! Connections that only read.
//!
//! Readers of SQLite keep their connections, because sqlx's pool tests each returned connection on the connection's thread, and doubles the
//! switches between threads.

use std::sync::{Mutex, MutexGuard, PoisonError};

use futures_util::future::BoxFuture;
use sqlx::pool::PoolConnection;
use sqlx::{Error, Executor as _, Sqlite};
use tokio::sync::Semaphore;

use super::dialect::Dialect;
use super::pool::{Executor, Pool, Results, run_on_sqlite};
use super::row::Row;
use super::statement::Statement;

/// Read-only connections. SQLite connections are kept between statements, because the pool of sqlx tests each returned connection, with
/// as many switches between threads as for a statement.
pub struct Readers {
    pool: Pool,
    connections: u32,
    permits: Semaphore,
    idle: Mutex<Vec<PoolConnection<Sqlite>>>,
}

impl Readers {
    /// Returns readers that use all `connections` of the pool.
    pub fn new(pool: Pool, connections: u32) -> Readers {
        Readers { pool, connections, permits: Semaphore::new(connections as usize), idle: Mutex::default() }
    }

    /// Waits for the reads in progress, then closes the connections.
    pub async fn close(&self) {
        // Fails if they are closed already.
        let all = self.permits.acquire_many(self.connections).await;
        self.permits.close();
        self.idle().clear();
        drop(all);
        self.pool.close().await;
    }

    /// Takes a SQLite connection, to be returned by [`Self::keep`]. A dropped connection is tested by the pool.
    async fn take(&self, pool: &sqlx::SqlitePool) -> Result<PoolConnection<Sqlite>, Error> {
        let idle = self.idle().pop();
        match idle {
            Some(connection) => Ok(connection),
            None => pool.acquire().await,
        }
    }

    fn keep(&self, connection: PoolConnection<Sqlite>) {
        self.idle().push(connection);
    }

    fn idle(&self) -> MutexGuard<'_, Vec<PoolConnection<Sqlite>>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Executor for &Readers {
    fn dialect(&self) -> Dialect {
        self.pool.dialect()
    }

    fn run<'e>(self, statement: Statement) -> BoxFuture<'e, Result<Results, Error>>
    where
        Self: 'e,
    {
        Box::pin(async move {
            let Pool::Sqlite(pool) = &self.pool else { return self.pool.run(statement).await };
            let _permit = self.permits.acquire().await.map_err(|_| Error::PoolClosed)?;
            let mut connection = self.take(pool).await?;
            let results = run_on_sqlite(&mut connection, statement).await?;
            self.keep(connection);
            Ok(results)
        })
    }

    fn first_row<'e>(self, statement: Statement) -> BoxFuture<'e, Result<Option<Row>, Error>>
    where
        Self: 'e,
    {
        Box::pin(async move {
            let Pool::Sqlite(pool) = &self.pool else { return self.pool.first_row(statement).await };
            let _permit = self.permits.acquire().await.map_err(|_| Error::PoolClosed)?;
            let mut connection = self.take(pool).await?;
            let (sql, arguments, is_kept) = statement.into_sqlite()?;
            let row = connection.fetch_optional(sqlx::query_with(sql, arguments).persistent(is_kept)).await?;
            self.keep(connection);
            Ok(row.map(Row::Sqlite))
        })
    }
}
