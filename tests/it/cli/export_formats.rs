//! Lists, formats, columns, templates and manifests of exports.

use std::fs;
use std::io::Read;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::process::{Place, name};
use super::service::Served;
use super::{column, count, sample, table};

/// Starts a service with a few records of every kind.
pub(super) fn company(place: &Place) -> Served {
    place.write("companies.csv", "id,external_id,name,vat_no\nc1,42,Müller & Söhne,\nc2,43,=cmd(),0042\n");
    place.write("contacts.csv", "id,name\np1,Ann\np2,Ben\np3,Cy\n");
    place.write(
        "inventories.csv",
        "id,inventory_id,name,available,unit_price,item_ids\ni1,1,Bolts,42,1.10,\"[\"\"x\"\",\"\"y\"\"]\"\ni2,2,Nuts,7,2.50,\n",
    );
    place.write(
        "orders.csv",
        "id,order_id,total_price,order_at\no1,1001,19.90,2026-01-02T03:04:05Z\no2,1002,5,2026-01-03\n",
    );
    let load = ["serve", "load", "--data", "service", "--workspace", "shop"];
    let files = ["companies.csv", "contacts.csv", "inventories.csv", "orders.csv"];
    place.sheetport(load.iter().chain(&files)).exits(0);
    let served = Served::start(place);
    let items = sample("items.csv");
    served.sheetport(place, ["upload", name(&items), "-t", "items", "-q"]).exits(0);
    served
}

fn manifest(place: &Place, file: &str) -> Value {
    let bytes = fs::read(place.path(&format!("{file}.manifest.json"))).unwrap();
    serde_json::from_slice(&bytes).unwrap()
}

#[test]
fn lists_of_both_families_are_exported_with_a_manifest() {
    let place = Place::new();
    let served = company(&place);
    for (records, family, rows) in [
        ("items", "public", 25),
        ("items", "legacy", 25),
        ("orders", "public", 2),
        ("orders", "legacy", 2),
        ("companies", "public", 2),
        ("contacts", "legacy", 3),
        ("inventories", "public", 2),
    ] {
        let file = format!("{records}-{family}.csv");
        let args = ["export", records, "-o", &file, "--family", family, "--json"];
        let exported = served.sheetport(&place, args).exits(0).json();
        assert_eq!((count(&exported, "count"), &exported["complete"]), (rows, &true.into()), "{exported}");
        let table = table(&place.path(&file));
        assert_eq!(table.len() as u64, 1 + rows);
        let manifest = manifest(&place, &file);
        let bytes = fs::read(place.path(&file)).unwrap();
        let hash: String = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!((&manifest["sha256"], count(&manifest, "bytes")), (&hash.into(), bytes.len() as u64));
        assert_eq!(manifest["columns"], json!(table[0]));
        assert_eq!((&manifest["records"], &manifest["family"]), (&records.into(), &family.into()));
        assert_eq!((&manifest["workspace"], &manifest["base_url"]), (&"shop".into(), &served.url().into()));
        assert_eq!((count(&manifest, "distinct"), count(&manifest, "duplicates")), (rows, 0));
        assert!(manifest["started"].as_str() <= manifest["finished"].as_str(), "{manifest}");
    }
    // Without --family, the family that has the list is used.
    served.sheetport(&place, ["export", "contacts", "-o", "contacts.out.csv", "-q"]).exits(0);
    let refused = served.sheetport(&place, ["export", "companies", "-o", "a.csv", "--family", "legacy"]);
    refused.exits(2).says(&["no list of companies", "leave out --family"]);
    served.sheetport(&place, ["export", "transactions", "-o", "a.csv"]).exits(2).says(&["no list", "--ids FILE"]);
}

#[test]
fn unknown_fields_have_columns_and_numbers_keep_their_digits() {
    let place = Place::new();
    let served = company(&place);
    served.sheetport(&place, ["export", "companies", "-o", "c.csv", "-q"]).exits(0);
    let rows = table(&place.path("c.csv"));
    assert_eq!(column(&rows, "vat_no"), ["", "0042"], "only the last record has a value");
    assert_eq!(column(&rows, "name"), ["Müller & Söhne", "'=cmd()"], "a formula is neutralised");
    served.sheetport(&place, ["export", "companies", "-o", "c.csv", "-q", "--exact"]).exits(0);
    assert_eq!(column(&table(&place.path("c.csv")), "name")[1], "=cmd()");
    served.sheetport(&place, ["export", "inventories", "-o", "i.csv", "-q"]).exits(0);
    let rows = table(&place.path("i.csv"));
    assert_eq!(rows[0][..4], ["created_at", "updated_at", "id", "inventory_id"], "the contract's order");
    assert_eq!(column(&rows, "unit_price"), ["1.10", "2.50"]);
    assert_eq!(column(&rows, "item_ids"), ["x, y", ""]);
}

#[test]
fn all_formats_contain_the_same_records() {
    let place = Place::new();
    let served = company(&place);
    let mut texts = Vec::new();
    for file in ["o.csv", "o.csv.gz", "o.csv.zst", "o.tsv", "o.ndjson", "o.ndjson.gz", "o.xlsx"] {
        served.sheetport(&place, ["export", "orders", "-o", file, "-q"]).exits(0);
        let bytes = fs::read(place.path(file)).unwrap();
        let mut text = String::new();
        match file.rsplit_once('.').unwrap().1 {
            "gz" => drop(flate2::read::GzDecoder::new(&*bytes).read_to_string(&mut text).unwrap()),
            "zst" => text = String::from_utf8(zstd::decode_all(&*bytes).unwrap()).unwrap(),
            "xlsx" => continue,
            _ => text = String::from_utf8(bytes).unwrap(),
        }
        texts.push(text);
    }
    let [csv, gz, zst, tsv, ndjson, ndjson_gz] = texts.try_into().unwrap();
    assert_eq!((&csv, &csv), (&gz, &zst));
    assert_eq!(csv.replace(',', "\t"), tsv);
    assert_eq!(ndjson, ndjson_gz);
    let lines: Vec<Value> = ndjson.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((lines.len(), &lines[0]["id"]), (2, &"o1".into()));
    assert!(ndjson.contains(r#""total_price":19.90,"#), "digits are unchanged: {ndjson}");
    let view = place.sheetport(["view", "o.xlsx", "--json", "--all-sheets"]).exits(0).json();
    let rows = &view["sheets"][0]["rows"];
    let at = |name: &str| rows[0].as_array().unwrap().iter().position(|cell| cell == name).unwrap();
    assert_eq!(rows[1][at("total_price")], json!(19.9), "a number");
    assert_eq!(rows[1][at("order_at")], json!({"date": "2026-01-02T03:04:05"}), "a real date");
    assert_eq!(rows[1][at("order_id")], json!(1001));
    let to_stdout = served.sheetport(&place, ["export", "orders", "-o", "-"]).exits(0).says(&["2 orders in standard"]);
    assert_eq!(to_stdout.stdout, csv);
    let piped = served.sheetport(&place, ["export", "orders", "-o", "-", "--format", "ndjson", "-q"]).exits(0);
    assert_eq!(piped.stdout, ndjson);
}

#[test]
fn texts_too_long_for_a_workbook_are_cut_and_counted() {
    let place = Place::new();
    let ids: Vec<String> = (0..1_000).map(|number| format!("item-{number:040}")).collect();
    let cell = format!("\"\"{}\"\"", ids.join("\"\",\"\""));
    let rows = format!(
        "id,inventory_id,name,available,item_ids\ni1,1,Bolts,42,\"[{cell}]\"\ni2,2,Nuts,7,\ni3,3,Pins,7,\"[{cell}]\"\n"
    );
    place.write("inventories.csv", rows);
    place.sheetport(["serve", "load", "--data", "service", "--workspace", "shop", "inventories.csv"]).exits(0);
    let served = Served::start(&place);
    let export = |file: &str| served.sheetport(&place, ["export", "inventories", "-o", file, "--json"]).exits(0);
    let exported = export("i.xlsx").says(&["2 texts were longer than 32,767 characters", "and cut", ".csv"]);
    assert_eq!((count(&exported.json(), "cut"), count(&exported.json(), "count")), (2, 3));
    assert_eq!(count(&manifest(&place, "i.xlsx"), "cut"), 2);
    let exported = export("i.csv");
    assert!(!exported.stderr.contains("cut"), "{}", exported.stderr);
    assert_eq!((count(&exported.json(), "cut"), count(&manifest(&place, "i.csv"), "cut")), (0, 0));
    assert_eq!(column(&table(&place.path("i.csv")), "item_ids")[0], ids.join(", "));
    // An upload recognises cut texts by their mark.
    let template =
        "record = \"item\"\n[fields.externalId]\ncolumn = \"id\"\n[fields.description]\ncolumn = \"item_ids\"\n";
    place.write("t.toml", template);
    let checked = served.sheetport(&place, ["check", "i.xlsx", "-t", "t.toml", "--json"]).exits(3).json();
    assert_eq!((count(&checked, "rejected"), count(&checked, "pending")), (2, 1), "{checked}");
    let problem = checked["problems"][0].to_string();
    assert!(problem.contains("was cut to the length of a workbook's cell"), "{problem}");
    let checked = served.sheetport(&place, ["check", "i.csv", "-t", "t.toml", "--json"]).exits(0).json();
    assert_eq!(count(&checked, "pending"), 3);
}

#[test]
fn the_locale_sets_the_decimal_separator() {
    let place = Place::new();
    let served = company(&place);
    let args = ["export", "orders", "-o", "o.csv", "-q", "--locale", "de", "--bom"];
    served.sheetport(&place, args).exits(0);
    let text = fs::read_to_string(place.path("o.csv")).unwrap();
    assert!(text.starts_with("\u{feff}id;order_at;") && text.contains(";19,90;"), "{text}");
    served.sheetport(&place, args.iter().chain(&["--delimiter", "tab"]).copied()).exits(0);
    assert!(fs::read_to_string(place.path("o.csv")).unwrap().contains("\t19,90\t"));
    served.sheetport(&place, ["export", "orders", "-o", "o.csv", "--locale", "xx"]).exits(2).says(&["such as de"]);
}

#[test]
fn an_export_template_selects_formats_filters_and_sorts() {
    let place = Place::new();
    let served = company(&place);
    let template = r#"
record = "items"
sort = ["-price", "name"]
delimiter = ";"
where = ['price >= 10', 'currency in ["EUR", "USD"]']

[[columns]]
name = "Artikel"
field = "name"

[[columns]]
name = "Preis"
field = "price"
decimals = 1

[[columns]]
name = "Quelle"
value = "Sheetport"

[[columns]]
name = "Status"
field = "status"
map = { active = "aktiv" }
default = "?"

[[columns]]
name = "Stand"
field = "updated_at"
date = "%d.%m.%Y"
zone = "Europe/Berlin"

"#;
    place.write("t.toml", template);
    let exported =
        served.sheetport(&place, ["export", "items", "-o", "t.csv", "-t", "t.toml", "--json"]).exits(0).json();
    let text = fs::read_to_string(place.path("t.csv")).unwrap();
    let rows: Vec<Vec<&str>> = text.lines().map(|line| line.split(';').collect()).collect();
    assert_eq!(rows[0], ["Artikel", "Preis", "Quelle", "Status", "Stand"]);
    assert_eq!(count(&exported, "count") + count(&exported, "left_out"), 25);
    assert_eq!(rows.len() as u64, 1 + count(&exported, "count"));
    assert!(count(&exported, "left_out") > 0 && rows.len() > 3, "{exported}");
    let prices: Vec<f64> = rows[1..].iter().map(|row| row[1].parse().unwrap()).collect();
    assert!(prices.is_sorted_by(|one, other| one >= other) && prices.iter().all(|price| *price >= 10.0), "{prices:?}");
    assert!(rows[1..].iter().all(|row| row[1].split_once('.').unwrap().1.len() == 1 && row[2] == "Sheetport"));
    let today = jiff::Timestamp::now().to_zoned(jiff::tz::TimeZone::get("Europe/Berlin").unwrap());
    assert_eq!(rows[1][4], today.strftime("%d.%m.%Y").to_string());
}

#[test]
fn unused_template_fields_are_reported() {
    let place = Place::new();
    let served = company(&place);
    place.write("t.toml", "[[columns]]\nfield = \"id\"\n[[columns]]\nfield = \"vat\"\n");
    let export = served.sheetport(&place, ["export", "companies", "-o", "t.csv", "-t", "t.toml"]).exits(0);
    export.says(&["the field vat is blank in every record"]);
    assert_eq!(table(&place.path("t.csv"))[0], ["id", "vat"]);
}

#[test]
fn mistakes_in_an_export_template_show_their_line() {
    let place = Place::new();
    let served = Served::start(&place);
    for (template, words) in [
        ("recrd = \"items\"\n", &["t.toml:1:1", "unknown key 'recrd'", "did you mean record?"][..]),
        ("record = \"item\"\n", &["t.toml:1:10", "'item' cannot be exported", "did you mean items?"]),
        ("record = \"orders\"\n", &["is for orders", "export orders with it"]),
        ("[[columns]]\nname = \"a\"\n", &["neither a field nor a value"]),
        ("[[columns]]\nfield = \"a\"\nvalue = 1\n", &["t.toml:3:9", "more than one of field, text and value"]),
        ("[[columns]]\nfield = \"a\"\n[[columns]]\nfield = \"a\"\n", &["two columns are called 'a'"]),
        ("[[columns]]\nfield = \"a\"\ndate = \"%!\"\n", &["t.toml:3:8", "invalid date format"]),
        ("[[columns]]\nfield = \"a\"\ndate = \"%d\"\nzone = \"Mars\"\n", &["t.toml:4:8", "unknown time zone 'Mars'"]),
        ("[[where]]\nfield = \"a\"\n", &["has no test", "write where = "]),
        ("[[where]]\nfield = \"a\"\nmatches = \"(\"\n", &["t.toml:3:11", "this is not a regular expression"]),
        ("sort = [\"-\"]\n", &["t.toml:1:9", "empty field name"]),
        ("locale = \"xx\"\n", &["t.toml:1:10", "unknown locale 'xx'"]),
    ] {
        place.write("t.toml", template);
        served.sheetport(&place, ["export", "items", "-o", "t.csv", "-t", "t.toml"]).exits(2).says(words);
    }
    assert!(!place.path("t.csv").exists());
}

#[test]
fn conflicting_flags_are_refused() {
    let place = Place::new();
    for (flags, message) in [
        (&["-o", "-", "--json"][..], "can't take both"),
        (&["-o", "a.csv", "--format", "csv"], "a file's extension determines"),
        (&["-o", "a.csv", "--keep", "3"], "{date}"),
        (&["-o", "{day}.csv", "--base-url", "http://localhost:1"], "unknown placeholder '{day}'"),
        (&["-o", "a.csv", "--since", "yesterday"], "2026-11-21T06:00:00Z"),
        (&["-o", "a.csv", "--min-ratio", "80"], "from 0 to 1"),
        (&["-o", "a.csv", "--column", "id"], "--ids"),
        (&["-o", "a.xlsx", "--locale", "de", "--base-url", "http://localhost:1"], "--locale has no effect on a.xlsx"),
        (&["-o", "a.ndjson.gz", "--bom", "--base-url", "http://localhost:1"], "--bom has no effect on a.ndjson.gz"),
        (&["-o", "-", "--since", "last", "--base-url", "http://localhost:1"], "needs the name of a file"),
    ] {
        let args = ["export", "items"].iter().chain(flags);
        let export = place.sheetport(args).env("SHEETPORT_TOKEN_HOST", "http://localhost:1");
        let ended = export.secret("SHEETPORT_ACCESS_TOKEN", "a-token-of-no-use").run();
        assert!(matches!(ended.code, Some(1 | 2)), "{ended:?}");
        ended.says(&[message]);
    }
    assert!(place.names().iter().all(|name| name == "home"), "{:?}", place.names());
}
