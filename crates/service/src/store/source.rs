//! How the store connects.

use std::time::Duration;

use sheetport_sql::{Dialect, Pool, Readers};
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sqlx::sqlite::{SqliteConnectOptions, SqlitePoolOptions};

/// Maximum wait for a connection.
const WAIT: Duration = Duration::from_secs(10);

/// A database, with its connection options.
#[derive(Clone, Debug)]
pub(super) enum Source {
    File(SqliteConnectOptions),
    Server {
        options: PgConnectOptions,
        /// Whether sessions may keep prepared statements.
        keeps_statements: bool,
    },
}

impl Source {
    pub(super) fn dialect(&self) -> Dialect {
        match self {
            Source::File(_) => Dialect::Sqlite,
            Source::Server { .. } => Dialect::Postgres,
        }
    }

    /// Returns this number of connections for reading.
    pub(super) fn readers(&self, connections: u32) -> Readers {
        Readers::new(self.pool(connections), connections)
    }

    /// Returns at most this number of connections, which are opened when they are needed.
    pub(super) fn pool(&self, connections: u32) -> Pool {
        match self {
            Source::File(options) => Pool::Sqlite(
                SqlitePoolOptions::new()
                    .max_connections(connections)
                    .acquire_timeout(WAIT)
                    .test_before_acquire(false)
                    .idle_timeout(None)
                    .max_lifetime(None)
                    .connect_lazy_with(options.clone()),
            ),
            Source::Server { options, keeps_statements } => {
                let pool = PgPoolOptions::new().max_connections(connections).acquire_timeout(WAIT);
                Pool::of_server(pool.connect_lazy_with(options.clone()), *keeps_statements)
            }
        }
    }
}
