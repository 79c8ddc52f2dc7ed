//! An order is the same one, whether a row names it by its external id or by its id in the service: within a file, between runs, and for
//! plans that are sent later.

use serde_json::Value;

use super::process::Place;
use super::service::Served;
use super::{accounting, column, summary, table};

const LINES: &str = "[lines.itemExternalId]\ncolumn = \"Item\"\n[lines.quantity]\ncolumn = \"Qty\"\n[lines.price]\ncolumn = \"Price\"\n";

/// A service with the orders `o1` and `o2`, whose external ids are `SO-1` and `SO-2`.
struct Shop {
    place: Place,
    served: Served,
}

impl Shop {
    fn open(words: &[&str]) -> Shop {
        let place = Place::new();
        // The external id of the second order is the id of the first one.
        place.write("orders.csv", "id,order_id,external_id\no1,5001,SO-1\no2,5002,o1\n");
        place.sheetport(["serve", "load", "--data", "service", "--workspace", "shop", "orders.csv"]).exits(0);
        let served = Served::start_with(&place, 0, words);
        for (name, field) in [("number", "externalId"), ("id", "order_id")] {
            let order = format!("record = \"order\"\n[group]\nby = \"Order\"\n[fields.{field}]\ncolumn = \"Order\"\n");
            place.write(&format!("{name}.toml"), format!("{order}{LINES}"));
        }
        Shop { place, served }
    }

    /// Runs a command with a file of one order, by the template `number` or `id`.
    fn run(&self, words: &[&str], (order, by): (&str, &str), lines: &[(&str, &str)]) -> Value {
        let rows: String = lines.iter().map(|(item, price)| format!("{order},{item},1,{price}\n")).collect();
        self.place.write("o.csv", format!("Order,Item,Qty,Price\n{rows}"));
        let template = format!("{by}.toml");
        let more: &[&str] = if words[0] == "upload" { &["--create-missing-items"] } else { &[] };
        let args = [words, &["o.csv", "-t", &template, "--json"], more].concat();
        self.served.sheetport(&self.place, args).exits(0).json()
    }

    /// Returns the prices of the lines of an order, as the service has them.
    fn lines(&self, order: &str) -> String {
        let show = ["serve", "show", "orders", "--data", "service", "--limit", "all", "--json"];
        let shown = self.place.sheetport(show).exits(0).json();
        let orders = shown["records"].as_array().unwrap();
        let found = orders.iter().find(|shown| shown["record"]["id"] == order).unwrap_or_else(|| panic!("{shown}"));
        let line = |line: &Value| line["price"].to_string();
        found["lines"].as_array().unwrap().iter().map(line).collect::<Vec<_>>().join(" ")
    }
}

#[test]
fn the_last_request_for_an_order_counts_whatever_it_is_called() {
    let shop = Shop::open(&[]);
    let (by_number, by_id) = (("SO-1", "number"), ("o1", "id"));
    shop.run(&["upload"], by_number, &[("A", "2.00")]);
    shop.run(&["upload"], by_id, &[("A", "7.00")]);
    assert_eq!(shop.lines("o1"), "7.00");
    let again = shop.run(&["upload", "--changed-only"], by_number, &[("A", "2.00")]);
    assert_eq!(accounting(&again), "1: sent 1");
    assert_eq!(shop.lines("o1"), "2.00");
    let again = shop.run(&["upload", "--changed-only"], by_number, &[("A", "2.00")]);
    assert_eq!(accounting(&again), "1: unchanged 1");
    // This one has the id of the other as its external id.
    let other = shop.run(&["upload", "--changed-only"], ("o1", "number"), &[("A", "7.00")]);
    assert_eq!((accounting(&other), shop.lines("o2")), ("1: sent 1".to_owned(), "7.00".to_owned()));
    assert_eq!(shop.lines("o1"), "2.00");
}

#[test]
fn an_order_by_both_names_is_in_a_file_twice() {
    let shop = Shop::open(&[]);
    let both = "record = \"order\"\n[fields.externalId]\ncolumn = \"Number\"\n[fields.order_id]\ncolumn = \"Id\"\n";
    shop.place.write("both.toml", format!("{both}{LINES}"));
    shop.place.write("both.csv", "Number,Id,Item,Qty,Price\nSO-1,,A,1,2.00\n,o1,B,1,3.00\n,o2,C,1,4.00\n");
    let upload = ["upload", "both.csv", "-t", "both.toml", "--create-missing-items", "--json", "--report", "r.csv"];
    let ended = shop.served.sheetport(&shop.place, upload).exits(3);
    assert_eq!(accounting(&summary(&ended)), "3: sent 1, rejected 2");
    let report = table(&shop.place.path("r.csv"));
    let errors = column(&report, "sheetport_errors");
    assert!(errors[0].contains("row 3") && errors[1].contains("row 2") && errors[2].is_empty(), "{errors:?}");
    assert_eq!(["o1", "o2"].map(|order| shop.lines(order)), ["", "4.00"]);
}

#[test]
fn lines_sent_by_the_other_name_are_named() {
    let shop = Shop::open(&["--literal"]);
    let (by_number, by_id) = (("SO-1", "number"), ("o1", "id"));
    shop.run(&["upload"], by_number, &[("A", "2.00"), ("B", "3.00")]);
    let warned = shop.run(&["check", "--online"], by_id, &[("A", "2.00")])["warnings"].to_string();
    assert!(warned.contains("would lose 1 × B, which run 1 sent on "), "{warned}");
    shop.run(&["upload"], by_id, &[("A", "2.00"), ("C", "3.00")]);
    let warned = shop.run(&["check", "--online"], by_number, &[("A", "2.00")])["warnings"].to_string();
    assert!(warned.contains("would lose 1 × C, which run 2 sent on "), "{warned}");
}

#[test]
fn an_older_run_yields_to_a_newer_one_by_the_other_name() {
    for is_pruned in [false, true] {
        let shop = Shop::open(&[]);
        shop.run(&["plan"], ("SO-1", "number"), &[("A", "2.00")]);
        let newer = shop.run(&["upload"], ("o1", "id"), &[("A", "7.00")]);
        assert_eq!(accounting(&newer), "1: sent 1");
        if is_pruned {
            shop.place.sheetport(["runs", "prune", "--older-than", "0h"]).exits(0);
        }
        let resumed = shop.served.sheetport(&shop.place, ["resume", "1", "--json"]).exits(0).json();
        assert_eq!(accounting(&resumed), "1: skipped 1", "{resumed}");
        assert_eq!(shop.lines("o1"), "7.00");
        // Wanted all the same, and then the last one.
        shop.served.sheetport(&shop.place, ["retry", "1", "--overwrite-newer", "-q"]).exits(0);
        assert_eq!(shop.lines("o1"), "2.00");
    }
}
