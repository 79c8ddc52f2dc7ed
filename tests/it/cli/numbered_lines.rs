//! Several lines of a record in one row, in numbered columns.

use serde_json::{Value, json};

use super::process::Place;
use super::{accounting, column, summary, table};

const TEMPLATE: &str = "record = \"order\"\n[fields.externalId]\ncolumn = \"Order\"\n[lines.itemExternalId]\n\
    column = \"Item {n}\"\n[lines.quantity]\ncolumn = [\"Qty {n}\", \"Qty\"]\n[lines.price]\ncolumn = \"Price {n}\"\n\
    optional = true\n[lines.tax_rate]\ncolumn = \"VAT\"\n";
const SHEET: &str = "Order;Item 1;Qty;Price 1;Item 2;Qty 2;Price 2;Item 3;Qty 3;VAT\n\
    A;a1;2;1,50;a2;3;2,50;;;19\nB;b1;1;;;;;b3;1;7\nC;c1;1;;c2;x;;;;7\nD;;;;;;;;;7\n";

fn place() -> Place {
    let place = Place::new();
    place.write("t.toml", TEMPLATE);
    place.write("orders.csv", SHEET);
    place
}

fn lines(place: &Place, row: &str) -> Value {
    let explained = place.sheetport(["explain", "orders.csv", "-t", "t.toml", "--row", row, "--json"]).run().json();
    explained["request"]["body"]["order"]["items"].clone()
}

#[test]
fn numbered_columns_are_lines_of_one_record() {
    let place = place();
    let of_first = json!([
        {"itemExternalId": "a1", "quantity": 2, "price": 1.5, "tax_rate": 19},
        {"itemExternalId": "a2", "quantity": 3, "price": 2.5, "tax_rate": 19},
    ]);
    assert_eq!(lines(&place, "2").to_string().replace("1.50", "1.5").replace("2.50", "2.5"), of_first.to_string());
    let of_second = json!([
        {"itemExternalId": "b1", "quantity": 1, "tax_rate": 7},
        {"itemExternalId": "b3", "quantity": 1, "tax_rate": 7},
    ]);
    assert_eq!(lines(&place, "3"), of_second);
}

#[test]
fn problems_of_numbered_columns_name_their_cell() {
    let place = place();
    let checked = ["check", "orders.csv", "-t", "t.toml", "--report", "out.csv", "--json"];
    let checked = summary(&place.sheetport(checked).exits(3));
    assert_eq!(accounting(&checked), "4: rejected 1, pending 3");
    let report = table(&place.path("out.csv"));
    assert_eq!(column(&report, "sheetport_status")[..3], ["pending", "pending", "rejected"]);
    assert!(column(&report, "sheetport_errors")[2].starts_with("Qty 2 'x' is not a number"), "{report:?}");
    let problem = checked["problems"].as_array().unwrap().iter().find(|problem| problem["value"] == "x").unwrap();
    assert_eq!((&problem["column"], &problem["field"]), (&json!("F"), &json!("quantity")));
}

#[test]
fn rules_and_examples_hold_for_each_line() {
    let place = place();
    let rule = "[[rules]]\nrule = \"quantity < 3\"\n";
    let example = "[[examples]]\nrow = { Order = \"1\", \"Item 1\" = \"a\", Qty = 1, \"Item 2\" = \"b\", \"Qty 2\" = 2, VAT = 7 }\n\
        sends = { externalId = \"1\", items = [{ itemExternalId = \"a\", quantity = 1, tax_rate = 7 }, \
        { itemExternalId = \"b\", quantity = 2, tax_rate = 7 }] }\n";
    place.write("t.toml", format!("{TEMPLATE}{rule}{example}"));
    place.sheetport(["template", "check", "t.toml"]).exits(0);
    let checked = place.sheetport(["check", "orders.csv", "-t", "t.toml", "--json"]).exits(3).json();
    let rule = checked["problems"].as_array().unwrap().iter().find(|problem| problem["code"] == "rule").unwrap();
    assert_eq!((&rule["rows"], &rule["column"]), (&json!([2]), &json!("F")));
}
