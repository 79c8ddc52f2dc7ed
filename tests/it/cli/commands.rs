//! A column mapped to `command` says for each row what is done with its record.

use serde_json::Value;

use super::process::Place;
use super::service::Served;
use super::{accounting, column, summary, table};

const TEMPLATE: &str = "record = \"item\"\n[fields.externalId]\ncolumn = \"SKU\"\n[fields.name]\ncolumn = \"Name\"\n\
                        [fields.price]\ncolumn = \"Price\"\n[fields.command]\ncolumn = \"Command\"\n";
const ORDERS: &str = "extends = \"orders\"\n[fields.command]\ncolumn = \"Command\"\n";
/// The service has.
const BEFORE: &str = "SKU,Name,Price\nA-1,Bolt,1\nA-2,Nut,2\n";
const ROWS: &str = "SKU,Name,Price,Command\nA-1,Bolt,5,NEW\nA-2,Nut,5,update\nA-3,Pin,5,Neu\nA-4,Clip,5,ÄNDERN\n\
                    A-5,Cap,5,MERGE\nA-6,Cup,not a price,Ignore\nA-7,Rod,5,\n";

fn desk(words: &[&str]) -> (Place, Served) {
    let place = Place::new();
    let served = Served::start_with(&place, 0, words);
    place.write("old.csv", BEFORE);
    place.write("new.csv", ROWS);
    place.write("t.toml", TEMPLATE);
    served.sheetport(&place, ["upload", "old.csv", "-t", "items", "-q"]).exits(0);
    (place, served)
}

fn prices(served: &Served) -> String {
    let list = served.get("/v1/public/items?limit=100");
    let price = |item: &Value| format!("{}={}", item["external_id"].as_str().unwrap(), item["price"]);
    let mut prices: Vec<String> = list["data"].as_array().unwrap().iter().map(price).collect();
    prices.sort();
    prices.join(" ")
}

#[test]
fn each_row_says_what_is_done() {
    let (place, served) = desk(&[]);
    let upload = served.sheetport(&place, ["upload", "new.csv", "-t", "t.toml", "--report", "r.csv"]).exits(0);
    upload.says(&[
        "1 record left out: to be sent only if new, and in the service already (row 2)",
        "1 record left out: to be sent only if known, and not in the service (row 5)",
    ]);
    assert_eq!(prices(&served), "A-1=1 A-2=5 A-3=5 A-5=5 A-7=5");
    let report = table(&place.path("r.csv"));
    let states = ["skipped", "sent", "sent", "skipped", "sent", "skipped", "sent"];
    assert_eq!(column(&report, "sheetport_status"), states);
    let reasons = column(&report, "sheetport_errors");
    assert!(reasons[0].contains("is in the service already, and its row says to create it"), "{reasons:?}");
    assert!(reasons[3].contains("is not in the service, and its row says to update it"), "{reasons:?}");
    assert!(reasons[5].contains("is left out, as its row says"), "{reasons:?}");
    // A row of the report is decided by its cells again.
    let mut writer = csv::Writer::from_path(place.path("corrected.csv")).unwrap();
    for row in &report {
        let corrected = |cell: &String| cell.replace("Ignore", "new").replace("not a price", "6");
        writer.write_record(row.iter().map(corrected)).unwrap();
    }
    writer.flush().unwrap();
    let told = summary(&served.sheetport(&place, ["retry", "corrected.csv", "--json"]).exits(0));
    assert_eq!(told["sent"], 1, "{told}");
    assert_eq!(prices(&served), "A-1=1 A-2=5 A-3=5 A-5=5 A-6=6 A-7=5");
}

#[test]
fn blank_cells_follow_the_flag() {
    let (place, served) = desk(&[]);
    let upload = ["upload", "new.csv", "-t", "t.toml", "--only", "known", "--json"];
    let told = summary(&served.sheetport(&place, upload).exits(0));
    assert_eq!(accounting(&told), "7: sent 3, skipped 4");
    assert_eq!(prices(&served), "A-1=1 A-2=5 A-3=5 A-5=5");
}

#[test]
fn a_plan_counts_what_the_rows_say() {
    let (place, served) = desk(&[]);
    let told = served.sheetport(&place, ["plan", "new.csv", "-t", "t.toml", "-o", "c.csv", "--json"]).exits(0).json();
    let found = ["new", "changed", "not_there"].map(|count| told["changes"][count].as_u64().unwrap());
    assert_eq!(found, [3, 1, 0], "{told}");
    let told = summary(&served.sheetport(&place, ["apply", "c.csv", "--json"]).exits(0));
    assert_eq!(accounting(&told), "7: sent 4, skipped 3");
    assert_eq!(prices(&served), "A-1=1 A-2=5 A-3=5 A-5=5 A-7=5");
}

#[test]
fn commands_survive_a_stop() {
    let (place, served) = desk(&[]);
    let upload = served.sheetport(&place, ["upload", "new.csv", "-t", "t.toml"]);
    upload.without("SHEETPORT_REFRESH_TOKEN").secret("SHEETPORT_ACCESS_TOKEN", super::superseded::REFUSED).run();
    assert_eq!(prices(&served), "A-1=1 A-2=2");
    let told = summary(&served.sheetport(&place, ["resume", "2", "--json"]).exits(0));
    assert_eq!(accounting(&told), "7: sent 4, skipped 3");
    assert_eq!(prices(&served), "A-1=1 A-2=5 A-3=5 A-5=5 A-7=5");
}

#[test]
fn other_words_are_problems() {
    let (place, served) = desk(&[]);
    place.write("new.csv", "SKU,Name,Price,Command\nA-1,Bolt,5,DELETE\nA-2,Nut,5,updte\n");
    let checked = served.sheetport(&place, ["check", "new.csv", "-t", "t.toml"]).exits(3);
    checked.shows(&[
        "asks to delete the record, and the API of the service deletes none",
        "in the column of the status",
        "is no command",
        "did you mean 'update'? write NEW, CREATE",
    ]);
    place.write("t.toml", TEMPLATE.replace("column = \"Command\"", "column = \"Command\"\ndefault = \"sometimes\""));
    served.sheetport(&place, ["template", "check", "t.toml"]).exits(2).says(&["'sometimes' is no command"]);
}

#[test]
fn the_rows_of_an_order_agree() {
    let place = Place::new();
    let served = Served::demo_with(&place, 0, &[]);
    place.write("t.toml", ORDERS);
    let header = "Order no.,Customer no.,Item no.,Quantity,Command\n";
    place.write(
        "o.csv",
        format!("{header}SO-1,1,A,1,update\nSO-1,1,B,1,skip\nSO-2,1,A,1,skip\nSO-2,1,B,1,\nSO-3,1,A,1,new\n"),
    );
    let checked = served.sheetport(&place, ["check", "o.csv", "-t", "t.toml", "--json"]).exits(3).json();
    assert_eq!((&checked["skipped"], &checked["rejected"]), (&1.into(), &2.into()), "{checked}");
    let checked = served.sheetport(&place, ["check", "o.csv", "-t", "t.toml"]).exits(3);
    checked.shows(&["differs from another row of the same record", "orders are changed, and never created"]);
}

#[test]
fn what_the_service_does_not_say_is_refused() {
    let (place, served) = desk(&["--literal"]);
    let refused = served.sheetport(&place, ["upload", "new.csv", "-t", "t.toml"]).run();
    assert_ne!(refused.code, Some(0));
    refused.says(&["does not show by which number a record was uploaded", "leave the commands in the rows blank"]);
    // Without such words, nothing has to be known.
    place.write("new.csv", "SKU,Name,Price,Command\nA-8,Bolt,5,\nA-9,Nut,5,merge\n");
    let told = summary(&served.sheetport(&place, ["upload", "new.csv", "-t", "t.toml", "--json"]).exits(0));
    assert_eq!(accounting(&told), "2: sent 2");
}

#[test]
fn inference_proposes_the_column() {
    let place = Place::new();
    place.write("new.csv", ROWS);
    place.sheetport(["template", "infer", "new.csv", "--record", "item", "-o", "t.toml"]).run();
    let template = std::fs::read_to_string(place.path("t.toml")).unwrap();
    assert!(template.contains("[fields.command]"), "{template}");
    place.sheetport(["template", "check", "t.toml"]).exits(0);
    // The first proposal would be an earlier template, which keeps its columns.
    std::fs::remove_file(place.path("t.toml")).unwrap();
    place.write("other.csv", ROWS.replace("Ignore", "march left"));
    place.sheetport(["template", "infer", "other.csv", "--record", "item", "-o", "o.toml"]).run();
    let template = std::fs::read_to_string(place.path("o.toml")).unwrap();
    assert!(!template.contains("[fields.command]"), "{template}");
}

#[test]
fn a_proposal_keeps_the_commands_of_an_earlier_template() {
    let (place, served) = desk(&[]);
    let words = "column = \"Vorgang\"\ndefault = \"update\"\nmap = { L = \"skip\", N = \"create\" }\n";
    place.write("t.toml", TEMPLATE.replace("column = \"Command\"\n", words));
    place.write("next.csv", "SKU,Name,Price,Vorgang\nA-1,Bolt,7,L\nA-2,Nut,7,\nA-8,Cap,7,N\nA-9,Rod,7,\n");
    let infer = ["template", "infer", "next.csv", "--record", "item", "-o", "proposed.toml", "--json"];
    let told = served.sheetport(&place, infer).exits(0).json();
    let command = told["fields"].as_array().unwrap().iter().find(|field| field["field"] == "command");
    assert_eq!(command.unwrap()["sureness"], "as in t.toml", "{told}");
    served.sheetport(&place, ["upload", "next.csv", "-t", "proposed.toml", "-q"]).exits(0);
    assert_eq!(prices(&served), "A-1=1 A-2=7 A-8=7");
    // An upload with the template serves as an earlier one, too.
    for template in ["t.toml", "proposed.toml"] {
        std::fs::remove_file(place.path(template)).unwrap();
    }
    let told = served.sheetport(&place, infer).exits(0).json();
    let command = told["fields"].as_array().unwrap().iter().find(|field| field["field"] == "command");
    assert_eq!(command.unwrap()["sureness"], "as in run 2", "{told}");
    assert!(std::fs::read_to_string(place.path("proposed.toml")).unwrap().contains(words));
}
