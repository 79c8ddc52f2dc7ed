//! Ends the sender at random moments and resumes. The accounting must add up, no non-idempotent call
//! may be repeated, at most the records in flight may be unknown, and all others must end as in an undisturbed run.
//!
//! Each sender has its own runtime, which is dropped with all of its tasks. Half of the ends coincide with the arrival of a
//! request (intent on disk, no answer) or its answer (not on disk yet); the others are random, from before the first intent
//! to after the last commit.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use sheetport_client::Client;
use sheetport_ledger::{Accounting, Disposition, Ledger, NewRun, PlannedRecord, RunId};
use sheetport_records::RecordKind;
use sheetport_testing::tries;
use tokio::runtime::Builder;

use super::server::{Reply, Server};
use super::{about, assert_adds_up, client, row, work};

/// Ends per kind, and with `SHEETPORT_LONG=1`. Until November 2026 every run of the tests tried 200, and the last ones found no fault.
const USUAL_ENDS: usize = 60;
const LONG_ENDS: usize = 200;
const RECORDS: usize = 12;
const CONCURRENCY: usize = 3;

#[test]
fn items_end_as_in_an_undisturbed_run() {
    torture(RecordKind::Item);
}

#[test]
fn orders_end_as_in_an_undisturbed_run() {
    torture(RecordKind::Order);
}

#[test]
fn transactions_are_created_once_and_updated_at_least_once() {
    torture(RecordKind::InventoryTransaction);
}

#[test]
fn subscriptions_are_created_once() {
    torture(RecordKind::Subscription);
}

#[test]
fn invoices_are_created_once() {
    torture(RecordKind::Invoice);
}

fn torture(kind: RecordKind) {
    let seed = fastrand::u64(..);
    println!("seed {seed}");
    let mut random = fastrand::Rng::with_seed(seed);
    // Commits to memory are fast, and nothing has to survive the machine.
    let memory = Path::new("/dev/shm");
    let folder = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() }.unwrap();
    let serving = Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let (told, moments) = mpsc::channel();
    let fatal = Arc::new(AtomicUsize::new(usize::MAX));
    let server = {
        let fatal = Arc::clone(&fatal);
        serving.block_on(Server::start(move |seen| {
            if seen.number == fatal.load(Ordering::Relaxed) {
                let _ = told.send(());
                return Reply::Late(Duration::from_micros(300), Box::new(Reply::Accept));
            }
            Reply::Accept
        }))
    };
    // Planning and resuming share a ledger and a client; only the sender that is ended gets new ones.
    let ledger = serving.block_on(Ledger::open(folder.path())).unwrap();
    let client = client(&server, CONCURRENCY);
    let mut seen_before = 0;
    for end in 0..tries(USUAL_ENDS, LONG_ENDS) {
        let records: Vec<PlannedRecord> = (0..RECORDS).map(|seq| record(kind, end, seq)).collect();
        let once = records.iter().filter(|record| is_non_idempotent(kind, record)).count() as u64;
        let bodies: Vec<String> = records.iter().map(body).collect();
        let run = serving.block_on(plan(&ledger, kind, records));
        let is_aimed = random.bool();
        let aimed = if is_aimed { seen_before + random.usize(..RECORDS) } else { usize::MAX };
        fatal.store(aimed, Ordering::Relaxed);
        while moments.try_recv().is_ok() {}
        let doomed = Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let (path, shared) = (folder.path().to_owned(), Arc::clone(&client));
        doomed.spawn(async move { send(&Ledger::open(&path).await.unwrap(), shared, kind, run).await });
        if is_aimed {
            // The run may end before the chosen request; then nothing arrives.
            let _ = moments.recv_timeout(Duration::from_secs(20));
            std::thread::sleep(Duration::from_micros(random.u64(..800)));
        } else {
            std::thread::sleep(Duration::from_micros(random.u64(..12_000)));
        }
        // Afterwards none of its tasks is alive, as after the end of a process.
        doomed.shutdown_timeout(Duration::from_secs(20));
        fatal.store(usize::MAX, Ordering::Relaxed);

        let ended = serving.block_on(send(&ledger, Arc::clone(&client), kind, run));
        assert_adds_up(&ended);
        let context = format!("{kind}, end {end}, seed {seed}: {ended:?}");
        assert_eq!((ended.total, ended.pending, ended.failed), (RECORDS as u64, 0, 0), "{context}");
        assert!(ended.unknown <= (CONCURRENCY as u64).min(once), "{context}");
        let log = server.log();
        let mut times: BTreeMap<&str, usize> = BTreeMap::new();
        for seen in &log[seen_before..] {
            *times.entry(seen.body.as_str()).or_default() += 1;
        }
        let mut missing = 0;
        for (seq, body) in bodies.iter().enumerate() {
            let made = times.get(body.as_str()).copied().unwrap_or_default();
            if is_non_idempotent(kind, &record(kind, end, seq)) {
                assert!(made <= 1, "made {made} times: {body}; {context}");
                missing += u64::from(made == 0);
            } else {
                assert!(made >= 1, "not made: {body}; {context}");
            }
        }
        // Records that were never received are unknown: the sender could not tell.
        assert!(missing <= ended.unknown, "{missing} are missing; {context}");
        seen_before = log.len();
    }
}

async fn plan(ledger: &Ledger, kind: RecordKind, records: Vec<PlannedRecord>) -> RunId {
    let mut plan = ledger.begin_plan(&NewRun { record: kind, ..about() }, 1).await.unwrap();
    for (seq, record) in records.into_iter().enumerate() {
        plan.add_row(row(seq)).await.unwrap();
        plan.add_record(record).await.unwrap();
    }
    plan.finish(1).await.unwrap()
}

async fn send(ledger: &Ledger, client: Arc<Client>, kind: RecordKind, run: RunId) -> Accounting {
    let locked = ledger.lock_run(run).await.unwrap();
    let work = work(ledger, client, &locked, kind, CONCURRENCY);
    let ended = sheetport_send::send(&work, None, Box::pin(std::future::pending()), &|_| {}).await.unwrap();
    assert_eq!(ended.stopped, None);
    ledger.accounting(run).await.unwrap()
}

/// Every second transaction is an idempotent update.
fn record(kind: RecordKind, end: usize, seq: usize) -> PlannedRecord {
    let name = format!("{end}-{seq}");
    let (key, target, body) = match kind {
        RecordKind::Item => (Some(name.clone()), None, format!(r#"{{"externalId":"{name}"}}"#)),
        RecordKind::Order => {
            (Some(name.clone()), Some(name.clone()), format!(r#"{{"order":{{"externalId":"{name}"}}}}"#))
        }
        RecordKind::InventoryTransaction => {
            let target = (seq % 2 == 1).then(|| name.clone());
            (target.clone(), target, format!(r#"{{"transactionType":"in","inventoryExternalId":"{name}"}}"#))
        }
        RecordKind::Subscription | RecordKind::Invoice => (None, None, format!(r#"{{"cid":"{name}"}}"#)),
    };
    PlannedRecord {
        key,
        target,
        rows: vec![seq as u64 + 2],
        disposition: Disposition::Send(body.into()),
        sheet: String::new(),
        command: None,
        warnings: Vec::new(),
    }
}

fn is_non_idempotent(kind: RecordKind, record: &PlannedRecord) -> bool {
    !kind.input().call(record.target.is_some()).unwrap().repeatable
}

fn body(record: &PlannedRecord) -> String {
    match &record.disposition {
        Disposition::Send(body) => body.to_string(),
        disposition => panic!("{disposition:?}"),
    }
}
