//! `check` counts what is ready and what needs fixing, and tells programs of each row.

use serde_json::{Value, json};

use super::process::{Ended, Place};

const ORDERS: &str = "\
record = \"order\"
[sheet]
skip_where = { column = \"SKU\", matches = \"^-$\" }
[group]
by = \"No\"
[fields.externalId]
column = \"No\"
[lines.itemExternalId]
column = \"SKU\"
[lines.quantity]
column = \"Qty\"
";

#[track_caller]
fn rows(ended: &Ended) -> Vec<Value> {
    ended.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn each_row_has_its_status_and_problems() {
    let place = Place::new();
    place.write("t.toml", ORDERS);
    place.write("orders.csv", "No,SKU,Qty\n1,a,2\n\n2,b,many\n2,c,1\n3,-,\n");
    let check = |words: &[&str]| place.sheetport(["check", "orders.csv", "-t", "t.toml"].iter().chain(words));
    let ended = check(&["--json-rows"]).exits(3);
    let found = rows(&ended);
    let status: Vec<_> =
        found.iter().map(|row| (row["row"].as_u64().unwrap(), row["status"].as_str().unwrap())).collect();
    let wrong = found.iter().find(|row| row["problems"][0]["value"] == "many").unwrap();
    assert_eq!(wrong["problems"][0]["column"], "C");
    assert_eq!(wrong["problems"][0]["header"], "Qty");
    assert_eq!(wrong["problems"][0]["code"], "not-a-number");
    let states: Vec<&str> = status.iter().map(|(_, state)| *state).collect();
    assert_eq!(states, ["ready", "needs_fixing", "needs_fixing", "skipped"], "{found:?}");
    assert_eq!(found[2]["problem_in_row"], found[1]["row"], "the other row of the record has it");
    assert_eq!((&found[2]["problems"], &found[0]["sheet"]), (&json!([]), &Value::Null));
    assert_eq!(found[3]["problems"][0]["code"], "skip-where");

    let report = check(&["--json-rows", "--report", "r.csv"]).exits(3);
    assert_eq!(rows(&report), found);
    assert!(place.path("r.csv").exists());
    check(&["--json-rows", "--json"]).exits(2).says(&["cannot be used with"]);
    place.write("orders.csv", "No,SKU,Qty\n1,a,2\n");
    assert_eq!(rows(&check(&["--json-rows"]).exits(0)).len(), 1);
}

#[test]
fn the_counts_say_what_is_ready_and_what_needs_fixing() {
    let place = Place::new();
    place.write("prices.csv", "SKU,Name,Price,Currency\n1,Bolt,free,EUR\n2,Nut,1.50,EUR\n3,Pin,1.50,EUR\n");
    let ended = place.sheetport(["check", "prices.csv", "-t", "items"]).exits(3);
    let ended = ended.shows(&["2  ready         valid, and not sent yet", "1  needs fixing  wrong in the sheet"]);
    assert!(!ended.stdout.contains("pending") && !ended.stdout.contains("0  sent"), "{ended:?}");
    place.write("prices.csv", "SKU,Name,Price,Currency\n1,Bolt,free,EUR\n");
    place.sheetport(["check", "prices.csv", "-t", "items"]).exits(3).shows(&["0  ready"]);
}
