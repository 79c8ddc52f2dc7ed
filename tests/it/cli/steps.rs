//! What problems say about values that a step of the template has changed.

use serde_json::Value;

use super::accounting;
use super::process::Place;

const TEMPLATE: &str = r#"record = "item"
[fields.externalId]
column = "SKU"
replace = { pattern = "^X-", with = "" }
split = { at = "/", take = 2 }
pattern = "^[0-9]+$"
[fields.name]
columns = ["Name", "Size"]
allowed = ["Bolt M8"]
[fields.description]
text = "{{ Name }} ({{ Size }})"
[fields.price]
text = "{{ Price }} EUR"
scale = 0.01
minimum = 1
[fields.tax]
column = "Tax"
percent = "whole"
[fields.status]
column = "Active"
map = { yes = "active", no = "archived" }
"#;

/// Returns the problem or warning about a row.
fn about<'c>(checked: &'c Value, list: &str, row: u64) -> &'c Value {
    let found = checked[list].as_array().unwrap().iter().find(|problem| problem["rows"][0] == row);
    found.unwrap_or_else(|| panic!("nothing about row {row}: {checked}"))
}

#[test]
fn problems_show_the_value_after_the_step_that_changed_it() {
    let place = Place::new();
    place.write("t.toml", TEMPLATE);
    place.write(
        "list.csv",
        "SKU,Name,Size,Price,Tax,Active\nX-a/12b,,,500,,\na/3,Bolt,M9,500,,\na/4,,,five,,\na/5,,,50,,\na/6,Bolt M8,,,,maybe\nX-,,,,,no\n",
    );
    let checked = place.sheetport(["check", "list.csv", "-t", "t.toml", "--json"]).exits(3).json();
    for (row, value, remedy) in [
        (2, "X-a/12b", "after split it is '12b'; fix the cell"),
        (3, "Bolt", "after join it is 'Bolt M9'; did you mean 'Bolt M8'?"),
        (4, "five", "after text it is 'five EUR'; write a number"),
        (5, "50", "after scale it is '0.5'; check the number"),
        (6, "maybe", "the listed values are 'yes', 'no'"),
        (7, "X-", "after replace it is blank; fix the cell, or the split"),
    ] {
        let problem = about(&checked, "problems", row);
        assert_eq!(problem["value"], value, "{problem}");
        assert!(problem["remedy"].as_str().unwrap().starts_with(remedy), "{problem}");
    }
}

#[test]
fn texts_of_blank_columns_are_blank() {
    let place = Place::new();
    place.write("t.toml", TEMPLATE);
    place.write("list.csv", "SKU,Name,Size,Price,Tax,Active\na/1,,,,19%,ＹＥＳ\n");
    let explained = place.sheetport(["explain", "list.csv", "-t", "t.toml", "--row", "2", "--json"]).exits(0).json();
    let body = serde_json::json!({"externalId": "1", "tax": 19, "status": "active"});
    assert_eq!(explained["request"]["body"], body);
}

#[test]
fn numbers_that_lack_a_percent_sign_are_warnings() {
    let place = Place::new();
    place.write("t.toml", TEMPLATE);
    place.write("list.csv", "SKU,Name,Size,Price,Tax,Active\na/1,,,,19,\na/2,,,,0.07,\na/3,,,,0,\na/4,,,,0.5%,\n");
    let checked = place.sheetport(["check", "list.csv", "-t", "t.toml", "--json"]).exits(0).json();
    assert_eq!((accounting(&checked), &checked["warned"]), ("4: pending 4".to_owned(), &Value::from(1)));
    assert_eq!(about(&checked, "warnings", 3)["code"], "percent-sign");
    place.write("t.toml", TEMPLATE.replace("whole", "fraction"));
    let checked = place.sheetport(["check", "list.csv", "-t", "t.toml", "--json"]).exits(0).json();
    assert_eq!(about(&checked, "warnings", 2)["message"], "is more than 1 and has no percent sign");
}
