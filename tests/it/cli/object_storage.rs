//! Spreadsheets, reports, exports and inboxes in object storage.

use std::fs;

use serde_json::{Value, json};
use sheetport_datasets::testing;

use super::jobs::arrived;
use super::process::{Place, Sheetport};
use super::service::Served;
use crate::faults::server::{Reply, Server, answer};
use crate::storage::Storage;

struct Shop {
    storage: Storage,
    served: Served,
    place: Place,
}

impl Shop {
    /// Returns `None` with a message if there is no program to serve the storage.
    fn open() -> Option<Shop> {
        let storage = Storage::start()?;
        let place = Place::new();
        let served = Served::start(&place);
        Some(Shop { storage, served, place })
    }

    fn command(&self, args: &[&str]) -> Sheetport {
        self.storage.used_by(self.served.sheetport(&self.place, args.iter().copied()))
    }

    fn json(&self, args: &[&str], exit: i32) -> Value {
        self.command(args).exits(exit).json()
    }
}

#[test]
fn a_sheet_is_uploaded_and_its_corrected_report_as_well() {
    let Some(shop) = Shop::open() else { return };
    shop.storage.put("in/My prices.csv", "SKU,Name,Price\nA1,Bolt,1.50\nA2,Nut,free\n");
    let file = "s3://shop/in/My prices.csv";
    let checked = shop.json(&["check", file, "-t", "items", "--report", "s3://shop/checked.csv", "--json"], 3);
    assert_eq!(checked["report"], "s3://shop/checked.csv");
    assert!(shop.storage.text("checked.csv").contains("free"));
    let sent = shop.json(&["upload", file, "-t", "items", "--json"], 3);
    assert_eq!(sent["report"], "s3://shop/in/My prices.report.xlsx", "{sent}");
    assert_eq!(arrived(&shop.served), ["A1"]);
    // A report is never replaced.
    shop.command(&["report", "-o", "s3://shop/in/My prices.report.xlsx"]).exits(2).says(&["already exists"]);
    shop.json(&["report", "-o", "s3://shop/fix.csv", "--json"], 0);
    let report = shop.storage.text("fix.csv").replace("free", "2");
    shop.storage.put("fix.csv", report);
    let sent = shop.json(&["retry", "s3://shop/fix.csv", "--json"], 0);
    assert_eq!(arrived(&shop.served), ["A1", "A2"], "{sent}");
    let listed = shop.json(&["runs", "--json"], 0);
    assert!(listed["runs"].as_array().unwrap().iter().any(|run| run["file"] == file), "{listed}");
}

#[test]
fn large_files_go_in_parts() {
    let Some(shop) = Shop::open() else { return };
    let row = |number: usize| format!("A{number},{},free\n", "Bolt ".repeat(40));
    let rows: String = (0..45_000).map(row).collect();
    let sheet = format!("SKU,Name,Price\n{rows}");
    assert!(sheet.len() > 9 << 20);
    shop.storage.put("large.csv", sheet);
    let args = ["check", "s3://shop/large.csv", "-t", "items", "--report", "s3://shop/out/report.csv", "--json"];
    let checked = shop.json(&args, 3);
    assert_eq!(checked["rows"], 45_000, "{checked}");
    let report = shop.storage.text("out/report.csv");
    assert!(report.len() > 9 << 20);
    assert_eq!(report.lines().count(), 45_001);
    // Nothing is left of its parts.
    assert_eq!(shop.storage.keys(), ["large.csv", "out/report.csv"]);
    shop.command(&args).exits(2).says(&["already exists"]);
}

#[test]
fn exports_are_stored_whole_with_their_manifests() {
    let Some(shop) = Shop::open() else { return };
    let (place, storage) = (&shop.place, &shop.storage);
    place.write("items.csv", "SKU,Name,Price\nA1,Bolt,1.50\nA2,Nut,2\n");
    shop.json(&["upload", "items.csv", "-t", "items", "--json"], 0);
    // What another process of an earlier day has stored.
    let export = ["export", "items", "-o", "s3://shop/out/items-{date}.csv", "--keep", "1", "--json"];
    let exported = shop.json(&export, 0);
    let name = exported["file"].as_str().unwrap().strip_prefix("s3://shop/").unwrap().to_owned();
    assert_eq!(exported["manifest"], format!("s3://shop/{name}.manifest.json"));
    let manifest: Value = serde_json::from_str(&storage.text(&format!("{name}.manifest.json"))).unwrap();
    assert_eq!(manifest["pattern"], "s3://shop/out/items-{date}.csv");
    assert_eq!(manifest["bytes"], storage.text(&name).len());
    shop.json(&["export", "items", "-o", "local.csv", "--json"], 0);
    assert_eq!(storage.text(&name), fs::read_to_string(place.path("local.csv")).unwrap());
    let old = storage.text(&format!("{name}.manifest.json")).replace("\"started\": \"2", "\"started\": \"1");
    storage.put("out/items-2020-01-01.csv", "old");
    storage.put("out/items-2020-01-01.csv.manifest.json", old);
    let exported = shop.json(&export, 0);
    assert_eq!(exported["removed"], json!(["s3://shop/out/items-2020-01-01.csv"]));
    assert_eq!(storage.keys(), [name.clone(), format!("{name}.manifest.json")]);

    // Changes are appended to the object, from any folder.
    let append = ["export", "items", "-o", "s3://shop/all.csv", "--since", "last", "--append", "--json"];
    shop.json(&append, 0);
    place.write("more.csv", "SKU,Name,Price\nA3,Pin,3\n");
    shop.json(&["upload", "more.csv", "-t", "items", "--json"], 0);
    let exported = shop.json(&append, 0);
    assert_eq!((&exported["count"], &exported["rows_before"]), (&json!(1), &json!(2)));
    assert_eq!(storage.text("all.csv").lines().count(), 4);
    // Somebody else has changed it.
    storage.put("all.csv", "id\n");
    let refused = shop.command(&append).exits(2);
    refused.says(&["s3://shop/all.csv has changed since the last export wrote to it"]);
}

#[test]
fn databases_are_updated_and_days_have_a_folder() {
    let Some(shop) = Shop::open() else { return };
    let (place, storage) = (&shop.place, &shop.storage);
    place.write("items.csv", "SKU,Name\nA1,Bolt\nA2,Nut\n");
    shop.json(&["upload", "items.csv", "-t", "items", "--json"], 0);
    let export = ["export", "items", "-o", "s3://shop/all.db", "--json"];
    shop.json(&export, 0);
    place.write("more.csv", "SKU,Name\nA2,Screw\n");
    shop.json(&["upload", "more.csv", "-t", "items", "--json"], 0);
    // Somebody else adds a view.
    fs::write(place.path("mine.db"), storage.get("all.db").unwrap()).unwrap();
    testing::execute(&place.path("mine.db"), "CREATE VIEW names AS SELECT name FROM items ORDER BY name");
    storage.put("all.db", fs::read(place.path("mine.db")).unwrap());
    shop.json(&export, 0);
    fs::write(place.path("again.db"), storage.get("all.db").unwrap()).unwrap();
    assert_eq!(testing::query(&place.path("again.db"), "SELECT * FROM names"), [["Bolt"], ["Screw"]]);
    assert_eq!(testing::query(&place.path("again.db"), "SELECT change FROM changes"), [["changed"]]);
    #[cfg(feature = "parquet")]
    {
        shop.json(&["export", "items", "-o", "s3://shop/lake/date={date}/items.parquet", "--json"], 0);
        let keys = storage.keys();
        let key = keys.iter().find(|key| key.starts_with("lake/date=20") && key.ends_with("/items.parquet")).unwrap();
        fs::write(place.path("items.parquet"), storage.get(key).unwrap()).unwrap();
        assert_eq!(testing::parquet_rows(&place.path("items.parquet")).len(), 2);
    }
}

#[test]
fn the_next_export_stores_unstored_files() {
    let Some(shop) = Shop::open() else { return };
    let (place, storage) = (&shop.place, &shop.storage);
    place.write("items.csv", "SKU,Name\nA1,Bolt\n");
    shop.json(&["upload", "items.csv", "-t", "items", "--json"], 0);
    let export = ["export", "items", "-o", "s3://shop/out/changes.csv", "--since", "last", "--append", "--json"];
    // As after a process that died when the export was complete, and before it was stored.
    shop.json(&export, 0);
    place.write("more.csv", "SKU,Name\nA2,Nut\n");
    shop.json(&["upload", "more.csv", "-t", "items", "--json"], 0);
    let whole = storage.text("out/changes.csv");
    shop.json(&export, 0);
    let (changed, manifest) = (storage.text("out/changes.csv"), storage.text("out/changes.csv.manifest.json"));
    storage.put("out/changes.csv", whole.clone());
    let staged = staged(place);
    fs::write(staged.join("changes.csv"), &changed).unwrap();
    fs::write(staged.join("changes.csv.manifest.json"), manifest).unwrap();
    let exported = shop.json(&export, 0);
    assert_eq!((&exported["count"], &exported["rows_before"]), (&json!(0), &json!(2)), "{exported}");
    assert_eq!(storage.text("out/changes.csv"), changed);
    assert_ne!(changed, whole);
}

#[test]
fn stand_ins_for_objects_are_never_stored() {
    let Some(shop) = Shop::open() else { return };
    let (place, storage) = (&shop.place, &shop.storage);
    place.write("items.csv", "SKU,Name\nA1,Bolt\n");
    shop.json(&["upload", "items.csv", "-t", "items", "--json"], 0);
    shop.json(&["export", "items", "-o", "s3://shop/out/first.csv", "--json"], 0);
    shop.json(&["export", "items", "-o", "s3://shop/out/second.csv", "--json"], 0);
    let whole = storage.text("out/first.csv");
    let staged = staged(place);
    assert_eq!(fs::read(staged.join("first.csv")).unwrap(), vec![0; whole.len()]);
    // As after a process that died while it prepared the folder.
    let manifest = fs::read(staged.join("first.csv.manifest.json")).unwrap();
    fs::write(staged.join("first.csv.manifest.json"), manifest).unwrap();
    fs::write(staged.join("first.csv"), vec![0; whole.len()]).unwrap();
    fs::remove_file(staged.join(".stand-ins.json")).unwrap();
    shop.json(&["export", "items", "-o", "s3://shop/out/second.csv", "--json"], 0);
    assert_eq!(storage.text("out/first.csv"), whole);
}

/// Returns the folder of local copies.
fn staged(place: &Place) -> std::path::PathBuf {
    let mut folder = place.path("home/objects");
    folder = fs::read_dir(folder).unwrap().next().unwrap().unwrap().path();
    folder.join("out")
}

#[test]
fn workers_take_each_file_of_a_prefix_once() {
    let Some(shop) = Shop::open() else { return };
    let storage = &shop.storage;
    for number in 0..6 {
        storage.put(&format!("in/good-{number}.csv"), format!("SKU,Name\nG{number},Bolt\n"));
    }
    storage.put("in/bad.csv", "SKU,Name,Price\nB1,Bolt,free\n");
    storage.put("in/other.csv", "Foo,Bar\n1,2\n");
    storage.put("in/half.csv.part", "SKU");
    storage.put("in/empty.csv", "");
    // The marker of the folder, as created by the pages of storage services.
    storage.put("in/", "");
    let work = ["work", "--inbox", "s3://shop/in/", "-t", "items", "--until-idle", "--json"];
    let workers = [(); 3].map(|()| shop.command(&work).start());
    let ended: Vec<String> = workers.into_iter().map(|worker| worker.wait().exits(0).stdout).collect();
    let events: Vec<Value> =
        ended.iter().flat_map(|out| out.lines()).map(|line| serde_json::from_str(line).unwrap()).collect();
    for name in ["file-taken", "file"] {
        let files: Vec<&Value> = events.iter().filter(|event| event["event"] == name).collect();
        assert_eq!(files.len(), 9, "{files:#?}");
    }
    assert_eq!(arrived(&shop.served), ["G0", "G1", "G2", "G3", "G4", "G5"]);
    let done: Vec<String> = (0..6).map(|number| format!("done/good-{number}.csv")).collect();
    let failed = ["bad.csv", "bad.report.xlsx", "empty.csv", "empty.report.txt", "other.csv", "other.report.txt"];
    let failed = failed.map(|name| format!("failed/{name}"));
    let expected: Vec<String> =
        done.into_iter().chain(failed).chain(["in/", "in/half.csv.part"].map(str::to_owned)).collect();
    assert_eq!(storage.keys(), expected);
    let note = storage.text("failed/other.report.txt");
    assert!(
        note.contains("s3://shop/in/other.csv does not have the columns") && !note.contains(".sheetport"),
        "{note}"
    );
    let runs = shop.json(&["runs", "--json"], 0);
    assert_eq!(runs["runs"].as_array().unwrap().len(), 7, "{runs}");
    // The same name once more is another file.
    storage.put("in/good-0.csv", "SKU,Name\nG9,Bolt\n");
    shop.command(&work).exits(0);
    assert_eq!(arrived(&shop.served).last().unwrap(), "G9");
    assert!(storage.get("done/good-0-2.csv").is_some());
}

#[test]
fn a_file_of_a_dead_worker_is_continued() {
    let Some(shop) = Shop::open() else { return };
    let storage = &shop.storage;
    let rows: String = (0..400).map(|number| format!("S{number},Bolt\n")).collect();
    storage.put("in/many.csv", format!("SKU,Name\n{rows}"));
    let work = ["work", "--inbox", "s3://shop/in", "-t", "items", "--until-idle", "--json"];
    let worker = shop.command(&work).start();
    super::process::until("some items", || (arrived(&shop.served).len() > 20).then_some(()));
    worker.kill();
    assert!(storage.get("in/many.csv").is_none());
    shop.command(&work).exits(0);
    assert_eq!(arrived(&shop.served).len(), 400);
    assert_eq!(storage.keys(), ["done/many.csv"]);
    let runs = shop.json(&["runs", "--json"], 0);
    assert_eq!(runs["runs"].as_array().unwrap().len(), 1, "{runs}");
}

/// Three workers with one ledger file, of which two are killed and replaced again and again.
#[cfg(unix)]
#[test]
fn files_leave_no_locks_behind() {
    const FILES: usize = 50;
    let Some(shop) = Shop::open() else { return };
    for number in 10..10 + FILES {
        shop.storage.put(&format!("in/good-{number}.csv"), format!("SKU,Name\nG{number},Bolt\n"));
    }
    let work = ["work", "--inbox", "s3://shop/in/", "-t", "items", "--json"];
    let lasting = shop.command(&work).start();
    for round in 1..=3 {
        let workers = [(); 2].map(|()| shop.command(&work).start());
        super::process::until("some files", || (arrived(&shop.served).len() >= 10 * round).then_some(()));
        for worker in workers {
            worker.kill();
        }
    }
    super::process::until("all files", || (arrived(&shop.served).len() == FILES).then_some(()));
    lasting.signal("TERM");
    lasting.wait().exits(0);
    // Continues what the last of the killed workers had taken.
    shop.command(&work).arg("--until-idle").exits(0);

    let done: Vec<String> = (10..10 + FILES).map(|number| format!("done/good-{number}.csv")).collect();
    assert_eq!(shop.storage.keys(), done);
    let runs = shop.json(&["runs", "--limit", "1000", "--json"], 0);
    let sent: Vec<&Value> = runs["runs"].as_array().unwrap().iter().filter(|run| run["sent"] == 1).collect();
    assert_eq!(sent.len(), FILES, "{runs}");
    let locks = fs::read_dir(shop.place.path("home/locks")).unwrap();
    let mut locks: Vec<String> = locks.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    locks.retain(|name| !name.ends_with(".rate"));
    assert_eq!(locks, ["opening.lock"]);
}

#[test]
fn wrong_addresses_and_storages_are_explained() {
    let Some(shop) = Shop::open() else { return };
    shop.storage.put("a.csv", "SKU,Name\nA1,Bolt\n");
    let refused = |args: &[&str], exit, words: &[&str]| {
        let ended = shop.command(args).exits(exit).says(words);
        assert!(!ended.stderr.contains("secret-1"), "{}", ended.stderr);
    };
    refused(&["check", "s3://shop/b.csv", "-t", "items"], 7, &["s3://shop/b.csv does not exist", "AWS_ENDPOINT_URL"]);
    refused(&["check", "s3:///b.csv", "-t", "items"], 2, &["the name of the bucket is missing"]);
    refused(&["export", "items", "-o", "s3://other/a.csv"], 7, &["s3://other", "does not exist"]);
    refused(
        &["export", "items", "-o", "a.csv", "--changes", "s3://shop/c.csv", "--since", "last"],
        2,
        &["same bucket"],
    );
    refused(&["work", "--inbox", "s3://other/in", "-t", "items", "--until-idle"], 7, &["does not exist"]);
    let nobody =
        shop.command(&["check", "s3://shop/a.csv", "-t", "items"]).env("AWS_ENDPOINT_URL", "http://10.255.0.1:9");
    nobody.exits(1).says(&["the endpoint is http://", "--insecure-http"]);
    assert_eq!(arrived(&shop.served), Vec::<String>::new());
}

/// Runs `check` on an object of a scripted storage.
async fn check_object(storage: &Server, exit: i32, words: &[&str]) {
    let place = Place::new();
    let command =
        place.sheetport(["check", "s3://shop/a.csv", "-t", "items"]).env("AWS_ENDPOINT_URL", &storage.address);
    let command = command.env("AWS_REGION", "us-east-1").secret("AWS_ACCESS_KEY_ID", "key-1");
    let command = command.secret("AWS_SECRET_ACCESS_KEY", "secret-1");
    let ended = tokio::task::spawn_blocking(move || command.exits(exit)).await.unwrap();
    let ended = ended.says(words);
    assert_eq!(ended.stderr.matches("error:").count(), 1, "{}", ended.stderr);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bucket_without_rights_is_explained() {
    let denied = "<?xml version=\"1.0\"?><Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>";
    let storage = Server::start(move |_| answer(403, "content-type: application/xml\r\n", denied)).await;
    check_object(&storage, 5, &["s3://shop/a.csv can't be", "access denied", "check the credentials"]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_object_that_is_replaced_while_it_is_read_is_refused() {
    const BYTES: usize = 9 << 20;
    const PART: usize = 8 << 20;
    let about = "etag: \"one\"\r\nlast-modified: Tue, 24 Nov 2026 10:00:00 GMT\r\n";
    let storage = Server::start(move |seen| match seen.number {
        0 => Reply::Bytes(format!("HTTP/1.1 200 OK\r\n{about}content-length: {BYTES}\r\n\r\n")),
        1 => {
            let range = format!("{about}content-range: bytes 0-{}/{BYTES}\r\n", PART - 1);
            answer(206, &range, &"SKU,Name\n".repeat(PART / 9 + 1)[..PART])
        }
        _ => answer(412, "", "<Error><Code>PreconditionFailed</Code></Error>"),
    })
    .await;
    check_object(&storage, 7, &["s3://shop/a.csv changed while it was read", "nothing was sent"]).await;
    assert_eq!(storage.log().len(), 3);
}
