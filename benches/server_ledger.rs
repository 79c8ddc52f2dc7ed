//! Sending items with the ledger on a PostgreSQL server, beside the same with the ledger in a file.
//!
//! The server is the benchmark's own. Both ledgers are durable: the server syncs its log at each commit (`fsync`), as SQLite does.

use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use sheetport_ledger::{Ledger, ServerAddress};
use sheetport_testing::postgres::{Programs, Server, as_nobody, give_to_nobody};
use sqlx::Connection as _;
use sqlx::postgres::PgConnection;
use tempfile::TempDir;
use tokio::runtime::Builder;

use crate::child::Sample;
use crate::sending::{self, SEND_ITEMS};
use crate::{Job, Needs, Outcome, Row};

pub const SEND_SERVER: Row = Row {
    name: "send-server",
    compares: "sending with the ledger on a PostgreSQL server with fsync, beside the same with the ledger in a file",
    beside: "ledger in a file",
    needs: Needs::ServerAndPostgres,
    ours,
    bare: sending::ours,
    ..SEND_ITEMS
};

/// Maximum time until the server has counted the transactions of closed connections.
const COUNTING: Duration = Duration::from_secs(10);
const POLL: Duration = Duration::from_millis(20);

/// A PostgreSQL server with an empty database for each run.
pub struct Database {
    server: Server,
    _folder: TempDir,
}

impl Database {
    /// Starts a server. Returns `None` if PostgreSQL is not installed.
    pub fn start() -> Outcome<Option<Database>> {
        let Some(programs) = Programs::find() else { return Ok(None) };
        let temporary = std::env::temp_dir();
        // The disk of the ledger in a file, if the user of the server can reach its folder.
        let near = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let mut folder = tempfile::tempdir_in(near)?;
        give_to_nobody(folder.path())?;
        if !is_reachable(folder.path()) {
            folder = tempfile::tempdir_in(&temporary)?;
            give_to_nobody(folder.path())?;
        }
        let mut server = Server::create(programs, Some(&folder.path().join("data")), "trust")?;
        server.start(&["-c", "fsync=on", "-c", "synchronous_commit=on"])?;
        eprintln!("{}: PostgreSQL writes to {}, with fsync", SEND_SERVER.name, folder.path().display());
        Ok(Some(Database { server, _folder: folder }))
    }

    /// Creates the database of a run and returns its address.
    pub fn create(&self, run: u32) -> Outcome<String> {
        Ok(self.server.database(&format!("run_{run}"))?)
    }
}

/// Whether the user of the server can write to a folder.
fn is_reachable(folder: &Path) -> bool {
    let mut test = as_nobody(Path::new("test"));
    let test = test.arg("-w").arg(folder).stderr(Stdio::null());
    test.status().is_ok_and(|status| status.success())
}

fn ours(job: &Job) -> Outcome<Sample> {
    let database = job.database.as_deref().ok_or("no database")?;
    let address: ServerAddress = database.parse()?;
    let runtime = Builder::new_multi_thread().enable_all().build()?;
    let home = tempfile::tempdir_in(&job.folder)?;
    let connect = || runtime.block_on(Ledger::connect(&address, home.path()));
    let ledger = connect()?;
    let run = runtime.block_on(sending::plan(job, &ledger))?;
    runtime.block_on(ledger.close());
    let before = runtime.block_on(work_of(database))?;
    let ledger = connect()?;
    let sample = sending::send(job, &runtime, &ledger, run)?;
    runtime.block_on(ledger.close());
    let after = runtime.block_on(work_of(database))?;
    let per_thousand = |before: i64, after: i64| (after - before) as f64 * 1_000.0 / sample.seen.units as f64;
    Ok(Sample {
        transactions_per_thousand: Some(per_thousand(before.transactions, after.transactions)),
        log_bytes_per_thousand: Some(per_thousand(before.log_bytes, after.log_bytes)),
        ..sample
    })
}

/// What a server has done so far.
struct ServerWork {
    /// Transactions in the database of the run.
    transactions: i64,
    /// Bytes of write-ahead log.
    log_bytes: i64,
}

/// Asks a server for its work. A session has counted its transactions only when it has ended.
async fn work_of(database: &str) -> Outcome<ServerWork> {
    let name = database.split(['/', '?']).nth(3).ok_or("no name of a database")?;
    let mut connection = PgConnection::connect(&database.replacen(name, "postgres", 1)).await?;
    let until = Instant::now() + COUNTING;
    let sessions = "SELECT COUNT(*) FROM pg_stat_activity WHERE datname = $1";
    while sqlx::query_scalar::<_, i64>(sessions).bind(name).fetch_one(&mut connection).await? > 0 {
        if Instant::now() > until {
            return Err("a connection to the ledger stays open".into());
        }
        tokio::time::sleep(POLL).await;
    }
    let work = "SELECT xact_commit + xact_rollback, pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::BIGINT \
                FROM pg_stat_database WHERE datname = $1";
    let (transactions, log_bytes) = sqlx::query_as(work).bind(name).fetch_one(&mut connection).await?;
    connection.close().await?;
    Ok(ServerWork { transactions, log_bytes })
}
