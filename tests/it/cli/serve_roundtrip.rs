//! Round trips of exports: loaded into an empty service and exported again, every kind of records in every format is the same
//! file, whatever it contains.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Cursor, Read};

use serde_json::{Value, json};
use zip::ZipArchive;

use super::export_roundtrip::TEXTS;
use super::process::Place;
use super::service::Served;
use super::table;

const KINDS: [&str; 6] = ["items", "companies", "contacts", "inventories", "orders", "transactions"];
const FORMATS: [&str; 3] = ["csv", "xlsx", "ndjson"];

const NUMBERS: [&str; 12] = [
    "0",
    "0.00",
    "-0.5",
    "1234.50",
    "1225.00",
    "1e2",
    "0.1",
    "999999999999999",
    "12345678901234567.10",
    "1234567890123456789012345678",
    "0.0000000000000000000000000001",
    "-79228162514264.25",
];

const TIMES: [&str; 9] = [
    "0001-01-01T00:00:00Z",
    "1899-12-31T23:59:59.999Z",
    "1900-01-15T00:00:00Z",
    "1900-03-01T06:00:00Z",
    "2024-02-29T12:00:00.001Z",
    "2026-01-31T23:59:59.999+14:00",
    "2026-01-31",
    "2038-01-19T03:14:08Z",
    "9999-12-30T21:59:59Z",
];

/// Returns what is next of a list that starts again at its end.
fn next<'a>(values: &[&'a str], index: usize) -> &'a str {
    values[index % values.len()]
}

fn number(index: usize) -> Value {
    serde_json::from_str(next(&NUMBERS, index)).unwrap()
}

/// Writes records of every kind, as a service would list them, with values that files are known to damage.
fn write_hostile(place: &Place) {
    let mut records: BTreeMap<&str, Vec<Value>> = BTreeMap::new();
    for (index, text) in TEXTS.iter().copied().enumerate() {
        let blank = text.trim().is_empty();
        let id = format!("h{index}");
        let time = next(&TIMES, index);
        let own = if blank { Value::Null } else { json!(format!("{text}{index}")) };
        records.entry("items").or_default().push(json!({
            "id": id, "external_id": own, "name": text, "description": format!("{text}\n{text}"), "price": number(index),
            "purchase_price": number(index + 1), "tax": null, "status": text, "currency": null, "updated_at": time,
        }));
        records.entry("companies").or_default().push(json!({
            "id": id, "external_id": own, "name": text, "email": null, "phone": text, "status": "", "created_at": time,
            "updated_at": time, "vat": text, "=formula": number(index), "flag": index % 2 == 0, "nothing": null,
            "tags": [text, "b"], "counts": [1, 2.50], "none": [], "address": {"city": text, "zip": null, "lines": [{"a": 1}]},
            "address.city": "another", "signed_at": time,
        }));
        let mut contact = json!({"id": id, "external_id": own, "name": text, "created_at": time, "updated_at": time});
        contact[format!("field {index}")] = json!(text);
        records.entry("contacts").or_default().push(contact);
        let lists =
            [json!([]), json!(null), json!(["x", "y"]), json!(["a, b", "c"]), json!(["", "x"]), json!(["[x", " y "])];
        records.entry("inventories").or_default().push(json!({
            "id": id, "external_id": own, "inventory_id": format!("I{index}"), "name": text, "record_source_detail": text,
            "available": index, "committed": -5, "unavailable": null, "inventory_value": number(index),
            "unit_price": number(index + 3), "item_ids": lists[index % lists.len()], "date": time, "created_at": time,
            "updated_at": time,
        }));
        let order_id = if index % 3 == 0 { Value::Null } else { json!(900_000 + index) };
        records.entry("orders").or_default().push(json!({
            "id": id, "external_id": own, "order_id": order_id, "order_at": time, "status": text, "currency": "EUR",
            "total_price": number(index), "total_price_without_tax": number(index + 5), "company_id": text,
            "created_at": time, "updated_at": time,
        }));
    }
    for (kind, records) in records {
        let lines: String = records.iter().map(|record| format!("{record}\n")).collect();
        place.write(&format!("{kind}.ndjson"), lines);
    }
}

/// Loads files of every kind but transactions, or of all.
#[track_caller]
fn load(place: &Place, folder: &str, format: &str, kinds: &[&str]) -> Value {
    let files: Vec<String> = kinds.iter().map(|kind| format!("{folder}{kind}.{format}")).collect();
    let load = place.sheetport(["serve", "load", "--data", "service", "--workspace", "demo", "--json"]);
    load.args(files).exits(0).json()
}

/// Exports every kind in every format into a folder.
#[track_caller]
fn export(place: &Place, served: &Served, folder: &str, formats: &[&str]) {
    fs::create_dir_all(place.path(folder)).unwrap();
    for kind in KINDS {
        for format in formats {
            let file = format!("{folder}/{kind}.{format}");
            let export = served.sheetport(place, ["export", kind, "-o", &file, "-q"]);
            if kind == "transactions" { export.args(["--ids", "ids.csv", "--column", "id"]) } else { export }.exits(0);
        }
    }
}

/// Returns the parts of a file: of a workbook its members, except for the time at which it was written.
fn parts(place: &Place, file: &str) -> BTreeMap<String, Vec<u8>> {
    let bytes = fs::read(place.path(file)).unwrap();
    if !file.ends_with(".xlsx") {
        return BTreeMap::from([("content".to_owned(), bytes)]);
    }
    let mut archive = ZipArchive::new(Cursor::new(bytes)).unwrap();
    let mut parts = BTreeMap::new();
    for index in 0..archive.len() {
        let mut member = archive.by_index(index).unwrap();
        let mut content = Vec::new();
        member.read_to_end(&mut content).unwrap();
        let name = member.name().unwrap().into_owned();
        if name != "docProps/core.xml" {
            parts.insert(name, content);
        }
    }
    parts
}

#[track_caller]
fn same(place: &Place, folder: &str, other: &Place, format: &str) {
    for kind in KINDS {
        let file = format!("{kind}.{format}");
        let (before, after) = (parts(place, &format!("{folder}/{file}")), parts(other, &format!("again/{file}")));
        assert_eq!(before.keys().collect::<Vec<_>>(), after.keys().collect::<Vec<_>>(), "{file}");
        for (name, before) in before {
            let (before, after) = (String::from_utf8_lossy(&before), String::from_utf8_lossy(&after[&name]));
            // A workbook has no line breaks, and a difference is shown with its surroundings.
            let lines = |text: &str| text.replace("><", ">\n<").lines().map(str::to_owned).collect::<Vec<_>>();
            let differs = lines(&before).into_iter().zip(lines(&after)).find(|(before, after)| before != after);
            assert_eq!(differs, None, "{file}: {name}");
            assert_eq!(before.len(), after.len(), "{file}: {name}");
        }
    }
}

#[test]
fn every_export_can_be_loaded_and_exported_again() {
    let place = Place::new();
    drop(Served::demo(&place));
    write_hostile(&place);
    load(&place, "", "ndjson", &KINDS[..5]);
    let served = Served::demo(&place);
    let mut ids = String::from("id\n");
    for body in [
        json!({"transactionType": "in", "inventoryId": "INV-1", "amount": 12, "price": 15.40, "useUnitValue": true}),
        json!({"transactionType": "Ärger", "inventoryId": "h3", "status": "=1+1", "transactionDate": "1899-01-01"}),
        json!({"transactionType": "out", "inventoryId": "h4", "amount": 3, "transactionAmount": 7, "price": 10.00}),
        json!({"transactionType": "adjust", "inventoryId": "h5", "transactionAmount": -1, "inventoryType": "damaged"}),
    ] {
        let answer = served.post("/v1/public/inventory-transactions", &body.to_string());
        let answer: Value = serde_json::from_str(&answer).unwrap();
        ids.push_str(answer["transaction_id"].as_str().unwrap());
        ids.push('\n');
    }
    place.write("ids.csv", &ids);
    export(&place, &served, "first", &FORMATS);
    drop(served);

    for format in FORMATS {
        let other = Place::new();
        other.write("ids.csv", &ids);
        fs::create_dir_all(other.path("first")).unwrap();
        for kind in KINDS {
            let file = format!("first/{kind}.{format}");
            fs::copy(place.path(&file), other.path(&file)).unwrap();
        }
        for expected in ["created", "unchanged"] {
            let loaded = load(&other, "first/", format, &KINDS);
            for file in loaded["files"].as_array().unwrap() {
                let outcome = &file["outcome"];
                assert_eq!(outcome[expected], outcome["rows"], "{format}: {file}");
                assert_eq!(outcome["ignored"], json!([]), "{format}: {file}");
            }
        }
        let served = Served::demo(&other);
        export(&other, &served, "again", &[format]);
        same(&place, "first", &other, format);
    }
}

#[test]
fn an_effect_of_a_loaded_transaction_can_be_reverted() {
    let place = Place::new();
    place.write(
        "inventories.csv",
        "id,inventory_id,available,total_inventory,inventory_value,unit_price\ni1,A,10,10,25.00,2.50\n",
    );
    // In the order of the command line, the inventories come last.
    place.write(
        "transactions.csv",
        "id,inventory_id,transaction_type,amount,transaction_amount,use_unit_value,usage_status,total_price\n\
         t1,A,in,4,4,false,applied,10.00\nt2,B,in,1,1,false,applied,\n",
    );
    let load = ["serve", "load", "--data", "service", "--workspace", "shop", "transactions.csv", "inventories.csv"];
    let loaded = place.sheetport(load).exits(3);
    loaded.shows(&["1 created", "row 3", "no such inventory; load the inventories first"]);
    let served = Served::start(&place);
    let inventory = |served: &Served| served.get("/v1/public/inventories/A");
    assert_eq!(inventory(&served)["available"], 10, "the figures contain the effect already");
    served.put("/v1/public/inventory-transactions/t1", r#"{"transactionType":"in","amount":1}"#);
    let after = inventory(&served);
    assert_eq!((&after["available"], &after["total_inventory"]), (&json!(7), &json!(7)), "{after}");
}

#[test]
fn rows_without_ids_are_loaded_once() {
    let place = Place::new();
    place.write("companies.csv", "name,vat\nAcme,1\nAcme,1\nOther,\n");
    place.write("orders.ndjson", "{\"total_price\":1.50}\n{\"total_price\":1.50}\n{\"total_price\":2}\n");
    let load = ["serve", "load", "--data", "service", "--workspace", "shop", "companies.csv", "orders.ndjson"];
    place.sheetport(load).exits(0).shows(&["companies: 3 created", "orders: 3 created"]);
    place.sheetport(load).exits(0).shows(&["companies: 0 created, 0 updated, 3 unchanged", "orders: 0 created"]);
    place.write("companies.csv", "name,vat\nAcme,1\nAcme,1\nOther,\nNew,\n");
    place.sheetport(load).exits(0).shows(&["companies: 1 created, 0 updated, 3 unchanged"]);
    let served = Served::start(&place);
    served.sheetport(&place, ["export", "orders", "-o", "exported.csv", "-q"]).exits(0);
    let exported = table(&place.path("exported.csv"));
    assert_eq!(exported.len(), 4, "{exported:?}");
}

/// Exports that lack something, or that need their manifest to be read rightly.
#[test]
fn exports_that_changed_the_values_are_loaded_rightly_or_refused() {
    let place = Place::new();
    drop(Served::demo(&place));
    let long = "x".repeat(40_000);
    let company = |id: &str, note: &str| {
        json!({"id": id, "name": "'=1+1", "note": note, "addresses": [{"city": "Ulm"}, {"city": "Bonn"}], " sp ": "a",
            "updated_at": "2026-01-01T00:00:00.000Z", "created_at": "2026-01-01T00:00:00.000Z"})
    };
    place.write("companies.ndjson", format!("{}\n{}\n", company("h1", &long), company("h2", "short")));
    load(&place, "", "ndjson", &["companies"]);
    let served = Served::demo(&place);
    for (file, more) in [
        ("companies.xlsx", &[][..]),
        ("exact/companies.csv", &["--exact"]),
        ("exploded/companies.csv", &["--explode", "addresses"]),
        ("before.ndjson", &[]),
    ] {
        if let Some((folder, _)) = file.split_once('/') {
            fs::create_dir_all(place.path(folder)).unwrap();
        }
        served.sheetport(&place, ["export", "companies", "-o", file]).args(more).run();
        assert!(place.path(file).exists(), "{file}");
    }
    drop(served);
    let load = |file: &str| place.sheetport(["serve", "load", "--data", "service", "--workspace", "demo", file]).run();
    let cut = load("companies.xlsx");
    assert_eq!(cut.code, Some(3), "{cut:?}");
    assert!(cut.stdout.contains("note is cut to the maximum length of a workbook's cell"), "{cut:?}");

    load("exact/companies.csv").exits(0);
    let shown = place.sheetport(["serve", "show", "companies", "h2", "--data", "service"]).exits(0);
    assert!(shown.stdout.contains(r#""name":"'=1+1""#) && shown.stdout.contains(r#"" sp ":"a""#), "{shown:?}");

    let exploded = load("exploded/companies.csv").exits(7);
    exploded.says(&["it has a row for each entry of 'addresses'", "without --explode"]);
    // Without its manifest, the rows tell.
    fs::remove_file(place.path("exploded/companies.csv.manifest.json")).unwrap();
    let exploded = load("exploded/companies.csv");
    assert_eq!(exploded.code, Some(3), "{exploded:?}");
    assert!(exploded.stdout.contains("has the same id and time, but other values"), "{exploded:?}");
}
