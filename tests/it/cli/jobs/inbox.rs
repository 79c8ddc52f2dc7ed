//! Files from an inbox: what arrives at the service, and where the files are afterwards.

use std::fs;

use serde_json::{Value, json};

use super::super::process::Place;
use super::super::service::Served;
use super::{INBOX, arrived, files, with_job};

fn run(place: &Place, served: &Served, exit: i32) -> Value {
    served.sheetport(place, ["job", "run", "nightly.toml", "--json"]).exits(exit).json()
}

#[test]
fn files_are_uploaded_and_moved_with_their_reports() {
    let place = with_job(&format!(
        "{INBOX}\n[[step]]\nname = \"list\"\nexport = \"items\"\noutput = \"out/items-{{date}}.csv\"\nkeep = 2\n"
    ));
    let served = Served::start(&place);
    place.write("inbox/good.csv", "SKU,Name,Price\nA1,Bolt,1.50\nA2,Nut,2\n");
    place.write("inbox/bad.csv", "SKU,Name,Price\nB1,Bolt,1.50\nB2,Nut,free\n");
    place.write("inbox/other.csv", "Foo,Bar\n1,2\n");
    place.write("inbox/open.csv", "SKU,Name\nC1,Bolt\n");
    place.write("inbox/~$open.csv", "\u{4}Anna      ");
    place.write("inbox/half.csv.part", "SKU,Na");
    let ran = run(&place, &served, 7);
    assert_eq!(arrived(&served), ["A1", "A2", "B1"]);
    assert_eq!(files(&place, &["inbox"]), ["inbox/half.csv.part", "inbox/open.csv", "inbox/~$open.csv"]);
    assert_eq!(
        files(&place, &["done", "failed"]),
        ["done/good.csv", "failed/bad.csv", "failed/bad.report.xlsx", "failed/other.csv", "failed/other.report.txt"]
    );
    let [upload, export] = ran["steps"].as_array().unwrap().as_slice() else { panic!("{ran}") };
    assert_eq!((&upload["state"], &upload["exit"], &export["state"]), (&json!("failed"), &json!(7), &json!("done")));
    assert_eq!((&export["name"], &export["files"][0]["count"]), (&json!("list"), &json!(3)));
    let places: Vec<&str> =
        upload["files"].as_array().unwrap().iter().map(|file| file["place"].as_str().unwrap()).collect();
    assert_eq!(places.iter().filter(|place| **place == "failed").count(), 2, "{places:?}");
    assert!(places.contains(&"done") && places.contains(&"waiting"));
    assert!(ran["warnings"][0].as_str().unwrap().contains("open in Excel (Anna)"), "{ran}");
    let note = fs::read_to_string(place.path("failed/other.report.txt")).unwrap();
    assert!(note.contains("inbox/other.csv does not have the columns") && !note.contains(".sheetport"), "{note}");

    // The report, fixed and handed in again, sends only what was not sent.
    let bad = upload["files"]
        .as_array()
        .unwrap()
        .iter()
        .find(|file| file["report"].is_string() && file["summary"].is_object());
    let bad_run = bad.unwrap()["summary"]["run"].to_string();
    served.sheetport(&place, ["report", &bad_run, "-o", "inbox/bad.report.csv"]).exits(0);
    let path = place.path("inbox/bad.report.csv");
    let report = fs::read_to_string(&path).unwrap();
    fs::write(&path, report.replace("free", "3")).unwrap();
    fs::remove_file(place.path("inbox/~$open.csv")).unwrap();
    let ran = run(&place, &served, 0);
    assert_eq!(arrived(&served), ["A1", "A2", "B1", "B2", "C1"], "{ran}");

    // Nothing came, and -q says nothing.
    let quiet = served.sheetport(&place, ["job", "run", "nightly.toml", "-q"]).exits(0);
    assert_eq!((quiet.stdout.as_str(), quiet.stderr.as_str()), ("", ""));
    let ran = run(&place, &served, 0);
    assert_eq!(ran["steps"][0]["state"], "nothing");
    assert!(ran["previous"]["ended"].is_string());
}

#[cfg(unix)]
#[test]
fn reports_and_notes_have_no_more_readers_than_their_file() {
    use std::os::unix::fs::PermissionsExt as _;
    let place = with_job(INBOX);
    let served = Served::start(&place);
    for (file, content) in [("other.csv", "Foo,Bar\n1,2\n"), ("bad.csv", "SKU,Price\nB2,free\n")] {
        let path = place.write(&format!("inbox/{file}"), content);
        fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap();
    }
    run(&place, &served, 7);
    for file in ["other.csv", "other.report.txt", "bad.csv", "bad.report.xlsx"] {
        let mode = fs::metadata(place.path(&format!("failed/{file}"))).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{file}");
    }
}

const MOVEMENTS: &str = "record = \"inventory-transaction\"\n[fields.transactionType]\nvalue = \"in\"\n\
                         [fields.inventoryExternalId]\ncolumn = \"Stock\"\n[fields.transactionAmount]\ncolumn = \"Qty\"\n";

#[test]
fn a_file_that_is_dropped_twice_creates_nothing_twice() {
    let job = INBOX.replace("\"items\"", "\"moves.toml\"");
    let place = with_job(&job);
    place.write("moves.toml", MOVEMENTS);
    place.write("inventories.csv", "id,inventory_id,external_id,name\ni1,1,MAIN,Bolts\n");
    place.sheetport(["serve", "load", "--data", "service", "--workspace", "shop", "inventories.csv"]).exits(0);
    let served = Served::start(&place);
    let moves = "Stock,Qty\nMAIN,5\nMAIN,7\n";
    place.write("inbox/moves.csv", moves);
    run(&place, &served, 0);
    place.write("inbox/moves.csv", moves);
    let again = run(&place, &served, 0);
    assert_eq!(again["steps"][0]["files"][0]["summary"]["sent"], 0, "{again}");
    assert!(again["warnings"][0].as_str().unwrap().contains("was sent in run 1 on "), "{again}");
    // Both are kept, under different names.
    assert_eq!(files(&place, &["done"]), ["done/moves-2.csv", "done/moves.csv"]);
    let shown = place.sheetport(["serve", "show", "transactions", "--data", "service", "--json"]).exits(0).json();
    let stored = shown["records"].as_array().map_or(0, Vec::len);
    assert_eq!(stored, 2, "{shown}");
}

#[test]
fn steps_that_depend_on_each_other_stop() {
    let job = format!("{INBOX}stop_on_failure = true\n[[step]]\nexport = \"items\"\noutput = \"items.csv\"\n");
    let place = with_job(&job);
    let served = Served::start(&place);
    place.write("inbox/bad.csv", "SKU,Price\nB2,free\n");
    let ran = run(&place, &served, 3);
    assert_eq!(ran["steps"][1]["state"], "not-run", "{ran}");
    assert!(!place.path("items.csv").exists());
    // The rest is done when the job is run again without the file.
    let ran = run(&place, &served, 0);
    assert_eq!((&ran["steps"][0]["state"], &ran["steps"][1]["state"]), (&json!("nothing"), &json!("done")));
}

#[test]
fn nothing_is_touched_without_tokens_or_with_mistakes() {
    let place = with_job(INBOX);
    place.write("inbox/good.csv", "SKU,Name\nA1,Bolt\n");
    let run = ["job", "run", "nightly.toml"];
    place.sheetport(run).env("SHEETPORT_BASE_URL", "http://127.0.0.1:9").exits(2).shows(&["no credentials"]);
    place.write("nightly.toml", "[[step]]\nupload = \"inbox/*.csv\"\ntemplate = \"itmes\"\nstric = true\n");
    for words in [["job", "run", "nightly.toml"], ["job", "check", "nightly.toml"]] {
        place.sheetport(words).exits(2).says(&[
            "nightly.toml:3:12",
            "nightly.toml:4:1",
            "did you mean strict?",
            "2 errors in the job",
        ]);
    }
    assert_eq!(files(&place, &["inbox", "done", "failed"]), ["inbox/good.csv"]);
}

#[test]
fn a_profile_of_the_job_names_the_service() {
    let place = with_job(&format!("profile = \"shop\"\n{INBOX}"));
    let served = Served::start(&place);
    let (access, refresh) = served.tokens();
    let login = place.sheetport(["login", "--profile", "shop", "--base-url", &served.url(), "-q"]);
    login.fed(format!("{access}\n{refresh}\n")).exits(0);
    place.write("inbox/good.csv", "SKU,Name\nA1,Bolt\n");
    // The address of the environment is for other commands.
    place.sheetport(["job", "run", "nightly.toml"]).env("SHEETPORT_BASE_URL", "http://127.0.0.1:9").exits(0);
    assert_eq!(arrived(&served), ["A1"]);
}

#[test]
fn a_file_that_stays_is_uploaded_each_time() {
    let place = with_job("[[step]]\nupload = \"stock.csv\"\ntemplate = \"items\"\nsettle = \"0s\"\n");
    let served = Served::start(&place);
    assert_eq!(run(&place, &served, 0)["steps"][0]["state"], "nothing");
    place.write("stock.csv", "SKU,Name\nA1,Bolt\n");
    for _ in 0..2 {
        let ran = run(&place, &served, 0);
        assert_eq!(ran["steps"][0]["files"][0]["place"], "same", "{ran}");
    }
    assert_eq!(arrived(&served), ["A1"]);
    assert!(place.path("stock.csv").is_file());
}
