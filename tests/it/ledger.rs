//! The ledger: incomplete plans are not sent, every record is counted once, foreign databases are left alone, and the
//! queries in docs/ledger.md work.

use std::collections::BTreeSet;
use std::path::Path;

use sheetport::client::auth::Credentials;
use sheetport::client::{self, Client};
use sheetport::ledger::{
    AcceptedEarlier, Accounting, Claim, Disposition, Error, Ledger, NewRun, Outcome, PlannedRecord, Problem,
    RecordState, Resolution, RunId, SendingChanges, Seq, SkipReason,
};
use sqlx::sqlite::{SqliteColumn, SqliteConnectOptions};
use sqlx::{Column, ConnectOptions, Row};
use tempfile::TempDir;

use crate::faults::{about, assert_adds_up, record, row};

async fn open(folder: &Path) -> Ledger {
    Ledger::open(folder).await.unwrap()
}

fn problem() -> Problem {
    Problem {
        code: "duplicate".into(),
        row: None,
        column: None,
        header: String::new(),
        field: String::new(),
        value: String::new(),
        sheet: String::new(),
        message: "twice".into(),
        remedy: String::new(),
        is_internal: false,
    }
}

/// Plans `count` records: of every ten, the first is skipped and the second is rejected.
async fn planned(count: usize) -> (TempDir, Ledger, RunId) {
    let folder = tempfile::tempdir().unwrap();
    let ledger = open(folder.path()).await;
    let mut plan = ledger.begin_plan(&about(), 1).await.unwrap();
    for seq in 0..count {
        plan.add_row(row(seq)).await.unwrap();
        let planned = record(seq, &seq.to_string());
        let disposition = match seq % 10 {
            0 => Disposition::Skipped(SkipReason::SkipWhere),
            1 => Disposition::Rejected(vec![problem()]),
            _ => planned.disposition,
        };
        plan.add_record(PlannedRecord { disposition, ..planned }).await.unwrap();
    }
    let run = plan.finish(1).await.unwrap();
    (folder, ledger, run)
}

async fn accounting(ledger: &Ledger, run: RunId) -> Accounting {
    let accounting = ledger.accounting(run).await.unwrap();
    assert_adds_up(&accounting);
    accounting
}

fn outcomes(seqs: impl IntoIterator<Item = Seq>, state: RecordState) -> Vec<Outcome> {
    seqs.into_iter().map(|seq| Outcome { attempts: 1, ..Outcome::new(seq, state, 2) }).collect()
}

#[tokio::test]
async fn an_unfinished_plan_is_not_sent() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = open(folder.path()).await;
    let mut plan = ledger.begin_plan(&about(), 1).await.unwrap();
    for seq in 0..1_000 {
        plan.add_record(record(seq, &seq.to_string())).await.unwrap();
    }
    let locked = ledger.lock_run(1).await.unwrap();
    let nobody = Credentials { access: Some("a".into()), refresh: None, file: None };
    let work = sheetport::upload::Work {
        ledger: &ledger,
        client: Client::new("http://127.0.0.1:1", nobody, &client::ConnectOptions::default(), 1).unwrap().into(),
        run: &locked,
        kind: sheetport::records::RecordKind::Item,
        concurrency: 1,
        rate: None,
        rate_file: None,
        max_errors: None,
        overwrites_newer: false,
        keys: None,
        wall: || 2,
    };
    let ended = sheetport::upload::send::send(&work, std::future::pending(), &|_| {}).await.unwrap();
    assert_eq!(ended.stopped, None);
    assert!(matches!(ledger.run_or_newest(None).await, Err(Error::NoRuns)));
    assert_eq!(accounting(&ledger, 1).await.sent, 0);
}

#[tokio::test]
async fn records_keep_their_order_across_blocks() {
    for count in [1, 511, 512, 513, 1_025] {
        let (_folder, ledger, run) = planned(count).await;
        let mut from = 0;
        let mut keys = Vec::new();
        while let Some(block) = ledger.record_block(run, from).await.unwrap() {
            assert_eq!(block.first, from);
            from += block.records.len() as Seq;
            keys.extend(block.records.into_iter().map(|record| record.key.unwrap()));
        }
        assert!(keys.iter().map(|key| key.parse::<usize>().unwrap()).eq(0..count), "{count}");
        let last = ledger.record_block_of(run, count as Seq - 1).await.unwrap().unwrap();
        assert_eq!(last.first as usize, (count - 1) / 512 * 512);
        assert_eq!(accounting(&ledger, run).await.rows as usize, count);
    }
}

#[tokio::test]
async fn states_always_add_up_to_the_total() {
    let (_folder, ledger, run) = planned(1_000).await;
    let now = accounting(&ledger, run).await;
    assert_eq!((now.total, now.skipped, now.rejected, now.pending), (1_000, 100, 100, 800));
    ledger.settle(run, &outcomes((0..100).filter(|seq| seq % 10 > 1), RecordState::Sent)).await.unwrap();
    ledger.settle(run, &outcomes([102, 103], RecordState::Failed)).await.unwrap();
    ledger.settle(run, &outcomes([104], RecordState::Unknown)).await.unwrap();
    ledger.settle(run, &outcomes([105], RecordState::Unchanged)).await.unwrap();
    let now = accounting(&ledger, run).await;
    assert_eq!((now.sent, now.failed, now.unknown, now.unchanged, now.pending), (80, 2, 1, 1, 716));
    let changes = SendingChanges { requests: 84, retries: 3, ..SendingChanges::default() };
    ledger.store(run, &changes).await.unwrap();
    ledger.store(run, &SendingChanges { requests: 1, ..SendingChanges::default() }).await.unwrap();
    let now = accounting(&ledger, run).await;
    assert_eq!((now.requests, now.retries), (85, 3), "of all attempts, with and without an outcome");
}

#[tokio::test]
async fn a_second_outcome_for_a_record_rolls_back_the_whole_batch() {
    let (_folder, ledger, run) = planned(2_000).await;
    ledger.settle(run, &outcomes([1_999], RecordState::Failed)).await.unwrap();
    let all = outcomes((0..2_000).filter(|seq| seq % 10 > 1), RecordState::Sent);
    assert!(matches!(ledger.settle(run, &all).await, Err(Error::Database(_))));
    let now = accounting(&ledger, run).await;
    assert_eq!((now.sent, now.failed, now.pending), (0, 1, 1_599));
    assert_eq!(ledger.settled(run, 0..=5_000).await.unwrap(), BTreeSet::from([1_999]));
}

#[tokio::test]
async fn withdrawn_records_are_counted_once_and_not_sent() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = open(folder.path()).await;
    let mut plan = ledger.begin_plan(&about(), 1).await.unwrap();
    for seq in 0..3_000 {
        plan.add_row(row(seq)).await.unwrap();
        plan.add_record(record(seq, &seq.to_string())).await.unwrap();
    }
    for seq in (0..3_000).filter(|seq| seq % 2 == 0) {
        plan.withdraw(seq, RecordState::Rejected, problem(), 1);
    }
    plan.withdraw(4, RecordState::Rejected, Problem { message: "thrice".into(), ..problem() }, 1);
    let run = plan.finish(1).await.unwrap();
    let now = accounting(&ledger, run).await;
    assert_eq!((now.rejected, now.pending), (1_500, 1_500));
    assert!(ledger.settled(run, 0..=2_999).await.unwrap().into_iter().eq((0..3_000).step_by(2)));
    assert_eq!(ledger.outcomes(run, 4..=4).await.unwrap()[&4].problems, [problem()]);
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

/// A paused or refused request is made again later. A run that was compared with the others in the meantime took its claim
/// for that of a request that was not applied.
#[tokio::test]
async fn a_record_that_is_claimed_again_is_seen_by_runs_that_were_compared_before() {
    let (_folder, ledger, one) = planned(10).await;
    let two = ledger.begin_plan(&about(), 1).await.unwrap().finish(1).await.unwrap();
    let claim = Claim { seq: 2, name: None, body: [7; 16] };
    let nothing = SendingChanges::default;
    let start = async |run: RunId| {
        let run = ledger.run(run).await.unwrap();
        ledger.start(&run, &[], &nothing(), std::slice::from_ref(&claim), false, 1).await.unwrap()
    };
    assert_eq!(start(one).await, []);
    ledger.store(one, &SendingChanges { finished: vec![2], ..nothing() }).await.unwrap();
    ledger.set_compared(two, ledger.last_claim().await.unwrap()).await.unwrap();
    assert_eq!(start(one).await, []);
    let repeated = start(two).await;
    assert_eq!(repeated.iter().map(|(seq, earlier)| (*seq, earlier.run)).collect::<Vec<_>>(), [(2, one)]);
    ledger.lock_checked_run(one).await.unwrap();
}

#[tokio::test]
async fn a_lock_excludes_other_processes() {
    let folder = tempfile::tempdir().unwrap();
    let (one, other) = (open(folder.path()).await, open(folder.path()).await);
    let other_file = NewRun { file_hash: "other".into(), ..about() };
    let lock = one.lock_upload(&about()).unwrap();
    assert!(matches!(other.lock_upload(&about()), Err(Error::Busy { .. })));
    other.lock_upload(&other_file).unwrap();
    drop(lock);
    other.lock_upload(&about()).unwrap();
}

#[tokio::test]
async fn concurrent_runs_get_distinct_numbers() {
    let folder = tempfile::tempdir().unwrap();
    let (one, other) = (open(folder.path()).await, open(folder.path()).await);
    let about = about();
    for _ in 0..10 {
        let (a, b, c) =
            tokio::join!(one.begin_plan(&about, 1), other.begin_plan(&about, 1), other.begin_plan(&about, 1));
        a.and(b).and(c).unwrap();
    }
    let ids: BTreeSet<RunId> = one.runs(100).await.unwrap().into_iter().map(|run| run.id).collect();
    assert!(ids.into_iter().eq(1..=30));
}

#[tokio::test]
async fn a_new_ledger_can_be_opened_concurrently() {
    for _ in 0..5 {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        let tasks: Vec<_> = (0..6)
            .map(|_| {
                let path = path.to_owned();
                tokio::spawn(async move { Ledger::open(&path).await.map(|_| ()) })
            })
            .collect();
        for task in tasks {
            task.await.unwrap().unwrap();
        }
    }
}

/// Asserts that opening the ledger in `folder` fails and leaves the database unchanged.
async fn assert_refused(folder: &Path, words: &str) {
    let database = folder.join("ledger.db");
    let before = std::fs::read(&database).ok();
    match Ledger::open(folder).await {
        Err(error @ (Error::Open { .. } | Error::OtherVersion { .. } | Error::DamagedFile { .. })) => {
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
    let options = SqliteConnectOptions::new().filename(folder.path().join("ledger.db"));
    let pool = sqlx::SqlitePool::connect_with(options).await.unwrap();
    let insert = "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time) \
                  VALUES (99, 'later', TRUE, X'00', 1)";
    sqlx::query(insert).execute(&pool).await.unwrap();
    pool.close().await;
    assert_refused(folder.path(), "another version of sheetport (migration 99").await;
}

#[tokio::test]
async fn a_ledger_with_different_tables_is_refused_and_unchanged() {
    let folder = tempfile::tempdir().unwrap();
    open(folder.path()).await.close().await;
    let options = SqliteConnectOptions::new().filename(folder.path().join("ledger.db"));
    let pool = sqlx::SqlitePool::connect_with(options).await.unwrap();
    sqlx::query("UPDATE _sqlx_migrations SET checksum = X'00'").execute(&pool).await.unwrap();
    pool.close().await;
    assert_refused(folder.path(), "another version of sheetport (migration 1").await;
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

#[tokio::test]
async fn records_accepted_earlier_count_as_unchanged_and_are_not_sent() {
    let (_folder, ledger, run) = planned(20).await;
    let about = NewRun { retry_of: Some(run), ..about() };
    let mut plan = ledger.begin_plan(&about, 1).await.unwrap();
    let dispositions = [
        Disposition::AcceptedEarlier(AcceptedEarlier { run, seq: 2, service_id: Some("i".into()) }),
        Disposition::Skipped(SkipReason::SkipWhere),
        record(2, "c").disposition,
    ];
    for (seq, disposition) in dispositions.into_iter().enumerate() {
        plan.add_row(row(seq)).await.unwrap();
        plan.add_record(PlannedRecord { disposition, ..record(seq, &seq.to_string()) }).await.unwrap();
    }
    let again = plan.finish(1).await.unwrap();
    let counted = accounting(&ledger, again).await;
    assert_eq!((counted.total, counted.unchanged, counted.skipped, counted.pending), (3, 1, 1, 1));
}

#[tokio::test]
async fn outcomes_are_read_back_exactly() {
    let (_folder, ledger, run) = planned(20).await;
    let said = Problem { value: "0 1 2".to_owned(), ..Problem::of_record("service", "ä \"quoted\" \u{0} \n 7") };
    let odd = Outcome {
        http_status: Some(422),
        service_status: Some(String::new()),
        service_id: Some("12 sent -1 \u{0}é\n".to_owned()),
        ctx_id: Some(" 5 ".to_owned()),
        job_id: None,
        problems: vec![said.clone(), said],
        attempts: 3,
        ..Outcome::new(5, RecordState::Failed, i64::MAX)
    };
    let plain = Outcome { job_id: Some("job".to_owned()), ..Outcome::new(12, RecordState::Sent, -7) };
    ledger.settle(run, &[plain.clone(), odd.clone()]).await.unwrap();
    let found = ledger.outcomes(run, 0..=19).await.unwrap();
    assert_eq!(found.into_values().collect::<Vec<_>>(), [odd, plain]);
    assert!(ledger.outcomes(run, 6..=11).await.unwrap().is_empty());
}

#[tokio::test]
async fn more_outcomes_than_records_are_an_error() {
    let (_folder, ledger, run) = planned(20).await;
    ledger.settle(run, &outcomes(0..30, RecordState::Sent)).await.unwrap();
    assert!(matches!(ledger.accounting(run).await, Err(Error::Corrupt(_))));
}

/// Returns the rows of the nth SQL example in docs/ledger.md, as JSON objects.
async fn example(folder: &Path, nth: usize) -> Vec<serde_json::Value> {
    let docs = include_str!("../../docs/ledger.md");
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
        problems: vec![Problem { field: field.to_owned(), ..Problem::of_record("service", "must not be negative") }],
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
