//! `check --online`: references that the service does not know, each at its cell, before anything is sent.

use serde_json::Value;

use super::process::Place;
use super::service::Served;
use super::{accounting, sample};

/// Starts a service with companies, a contact, inventories and the items of a sample.
fn service(place: &Place) -> Served {
    place.write("companies.csv", "id,external_id,name\nc1,42,Miller\nc2,43,Smith\n");
    place.write("contacts.csv", "id,name\np1,Ann\n");
    place.write("inventories.csv", "id,inventory_id,external_id,name\ni1,1,MAIN,Bolts\ni2,2,BACK,Nuts\n");
    let load = ["serve", "load", "--data", "service", "--workspace", "shop"];
    place.sheetport(load.iter().chain(&["companies.csv", "contacts.csv", "inventories.csv"])).exits(0);
    let served = Served::start(place);
    let items = sample("items.csv");
    served.sheetport(place, ["upload", items.to_str().unwrap(), "-t", "items", "-q"]).exits(0);
    served
}

/// Returns row, field and example of each problem.
fn problems(checked: &Value) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for problem in checked["problems"].as_array().unwrap() {
        assert_eq!(problem["code"], "unknown-reference", "{checked}");
        for row in problem["rows"].as_array().unwrap() {
            found.push(format!("{row} {} {}", problem["field"].as_str().unwrap(), problem["value"].as_str().unwrap()));
        }
    }
    found.sort();
    found
}

#[track_caller]
fn check(place: &Place, served: &Served, file: &str, template: &str) -> Value {
    served.sheetport(place, ["check", file, "-t", template, "--online", "--json"]).run().json()
}

#[test]
fn unknown_companies_and_items_of_orders_are_found() {
    let place = Place::new();
    let served = service(&place);
    place.write(
        "orders.csv",
        "Order no.,Order date,Customer no.,Item no.,Quantity,Unit price\nSO-1,2026-01-01,42,TL-3001,1,5\n\
         SO-1,2026-01-01,42,nope,2,5\nSO-2,2026-01-02,44,TL-3001,1,5\nSO-3,2026-01-03,43,TL-3002,1,5\n",
    );
    let requests = served.total();
    let checked = check(&place, &served, "orders.csv", "orders");
    assert_eq!(problems(&checked), ["3 itemExternalId nope", "4 companyExternalId 44"], "{checked}");
    assert_eq!(accounting(&checked), "3: rejected 2, pending 1");
    assert_eq!(checked["problems"][0]["column"], "D", "{checked}");
    assert!(served.total() >= requests, "nothing was removed");
    // Without the service, nothing is wrong with the file.
    let offline = place.sheetport(["check", "orders.csv", "-t", "orders", "--json"]).exits(0).json();
    assert_eq!(accounting(&offline), "3: pending 3");
    // The problems are in a report, too.
    let report = ["check", "orders.csv", "-t", "orders", "--online", "--report", "out.csv"];
    served.sheetport(&place, report).exits(3);
    let report = std::fs::read_to_string(place.path("out.csv")).unwrap();
    assert!(report.contains("is no company that the service knows"), "{report}");
    assert!(report.contains("--create-missing-items"), "{report}");
}

#[test]
fn items_that_the_service_creates_are_not_missing() {
    let place = Place::new();
    let served = service(&place);
    place.write("t.toml", "extends = \"orders\"\n[fields.createMissingItems]\nvalue = true\n");
    place.write("orders.csv", "Order no.,Customer no.,Item no.,Quantity,Unit price\nSO-1,42,nope,1,5\n");
    let checked = check(&place, &served, "orders.csv", "t.toml");
    assert_eq!(accounting(&checked), "1: pending 1", "{checked}");
}

#[test]
fn contacts_and_inventories_are_looked_up() {
    let place = Place::new();
    let served = service(&place);
    let items = served.get("/v1/public/items?limit=1");
    let item = items["data"][0]["id"].as_str().unwrap();
    place.write(
        "invoices.csv",
        format!("Invoice no.,Customer ID,Item ID,Amount\nR1,c1,{item},1\nR2,p1,{item},1\nR3,x9,{item},1\nR4,c2,i1,1\n"),
    );
    let checked = check(&place, &served, "invoices.csv", "invoices");
    assert_eq!(problems(&checked), ["4 cid x9", "5 id i1"], "{checked}");
    place.write(
        "moves.toml",
        "record = \"inventory-transaction\"\n[fields.transactionType]\nvalue = \"in\"\n[fields.inventoryExternalId]\n\
         column = \"Store\"\n[fields.inventoryId]\ncolumn = \"Id\"\n[fields.amount]\ncolumn = \"Amount\"\n",
    );
    place.write("moves.csv", "Store,Id,Amount\nMAIN,,1\n,i2,2\n,2,3\nSIDE,,4\n,i3,5\n../x,,6\n");
    let checked = check(&place, &served, "moves.csv", "moves.toml");
    assert_eq!(
        problems(&checked),
        ["5 inventoryExternalId SIDE", "6 inventoryId i3", "7 inventoryExternalId SIDE"],
        "{checked}"
    );
}

#[test]
fn identifiers_of_an_export_are_compared() {
    let place = Place::new();
    let served = service(&place);
    served.sheetport(&place, ["export", "items", "-o", "items.csv", "-q"]).exits(0);
    let export = std::fs::read_to_string(place.path("items.csv")).unwrap();
    assert!(export.contains("TL-3001"), "{export}");
    place.write("items.csv", export.replace("TL-3001", "TL-9999"));
    let checked = check(&place, &served, "items.csv", "exported-items");
    assert_eq!(checked["problems"][0]["code"], "other-identifier", "{checked}");
}

#[test]
fn a_check_without_the_service_warns_of_an_export_that_may_have_lost_zeros() {
    let place = Place::new();
    let check = |text: &str| {
        place.write("items.csv", format!("id,name,price,external_id\n{text}"));
        place.sheetport(["check", "items.csv", "-t", "exported-items", "--json"]).exits(0).json()
    };
    let changed = check("i1,Bolt,1,42\ni2,Nut,1,9001\n");
    assert_eq!(changed["warnings"][0]["code"], "not-compared", "{changed}");
    let message = "2 identifiers of this export may have lost zeros or digits in a spreadsheet program";
    assert_eq!(changed["warnings"][0]["message"], message);
    for untouched in ["i1,Bolt,1,0042\ni2,Nut,1,9001\n", "i1,Bolt,1,TL-1\ni2,Nut,1,TL-2\n"] {
        let seen = check(untouched);
        assert_eq!(seen["warnings"], serde_json::json!([]), "{seen}");
    }
}

#[test]
fn a_service_that_cannot_be_asked_is_an_error_or_a_remark() {
    let place = Place::new();
    place.write("orders.csv", "Order no.,Customer no.,Item no.,Quantity,Unit price\nSO-1,42,nope,1,5\n");
    let online = ["check", "orders.csv", "-t", "orders", "--online"];
    place.sheetport(online).exits(2).says(&["no service address is set"]);
    let served = service(&place);
    // An address without lists: the file is checked, and the message says what was not compared.
    let url = format!("{}/elsewhere", served.url());
    let ended = served.sheetport(&place, online.into_iter().chain(["--base-url", &url]));
    let ended = ended.env("SHEETPORT_TOKEN_HOST", &served.url()).exits(0);
    ended.says(&["companyExternalId is not compared with the service"]);
}
