//! The `view` command.

use std::fs;
use std::io::{Read, Write};
use std::process::{Command, Output, Stdio};

use rust_xlsxwriter::{Format, Workbook};
use tempfile::TempDir;

fn view(folder: &TempDir, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sheetport"));
    command.env("SHEETPORT_LANG", "en");
    command.current_dir(folder.path()).env("SHEETPORT_HOME", folder.path().join("home")).arg("view").args(args);
    command
}

/// Returns the output of `view` for a file and checks the exit code.
#[track_caller]
fn check(bytes: &[u8], args: &[&str], exit: i32) -> String {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("prices.csv"), bytes).unwrap();
    let Output { status, stdout, stderr } = view(&folder, &[&["prices.csv"], args].concat()).output().unwrap();
    assert_eq!(status.code(), Some(exit), "{}", String::from_utf8_lossy(&stderr));
    String::from_utf8(stdout).unwrap()
}

#[test]
fn csv_prints_a_clean_table() {
    let text = "Prices, spring;;;\r\n;;;\r\nItem;Stock;;Price\r\n;min;max;\r\n0042;1;2;1,50\r\n;;;\r\n0043;3;4;2\r\n;;;\r\n\
                Page 2;;;\r\n;min;max;\r\n0044;5;6;\"3 \"\"net\"\"\"\r\n;Total;12;\r\n;min;max;\r\n9;9;9;9\r\n";
    let expected =
        "Item,Stock min,Stock max,Price\n0042,1,2,\"1,50\"\n0043,3,4,2\n0044,5,6,\"3 \"\"net\"\"\"\n,Total,12,\n";
    assert_eq!(check(text.as_bytes(), &["--csv"], 0), expected);
    let all = check(text.as_bytes(), &["--csv", "--every-row"], 0);
    assert_eq!(all.lines().count(), 14);
    assert!(all.starts_with("\"Prices, spring\",,,\n,,,\n"), "{all}");
}

#[test]
fn no_header_is_invented() {
    assert_eq!(check(b"1,2\n3,4\n", &["--csv"], 0), "1,2\n3,4\n");
    assert_eq!(check(b"", &["--csv"], 0), "");
    assert_eq!(check(b"", &[], 7), "");
}

#[test]
fn every_cell_is_printed_as_json() {
    let all = check(b"a,b\n1,\n\"x \"\"y\"\"\",\xC3\xA4\n", &["--json", "--all-sheets"], 0);
    assert_eq!(
        all,
        "{\"sheets\":[{\"name\":\"prices\",\"rows\":[[\"a\",\"b\"],[\"1\",null],[\"x \\\"y\\\"\",\"ä\"]]}]}\n"
    );
}

#[test]
fn json_rows_are_at_their_numbers() {
    let all = check(b"\na\n\n\nb\n", &["--json", "--all-sheets"], 0);
    assert_eq!(all, "{\"sheets\":[{\"name\":\"prices\",\"rows\":[[],[\"a\"],[],[],[\"b\"]]}]}\n");
}

#[test]
fn decisions_have_a_confidence() {
    let text = "Name;Day;Price\nBolt;2025-01-31;1,50\nNut;2025-02-01;2,50\nPin;2025-02-02;3,00\n";
    let facts: serde_json::Value = serde_json::from_str(&check(text.as_bytes(), &["--json"], 0)).unwrap();
    assert_eq!(facts["text"]["delimiter"]["value"], ";");
    assert_eq!(facts["text"]["encoding"]["sure"], "certain");
    assert_eq!(facts["header"]["row"], 1);
    let types: Vec<_> = facts["columns"].as_array().unwrap().iter().map(|column| &column["type"]).collect();
    assert_eq!(types, ["text", "date", "number"]);
    let told: serde_json::Value =
        serde_json::from_str(&check(text.as_bytes(), &["--json", "--delimiter", ",", "--quote", "none"], 0)).unwrap();
    assert_eq!(
        told["text"]["delimiter"],
        serde_json::json!(
        {"value": ",", "several_are_one": false, "and_a_space": false, "sure": "told"})
    );
    assert_eq!(told["text"]["quote"]["value"], serde_json::Value::Null);
}

#[test]
fn people_see_a_table() {
    let shown = check(b"Price list\n\nSKU,Name,Price\n0042,Bolt,1.50\n0043,Nut,2\n", &["--rows", "1"], 0);
    for expected in ["delimiter    ,", "header       row 3", "titles       row 1", "     4  0042  Bolt  1.50"] {
        assert!(shown.contains(expected), "{expected}: {shown}");
    }
    assert!(!shown.contains("0043"), "{shown}");
}

#[test]
fn columns_are_aligned_in_every_script() {
    let text = "品番,商品名,税率\n0042,六角ボルト,10%\n0043,Nut,8%\n0044,とても長い名前のとても長いボルト,8%\n";
    let shown = check(text.as_bytes(), &[], 0);
    for expected in [
        "        品番  商品名                   税率\n",
        "     2  0042  六角ボルト               10%\n",
        "     3  0043  Nut                      8%\n",
        "     4  0044  とても長い名前のとても…  8%\n",
    ] {
        assert!(shown.contains(expected), "{expected}: {shown}");
    }
}

#[test]
fn merged_cells_are_a_single_value() {
    let folder = tempfile::tempdir().unwrap();
    let mut workbook = Workbook::new();
    let (sheet, format) = (workbook.add_worksheet(), Format::new());
    sheet.merge_range(0, 0, 0, 3, "Orders of May", &format).unwrap();
    // A header of two rows: one name over both rows, one over two columns.
    sheet.merge_range(2, 0, 3, 0, "Order no", &format).unwrap();
    sheet.merge_range(2, 1, 3, 1, "Item", &format).unwrap();
    sheet.merge_range(2, 2, 2, 3, "Price", &format).unwrap();
    sheet.write_string(3, 2, "net").unwrap();
    sheet.write_string(3, 3, "gross").unwrap();
    // An order with two lines and an order with one.
    sheet.merge_range(4, 0, 5, 0, "A-1", &format).unwrap();
    sheet.write_string(6, 0, "A-2").unwrap();
    for (row, item) in (4..7).zip(["Bolt", "Nut", "Pin"]) {
        sheet.write_string(row, 1, item).unwrap();
        sheet.write_number(row, 2, row).unwrap();
        sheet.write_number(row, 3, 2 * row).unwrap();
    }
    workbook.save(folder.path().join("orders.xlsx")).unwrap();
    let output = view(&folder, &["orders.xlsx", "--csv"]).output().unwrap();
    assert_eq!(
        String::from_utf8_lossy(&output.stdout),
        "Order no,Item,Price net,Price gross\nA-1,Bolt,4,8\n,Nut,5,10\nA-2,Pin,6,12\n"
    );
    let output = view(&folder, &["orders.xlsx"]).output().unwrap();
    let shown = String::from_utf8_lossy(&output.stdout);
    for expected in ["header       row 3, over 2 rows", "titles       row 1", "     6            Nut"] {
        assert!(shown.contains(expected), "{expected}: {shown}");
    }
}

#[test]
fn standard_input_can_be_viewed() {
    let folder = tempfile::tempdir().unwrap();
    let mut child = view(&folder, &["-", "--csv"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"a;b\n1;2\n").unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "a,b\n1,2\n");
}

#[test]
fn closed_output_is_not_an_error() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("long.csv"), format!("a,b\n{}", "1,2\n".repeat(400_000))).unwrap();
    for args in [["long.csv", "--csv", "-q"], ["long.csv", "--json", "--all-sheets"]] {
        let mut child = view(&folder, &args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut some = [0; 10];
        child.stdout.take().unwrap().read_exact(&mut some).unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0));
        assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    }
}
