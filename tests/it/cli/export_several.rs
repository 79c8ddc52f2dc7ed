//! Several lists in one command: the sheets of a workbook, or a file each.

use std::collections::BTreeMap;
use std::fs;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::lists::Lists;
use super::process::Place;
use super::service::Served;
use super::{count, table};

#[test]
fn several_lists_become_the_sheets_of_a_workbook() {
    let place = Place::new();
    let served = Served::demo(&place);
    let args = ["export", "items", "orders", "companies", "-o", "all.xlsx", "--json"];
    let exported = served.sheetport(&place, args).exits(0).json();
    let sheets = exported["exports"].as_array().unwrap();
    assert_eq!(sheets.iter().map(|sheet| count(sheet, "count")).collect::<Vec<_>>(), [40, 30, 12]);
    let viewed = place.sheetport(["view", "all.xlsx", "--json"]).exits(0).json();
    assert_eq!(viewed["sheets"], json!(["items", "orders", "companies"]));
    let manifest: Value = serde_json::from_slice(&fs::read(place.path("all.xlsx.manifest.json")).unwrap()).unwrap();
    assert_eq!((count(&manifest, "count"), &manifest["records"]), (82, &json!("items,orders,companies")));
    assert_eq!(manifest["bytes"], fs::metadata(place.path("all.xlsx")).unwrap().len());
    let parts: Vec<(&Value, u64)> =
        manifest["sheets"].as_array().unwrap().iter().map(|part| (&part["records"], count(part, "count"))).collect();
    assert_eq!(parts, [(&json!("items"), 40), (&json!("orders"), 30), (&json!("companies"), 12)]);
    assert_eq!(manifest["sheets"][1]["columns"][4], "order_id");

    // Each sheet has what it would have in a workbook of its own.
    served.sheetport(&place, ["export", "orders", "-o", "orders.xlsx", "-q"]).exits(0);
    let rows = |file: &str| {
        let viewed = place.sheetport(["view", file, "--sheet", "orders", "--rows", "50", "--json"]).exits(0).json();
        (viewed["columns"].clone(), viewed["rows"].clone())
    };
    assert_eq!(rows("all.xlsx"), rows("orders.xlsx"));
    assert!(rows("all.xlsx").1.as_array().is_some_and(|rows| rows.len() > 20));

    // Every list has its own state.
    place.write("in.csv", "SKU,Name\n0042,Renamed\n");
    served.sheetport(&place, ["upload", "in.csv", "-t", "items", "-q"]).exits(0);
    let again = served.sheetport(&place, args).exits(0).json();
    let changed = again["exports"].as_array().unwrap().iter().map(|sheet| count(&sheet["changes"], "changed"));
    assert_eq!(changed.collect::<Vec<_>>(), [1, 0, 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_workbook_is_replaced_only_if_every_list_is_complete() {
    let place = Place::new();
    let lists = Lists::start().await;
    let records = |from: usize, to: usize| (from..to).map(|id| format!(r#"{{"id":"{id}","name":"n{id}"}}"#));
    lists.set("items", records(0, 250));
    lists.set("companies", records(0, 20));
    let args = ["export", "items", "companies", "-o", "all.xlsx", "--min-ratio", "0.8", "--changes", "ch.xlsx"];
    let export = |code| lists.sheetport(&place, args.iter().copied().chain(["--json"])).exits(code).json();
    export(0);
    let before = fs::read(place.path("all.xlsx")).unwrap();

    // One is incomplete.
    lists.set("items", records(1, 251));
    lists.set("companies", records(0, 3));
    let exported = export(8);
    let complete: Vec<&Value> =
        exported["exports"].as_array().unwrap().iter().map(|export| &export["complete"]).collect();
    assert_eq!(complete, [&json!(true), &json!(false)]);
    assert_eq!(exported["exports"][0]["file"], "all.xlsx.incomplete");
    assert_eq!(fs::read(place.path("all.xlsx")).unwrap(), before);
    assert!(!place.path("ch.xlsx").exists());
    let manifest = fs::read_to_string(place.path("all.xlsx.incomplete.manifest.json")).unwrap();
    let manifest: Value = serde_json::from_str(&manifest).unwrap();
    assert_eq!(manifest["complete"], false);

    // One fails.
    lists.fail("companies");
    let failed = lists.sheetport(&place, args).run();
    assert_eq!(failed.code, Some(9), "{failed:?}");
    assert_eq!(fs::read(place.path("all.xlsx")).unwrap(), before);

    // The changes since the last workbook are still to be listed.
    lists.set("companies", records(0, 20));
    let exported = export(0);
    assert_eq!(exported["exports"][0]["changes"], json!({"added": 1, "changed": 0, "removed": 1}));
    let viewed = place.sheetport(["view", "ch.xlsx", "--json"]).exits(0).json();
    assert_eq!(viewed["sheets"].as_array().unwrap().len(), 2, "{viewed}");
    assert!(!place.path("all.xlsx.incomplete").exists());
}

/// Whoever applies the lists of changes that a manifest names has the records of the workbook.
#[tokio::test(flavor = "multi_thread")]
async fn kills_of_an_export_of_several_lists_lose_no_changes() {
    const KINDS: [&str; 2] = ["items", "companies"];
    const KILLS: usize = 30;
    /// Records that are there from the beginning. New ones are not removed: after a kill, a list can have those of the one
    /// before once more.
    const OLD: usize = 100;
    let place = Place::new();
    let lists = Lists::start().await;
    let mut random = fastrand::Rng::new();
    let mut records: [BTreeMap<usize, usize>; 2] = Default::default();
    let mut applied = records.clone();
    let set = |records: &[BTreeMap<usize, usize>; 2]| {
        for (kind, records) in KINDS.iter().zip(records) {
            lists.set(kind, records.iter().map(|(id, name)| format!(r#"{{"id":"{id}","name":"{name}"}}"#)));
        }
    };
    let words = ["export", "items", "companies", "-o", "all.xlsx", "--changes", "changes-{kind}.ndjson", "--json"];
    let export = || lists.sheetport(&place, words);
    let exported = |kind: &str| {
        let viewed = place.sheetport(["view", "all.xlsx", "--sheet", kind, "--rows", "500", "--json"]).exits(0).json();
        let place_of = |name| viewed["columns"].as_array().unwrap().iter().position(|column| column["name"] == name);
        let places = (place_of("id").unwrap(), place_of("name").unwrap());
        let number = |cell: &Value| cell.as_str().unwrap().parse::<usize>().unwrap();
        let rows = viewed["rows"].as_array().unwrap().iter();
        rows.map(|row| (number(&row[places.0]), number(&row[places.1]))).collect::<BTreeMap<_, _>>()
    };
    for records in &mut records {
        records.extend((0..OLD).map(|id| (id, 0)));
    }
    set(&records);
    export().exits(0);
    applied.clone_from(&records);
    let manifest = place.path("all.xlsx.manifest.json");
    let mut concluded = fs::read(&manifest).unwrap();
    let (mut took, mut killed) = (Duration::from_millis(500), 0);
    for nth in 1..=KILLS {
        for records in &mut records {
            for _ in 0..random.usize(..40) {
                let id = random.usize(..400);
                if id < OLD && random.u8(..4) == 0 {
                    records.remove(&id);
                } else if id >= OLD || records.contains_key(&id) {
                    records.insert(id, nth);
                }
            }
        }
        set(&records);
        if nth == KILLS {
            export().exits(0);
        } else if nth + 1 == KILLS {
            // Continues a killed export, whose pages may have records that are gone since: then the list is not called complete.
            let code = export().run().code;
            assert!(matches!(code, Some(0 | 8)), "{code:?}");
        } else {
            let (running, began) = (export().start(), Instant::now());
            std::thread::sleep(took.mul_f64(random.f64() * 1.1));
            match running.kill().code {
                None => killed += 1,
                Some(_) => took = began.elapsed(),
            }
        }
        let now = fs::read(&manifest).unwrap();
        for (kind, applied) in KINDS.iter().zip(&mut applied) {
            let file = place.path(&format!("changes-{kind}.ndjson"));
            let changes = fs::read_to_string(&file).unwrap_or_default();
            if now != concluded {
                for change in changes.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()) {
                    let number = |name: &str| change[name].as_str().unwrap().parse::<usize>().unwrap();
                    match change["change"].as_str() {
                        Some("removed") => applied.remove(&number("id")),
                        _ => applied.insert(number("id"), number("name")),
                    };
                }
                assert_eq!(*applied, exported(kind), "{kind} after {nth} exports");
            }
            let _ = fs::remove_file(file);
        }
        concluded = now;
    }
    assert!(killed > KILLS / 4, "{killed} were killed");
    assert_eq!(applied, records);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_list_that_fails_does_not_keep_the_files_of_others() {
    let place = Place::new();
    let lists = Lists::start().await;
    lists.set("items", [r#"{"id":"a"}"#]);
    lists.set("companies", [r#"{"id":"b"}"#]);
    let args = ["export", "items", "orders", "companies", "-o", "out/{kind}.csv", "--since", "last"];
    let failed = lists.sheetport(&place, args).run();
    let code = failed.says(&["orders were not exported:"]).code.unwrap();
    assert_ne!(code, 0);
    let exported = lists.sheetport(&place, ["export", "items", "orders", "-o", "o/{kind}.csv", "--json"]).run();
    assert_eq!(exported.json()["exports"][1]["error"]["exit"], code);
    assert_eq!(table(&place.path("out/items.csv")).len(), 2);
    assert_eq!(table(&place.path("out/companies.csv")).len(), 2);
    assert!(!place.path("out/orders.csv").exists());
    lists.set("orders", [r#"{"id":"c"}"#]);
    fs::remove_file(place.path("out/items.csv")).unwrap();
    fs::remove_file(place.path("out/companies.csv")).unwrap();
    lists.sheetport(&place, args).exits(0);
    let rows = ["items", "orders", "companies"].map(|name| table(&place.path(&format!("out/{name}.csv"))).len() - 1);
    assert_eq!(rows, [0, 1, 0], "only the list that failed is new");
}

#[tokio::test(flavor = "multi_thread")]
async fn lists_without_the_array_are_not_exploded() {
    let place = Place::new();
    let lists = Lists::start().await;
    lists.set("items", [r#"{"id":"a","name":"Bolt"}"#]);
    lists.set("orders", [r#"{"id":"o","items":[{"sku":"x"},{"sku":"y"}]}"#, r#"{"id":"p","items":[]}"#]);
    lists.set("companies", Vec::<String>::new());
    for file in ["all.xlsx", "{kind}.csv"] {
        let words = ["export", "items", "orders", "companies", "-o", file, "--explode", "items"];
        let quiet = lists.sheetport(&place, words.iter().copied().chain(["-q"])).exits(0);
        assert_eq!((quiet.stdout.as_str(), quiet.stderr.as_str()), ("", ""), "{file}");
        let told = lists.sheetport(&place, words.iter().copied().chain(["--json"])).exits(0).json();
        let sheets = told["exports"].as_array().unwrap();
        assert_eq!(sheets.iter().map(|sheet| count(sheet, "rows")).collect::<Vec<_>>(), [1, 3, 0], "{file}");
        let words = ["export", "items", "orders", "-o", file, "--explode", "lines", "-q"];
        lists.sheetport(&place, words).exits(0).says(&["the field lines is blank in every record"]);
    }
    let rows = place.sheetport(["view", "orders.csv", "--json"]).exits(0).json();
    assert_eq!(rows["rows"].as_array().unwrap().len(), 2, "the last export was not exploded");
}

#[test]
fn several_lists_that_can_t_share_a_file_are_refused_before_anything_is_requested() {
    let place = Place::new();
    for (args, message) in [
        (&["items", "orders", "-o", "all.csv"][..], "write to a file such as all.xlsx, all.db or '{kind}.csv'"),
        (&["items", "orders", "-o", "-"], "several lists need a workbook"),
        (&["items", "items", "-o", "all.xlsx"], "items are named twice"),
        (&["items", "transactions", "-o", "all.xlsx"], "the service has no list of transactions"),
        (&["items", "orders", "-o", "all.xlsx", "-t", "t.toml"], "an export template is for one list"),
        (&["items", "orders", "-o", "all.xlsx", "--changes", "c.csv"], "the changes of several lists need a file each"),
        (&["items", "orders", "-o", "{kind}.csv", "--changes", "c.xlsx"], "'changes-{kind}.csv'"),
        (&["items", "-o", "{kid}.csv"], "unknown placeholder '{kid}'"),
    ] {
        let refused = place.sheetport(["export"].iter().chain(args)).env("SHEETPORT_BASE_URL", "http://localhost:1");
        let refused = refused.secret("SHEETPORT_ACCESS_TOKEN", "access-1");
        refused.exits(2).says(&[message]);
    }
}
