//! Kills a process before each of its writes while it appends changes to a file and lists them. Checks that no change is lost or
//! appended twice.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Arc, PoisonError};
use std::time::{Instant, SystemTime};

use sheetport_client::auth::Credentials;
use sheetport_client::{Client, ConnectOptions, Pace, Request, Response, TransportOutcome};
use sheetport_sheet::write::full_disk;

use super::simulation::STARTS_PROCESSES;
use super::{Clock, Error, Exported, Job, Since, export};

/// Variable with the folder of the process to be killed.
const FOLDER: &str = "SHEETPORT_TEST_KILL_FOLDER";
/// Variable with the number of writes before the kill.
const WRITES: &str = "SHEETPORT_TEST_KILL_WRITES";
/// More writes than an export of this test has.
const MOST_WRITES: usize = 1_000;

/// Appends the changes to `deltas.csv`. The service lists the content of `list.json`.
fn append(folder: &Path) -> Result<Exported, Error> {
    let list = fs::read_to_string(folder.join("list.json")).expect("a list");
    let script = move |request: &Request| {
        let body = if request.path.contains("page=1&") { list.clone() } else { r#"{"data":[]}"#.to_owned() };
        TransportOutcome::Response(Response {
            status: 200,
            body: body.into_bytes(),
            retry_after: None,
            redirect: None,
            quota: None,
        })
    };
    let credentials = Credentials { access: Some("access-1".into()), refresh: None, file: None };
    let client = Client::new("http://localhost:1", credentials, &ConnectOptions::default(), 1).expect("a client");
    let client = Arc::new(client.with_script(Box::new(script)));
    let clock = Clock { local: jiff::Zoned::now(), now: SystemTime::now };
    let mut job = Job::in_folder(folder, "deltas.csv", clock).with_changes(folder, "changes.ndjson");
    (job.options.since, job.options.append) = (Since::Last, true);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(export(client, Arc::new(Pace::new(None, Instant::now())), &job, &|_, _| {}))
}

/// Lists these records: id and name.
fn list(folder: &Path, records: &[(&str, &str)]) {
    let entries: Vec<String> = records.iter().map(|(id, name)| format!(r#"{{"id":"{id}","name":"{name}"}}"#)).collect();
    let list = format!(r#"{{"data":[{}],"total":{}}}"#, entries.join(","), entries.len());
    fs::write(folder.join("list.json"), list).expect("written");
}

/// Returns id and name of each row.
fn rows(folder: &Path) -> Vec<String> {
    let text = fs::read_to_string(folder.join("deltas.csv")).unwrap_or_default();
    assert!(text.is_empty() || text.ends_with("\r\n"), "{text:?}");
    let row = |line: &str| line.split(',').filter(|cell| !cell.is_empty()).collect::<Vec<_>>().join(" ");
    text.lines().skip(1).map(row).collect()
}

/// Returns the change of each record, from the list of changes.
fn changes(folder: &Path) -> BTreeMap<String, String> {
    let text = fs::read_to_string(folder.join("changes.ndjson")).unwrap_or_default();
    let change = |line: &str| {
        let row: serde_json::Value = serde_json::from_str(line).expect("JSON");
        let text = |name: &str| row[name].as_str().unwrap_or_default().to_owned();
        (text("id"), text("change"))
    };
    text.lines().map(change).collect()
}

#[test]
fn a_kill_before_any_write_neither_loses_nor_repeats_changes() {
    if let Some(folder) = std::env::var_os(FOLDER) {
        let writes = std::env::var(WRITES).ok().and_then(|writes| writes.parse().ok()).expect("a number");
        full_disk::kill_after(Path::new(&folder), writes);
        append(Path::new(&folder)).expect("exported");
        return;
    }
    let mut moved = 0;
    for writes in 0..MOST_WRITES {
        let folder = tempfile::tempdir().expect("a folder");
        let folder = folder.path();
        let begins = writes % 3 > 0;
        if begins {
            list(folder, &[("a", "a1"), ("b", "b1"), ("c", "c1")]);
            append(folder).expect("exported");
            list(folder, &[("a", "a1"), ("b", "b2"), ("d", "d1")]);
        } else {
            list(folder, &[("a", "a1"), ("b", "b2"), ("d", "d1")]);
        }
        let mut expected: Vec<&str> = if begins { vec!["a a1", "b b1", "c c1"] } else { Vec::new() };
        let before = rows(folder);
        assert_eq!(before, expected);
        let test = "kills::a_kill_before_any_write_neither_loses_nor_repeats_changes";
        let mut child = Command::new(std::env::current_exe().expect("this test"));
        let child = child.args(["--exact", test]).env(FOLDER, folder).env(WRITES, writes.to_string());
        let running = {
            let _alone = STARTS_PROCESSES.write().unwrap_or_else(PoisonError::into_inner);
            child.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("a process")
        };
        let ended = running.wait_with_output().expect("a process");
        // The file is always whole.
        let after = rows(folder);
        let new: &[&str] = if begins { &["b b2", "d d1"] } else { &["a a1", "b b2", "d d1"] };
        let was_appended = after != before;
        assert_eq!(after, [&expected[..], if was_appended { new } else { &[] }].concat(), "{writes} writes");
        if ended.status.success() {
            assert!(was_appended && moved > 2, "{writes} writes, {moved}");
            return;
        }
        moved += u32::from(was_appended);
        // More has changed until the next export, or nothing.
        let is_changed = writes % 2 == 0;
        if is_changed {
            list(folder, &[("a", "a1"), ("b", "b2"), ("d", "d2"), ("e", "e1")]);
        }
        let exported = append(folder).expect("exported");
        expected.extend(new.iter().filter(|row| was_appended || !is_changed || **row != "d d1"));
        expected.extend(if is_changed { &["d d2", "e e1"][..] } else { &[] });
        assert_eq!(rows(folder), expected, "{writes} writes");
        assert_eq!(exported.remarks.iter().filter(|remark| !remark.contains("no changes of items")).count(), 0);
        // The list has the changes of both.
        if begins {
            let changes: Vec<String> =
                changes(folder).into_iter().map(|(id, change)| format!("{id} {change}")).collect();
            let e = is_changed.then(|| "e added".to_owned());
            let listed = ["b changed", "c removed", "d added"].map(str::to_owned).into_iter().chain(e);
            assert_eq!(changes, listed.collect::<Vec<_>>(), "{writes} writes");
        }
        assert_eq!(
            append(folder).map_err(|error| error.to_string()).map(|again| again.manifest.count).ok().unwrap_or(0),
            0
        );
        assert_eq!(rows(folder), expected, "{writes} writes");
    }
    panic!("the export did not end");
}
