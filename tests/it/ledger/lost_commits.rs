//! Commits whose answer is lost, or never comes: they are applied once.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use sheetport_ledger::{Claim, Ledger, Outcome, Part, RecordState, SendingChanges};

use crate::faults::{about, record, row};
use crate::postgres::Cluster;

/// Passes connections on to the server. When it is armed, the next commit reaches the server, and its answer reaches nobody.
struct Cutter {
    port: u16,
    is_armed: Arc<AtomicBool>,
    /// Whether connections are kept open without an answer, instead of being cut.
    swallows: Arc<AtomicBool>,
    cuts: Arc<AtomicUsize>,
}

impl Cutter {
    fn before(socket: PathBuf) -> Cutter {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (is_armed, swallows) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
        let cuts = Arc::new(AtomicUsize::new(0));
        let (armed, swallow) = (Arc::clone(&is_armed), Arc::clone(&swallows));
        let cutter = Cutter { port, is_armed, swallows, cuts: Arc::clone(&cuts) };
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let Ok(server) = UnixStream::connect(&socket) else { continue };
                pass_on(client, server, &armed, &swallow, &cuts);
            }
        });
        cutter
    }

    fn arm(&self) {
        self.is_armed.store(true, Ordering::SeqCst);
    }

    fn cuts(&self) -> usize {
        self.cuts.load(Ordering::SeqCst)
    }
}

fn pass_on(
    client: TcpStream,
    server: UnixStream,
    is_armed: &Arc<AtomicBool>,
    swallows: &Arc<AtomicBool>,
    cuts: &Arc<AtomicUsize>,
) {
    let is_cut = Arc::new(AtomicBool::new(false));
    let (mut from_client, mut to_server) = (client.try_clone().unwrap(), server.try_clone().unwrap());
    let (armed, cut, cuts) = (Arc::clone(is_armed), Arc::clone(&is_cut), Arc::clone(cuts));
    let swallows = Arc::clone(swallows);
    thread::spawn(move || {
        let mut buffer = [0; 65_536];
        while let Ok(length @ 1..) = from_client.read(&mut buffer) {
            let commits = buffer[..length].windows(6).any(|word| word == b"COMMIT");
            if commits && armed.swap(false, Ordering::SeqCst) {
                cut.store(true, Ordering::SeqCst);
                cuts.fetch_add(1, Ordering::SeqCst);
            }
            if to_server.write_all(&buffer[..length]).is_err() {
                break;
            }
        }
        // The client may be gone already.
        let _ = to_server.shutdown(Shutdown::Both);
    });
    let (mut from_server, mut to_client) = (server, client);
    thread::spawn(move || {
        let mut buffer = [0; 65_536];
        while let Ok(length @ 1..) = from_server.read(&mut buffer) {
            if is_cut.load(Ordering::SeqCst) && swallows.load(Ordering::SeqCst) {
                continue;
            }
            if is_cut.load(Ordering::SeqCst) || to_client.write_all(&buffer[..length]).is_err() {
                break;
            }
        }
        let _ = to_client.shutdown(Shutdown::Both);
        let _ = from_server.shutdown(Shutdown::Both);
    });
}

async fn sent_once(server: &Cluster, folder: &Path, cutter: &Cutter, is_queued: bool) {
    let address = format!("postgres://sheetport@127.0.0.1:{}/ledger?sslmode=disable", cutter.port);
    let ledger = Ledger::connect(&address.parse().unwrap(), folder).await.unwrap();
    let mut plan = ledger.begin_plan(&about(), 1).await.unwrap();
    for seq in 0..4 {
        plan.add_row(row(seq)).await.unwrap();
        plan.add_record(record(seq, &seq.to_string())).await.unwrap();
    }
    let run = plan.finish(1).await.unwrap();
    let locked = ledger.lock_run(run).await.unwrap();
    let about = locked.run().clone();
    let mut locks = (Some(locked), None);
    if is_queued {
        ledger.enqueue(locks.0.as_ref().unwrap(), 1).await.unwrap();
        locks.0 = None;
        locks.1 = ledger.take_part(run, 1).await.unwrap();
    }

    let before = cutter.cuts();
    let outcomes = vec![Outcome::new(0, RecordState::Sent, 1)];
    cutter.arm();
    ledger.store(run, &SendingChanges { outcomes, requests: 3, ..SendingChanges::default() }).await.unwrap();
    // Nothing but counts.
    cutter.arm();
    ledger.store(run, &SendingChanges { requests: 2, retries: 1, ..SendingChanges::default() }).await.unwrap();
    let claims = [1, 2].map(|seq| Claim { seq, name: None, body: [seq as u8 + 16 * u8::from(is_queued); 16] });
    let changes = SendingChanges { requests: 2, ..SendingChanges::default() };
    cutter.arm();
    assert!(ledger.start(&about, &[run], &changes, &claims, false, 1).await.unwrap().is_empty());
    let outcomes = vec![Outcome::new(1, RecordState::Failed, 1)];
    cutter.arm();
    ledger.store(run, &SendingChanges { outcomes, finished: vec![1], ..SendingChanges::default() }).await.unwrap();
    assert_eq!(cutter.cuts() - before, 4, "answers lost");

    let accounting = ledger.accounting(run).await.unwrap();
    assert_eq!((accounting.sent, accounting.failed, accounting.pending), (1, 1, 2));
    assert_eq!((accounting.requests, accounting.retries), (7, 1));
    let in_flight = server.query("ledger", &format!("SELECT seq FROM in_flight WHERE run = {run}"));
    assert_eq!(in_flight, "2");
    // A cut connection does not help a process whose lease is gone.
    server.end_leases("ledger");
    let outcomes = vec![Outcome::new(2, RecordState::Sent, 1)];
    let lost = ledger.store(run, &SendingChanges { outcomes, ..SendingChanges::default() }).await;
    assert!(matches!(lost, Err(sheetport_ledger::Error::LockLost)), "{lost:?}");
    drop(locks);
    let unknown = ledger.settle_in_flight(Part::whole(run), None).await.unwrap().unknown;
    assert_eq!(unknown, 1);
    ledger.close().await;
}

/// Nothing says that the connection is gone.
#[tokio::test(flavor = "multi_thread")]
async fn a_swallowed_connection_holds_up_nobody() {
    let Some(server) = Cluster::start() else { return };
    server.database("ledger");
    let folder = tempfile::tempdir().unwrap();
    let cutter = Cutter::before(server.socket());
    cutter.swallows.store(true, Ordering::SeqCst);
    let ends = sent_once(&server, folder.path(), &cutter, true);
    tokio::time::timeout(Duration::from_secs(600), ends).await.expect("an end");
}

#[tokio::test(flavor = "multi_thread")]
async fn commits_without_an_answer_are_applied_once() {
    let Some(server) = Cluster::start() else { return };
    server.database("ledger");
    let folder = tempfile::tempdir().unwrap();
    let cutter = Cutter::before(server.socket());
    for is_queued in [false, true] {
        sent_once(&server, folder.path(), &cutter, is_queued).await;
    }
}
