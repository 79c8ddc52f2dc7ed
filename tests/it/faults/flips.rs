//! Flips single bits in the ledger of an interrupted run, and resumes. No flip may lead to a request that the undamaged
//! ledger would not lead to, except that items are sent again as after a crash, if the end of the log is lost; and none may end in a panic.
//! Unused space in the file, which is all zeros, is left alone. The 1,000 flips of `SHEETPORT_LONG=1`, of which there usually is a quarter, found
//! no fault in November 2026.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use std::{fs, panic};

use sheetport_client::auth::{AddressOrigin, Credentials, EnvironmentTokens, TokenHome, TokenOrigin};
use sheetport_ledger::{Ledger, NewRun, PlannedRecord, RunId};
use sheetport_operations::{Context, SendOptions, resume};
use sheetport_records::RecordKind;
use sheetport_testing::tries;
use tempfile::TempDir;
use tokio::sync::Notify;

use super::server::{Reply, Server};
use super::{about, client, record, row, unnamed, work};
use crate::environment::context;

const RECORDS: usize = 30;
/// Records that are answered before the run is interrupted.
const ANSWERED: usize = 12;
/// The files of a ledger that a killed process leaves behind.
const FILES: [&str; 3] = ["ledger.db", "ledger.db-wal", "ledger.db-shm"];
/// The folder that remembers how far the ledger was written.
const STATE: &str = "state";

#[test]
fn flipped_bits_in_the_ledger_of_a_stopped_run_of_items_lead_to_no_other_request() {
    flip_bits(RecordKind::Item, false, 1, tries(62, 250));
}

#[test]
fn flipped_bits_in_the_ledger_of_a_killed_run_of_items_lead_to_no_other_request() {
    flip_bits(RecordKind::Item, true, 2, tries(100, 400));
}

#[test]
fn flipped_bits_in_the_ledger_of_a_stopped_run_of_invoices_lead_to_no_other_request() {
    flip_bits(RecordKind::Invoice, false, 3, tries(40, 100));
}

#[test]
fn flipped_bits_in_the_ledger_of_a_killed_run_of_invoices_lead_to_no_other_request() {
    flip_bits(RecordKind::Invoice, true, 4, tries(62, 250));
}

fn flip_bits(kind: RecordKind, is_killed: bool, seed: u64, flips: usize) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(flip_bits_in(kind, is_killed, seed, flips));
    // Like the executable, does not wait for what a damaged ledger may have left in a blocking call.
    runtime.shutdown_background();
}

/// Requests by path and body, with their number.
type Requests = BTreeMap<(String, String), usize>;

async fn flip_bits_in(kind: RecordKind, is_killed: bool, seed: u64, flips: usize) {
    let limit = Arc::new(AtomicUsize::new(ANSWERED));
    let reached = Arc::new(Notify::new());
    let server = {
        let (limit, reached) = (Arc::clone(&limit), Arc::clone(&reached));
        Server::start(move |seen| {
            if seen.number < limit.load(Ordering::Relaxed) {
                return Reply::Accept;
            }
            reached.notify_one();
            Reply::Late(Duration::from_secs(600), Box::new(Reply::Accept))
        })
        .await
    };
    let sheets = memory();
    let original = interrupted(kind, is_killed, &server, (&reached, sheets.path())).await;
    limit.store(usize::MAX, Ordering::Relaxed);
    let before = server.log().len();
    let folder = copy(original.path());
    assert_eq!(resumed(folder.path(), &server).await, Ok(()), "the undamaged ledger");
    let mut last = server.log().len();
    let planned = requests(&server, before);
    let all = requests(&server, 0).into_keys().map(|request| (request, 1)).collect();
    assert!(planned.values().all(|times| *times == 1) && planned.len() > 10, "{planned:?}");
    static PANICS: AtomicUsize = AtomicUsize::new(0);
    let usual = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        PANICS.fetch_add(1, Ordering::Relaxed);
        usual(info);
    }));
    let mut random = fastrand::Rng::with_seed(seed);
    let (mut refused, mut messages) = (0, BTreeSet::new());
    for flip in 0..flips {
        let folder = copy(original.path());
        let (name, bit) = flip_bit(folder.path(), &mut random);
        let context = format!("{kind}, flip {flip}: bit {bit} of {name}, seed {seed}");
        let ended = resumed(folder.path(), &server).await;
        let made = requests(&server, last);
        last += made.values().sum::<usize>();
        match kind {
            RecordKind::Item if is_killed => assert_planned(&made, &all, &context),
            _ => assert_planned(&made, &planned, &context),
        }
        assert_eq!(PANICS.load(Ordering::Relaxed), 0, "{context}");
        let Err(message) = ended else {
            assert!(planned.keys().all(|request| made.contains_key(request)), "{context}");
            continue;
        };
        assert_eq!(made, Requests::new(), "{context}: {message}");
        refused += 1;
        messages.insert(message.replace(&folder.path().display().to_string(), "HOME"));
    }
    println!("{refused} of {flips} were noticed: {messages:#?}");
    assert!(refused > flips / 10, "{refused} of {flips}");
    assert!(messages.iter().all(|message| message.contains("; ")), "{messages:#?}");
}

#[track_caller]
fn assert_planned(made: &Requests, planned: &Requests, context: &str) {
    for (request, times) in made {
        assert!(planned.contains_key(request), "{context}: {request:?}");
        assert_eq!(*times, 1, "{context}: {request:?}");
    }
}

/// Flips a random bit of the ledger and returns its file and number.
fn flip_bit(home: &Path, random: &mut fastrand::Rng) -> (&'static str, u64) {
    // The index is no data: SQLite writes it again.
    let files = FILES[..2].iter().filter_map(|name| Some((*name, fs::read(home.join(name)).ok()?)));
    let mut files: Vec<(&str, Vec<u8>)> = files.collect();
    let all: usize = files.iter().map(|(_, bytes)| bytes.len()).sum();
    loop {
        let mut place = random.usize(..all);
        let bit = random.u32(..8);
        for (name, bytes) in &mut files {
            let name = *name;
            let Some(rest) = place.checked_sub(bytes.len()) else {
                let around = &bytes[place.saturating_sub(8)..(place + 8).min(bytes.len())];
                if around.iter().all(|byte| *byte == 0) {
                    break;
                }
                bytes[place] ^= 1 << bit;
                fs::write(home.join(name), bytes).unwrap();
                return (name, place as u64 * 8 + u64::from(bit));
            };
            place = rest;
        }
    }
}

/// Returns the ledger of a run that was interrupted after some answers.
async fn interrupted(
    kind: RecordKind,
    is_killed: bool,
    server: &Server,
    (reached, sheets): (&Notify, &Path),
) -> TempDir {
    let home = memory();
    let ledger = Ledger::open(home.path()).await.unwrap().marked_in(&home.path().join(STATE));
    let address = client(server, 1).address().to_owned();
    let file = sheets.join("items.csv").display().to_string();
    let about = NewRun { record: kind, file, base_url: address, workspace: String::new(), ..about() };
    let mut plan = ledger.begin_plan(&about, 1).await.unwrap();
    for seq in 0..RECORDS {
        plan.add_row(row(seq)).await.unwrap();
        plan.add_record(planned(kind, seq)).await.unwrap();
    }
    let run = plan.finish(1).await.unwrap();
    let locked = ledger.lock_run(run).await.unwrap();
    let work = work(&ledger, client(server, 4), &locked, kind, 4);
    if is_killed {
        let copied = async {
            reached.notified().await;
            all_stored(&ledger, run).await;
            copy(home.path())
        };
        tokio::select! {
            _ = sheetport_send::send(&work, None, Box::pin(std::future::pending()), &|_| {}) => panic!("the run ended"),
            copied = copied => return copied,
        }
    }
    let interrupt = async {
        reached.notified().await;
        all_stored(&ledger, run).await;
        Duration::ZERO.into()
    };
    sheetport_send::send(&work, None, Box::pin(interrupt), &|_| {}).await.unwrap();
    assert_eq!(ledger.accounting(run).await.unwrap().sent, ANSWERED as u64);
    drop(locked);
    ledger.close().await;
    home
}

/// Waits until the outcomes of all answers are stored.
async fn all_stored(ledger: &Ledger, run: RunId) {
    let stored = async {
        while ledger.accounting(run).await.unwrap().sent < ANSWERED as u64 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), stored).await.unwrap();
}

fn planned(kind: RecordKind, seq: usize) -> PlannedRecord {
    match kind {
        RecordKind::Item => record(seq, &format!("key {seq}")),
        kind => unnamed(kind, seq),
    }
}

fn context_of(home: &Path, server: &Server) -> Context {
    let credentials = Credentials { access: Some("access-1".into()), refresh: Some("refresh-1".into()), file: None };
    Context {
        state: Some(home.join(STATE)),
        profile: String::new(),
        base_url: Some(server.address.clone()),
        address_from: Some(AddressOrigin::Environment),
        environment: EnvironmentTokens {
            credentials: credentials.clone(),
            home: Some(TokenHome::Address(server.address.clone())),
        },
        credentials,
        tokens_from: Some(TokenOrigin::Environment),
        ..context(home)
    }
}

/// Resumes the run like the command. Returns the message and the hint of an error.
async fn resumed(home: &Path, server: &Server) -> Result<(), String> {
    let context = context_of(home, server);
    let ended = resume(&context, Some(1), SendOptions::default(), Box::pin(std::future::pending()), &|_| {}).await;
    ended.map(|_| ()).map_err(|error| format!("{error}; {}", error.hint().unwrap_or_default()))
}

/// The requests since the request `from`.
fn requests(server: &Server, from: usize) -> Requests {
    server.log_from(from).into_iter().fold(Requests::new(), |mut requests, seen| {
        *requests.entry((seen.path, seen.body)).or_default() += 1;
        requests
    })
}

fn copy(home: &Path) -> TempDir {
    let folder = memory();
    for name in FILES.iter().filter(|name| home.join(name).exists()) {
        fs::copy(home.join(name), folder.path().join(name)).unwrap();
    }
    let marks = Path::new(STATE).join("ledgers");
    fs::create_dir_all(folder.path().join(&marks)).unwrap();
    for mark in fs::read_dir(home.join(&marks)).unwrap() {
        let mark = mark.unwrap();
        fs::copy(mark.path(), folder.path().join(&marks).join(mark.file_name())).unwrap();
    }
    folder
}

fn memory() -> TempDir {
    let memory = Path::new("/dev/shm");
    if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() }.unwrap()
}
