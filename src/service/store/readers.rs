//! The connections that read. They are few, all alike, and open for as long as the store is; so this is less than a
//! pool, and a read spares the two crossings to the connection's thread that sqlx's pool makes to ask how it is.

use std::sync::{Mutex, PoisonError};

use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{ConnectOptions, Connection};
use tokio::sync::{Semaphore, SemaphorePermit};

pub struct Readers {
    idle: Mutex<Vec<SqliteConnection>>,
    /// As many as there are idle connections.
    permits: Semaphore,
    count: u32,
}

impl Readers {
    pub async fn open(options: &SqliteConnectOptions, count: u32) -> Result<Readers, sqlx::Error> {
        let mut idle = Vec::new();
        for _ in 0..count {
            idle.push(options.connect().await?);
        }
        Ok(Readers { permits: Semaphore::new(idle.len()), idle: Mutex::new(idle), count })
    }

    /// A connection for one read, as soon as one is free.
    pub async fn get(&self) -> Result<Reader<'_>, sqlx::Error> {
        let permit = self.permits.acquire().await.map_err(|_| sqlx::Error::PoolClosed)?;
        let connection = self.idle().pop().ok_or(sqlx::Error::PoolClosed)?;
        Ok(Reader { connection: Some(connection), readers: self, _permit: permit })
    }

    /// Waits for the reads that are under way, and lets no more begin.
    pub async fn close(&self) {
        let all = self.permits.acquire_many(self.count).await;
        self.permits.close();
        drop(all);
        let idle = std::mem::take(&mut *self.idle());
        for connection in idle {
            if let Err(error) = connection.close().await {
                tracing::error!(%error, "the database could not be closed well");
            }
        }
    }

    fn idle(&self) -> std::sync::MutexGuard<'_, Vec<SqliteConnection>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A connection that goes back when this is dropped, also in the middle of a read whose caller has gone.
pub struct Reader<'a> {
    /// Empty only while this is being dropped.
    connection: Option<SqliteConnection>,
    readers: &'a Readers,
    /// Given back when this is gone, and so after the connection.
    _permit: SemaphorePermit<'a>,
}

impl Reader<'_> {
    pub fn connection(&mut self) -> Result<&mut SqliteConnection, sqlx::Error> {
        self.connection.as_mut().ok_or(sqlx::Error::PoolClosed)
    }
}

impl Drop for Reader<'_> {
    fn drop(&mut self) {
        self.readers.idle().extend(self.connection.take());
    }
}
