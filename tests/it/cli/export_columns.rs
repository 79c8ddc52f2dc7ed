//! Columns, conditions, order and headers without a template.

use std::fs;

use serde_json::{Value, json};

use super::lists::Lists;
use super::process::{Ended, Place};
use super::service::Served;
use super::{column, count, table};

/// Three items with an own field and a nested one.
const ITEMS: [&str; 3] = [
    r#"{"id":"a","name":"Bolt","price":1.50,"status":"active","cost":1.1,"Unit no":"7","box":{"width":3}}"#,
    r#"{"id":"b","name":"Nut","price":12.00,"status":"archived","cost":2,"Unit no":"8","box":{"width":4}}"#,
    r#"{"id":"c","name":"Pin","price":9,"status":"active","cost":null,"Unit no":"9","box":null}"#,
];

async fn lists_of(items: &[&str]) -> (Place, Lists) {
    let (place, lists) = (Place::new(), Lists::start().await);
    lists.set("items", items.iter().copied());
    (place, lists)
}

/// Returns the rows of a CSV, with bars between the cells.
#[track_caller]
fn rows(place: &Place, file: &str) -> Vec<String> {
    table(&place.path(file)).iter().map(|row| row.join("|")).collect()
}

fn manifest(place: &Place, file: &str) -> Value {
    serde_json::from_slice(&fs::read(place.path(&format!("{file}.manifest.json"))).unwrap()).unwrap()
}

#[track_caller]
fn export(lists: &Lists, place: &Place, flags: &[&str], code: i32) -> Ended {
    lists.sheetport(place, ["export", "items", "-o", "items.csv"].iter().chain(flags).copied()).exits(code)
}

#[tokio::test(flavor = "multi_thread")]
async fn columns_conditions_order_and_headers_need_no_template() {
    let (place, lists) = lists_of(&ITEMS).await;
    let columns = "name,Unit no,box.width,margin=price - cost,label=name ~ ', ' ~ row['Unit no']";
    let flags = ["--columns", columns, "--columns", "id", "--sort", "-price", "--rename", "name=Artikel", "--json"];
    let exported = export(&lists, &place, &flags, 0).json();
    let expected = [
        "Artikel|Unit no|box.width|margin|label|id",
        "Nut|8|4|10.00|Nut, 8|b",
        "Pin|9|||Pin, 9|c",
        "Bolt|7|3|0.40|Bolt, 7|a",
    ];
    assert_eq!(rows(&place, "items.csv"), expected, "a calculation with a blank is blank");
    assert_eq!((count(&exported, "count"), &exported["complete"]), (3, &json!(true)));

    let flags =
        ["--where", "price > 1.5 and status == 'active'", "--where", "row['box.width'] == ''", "--columns", "id"];
    export(&lists, &place, &flags, 0).shows(&["2 left out by the conditions"]);
    assert_eq!(rows(&place, "items.csv"), ["id", "c"]);
    let found = manifest(&place, "items.csv");
    assert_eq!(found["where"], json!(["price > 1.5 and status == 'active'", "row['box.width'] == ''"]));
    assert_eq!((&found["columns"], &found["sort"], &found["left_out"]), (&json!(["id"]), &json!([]), &json!(2)));

    export(&lists, &place, &["--columns", "id,margin=price - cost", "--sort=-margin,name"], 0);
    assert_eq!(rows(&place, "items.csv"), ["id|margin", "b|10.00", "a|0.40", "c|"], "blanks last");
    assert_eq!(manifest(&place, "items.csv")["sort"], json!(["-margin", "name"]));

    // All columns, some with other names.
    export(
        &lists,
        &place,
        &["--rename", "price=Preis,box.width=Breite", "--where", "updated_at == '' and price < 2"],
        0,
    );
    let expected = ["id|name|Preis|currency|status|updated_at|cost|Unit no|Breite", "a|Bolt|1.50||active||1.1|7|3"];
    assert_eq!(rows(&place, "items.csv"), expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_template_has_computed_columns_and_flags_narrow_it() {
    let (place, lists) = lists_of(&ITEMS).await;
    let template = "sort = ['-margin']\nwhere = 'cost > 0'\n[[columns]]\nname = 'Preis'\nfield = 'price'\ndecimals = 1\n\
                    [[columns]]\nname = 'margin'\ntext = '{{ price - cost }}'\ndecimals = 3\n\
                    [[columns]]\nname = 'what'\ntext = '{{ name }} ({{ status }})'\n";
    place.write("t.toml", template);
    export(&lists, &place, &["-t", "t.toml"], 0);
    assert_eq!(
        rows(&place, "items.csv"),
        ["Preis|margin|what", "12.0|10.000|Nut (archived)", "1.5|0.400|Bolt (active)"]
    );
    let flags = ["-t", "t.toml", "--columns", "id,what,price", "--where", "status == 'active'", "--rename", "what=Was"];
    export(&lists, &place, &flags, 0);
    assert_eq!(rows(&place, "items.csv"), ["id|Was|Preis", "a|Bolt (active)|1.5"]);
    place.write("t.toml", "[[columns]]\ntext = '{{ price - }}'\nname = 'a'\n");
    export(&lists, &place, &["-t", "t.toml"], 2).says(&["t.toml:2:", "something is missing after this"]);
    place.write("t.toml", "[[columns]]\ntext = '{{ price }}'\n");
    export(&lists, &place, &["-t", "t.toml"], 2).says(&["a computed column needs a name"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn other_formats_have_the_same_columns() {
    let (place, lists) = lists_of(&ITEMS).await;
    let export = |file: &'static str, flags: &[&'static str]| {
        lists.sheetport(&place, ["export", "items", "-o", file].iter().chain(flags).copied()).exits(0);
    };
    let flags = ["--columns", "id,margin=price - cost", "--where", "cost > 1", "--sort", "-id"];
    export("items.ndjson", &flags);
    let text = fs::read_to_string(place.path("items.ndjson")).unwrap();
    assert_eq!(text, "{\"id\":\"b\",\"margin\":10.00}\n{\"id\":\"a\",\"margin\":0.40}\n");
    export("items.xlsx", &flags);
    let viewed: Value = place.sheetport(["view", "items.xlsx", "--json", "--all-sheets"]).exits(0).json();
    assert_eq!(viewed["sheets"][0]["rows"], json!([["id", "margin"], ["b", 10], ["a", 0.4]]));
    export("items.db", &flags);
    let found = sheetport_datasets::testing::query(&place.path("items.db"), "SELECT id, margin FROM items ORDER BY id");
    assert_eq!(found, [["a", "0.4"], ["b", "10"]]);
    let refused = lists.sheetport(&place, ["export", "items", "-o", "other.db", "--columns", "name"]);
    refused.exits(2).says(&["needs the id of each record", "add id to --columns"]);
    // Without columns, the records stay as they are.
    export("items.ndjson", &["--where", "id == 'c'"]);
    assert_eq!(fs::read_to_string(place.path("items.ndjson")).unwrap(), format!("{}\n", ITEMS[2]));
}

#[tokio::test(flavor = "multi_thread")]
async fn names_of_no_field_keep_the_file_and_name_the_nearest() {
    let (place, lists) = lists_of(&ITEMS).await;
    export(&lists, &place, &[], 0);
    let before = fs::read(place.path("items.csv")).unwrap();
    for (flags, says) in [
        (&["--columns", "id,nmae"][..], &["none of the items has a field nmae", "did you mean name?"][..]),
        (&["--columns", "id,x=pirce * 2"], &["has a field pirce", "did you mean price?"]),
        (&["--columns", "id,box.widht"], &["has a field box.widht", "did you mean box.width?"]),
        (&["--where", "statsu == 'active'"], &["has a field statsu", "did you mean status?"]),
        (&["--sort", "-updatedat"], &["has a field updatedat", "did you mean updated_at?"]),
        (&["--rename", "cots=Cost"], &["has a field cots", "did you mean cost?"]),
        (&["--columns", "id,name", "--rename", "nmae=x"], &["no column nmae to rename", "did you mean name?"]),
        (&["--columns", "id,id"], &["two columns are called 'id'"]),
        (&["--rename", "cost=box.width"], &["two columns are called 'box.width'"]),
        (&["--where", "price >"], &["--where can't be read", "something is missing after this"]),
        (&["--where", "param('x') > 1"], &["neither parameters nor cells"]),
        (&["--where", "name > 3"], &["the condition name > 3 can't be decided for the record a", "'Bolt' is text"]),
        (&["--columns", "x=name * 2"], &["the column x can't be computed for the record a", "'Bolt' is not a number"]),
        (&["--columns", "x=10 / 3"], &["the column x can't be computed for the record a"]),
        (&["--explode", "items", "--where", "row['items.quantity'] > 1"], &["about whole records", "items.quantity"]),
        (&["--explode", "items", "--sort", "items.quantity"], &["about whole records", "items.quantity"]),
    ] {
        export(&lists, &place, flags, 2).says(says);
        assert_eq!(fs::read(place.path("items.csv")).unwrap(), before, "{flags:?}");
    }
    // A corrected record is read by the same command.
    for flags in [["--columns", "id,x=name * 2"], ["--where", "name > 3"]] {
        lists.set("items", [r#"{"id":"a","name":"Bolt"}"#]);
        export(&lists, &place, &flags, 2);
        lists.set("items", [r#"{"id":"a","name":4}"#]);
        export(&lists, &place, &flags, 0);
    }
    // Nothing is known without records.
    lists.set("items", [""; 0]);
    export(&lists, &place, &["--columns", "id,nmae", "--allow-empty"], 0);
    assert_eq!(rows(&place, "items.csv"), ["id|nmae"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_field_of_an_earlier_night_may_be_missing() {
    let (place, lists) = lists_of(&[r#"{"id":"a","gone_at":"2026-11-01"}"#, r#"{"id":"b"}"#]).await;
    let flags = ["--columns", "id,gone_at", "--where", "gone_at == ''"];
    export(&lists, &place, &flags, 0);
    lists.set("items", [r#"{"id":"b"}"#, r#"{"id":"c"}"#]);
    for _ in 0..2 {
        export(&lists, &place, &flags, 0);
        assert_eq!(rows(&place, "items.csv"), ["id|gone_at", "b|", "c|"]);
    }
    export(&lists, &place, &["--columns", "id,gone"], 2).says(&["none of the items has a field gone"]);
    // A template of several workspaces only says so.
    place.write("t.toml", "where = 'gone != \"x\"'\n");
    export(&lists, &place, &["-t", "t.toml"], 0).says(&["the field gone is blank in every record"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn only_changes_that_meet_the_conditions_are_exported() {
    let (place, lists) = lists_of(&ITEMS).await;
    let flags = ["--where", "price > 2", "--columns", "id,price", "--sort", "id", "--since", "last"];
    let deltas = |file: &'static str| {
        let words = ["export", "items", "-o", file, "--json", "--changes", "changes.csv"];
        lists.sheetport(&place, words.iter().chain(&flags).copied()).exits(0).json()
    };
    deltas("deltas.csv");
    fs::remove_file(place.path("deltas.csv")).unwrap();
    let ended = deltas("deltas.csv");
    assert_eq!((count(&ended, "count"), count(&ended, "older"), count(&ended, "left_out")), (0, 2, 1));
    // One record meets the conditions now, another one no longer.
    lists.set("items", [ITEMS[0].replace("1.50", "2.50"), ITEMS[1].replace("12.00", "1"), ITEMS[2].to_owned()]);
    let ended = deltas("deltas.csv");
    assert_eq!((count(&ended, "count"), count(&ended, "older")), (1, 1));
    assert_eq!(ended["changes"], json!({"added": 1, "changed": 0, "removed": 1}));
    let changes = table(&place.path("changes.csv"));
    assert_eq!(column(&changes, "change"), ["added", "removed"]);
    assert_eq!(column(&changes, "name"), ["Bolt", "Nut"], "a list of changes has all columns");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_grows_keeps_its_columns_and_conditions() {
    let (place, lists) = lists_of(&ITEMS[..1]).await;
    let append = |flags: &[&str], code: i32| {
        let words = ["export", "items", "-o", "deltas.csv", "--since", "last", "--append"];
        lists.sheetport(&place, words.iter().chain(flags).copied()).exits(code)
    };
    let first = ["--columns", "id,margin=price - cost,name", "--where", "price > 1", "--rename", "name=Artikel"];
    append(&first, 0);
    lists.set("items", ITEMS);
    for (flags, says) in [
        (&["--columns", "id,margin=price - cost", "--where", "price > 1"][..], "begun with another column Artikel"),
        (
            &["--columns", "id,margin=price,name", "--rename", "name=Artikel", "--where", "price > 1"],
            "another column margin",
        ),
        (
            &["--columns", "id,margin=price - cost,name,status", "--rename", "name=Artikel", "--where", "price > 1"],
            "has no column status",
        ),
        (&["--columns", "id,margin=price - cost,name", "--rename", "name=Artikel"], "begun with other conditions"),
    ] {
        append(flags, 2).says(&[says, "move the file away"]);
        assert_eq!(rows(&place, "deltas.csv"), ["id|margin|Artikel", "a|0.40|Bolt"]);
    }
    append(&first, 0);
    assert_eq!(rows(&place, "deltas.csv"), ["id|margin|Artikel", "a|0.40|Bolt", "b|10.00|Nut", "c||Pin"]);
    // A new file begins with the columns that are asked for.
    fs::remove_file(place.path("deltas.csv")).unwrap();
    lists.set("items", [ITEMS[0], ITEMS[1], &ITEMS[2].replace("Pin", "Pins")]);
    append(&["--columns", "name,id"], 0);
    assert_eq!(rows(&place, "deltas.csv"), ["name|id", "Pins|c"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn every_list_has_the_columns() {
    let (place, lists) = lists_of(&ITEMS).await;
    lists.set("orders", [r#"{"id":"o1","status":"open","total_price":5,"items":[{"quantity":2,"price":1.5},{"quantity":1,"price":2}]}"#]);
    let words = ["export", "items", "orders", "-o", "{kind}.csv", "--columns", "id,status", "--sort", "-id"];
    lists.sheetport(&place, words).exits(0);
    assert_eq!(rows(&place, "items.csv"), ["id|status", "c|active", "b|archived", "a|active"]);
    assert_eq!(rows(&place, "orders.csv"), ["id|status", "o1|open"]);
    let words = ["export", "items", "orders", "-o", "all.xlsx", "--columns", "id,cost"];
    lists.sheetport(&place, words).exits(2).says(&["none of the orders has a field cost"]);
    assert!(!place.path("all.xlsx").exists());
    // Computed columns are about the rows.
    let columns = "id,items.quantity,sum=row['items.quantity'] * row['items.price']";
    lists.sheetport(&place, ["export", "orders", "-o", "o.csv", "--explode", "items", "--columns", columns]).exits(0);
    assert_eq!(rows(&place, "o.csv"), ["id|items.quantity|sum", "o1|2|3", "o1|1|2"]);
}

#[test]
fn jobs_have_the_same_keys() {
    let place = Place::new();
    let served = Served::demo(&place);
    place.write(
        "nightly.toml",
        "[[step]]\nexport = \"items\"\noutput = \"out.csv\"\ncolumns = [\"id\", \"name\", \"double=price * 2\"]\n\
         where = 'price > 100'\nsort = \"-price\"\nrename = { name = \"Artikel\" }\n",
    );
    served.sheetport(&place, ["job", "run", "nightly.toml", "-q"]).exits(0);
    let found = table(&place.path("out.csv"));
    assert_eq!(
        (&*found[0], column(&found, "double")),
        (&["id", "Artikel", "double"].map(str::to_owned)[..], vec!["378", "258"])
    );
    place.write("nightly.toml", "[[step]]\nexport = \"items\"\noutput = \"out.csv\"\nwhere = 'price >'\n");
    served.sheetport(&place, ["job", "run", "nightly.toml"]).exits(2).says(&["nightly.toml:2", "something is missing"]);
}
