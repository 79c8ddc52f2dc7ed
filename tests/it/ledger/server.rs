//! The ledger on a PostgreSQL server: who may write, and what is refused.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use sheetport_ledger::{Claim, Error, Ledger, NewRun, Outcome, Part, RecordState, RunState, SendingChanges};

use crate::cli::process::until;
use crate::faults::{about, record, row};
use crate::postgres::{Access, Cluster};

async fn connect(address: &str, folder: &Path) -> Result<Ledger, Error> {
    Ledger::connect(&address.parse().unwrap(), folder).await
}

/// Starts a server with a database for a ledger, and returns the address.
fn server() -> Option<(Cluster, String, tempfile::TempDir)> {
    let server = Cluster::start()?;
    let address = server.database("ledger");
    Some((server, address, tempfile::tempdir().unwrap()))
}

#[tokio::test]
async fn a_process_that_lost_its_lease_writes_nothing() {
    let Some((server, address, folder)) = server() else { return };
    let (one, other) =
        (connect(&address, folder.path()).await.unwrap(), connect(&address, folder.path()).await.unwrap());
    let mut plan = one.begin_plan(&about(), 1).await.unwrap();
    for seq in 0..4 {
        plan.add_row(row(seq)).await.unwrap();
        plan.add_record(record(seq, &seq.to_string())).await.unwrap();
    }
    let run = plan.finish(1).await.unwrap();
    let locked = one.lock_run(run).await.unwrap();
    assert!(one.holds_locks());
    assert!(matches!(other.lock_run(run).await, Err(Error::Busy { .. })));
    one.settle(run, &[Outcome::new(0, RecordState::Sent, 1)]).await.unwrap();
    assert!(server.query("ledger", "SELECT holder FROM lease").ends_with(&format!(":{}", std::process::id())));

    // It was held up, and another process takes over.
    server.end_leases("ledger");
    let lost = one.settle(run, &[Outcome::new(1, RecordState::Sent, 1)]).await;
    assert!(matches!(lost, Err(Error::LockLost)), "{lost:?}");
    let taken_over = other.lock_run(run).await.unwrap();
    other.settle(run, &[Outcome::new(1, RecordState::Failed, 1)]).await.unwrap();
    assert!(matches!(one.store_intent(run, 2, 3, 1).await, Err(Error::LockLost)));
    let claim = Claim { seq: 2, name: None, body: [2; 16] };
    let started = one.start(locked.run(), &[], &SendingChanges::default(), &[claim], false, 1).await;
    assert!(matches!(started, Err(Error::LockLost)), "{started:?}");
    let outcomes = other.outcomes(run, 0..=3).await.unwrap();
    let states: Vec<_> = outcomes.values().map(|outcome| outcome.state).collect();
    assert_eq!(states, [RecordState::Sent, RecordState::Failed]);

    // Giving up a lost lease leaves that of the other process.
    drop(locked);
    assert!(matches!(one.lock_run(run).await, Err(Error::Busy { .. })));
    drop(taken_over);
    assert_eq!(server.query("ledger", "SELECT COUNT(*) FROM lease"), "0");
    one.lock_run(run).await.unwrap();
}

/// Workers share an upload, and nobody else can lock it meanwhile; a worker whose lease has ended writes nothing.
#[tokio::test(flavor = "multi_thread")]
async fn workers_share_the_lock_of_an_upload() {
    let Some((server, address, folder)) = server() else { return };
    let connect = || connect(&address, folder.path());
    let (desk, one, other) = (connect().await.unwrap(), connect().await.unwrap(), connect().await.unwrap());
    let mut plan = desk.begin_plan(&about(), 1).await.unwrap();
    for seq in 0..200 {
        plan.add_row(row(seq)).await.unwrap();
        // The same key in the first and in the third part.
        let key = if seq == 150 { 3 } else { seq };
        plan.add_record(record(seq, &key.to_string())).await.unwrap();
    }
    let run = plan.finish(1).await.unwrap();
    let locked = desk.lock_run(run).await.unwrap();
    desk.enqueue(&locked, 5).await.unwrap();
    assert!(one.take_part(run, 1).await.unwrap().is_none(), "the upload is locked");
    drop(locked);
    assert_eq!(one.queued().await.unwrap(), [run]);

    let first = one.take_part(run, 1).await.unwrap().unwrap();
    let second = other.take_part(run, 1).await.unwrap().unwrap();
    assert_eq!((first.part.records(), second.part.records()), (0..=63, 64..=127));
    assert!(matches!(desk.lock_run(run).await, Err(Error::Busy { .. })));
    let third = Part { run, first: 128, last: 191 };
    assert_eq!(desk.chained(third).await.unwrap().into_iter().collect::<Vec<_>>(), [(150, 3)]);
    one.settle(run, &[Outcome::new(0, RecordState::Sent, 1)]).await.unwrap();

    // One of them is held up, and its part is taken over.
    server.query("ledger", "UPDATE part SET until = clock_timestamp() WHERE first = 0");
    let lost = one.settle(run, &[Outcome::new(1, RecordState::Sent, 1)]).await;
    assert!(matches!(lost, Err(Error::LockLost)), "{lost:?}");
    let third_worker = connect().await.unwrap();
    let again = third_worker.take_part(run, 1).await.unwrap().unwrap();
    assert_eq!(again.part.first, 0);
    drop(first);
    third_worker.settle(run, &[Outcome::new(1, RecordState::Sent, 1)]).await.unwrap();
    other.settle(run, &[Outcome::new(64, RecordState::Sent, 1)]).await.unwrap();
    assert!(matches!(desk.lock_run(run).await, Err(Error::Busy { .. })), "two workers are left");
    assert!(!third_worker.finish_part(again, 1, 2).await.unwrap(), "other parts are not done");
    drop(second);
    released(&server);

    // A command takes the run over from workers that are all dead.
    let abandoned = one.take_part(run, 1).await.unwrap().unwrap();
    assert_eq!(abandoned.part.first, 64);
    server.end_leases("ledger");
    let taken_over = desk.lock_run(run).await.unwrap();
    assert!(matches!(one.store_intent(run, 64, 70, 1).await, Err(Error::LockLost)));
    assert!(other.take_part(run, 1).await.unwrap().is_none());
    drop((abandoned, taken_over));
    assert!(other.take_part(run, 1).await.unwrap().is_some());
    assert!(desk.stop_queued(run, Some("Ann"), "Ann stopped it", 1).await.unwrap());
    assert!(one.take_part(run, 1).await.unwrap().is_none() && one.queued().await.unwrap().is_empty());
}

/// Waits until all parts that were given back are released.
fn released(server: &Cluster) {
    until("no lease", || (server.query("ledger", "SELECT COUNT(*) FROM lease") == "0").then_some(()));
}

/// What several workers send at the same time counts once, and a stopped run is not being sent.
#[tokio::test(flavor = "multi_thread")]
async fn the_time_of_sending_is_that_of_the_clock() {
    let Some((server, address, folder)) = server() else { return };
    let connect = || connect(&address, folder.path());
    let (one, other) = (connect().await.unwrap(), connect().await.unwrap());
    let mut plan = one.begin_plan(&about(), 1).await.unwrap();
    for seq in 0..256 {
        plan.add_row(row(seq)).await.unwrap();
        plan.add_record(record(seq, &seq.to_string())).await.unwrap();
    }
    let run = plan.finish(1).await.unwrap();
    let enqueue = async |now| {
        let locked = one.lock_run(run).await.unwrap();
        one.enqueue(&locked, now).await.unwrap();
    };
    let settle = async |ledger: &Ledger, part: Part| {
        let outcomes: Vec<_> = part.records().map(|seq| Outcome::new(seq, RecordState::Sent, 1)).collect();
        ledger.settle(run, &outcomes).await.unwrap();
    };
    let millis = async || one.run(run).await.unwrap().millis;

    // Nobody takes a part for a second. Then two workers send two parts at the same time, and one of them sends a third.
    enqueue(1_000).await;
    let (first, second) =
        (one.take_part(run, 2_000).await.unwrap().unwrap(), other.take_part(run, 2_500).await.unwrap().unwrap());
    settle(&one, first.part).await;
    assert!(!one.finish_part(first, 4_000, 6_000).await.unwrap());
    assert_eq!(millis().await, 4_000);
    let third = one.take_part(run, 6_000).await.unwrap().unwrap();
    settle(&other, second.part).await;
    assert!(!other.finish_part(second, 4_500, 7_000).await.unwrap());
    assert_eq!(millis().await, 5_000);
    // It is stopped, and what is in flight ends a little later. The clock of this worker is late.
    assert!(other.stop_queued(run, Some("Ann"), "Ann stopped it", 8_000).await.unwrap());
    settle(&one, third.part).await;
    assert!(!one.finish_part(third, 1_000, 7_900).await.unwrap());
    assert_eq!(millis().await, 6_000);
    assert!(!other.stop_queued(run, Some("Ann"), "Ann stopped it", 9_000).await.unwrap());

    // An hour later, it is sent to its end. The parts that were done before have nothing to send.
    released(&server);
    enqueue(3_600_000).await;
    let mut now = 3_601_000;
    while let Some(taken) = other.take_part(run, now).await.unwrap() {
        if taken.part.first == 192 {
            settle(&other, taken.part).await;
        }
        now += 500;
        other.finish_part(taken, 500, now).await.unwrap();
    }
    assert_eq!((one.run(run).await.unwrap().state, millis().await), (RunState::Finished, 8_000));
}

/// Each permit is granted once, and a pause holds all.
#[tokio::test(flavor = "multi_thread")]
async fn permits_of_a_shared_rate_are_granted_once() {
    let Some((_server, address, folder)) = server() else { return };
    let began = std::time::Instant::now();
    let mut tasks = Vec::new();
    for _ in 0..4 {
        let ledger = connect(&address, folder.path()).await.unwrap();
        tasks.push(tokio::spawn(async move {
            let mut count = 0;
            while count < 30 {
                // 100 per second.
                let gate = ledger.take_permits("http://h/", "w", Some(Duration::from_millis(10)), 10).await.unwrap();
                match gate.granted {
                    Some(granted) => {
                        assert_eq!((granted.interval, granted.count), (Duration::from_millis(10), 10));
                        tokio::time::sleep(granted.first + granted.interval * granted.count).await;
                        count += granted.count;
                    }
                    None => tokio::time::sleep(gate.wait.max(Duration::from_millis(1))).await,
                }
            }
        }));
    }
    for task in tasks {
        task.await.unwrap();
    }
    assert!(began.elapsed() >= Duration::from_millis(1_190), "{:?} for 120 permits", began.elapsed());
    let ledger = connect(&address, folder.path()).await.unwrap();
    let few = ledger.take_permits("http://h/", "w", Some(Duration::from_millis(1)), 8).await.unwrap();
    assert_eq!(few.granted.map(|granted| granted.count), Some(8), "no more than can be used");
    ledger.close_gate("http://h/", "w", Duration::from_secs(60)).await.unwrap();
    let closed = ledger.take_permits("http://h/", "w", Some(Duration::from_millis(10)), 10).await.unwrap();
    assert!(closed.granted.is_none() && closed.closed > Duration::from_secs(50), "{closed:?}");
    let elsewhere = ledger.take_permits("http://h/", "v", Some(Duration::from_secs(10)), 8).await.unwrap();
    assert_eq!((elsewhere.closed, elsewhere.version), (Duration::ZERO, 0));
    ledger.adjust_gate("http://h/", "v", 0, "state", Duration::from_secs(1)).await.unwrap();
    ledger.adjust_gate("http://h/", "v", 0, "too late", Duration::from_secs(2)).await.unwrap();
    let adjusted = ledger.take_permits("http://h/", "v", None, 8).await.unwrap();
    assert_eq!((adjusted.auto.as_deref(), adjusted.version), (Some("state"), 1));
    assert_eq!(adjusted.granted.map(|granted| (granted.interval, granted.count)), Some((Duration::from_secs(1), 1)));
}

/// Claims are committed in the order of their ids, so that none is missed that was stored at the same time.
#[tokio::test]
async fn of_equal_requests_that_are_started_at_the_same_time_one_is_sent() {
    let Some((_server, address, folder)) = server() else { return };
    let mut tasks = Vec::new();
    for process in 0..4 {
        let ledger = connect(&address, folder.path()).await.unwrap();
        let about = NewRun { file_hash: process.to_string(), ..about() };
        let run = ledger.begin_plan(&about, 1).await.unwrap().finish(1).await.unwrap();
        let last = ledger.last_claim(&ledger.run(run).await.unwrap()).await.unwrap();
        ledger.set_compared(run, last).await.unwrap();
        tasks.push((Arc::new(ledger.run(run).await.unwrap()), ledger));
    }
    for round in 0..20 {
        let claim = Claim { seq: round, name: None, body: [u8::try_from(round).unwrap(); 16] };
        let started = tasks.iter().map(|(run, ledger)| {
            let (run, ledger, claim) = (Arc::clone(run), ledger.clone(), claim.clone());
            tokio::spawn(async move {
                let changes = SendingChanges::default();
                ledger.start(&run, &[], &changes, &[claim], false, 1).await.unwrap().len()
            })
        });
        let mut withdrawn = 0;
        for task in started.collect::<Vec<_>>() {
            withdrawn += task.await.unwrap();
        }
        assert_eq!(withdrawn, 3, "in round {round}");
    }
}

/// Asserts that a ledger is refused with these words, and with a remedy.
async fn assert_refused(address: &str, words: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    match connect(address, folder.path()).await {
        Ok(_) => panic!("the ledger was opened"),
        Err(error) => {
            let said = format!("{error}; {}", error.hint().unwrap());
            assert!(words.iter().all(|words| said.contains(words)) && !said.contains("s3cret"), "{said}");
        }
    }
}

#[tokio::test]
async fn databases_that_cannot_be_used_are_refused_and_unchanged() {
    let Some((mut server, address, folder)) = server() else { return };
    connect(&address, folder.path()).await.unwrap().close().await;
    assert_refused(&server.address("none"), &["database \"none\" does not exist", "createdb"]).await;

    server.database("stranger");
    server.query("stranger", "CREATE TABLE run (id INT); INSERT INTO run VALUES (7)");
    let foreign = server.address("stranger");
    assert_refused(&foreign, &["schema public has tables of another program", "nothing was changed"]).await;
    assert_eq!(server.query("stranger", "SELECT COUNT(*) FROM pg_tables WHERE schemaname = 'public'"), "1");

    server.query("ledger", "ALTER DATABASE ledger SET default_transaction_read_only = on");
    assert_refused(&address, &["its transactions are read-only", "primary"]).await;
    server.query("postgres", "ALTER DATABASE ledger RESET default_transaction_read_only");

    let reader = address.replace("user=sheetport", "user=reader");
    server.query("ledger", "CREATE ROLE reader LOGIN");
    assert_refused(&reader, &["permission denied", "grant the user"]).await;
    server.database("empty");
    let empty = server.address("empty").replace("user=sheetport", "user=reader");
    assert_refused(&empty, &["may not create tables", "grant"]).await;
    server.query("ledger", "CREATE ROLE many LOGIN CONNECTION LIMIT 0");
    let many = address.replace("user=sheetport", "user=many");
    assert_refused(&many, &["too many connections", "raise max_connections", "--at-once"]).await;

    server.query(
        "ledger",
        "UPDATE _sqlx_migrations SET version = 99 WHERE version = (SELECT MAX(version) FROM _sqlx_migrations)",
    );
    assert_refused(
        &address,
        &["a newer version of sheetport", "newest version", "another database with SHEETPORT_LEDGER"],
    )
    .await;
    server.query("ledger", "DELETE FROM _sqlx_migrations WHERE version = 99");
    server.query("ledger", "UPDATE _sqlx_migrations SET checksum = '\\x00' WHERE version = 1");
    assert_refused(&address, &["a development version of sheetport"]).await;

    server.crash();
    assert_refused(&address, &["can't be reached", "check the name and the port"]).await;
    assert_refused("postgres://a:s3cret@127.0.0.1:1/l", &["127.0.0.1:1 can't be reached"]).await;
}

#[tokio::test]
async fn a_wrong_password_is_refused_and_not_shown() {
    let Some(server) = Cluster::with(Access::Password) else { return };
    let address = server.database("ledger");
    let wrong = format!("{address}&password=s3cret-no");
    assert_refused(&wrong, &["refuses the user sheetport or the password", "PGPASSWORD", ".pgpass"]).await;
    let folder = tempfile::tempdir().unwrap();
    connect(&format!("{address}&password=s3cret"), folder.path()).await.unwrap();
}

/// A severed connection is replaced; what was not committed is not there.
#[tokio::test]
async fn a_restarted_server_is_connected_to_again() {
    let Some((mut server, address, folder)) = server() else { return };
    let ledger = connect(&address, folder.path()).await.unwrap();
    let run = ledger.begin_plan(&about(), 1).await.unwrap().finish(1).await.unwrap();
    server.crash();
    let error = ledger.run(run).await.unwrap_err();
    assert!(error.hint().unwrap().contains("database"), "{error}");
    server.run();
    assert_eq!(ledger.run(run).await.unwrap().id, run);
}
