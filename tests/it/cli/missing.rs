//! `plan --missing` and `[missing]`: records of the service that a complete file lacks.

use serde_json::{Value, json};

use super::process::Place;
use super::service::Served;
use super::{accounting, summary, table};

const MISSING: &str =
    "[missing]\nset = { status = \"inactive\" }\nwhere = 'externalId | starts_with(\"ACME-\")'\nat_most = \"50%\"\n";
const FIELDS: &str =
    "[fields.externalId]\ncolumn = \"SKU\"\n[fields.name]\ncolumn = \"Name\"\n[fields.price]\ncolumn = \"Price\"\n";
/// ACME-3 and ACME-4 are gone.
const LIST: &str = "SKU,Name,Price\nACME-1,Bolt,1\nACME-2,Nut,3\nACME-5,Cap,5\n";

/// A service with five items of the supplier, one of another, and one that is inactive already.
fn desk_with(words: &[&str]) -> (Place, Served) {
    let place = Place::new();
    let served = Served::start_with(&place, 0, words);
    place.write("t.toml", format!("record = \"item\"\n{FIELDS}"));
    place.write("m.toml", format!("record = \"item\"\n{MISSING}{FIELDS}"));
    place.write("s.toml", "extends = \"t.toml\"\n[fields.status]\ncolumn = \"Status\"\n");
    let before = "SKU,Name,Price,Status\nACME-1,Bolt,1,active\nACME-2,Nut,2,active\nACME-3,Pin,3,active\nACME-4,Rod,4,active\n\
                  ACME-5,Cap,5,active\nACME-9,Old,9,inactive\nB-1,Other,1,active\n";
    place.write("before.csv", before);
    served.sheetport(&place, ["upload", "before.csv", "-t", "s.toml", "-q"]).exits(0);
    place.write("list.csv", LIST);
    (place, served)
}

fn desk() -> (Place, Served) {
    desk_with(&[])
}

/// Returns the identifiers of the inactive items.
fn inactive(served: &Served) -> Vec<String> {
    let list = served.get("/v1/public/items?limit=100");
    let items = list["data"].as_array().unwrap().iter().filter(|item| item["status"] == "inactive");
    let mut keys: Vec<String> = items.map(|item| item["external_id"].as_str().unwrap().to_owned()).collect();
    keys.sort();
    keys
}

fn counts(told: &Value) -> String {
    let missing = &told["missing"];
    format!("{} of {}, {} planned", missing["gone"], missing["selected"], missing["planned"])
}

#[test]
fn records_that_the_file_lacks_are_planned_applied_and_taken_back() {
    let (place, served) = desk();
    let shown = served.sheetport(&place, ["plan", "list.csv", "-t", "m.toml", "-o", "c.csv"]).exits(0);
    shown.shows(&["1  changed", "2  gone", "in the service, and not in the file", "ACME-3  active → inactive"]);
    let rows: Vec<String> = table(&place.path("c.csv")).iter().map(|row| row[1..row.len() - 1].join("|")).collect();
    assert_eq!(
        rows[1..],
        [
            "2|ACME-1|unchanged||||",
            "3|ACME-2|changed|price|2|3|",
            "4|ACME-5|unchanged||||",
            "|ACME-3|gone|status|active|inactive|",
            "|ACME-4|gone|status|active|inactive|",
        ]
    );
    assert_eq!(inactive(&served), ["ACME-9"], "nothing was sent");
    let told = summary(&served.sheetport(&place, ["apply", "c.csv", "--json"]).exits(0));
    assert_eq!(accounting(&told), "5: sent 5");
    assert_eq!(inactive(&served), ["ACME-3", "ACME-4", "ACME-9"]);
    let list = served.get("/v1/public/items?limit=100");
    let pin = list["data"].as_array().unwrap().iter().find(|item| item["external_id"] == "ACME-3").unwrap();
    assert_eq!((&pin["name"], &pin["price"]), (&json!("Pin"), &json!(3)), "the other fields stay");
    // What is inactive already is not planned again.
    let again = served.sheetport(&place, ["plan", "list.csv", "-t", "m.toml", "--json"]).exits(0).json();
    assert_eq!(counts(&again), "0 of 3, 0 planned", "{again}");
    served.sheetport(&place, ["report", "2", "-o", "r.csv"]).exits(0);
    served.sheetport(&place, ["runs", "check"]).exits(0);
    served.sheetport(&place, ["undo", "2", "--yes"]).exits(0);
    assert_eq!(inactive(&served), ["ACME-9"]);
}

#[test]
fn single_records_are_approved() {
    let (place, served) = desk();
    served.sheetport(&place, ["plan", "list.csv", "-t", "m.toml", "-o", "c.csv", "-q"]).exits(0);
    let text = std::fs::read_to_string(place.path("c.csv")).unwrap();
    let mark = |line: &str| if line.contains("ACME-4") { format!("no{line}\n") } else { format!("{line}\n") };
    let marked: String = text.lines().map(mark).collect();
    place.write("c.csv", marked);
    let told = summary(&served.sheetport(&place, ["apply", "c.csv", "--json"]).exits(0));
    assert_eq!(accounting(&told), "5: sent 4, skipped 1");
    assert_eq!(inactive(&served), ["ACME-3", "ACME-9"]);
}

#[test]
fn the_plan_is_told_to_programs_and_as_markdown() {
    let (place, served) = desk();
    let plan = ["plan", "list.csv", "-t", "m.toml"];
    let told = served.sheetport(&place, plan.into_iter().chain(["--json"])).exits(0).json();
    assert_eq!((counts(&told).as_str(), &told["changes"]["gone"]), ("2 of 5, 2 planned", &json!(2)), "{told}");
    assert_eq!((&told["missing"]["at_most"], &told["missing"]["not_planned"]), (&json!("50%"), &Value::Null));
    let shown = served.sheetport(&place, plan.into_iter().chain(["--markdown"])).exits(0);
    shown.shows(&["| 2 | gone | in the service, and not in the file |", "<code>ACME-3</code>"]);
}

#[test]
fn more_than_the_limit_is_not_planned() {
    let (place, served) = desk();
    for (limit, planned, code) in [("5%", 0, 3), ("1", 0, 3), ("2", 2, 0), ("40%", 2, 0)] {
        let plan = ["plan", "list.csv", "-t", "m.toml", "--at-most", limit, "--json"];
        let told = served.sheetport(&place, plan).exits(code).json();
        assert_eq!(counts(&told), format!("2 of 5, {planned} planned"), "{told}");
        assert_eq!(told["changes"]["changed"], 1, "the rest is planned");
    }
    let held = served.sheetport(&place, ["plan", "list.csv", "-t", "m.toml", "--at-most", "5%"]).exits(3);
    held.shows(&["2 records of 5 that the file lacks", "at most 5% are allowed", "--at-most 2"]);
    // 5 % is usual.
    place.write("u.toml", format!("record = \"item\"\n{}{FIELDS}", MISSING.replace("at_most = \"50%\"\n", "")));
    let told = served.sheetport(&place, ["plan", "list.csv", "-t", "u.toml", "--json"]).exits(3).json();
    assert_eq!(told["missing"]["not_planned"], "too_many", "{told}");
}

#[test]
fn a_row_that_is_wrong_or_left_out_is_there() {
    let (place, served) = desk();
    let skip = "[sheet]\nskip_where = 'Name == \"skip\"'\n";
    place.write("k.toml", format!("record = \"item\"\n{skip}{MISSING}{FIELDS}"));
    for row in ["ACME-4,Rod,x", "ACME-4,skip,4", "ACME-4,Rod,4\nACME-4,Rod,4", "ACME-4,Rod,4"] {
        place.write("list.csv", format!("{LIST}{row}\n"));
        let plan = ["plan", "list.csv", "-t", "k.toml", "--json"];
        let told = served.sheetport(&place, plan).run().json();
        assert_eq!(counts(&told), "1 of 5, 1 planned", "{row}: {told}");
    }
    // A total that is left out has no identifier.
    place.write("list.csv", format!("{LIST},skip,9\n"));
    let told = served.sheetport(&place, ["plan", "list.csv", "-t", "k.toml", "--json"]).exits(0).json();
    assert_eq!(counts(&told), "2 of 5, 2 planned", "{told}");
}

#[test]
fn an_identifier_that_is_not_known_holds_all() {
    let (place, served) = desk();
    for (row, words) in [
        (",Rod,4", "is blank"),
        ("1.2E+12,Rod,4", "externalId"),
        ("#N/A,Rod,4", "externalId"),
        ("ACME-4,Rod,4,5", "row"),
    ] {
        place.write("list.csv", format!("{LIST}{row}\n"));
        let told = served.sheetport(&place, ["plan", "list.csv", "-t", "m.toml", "--json"]).exits(3).json();
        assert_eq!((&told["missing"]["not_planned"], &told["missing"]["planned"]), (&json!("unreadable"), &json!(0)));
        assert_eq!(told["missing"]["unreadable"][0]["rows"], json!([5]), "{row} {words}: {told}");
        let shown = served.sheetport(&place, ["plan", "list.csv", "-t", "m.toml"]).exits(3);
        shown.shows(&["identifiers of its rows are not known"]);
    }
    served.sheetport(&place, ["apply", "9"]).run();
    assert_eq!(inactive(&served), ["ACME-9"]);
}

#[test]
fn similar_identifiers_are_held() {
    let (place, served) = desk();
    place.write("list.csv", LIST.replace("ACME-5", "acme-5"));
    let told = served.sheetport(&place, ["plan", "list.csv", "-t", "m.toml", "--json"]).exits(0).json();
    assert_eq!(counts(&told), "2 of 5, 2 planned", "{told}");
    assert_eq!(told["missing"]["alike"], json!([{"record": "ACME-5", "row": 4}]), "{told}");
    let shown = served.sheetport(&place, ["plan", "list.csv", "-t", "m.toml"]).exits(0);
    shown.shows(&["1 record with an identifier that may be confused", "ACME-5", "row 4 has a similar identifier"]);
}

#[test]
fn what_somebody_changes_meanwhile_stays() {
    let (place, served) = desk();
    served.sheetport(&place, ["plan", "list.csv", "-t", "m.toml", "-q"]).exits(0);
    served.post("/v1/public/items", r#"{"externalId":"ACME-3","status":"on sale"}"#);
    let told = summary(&served.sheetport(&place, ["apply", "2", "--json"]).exits(3));
    assert_eq!((accounting(&told).as_str(), &told["moved_on"]["records"]), ("5: sent 4, skipped 1", &json!(1)));
    assert_eq!(inactive(&served), ["ACME-4", "ACME-9"]);
}

#[test]
fn a_newer_upload_of_the_record_keeps_it() {
    let (place, served) = desk();
    served.sheetport(&place, ["plan", "list.csv", "-t", "m.toml", "-q"]).exits(0);
    place.write("newer.csv", "SKU,Name,Price\nACME-3,Pin,3\n");
    served.sheetport(&place, ["upload", "newer.csv", "-t", "t.toml", "-q"]).exits(0);
    let told = summary(&served.sheetport(&place, ["apply", "2", "--json"]).run());
    assert_eq!(told["superseded"][0]["records"], 1, "{told}");
    assert_eq!(inactive(&served), ["ACME-4", "ACME-9"]);
}

#[test]
fn only_a_plan_sets_missing_records() {
    let (place, served) = desk();
    for flags in
        [&["--missing", "set:status=inactive"][..], &["--at-most", "5%"], &["--missing", "set:status=x", "--queue"]]
    {
        let upload = [&["upload", "list.csv", "-t", "m.toml"], flags].concat();
        served.sheetport(&place, upload).exits(2).says(&["is for a plan that a person looks at", "sheetport plan"]);
    }
    let sent = served.sheetport(&place, ["upload", "list.csv", "-t", "m.toml"]).exits(0);
    sent.says(&["records that the file lacks stay as they are", "sheetport plan"]);
    assert_eq!(inactive(&served), ["ACME-9"]);
    let plan = ["upload", "--plan", "list.csv", "-t", "m.toml", "--missing", "set:status=sold out", "--json"];
    let told = served.sheetport(&place, plan).exits(0).json();
    let example = &told["changes"]["fields"][0]["examples"][0];
    assert_eq!((counts(&told).as_str(), &example["planned"]), ("3 of 6, 3 planned", &json!("sold out")), "{told}");
}

#[test]
fn what_can_not_be_known_is_refused() {
    let (place, served) = desk();
    place.write(
        "o.toml",
        "record = \"order\"\n[fields.externalId]\ncolumn = \"SKU\"\n[fields.deliveryStatus]\ncolumn = \"Name\"\n",
    );
    let flag = "set:status=inactive";
    for (template, flags, words) in [
        ("t.toml", &["--missing", flag][..], "does not say for which records the file is complete"),
        ("t.toml", &["--at-most", "5%"], "does not say for which records the file is complete"),
        ("o.toml", &["--missing", flag], "orders are no records that the service lists"),
        ("m.toml", &["--missing", "set:price=0"], "price is no text"),
        ("m.toml", &["--missing", "set:externalId=x"], "identifies the record"),
        ("m.toml", &["--missing", flag, "--rows", "2-3"], "leave out --rows"),
    ] {
        let plan = [&["plan", "list.csv", "-t", template], flags].concat();
        served.sheetport(&place, plan).exits(2).says(&[words]);
    }
    let shown = served.sheetport(&place, ["plan", "list.csv", "-t", "t.toml", "--missing", flag]).exits(2);
    shown.says(&["[missing]", "where = 'externalId | starts_with"]);
    for (table, words) in [
        ("set = { status = \"x\" }", "needs a condition"),
        ("where = 'SKU'", "SKU"),
        ("where = '1 < 2'", "selects all records or none"),
        ("where = 'name'\nset = { price = \"1\" }", "price is no text"),
        ("where = 'name'\nat_most = \"many\"", "no limit"),
    ] {
        place.write("w.toml", format!("record = \"item\"\n[missing]\n{table}\n{FIELDS}"));
        served.sheetport(&place, ["plan", "list.csv", "-t", "w.toml"]).exits(2).says(&[words]);
    }
}

#[test]
fn a_list_without_external_ids_is_refused() {
    let (place, served) = desk_with(&["--literal"]);
    let shown = served.sheetport(&place, ["plan", "list.csv", "-t", "m.toml"]).exits(2);
    shown.says(&["it is not known which records the file lacks", "by which number a record was uploaded"]);
}
