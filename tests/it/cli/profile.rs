//! The values in each field, and their change against the last accepted run.

use super::process::Place;
use super::service::Served;

const HEADER: &str = "SKU,Name,Price,Currency\n";

fn items(price: impl Fn(u32) -> String, currency: &str) -> String {
    let rows = (1..=20).map(|row| format!("A-{row:03},Bolt {row},{},{currency}\n", price(row)));
    HEADER.to_owned() + &rows.collect::<String>()
}

#[test]
fn check_shows_the_values_in_each_field() {
    let place = Place::new();
    let prices = |row: u32| if row == 3 { String::new() } else { format!("{row}.50") };
    place.write("items.csv", items(prices, "EUR"));
    place.sheetport(["check", "items.csv", "-t", "items"]).exits(0).shows(&[
        "What would be sent",
        "A-001, A-002, A-003, …",
        "1.50   11.50    20.50",
        "Currency: EUR in 20 records",
    ]);
    for command in [&["check"][..], &["upload", "--dry-run"]] {
        let seen = place.sheetport(command.iter().chain(&["items.csv", "-t", "items", "--json"])).exits(0).json();
        let fields = seen["profile"]["fields"].as_array().unwrap();
        let price = fields.iter().find(|field| field["field"] == "price").unwrap();
        assert_eq!((&price["filled"], &price["of"]), (&19.into(), &20.into()));
        assert_eq!(price["distinct"], serde_json::json!({"exactly": 19}));
        assert_eq!(price["range"], serde_json::json!({"lowest": "1.50", "median": "11.50", "highest": "20.50"}));
        assert_eq!(price["samples"][0], serde_json::json!({"text": "1.50", "count": 1}));
        assert_eq!(seen["profile"]["currencies"], serde_json::json!({"EUR": 20}));
    }
}

#[test]
fn lines_of_records_are_profiled() {
    let place = Place::new();
    place.write("orders.csv", "Order,SKU,Quantity\nA,x,1\nA,y,5\nB,x,3\n");
    let seen = place.sheetport(["check", "orders.csv", "-t", "orders", "--json"]).exits(0).json();
    let fields = seen["profile"]["fields"].as_array().unwrap();
    let quantity = fields.iter().find(|field| field["field"] == "lines.quantity").unwrap();
    assert_eq!((&seen["profile"]["records"], &quantity["filled"], &quantity["of"]), (&2.into(), &3.into(), &3.into()));
    assert_eq!(quantity["range"], serde_json::json!({"lowest": "1", "median": "3", "highest": "5"}));
}

#[test]
fn changes_against_the_last_accepted_run_are_warnings() {
    let place = Place::new();
    let served = Served::start(&place);
    place.write("items.csv", items(|row| format!("{row}.50"), "EUR"));
    let upload = |file| served.sheetport(&place, ["upload", file, "-t", "items", "--json"]).exits(0).json();
    let messages = |seen: &serde_json::Value| {
        let warnings = seen["warnings"].as_array().unwrap().iter();
        warnings
            .map(|warning| format!("{} {}", warning["field"].as_str().unwrap(), warning["message"].as_str().unwrap()))
            .collect::<Vec<_>>()
    };
    assert_eq!(messages(&upload("items.csv")), [""; 0], "there is nothing to compare with");
    assert_eq!(messages(&upload("items.csv")), [""; 0], "nothing has changed");

    place.write("thousand.csv", items(|row| format!("{row}500"), "USD"));
    for report in [None, Some("report.xlsx")] {
        let report = report.into_iter().flat_map(|report| ["--report", report]);
        let command = ["check", "thousand.csv", "-t", "items", "--json"];
        let seen = served.sheetport(&place, command.into_iter().chain(report)).exits(0).json();
        let [price, currency] = &messages(&seen)[..] else { panic!("{seen}") };
        assert!(
            price.starts_with("price has the median 10500, and had 10.50 in run ") && price.contains("(× 1000)"),
            "{price}"
        );
        assert!(currency.starts_with("currency is USD, and was EUR in run "), "{currency}");
        assert_eq!(seen["warnings"][0]["rows"], serde_json::json!([]));
    }
    let blank = format!("{HEADER}{}", (1..=20).map(|row| format!("A-{row:03},,1.50,EUR\n")).collect::<String>());
    place.write("blank.csv", blank);
    let seen = served.sheetport(&place, ["check", "blank.csv", "-t", "items", "--json"]).exits(0).json();
    assert!(messages(&seen).iter().any(|message| message.starts_with("name is filled in 0 of 20 records")), "{seen}");
    // The warning is kept with the run that was uploaded nevertheless.
    assert_eq!(messages(&upload("thousand.csv")).len(), 2);
    served.sheetport(&place, ["report", "-o", "report.html"]).exits(0);
    assert!(std::fs::read_to_string(place.path("report.html")).unwrap().contains("has the median 10500"));
}

#[test]
fn files_that_take_turns_and_retries_of_few_rows_are_no_change() {
    let place = Place::new();
    let served = Served::start(&place);
    place.write("euro.csv", items(|row| format!("{row}.50"), "EUR"));
    place.write("yen.csv", items(|row| format!("{row}500"), "JPY"));
    let warnings = |command: &[&str], file: &str, code: i32| {
        let arguments = command.iter().copied().chain([file, "-t", "items", "--json"]);
        served.sheetport(&place, arguments).exits(code).json()["warnings"].as_array().unwrap().len()
    };
    assert_eq!(warnings(&["upload"], "euro.csv", 0), 0);
    assert_eq!(warnings(&["upload"], "yen.csv", 0), 2, "this change is new");
    for file in ["euro.csv", "yen.csv", "euro.csv"] {
        assert_eq!((warnings(&["check"], file, 0), warnings(&["upload"], file, 0)), (0, 0), "{file}");
    }
    // One row is fixed and sent by itself, in the only record in dollars.
    let mixed = items(|row| format!("{row}.50"), "EUR") + "A-021,Bolt 21,free,USD\n";
    place.write("mixed.csv", &mixed);
    assert_eq!(warnings(&["upload", "--report", "report.csv"], "mixed.csv", 3), 0);
    let report = std::fs::read_to_string(place.path("report.csv")).unwrap();
    place.write("report.csv", report.replace("free", "21.50"));
    served.sheetport(&place, ["retry", "report.csv"]).exits(0);
    assert_eq!(warnings(&["check"], "euro.csv", 0), 0);
}
