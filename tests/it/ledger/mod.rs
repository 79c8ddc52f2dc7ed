//! The ledger: in both databases, in a file, and on a server. Foreign databases are left alone, and the queries in
//! docs/ledger.md work.

pub mod contract;
mod gates;
mod large;
#[cfg(unix)]
mod lost_commits;
mod server;
mod turns;

use std::path::Path;

use sheetport_findings::Code;
use sheetport_ledger::{Error, Ledger, Outcome, Problem, RecordState, Resolution, RunId};
use sqlx::sqlite::{SqliteColumn, SqliteConnectOptions};
use sqlx::{Column, ConnectOptions, Connection, Row};

use crate::faults::about;
use contract::{Place, outcomes, problem};

async fn open(folder: &Path) -> Ledger {
    Ledger::open(folder).await.unwrap()
}

/// Plans `count` records: of every ten, the first is skipped and the second is rejected.
async fn planned(count: usize) -> (Place, Ledger, RunId) {
    let place = Place::file();
    let (ledger, run) = contract::planned(&place, count).await;
    (place, ledger, run)
}

/// Executes a statement on the file of a ledger in `folder`.
async fn execute(folder: &Path, sql: &str) {
    let options = SqliteConnectOptions::new().filename(folder.join("ledger.db"));
    let mut connection = options.connect().await.unwrap();
    sqlx::query(sqlx::AssertSqlSafe(sql)).execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
}

#[tokio::test]
async fn withdrawing_many_records_takes_linear_time() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = open(folder.path()).await;
    let mut plan = ledger.begin_plan(&about(), 1).await.unwrap();
    let began = std::time::Instant::now();
    for seq in 0..100_000 {
        plan.withdraw(seq, RecordState::Rejected, problem(), 1);
    }
    assert!(began.elapsed().as_secs() < 3, "{:?}", began.elapsed());
}

/// Asserts that opening the ledger in `folder` fails and leaves the database unchanged.
async fn assert_refused(folder: &Path, words: &str) {
    let database = folder.join("ledger.db");
    let before = std::fs::read(&database).ok();
    match Ledger::open(folder).await {
        Err(
            error @ (Error::Open { .. }
            | Error::NewerVersion { .. }
            | Error::DevelopmentVersion { .. }
            | Error::DamagedFile { .. }),
        ) => {
            let said = error.to_string();
            assert!(said.contains(words) && said.contains(&database.display().to_string()), "{said}");
        }
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("the ledger was opened"),
    }
    assert!(std::fs::read(&database).ok() == before, "the database was changed");
}

#[tokio::test]
async fn a_file_that_is_not_a_database_is_refused_and_unchanged() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("ledger.db"), "not a database, but somebody's only copy of it".repeat(100))
        .unwrap();
    assert_refused(folder.path(), "not a database").await;
}

#[tokio::test]
async fn a_database_of_another_program_is_refused_and_unchanged() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger.db");
    let options = SqliteConnectOptions::new().filename(&path).create_if_missing(true);
    let pool = sqlx::SqlitePool::connect_with(options).await.unwrap();
    sqlx::query("CREATE TABLE run (id BIGINT, distance BIGINT)").execute(&pool).await.unwrap();
    pool.close().await;
    assert_refused(folder.path(), "a database of another program").await;
}

/// The state after a kill during the creation of the database.
#[tokio::test]
async fn an_interrupted_creation_is_rolled_back_and_repeated() {
    let (made, found) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let path = made.path().join("ledger.db");
    let options = SqliteConnectOptions::new().filename(&path).create_if_missing(true).pragma("cache_size", "1");
    let mut connection = options.connect().await.unwrap();
    for sql in [
        "PRAGMA user_version = 7",
        "BEGIN",
        "CREATE TABLE half (made BLOB)",
        "INSERT INTO half WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500) \
         SELECT randomblob(1000) FROM n",
    ] {
        sqlx::query(sql).execute(&mut connection).await.unwrap();
    }
    for name in ["ledger.db", "ledger.db-journal"] {
        std::fs::copy(made.path().join(name), found.path().join(name)).unwrap();
    }
    let ledger = open(found.path()).await;
    assert!(ledger.runs(1).await.unwrap().is_empty());
}

#[tokio::test]
async fn a_damaged_ledger_is_not_replaced() {
    let (folder, ledger, run) = planned(3_000).await;
    ledger.close().await;
    let path = folder.path().join("ledger.db");
    let mut bytes = std::fs::read(&path).unwrap();
    let from = bytes.len() / 3;
    bytes[from..].fill(0x5A);
    std::fs::write(&path, &bytes).unwrap();
    let error = match Ledger::open(folder.path()).await {
        Err(error) => error,
        Ok(ledger) => match ledger.accounting(run).await {
            Err(error) => error,
            Ok(_) => ledger.record_block(run, 0).await.map(|_| ()).unwrap_err(),
        },
    };
    let hint = error.hint().unwrap();
    assert!(hint.contains("backup") || hint.contains("never replaced"), "{error}: {hint}");
    assert!(std::fs::read(&path).unwrap() == bytes, "the database was changed");
}

#[tokio::test]
async fn a_ledger_of_a_newer_version_is_refused_and_unchanged() {
    let folder = tempfile::tempdir().unwrap();
    open(folder.path()).await.close().await;
    let insert = "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time) \
                  VALUES (99, 'later', TRUE, X'00', 1)";
    execute(folder.path(), insert).await;
    assert_refused(folder.path(), "a newer version of sheetport").await;
}

#[tokio::test]
async fn a_ledger_with_different_tables_is_refused_and_unchanged() {
    let folder = tempfile::tempdir().unwrap();
    open(folder.path()).await.close().await;
    execute(folder.path(), "UPDATE _sqlx_migrations SET checksum = X'00'").await;
    assert_refused(folder.path(), "a development version of sheetport").await;
}

#[tokio::test]
async fn an_unwritable_path_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    assert!(matches!(Ledger::open(&file).await, Err(Error::Open { .. })));
    assert!(matches!(Ledger::open(&file.join("below")).await, Err(Error::Open { .. })));
}

#[cfg(unix)]
#[tokio::test]
async fn a_read_only_folder_is_refused() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o500)).unwrap();
    // Root can write to read-only folders.
    if std::fs::write(folder.path().join("probe"), "").is_err() {
        assert!(matches!(Ledger::open(folder.path()).await, Err(Error::Open { .. })));
    }
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o700)).unwrap();
}

/// Returns the rows of the nth SQL example in docs/ledger.md, as JSON objects.
async fn example(folder: &Path, nth: usize) -> Vec<serde_json::Value> {
    let docs = include_str!("../../../docs/ledger.md");
    let query = docs.split("```sql\n").nth(nth + 1).unwrap().split("```").next().unwrap();
    let options = SqliteConnectOptions::new().filename(folder.join("ledger.db")).read_only(true);
    let mut connection = options.connect().await.unwrap();
    let rows = sqlx::query(sqlx::AssertSqlSafe(query)).fetch_all(&mut connection).await.unwrap();
    rows.iter()
        .map(|row| {
            let value = |column: &SqliteColumn| match row.try_get::<Option<i64>, _>(column.name()) {
                Ok(number) => serde_json::json!(number),
                Err(_) => serde_json::json!(row.get::<Option<String>, _>(column.name())),
            };
            row.columns().iter().map(|column| (column.name().to_owned(), value(column))).collect()
        })
        .collect()
}

#[tokio::test]
async fn the_documented_queries_answer_support_questions() {
    let (folder, ledger, run) = planned(100).await;
    let refused = |seq, field: &str, ctx_id: &str| Outcome {
        http_status: Some(422),
        ctx_id: Some(ctx_id.to_owned()),
        problems: vec![Problem {
            field: field.to_owned(),
            ..Problem::of_record(Code::Service, "must not be negative")
        }],
        attempts: 1,
        ..Outcome::new(seq, RecordState::Failed, 1_790_000_000_000)
    };
    let unknown = outcomes([5, 6], RecordState::Unknown);
    let failed = [refused(2, "price", "ctx-422"), refused(3, "price", "c-3"), refused(4, "tax", "c-4")];
    ledger.settle(run, &failed).await.unwrap();
    ledger.settle(run, &unknown).await.unwrap();
    ledger.resolve(run, &[6], Resolution::Sent, "anna", 3).await.unwrap();

    let by_message = example(folder.path(), 0).await;
    let shown: Vec<_> = by_message.iter().map(|row| (&row["field"], &row["message"], &row["records"])).collect();
    let message = serde_json::json!("must not be negative");
    assert_eq!(shown, [(&"price".into(), &message, &2.into()), (&"tax".into(), &message, &1.into())]);

    let by_ctx_id = example(folder.path(), 1).await;
    assert_eq!(by_ctx_id.len(), 1);
    assert_eq!((&by_ctx_id[0]["seq"], &by_ctx_id[0]["http_status"]), (&2.into(), &422.into()));
    assert_eq!(by_ctx_id[0]["time"], "2026-09-21 14:13:20");

    let waiting = example(folder.path(), 2).await;
    assert_eq!(waiting.len(), 1);
    assert_eq!((&waiting[0]["file"], &waiting[0]["records"]), (&"items.csv".into(), &1.into()));
}
