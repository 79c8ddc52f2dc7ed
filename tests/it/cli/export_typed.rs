//! Exports with typed columns: Parquet files and SQLite databases. And the columns that every export to a name has.

use std::collections::BTreeMap;
use std::fs;

use serde_json::{Value, json};
use sheetport_datasets::testing;

use super::lists::Lists;
use super::process::{Ended, Place};
use super::table;

/// Columns and rows, with blanks for missing values.
type Rows = (Vec<String>, Vec<Vec<String>>);

/// Records with values of every type.
const RECORDS: [&str; 4] = [
    r#"{"id":"000042","name":"Müller; =1+1","price":12.50,"updated_at":"2026-11-21T06:00:00Z","stock":3,"address":{"city":"Köln"},"is_new":true,"barcode":4006381333948,"vendor_id":77,"none":null}"#,
    r#"{"id":"000043","name":"","price":3,"updated_at":"2026-11-21T06:00:00.123456Z","stock":-4,"tags":["a","b"],"is_new":false,"mixed":1}"#,
    r#"{"id":"000044","name":"two\nlines","price":-0.125,"updated_at":"2026-11-22T06:00:00Z","mixed":"one","lines":[{"sku":"x"}]}"#,
    r#"{"id":"000045","name":null,"price":1e2,"updated_at":null,"stock":7}"#,
];

fn export(lists: &Lists, place: &Place, words: &str, code: i32) -> Ended {
    let args = ["export"].into_iter().chain(words.split(' '));
    lists.sheetport(place, args).exits(code)
}

fn manifest(place: &Place, file: &str) -> Value {
    serde_json::from_slice(&fs::read(place.path(&format!("{file}.manifest.json"))).unwrap()).unwrap()
}

/// Returns the columns and rows of a table in a database.
fn in_database(place: &Place, file: &str, name: &str) -> Rows {
    let path = place.path(file);
    let columns = testing::query(&path, &format!("SELECT name FROM pragma_table_info('{name}')"));
    (columns.into_iter().flatten().collect(), testing::query(&path, &format!("SELECT * FROM {name}")))
}

#[cfg(feature = "parquet")]
fn in_parquet(place: &Place, file: &str) -> Rows {
    let rows = testing::parquet_rows(&place.path(file));
    let columns = rows.first().map(|row| row.iter().map(|(name, _)| name.clone()).collect());
    (
        columns.unwrap_or_default(),
        rows.into_iter().map(|row| row.into_iter().map(|(_, value)| value).collect()).collect(),
    )
}

/// Returns how many values each column has, and the sum of those that are numbers.
fn sums((columns, rows): &Rows) -> BTreeMap<String, (usize, f64)> {
    let sum = |place: usize| {
        let values: Vec<&str> = rows.iter().map(|row| row[place].as_str()).filter(|value| !value.is_empty()).collect();
        (values.len(), values.iter().filter_map(|value| value.parse::<f64>().ok()).sum())
    };
    columns.iter().enumerate().map(|(place, column)| (column.clone(), sum(place))).collect()
}

fn csv(place: &Place, file: &str) -> Rows {
    let mut rows = table(&place.path(file));
    (rows.remove(0), rows)
}

/// What a value is called in CSV, as SQLite and Parquet show true and false.
fn same(sums: BTreeMap<String, (usize, f64)>) -> BTreeMap<String, (usize, f64)> {
    sums.into_iter().filter(|(column, _)| !["deleted_at", "is_new"].contains(&column.as_str())).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn all_formats_have_the_same_values() {
    let place = Place::new();
    let lists = Lists::start().await;
    lists.set("items", RECORDS);
    export(&lists, &place, "items -o items.csv --exact -q", 0);
    export(&lists, &place, "items -o all.db -q", 0);
    let expected = same(sums(&csv(&place, "items.csv")));
    assert_eq!(expected["price"], (4, 115.375));
    assert_eq!(same(sums(&in_database(&place, "all.db", "items"))), expected);
    let types = [
        "id|TEXT",
        "name|TEXT",
        "price|NUMERIC",
        "currency|TEXT",
        "status|TEXT",
        "updated_at|TIMESTAMP",
        "stock|NUMERIC",
        "address.city|TEXT",
        "is_new|BOOLEAN",
        "barcode|NUMERIC",
        "vendor_id|TEXT",
        "none|",
        "tags|TEXT",
        "mixed|TEXT",
        "lines|TEXT",
        "deleted_at|TIMESTAMP",
    ];
    let found = testing::query(&place.path("all.db"), "SELECT name, type FROM pragma_table_info('items')");
    assert_eq!(found.iter().map(|row| row.join("|")).collect::<Vec<_>>(), types);
    let (_, rows) = in_database(&place, "all.db", "items");
    assert_eq!(
        rows[0][..6],
        ["000042", "Müller; =1+1", "12.5", "", "", "2026-11-21T06:00:00Z"],
        "without an apostrophe"
    );
    assert_eq!(rows[2][14], r#"[{"sku":"x"}]"#);
    #[cfg(feature = "parquet")]
    {
        export(&lists, &place, "items -o out/date={date}/items.parquet -q", 0);
        let folder = fs::read_dir(place.path("out")).unwrap().next().unwrap().unwrap().file_name();
        let file = format!("out/{}/items.parquet", folder.to_str().unwrap());
        assert!(file.starts_with("out/date=20"), "{file}");
        assert_eq!(same(sums(&in_parquet(&place, &file))), expected);
        let types = [
            "text",
            "text",
            "decimal(18,3)",
            "text",
            "text",
            "date-time",
            "integer",
            "text",
            "boolean",
            "integer",
            "text",
            "text",
            "text",
            "text",
            "text",
        ];
        assert_eq!(manifest(&place, &file)["types"], json!(types));
        let (_, rows) = in_parquet(&place, &file);
        assert_eq!(rows[0][2..6], ["12.500", "", "", "2026-11-21 06:00:00.000000 +00:00"]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_night_has_the_same_columns() {
    let place = Place::new();
    let lists = Lists::start().await;
    let export = |words: &str| export(&lists, &place, words, 0);
    let header = |file: &str| manifest(&place, file)["columns"].clone();
    let files = ["items.csv", "items.xlsx", "items.db"];
    lists.set("items", RECORDS);
    files.iter().for_each(|file| drop(export(&format!("items -o {file}"))));
    let columns = header("items.csv");
    assert_eq!(manifest(&place, "items.csv")["new_columns"], json!([]));

    // Fewer fields, none, and those of the changes.
    for records in [&RECORDS[3..], &[]] {
        lists.set("items", records.iter().copied());
        for file in files {
            export(&format!("items -o {file} --allow-empty")).says(&["in"]);
            assert_eq!(header(file), columns, "{file}");
        }
    }
    assert_eq!(csv(&place, "items.csv").0.len(), columns.as_array().unwrap().len());
    lists.set("items", RECORDS);
    let first = export("items -o changes.csv --since last");
    assert!(!first.stderr.contains("new fields"), "all are new: {first:?}");
    lists.set("items", [&RECORDS[..], &[r#"{"id":"9","weight":1}"#]].concat());
    let next = || {
        // As a program does that has processed the changes.
        fs::remove_file(place.path("changes.csv")).unwrap();
        export("items -o changes.csv --since last")
    };
    let changed = next().says(&["the records have new fields", "weight"]);
    assert_eq!(changed.stderr.matches("weight").count(), 1);
    let (columns, rows) = csv(&place, "changes.csv");
    assert_eq!((columns.last().map(String::as_str), rows.len()), (Some("weight"), 1));
    assert_eq!(manifest(&place, "changes.csv")["new_columns"], json!(["weight"]));
    let again = next();
    assert!(!again.stderr.contains("weight"), "said once: {again:?}");
    assert_eq!(csv(&place, "changes.csv"), (columns, vec![]));

    // Another template has other columns.
    let lines = r#"{"id":"1","items":[{"sku":"x"},{"sku":"y"}]}"#;
    lists.set("orders", [lines]);
    export("orders -o orders.csv --explode items");
    export("orders -o orders.csv");
    assert!(!csv(&place, "orders.csv").0.contains(&"items.sku".to_owned()));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_changed_type_is_named_and_the_former_file_stays() {
    let place = Place::new();
    let lists = Lists::start().await;
    let record = |id: u32, price: &str| format!(r#"{{"id":"{id}","price":{price},"weight":2}}"#);
    lists.set("items", [record(1, "1.5"), record(2, "2")]);
    let mut typed = vec!["items.db"];
    if cfg!(feature = "parquet") {
        typed.push("items.parquet");
    }
    for file in typed.iter().copied().chain(["items.csv"]) {
        export(&lists, &place, &format!("items -o {file}"), 0);
    }
    let before: Vec<Vec<u8>> = typed.iter().map(|file| fs::read(place.path(file)).unwrap()).collect();
    lists.set("items", [record(1, "1.5"), record(2, r#""n/a""#), record(3, "true")]);
    let is_noted = "and 2 values are not, such as 'n/a' in the record 2";
    for (file, before) in typed.iter().zip(&before) {
        let words = format!("items -o {file}");
        export(&lists, &place, &words, 9).says(&[
            "was not written: the column price was a number until 20",
            is_noted,
            "--replace",
        ]);
        export(&lists, &place, &format!("{words} --lang de"), 9).says(&[
            "wurde nicht geschrieben: die Spalte price war eine Zahl bis 20",
            "„n/a“",
            "--replace",
        ]);
        assert!(fs::read(place.path(file)).unwrap() == *before, "{file}");
    }
    export(&lists, &place, "items -o items.csv", 0).says(&["price was a number until 20", is_noted]);
    let again = export(&lists, &place, "items -o items.csv", 0);
    assert!(!again.stderr.contains("until"), "said once: {again:?}");

    // Records that were corrected are read again at once, and a column of texts takes everything.
    lists.set("items", [record(1, "1.125"), record(2, "4")]);
    for file in &typed {
        export(&lists, &place, &format!("items -o {file}"), 0);
    }
    lists.set("items", [record(1, "1.5"), record(2, r#""n/a""#)]);
    for file in &typed {
        export(&lists, &place, &format!("items -o {file} --replace"), 0);
        lists.set("items", [record(1, "1.5"), record(2, r#""free""#)]);
        export(&lists, &place, &format!("items -o {file}"), 0);
    }
    let (_, rows) = in_database(&place, "items.db", "items");
    assert_eq!([&rows[0][2], &rows[1][2]], ["1.5", "free"]);
    // The contract says so from the first export on.
    export(&lists, &place, "items -o other.db", 9)
        .says(&["the column price is a number in the contract or the template"]);
    assert!(!place.path("other.db").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_is_updated_and_keeps_what_is_gone() {
    let place = Place::new();
    let lists = Lists::start().await;
    let path = place.path("all.db");
    let record = |id: u32, name: &str| format!(r#"{{"id":"{id}","name":"{name}"}}"#);
    lists.set("items", [record(1, "one"), record(2, "two")]);
    lists.set("companies", [record(1, "Ltd")]);
    let words = "items companies -o all.db --json";
    let first = export(&lists, &place, words, 0).json();
    assert_eq!(first["exports"][0]["changes"], Value::Null);
    testing::execute(
        &path,
        "CREATE TABLE mine (a); CREATE VIEW here AS SELECT name FROM items WHERE deleted_at IS NULL",
    );
    lists.set("items", [record(1, "uno"), record(3, "three")]);
    let second = export(&lists, &place, words, 0).json();
    assert_eq!(second["exports"][0]["changes"], json!({"added": 1, "changed": 1, "removed": 1}));
    let changes = testing::query(&path, "SELECT list, change, id, before, after FROM changes ORDER BY id");
    let changes: Vec<String> = changes.iter().map(|row| row.join(" ")).collect();
    assert_eq!(
        changes,
        [
            r#"items changed 1 {"name":"one"} {"name":"uno"}"#,
            r#"items removed 2 {"id":"2","name":"two"} "#,
            r#"items added 3  {"id":"3","name":"three"}"#
        ]
    );
    assert_eq!(testing::query(&path, "SELECT name FROM here ORDER BY 1"), [["three"], ["uno"]]);
    let night = manifest(&place, "all.db")["sheets"][0]["started"].clone();
    assert_eq!(testing::query(&path, "SELECT deleted_at FROM items WHERE id = 2")[0][0], night.as_str().unwrap());

    // Nothing is written unless all lists are.
    let before = fs::read(&path).unwrap();
    lists.fail("companies");
    assert_eq!(lists.sheetport(&place, ["export", "items", "companies", "-o", "all.db"]).run().code, Some(9));
    assert!(fs::read(&path).unwrap() == before);
    lists.set("companies", [record(1, "Ltd")]);

    // The changes are enough, and if the state is another, all records are read.
    export(&lists, &place, "items -o all.db --since last", 0);
    lists.set("items", [record(2, "two"), record(3, "three")]);
    let changed = export(&lists, &place, "items -o all.db --since last --json", 0).json();
    assert_eq!((&changed["count"], &changed["older"]), (&json!(1), &json!(1)));
    assert_eq!(testing::query(&path, "SELECT name FROM here ORDER BY 1"), [["three"], ["two"]]);
    fs::write(&path, &before).unwrap();
    let restored = export(&lists, &place, "items -o all.db --since last --json", 0).json();
    assert_eq!((&restored["count"], &restored["older"]), (&json!(2), &json!(0)));
    assert_eq!(testing::query(&path, "SELECT name FROM here ORDER BY 1"), [["three"], ["two"]]);

    // The elements of an array have a table of their own.
    lists.set("orders", [r#"{"id":"7","items":[{"sku":"x"},{"sku":"y"}]}"#]);
    export(&lists, &place, "orders -o all.db", 0);
    export(&lists, &place, "orders -o all.db --explode items", 0);
    lists.set("orders", [r#"{"id":"7","items":[{"sku":"x"}]}"#]);
    export(&lists, &place, "orders -o all.db --explode items", 0);
    let rows = "SELECT id, position, [items.sku], deleted_at IS NULL FROM orders_items ORDER BY position";
    assert_eq!(testing::query(&path, rows), [["7", "1", "x", "1"], ["7", "2", "y", "0"]]);
    assert_eq!(testing::query(&path, "SELECT items FROM orders"), [[r#"[{"sku":"x"},{"sku":"y"}]"#]]);
}

#[tokio::test(flavor = "multi_thread")]
async fn databases_that_are_not_as_an_export_left_them_stay() {
    let place = Place::new();
    let lists = Lists::start().await;
    let refused = |words: &str, code: i32, says: &[&str]| drop(export(&lists, &place, words, code).says(says));
    let path = place.path("all.db");
    // Refused before anything is requested: there is no list yet.
    place
        .write("text.db", "not a database, but somebody's text, longer than a header of one hundred bytes: ".repeat(2));
    refused("items -o text.db", 2, &["text.db is not known to be an export", "--replace"]);
    testing::execute(&path, "CREATE TABLE items (id)");
    refused("items -o all.db", 2, &["all.db is not known to be an export", "--replace"]);
    lists.set("items", RECORDS);
    export(&lists, &place, "items -o all.db --replace", 0);
    lists.fail("items");
    testing::execute(&path, "CREATE TABLE orders (a)");
    refused("orders -o all.db", 2, &["all.db has a table orders that no export made"]);
    testing::execute(&path, "ALTER TABLE items DROP COLUMN stock");
    refused("items -o all.db", 2, &["has a table items whose column stock was changed or removed"]);
    lists.set("items", [r#"{"name":"nameless"}"#]);
    refused("items -o new.db", 9, &["a record of items has no id"]);
    assert!(!place.path("new.db").exists());
    lists.set("items", [r#"{"id":"1"}"#]);
    export(&lists, &place, "items -o all.db --replace --lang de", 0);
    export(&lists, &place, "items -o mine.db", 0);
    // Another program holds a lock for longer than anybody waits.
    let before = fs::read(place.path("mine.db")).unwrap();
    let lock = testing::lock(&place.path("mine.db"));
    refused("items -o mine.db", 6, &["mine.db is locked by another program"]);
    drop(lock);
    assert!(fs::read(place.path("mine.db")).unwrap() == before);
}

#[tokio::test(flavor = "multi_thread")]
async fn flags_without_sense_for_typed_files_are_refused() {
    let place = Place::new();
    let lists = Lists::start().await;
    place.write("no-ids.toml", "[[columns]]\nfield = \"name\"\n");
    for (words, says) in [
        ("items -o a.db --since last --append", "a database is updated by them in any case"),
        ("items -o a.db --locale de", "--locale has no effect on a.db"),
        ("items -o a.db --bom", "--bom has no effect on a.db"),
        ("items -o a.db --exact", "--exact has no effect on a.db"),
        ("items -o a.db --changes changes.db", "leave out --changes: a database has a table of changes"),
        ("items -o a.db -t no-ids.toml", "or [[columns]] with field = \"id\""),
        ("items -o a.txt", ".xlsx, .parquet or .db"),
    ] {
        export(&lists, &place, words, 2).says(&[says]);
    }
    let parquet = [
        ("items -o a.parquet --since last --append", "--append can't extend a Parquet file"),
        ("items -o a.parquet --delimiter ;", "--delimiter has no effect on a.parquet"),
        ("items -o a.csv --changes a.parquet", "give --changes a name with .csv, .tsv, .ndjson or .xlsx"),
        ("items orders -o a.parquet", "several lists need a workbook or a database, or a file each"),
    ];
    for (words, says) in parquet {
        let says = if cfg!(feature = "parquet") { says } else { "" };
        export(&lists, &place, words, 2).says(&[says]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_statements_of_the_page_run() {
    let page = include_str!("../../../docs/analysis.md").split("## SQLite").nth(1).unwrap();
    let statements = page.split("```sql\n").nth(1).unwrap().split("```").next().unwrap();
    let place = Place::new();
    let lists = Lists::start().await;
    lists.set("items", RECORDS);
    export(&lists, &place, "items -o records.db", 0);
    for statement in statements.lines() {
        testing::query(&place.path("records.db"), statement);
    }
    assert_eq!(testing::query(&place.path("records.db"), "SELECT count(*) FROM cheap"), [["2"]]);
}
