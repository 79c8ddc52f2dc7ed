//! What released versions have written is still read: their ledgers, reports and templates. README.md says how to add a version.

use std::collections::BTreeSet;
use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;
use flate2::{Compression, GzBuilder};
use serde_json::Value;
use sheetport::template::schema::schema;

use crate::cli::process::{Place, Sheetport};
use crate::cli::{column, table};
use crate::faults::server::{Reply, Seen, Server, answer};

/// Only the scripted server, as a proxy, knows this host, so that the address in the ledger is the same everywhere.
const BASE: &str = "http://service.invalid";
const TEMPLATES: [&str; 4] = ["items.toml", "orders.toml", "sizes.toml", "own.toml"];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/earlier")
}

/// Returns the folders of all released versions.
fn versions() -> Vec<PathBuf> {
    let entries = fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path());
    let mut versions: Vec<PathBuf> = entries.filter(|path| path.is_dir()).collect();
    versions.sort();
    assert!(!versions.is_empty());
    versions
}

/// Copies the files of a version, with its ledger in the home folder.
fn place(version: &Path) -> Place {
    let place = Place::new();
    fs::create_dir(place.path("home")).unwrap();
    for entry in fs::read_dir(version).unwrap() {
        let path = entry.unwrap().path();
        fs::copy(&path, place.path(path.file_name().unwrap().to_str().unwrap())).unwrap();
    }
    if let Ok(packed) = fs::File::open(version.join("ledger.db.gz")) {
        let mut ledger = Vec::new();
        GzDecoder::new(packed).read_to_end(&mut ledger).unwrap();
        place.write("home/ledger.db", ledger);
    }
    place
}

/// Returns a command that reaches `server` as the service of the runs.
fn asking(place: &Place, server: &Server, args: &[&str]) -> Sheetport {
    let command = place.sheetport(args).arg("--insecure-http").env("SHEETPORT_BASE_URL", BASE);
    command.env("HTTP_PROXY", &server.address).secret("SHEETPORT_ACCESS_TOKEN", "access-1")
}

fn field(seen: &Seen, name: &str) -> String {
    let body: Value = serde_json::from_str(&seen.body).unwrap_or_default();
    body[name].as_str().unwrap_or_default().to_owned()
}

/// Refuses one item, and leaves one transaction without an answer.
async fn first_answers() -> Server {
    Server::start(|seen| match (field(seen, "externalId").as_str(), field(seen, "inventoryExternalId").as_str()) {
        ("SUED-46", _) => answer(422, "", r#"{"message": "the group is closed"}"#),
        (_, "A-L") => Reply::Reset,
        _ => Reply::Accept,
    })
    .await
}

#[track_caller]
fn counts(summary: &Value) -> String {
    let states = ["sent", "skipped", "rejected", "failed", "unknown", "pending"];
    states.map(|state| format!("{state} {}", summary[state])).join(", ")
}

const FIRST: &str = "sent 3, skipped 2, rejected 1, failed 1, unknown 0, pending 0";
const SECOND: &str = "sent 3, skipped 0, rejected 1, failed 0, unknown 1, pending 0";

/// Writes the ledger and the reports beside the templates and lists of this version.
#[ignore = "writes the files of a release, see README.md"]
#[tokio::test(flavor = "multi_thread")]
async fn writes_the_files_of_this_version() {
    let version = folder().join(env!("CARGO_PKG_VERSION"));
    let place = place(&version);
    for name in ["home/ledger.db", "report.csv", "report.xlsx"] {
        let _ = fs::remove_file(place.path(name));
    }
    let server = first_answers().await;
    let upload = ["upload", "items.csv", "-t", "items.toml", "--json", "--report", "report.xlsx"];
    assert_eq!(counts(&asking(&place, &server, &upload).exits(3).json()), FIRST);
    place.sheetport(["report", "1", "-o", "report.csv"]).exits(0);
    let upload = ["upload", "sizes.csv", "-t", "sizes.toml", "--json", "--report", "sizes-report.csv"];
    assert_eq!(counts(&asking(&place, &server, &upload).exits(4).json()), SECOND);
    for name in ["report.csv", "report.xlsx"] {
        fs::copy(place.path(name), version.join(name)).unwrap();
    }
    assert!(!place.path("home/ledger.db-wal").exists(), "all of the ledger is in one file");
    let packed = fs::File::create(version.join("ledger.db.gz")).unwrap();
    let mut packed = GzBuilder::new().write(packed, Compression::best());
    packed.write_all(&fs::read(place.path("home/ledger.db")).unwrap()).unwrap();
    packed.finish().unwrap();
}

#[test]
fn runs_are_listed_checked_and_reported() {
    for version in versions() {
        let place = place(&version);
        let runs = place.sheetport(["runs", "--json"]).exits(0).json();
        let runs = runs["runs"].as_array().unwrap();
        let listed: Vec<String> = runs.iter().map(counts).collect();
        assert_eq!(listed, [SECOND, FIRST], "{}", version.display());
        place.sheetport(["runs", "show", "1"]).exits(0).shows(&["items.csv", "items.toml", BASE]);
        place.sheetport(["runs", "check"]).exits(0);

        place.sheetport(["report", "1", "-o", "now.csv"]).exits(0);
        assert_eq!(statuses(&place, "now.csv"), statuses(&place, "report.csv"), "{}", version.display());
        for report in ["now.xlsx", "now.html"] {
            place.sheetport(["report", "2", "-o", report]).exits(0);
        }
    }
}

/// Returns the row numbers and states of a report.
fn statuses(place: &Place, report: &str) -> Vec<[String; 2]> {
    let rows = table(&place.path(report));
    let texts = |name| column(&rows, name).into_iter().map(str::to_owned).collect::<Vec<_>>();
    texts("sheetport_row").into_iter().zip(texts("sheetport_status")).map(|(row, status)| [row, status]).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn reports_and_runs_are_retried() {
    for version in versions() {
        for (file, sent) in
            [("report.csv", vec!["NORD-44", "SUED-46"]), ("report.xlsx", vec!["SUED-46"]), ("1", vec!["SUED-46"])]
        {
            let place = place(&version);
            let server = Server::start(|_| Reply::Accept).await;
            if file == "report.csv" {
                let report = fs::read_to_string(place.path(file)).unwrap();
                assert!(report.contains(";free;"), "{report}");
                place.write(file, report.replace(";free;", ";450;"));
            }
            let retry = asking(&place, &server, &["retry", file, "--json", "--report", "second.csv"]).run();
            assert_eq!(retry.json()["sent"], sent.len(), "{file} of {}: {retry:?}", version.display());
            let keys: BTreeSet<String> = server.log().iter().map(|seen| field(seen, "externalId")).collect();
            assert_eq!(keys, sent.into_iter().map(str::to_owned).collect());
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn unknown_records_are_resolved_and_sent() {
    for version in versions() {
        let place = place(&version);
        let server = Server::start(|_| Reply::Accept).await;
        place.sheetport(["resolve", "2", "--all-failed"]).exits(0);
        let retry = asking(&place, &server, &["retry", "2", "--json", "--report", "second.csv"]).run();
        assert_eq!(retry.json()["sent"], 1, "{retry:?}");
        let sent = server.log();
        let sent: Vec<String> = sent.iter().map(|seen| field(seen, "inventoryExternalId")).collect();
        // Requests that only read have no body.
        let sent: Vec<&String> = sent.iter().filter(|name| !name.is_empty()).collect();
        assert_eq!(sent, ["A-L"]);
    }
}

/// The records are those in the ledger of the same version: nothing is left to send.
#[tokio::test(flavor = "multi_thread")]
async fn templates_make_the_same_records() {
    for version in versions() {
        let place = place(&version);
        for template in TEMPLATES {
            place.sheetport(["template", "check", template]).exits(0);
        }
        let server = Server::start(|_| Reply::Accept).await;
        let upload = ["upload", "items.csv", "-t", "items.toml", "--json", "--changed-only", "--report", "again.csv"];
        let upload = asking(&place, &server, &upload).exits(3).json();
        assert_eq!((&upload["unchanged"], &upload["sent"]), (&Value::from(3), &Value::from(1)), "{upload}");
    }
}

#[test]
fn templates_of_the_newest_version_have_every_key() {
    let newest = versions().pop().unwrap();
    let mut used = BTreeSet::new();
    for name in TEMPLATES {
        let template: toml::Table = fs::read_to_string(newest.join(name)).unwrap().parse().unwrap();
        keys(&toml::Value::Table(template), &mut used);
    }
    let mut schema = schema();
    // The fields of each kind of record.
    schema.as_object_mut().unwrap().remove("allOf");
    let mut all = BTreeSet::new();
    properties(&schema, &mut all);
    assert!(all.len() > 60, "{all:?}");
    let missing: Vec<&String> = all.difference(&used).collect();
    assert!(missing.is_empty(), "no template in {} has {missing:?}", newest.display());
}

fn keys(value: &toml::Value, found: &mut BTreeSet<String>) {
    match value {
        toml::Value::Table(table) => table.iter().for_each(|(key, value)| {
            found.insert(key.clone());
            keys(value, found);
        }),
        toml::Value::Array(values) => values.iter().for_each(|value| keys(value, found)),
        _ => {}
    }
}

/// Collects the keys of all tables in a schema.
fn properties(schema: &Value, found: &mut BTreeSet<String>) {
    found.extend(schema["properties"].as_object().into_iter().flat_map(|keys| keys.keys().cloned()));
    let (object, list) = (schema.as_object(), schema.as_array());
    object.into_iter().flat_map(|object| object.values()).for_each(|value| properties(value, found));
    list.into_iter().flatten().for_each(|value| properties(value, found));
}
