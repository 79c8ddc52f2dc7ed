//! Rows that were copied within a file, which would be created twice or double the lines of a record.

use super::sent_before::{Desk, HEADER, INVOICES, MOVEMENTS};
use super::sheets::workbook;
use super::{accounting, column, summary, table};
use crate::faults::server::Reply;

/// Returns the rows `from` to `to`, each with another quantity.
fn movements(from: u32, to: u32) -> String {
    (from..=to).map(|row| format!("L-{row},{row}\n")).collect()
}

#[tokio::test]
async fn a_block_of_rows_is_sent_once() {
    let desk = Desk::new(MOVEMENTS, |_| Reply::Accept).await;
    // The rows 2 to 41, and 11 to 17 of them again.
    let text = format!("Stock,Qty\n{}{}", movements(2, 41), movements(11, 17));
    desk.place.write("a.csv", &text);
    let checked = desk.run(&["check", "a.csv", "-t", "t.toml", "--json"], 3).await.json();
    assert_eq!(accounting(&checked), "47: rejected 7, pending 40");
    assert_eq!((&checked["problems"][0]["code"], &checked["problems"][0]["count"]), (&"copied-rows".into(), &7.into()));
    assert_eq!(checked["problems"][0]["rows"], serde_json::json!([42, 43, 44, 45, 46]));
    assert_eq!(checked["warnings"], serde_json::json!([]), "{checked}");
    assert_eq!(desk.upload("a.csv", &text, 3).await, "47: sent 40, rejected 7");
    assert!(desk.server.bodies().values().all(|times| *times == 1));

    desk.run(&["report", "1", "-o", "r.csv"], 0).await;
    let report = table(&desk.place.path("r.csv"));
    let errors = column(&report, "sheetport_errors");
    let error = &errors[40];
    assert!(error.contains("`--rows 42-42 --allow-repeat` sends it; it is the same as row 11"), "{error}");
    // Neither the report nor the file sends them by habit.
    desk.run(&["retry", "r.csv", "--json"], 3).await;
    assert_eq!(desk.upload("b.csv", &text, 3).await, "47: unchanged 40, rejected 7");
    assert_eq!(desk.server.log().len(), 40);
    let chosen = ["upload", "a.csv", "-t", "t.toml", "--rows", "42-48", "--allow-repeat", "--json"];
    assert_eq!(accounting(&summary(&desk.run(&chosen, 0).await)), "47: sent 7, skipped 40");
}

#[tokio::test]
async fn rows_that_may_be_repeated_are_sent() {
    let desk = Desk::new(MOVEMENTS, |_| Reply::Accept).await;
    // Single rows, pairs, and pieces that were scanned one after the other.
    let text = "Stock,Qty\nL-1,1\nL-2,1\nL-3,1\nL-2,1\nL-1,1\nL-4,2\nL-4,2\nL-4,2\nL-4,2\nL-4,2\nL-1,1\nL-2,1\n";
    assert_eq!(desk.upload("a.csv", text, 0).await, "12: sent 12");
    let copied = format!("Stock,Qty\n{0}{0}", movements(5, 9));
    desk.place.write("b.csv", &copied);
    let all = ["upload", "b.csv", "-t", "t.toml", "--allow-repeat", "--json"];
    assert_eq!(accounting(&summary(&desk.run(&all, 0).await)), "10: sent 10");

    let sends = format!("duplicates = \"send\"\n{MOVEMENTS}");
    let desk = Desk::new(&sends, |_| Reply::Accept).await;
    desk.place.write("a.csv", &copied);
    let checked = desk.run(&["check", "a.csv", "-t", "t.toml", "--json"], 0).await.json();
    assert_eq!((accounting(&checked).as_str(), &checked["warnings"]), ("10: pending 10", &serde_json::json!([])));
    assert_eq!(desk.upload("a.csv", &copied, 0).await, "10: sent 10");
    // They are counted, so that the same file sends nothing.
    assert_eq!(desk.upload("c.csv", &copied, 0).await, "10: unchanged 10");
    let items = "record = \"item\"\nduplicates = \"send\"\n[fields.externalId]\ncolumn = \"SKU\"\n";
    desk.place.write("items.toml", items);
    let refused = desk.run(&["template", "check", "items.toml"], 2).await;
    refused.says(&["items with the same identifier overwrite each other"]);
}

#[tokio::test]
async fn rows_with_problems_do_not_hide_a_block() {
    let desk = Desk::new(MOVEMENTS, |_| Reply::Accept).await;
    let block = "L-1,1\nL-2,two\nL-3,3\n,,\nL-4,4\n";
    assert_eq!(desk.upload("a.csv", &format!("Stock,Qty\n{block}L-9,9\n{block}"), 3).await, "9: sent 4, rejected 5");
}

#[tokio::test]
async fn a_single_repeated_row_beside_copies_is_a_problem() {
    let desk = Desk::new(MOVEMENTS, |_| Reply::Accept).await;
    let text = format!("Stock,Qty\n{}{}L-90,90\nL-2,2\n", movements(1, 9), movements(3, 6));
    assert_eq!(desk.upload("a.csv", &text, 3).await, "15: sent 10, rejected 5");
    // A few rows above them as well.
    let text = format!("Stock,Qty\n{}L-51,51\nL-99,99\n{}", movements(51, 59), movements(53, 56));
    assert_eq!(desk.upload("b.csv", &text, 3).await, "15: sent 10, rejected 5");
    assert!(desk.server.bodies().values().all(|times| *times == 1));
}

#[tokio::test]
async fn a_copied_sheet_is_sent_once() {
    let desk = Desk::new(MOVEMENTS, |_| Reply::Accept).await;
    let rows: Vec<String> = (1..=40).map(|row| format!("L-{row}|{row}")).collect();
    let sheet: Vec<&str> = ["Stock|Qty"].into_iter().chain(rows.iter().map(String::as_str)).collect();
    let short = ["Stock|Qty", "S-1|1", "S-2|2"];
    let sheets: [(&str, &[&str]); 4] = [("May", &sheet), ("June", &short), ("May (2)", &sheet), ("June (2)", &short)];
    workbook(&desk.place, "a.xlsx", &sheets);
    let args = ["upload", "a.xlsx", "-t", "t.toml", "--sheet", "*", "--report", "r.csv", "--json"];
    let ended = desk.run(&args, 3).await;
    assert_eq!(accounting(&summary(&ended)), "84: sent 42, rejected 42");
    assert!(desk.server.bodies().values().all(|times| *times == 1));
    let report = table(&desk.place.path("r.csv"));
    let errors = column(&report, "sheetport_errors");
    assert!(errors[42].contains("it is the same as row 2 of the sheet 'May'"), "{}", errors[42]);
    assert!(errors[83].contains("it is the same as row 3 of the sheet 'June'"), "{}", errors[83]);
}

#[tokio::test]
async fn copied_rows_do_not_double_the_lines_of_a_record() {
    let desk = Desk::new(INVOICES, |_| Reply::Accept).await;
    let (one, two) = ("A-1,c-1,i-1,2\nA-1,c-1,i-2,1\n", "A-2,c-2,i-1,3\n");
    let other = "A-3,c-3,i-3,9\n".repeat(3);
    // Over several invoices, and within one.
    for (number, text) in [format!("{one}{two}{one}{two}{other}"), format!("{one}{one}{other}")].iter().enumerate() {
        let desk = Desk::new(INVOICES, |_| Reply::Accept).await;
        let expected = ["3: sent 1, rejected 2", "2: sent 1, rejected 1"][number];
        assert_eq!(desk.upload("a.csv", &format!("{HEADER}{text}"), 3).await, expected);
        let check = desk.run(&["check", "a.csv", "-t", "t.toml"], 3).await;
        check.shows(&["copied"]);
        desk.run(&["upload", "a.csv", "-t", "t.toml", "--allow-repeat=A-1"], 3).await;
        desk.run(&["upload", "a.csv", "-t", "t.toml", "--rows", "2-2", "--allow-repeat"], 0).await;
        assert_eq!(desk.server.log().len(), 2);
    }
    let text = format!("{HEADER}{one}{other}");
    assert_eq!(desk.upload("a.csv", &text, 0).await, "2: sent 2");
}

#[tokio::test]
async fn copies_are_found_after_sorting() {
    let desk = Desk::new(MOVEMENTS, |_| Reply::Accept).await;
    let twice = |row: u32| format!("L-{row},{row}\n").repeat(2);
    let sorted: String = (1..=40).map(twice).collect();
    assert_eq!(desk.upload("a.csv", &format!("Stock,Qty\n{sorted}"), 3).await, "80: sent 40, rejected 40");
    let block: String = (61..=67).map(twice).collect();
    let part = format!("Stock,Qty\n{}{block}{}", movements(50, 60), movements(68, 80));
    assert_eq!(desk.upload("b.csv", &part, 3).await, "38: sent 31, rejected 7");
    assert!(desk.server.bodies().values().all(|times| *times == 1));
    let sent = desk.server.log().len();

    // Sorted by a column with equal values, so that only some copies stand side by side.
    desk.place.write("c.csv", "Stock,Qty\nL-1,101\nL-1,101\nL-2,101\nL-3,101\nL-2,101\nL-3,101\nL-4,102\nL-4,102\n");
    for command in ["check", "upload"] {
        let refused = desk.run(&[command, "c.csv", "-t", "t.toml"], 7).await;
        refused.says(&["c.csv: every row is there 2 times", "--allow-repeat"]);
    }
    assert_eq!(desk.server.log().len(), sent);
    let all = ["upload", "c.csv", "-t", "t.toml", "--allow-repeat", "--json"];
    assert_eq!(accounting(&summary(&desk.run(&all, 0).await)), "8: sent 8");
}
