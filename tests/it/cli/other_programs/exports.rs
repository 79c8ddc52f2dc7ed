//! Exports of every list, saved again by each program: the values are the same, and an upload changes nothing.

use std::path::PathBuf;

use serde_json::json;

use super::super::export_formats::company;
use super::super::process::{Place, name};
use super::super::{accounting, count, summary};
use super::hostile_texts::{EMOJI, hostile_texts};
use super::programs::Programs;
use super::{assert_same_cells, cells, check_and_save_again};

#[test]
fn exports_survive_other_programs() {
    let Some(programs) = Programs::find() else { return };
    let place = Place::new();
    let columns: Vec<String> = (0..1_500).map(|number| format!("field_{number}")).collect();
    let values: Vec<String> = (0..1_500).map(|number| format!("{:04}", number * 7 % 1_000)).collect();
    place.write("wide.csv", format!("id,name,{}\nc9,Wide,{}\n", columns.join(","), values.join(",")));
    let mut contacts = String::from("id,name\n");
    (0..200).for_each(|number| contacts.push_str(&format!("e{number},{EMOJI} {number}\n")));
    place.write("emoji.csv", contacts);
    let load = ["serve", "load", "--data", "service", "--workspace", "shop"];
    place.sheetport(load.iter().chain(&["--kind", "companies", "wide.csv"])).exits(0);
    place.sheetport(load.iter().chain(&["--kind", "contacts", "emoji.csv"])).exits(0);
    let served = company(&place);
    let line_ends = ["three\rand four".to_owned()];
    for (number, text) in hostile_texts().iter().chain(&line_ends).enumerate() {
        let name: String = text.chars().take(500).collect();
        let text: String = text.chars().take(4_000).collect();
        let item = json!({"externalId": format!("{number:05}"), "name": name, "description": text, "price": 1.50});
        let answer = served.post("/v1/public/items", &item.to_string());
        assert!(answer.contains("\"ok\":true"), "{item}: {answer}");
    }
    for external_id in ["=1", "+2", "'=5", " 6 ", "8.0", "9e9", "TRUE", "a\nb", "\"", "1234567890123456789"] {
        served.post("/v1/public/items", &json!({"externalId": external_id, "name": "x", "price": 0.1}).to_string());
    }
    let mut files: Vec<PathBuf> = Vec::new();
    for (file, args) in [
        ("items.xlsx", &["items"][..]),
        ("orders.xlsx", &["orders"]),
        ("lines.xlsx", &["orders", "--explode", "items"]),
        ("companies.xlsx", &["companies"]),
        ("contacts.xlsx", &["contacts"]),
        ("inventories.xlsx", &["inventories"]),
        ("empty.xlsx", &["items", "-t", "none.toml"]),
    ] {
        place.write("none.toml", "[[where]]\nfield = \"price\"\nat_least = 1000000\n");
        served.sheetport(&place, ["export"].iter().chain(args).copied()).args(["-o", file, "-q"]).exits(0);
        files.push(place.path(file));
    }
    let items = count(&served.get("/v1/public/items?page=1&limit=1"), "total");
    let before: Vec<Vec<String>> = files.iter().map(|file| cells(&place, file)).collect();
    for (program, folder) in check_and_save_again(&programs, &place, &files) {
        for (file, then) in files.iter().zip(&before) {
            assert_same_cells(&place, program, then, &folder.join(file.file_name().unwrap()));
        }
        let saved = folder.join("items.xlsx");
        let upload = ["upload", name(&saved), "-t", "exported-items", "--changed-only", "--json"];
        let upload = summary(&served.sheetport(&place, upload).exits(0));
        assert_eq!(accounting(&upload), format!("{items}: unchanged {items}"), "{program:?}");
    }
}
