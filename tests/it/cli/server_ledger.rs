//! Uploads whose ledger is on a PostgreSQL server, from several machines: each has a home folder of its own.

use super::desk::{Desk, late, moves};
use super::process::{Place, until};
use super::service::Served;
use super::{accounting, count, items, summary, table};
use crate::faults::server::{Reply, answer};
use crate::postgres::{Access, Cluster};

#[test]
fn a_ledger_on_a_server_is_shared_by_machines() {
    let Some(server) = Cluster::start() else { return };
    let ledger = server.database("ledger");
    let place = Place::new();
    let served = Served::start(&place);
    place.write("items.csv", items(700));
    let at = |machine: &str, args: &[&'static str]| {
        let home = place.path(machine);
        let command = served.sheetport(&place, args.iter().copied()).env("SHEETPORT_LEDGER", &ledger);
        command.env("SHEETPORT_HOME", home.to_str().unwrap())
    };
    let sent = summary(&at("one", &["upload", "items.csv", "-t", "items", "--json"]).exits(0));
    assert_eq!((accounting(&sent), served.total()), ("700: sent 700".to_owned(), 700));
    assert!(!place.path("one/ledger.db").exists());

    let runs = at("other", &["runs", "--json"]).exits(0).json();
    assert_eq!((&runs["runs"][0]["run"], count(&runs["runs"][0], "sent")), (&1.into(), 700));
    at("other", &["report", "1", "-o", "report.csv", "-q"]).exits(0);
    assert_eq!(table(&place.path("report.csv")).len(), 701);
    let unchanged = at("other", &["upload", "items.csv", "-t", "items", "--changed-only", "--json"]).exits(0);
    assert_eq!(accounting(&summary(&unchanged)), "700: unchanged 700");
    at("other", &["runs", "check"]).exits(0).shows(&["2 runs checked, no damage"]);
    at("other", &["runs", "prune", "--older-than", "0d"]).exits(0);
    assert_eq!(server.query("ledger", "SELECT COUNT(*) FROM lease"), "0");

    // The same by a flag and by a profile.
    let plain = |args: &[&str]| place.sheetport(args);
    let listed = plain(&["runs", "--json", "--ledger", &ledger]).exits(0).json();
    let rest = listed["runs"].as_array().unwrap().len();
    std::fs::create_dir_all(place.path("home")).unwrap();
    place.write("home/sheetport.toml", format!("[profiles.nightly]\nledger = \"{ledger}\"\n"));
    let of_profile = plain(&["runs", "--json", "--profile", "nightly"]).exits(0).json();
    assert_eq!(of_profile["runs"].as_array().unwrap().len(), rest);
    assert_eq!(plain(&["runs", "--json"]).exits(0).json()["runs"].as_array().unwrap().len(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_upload_of_items_is_resumed_on_another_machine() {
    let Some(desk) = Desk::new(|_| late(Reply::Accept)).await else { return };
    desk.place.write("items.csv", items(400));
    desk.killed_upload(&["upload", "items.csv", "-t", "items", "--concurrency", "2"], 60);
    // The lease of the killed process has not ended.
    let busy = desk.run("other", &["resume"], 6).await;
    busy.says(&["another sheetport process is working on this upload: process ", " on "]);
    desk.server.end_leases("ledger");
    let resumed = summary(&desk.run("other", &["resume", "--json"], 0).await);
    assert_eq!(accounting(&resumed), "400: sent 400");
    assert_eq!(desk.service.bodies().len(), 400);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_upload_of_transactions_makes_no_double_on_any_machine() {
    let Some(desk) = Desk::new(|seen| match seen.body.contains("7\"") {
        true => late(answer(422, "", "{\"message\":\"not now\"}")),
        false => late(Reply::Accept),
    })
    .await
    else {
        return;
    };
    desk.place.write("moves.csv", moves(150));
    let mut args = vec!["upload", "moves.csv", "-t", "movements.toml", "--concurrency", "3", "--json"];
    for (nth, machine) in ["one", "other", "one", "other"].into_iter().enumerate() {
        let running = desk.on(machine, &args).start();
        until("some more requests", || (desk.service.log().len() >= 25 * (nth + 1)).then_some(()));
        running.kill();
        desk.server.end_leases("ledger");
        args = vec!["resume", "--json"];
    }
    let ended = desk.on("one", &args);
    let ended = summary(&tokio::task::spawn_blocking(move || ended.run()).await.unwrap());
    let (sent, unknown, failed) = (count(&ended, "sent"), count(&ended, "unknown"), count(&ended, "failed"));
    assert_eq!((sent + unknown + failed, count(&ended, "pending")), (150, 0), "{ended}");
    assert!(unknown <= 4 * 3 && failed > 0, "{ended}");
    assert!(desk.service.bodies().values().all(|times| *times == 1));

    // Nobody sends the file again by mistake, and a person decides about the rest on any machine.
    let again = desk.on("other", &["upload", "moves.csv", "-t", "movements.toml", "--yes", "--json"]);
    let again = summary(&tokio::task::spawn_blocking(move || again.run()).await.unwrap());
    assert_eq!((count(&again, "sent"), count(&again, "unchanged")), (0, sent), "{again}");
    if unknown > 0 {
        desk.run("other", &["resolve", "1", "--all-sent"], 0).await;
    }
    let counted = desk.run("one", &["runs", "--json"], 0).await.json();
    let first = counted["runs"].as_array().unwrap().iter().find(|run| run["run"] == 1).unwrap().clone();
    assert_eq!((count(&first, "sent"), count(&first, "unknown")), (sent + unknown, 0));
    let retried = desk.on("other", &["retry", "1", "--json"]);
    let retried = summary(&tokio::task::spawn_blocking(move || retried.run()).await.unwrap());
    assert_eq!(count(&retried, "total"), failed, "{retried}");
}

/// A process that is held up past its lease begins no request when it goes on. Those that it had begun are unknown to the others.
#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn a_process_held_up_past_its_lease_leaves_the_run_to_others() {
    let Some(desk) = Desk::new(|_| late(Reply::Accept)).await else { return };
    desk.place.write("moves.csv", moves(200));
    let held_up = desk.on("one", &["upload", "moves.csv", "-t", "movements.toml", "--concurrency", "2"]).start();
    until("some requests", || (desk.service.log().len() >= 30).then_some(()));
    held_up.signal("STOP");
    desk.server.end_leases("ledger");
    let other = desk.on("other", &["resume", "--json"]);
    let ended = summary(&tokio::task::spawn_blocking(move || other.run()).await.unwrap());
    let after = desk.service.log().len();
    held_up.signal("CONT");
    let refused = tokio::task::spawn_blocking(move || held_up.wait()).await.unwrap().exits(6);
    refused.says(&["lost its lock on the upload"]);
    let begun = desk.service.log().len() - after;
    assert!(
        begun <= 2.min(count(&ended, "unknown") as usize),
        "{begun} requests of the process that was held up: {ended}"
    );
    assert_eq!(count(&ended, "sent") + count(&ended, "unknown"), 200, "{ended}");
    assert!(desk.service.bodies().values().all(|times| *times == 1));
    let counted = desk.run("one", &["runs", "--json"], 0).await.json();
    assert_eq!(count(&counted["runs"][0], "sent"), count(&ended, "sent"));
}

#[test]
fn wrong_addresses_of_a_ledger_are_refused_in_one_paragraph() {
    let place = Place::new();
    let runs = |ledger: &str, code| place.sheetport(["runs"]).env("SHEETPORT_LEDGER", ledger).exits(code);
    runs("mysql://db.example/l", 2).says(&["the address of the database is not like postgres://USER@HOST/DATABASE"]);
    runs("postgres://a@h/l?passwrd=x", 2).says(&["unknown parameter 'passwrd'"]);
    let refused = place.sheetport(["runs", "--ledger", "postgres://anna:s3cret@db.example/l"]).exits(2);
    refused.says(&["--ledger has a password", "PGPASSWORD"]);
    let unreachable = place.sheetport(["runs"]).secret("SHEETPORT_LEDGER", "postgres://anna:s3cret@127.0.0.1:1/l");
    let said = unreachable.exits(1).says(&["postgres://anna@127.0.0.1:1/l can't be used", "can't be reached"]);
    assert!(!said.stderr.contains("s3cret"), "{said:?}");
    std::fs::create_dir_all(place.path("home")).unwrap();
    place.write("home/sheetport.toml", "[profiles.default]\nledger = \"ledger.db\"\n");
    place.sheetport(["runs"]).exits(2).says(&["sheetport.toml", "the address of the database is not like"]);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let path =
            place.write("home/sheetport.toml", "[profiles.default]\nledger = \"postgres://a:s3cret@127.0.0.1:1/l\"\n");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
        place.sheetport(["runs"]).exits(2).says(&["the settings file has the password of a ledger"]);
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
        place.sheetport(["runs"]).exits(1).says(&["can't be reached"]);
    }

    let Some(server) = Cluster::with(Access::Password) else { return };
    let address = server.database("ledger");
    place.write("home/sheetport.toml", "");
    runs(&address, 1).says(&["refuses the user sheetport or the password", ".pgpass"]);
    let known = place.sheetport(["runs"]).env("SHEETPORT_LEDGER", &address).secret("PGPASSWORD", "s3cret");
    known.exits(0);
    place.sheetport(["doctor"]).env("SHEETPORT_LEDGER", &address).run().shows(&["the password"]);
}
