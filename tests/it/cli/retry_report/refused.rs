//! Reports that can't be retried, or not yet: refused before planning.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::super::process::{Place, until};
use super::super::service::Served;
use super::super::{accounting, count, summary};
use super::{INVOICES, Sheet, asking, run, said};
use crate::faults::server::{Reply, Server, answer};

fn uploaded() -> (Place, Served) {
    let place = Place::new();
    let served = Served::start(&place);
    place.write("prices.csv", "SKU,Name,Price,Currency\n1,Bolt,free,EUR\n2,Nut,1.10,EUR\n");
    served.sheetport(&place, ["upload", "prices.csv", "-t", "items"]).csv_report("prices.report.csv").exits(3);
    (place, served)
}

#[test]
fn file_without_a_run_is_refused_with_a_hint() {
    let (place, served) = uploaded();
    let sheet = Sheet::open(&place, "prices.report.csv");
    let refused = |sheet: &Sheet, words: &[&str]| {
        sheet.save(&place, "mended.csv");
        let ended = served.sheetport(&place, ["retry", "mended.csv"]).exits(2);
        ended.says(words);
    };
    for column in ["sheetport_run", "sheetport_row"] {
        refused(sheet.clone().drop_column(column), &[&format!("mended.csv has no column {column}"), "--as-new"]);
    }
    let mut bare = sheet.clone();
    bare.0.iter_mut().for_each(|row| row.truncate(4));
    refused(&bare, &["has no column sheetport_run", "--as-new"]);
    let mut blank = sheet.clone();
    for row in [2, 3] {
        blank.set(row, "sheetport_run", "").set(row, "sheetport_row", "");
    }
    refused(&blank, &["names no run in its column sheetport_run"]);
    for token in ["1-bcdfgh", "7-bcdfgh", "1", "x", "9223372036854775808-bcdfgh"] {
        let mut foreign = sheet.clone();
        foreign.set(2, "sheetport_run", token).set(3, "sheetport_run", token);
        let words = format!("is a report of run {token}, which is not in the ledger of this machine");
        refused(&foreign, &[&words, "SHEETPORT_HOME", "--as-new"]);
    }
    let check = ["check", "prices.csv", "-t", "items", "--report", "check.csv"];
    place.sheetport(check).exits(3);
    served.sheetport(&place, ["retry", "check.csv"]).exits(2).says(&["is the report of a check", "sheetport upload"]);
    place.sheetport(["upload", "prices.csv", "-t", "items", "--rehearse", "--report", "rehearsal.csv"]).exits(3);
    served
        .sheetport(&place, ["retry", "rehearsal.csv"])
        .exits(2)
        .says(&["is the report of a rehearsal", "sheetport upload"]);
    served.sheetport(&place, ["retry", "none.csv"]).exits(7).says(&["none.csv"]);
    served.sheetport(&place, ["retry", "1", "--as-new"]).exits(2).says(&["--as-new is for reports", "./1"]);
    assert_eq!(served.total(), 1);
    assert_eq!(place.sheetport(["runs", "--json"]).exits(0).json()["runs"].as_array().unwrap().len(), 1);
}

#[test]
fn other_ledger_workspace_or_address_is_refused_unless_as_new() {
    let (place, served) = uploaded();
    let mut sheet = Sheet::open(&place, "prices.report.csv");
    sheet.replace("free", "1").save(&place, "mended.csv");
    let args = ["retry", "mended.csv"];
    // Another ledger that has a run of that number, of the same file.
    let home = place.path("other-home");
    let home = home.to_str().unwrap();
    served.sheetport(&place, ["upload", "prices.csv", "-t", "items", "-q"]).env("SHEETPORT_HOME", home).exits(3);
    let elsewhere = served.sheetport(&place, args).env("SHEETPORT_HOME", home).exits(2);
    elsewhere.says(&["is a report of run 1-", "not in the ledger of this machine"]);

    let other = Place::new();
    let away = Served::start(&other);
    let at = |args: &[&str]| {
        let home = place.path("home");
        let tokens = super::super::service::tokens(&other, "full");
        let file = place.path("mended.csv");
        let args = args
            .iter()
            .map(|arg| if *arg == "mended.csv" { file.to_str().unwrap().to_owned() } else { (*arg).to_owned() });
        other
            .sheetport(args)
            .env("SHEETPORT_HOME", home.to_str().unwrap())
            .env("SHEETPORT_BASE_URL", &away.url())
            .secret("SHEETPORT_ACCESS_TOKEN", &tokens.access)
    };
    at(&args).exits(2).says(&["run 1 can't be retried: it was planned for", "--as-new sends all of its rows there"]);
    assert_eq!(away.total(), 0);
    // All rows are new there, by the template of that run.
    let ended = at(&["retry", "mended.csv", "--as-new", "--json"]).exits(0);
    assert_eq!(accounting(&summary(&ended)), "2: sent 2");
    assert_eq!(away.total(), 2);

    let args = ["serve", "token", "--data", "service", "--workspace", "another", "--json"];
    let pair = place.sheetport(args).exits(0).json();
    let refused = place
        .sheetport(["retry", "mended.csv"])
        .env("SHEETPORT_BASE_URL", &served.url())
        .secret("SHEETPORT_ACCESS_TOKEN", pair["access"].as_str().unwrap());
    refused.exits(2).says(&["planned for the workspace 'shop', but the token is for 'another'"]);
}

#[test]
fn as_new_requires_a_known_template() {
    let (place, served) = uploaded();
    let mut sheet = Sheet::open(&place, "prices.report.csv");
    sheet.replace("free", "1");
    sheet.0.iter_mut().for_each(|row| row.truncate(4));
    sheet.save(&place, "bare.csv");
    let args = ["retry", "bare.csv", "--as-new", "--json"];
    served.sheetport(&place, args).exits(2).says(&["template is unknown", "-t TEMPLATE"]);
    let ended = served.sheetport(&place, args).args(["-t", "items"]).exits(0);
    let ended = summary(&ended);
    assert_eq!(accounting(&ended), "2: sent 2");
    let run = place.sheetport(["runs", "show", "--json"]).exits(0).json();
    assert_eq!((&run["command"], &run["retry_of"]), (&"retry".into(), &serde_json::Value::Null));
    served.sheetport(&place, ["retry", "--help"]).exits(0).shows(&["duplicates", "--as-new"]);
}

#[tokio::test]
async fn pending_records_of_any_related_run_must_be_resumed_first() {
    let place = Place::new();
    place.write("t.toml", INVOICES);
    let rows: String = (1..=6).map(|n| format!("{n},c-{n},i,{}\n", if n == 6 { "many" } else { "1" })).collect();
    place.write("invoices.csv", format!("No,Cid,Item,Amount\n{rows}"));
    let refusing = Arc::new(AtomicBool::new(true));
    let refuses = Arc::clone(&refusing);
    let server = Server::start(move |_| match refuses.load(Ordering::SeqCst) {
        true => answer(422, "", r#"{"message": "no such customer"}"#),
        false => Reply::Accept,
    })
    .await;
    let stop = ["--max-errors", "0", "--concurrency", "1", "--json"];
    run(&place, &server, &[&["upload", "invoices.csv", "-t", "t.toml"], &stop[..]].concat(), 9).await;
    run(&place, &server, &["report", "-o", "r.csv"], 0).await;
    let mut sheet = Sheet::open(&place, "r.csv");
    sheet.replace("many", "1").save(&place, "r.csv");
    let waits = run(&place, &server, &["retry", "r.csv"], 2).await;
    waits.says(&["4 records of it are not sent yet", "first run `sheetport continue 1`"]);
    run(&place, &server, &["resume", "--max-errors", "10", "--json"], 3).await;
    // The retry stops, too: neither the first report nor its own run's number may go round it.
    let stopped = run(&place, &server, &[&["retry", "r.csv"], &stop[..]].concat(), 9).await;
    assert_eq!(accounting(&summary(&stopped)), "6: failed 1, pending 5");
    let waits = run(&place, &server, &["retry", "r.csv"], 2).await;
    waits.says(&[
        "5 records of run 2, which belongs to the same upload, are not sent yet",
        "first run `sheetport continue 2`",
    ]);
    refusing.store(false, Ordering::SeqCst);
    assert_eq!(accounting(&summary(&run(&place, &server, &["resume", "2", "--json"], 3).await)), "6: sent 5, failed 1");
    let last = summary(&run(&place, &server, &["retry", "r.csv", "--json"], 0).await);
    assert_eq!(accounting(&last), "6: sent 1, unchanged 5");
    let accepted = |n: usize| server.log().iter().filter(|seen| said(seen, "cid") == format!("c-{n}")).count();
    // Each was refused once or twice and accepted once; nobody asks again.
    let before: Vec<usize> = (1..=6).map(accepted).collect();
    run(&place, &server, &["retry", "r.csv", "--json"], 0).await;
    run(&place, &server, &["retry", "1"], 2).await.says(&["run 4 already did that"]);
    run(&place, &server, &["retry", "2"], 2).await.says(&["other runs have since sent every record that was refused"]);
    assert_eq!((1..=6).map(accepted).collect::<Vec<_>>(), before);
}

#[tokio::test]
async fn records_with_unknown_outcome_wait_for_resolve() {
    let place = Place::new();
    place.write("t.toml", INVOICES);
    place.write("invoices.csv", "No,Cid,Item,Amount\n1,c-1,i,1\n2,c-2,i,1\n3,c-3,i,many\n");
    let server = Server::start(|seen| match (said(seen, "cid").as_str(), seen.repeat) {
        ("c-1" | "c-2", 0) => Reply::Reset,
        _ => Reply::Accept,
    })
    .await;
    let upload = ["upload", "invoices.csv", "-t", "t.toml", "--json", "--report", "invoices.report.csv"];
    run(&place, &server, &upload, 4).await;
    let mut sheet = Sheet::open(&place, "invoices.report.csv");
    sheet.replace("many", "1").save(&place, "invoices.report.csv");
    let retry = ["retry", "invoices.report.csv", "--json"];
    let report = ["--report", "invoices.report-2.csv"];
    let ended = summary(&run(&place, &server, &[&retry[..], &report].concat(), 3).await);
    assert_eq!(accounting(&ended), "3: sent 1, rejected 2");
    assert_eq!(ended["next"], "sheetport resolve 1");
    let said = run(&place, &server, &["retry", "invoices.report.csv", "--dry-run"], 3).await;
    said.shows(&["may have been applied in run 1", "`sheetport resolve 1`"]);
    let report = Sheet::open(&place, "invoices.report-2.csv");
    assert!(report.column("sheetport_errors")[0].contains("may have been applied in run 1"), "{report:?}");
    run(&place, &server, &["resolve", "1", "--sent", "2", "--failed", "3"], 0).await;
    // Whichever report comes back.
    let args = ["retry", "invoices.report-2.csv", "--json"];
    assert_eq!(accounting(&summary(&run(&place, &server, &args, 0).await)), "3: sent 1, unchanged 2");
    assert_eq!(accounting(&summary(&run(&place, &server, &retry, 0).await)), "3: unchanged 3");
    assert_eq!(server.log().len(), 4);
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_retry_is_resumed_and_related_runs_exclude_each_other() {
    let place = Place::new();
    place.write("t.toml", INVOICES);
    let rows: String = (1..=40).map(|n| format!("{n},c-{n},i,many\n")).collect();
    place.write("invoices.csv", format!("No,Cid,Item,Amount\n99,c-99,i,1\n{rows}"));
    // After the first requests the service is busy, so that the others come while the first one waits.
    let busy = Arc::new(AtomicBool::new(true));
    let is_busy = Arc::clone(&busy);
    let server = Server::start(move |seen| match seen.number > 8 && is_busy.load(Ordering::Relaxed) {
        true => Reply::Late(Duration::from_secs(60), Box::new(Reply::Accept)),
        false => Reply::Accept,
    })
    .await;
    let upload = ["upload", "invoices.csv", "-t", "t.toml", "-q", "--report", "invoices.report.csv"];
    run(&place, &server, &upload, 3).await;
    let mut sheet = Sheet::open(&place, "invoices.report.csv");
    sheet.replace("many", "1").save(&place, "invoices.report.csv");
    place.write("copy.csv", std::fs::read(place.path("invoices.report.csv")).unwrap());
    let retrying = asking(&place, &server, &["retry", "invoices.report.csv", "--concurrency", "2"]).start();
    until("some requests", || (server.log().len() > 6).then_some(()));
    for other in [&["retry", "copy.csv"][..], &["retry", "1"], &["resume", "2"], &["resolve", "1"]] {
        run(&place, &server, other, 6).await.says(&["another sheetport process is working"]);
    }
    retrying.kill();
    busy.store(false, Ordering::Relaxed);
    let words = run(&place, &server, &["retry", "copy.csv"], 2).await;
    words.says(&["which belongs to the same upload,", "first run `sheetport continue 2`"]);
    let resuming = asking(&place, &server, &["resume", "--json"]);
    let resumed = summary(&tokio::task::spawn_blocking(move || resuming.run()).await.unwrap());
    assert_eq!(count(&resumed, "sent") + count(&resumed, "unknown"), 40);
    assert_eq!(count(&resumed, "unchanged"), 1);
    assert!(count(&resumed, "unknown") <= 2, "{resumed}");
    assert!(server.bodies().values().all(|times| *times == 1));
    let again = asking(&place, &server, &["retry", "copy.csv", "--json"]);
    let again = summary(&tokio::task::spawn_blocking(move || again.run()).await.unwrap());
    assert_eq!(count(&again, "unchanged"), 1 + count(&resumed, "sent"));
    assert_eq!(count(&again, "rejected"), count(&resumed, "unknown"));
}

#[test]
fn related_runs_are_pruned_together() {
    let (place, served) = uploaded();
    served.sheetport(&place, ["retry", "prices.report.csv", "-q"]).exits(3);
    let prune = ["runs", "prune", "--older-than", "0h", "--json"];
    let pruned = place.sheetport(prune).exits(0).json();
    assert_eq!(pruned["removed"].to_string(), "[2,1]");
    served.sheetport(&place, ["retry", "prices.report.csv"]).exits(2).says(&["not in the ledger of this machine"]);
}
