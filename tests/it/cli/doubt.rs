//! Unknown and failed records: `resolve`, `retry`, `--max-errors`, `--max-unknown` and `runs prune`.

use sheetport_records::RecordKind;

use super::process::{Ended, Place};
use super::{accounting, count, summary};
use crate::faults::server::{Reply, Seen, Server, answer};

const INVOICES: &str = "\
record = \"invoice\"
[fields.cid]
column = \"Customer\"
[fields.currency]
value = \"EUR\"
[lines.id]
column = \"Item\"
[lines.amount]
column = \"Amount\"
[group]
by = [\"Invoice\"]
";

/// Creates a sheet of `count` invoices with one line each, from row 2.
fn place(count: usize) -> Place {
    assert_eq!(RecordKind::Invoice.input().key.len(), 0);
    let place = Place::new();
    let rows = (1..=count).map(|number| format!("R{number},c-{number},i-1,{number}\n"));
    let sheet: String = std::iter::once("Invoice,Customer,Item,Amount\n".to_owned()).chain(rows).collect();
    place.write("invoices.csv", sheet);
    place.write("invoices.toml", INVOICES);
    place
}

/// Returns the customer in the body of a request.
fn customer(seen: &Seen) -> String {
    let body: serde_json::Value = serde_json::from_str(&seen.body).unwrap();
    body["cid"].as_str().unwrap().to_owned()
}

async fn run(place: &Place, server: &Server, args: &[&str], code: i32) -> Ended {
    let sheetport = place
        .sheetport(args)
        .env("SHEETPORT_BASE_URL", &server.address)
        .secret("SHEETPORT_ACCESS_TOKEN", "access-1")
        .env("USER", "anna")
        .without("LOGNAME")
        .without("SUDO_USER");
    tokio::task::spawn_blocking(move || sheetport.exits(code)).await.unwrap()
}

const UPLOAD: [&str; 5] = ["upload", "invoices.csv", "-t", "invoices.toml", "--json"];

#[tokio::test]
async fn resolve_settles_unknown_records_and_retry_sends_the_failed_ones() {
    let place = place(6);
    let server = Server::start(|seen| match customer(seen).as_str() {
        "c-2" | "c-4" | "c-5" => Reply::Reset,
        _ => Reply::Accept,
    })
    .await;
    let upload = summary(&run(&place, &server, &UPLOAD, 4).await);
    assert_eq!(accounting(&upload), "6: sent 3, unknown 3");
    assert_eq!(upload["next"], "sheetport continue 1");

    let listed = run(&place, &server, &["resolve", "1"], 4).await;
    listed.shows(&["row 3", "row 5", "row 6", r#""cid":"c-4""#, "3 records with an unknown outcome"]);
    let listed = run(&place, &server, &["resolve", "1", "--json"], 4).await.json();
    assert_eq!(listed["records"][1]["body"]["cid"], "c-4");
    assert_eq!(listed["records"][1]["rows"][0], 5);

    let twice = run(&place, &server, &["resolve", "1", "--sent", "3", "--failed", "2-4"], 2).await;
    twice.says(&["row 3 is given both as sent and as failed"]);
    let said = run(&place, &server, &["resolve", "1", "--sent", "3", "--json"], 4).await.json();
    assert_eq!((count(&said, "sent"), count(&said, "unknown"), &said["by"]), (1, 2, &"anna".into()));
    let said = run(&place, &server, &["resolve", "1", "--all-failed", "--json"], 0).await.json();
    assert_eq!((count(&said, "failed"), count(&said, "unknown")), (2, 0));
    assert_eq!(said["next"], "sheetport retry 1");

    let runs = run(&place, &server, &["runs", "show", "1", "--json"], 0).await.json();
    assert_eq!((count(&runs, "sent"), count(&runs, "failed"), count(&runs, "unknown")), (4, 2, 0));
    run(&place, &server, &["report", "1", "-o", "r.csv"], 0).await;
    let report = super::table(&place.path("r.csv"));
    assert_eq!(super::column(&report, "sheetport_status"), ["sent", "sent", "sent", "failed", "failed", "sent"]);
    assert!(super::column(&report, "sheetport_errors")[1].contains("anna says that it was applied"));

    let sane = Server::start(|_| Reply::Accept).await;
    let elsewhere = run(&place, &sane, &["retry", "1"], 2).await;
    elsewhere.says(&["planned for"]);
    drop(sane);
    // The retry sends the same bytes.
    let first = server.bodies();
    let retried = summary(&run(&place, &server, &["retry", "1", "--json"], 4).await);
    assert_eq!((accounting(&retried).as_str(), &retried["command"]), ("2: unknown 2", &"retry".into()));
    let again = server.bodies();
    assert!(again.keys().eq(first.keys()));
    assert_eq!(again.values().sum::<usize>(), 8);
    run(&place, &server, &["retry", "1"], 2).await.says(&["run 2 already did that", "sheetport retry 2"]);
    run(&place, &server, &["retry", "2"], 2)
        .await
        .says(&["the service refused none of its records", "sheetport continue 2"]);
    let runs = run(&place, &server, &["runs", "--state", "unknown", "--json"], 0).await.json();
    assert_eq!((runs["runs"].as_array().unwrap().len(), &runs["runs"][0]["retry_of"]), (1, &1.into()));
}

#[tokio::test]
async fn invoices_are_sent_once_without_allow_repeat() {
    let place = place(4);
    let server = Server::start(|_| Reply::Accept).await;
    let with = |more: &[&'static str]| UPLOAD.iter().copied().chain(more.iter().copied()).collect::<Vec<_>>();
    let first = summary(&run(&place, &server, &with(&["--rows", "2-3"]), 0).await);
    assert_eq!(accounting(&first), "4: sent 2, skipped 2");
    let overlapping = run(&place, &server, &with(&["--rows", "3-4"]), 0).await.says(&["run 1", "--allow-repeat"]);
    let overlapping = summary(&overlapping);
    assert_eq!(accounting(&overlapping), "4: sent 1, unchanged 1, skipped 2");
    assert_eq!(
        (&overlapping["sent_before"][0]["run"], &overlapping["sent_before"][0]["rows"][0]),
        (&1.into(), &3.into())
    );
    assert_eq!(accounting(&summary(&run(&place, &server, &with(&[]), 0).await)), "4: sent 1, unchanged 3");
    assert!(server.bodies().values().all(|times| *times == 1));
    assert_eq!(server.log().len(), 4);
    assert_eq!(accounting(&summary(&run(&place, &server, &with(&["--allow-repeat"]), 0).await)), "4: sent 4");
}

#[tokio::test]
async fn max_errors_stops_the_run_and_resume_continues() {
    let place = place(30);
    let server = Server::start(|_| answer(422, "", r#"{"message": "no such customer"}"#)).await;
    let mut args = UPLOAD.to_vec();
    args.extend(["--max-errors", "3", "--concurrency", "1"]);
    let upload = run(&place, &server, &args, 9).await.says(&["4 records were refused or are unknown", "--max-errors"]);
    let upload = summary(&upload);
    assert_eq!(accounting(&upload), "30: failed 4, pending 26");
    run(&place, &server, &["retry", "1"], 2).await.says(&["26 records of it are not sent yet", "sheetport continue 1"]);
    // The run remembers the limit, and counts anew.
    let resumed = summary(&run(&place, &server, &["resume", "--json"], 9).await);
    assert_eq!(accounting(&resumed), "30: failed 8, pending 22");
    let resumed = summary(&run(&place, &server, &["resume", "--max-errors", "30", "--json"], 3).await);
    assert_eq!(accounting(&resumed), "30: failed 30");
}

#[tokio::test]
async fn max_unknown_carries_an_upload_through_a_service_that_loses_answers() {
    let place = place(60);
    let server = Server::start(|seen| if seen.number % 5 == 4 { Reply::Reset } else { Reply::Accept }).await;
    let mut args = UPLOAD.to_vec();
    args.extend(["--concurrency", "1"]);
    let stopped = run(&place, &server, &args, 9).await;
    let stopped =
        stopped.says(&["too many requests got no usable answer", "`sheetport resolve`", "`--max-unknown 100`"]);
    assert_eq!(accounting(&summary(&stopped)), "60: sent 16, unknown 4, pending 40");
    let again = run(&place, &server, &["resume", "--max-unknown", "1", "--json"], 9).await;
    let again = again.says(&["2 records are unknown, more than --max-unknown allows", "a higher --max-unknown"]);
    assert_eq!(accounting(&summary(&again)), "60: sent 24, unknown 6, pending 30");
    assert_eq!(run(&place, &server, &["runs", "show", "1", "--json"], 0).await.json()["max_unknown"], 1);
    let last = summary(&run(&place, &server, &["resume", "--max-unknown", "10", "--json"], 4).await);
    assert_eq!(accounting(&last), "60: sent 48, unknown 12");
}

#[tokio::test]
async fn prune_keeps_runs_with_unknown_records() {
    let place = place(3);
    let server = Server::start(|seen| if customer(seen) == "c-2" { Reply::Reset } else { Reply::Accept }).await;
    run(&place, &server, &UPLOAD, 4).await;
    let mut args = UPLOAD.to_vec();
    args.push("--allow-repeat");
    for _ in 0..2 {
        let repeated = summary(&run(&place, &server, &args, 3).await);
        assert_eq!(accounting(&repeated), "3: sent 2, rejected 1", "an unknown record must be resolved first");
    }
    let prune = ["runs", "prune", "--older-than", "0h", "--json"];
    let asked = run(&place, &server, &[&prune[..], &["--dry-run"]].concat(), 0).await.json();
    assert_eq!((asked["removed"].to_string(), asked["kept"][0]["run"].as_i64()), ("[3,2]".into(), Some(1)));
    let removed = run(&place, &server, &prune, 0).await.json();
    assert_eq!(removed["removed"].to_string(), "[3,2]");
    run(&place, &server, &["runs", "show", "2"], 2).await.says(&["there is no run 2"]);
    let forced = run(&place, &server, &[&prune[..], &["--force"]].concat(), 0).await.json();
    assert_eq!(forced["removed"].to_string(), "[1]");
    let runs = run(&place, &server, &["runs", "--json"], 0).await.json();
    assert_eq!(runs["runs"].as_array().unwrap().len(), 0);
}
