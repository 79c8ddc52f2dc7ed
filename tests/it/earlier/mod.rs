//! What released versions have written is still read: their ledgers, reports and templates. README.md says how to add a version.

use std::collections::BTreeSet;
use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use flate2::read::GzDecoder;
use flate2::{Compression, GzBuilder};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use sheetport_mapping::schema::schema;

use crate::cli::process::{Place, Sheetport, until};
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
    put_ledger(&place, "ledger.db.gz");
    place
}

/// Makes a packed ledger of the version that of the home folder.
fn put_ledger(place: &Place, packed: &str) {
    if let Ok(packed) = fs::File::open(place.path(packed)) {
        let mut ledger = Vec::new();
        GzDecoder::new(packed).read_to_end(&mut ledger).unwrap();
        place.write("home/ledger.db", ledger);
    }
}

/// Packs the ledger of the home folder into a file of this version.
fn pack_ledger(place: &Place, packed: &Path) {
    assert!(!place.path("home/ledger.db-wal").exists(), "all of the ledger is in one file");
    let mut packed = GzBuilder::new().write(fs::File::create(packed).unwrap(), Compression::best());
    packed.write_all(&fs::read(place.path("home/ledger.db")).unwrap()).unwrap();
    packed.finish().unwrap();
}

/// Returns a command that reaches `server` as the service of the runs.
fn asking(place: &Place, server: &Server, args: &[&str]) -> Sheetport {
    reaching(place.sheetport(args), server)
}

fn reaching(command: Sheetport, server: &Server) -> Sheetport {
    let command = command.arg("--insecure-http").env("SHEETPORT_BASE_URL", BASE);
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

/// The executable that writes the files: that of the release, if it is not that of the test.
fn writing(place: &Place, server: &Server, args: &[&str]) -> Sheetport {
    let executable = std::env::var("SHEETPORT_RELEASED").unwrap_or_else(|_| env!("CARGO_BIN_EXE_sheetport").to_owned());
    reaching(place.command(&executable, args), server)
}

/// Answers the movements of C-S and C-M, and keeps the others waiting until the upload is killed.
async fn answers_before_a_kill() -> Server {
    Server::start(|seen| match field(seen, "inventoryExternalId").as_str() {
        "" | "C-S" | "C-M" => Reply::Accept,
        _ => Reply::Late(Duration::from_secs(300), Box::new(Reply::Accept)),
    })
    .await
}

/// Writes the ledgers, the reports and the JSON beside the templates and lists of this version.
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
    let first = writing(&place, &server, &upload).exits(3).json();
    assert_eq!(counts(&first), FIRST);
    writing(&place, &server, &["report", "1", "-o", "report.csv"]).exits(0);
    let upload = ["upload", "sizes.csv", "-t", "sizes.toml", "--json", "--report", "sizes-report.csv"];
    assert_eq!(counts(&writing(&place, &server, &upload).exits(4).json()), SECOND);
    for name in ["report.csv", "report.xlsx"] {
        fs::copy(place.path(name), version.join(name)).unwrap();
    }
    let said = json!({
        "upload": first,
        "runs": writing(&place, &server, &["runs", "--json"]).exits(0).json(),
        "show": writing(&place, &server, &["runs", "show", "2", "--json"]).exits(0).json(),
    });
    fs::write(version.join("said.json"), format!("{said:#}\n")).unwrap();
    pack_ledger(&place, &version.join("ledger.db.gz"));

    fs::remove_file(place.path("home/ledger.db")).unwrap();
    let server = answers_before_a_kill().await;
    let upload =
        ["upload", "movements.csv", "-t", "sizes.toml", "--concurrency", "2", "--report", "movements-report.csv"];
    let killed = writing(&place, &server, &upload).start();
    until("two movements wait", || {
        (server.in_flight(|seen| !["", "C-S", "C-M"].contains(&field(seen, "inventoryExternalId").as_str())) == 2)
            .then_some(())
    });
    killed.kill();
    // Takes the log into the file.
    writing(&place, &server, &["runs", "prune", "--older-than", "1000d"]).exits(0);
    pack_ledger(&place, &version.join("interrupted.db.gz"));
    let sums: String = files(&version).iter().map(|(name, sum)| format!("{sum}  {name}\n")).collect();
    fs::write(version.join(SUMS), sums).unwrap();
}

/// The hashes of all other files of a version.
const SUMS: &str = "SHA256SUMS";

fn files(version: &Path) -> Vec<(String, String)> {
    let entries = fs::read_dir(version).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<(String, String)> = entries
        .map(|path| (path.file_name().unwrap().to_str().unwrap().to_owned(), Sha256::digest(fs::read(path).unwrap())))
        .map(|(name, sum)| (name, sum.iter().map(|byte| format!("{byte:02x}")).collect()))
        .filter(|(name, _)| name != SUMS)
        .collect();
    files.sort();
    files
}

/// What a version has written is evidence of how it was, so it is never made to fit what is written today.
#[test]
fn files_of_earlier_versions_are_as_they_were_written() {
    for version in versions() {
        let sums: String = files(&version).iter().map(|(name, sum)| format!("{sum}  {name}\n")).collect();
        let known = fs::read_to_string(version.join(SUMS)).unwrap();
        assert_eq!(sums, known, "{} was changed; put it back", version.display());
    }
}

/// Fields are added to JSON, never removed or changed.
#[test]
fn json_has_all_that_it_had() {
    for version in versions() {
        let place = place(&version);
        let said: Value = serde_json::from_str(&fs::read_to_string(version.join("said.json")).unwrap()).unwrap();
        let now = place.sheetport(["runs", "--json"]).exits(0).json();
        contains(&now, &said["runs"], "runs");
        let now = place.sheetport(["runs", "show", "2", "--json"]).exits(0).json();
        contains(&now, &said["show"], "runs show");
    }
}

#[track_caller]
fn contains(now: &Value, earlier: &Value, path: &str) {
    match (now, earlier) {
        (Value::Object(now), Value::Object(earlier)) => earlier.iter().for_each(|(key, value)| {
            let path = format!("{path}.{key}");
            contains(now.get(key).unwrap_or_else(|| panic!("{path} is gone")), value, &path);
        }),
        (Value::Array(now), Value::Array(earlier)) => {
            assert_eq!(now.len(), earlier.len(), "{path}");
            now.iter().zip(earlier).for_each(|(now, earlier)| contains(now, earlier, &format!("{path}[]")));
        }
        (now, earlier) => assert_eq!(now, earlier, "{path}"),
    }
}

/// A run that was killed under an earlier version goes on under today's: what was answered stays, what was in flight is unknown, and
/// only the rest is sent.
#[tokio::test(flavor = "multi_thread")]
async fn killed_runs_are_resumed() {
    for version in versions() {
        let place = place(&version);
        put_ledger(&place, "interrupted.db.gz");
        place.sheetport(["runs", "check"]).exits(0);
        let server = Server::start(|_| Reply::Accept).await;
        let resumed = asking(&place, &server, &["resume", "1", "--json", "--report", "second.csv"]).run();
        let expected = "sent 4, skipped 0, rejected 0, failed 0, unknown 2, pending 0";
        assert_eq!(counts(&resumed.json()), expected, "{resumed:?}");
        let sent = server.log();
        let mut sent: Vec<String> = sent.iter().map(|seen| field(seen, "inventoryExternalId")).collect();
        sent.retain(|name| !name.is_empty());
        sent.sort();
        assert_eq!(sent, ["D-L", "D-M"]);
        let again = ["upload", "movements.csv", "-t", "sizes.toml", "--json", "--report", "third.csv"];
        let again = asking(&place, &server, &again).run().json();
        assert_eq!((&again["sent"], again["requests"].as_u64()), (&Value::from(0), Some(0)), "{again}");
    }
}

/// The fields of a summary that scripts have read since.
#[tokio::test(flavor = "multi_thread")]
async fn summaries_have_all_fields_that_they_had() {
    for version in versions() {
        let place = place(&version);
        for name in ["home/ledger.db", "report.xlsx"] {
            fs::remove_file(place.path(name)).unwrap();
        }
        let said: Value = serde_json::from_str(&fs::read_to_string(version.join("said.json")).unwrap()).unwrap();
        let server = first_answers().await;
        let upload = ["upload", "items.csv", "-t", "items.toml", "--json", "--report", "report.xlsx"];
        let now = asking(&place, &server, &upload).exits(3).json();
        assert_eq!(counts(&now), FIRST);
        for key in said["upload"].as_object().unwrap().keys() {
            assert!(now.get(key).is_some(), "{key} of {}", version.display());
        }
    }
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

/// Keys of templates that are newer than the newest folder. The next folder has them.
const KEYS_SINCE: [&str; 9] =
    ["accept", "at_most", "fill_blank", "missing", "only", "record_guess", "resolve", "set", "where"];

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
    let is_new = |key: &&String| KEYS_SINCE.contains(&key.as_str());
    assert!(
        !used.iter().any(|key| is_new(&key)),
        "the newest templates have them, so they are not new: {KEYS_SINCE:?}"
    );
    let missing: Vec<&String> = all.difference(&used).filter(|key| !is_new(key)).collect();
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
