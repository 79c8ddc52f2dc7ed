//! A ledger on a PostgreSQL server that can't be written: a standby, and a server whose disk is full.

use super::desk::Desk;
use super::process::{Ended, Place};
use super::{accounting, items};
use crate::faults::server::Reply;

/// Asserts that a command has failed with one message that contains these words.
#[track_caller]
fn one_message(ended: Ended, words: &[&str]) {
    let ended = ended.exits(1).says(words);
    assert_eq!(ended.stderr.matches("error:").count(), 1, "{}", ended.stderr);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_standby_is_refused_until_it_is_promoted() {
    let Some(mut desk) = Desk::new(|_| Reply::Accept).await else { return };
    let store = desk.server.database("store");
    desk.place.write("items.csv", items(120));
    desk.run("one", &["upload", "items.csv", "-t", "items", "--queue", "-q"], 0).await;
    let token = ["serve", "token", "--workspace", "w"];
    Place::new().sheetport(token).env("SHEETPORT_STORE", &store).exits(0);
    let Some(standby) = desk.server.standby() else { return };

    let refused = ["it is a read-only replica", "name the primary server, whose database can be written"];
    desk.ledger = standby.address("ledger");
    let commands: [&[&str]; 4] =
        [&["upload", "items.csv", "-t", "items"], &["resume", "1"], &["work", "--until-idle"], &["runs"]];
    for command in commands {
        one_message(desk.run("two", command, 1).await, &refused);
    }
    let store = standby.address("store");
    for command in [&token[..], &["serve", "--listen", "127.0.0.1:0"]] {
        one_message(Place::new().sheetport(command).env("SHEETPORT_STORE", &store).run(), &refused);
    }
    assert_eq!(desk.service.log().len(), 0);

    // The primary fails, and the standby takes its place.
    desk.server.crash();
    standby.query("postgres", "SELECT pg_promote()");
    desk.run("two", &["work", "--until-idle"], 0).await;
    let shown = desk.run("two", &["runs", "show", "1", "--json"], 0).await.json();
    assert_eq!(accounting(&shown), "120: sent 120");
    Place::new().sheetport(token).env("SHEETPORT_STORE", &store).exits(0);
}

/// The disk of the database fills up during an upload of transactions, which must not be sent twice.
#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread")]
async fn a_full_disk_of_the_database_stops_an_upload_that_can_be_resumed() {
    use super::desk::{late, moves};
    use super::process::until;
    use super::{count, summary};
    use crate::postgres::Cluster;

    const ROWS: usize = 3_000;
    let Some(server) = Cluster::on_small_disk() else { return };
    let desk = Desk::with(server, |_| late(Reply::Accept)).await;
    desk.place.write("moves.csv", moves(ROWS));
    let upload = desk.on("one", &["upload", "moves.csv", "-t", "movements.toml", "--concurrency", "4"]).start();
    until("some requests", || (desk.service.log().len() >= 200).then_some(()));
    desk.server.fill_disk();
    let stopped = tokio::task::spawn_blocking(move || upload.wait()).await.unwrap();
    one_message(
        stopped,
        &[
            "the ledger can't be read or written",
            "No space left on device",
            "free some space on the disk of the database server; then resume the run",
        ],
    );
    let before = desk.service.log().len();
    assert!(before < ROWS, "the disk was full too late");
    // As long as nothing can be stored, nothing is sent.
    one_message(desk.run("one", &["resume"], 1).await, &["No space left on device"]);
    assert_eq!(desk.service.log().len(), before);

    desk.server.free_disk();
    let resumed = desk.on("other", &["resume", "--json"]);
    let resumed = summary(&tokio::task::spawn_blocking(move || resumed.run()).await.unwrap());
    let (sent, unknown) = (count(&resumed, "sent"), count(&resumed, "unknown"));
    assert_eq!((sent + unknown, count(&resumed, "pending")), (ROWS as u64, 0), "{resumed}");
    assert!(unknown <= 4, "{resumed}");
    let bodies = desk.service.bodies();
    assert!(bodies.values().all(|times| *times == 1));
    assert!((sent..=sent + unknown).contains(&(bodies.len() as u64)), "{} of {resumed}", bodies.len());
    desk.run("one", &["runs", "check"], 0).await;
}
