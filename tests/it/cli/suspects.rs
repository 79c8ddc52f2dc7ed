//! Rows that contradict other rows or the header: near duplicates, rows below an order, currencies.

use serde_json::{Value, json};

use super::accounting;
use super::process::Place;
use crate::sheet::parts::Xlsx;

/// Checks a sheet and returns the summary.
#[track_caller]
fn check(sheet: &str, template: &str) -> Value {
    let place = Place::new();
    place.write("s.csv", sheet);
    let template = if template.contains('\n') {
        place.write("t.toml", template);
        "t.toml"
    } else {
        template
    };
    let ended = place.sheetport(["check", "s.csv", "-t", template, "--json"]).run();
    let rejects = ended.json()["rejected"] != 0;
    ended.exits(if rejects { 3 } else { 0 }).json()
}

#[track_caller]
fn codes(seen: &Value, list: &str) -> Vec<(String, Value)> {
    let causes = seen[list].as_array().unwrap().iter();
    causes.map(|cause| (cause["code"].as_str().unwrap().to_owned(), cause["rows"].clone())).collect()
}

#[test]
fn nearly_equal_identifiers_are_warnings() {
    let seen = check("SKU,Name,Price\n0042,Bolt,1\n42,Bolt,2\nAB-1,Nut,3\nab-1,Nut,4\nC-5,Pin,5\n'7,Rod,6\n", "items");
    assert_eq!(accounting(&seen), "6: pending 6");
    let found = codes(&seen, "warnings");
    assert_eq!(found, [("nearly-the-same".to_owned(), json!([3, 5])), ("apostrophe".to_owned(), json!([7]))]);
    assert_eq!(seen["warned"], 3);
}

#[test]
fn identifiers_stored_with_decimals_are_warnings() {
    let place = Place::new();
    let sheet = "<sheetData><row r=\"1\"><c t=\"inlineStr\"><is><t>SKU</t></is></c><c t=\"inlineStr\"><is><t>Price</t></is></c></row>\
                 <row r=\"2\"><c><v>1.1</v></c><c><v>2.5</v></c></row><row r=\"3\"><c><v>7</v></c><c><v>2.5</v></c></row></sheetData>";
    place.write("s.xlsx", Xlsx { sheet, ..Xlsx::default() }.bytes());
    let seen = place.sheetport(["check", "s.xlsx", "-t", "items", "--json"]).exits(0).json();
    assert_eq!(codes(&seen, "warnings"), [("may-lack-zero".to_owned(), json!([2]))], "{seen}");
}

#[test]
fn nearly_equal_numbers_of_orders_are_warnings() {
    let seen = check("Order no,Item no,Quantity\nSO-7,42,2\nso-7,43,1\nSO-8,42,1\n", "orders");
    let found = codes(&seen, "warnings");
    assert_eq!(found, [("nearly-the-same".to_owned(), json!([3]))]);
    assert_eq!(seen["rejected"], 0, "{seen}");
}

#[test]
fn an_order_is_not_sent_without_the_rows_below_it() {
    let seen = check("Order no,Item no,Quantity\nS-1,42,2\n,43,1\n,44,1\nS-2,42,3\n", "orders");
    assert_eq!(accounting(&seen), "4: rejected 3, pending 1");
    let below = &seen["problems"][1];
    assert_eq!((&below["code"], &below["rows"]), (&json!("rows-below"), &json!([2])));
    assert!(below["remedy"].as_str().unwrap().contains("on_blank = \"above\""), "{below}");
    // A row of totals is no line of the order.
    let seen = check("Order no,Item no,Quantity\nS-1,42,2\n,Total,2\n", "orders");
    assert_eq!(seen["pending"], 1, "{seen}");
}

#[test]
fn a_further_row_of_a_product_is_not_sent_without_its_name() {
    let sheet = "SKU,Name,Description,Price\nL-13,Laptop,Light,5\nL-15,,,6\nL-16,,,7\nM-1,Mouse,,2\nN-1,,,3\n";
    let seen = check(sheet, "items");
    assert_eq!(codes(&seen, "problems"), [("no-name".to_owned(), json!([3, 4, 6]))]);
    assert_eq!(accounting(&seen), "5: rejected 3, pending 2");
    // A single row without a name may be right.
    let seen = check("SKU,Name,Price\nL-13,Laptop,5\nM-1,Mouse,2\nN-1,,3\n", "items");
    assert_eq!(accounting(&seen), "3: pending 3");
}

#[test]
fn a_sheet_with_identifiers_alone_is_refused() {
    let place = Place::new();
    place.write("s.csv", "SKU;Bezeichn.;Betrag\nA-1;Bolzen;1.00\n");
    let refused = place.sheetport(["check", "s.csv", "-t", "items"]).exits(2);
    refused.says(&["name needs the column", "Bezeichn."]);
    place.write("s.csv", "SKU\nA-1\n");
    place.sheetport(["check", "s.csv", "-t", "items"]).exits(0);
}

#[test]
fn the_currency_in_a_header_counts() {
    let template = "record = \"item\"\n[fields.externalId]\ncolumn = \"SKU\"\n[fields.price]\ncolumn = \"Price EUR\"\n";
    let constant = |code: &str| format!("{template}[fields.currency]\nvalue = \"{code}\"\n");
    let sheet = "SKU,Price EUR\nA,5\nB,7\nC,\n";
    assert_eq!(accounting(&check(sheet, &constant("EUR"))), "3: pending 3");
    let seen = check(sheet, &constant("USD"));
    assert_eq!(accounting(&seen), "3: rejected 2, pending 1", "no amount, no contradiction");
    let problem = &seen["problems"][0];
    assert_eq!(
        (&problem["code"], &problem["value"], &problem["column"]),
        (&json!("currency"), &json!("EUR"), &json!("B"))
    );
    let place = Place::new();
    place.write("s.csv", sheet);
    place.write("t.toml", template);
    let explained = place.sheetport(["explain", "s.csv", "-t", "t.toml", "--row", "2", "--json"]).exits(0).json();
    assert_eq!(explained["request"]["body"]["currency"], "EUR");
    let seen = check("SKU,Price EUR\nA,$5\n", template);
    assert_eq!(codes(&seen, "problems"), [("currency".to_owned(), json!([2]))]);
}
