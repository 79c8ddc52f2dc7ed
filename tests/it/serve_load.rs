//! Tests of `serve load` with the real executable.

use std::process::{Command, Output};

use rust_xlsxwriter::Workbook;
use serde_json::{Value, json};
use tempfile::TempDir;

struct Loading {
    folder: TempDir,
}

impl Loading {
    fn new() -> Loading {
        Loading { folder: tempfile::tempdir().unwrap() }
    }

    fn put(&self, name: &str, content: &str) {
        std::fs::write(self.folder.path().join(name), content).unwrap();
    }

    fn run(&self, words: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sheetport"));
        command.env("SHEETPORT_LANG", "en");
        command.current_dir(self.folder.path()).env("SHEETPORT_HOME", self.folder.path().join("home"));
        command.args(["serve", "load", "--workspace", "acme"]).args(words).output().unwrap()
    }

    /// Returns the exit code and the result of each file.
    fn load(&self, words: &[&str]) -> (i32, Vec<Value>) {
        let output = self.run(&[words, &["--json"]].concat());
        let text = String::from_utf8(output.stdout).unwrap();
        let report: Value = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
        let files = report["files"].as_array().map(|files| files.iter().map(|file| file["outcome"].clone()).collect());
        (output.status.code().unwrap(), files.unwrap_or_default())
    }
}

fn counts(outcome: &Value) -> [u64; 5] {
    ["rows", "created", "updated", "unchanged", "rejected"].map(|name| outcome[name].as_u64().unwrap())
}

#[test]
fn records_are_created_updated_or_unchanged() {
    let loading = Loading::new();
    loading.put("companies.csv", "id,name,vat\nc1,Müller & Söhne,DE1\nc2,Lefèvre,\n");
    loading.put("orders.csv", "order_id;order_at;total_price;company_id\n5001;2026-01-02T09:17:00Z;1458.35;c1\n");
    let (exit, files) = loading.load(&["companies.csv", "orders.csv"]);
    assert_eq!((exit, counts(&files[0]), counts(&files[1])), (0, [2, 2, 0, 0, 0], [1, 1, 0, 0, 0]));

    loading.put("companies.csv", "id,name,vat\nc1,Müller & Söhne,DE1\nc2,Lefèvre SARL,\n");
    let (exit, files) = loading.load(&["companies.csv", "orders.csv"]);
    assert_eq!((exit, counts(&files[0]), counts(&files[1])), (0, [2, 0, 1, 1, 0], [1, 0, 0, 1, 0]));
}

#[test]
fn invalid_rows_are_reported_and_the_others_stored() {
    let loading = Loading::new();
    loading.put("items.csv", "externalId,name,price,tax\nA,Bolt,1.50,19\n,Nut,2,\nC,Pin,\"1,5\",x\nD,Rod,1e40,\n");
    let (exit, files) = loading.load(&["items.csv"]);
    assert_eq!((exit, counts(&files[0])), (3, [4, 1, 0, 0, 3]));
    let problems: Vec<_> = files[0]["problems"].as_array().unwrap().iter().map(|p| (&p["row"], &p["field"])).collect();
    let expected =
        [(3, "externalId"), (4, "price"), (4, "tax"), (5, "price")].map(|(row, field)| (json!(row), json!(field)));
    assert_eq!(problems, expected.each_ref().map(|(row, field)| (row, field)));

    let output = loading.run(&["items.csv"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("row 4  price must be a number such as 1234.50, not '1,5'"), "{text}");
}

#[test]
fn a_missing_external_id_is_named_as_in_the_file() {
    let loading = Loading::new();
    for (header, field) in [("external_id,name", "external_id"), ("externalId,name", "externalId")] {
        loading.put("items.csv", &format!("{header}\n,Bolt\n"));
        let (exit, files) = loading.load(&["items.csv"]);
        assert_eq!((exit, counts(&files[0])), (3, [1, 0, 0, 0, 1]), "{header}");
        assert_eq!(files[0]["problems"][0]["field"], field);
    }
}

#[test]
fn invalid_arguments_fail_with_a_hint() {
    let loading = Loading::new();
    loading.put("list.csv", "id,name\n1,a\n");
    loading.put("orders.csv", "Nummer,Summe\n1,2\n");
    for (words, exit, hint) in [
        (&["list.csv"][..], 2, "--kind"),
        (&["orders.csv"], 7, "first row"),
        (&["orders-2.csv"], 7, "did you mean orders.csv?"),
    ] {
        let output = loading.run(words);
        let text = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(exit), "{words:?}: {text}");
        assert!(text.contains(hint), "{words:?}: {text}");
    }
}

#[test]
fn the_sheet_named_like_the_kind_is_loaded() {
    let loading = Loading::new();
    let mut book = Workbook::new();
    for (sheet, rows) in [
        ("items", &[["external_id", "name"], ["A", "Bolt"]][..]),
        ("Companies", &[["id", "name"], ["c1", "Acme"], ["c2", "Globex"]]),
    ] {
        let sheet = book.add_worksheet().set_name(sheet).unwrap();
        for (number, cells) in (0..).zip(rows) {
            sheet.write(number, 0, cells[0]).unwrap().write(number, 1, cells[1]).unwrap();
        }
    }
    book.save(loading.folder.path().join("all.xlsx")).unwrap();
    for (kind, rows) in [("items", 1), ("companies", 2)] {
        let (exit, files) = loading.load(&["--kind", kind, "all.xlsx"]);
        assert_eq!((exit, counts(&files[0])), (0, [rows, rows, 0, 0, 0]), "{kind}");
    }
    // Without a kind, all sheets with the name of one.
    let (exit, files) = loading.load(&["all.xlsx"]);
    let loaded: Vec<_> = files.iter().map(counts).collect();
    assert_eq!((exit, loaded), (0, vec![[2, 0, 0, 2, 0], [1, 0, 0, 1, 0]]));
    let output = loading.run(&["--kind", "orders", "all.xlsx"]);
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success() && text.contains("items, Companies"), "{text}");
}

#[test]
fn numbers_with_a_decimal_comma_are_read_as_exports_write_them() {
    let loading = Loading::new();
    loading.put("items.csv", "external_id;name;price;tax\nA;Bolt;1234,50;19\nB;Nut;0,125;7,5\n");
    let (exit, files) = loading.load(&["items.csv"]);
    assert_eq!((exit, counts(&files[0])), (0, [2, 2, 0, 0, 0]), "{files:?}");
    // The same with decimal points.
    loading.put("items.csv", "external_id,name,price,tax\nA,Bolt,1234.50,19\nB,Nut,0.125,7.5\n");
    let (exit, files) = loading.load(&["items.csv"]);
    assert_eq!((exit, counts(&files[0])), (0, [2, 0, 0, 2, 0]), "{files:?}");
    // A number with two readings, in a file with the delimiter of languages with a decimal point.
    loading.put("items.csv", "external_id,name,price\nA,Bolt,\"1,234\"\n");
    let (exit, files) = loading.load(&["items.csv"]);
    assert_eq!((exit, counts(&files[0])), (3, [1, 0, 0, 0, 1]), "{files:?}");
}
