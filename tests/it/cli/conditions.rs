//! Conditions in a template: rows to leave out, rows to use, and rules for every record.

use super::accounting;
use super::process::Place;

const HEAD: &str = "record = \"item\"\n[sheet]\nlocale = \"de\"\n";
const FIELDS: &str = "\n[fields.externalId]\ncolumn = \"SKU\"\n[fields.price]\ncolumn = \"Price\"\n\
                      [fields.purchasePrice]\ncolumn = \"Cost\"\n";
const ROWS: &str =
    "SKU;Status;Qty;Price;Cost\nA;live;1.000;5,00;4,50\nB;planned;7;5,00;4,50\nC;live;0;5,00;4,50\nD;live;;5,00;\n";

/// Checks the rows with a key of `[sheet]` and rules.
fn checked(place: &Place, sheet: &str, rules: &str) -> serde_json::Value {
    place.write("items.csv", ROWS);
    place.write("t.toml", format!("{HEAD}{sheet}{FIELDS}{rules}"));
    place.sheetport(["check", "items.csv", "-t", "t.toml", "--json"]).run().json()
}

#[test]
fn rows_are_chosen_by_conditions_over_several_columns() {
    let place = Place::new();
    let skip = "skip_where = 'Status == \"planned\" or Qty <= 0'";
    assert_eq!(accounting(&checked(&place, skip, "")), "4: skipped 2, pending 2", "a blank is not below 0");
    assert_eq!(accounting(&checked(&place, "keep_where = 'Qty > 500'", "")), "4: skipped 3, pending 1");
    let both = "skip_where = { column = \"Status\", matches = \"^planned\" }\nkeep_where = 'Price > Cost'";
    assert_eq!(accounting(&checked(&place, both, "")), "4: skipped 2, pending 2");
    let keep = "keep_where = { column = \"SKU\", matches = \"[AB]\" }";
    assert_eq!(accounting(&checked(&place, keep, "")), "4: skipped 2, pending 2");
}

#[test]
fn a_condition_that_cannot_be_evaluated_rejects_its_row() {
    let place = Place::new();
    let checked = checked(&place, "skip_where = 'SKU < 5'", "");
    assert_eq!(accounting(&checked), "4: rejected 4");
    let problem = &checked["problems"][0];
    assert_eq!(problem["field"], "skip_where");
    assert_eq!(problem["code"], "expression");
    assert!(problem["message"].as_str().unwrap().contains("'A' is text, and '5' is a number"), "{problem}");
}

#[test]
fn problems_of_conditions_are_at_the_cell_at_fault() {
    let place = Place::new();
    let at = |sheet: &str, rules: &str, rows: &str| {
        place.write("items.csv", format!("SKU;Status;Qty;Price;Cost\n{rows}"));
        place.write("t.toml", format!("{HEAD}{sheet}{FIELDS}{rules}"));
        let checked = place.sheetport(["check", "items.csv", "-t", "t.toml", "--json"]).run().json();
        let problem = checked["problems"].as_array().unwrap().iter().find(|it| it["code"] != "not-a-number").unwrap();
        (problem["column"].clone(), problem["value"].clone())
    };
    let rows = "A;live;many;5,00;4,50\n";
    assert_eq!(at("keep_where = 'Price > 1 and Qty > 0'", "", rows), ("C".into(), "many".into()));
    assert_eq!(at("skip_where = 'Price * Qty > 1'", "", rows), ("C".into(), "many".into()));
    assert_eq!(at("skip_where = 'Qty > Price'", "", rows).0, "C");
    let rule = "[[rules]]\nrule = \"price >= 9\"\n";
    assert_eq!(at("", rule, rows), ("D".into(), "5.00".into()));
    let rule = "[[rules]]\nrule = \"price < purchasePrice\"\n";
    assert_eq!(at("", rule, rows).0, serde_json::Value::Null, "either price may be wrong");
}

#[test]
fn rules_are_checked_beside_problems_of_other_fields() {
    let place = Place::new();
    let rules = "[fields.tax]\ncolumn = \"Qty\"\n[[rules]]\nrule = \"price >= 9\"\n[[rules]]\nrule = \"price > purchasePrice\"\n\
                 [[rules]]\nrule = \"tax > 5\"\n";
    place.write("items.csv", "SKU;Qty;Price;Cost\nA;many;5,00;6,00\nB;7;5,00;unknown\n");
    place.write("t.toml", format!("{HEAD}{FIELDS}{rules}"));
    let checked = place.sheetport(["check", "items.csv", "-t", "t.toml", "--json"]).run().json();
    let found = checked["problems"].as_array().unwrap().iter();
    let found: Vec<String> = found.map(|it| format!("{} {}: {}", it["rows"], it["code"], it["message"])).collect();
    let count = |words: &str| found.iter().filter(|found| found.contains(words)).count();
    assert_eq!(count("not-a-number"), 2, "{found:#?}");
    assert_eq!(count("price >= 9"), 1, "of both rows: {found:#?}");
    assert_eq!(count("price > purchasePrice"), 1, "only of A, because B has no cost: {found:#?}");
    assert_eq!(count("tax > 5"), 0, "A has no tax: {found:#?}");
}

#[test]
fn mistakes_in_conditions_have_a_place_in_the_template() {
    let place = Place::new();
    place.write("items.csv", ROWS);
    for (sheet, rules, words) in [
        ("skip_where = 'Qty < '", "", ["something is missing after this", "t.toml:4:19"]),
        ("keep_where = 'Qty | uper'", "", ["did you mean 'upper'?", "t.toml:4:21"]),
        ("keep_where = 5", "", ["keep_where must be a condition such as", "t.toml:4:14"]),
        ("", "[[rules]]\nrule = \"price > cost\"\n", ["'cost' is not a field that this template sets", "t.toml:12:8"]),
        ("", "[[rules]]\nrule = \"1 > 2\"\n", ["this rule names no field", "t.toml:12:8"]),
        ("", "[[rules]]\nmessage = \"x\"\n", ["needs the key rule", "t.toml"]),
        ("skip_where = 'Missing == 1'", "", ["skip_where needs the column 'Missing'", "items.csv"]),
    ] {
        place.write("t.toml", format!("{HEAD}{sheet}{FIELDS}{rules}"));
        place.sheetport(["check", "items.csv", "-t", "t.toml"]).exits(2).says(&words);
    }
}

#[test]
fn rules_compare_the_fields_of_a_record() {
    let place = Place::new();
    let rule = "[[rules]]\nrule = \"price >= purchasePrice + 1\"\nmessage = \"the price is too low\"\n";
    let problems = checked(&place, "", rule);
    assert_eq!(accounting(&problems), "4: rejected 3, pending 1", "a rule about a blank field holds");
    let problem = &problems["problems"][0];
    assert_eq!(problem["count"], 3);
    assert_eq!((&problem["field"], &problem["code"]), (&"price".into(), &"rule".into()));
    assert_eq!(problem["message"], "is against a rule of the template: the price is too low");
    assert!(problem["remedy"].as_str().unwrap().contains("price >= purchasePrice + 1"), "{problem}");
    let either = "[[rules]]\nrule = \"purchasePrice or price < 5\"\n";
    let problems = checked(&place, "", either);
    assert_eq!(accounting(&problems), "4: rejected 1, pending 3");
    assert_eq!(problems["problems"][0]["rows"][0], 5);
}

#[test]
fn a_warning_is_shown_and_its_record_sent() {
    let place = Place::new();
    let rule = "[[rules]]\nrule = \"price >= 6\"\nseverity = \"warning\"\nmessage = \"a low price\"\n";
    let shown = checked(&place, "skip_where = 'Status == \"planned\"'", rule);
    assert_eq!(accounting(&shown), "4: skipped 1, pending 3");
    assert_eq!(shown["problems"].as_array().unwrap().len(), 0);
    assert_eq!((&shown["warnings"][0]["count"], &shown["warnings"][0]["rows"][0]), (&3.into(), &2.into()));
    let people = place.sheetport(["check", "items.csv", "-t", "t.toml"]).exits(0);
    people.shows(&["Warnings", "3 rows", "a low price"]);
    place.write("t.toml", format!("{HEAD}{FIELDS}{}", rule.replace("warning", "warn")));
    place.sheetport(["check", "items.csv", "-t", "t.toml"]).exits(2).says(&["'warn' is not a value of severity"]);
}

#[test]
fn expressions_know_the_file_and_the_sheet() {
    let place = Place::new();
    place.write("prices.csv", "Store,Main\nPrepared,2026-01-31\n\nSKU,Price\nA,5\n");
    let template = "record = \"item\"\n[fields.externalId]\ncolumn = \"SKU\"\n[fields.price]\ncolumn = \"Price\"\n\
                    [fields.name]\ntext = \"{{ file_name() }} {{ row_number() }} {{ cell('B1') }} \
                    {{ date(cell('B2')) | add_days(1) }} {{ today() > cell('B2') }}\"\n";
    place.write("t.toml", template);
    let explained = place.sheetport(["explain", "prices.csv", "-t", "t.toml", "--row", "5", "--json"]).exits(0).json();
    assert_eq!(explained["request"]["body"]["name"], "prices.csv 5 Main 2026-02-01 TRUE");
}

#[test]
fn rules_compare_the_fields_of_a_line() {
    let place = Place::new();
    place.write("orders.csv", "No,Article,Qty,Price\n1,A,2,5\n1,B,0,5\n2,C,1,5\n");
    let template = "record = \"order\"\n[group]\nby = \"No\"\n[fields.externalId]\ncolumn = \"No\"\n\
                    [lines.itemExternalId]\ncolumn = \"Article\"\n[lines.quantity]\ncolumn = \"Qty\"\n\
                    [lines.price]\ncolumn = \"Price\"\n[[rules]]\nrule = \"quantity * price > 0\"\n";
    place.write("t.toml", template);
    let checked = place.sheetport(["check", "orders.csv", "-t", "t.toml", "--json"]).exits(3).json();
    assert_eq!(accounting(&checked), "2: rejected 1, pending 1");
    assert_eq!((&checked["problems"][0]["rows"][0], &checked["problems"][0]["field"]), (&3.into(), &"quantity".into()));
    place.write("t.toml", template.replace("quantity * price > 0", "quantity > 0 or externalId"));
    let refused = place.sheetport(["check", "orders.csv", "-t", "t.toml"]).exits(2);
    refused.says(&["externalId is a field of the record", "fields of one kind"]);
}

#[test]
fn times_are_compared_in_the_time_zone_of_the_template() {
    let place = Place::new();
    // Half an hour before and after New Year in Berlin.
    let orders = "Order no.,Order date,Customer no.,Item no.,Quantity,Unit price\n1,2025-12-31T23:30,C,A,1,5\n2,2026-01-01T00:30,C,A,1,5\n";
    let checked = |text: &str, condition: &str| {
        place.write("orders.csv", text);
        place.write("t.toml", format!("extends = \"orders\"\n[sheet]\ntime_zone = \"Europe/Berlin\"\n{condition}"));
        accounting(&place.sheetport(["check", "orders.csv", "-t", "t.toml", "--json"]).run().json())
    };
    let rule = "[[rules]]\nrule = 'orderAt >= \"2026-01-01\"'\n";
    assert_eq!(checked(orders, rule), "2: rejected 1, pending 1");
    let (zone, utc) = (
        orders.replace(":30,", ":30+01:00,"),
        orders.replace("31T23", "31T22").replace("2026-01-01T00", "2025-12-31T23"),
    );
    assert_eq!(checked(&zone, rule), "2: rejected 1, pending 1");
    assert_eq!(checked(&utc.replace(":30,", ":30Z,"), rule), "2: rejected 1, pending 1");
    let keep = "keep_where = 'row[\"Order date\"] >= \"2026-01-01\"'\n";
    assert_eq!(checked(&utc.replace(":30,", ":30Z,"), keep), "2: skipped 1, pending 1");
    assert_eq!(checked(orders, keep), "2: skipped 1, pending 1");
}
