//! `upload --rehearse`: every kind of record, with made-up records or with exports, and nothing that is left of it.

use serde_json::{Value, json};

use super::process::Place;
use super::service::Served;
use super::{accounting, column, items, sample, summary, table};

const ORDERS: &str =
    "Order no.,Customer no.,Item no.,Quantity,Unit price\nSO-1,42,A,1,5\nSO-1,42,B,2,5\nSO-2,43,A,1,5\n";
const INVOICES: &str = "Invoice no.,Customer ID,Item ID,Amount\n1,p1,i1,1\n2,p2,i1,many\n3,p1,i2,2\n";

#[track_caller]
fn rehearse(place: &Place, args: &[&str], code: i32) -> Value {
    summary(&place.sheetport(["upload"]).args(args).args(["--rehearse", "--json"]).exits(code))
}

#[test]
fn all_kinds_rehearse_without_a_service() {
    for (file, template, code, counts, made_up) in [
        ("items.csv", "items", 0, "25: sent 25", json!({})),
        ("orders.csv", "orders", 0, "18: sent 18", json!({"companies": 8, "items": 30, "orders": 18})),
        ("transactions.csv", "transactions", 0, "40: sent 40", json!({"inventories": 8})),
        (
            "stock-count.xlsx",
            "stock-count",
            3,
            "34: sent 31, unchanged 1, skipped 1, rejected 1",
            json!({"inventories": 32}),
        ),
        ("subscriptions.csv", "subscriptions", 0, "16: sent 16", json!({"contacts": 10, "items": 7})),
        ("invoices.csv", "invoices", 0, "20: sent 20", json!({"contacts": 13, "items": 26})),
        (
            "shopify-orders.csv",
            "shopify-orders",
            3,
            "40: sent 38, skipped 1, rejected 1",
            json!({"items": 35, "orders": 38}),
        ),
    ] {
        let place = Place::new();
        let path = sample(file);
        let rehearsed = rehearse(&place, &[path.to_str().unwrap(), "-t", template], code);
        assert_eq!(accounting(&rehearsed), counts, "{file}");
        assert_eq!(rehearsed["rehearsal"], json!({"made_up": made_up, "from_exports": {}}), "{file}");
        assert_eq!(place.names(), [""; 0], "{file}: nothing is left");
    }
    let place = Place::new();
    let orders = sample("orders.csv");
    let said = place.sheetport(["upload", orders.to_str().unwrap(), "-t", "orders", "--rehearse"]).exits(0);
    said.shows(&["8 companies, 30 items and 18 orders were made up for the rehearsal"]);
}

#[test]
fn names_that_only_the_service_knows_are_told() {
    let place = Place::new();
    place.write("i.csv", "Invoice no.,Customer,Item no,Qty\n1,Smith & Sons,A-1,1\n");
    let said = place.sheetport(["upload", "i.csv", "-t", "invoices", "--rehearse"]).exits(0);
    let said =
        said.says(&["cid has values that are no ids: an upload looks them up in the service's list of contacts"]);
    said.shows(&["1 contact and 1 item were made up for the rehearsal"]);
}

#[test]
fn transactions_with_an_id_change_made_up_transactions() {
    let place = Place::new();
    place.write("moves.csv", "Transaction ID,Movement,Stock,Quantity\nt1,in,L-1,5\nt2,out,,3\n,in,L-1,2\n");
    let rehearsed = rehearse(&place, &["moves.csv", "-t", "transactions"], 0);
    assert_eq!(accounting(&rehearsed), "3: sent 3");
    assert_eq!(rehearsed["rehearsal"]["made_up"], json!({"inventories": 2, "transactions": 2}));
}

/// Exports of the demo workspace: the rehearsal and the service come to the same results.
#[test]
fn a_rehearsal_with_exports_ends_as_the_upload_does() {
    let place = Place::new();
    let served = Served::demo(&place);
    std::fs::create_dir(place.path("exports")).unwrap();
    let exports =
        ["items.xlsx", "companies.ndjson", "contacts.ndjson.gz", "inventories.csv", "orders.csv", "notes.txt"];
    for name in &exports[..5] {
        let kind = name.split('.').next().unwrap();
        served.sheetport(&place, ["export", kind, "-o", &format!("exports/{name}"), "-q"]).exits(0);
    }
    place.write("exports/notes.txt", "of today");
    for (file, template) in [
        ("orders.csv", "orders"),
        ("transactions.csv", "transactions"),
        ("subscriptions.csv", "subscriptions"),
        ("invoices.csv", "invoices"),
        ("exported-items.csv", "exported-items"),
    ] {
        // The last customer or item is one that nobody has.
        let text = std::fs::read_to_string(sample(file)).unwrap();
        place.write(file, &text);
        let args = [file, "-t", template, "--from", "exports", "--report", "rehearsed.csv"];
        let rehearsed = rehearse(&place, &args, 0);
        let sent = served.sheetport(&place, ["upload", file, "-t", template, "--report", "sent.csv", "--json"]);
        let sent = summary(&sent.exits(0));
        assert_eq!(accounting(&rehearsed), accounting(&sent), "{file}");
        let (rehearsed, sent) = (table(&place.path("rehearsed.csv")), table(&place.path("sent.csv")));
        for name in ["sheetport_errors", "sheetport_http_status", "sheetport_row"] {
            assert_eq!(column(&rehearsed, name), column(&sent, name), "{file}");
        }
        for name in ["rehearsed.csv", "sent.csv"] {
            std::fs::remove_file(place.path(name)).unwrap();
        }
    }
}

#[test]
fn references_missing_in_the_exports_are_refused() {
    let place = Place::new();
    std::fs::create_dir(place.path("exports")).unwrap();
    place.write("exports/companies.csv", "id,external_id\nc1,42\nc2,43\n");
    place.write("exports/acme-items-2026.csv", "externalId,price\nA,dear\n");
    place.write("orders.csv", ORDERS);
    let args =
        ["upload", "orders.csv", "-t", "orders", "--rehearse", "--from", "exports", "--report", "r.csv", "--json"];
    let ended = place.sheetport(args).exits(3).says(&["acme-items-2026.csv, row 2: price must be a number"]);
    let rehearsed = summary(&ended);
    assert_eq!(accounting(&rehearsed), "2: sent 1, failed 1");
    let from_exports = json!({"companies": 2, "items": 1});
    assert_eq!(rehearsed["rehearsal"], json!({"made_up": {"orders": 2}, "from_exports": from_exports}));
    let report = table(&place.path("r.csv"));
    assert!(column(&report, "sheetport_errors")[1].contains("no item has the itemExternalId"), "{report:?}");

    // Only the lists that were exported can be compared.
    place.write("invoices.csv", INVOICES.replace("many", "3"));
    place.write("exports/items.csv", "name,price\nBolt,1\n");
    let invoices = ["upload", "invoices.csv", "-t", "invoices", "--rehearse", "--from", "exports"];
    // Nothing says which file is newer.
    let several = "exports has several files of items, and no manifest says which is the newest export: acme-items-2026.csv, items.csv";
    place.sheetport(invoices).exits(7).says(&[several, "--from FILE"]);
    std::fs::remove_file(place.path("exports/acme-items-2026.csv")).unwrap();
    let ended = place.sheetport(invoices).exits(3);
    ended
        .says(&["cid is compared with the export of companies alone: there is none of contacts", "id is not compared"]);

    let empty = ["upload", "orders.csv", "-t", "orders", "--rehearse", "--from"];
    std::fs::create_dir(place.path("empty")).unwrap();
    place.sheetport(empty).arg("empty").exits(7).says(&["empty has no exports", "sheetport export items"]);
    place.sheetport(empty).arg("missing").exits(7).says(&["missing can't be read"]);
    place.sheetport(["upload", "orders.csv", "--from", "exports"]).exits(2).says(&["--rehearse"]);
}

/// Exports as a nightly job writes them, with a manifest that says from when they are.
#[test]
fn the_newest_whole_export_of_each_list_is_used() {
    let place = Place::new();
    let served = Served::demo(&place);
    let export = |words: &[&str]| served.sheetport(&place, [&["export"], words, &["-q"]].concat()).exits(0);
    std::fs::create_dir(place.path("exports")).unwrap();
    served.post("/v1/public/items", r#"{"externalId": "NEW-1"}"#);
    export(&["items", "orders", "companies", "-o", "exports/{kind}-2026-11-26.csv"]);
    // A newer export lacks an item: its rows are those of the workspace without this item.
    let old = std::fs::read_to_string(place.path("exports/items-2026-11-26.csv")).unwrap();
    let newer = |name: &str, text: &str, changes: &[(&str, Value)]| {
        place.write(&format!("exports/{name}"), text);
        let manifest = std::fs::read_to_string(place.path("exports/items-2026-11-26.csv.manifest.json")).unwrap();
        let mut manifest: Value = serde_json::from_str(&manifest).unwrap();
        changes.iter().for_each(|(field, value)| manifest[field] = value.clone());
        place.write(&format!("exports/{name}.manifest.json"), manifest.to_string());
    };
    let without: String = old.lines().filter(|line| !line.contains("NEW-1")).map(|line| format!("{line}\n")).collect();
    newer("items-2026-11-27.csv", &without, &[("finished", json!("2099-11-27T04:30:00Z"))]);
    place.write("new.csv", "Order no.,Item no.,Quantity,Unit price\nSO-2026-0001,NEW-1,1,5\n");
    let args = ["upload", "new.csv", "-t", "orders", "--rehearse", "--from", "exports"];
    let ended = place.sheetport(args).exits(3);
    ended.says(&[
        "used of exports: companies-2026-11-26.csv, items-2026-11-27.csv, orders-2026-11-26.csv",
        "not used of exports, because others are newer or whole: items-2026-11-26.csv",
    ]);

    // The changes since are added: a record that is newer than the whole list.
    let header = old.lines().next().unwrap();
    let added = old.lines().find(|line| line.contains("NEW-1")).unwrap();
    let changes = [("finished", json!("2099-11-28T04:30:00Z")), ("changes_only", json!(true)), ("older", json!(40))];
    newer("items-2026-11-28.csv", &format!("{header}\n{added}\n"), &changes);
    place.sheetport(args).exits(0).says(&["items-2026-11-28.csv has only changes: items that were removed since"]);
    // Changes from before the whole list are not.
    let changes = [("finished", json!("2001-11-28T04:30:00Z")), ("older", json!(40))];
    newer("items-2026-11-28.csv", &format!("{header}\n{added}\n"), &changes);
    place.sheetport(args).exits(3);
    // Neither is an incomplete export.
    let changes = [("finished", json!("2099-11-28T04:30:00Z")), ("complete", json!(false))];
    newer("items-2026-11-28.csv", &old, &changes);
    place.sheetport(args).exits(3);

    // An export of another workspace: only the workspace of the upload counts, if it is known.
    let other = [("finished", json!("2099-11-28T04:30:00Z")), ("workspace", json!("other"))];
    newer("items-2026-11-28.csv", &old, &other);
    place.sheetport(args).exits(7).says(&["exports has exports of several workspaces: 'demo' of", "'other' of"]);
    served.sheetport(&place, args).exits(3).says(&["the exports of the workspace 'other' of"]);

    // A list of changes is no export of the list.
    std::fs::remove_file(place.path("exports/items-2026-11-28.csv")).unwrap();
    place.write("exports/items-changes.csv", "change,id,field,before,after\nadded,x,,,\n");
    place.sheetport(args).exits(3);
}

#[test]
fn a_workbook_with_several_lists_is_found_in_a_folder() {
    let place = Place::new();
    let served = Served::demo(&place);
    std::fs::create_dir(place.path("exports")).unwrap();
    let all = ["export", "items", "orders", "companies", "-o", "exports/all.xlsx", "-q"];
    served.sheetport(&place, all).exits(0);
    let orders = sample("orders.csv");
    let args = [orders.to_str().unwrap(), "-t", "orders", "--from", "exports"];
    let from_exports = json!({"companies": 12, "items": 40, "orders": 30});
    assert_eq!(rehearse(&place, &args, 0)["rehearsal"]["from_exports"], from_exports);
    // Also without its manifest, and beside workbooks of something else.
    std::fs::remove_file(place.path("exports/all.xlsx.manifest.json")).unwrap();
    place.write("exports/notes.xlsx", "no workbook");
    assert_eq!(rehearse(&place, &args, 0)["rehearsal"]["from_exports"], from_exports);
}

#[test]
fn nothing_of_a_rehearsal_remains_but_its_report() {
    for report in ["r.csv", "r.xlsx"] {
        let place = Place::new();
        place.write("invoices.csv", INVOICES);
        let upload = ["invoices.csv", "-t", "invoices"];
        for round in 1..=2 {
            let name = format!("{round}-{report}");
            let rehearsed = rehearse(&place, &[&upload[..], &["--report", &name, "--concurrency", "2"]].concat(), 3);
            assert_eq!(accounting(&rehearsed), "3: sent 2, rejected 1");
            assert!(rehearsed["run"].is_null());
            let next = format!("sheetport upload invoices.csv -t invoices --concurrency 2 --report {round}-r-2.");
            assert!(rehearsed["next"].as_str().unwrap().starts_with(&next), "{rehearsed}");
        }
        place.sheetport(["runs"]).exits(0).shows(&["no runs yet"]);
        place.sheetport(["resume"]).exits(2).says(&["no run"]);
        let retried = place.sheetport(["retry", &format!("1-{report}")]).exits(2);
        retried.says(&["is the report of a rehearsal, which sent nothing to a service", "sheetport upload"]);

        let served = Served::start(&place);
        place.write("contacts.csv", "id\np1\np2\n");
        let item = |id: &str| {
            let sent = served.post("/v1/public/items", &format!("{{\"externalId\": \"{id}\"}}"));
            serde_json::from_str::<Value>(&sent).unwrap()["item_id"].as_str().unwrap().to_owned()
        };
        let (one, two) = (item("i1"), item("i2"));
        drop(served);
        place.sheetport(["serve", "load", "--data", "service", "--workspace", "shop", "contacts.csv"]).exits(0);
        let served = Served::start(&place);
        place.write("invoices.csv", INVOICES.replace("i1", &one).replace("i2", &two));
        let rehearsed = rehearse(&place, &[&upload[..], &["--report", &format!("3-{report}")]].concat(), 3);
        assert_eq!(accounting(&rehearsed), "3: sent 2, rejected 1");
        // The report of the rehearsal is sent as a whole, and then everything was sent before.
        let args = ["upload", &format!("3-{report}"), "-t", "invoices", "--json"];
        let sent = summary(&served.sheetport(&place, args).exits(3));
        assert_eq!(accounting(&sent), "3: sent 2, rejected 1");
        let again = served.sheetport(&place, ["upload", "invoices.csv", "-t", "invoices", "--json"]).exits(3);
        assert_eq!(accounting(&summary(&again)), "3: unchanged 2, rejected 1");
    }
}

#[test]
fn reports_of_rehearsals_say_so() {
    let place = Place::new();
    place.write("items.csv", items(2) + "00003,Nut,free,EUR\n");
    for name in ["r.csv", "r.xlsx", "r.html"] {
        rehearse(&place, &["items.csv", "-t", "items", "--report", name], 3);
    }
    let report = table(&place.path("r.csv"));
    assert_eq!(column(&report, "sheetport_status"), ["rehearsed", "rehearsed", "rejected"]);
    assert_eq!(column(&report, "sheetport_run"), ["rehearsal"; 3]);
    let page = std::fs::read_to_string(place.path("r.html")).unwrap();
    assert!(page.contains("Sheetport rehearsal: nothing was sent to a service"), "{page}");
    let shown = place.sheetport(["view", "r.xlsx", "--sheet", "1", "--csv"]).exits(0);
    shown.shows(&["Rehearsal of items.csv: nothing was sent to a service", "a temporary one on this machine"]);
}

#[test]
fn the_upload_time_is_estimated_and_single_export_files_are_accepted() {
    let place = Place::new();
    std::fs::create_dir(place.path("exports")).unwrap();
    place.write("exports/companies.csv", "id,external_id\nc1,42\nc2,43\n");
    place.write("exports/orders.csv", "id,order_id,external_id\no1,1,\n");
    place.write("orders.csv", ORDERS);
    let args =
        ["upload", "orders.csv", "-t", "orders", "--rehearse", "--rate", "30/h", "--from", "exports/companies.csv"];
    let ended = place.sheetport(args).args(["--report", "r.csv", "--json"]).run();
    let rehearsed = summary(&ended);
    assert_eq!(rehearsed["rehearsal"]["from_exports"], json!({"companies": 2}));
    // At 30 requests an hour the two would have taken minutes.
    assert_eq!(rehearsed["requests"], 2);
    assert_eq!(rehearsed["rehearsal"]["forecast"]["requests"], 2);
    assert_eq!(rehearsed["rehearsal"]["forecast"]["seconds"], 240);
    let ended = place.sheetport(args).run();
    assert!(ended.stdout.contains("the upload makes 2 requests: about 4 min at 30/h"), "{}", ended.stdout);
    let ended = place.sheetport(&args[..5]).arg("--json").run();
    assert_eq!(summary(&ended)["rehearsal"].get("forecast"), None);

    place.write("exports/prices.csv", "id\n1\n");
    let args = ["upload", "orders.csv", "-t", "orders", "--rehearse", "--from", "exports/prices.csv"];
    place.sheetport(args).exits(7).says(&["prices.csv"]);
}
