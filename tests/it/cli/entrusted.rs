//! What people entrust to the ledger: backups of it, older copies, and that what is erased is gone from the bytes of its files.

use std::fs;
use std::path::Path;
use std::time::Duration;

use serde_json::Value;

use super::process::{Ended, Place, Sheetport, until};
use super::sent_before::MOVEMENTS;
use super::{accounting, column, summary, table};
use crate::faults::server::{Reply, Seen, Server, answer};

const ITEMS: &str = "record = \"item\"\n[fields.externalId]\ncolumn = \"SKU\"\n[fields.name]\ncolumn = \"Name\"\n";

/// A place whose state folder is kept outside of the home folder.
struct Office {
    place: Place,
    server: Server,
}

impl Office {
    async fn new(template: &str, reply: impl Fn(&Seen) -> Reply + Send + Sync + 'static) -> Office {
        let place = Place::new();
        place.write("t.toml", template);
        Office { place, server: Server::start(reply).await }
    }

    fn command(&self, args: &[&str]) -> Sheetport {
        let command = self.place.sheetport(args).env("SHEETPORT_BASE_URL", &self.server.address);
        let state = self.place.path("state");
        command.env("SHEETPORT_STATE", state.to_str().unwrap()).secret("SHEETPORT_ACCESS_TOKEN", "access-1")
    }

    async fn run(&self, args: &[&str], code: i32) -> Ended {
        let command = self.command(args);
        tokio::task::spawn_blocking(move || command.exits(code)).await.unwrap()
    }

    async fn upload(&self, file: &str, rows: &str, code: i32) -> String {
        self.place.write(file, rows);
        accounting(&summary(&self.run(&["upload", file, "-t", "t.toml", "--json"], code).await))
    }

    /// Puts another file in the place of the ledger, as a restore does.
    fn restore(&self, from: &str) {
        for suffix in ["-wal", "-shm"] {
            let _ = fs::remove_file(self.place.path(&format!("home/ledger.db{suffix}")));
        }
        fs::copy(self.place.path(from), self.place.path("home/ledger.db")).unwrap();
    }

    /// How often a text is in the bytes of the files of the ledger, also in its compressed frames.
    fn times_stored(&self, text: &str) -> usize {
        let files = fs::read_dir(self.place.path("home")).unwrap().map(|entry| entry.unwrap().path());
        let bytes: Vec<Vec<u8>> = files.filter(|path| path.is_file()).map(|path| fs::read(path).unwrap()).collect();
        bytes.iter().map(|bytes| times_in(bytes, text)).sum()
    }
}

fn times_in(bytes: &[u8], text: &str) -> usize {
    const FRAME: [u8; 4] = [0x28, 0xB5, 0x2F, 0xFD];
    let count = |bytes: &[u8]| bytes.windows(text.len()).filter(|window| *window == text.as_bytes()).count();
    let frames = (0..bytes.len().saturating_sub(4)).filter(|at| bytes[*at..*at + 4] == FRAME);
    let unpacked = frames.filter_map(|at| zstd::stream::Decoder::new(&bytes[at..]).ok()).map(|decoder| {
        let mut content = Vec::new();
        // What follows a frame is no frame.
        let _ = std::io::copy(&mut decoder.single_frame(), &mut content);
        count(&content)
    });
    count(bytes) + unpacked.sum::<usize>()
}

fn movements(from: usize, to: usize) -> String {
    let rows = (from..to).map(|number| format!("S{number},{}\n", number + 1));
    format!("Stock,Qty\n{}", rows.collect::<String>())
}

fn is_private(path: &Path) -> bool {
    #[cfg(unix)]
    return std::os::unix::fs::MetadataExt::mode(&fs::metadata(path).unwrap()) & 0o777 == 0o600;
    #[cfg(not(unix))]
    path.exists()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backup_in_mid_run_has_everything_that_was_answered() {
    let office = Office::new(MOVEMENTS, |seen| match seen.body.contains("S9\"") {
        true => Reply::Late(Duration::from_secs(300), Box::new(Reply::Accept)),
        false => Reply::Accept,
    })
    .await;
    office.place.write("a.csv", movements(0, 10));
    let running = office.command(&["upload", "a.csv", "-t", "t.toml", "--concurrency", "1"]).start();
    until("the last movement waits", || {
        (office.server.in_flight(|seen| seen.body.contains("S9\"")) == 1).then_some(())
    });
    let backup = office.run(&["runs", "backup", "copy.db", "--json"], 0).await.json();
    assert_eq!((&backup["runs"], is_private(&office.place.path("copy.db"))), (&Value::from(1), true), "{backup}");
    office.run(&["runs", "backup", "copy.db"], 2).await.says(&["already exists", "--replace"]);
    office.run(&["runs", "backup", "copy.db", "--replace"], 0).await;
    running.kill();

    // The file alone, without its log, is recognised as well.
    let alone = fs::read(office.place.path("home/ledger.db")).unwrap();
    office.place.write("alone.db", alone);
    office.restore("copy.db");
    office.run(&["runs", "check"], 0).await;
    office.run(&["doctor", "--offline"], 0).await;
    let resumed = office.run(&["resume", "--json"], 4).await;
    assert_eq!(accounting(&summary(&resumed)), "10: sent 9, unknown 1");
    office.restore("alone.db");
    office.run(&["doctor", "--offline"], 0).await.shows(&["older than what this machine has written"]);
    office.place.write("b.csv", movements(0, 9));
    let requests = office.server.log().len();
    office.run(&["upload", "b.csv", "-t", "t.toml"], 2).await.says(&["older", "--accept-older-ledger"]);
    assert_eq!(office.server.log().iter().skip(requests).filter(|seen| seen.path.starts_with("POST")).count(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_older_copy_sends_nothing_twice_until_it_is_accepted() {
    let office = Office::new(MOVEMENTS, |_| Reply::Accept).await;
    assert_eq!(office.upload("a.csv", &movements(0, 3), 0).await, "3: sent 3");
    office.run(&["runs", "backup", "copy.db"], 0).await;
    assert_eq!(office.upload("b.csv", &movements(3, 43), 0).await, "40: sent 40");
    office.restore("copy.db");
    let requests = office.server.log().len();
    let held = office.run(&["upload", "b.csv", "-t", "t.toml"], 2).await;
    held.says(&["40 of its requests are missing", "sheetport continue 2 --accept-older-ledger"]);
    office.run(&["resume", "2"], 2).await;
    assert_eq!(office.server.log().len(), requests);
    // Elsewhere, nothing is known about it.
    let moved =
        office.command(&["doctor", "--offline"]).env("SHEETPORT_STATE", office.place.path("other").to_str().unwrap());
    let moved = tokio::task::spawn_blocking(move || moved.exits(0)).await.unwrap();
    assert!(!moved.stdout.contains("older than"), "{moved:?}");
    office.run(&["resume", "2", "--accept-older-ledger"], 0).await;
    assert_eq!(office.server.log().len(), requests + 40);
    // It is the ledger now.
    let accepted = office.run(&["doctor", "--offline"], 0).await;
    assert!(!accepted.stdout.contains("older than"), "{accepted:?}");
    assert_eq!(office.upload("c.csv", &movements(50, 51), 0).await, "1: sent 1");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_pruned_is_gone_from_the_bytes_and_still_recognized() {
    let office = Office::new(ITEMS, |_| Reply::Accept).await;
    let rows: String = (0..2_000).map(|number| format!("K{number},Person{number:04}Meier\n")).collect();
    assert_eq!(office.upload("a.csv", &format!("SKU,Name\n{rows}"), 0).await, "2000: sent 2000");
    assert!(office.times_stored("Person0007Meier") > 0);
    office.run(&["runs", "prune", "--older-than", "0h"], 0).await.shows(&["Removed 1 run"]);
    for name in ["Person0007Meier", "Person1999Meier", "Meier"] {
        assert_eq!(office.times_stored(name), 0, "{name}");
    }
    office.run(&["runs", "check"], 0).await;
    let again = office.run(&["upload", "a.csv", "-t", "t.toml", "--changed-only", "--json"], 0).await;
    assert_eq!(summary(&again)["run"], 2);
    assert_eq!(accounting(&summary(&again)), "2000: unchanged 2000");
}

#[tokio::test(flavor = "multi_thread")]
async fn one_person_is_erased_from_every_run() {
    let office = Office::new(ITEMS, |seen| match seen.key().as_str() {
        "KEY-0001" => answer(422, "", r#"{"message": "Anna Meier is locked"}"#),
        _ => Reply::Accept,
    })
    .await;
    let rows = "SKU,Name\nKEY-0000,Otto Adler\nKEY-0001,Anna Meier\nKEY-0002,Ida Fuchs\n";
    assert_eq!(office.upload("a.csv", rows, 3).await, "3: sent 2, failed 1");
    office.upload("b.csv", &format!("{rows}KEY-0003,Paul Wolf\n"), 3).await;
    let dry = office.run(&["runs", "erase", "--key", "KEY-0001", "--dry-run", "--json"], 0).await.json();
    assert_eq!(dry["runs"].as_array().unwrap().len(), 2, "{dry}");
    assert!(office.times_stored("Meier") > 0);
    let erased = office.run(&["runs", "erase", "--key", "KEY-0001", "--json"], 0).await.json();
    assert_eq!(
        (&erased["runs"][0]["records"], &erased["runs"][0]["rows"]),
        (&Value::from(1), &Value::from(1)),
        "{erased}"
    );
    assert!(erased["files"].to_string().contains("a.csv"), "{erased}");
    assert_eq!((office.times_stored("Meier"), office.times_stored("KEY-0001")), (0, 0));
    assert!(office.times_stored("Ida Fuchs") > 0);
    office.run(&["runs", "check"], 0).await;
    office.run(&["report", "2", "-o", "r.csv"], 0).await;
    let report = table(&office.place.path("r.csv"));
    assert_eq!(column(&report, "SKU"), ["KEY-0000", "", "KEY-0002", "KEY-0003"]);
    assert_eq!(column(&report, "sheetport_status"), ["sent", "failed", "sent", "sent"]);
    office.run(&["runs", "show", "2"], 0).await.shows(&["erased what was stored about 1 record"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn old_runs_go_after_each_transfer_if_the_settings_say_so() {
    let office = Office::new(ITEMS, |_| Reply::Accept).await;
    office.upload("a.csv", "SKU,Name\nKEY-0000,Otto Adler\n", 0).await;
    fs::write(office.place.path("home/sheetport.toml"), "keep = \"0h\"\n").unwrap();
    office.upload("b.csv", "SKU,Name\nKEY-0001,Anna Meier\n", 0).await;
    let runs = office.run(&["runs", "--json"], 0).await.json();
    assert_eq!(runs["runs"].as_array().unwrap().len(), 0, "{runs}");
    assert_eq!(office.times_stored("Adler"), 0);
    fs::write(office.place.path("home/sheetport.toml"), "keep = \"90\"\n").unwrap();
    office.run(&["runs"], 2).await.says(&["sheetport.toml", "90d, 12w or 48h"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn runs_are_read_while_another_program_writes() {
    let office = Office::new(ITEMS, |_| Reply::Accept).await;
    office.upload("a.csv", "SKU,Name\nKEY-0000,Otto Adler\n", 0).await;
    let options = sqlx::sqlite::SqliteConnectOptions::new().filename(office.place.path("home/ledger.db"));
    let mut holder = sqlx::ConnectOptions::connect(&options).await.unwrap();
    sqlx::query("BEGIN IMMEDIATE").execute(&mut holder).await.unwrap();
    for args in [
        &["runs"][..],
        &["runs", "show", "1"],
        &["runs", "check"],
        &["report", "1", "-o", "r.csv"],
        &["check", "a.csv", "-t", "t.toml"],
        &["runs", "backup", "copy.db"],
    ] {
        let ended = office.run(args, 0).await;
        assert!(ended.took < Duration::from_secs(15), "{args:?}: {ended:?}");
    }
}

/// A folder that may be written and not read can't be synced, and the file in it is complete all the same.
#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn a_folder_that_can_not_be_synced_gets_complete_files() {
    let office = Office::new(ITEMS, |_| Reply::Accept).await;
    office.upload("a.csv", "SKU,Name\nKEY-0000,Otto Adler\n", 0).await;
    let folder = office.place.path("drop");
    fs::create_dir(&folder).unwrap();
    fs::set_permissions(&folder, std::os::unix::fs::PermissionsExt::from_mode(0o300)).unwrap();
    office.run(&["report", "1", "-o", "drop/r.csv"], 0).await;
    fs::set_permissions(&folder, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
    assert_eq!(column(&table(&folder.join("r.csv")), "SKU"), ["KEY-0000"]);
}
