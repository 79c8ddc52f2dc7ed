//! Cells of a row as records or lines of their own: months and sizes in columns.

use serde_json::{Value, json};

use super::process::Place;
use super::service::Served;
use super::{accounting, column, sample, summary, table};

const STOCK: &str = r#"record = "inventory-transaction"
[unpivot]
columns = ["S", ["M", "Medium"], "L"]
header_as = "Size"
value_as = "Stock"
zero = "skip"
[fields.transactionType]
value = "adjust"
[fields.inventoryExternalId]
columns = ["SKU", "Size"]
join = "-"
[fields.amount]
column = "Stock"
"#;

fn bodies(place: &Place, file: &str, row: &str) -> Vec<Value> {
    let explained = place.sheetport(["explain", file, "-t", "t.toml", "--row", row, "--json"]).run().json();
    let records = explained["records"].as_array().unwrap_or_else(|| panic!("{explained}"));
    records.iter().map(|record| record["request"]["body"].clone()).collect()
}

#[test]
fn each_price_of_the_sample_is_an_item() {
    let place = Place::new();
    let served = Served::start(&place);
    for file in ["prices-by-size.csv", "prices-by-size.toml"] {
        std::fs::copy(sample(file), place.path(file)).unwrap();
    }
    place.sheetport(["template", "check", "prices-by-size.toml"]).exits(0);
    let upload = ["upload", "prices-by-size.csv", "-t", "prices-by-size.toml", "--json", "--report", "r.csv"];
    let ended = served.sheetport(&place, upload).exits(0);
    let uploaded = summary(&ended);
    assert_eq!((accounting(&uploaded).as_str(), &uploaded["rows"]), ("54: sent 54", &json!(12)));
    assert_eq!(served.total(), 54);
    let report = table(&place.path("r.csv"));
    assert_eq!(column(&report, "sheetport_status"), ["sent"; 12]);
    // As the service has them, nothing is sent again.
    let again = ["upload", "prices-by-size.csv", "-t", "prices-by-size.toml", "--json", "--changed-only"];
    let ended = served.sheetport(&place, again).exits(0);
    assert_eq!(accounting(&summary(&ended)), "54: unchanged 54");
}

#[test]
fn problems_are_those_of_their_cell_and_a_row_has_the_worst_state() {
    let place = Place::new();
    place.write("t.toml", STOCK);
    place.write(
        "stock.csv",
        "SKU,Name,S,M,L\nA,Shirt,1,2,3\nB,Cap,,5,0\nC,Sock,,,\nD,Hat,1,x,1.5\nE,Belt,\"0,00\",,7\nTotal,,9,9,9\n",
    );
    let checked = place.sheetport(["check", "stock.csv", "-t", "t.toml", "--json", "--report", "r.csv"]).exits(3);
    let checked = summary(&checked);
    assert_eq!(accounting(&checked), "10: skipped 1, rejected 3, pending 6", "{checked}");
    assert_eq!(checked["rows"], 6);
    let at = |problem: &Value| format!("{}{}", problem["column"].as_str().unwrap(), problem["rows"][0]);
    let problems: Vec<String> = checked["problems"].as_array().unwrap().iter().map(at).collect();
    assert_eq!(problems, ["D5", "E5", "A7"], "{checked}");
    let report = table(&place.path("r.csv"));
    let states = ["pending", "pending", "skipped", "rejected", "pending", "rejected"];
    assert_eq!(column(&report, "sheetport_status"), states, "{report:?}");
    let errors = column(&report, "sheetport_errors");
    assert!(
        errors[3].starts_with("M 'x' is not a number") && errors[3].contains("; L '1.5' is not a whole"),
        "{errors:?}"
    );
    assert!(errors[2].contains("no value in the columns of unpivot"), "{errors:?}");
    let stock =
        |id: &str, amount: u32| json!({"transactionType": "adjust", "inventoryExternalId": id, "amount": amount});
    assert_eq!(bodies(&place, "stock.csv", "2"), [stock("A-S", 1), stock("A-M", 2), stock("A-L", 3)]);
    assert_eq!(bodies(&place, "stock.csv", "3"), [stock("B-M", 5)]);
    assert_eq!(bodies(&place, "stock.csv", "5"), [stock("D-S", 1), Value::Null, Value::Null]);
    let explained = place.sheetport(["explain", "stock.csv", "-t", "t.toml", "--row", "5"]).exits(3);
    explained.shows(&["C S", "D M", "row 5: M 'x' is not a number"]);
    let dry = place.sheetport(["upload", "stock.csv", "-t", "t.toml", "--dry-run"]).exits(3);
    dry.shows(&["\"inventoryExternalId\":\"A-S\"", "\"inventoryExternalId\":\"A-M\""]);
}

#[test]
fn cells_with_the_same_key_get_the_advice_to_use_the_header() {
    let place = Place::new();
    let template = STOCK.replace("inventory-transaction", "item").replace("transactionType", "name");
    let template = template.replace("amount", "price").replace("[\"SKU\", \"Size\"]", "[\"SKU\"]");
    place.write("t.toml", template.replace("inventoryExternalId", "externalId"));
    place.write("list.csv", "SKU,S,M,L\n1,2,3,\n2,4,,\n");
    let checked = place.sheetport(["check", "list.csv", "-t", "t.toml", "--json"]).exits(3).json();
    assert_eq!(accounting(&checked), "3: rejected 2, pending 1", "{checked}");
    let problem = &checked["problems"][0];
    assert_eq!(problem["message"], "is the same for several cells of the row", "{checked}");
    assert!(problem["remedy"].as_str().unwrap().contains("header_as"), "{checked}");
}

#[test]
fn headers_are_found_by_a_pattern_and_read_as_dates() {
    let place = Place::new();
    let template = STOCK.replace("columns = [\"S\", [\"M\", \"Medium\"], \"L\"]", r#"matches = '^\d\d\.\d\d\.\d{4}$'"#);
    let template = template.replace("columns = [\"SKU\", \"Size\"]\njoin = \"-\"", "column = \"SKU\"");
    place.write("t.toml", format!("{template}[fields.transactionDate]\ncolumn = \"Size\"\n"));
    place.write("plan.csv", "Plan 2026\n\nSKU;01.02.2026;13.03.2026;Total\nA;1.000;2,5;1\nB;;1;1\n");
    let on = |amount: u32, date: &str| json!({"transactionType": "adjust", "inventoryExternalId": "B", "amount": amount, "transactionDate": date});
    assert_eq!(bodies(&place, "plan.csv", "5"), [on(1, "2026-03-13")]);
    let checked = place.sheetport(["check", "plan.csv", "-t", "t.toml", "--json"]).exits(3).json();
    assert_eq!(accounting(&checked), "3: rejected 1, pending 2", "{checked}");
    assert_eq!(checked["problems"][0]["column"], "C", "{checked}");
    place.write("none.csv", "SKU,Jan,Feb\nA,1,2\n");
    place.sheetport(["check", "none.csv", "-t", "t.toml"]).exits(2).says(&["unpivot needs the column"]);
    place.write("twice.csv", "SKU,01.02.2026,01.02.2026\nA,1,2\n");
    let twice = place.sheetport(["check", "twice.csv", "-t", "t.toml"]).exits(2);
    twice.says(&["several columns have this name (B, C)"]);
}

#[test]
fn cells_that_only_lines_read_are_lines_of_the_record() {
    let place = Place::new();
    let template = "record = \"order\"\n[unpivot]\ncolumns = [\"0042\", \"0043\", \"0044\"]\nheader_as = \"Item\"\n\
        value_as = \"Count\"\nzero = \"skip\"\n[fields.externalId]\ncolumn = \"Order\"\n[lines.itemExternalId]\n\
        column = \"Item\"\n[lines.quantity]\ncolumn = \"Count\"\nminimum = 1\n";
    place.write("t.toml", template);
    place.write("orders.csv", "Order,0042,0043,0044\nA,1,,3\nB,,-2,1\nC,0,,\nA,,5,\n");
    let explained = |row: &str| {
        let ended = place.sheetport(["explain", "orders.csv", "-t", "t.toml", "--row", row, "--json"]).run();
        ended.json()["request"]["body"]["order"]["items"].clone()
    };
    let line = |item: &str, count: u32| json!({"itemExternalId": item, "quantity": count});
    assert_eq!(explained("2"), Value::Null, "the order stands twice");
    place.write("t.toml", format!("{template}[group]\nby = \"Order\"\n"));
    assert_eq!(explained("2"), json!([line("0042", 1), line("0044", 3), line("0043", 5)]));
    assert_eq!(explained("4"), Value::Null);
    let checked = place.sheetport(["check", "orders.csv", "-t", "t.toml", "--json"]).exits(3).json();
    assert_eq!(accounting(&checked), "3: rejected 1, pending 2", "{checked}");
    let problem = &checked["problems"][0];
    assert_eq!((&problem["column"], &problem["rows"], &problem["value"]), (&json!("C"), &json!([3]), &json!("-2")));
}

#[test]
fn rows_of_a_long_report_stay_whole() {
    let place = Place::new();
    let sizes: Vec<String> = (1..=13).map(|size| format!("N{size}")).collect();
    place.write("t.toml", STOCK.replace("[\"S\", [\"M\", \"Medium\"], \"L\"]", &format!("{sizes:?}")));
    let row = |row: u32| {
        format!("A{row}{}\n", format!(",{row}").repeat(12) + if row.is_multiple_of(9) { ",x" } else { ",1" })
    };
    let rows: String = (1..=1500).map(row).collect();
    place.write("stock.csv", format!("SKU,{}\n{rows}", sizes.join(",")));
    let checked = place.sheetport(["check", "stock.csv", "-t", "t.toml", "--json", "--report", "r.csv"]).exits(3);
    assert_eq!(accounting(&summary(&checked)), "19500: rejected 166, pending 19334");
    let report = table(&place.path("r.csv"));
    let numbers: Vec<String> = (2..=1501).map(|number: u32| number.to_string()).collect();
    assert_eq!(column(&report, "sheetport_row"), numbers);
    assert_eq!(column(&report, "sheetport_status").iter().filter(|state| **state == "rejected").count(), 166);
}

#[test]
fn wrong_uses_of_unpivot_are_all_shown_with_a_remedy() {
    let place = Place::new();
    place.write(
        "t.toml",
        "record = \"order\"\n[sheet]\nskip_where = 'Count == 0'\n[unpivot]\ncolumns = [\"A\"]\nheader_as = \"Item\"\n\
         value_as = \"Count\"\nzero = \"no\"\n[group]\nby = \"Order\"\n[fields.externalId]\ncolumn = \"Item\"\n",
    );
    let said = place.sheetport(["template", "check", "t.toml"]).exits(2);
    said.says(&["'no' is not a value of zero"]);
    place.write("t.toml", std::fs::read_to_string(place.path("t.toml")).unwrap().replace("zero = \"no\"\n", ""));
    let said = place.sheetport(["template", "check", "t.toml"]).exits(2);
    said.says(&[
        "no field has the column 'Count', which stands for the cells",
        "the rows of a group are one record, so that externalId can't be that of a cell",
        "'Count' is a cell of a row; only fields can read it",
        "--> t.toml:4:1",
    ]);
}
