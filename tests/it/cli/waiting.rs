//! `runs wait`, `runs watch` and `runs stop`, for runs that other machines send, and what is said about the others.

use std::time::Duration;

use super::desk::{Desk, late};
use super::process::until;
use super::{accounting, items, summary};
use crate::faults::server::Reply;

#[tokio::test(flavor = "multi_thread")]
async fn waiting_survives_a_restart_of_the_database() {
    let Some(mut desk) = Desk::new(|_| late(Reply::Accept)).await else { return };
    desk.place.write("items.csv", items(60));
    desk.run("one", &["upload", "items.csv", "-t", "items", "--queue", "-q"], 0).await;
    let waiting = ["wait", "watch"].map(|action| {
        let ledger = format!("{}&application_name={action}", desk.ledger);
        desk.on("one", &["runs", action, "1", "--json"]).env("SHEETPORT_LEDGER", &ledger).start()
    });
    until("looks at the run by both", || {
        // The first session of a process only looks at the tables.
        let looking = "SELECT COUNT(DISTINCT application_name) FROM pg_stat_activity WHERE application_name IN ('wait', 'watch') \
                       AND query !~ 'pg_|_sqlx_migrations|^SET|^$'";
        (desk.server.query("ledger", looking) == "2").then_some(())
    });
    desk.server.crash();
    waiting.iter().for_each(|waiting| waiting.has_said("trying again for up to 5 minutes"));
    desk.server.run();
    desk.run("two", &["work", "--until-idle"], 0).await;
    for waiting in waiting {
        let ended = tokio::task::spawn_blocking(move || waiting.wait()).await.unwrap();
        // It was said once, above.
        assert!(!ended.stderr.contains("trying again"), "{}", ended.stderr);
        assert_eq!(accounting(&summary(&ended.exits(0))), "60: sent 60");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_report_of_an_inbox_s_run_is_written_to_the_current_folder() {
    let Some(desk) = Desk::new(|_| Reply::Accept).await else { return };
    std::fs::create_dir(desk.place.path("in")).unwrap();
    desk.place.write("in/part.csv", "SKU,Name,Price\nB1,Bolt,1.50\nB2,Nut,free\n");
    desk.run("one", &["work", "--inbox", "in", "-t", "items", "--until-idle"], 0).await;
    assert!(desk.place.path("failed/part.report.xlsx").exists());
    let waited = summary(&desk.run("two", &["runs", "wait", "1", "--json"], 3).await);
    let report = desk.place.path("part.report.xlsx").canonicalize().unwrap();
    assert_eq!(std::path::Path::new(waited["report"].as_str().unwrap()).canonicalize().unwrap(), report);
    desk.run("two", &["runs", "wait", "1", "--report", "named.csv"], 3).await;
    assert!(desk.place.path("named.csv").exists());
    assert!(!desk.place.path("in/.sheetport").exists());
    let shown = desk.run("two", &["runs", "show", "1"], 0).await.stdout;
    assert!(shown.contains("in/part.csv") && !shown.contains(".sheetport"), "{shown}");
    let listed = desk.run("two", &["runs", "--file", "in/part.csv", "--json"], 0).await.json();
    assert_eq!(listed["runs"].as_array().unwrap().len(), 1, "{listed}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_others_are_named_and_a_run_is_queued_again_without_a_token() {
    let Some(desk) = Desk::new(|_| Reply::Late(Duration::from_millis(40), Box::new(Reply::Accept))).await else {
        return;
    };
    desk.place.write("items.csv", items(600));
    let queued = desk.run("one", &["upload", "items.csv", "-t", "items", "--queue"], 0).await;
    // The token of these tests is opaque.
    queued.says(&["only workers with such a token send the run"]);
    let worker = desk.on("two", &["work"]).start();
    until("some requests", || (desk.service.log().len() >= 30).then_some(()));
    let process = format!("workers send run 1, such as process {} on ", worker.id());
    desk.run("one", &["resume", "1"], 6).await.says(&[&process, "`sheetport runs stop 1`"]);
    desk.run("one", &["runs", "stop", "1", "--by", "Ann"], 0).await;
    desk.run("one", &["runs", "wait", "1", "-q"], 9).await;
    worker.kill();

    let home = desk.place.path("three");
    let tokens = ["serve", "token", "--workspace", "shop", "--json"];
    let tokens = desk.place.sheetport(tokens).env("SHEETPORT_HOME", home.to_str().unwrap()).exits(0).json();
    let other = desk.on("one", &["resume", "1"]).env("SHEETPORT_ACCESS_TOKEN", tokens["access"].as_str().unwrap());
    let words = ["a token that does not say for which workspace it is, but the token here is for 'shop'"];
    tokio::task::spawn_blocking(move || other.exits(2)).await.unwrap().says(&words);

    let without = desk.on("three", &["resume", "1", "--queue", "--json"]).without("SHEETPORT_ACCESS_TOKEN");
    let queued = tokio::task::spawn_blocking(move || without.exits(0)).await.unwrap();
    assert_eq!(summary(&queued)["queued"], true);
    desk.server.end_leases("ledger");
    desk.run("two", &["work", "--until-idle", "-q"], 0).await;
    let ended = summary(&desk.run("one", &["runs", "wait", "1", "--json"], 0).await);
    assert_eq!(accounting(&ended), "600: sent 600");
}
