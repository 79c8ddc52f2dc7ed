//! Several lines of a record in one row, in numbered columns.

use serde_json::{Value, json};

use super::process::Place;
use super::{accounting, column, sample, summary, table};

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

#[test]
fn the_sample_with_orders_in_rows_is_sent_with_all_lines() {
    let place = Place::new();
    for file in ["orders-in-rows.csv", "orders-in-rows.toml"] {
        std::fs::copy(sample(file), place.path(file)).unwrap();
    }
    place.sheetport(["template", "check", "orders-in-rows.toml"]).exits(0);
    let checked =
        place.sheetport(["check", "orders-in-rows.csv", "-t", "orders-in-rows.toml", "--json"]).exits(0).json();
    assert_eq!(accounting(&checked), "12: pending 12");
    let row = ["explain", "orders-in-rows.csv", "-t", "orders-in-rows.toml", "--row", "8", "--json"];
    let explained = place.sheetport(row).exits(0).json();
    let items = explained["request"]["body"]["order"]["items"].as_array().unwrap().clone();
    let numbers: Vec<&str> = items.iter().map(|item| item["itemExternalId"].as_str().unwrap()).collect();
    assert_eq!(numbers, ["9001", "1011", "0044"]);
}

#[test]
fn expressions_read_the_columns_of_their_line() {
    let place = Place::new();
    let template = "record = \"order\"\n[fields.externalId]\ncolumn = \"Order\"\n\
        [lines.itemExternalId]\ncolumns = [\"Item {n}\", \"Colour\"]\njoin = \"-\"\n\
        [lines.price]\ntext = \"{{ row['List {n}'] * (100 - Discount) / 100 | round(2) }}\"\n";
    place.write("t.toml", template);
    let sheet = "Order;Colour;Discount;Item 1;List 1;Item 2;List 2;Item 4;List 4\n\
        A;red;10;a1;1.234,50;a2;2.000,00;a4;10,50\nB;red;0;b1;1;;;;\nC;blue;0;c1;x;c2;y;;\n";
    place.write("orders.csv", sheet);
    let of_first = json!([
        {"itemExternalId": "a1-red", "price": 1111.05},
        {"itemExternalId": "a2-red", "price": 1800},
        {"itemExternalId": "a4-red", "price": 9.45},
    ]);
    assert_eq!(lines(&place, "2").to_string().replace("1800.00", "1800"), of_first.to_string());
    assert_eq!(lines(&place, "3"), json!([{"itemExternalId": "b1-red", "price": 1}]));
    let checked = place.sheetport(["check", "orders.csv", "-t", "t.toml", "--json"]).exits(3).json();
    let columns: Vec<&Value> =
        checked["problems"].as_array().unwrap().iter().map(|problem| &problem["column"]).collect();
    assert_eq!(columns, [&json!("E"), &json!("G")], "{checked}");
    place.write("t.toml", template.replace("\"Order\"", "\"Order {n}\""));
    let said = place.sheetport(["template", "check", "t.toml"]).exits(2);
    said.says(&["{n} stands for the number of a line, but externalId is not in a line", "--> t.toml:3:"]);
}

#[test]
fn currencies_of_numbered_columns_are_those_of_their_line() {
    let place = Place::new();
    let template = "record = \"order\"\n[fields.externalId]\ncolumn = \"Order\"\n[lines.itemExternalId]\n\
        column = \"Item {n}\"\n[lines.price]\ncolumn = [\"Price {n} (EUR)\", \"Price {n} (USD)\"]\n";
    place.write("t.toml", template);
    place.write(
        "orders.csv",
        "Order,Item 1,Price 1 (EUR),Item 2,Price 2 (USD)\nA,a,1.50,b,2.50\nB,a,1.50,,\nC,a,,b,2.50 EUR\n",
    );
    let checked = place.sheetport(["check", "orders.csv", "-t", "t.toml", "--json"]).exits(3).json();
    assert_eq!(accounting(&checked), "3: rejected 2, pending 1", "{checked}");
    let problems = checked["problems"].as_array().unwrap();
    assert!(problems.iter().all(|problem| problem["code"] == "currency" && problem["column"] == "E"), "{checked}");
}

#[test]
fn a_repeated_value_of_a_numbered_column_names_the_other_column() {
    let place = place();
    place.write("t.toml", TEMPLATE.replace("\"Item {n}\"", "\"Item {n}\"\nunique = true"));
    place.write("orders.csv", SHEET.replace("a2", "a1"));
    let checked = place.sheetport(["check", "orders.csv", "-t", "t.toml", "--json"]).exits(3).json();
    let problem =
        checked["problems"].as_array().unwrap().iter().find(|problem| problem["code"] == "duplicate").unwrap();
    assert_eq!((&problem["column"], &problem["rows"]), (&json!("E"), &json!([2])), "{checked}");
    assert!(problem["remedy"].as_str().unwrap().ends_with("the other is in column B"), "{checked}");
}
