//! The tables of the ledger, and the steps that lead to them from each released version. `migrations/README.md` has the rules for
//! a new step.

use std::borrow::Cow;
use std::collections::BTreeSet;

use sheetport_sql::{Dialect, Pool};
use sqlx::migrate::{Migration, MigrationType, Migrator};
use sqlx::{AssertSqlSafe, Connection as _, Executor as _, SqlSafeStr, SqlStr, SqliteConnection, SqlitePool};
use tokio::sync::OnceCell;

use super::super::error::Error;
use super::ledger::Ledger;

/// A step from the tables of one version to those of the next.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    pub(super) version: i64,
    pub(super) name: &'static str,
    /// The statements for both databases.
    pub(crate) sql: &'static str,
    /// The statements that follow in PostgreSQL.
    pub(super) postgres: &'static str,
}

/// All steps, in order.
pub(crate) const STEPS: &[Step] = &[
    Step {
        version: 1,
        name: "ledger",
        sql: include_str!("migrations/0001_ledger.sql"),
        postgres: include_str!("migrations/0001_postgres.sql"),
    },
    Step { version: 2, name: "max_unknown", sql: include_str!("migrations/0002_max_unknown.sql"), postgres: "" },
    Step {
        version: 3,
        name: "origin",
        sql: include_str!("migrations/0003_origin.sql"),
        postgres: include_str!("migrations/0003_postgres.sql"),
    },
    Step { version: 4, name: "keep_lines", sql: include_str!("migrations/0004_keep_lines.sql"), postgres: "" },
    Step { version: 5, name: "accept", sql: include_str!("migrations/0005_accept.sql"), postgres: "" },
    Step { version: 6, name: "changes", sql: include_str!("migrations/0006_changes.sql"), postgres: "" },
    Step { version: 7, name: "undo", sql: include_str!("migrations/0007_undo.sql"), postgres: "" },
    Step {
        version: 8,
        name: "rows_and_blanks",
        sql: include_str!("migrations/0008_rows_and_blanks.sql"),
        postgres: "",
    },
    Step {
        version: 9,
        name: "doubt",
        sql: include_str!("migrations/0009_doubt.sql"),
        postgres: include_str!("migrations/0009_postgres.sql"),
    },
    Step { version: 10, name: "activities", sql: include_str!("migrations/0010_activities.sql"), postgres: "" },
    Step {
        version: 11,
        name: "turns",
        sql: include_str!("migrations/0011_turns.sql"),
        postgres: include_str!("migrations/0011_postgres.sql"),
    },
];

/// Name, table and statement of each table and index.
type Definitions = BTreeSet<(String, String, String)>;

/// The definitions of [`STEPS`]. A process may open its ledger several times, and making them takes a fifth of the time.
static CURRENT: OnceCell<Definitions> = OnceCell::const_new();

/// Damage reported for tables with an altered definition.
pub(super) const ALTERED: &str = "the definition of a table was altered";

/// Returns the migrations of a database.
pub(super) fn migrator(dialect: Dialect, steps: &[Step]) -> Migrator {
    let migrations = steps.iter().map(|step| {
        let sql = match dialect {
            Dialect::Sqlite => SqlStr::from_static(step.sql),
            // PostgreSQL has no WITHOUT ROWID.
            Dialect::Postgres => {
                let identity = " BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY";
                let tables = step.sql.replace(" INTEGER PRIMARY KEY", identity);
                let tables = tables.replace(" BLOB", " BYTEA").replace(") WITHOUT ROWID;", ");");
                AssertSqlSafe(format!("{tables}\n{}", step.postgres)).into_sql_str()
            }
        };
        Migration::new(step.version, Cow::Borrowed(step.name), MigrationType::Simple, sql, false)
    });
    Migrator { migrations: Cow::Owned(migrations.collect()), ..Migrator::DEFAULT }
}

impl Ledger {
    /// Checks that the tables of a file are defined as when they were created.
    ///
    /// # Errors
    /// [`Error::DamagedFile`] if they are not.
    pub(crate) async fn verify_tables(&self) -> Result<(), Error> {
        match (&self.reader, &self.file) {
            (Pool::Sqlite(reader), Some(path)) if !are_as_defined(reader, STEPS).await? => {
                Err(Error::DamagedFile { path: path.clone(), what: ALTERED.to_owned() })
            }
            _ => Ok(()),
        }
    }
}

/// Whether the tables and indexes of a file are defined as the steps that were applied to it define them. A flipped bit in a
/// definition could change what a statement means. Unknown steps are left to the migrator, which refuses them.
pub(super) async fn are_as_defined(pool: &SqlitePool, steps: &[Step]) -> Result<bool, sqlx::Error> {
    let is_new = "SELECT COUNT(*) = 0 FROM sqlite_master WHERE name = '_sqlx_migrations'";
    if sqlx::query_scalar(is_new).fetch_one(pool).await? {
        return Ok(true);
    }
    let applied: Vec<i64> = sqlx::query_scalar("SELECT version FROM _sqlx_migrations").fetch_all(pool).await?;
    if applied.iter().any(|version| steps.iter().all(|step| step.version != *version)) {
        return Ok(true);
    }
    let applied: Vec<_> = steps.iter().filter(|step| applied.contains(&step.version)).map(|step| step.sql).collect();
    let stored = definitions(&mut *pool.acquire().await?).await?;
    match applied.iter().eq(STEPS.iter().map(|step| &step.sql)) {
        true => Ok(stored == *CURRENT.get_or_try_init(|| defined_by(&applied)).await?),
        false => Ok(stored == defined_by(&applied).await?),
    }
}

/// Returns the definitions that statements make in an empty database.
async fn defined_by(statements: &[&'static str]) -> Result<Definitions, sqlx::Error> {
    let mut model = SqliteConnection::connect("sqlite::memory:").await?;
    for statement in statements {
        model.execute(*statement).await?;
    }
    let definitions = definitions(&mut model).await?;
    model.close().await?;
    Ok(definitions)
}

/// Returns the definitions in a database. SQLite keeps the text of the statements.
async fn definitions(connection: &mut SqliteConnection) -> Result<Definitions, sqlx::Error> {
    let query =
        "SELECT name, tbl_name, sql FROM sqlite_master WHERE sql IS NOT NULL AND tbl_name <> '_sqlx_migrations'";
    Ok(sqlx::query_as(query).fetch_all(connection).await?.into_iter().collect())
}
