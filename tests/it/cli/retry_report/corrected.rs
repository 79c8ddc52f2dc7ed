//! What people correct in a report of few rows, or in the first file beside it: the rows that it lacks count, too.

use serde_json::Value;

use super::Sheet;
use super::unedited::Desk;

/// The prices of items whose keys begin with `prefix`: `A-1 1.5 A-2 9`.
fn prices(desk: &Desk, prefix: &str) -> String {
    let items = desk.served.get("/v1/public/items?page=1&limit=500");
    let items = items["data"].as_array().unwrap().iter();
    let mut found: Vec<String> = items
        .filter_map(|item| Some((item["external_id"].as_str().filter(|key| key.starts_with(prefix))?, &item["price"])))
        .map(|(key, price)| format!("{key} {price}"))
        .collect();
    found.sort();
    found.join(" ")
}

#[test]
fn a_row_that_is_not_sent_again_keeps_its_record() {
    let desk = Desk::new();
    desk.place.write("a.csv", "SKU,Name,Price\nEX-1,Bolt,1.50\nEX-2,Nut,abc\n");
    desk.run("upload a.csv -t items --report r.csv", 3);
    let mut report = Sheet::open(&desk.place, "r.csv");
    report.set(2, "SKU", "EX-2").set(3, "SKU", "EX-1").set(3, "Price", "9").save(&desk.place, "exchanged.csv");
    assert_eq!(desk.run("retry exchanged.csv", 3), "2: unchanged 1, rejected 1");
    assert_eq!(prices(&desk, "EX-"), "EX-1 1.50");
}

#[test]
fn the_order_of_equal_keys_is_that_of_the_first_file() {
    let desk = Desk::new();
    desk.place.write("last.toml", "extends = \"items\"\nduplicates = \"last\"\n");
    desk.place.write("l.csv", "SKU,Name,Price\nLA-1,Bolt,abc\nLA-1,Bolt,1.00\n");
    desk.run("upload l.csv -t last.toml", 3);
    desk.run("report -o few.csv --only problems", 0);
    Sheet::open(&desk.place, "few.csv").set(2, "Price", "2").save(&desk.place, "fixed.csv");
    assert_eq!(desk.run("retry fixed.csv", 3), "1: rejected 1");
    assert_eq!(prices(&desk, "LA-"), "LA-1 1.00");
}

#[test]
fn numbers_and_dates_are_read_as_in_the_first_file() {
    let desk = Desk::new();
    desk.place.write(
        "n.csv",
        "SKU;Name;Price;Currency\nNO-1;Bolt;2,50;EUR\nNO-2;Nut;3,75;EUR\n;Washer;1.299;EUR\nNO-4;Screw;abc;EUR\nNO-5;Big;4,10;EUR\n",
    );
    desk.run("upload n.csv -t items", 3);
    desk.run("report -o few.csv --only problems", 0);
    let few = Sheet::open(&desk.place, "few.csv");
    few.clone().set(2, "SKU", "NO-3").set(3, "Price", "12.50").save(&desk.place, "typed.csv");
    desk.run("retry typed.csv", 3);
    assert!(!prices(&desk, "NO-").contains("NO-3 1.299"), "{}", prices(&desk, "NO-"));
    few.clone().set(2, "SKU", "NO-3").set(3, "Price", "12,50").save(&desk.place, "typed.csv");
    assert_eq!(desk.run("retry typed.csv", 0), "2: sent 1, unchanged 1");
    assert_eq!(prices(&desk, "NO-"), "NO-1 2.50 NO-2 3.75 NO-3 1299 NO-4 12.50 NO-5 4.10");
}

const MOVES: &str =
    "Date,Stock,Movement,Quantity\n2026-09-02,L-01,in,20\n2026-09-03,L-02,out,8\n2026-09-04,L-05,in,6\n";

#[test]
fn a_movement_is_not_booked_by_its_report_and_by_its_corrected_file() {
    let desk = Desk::new();
    desk.place.write("m.csv", format!("{MOVES}2026-09-05,L-06,in,x\n"));
    desk.run("upload m.csv -t transactions --report r.csv", 3);
    Sheet::open(&desk.place, "r.csv").replace("x", "6").save(&desk.place, "fixed.csv");
    assert_eq!(desk.run("retry fixed.csv", 0), "4: sent 1, unchanged 3");
    desk.place.write("m.csv", format!("{MOVES}2026-09-05,L-06,in,7\n"));
    assert_eq!(desk.run("upload m.csv -t transactions", 3), "4: unchanged 3, rejected 1");
    // The other way round.
    let other = MOVES.replace("2026-09", "2026-08");
    desk.place.write("o.csv", format!("{other}2026-08-05,L-06,in,x\n"));
    desk.run("upload o.csv -t transactions --report o-report.csv", 3);
    desk.place.write("o.csv", format!("{other}2026-08-05,L-06,in,7\n"));
    assert_eq!(desk.run("upload o.csv -t transactions", 0), "4: sent 1, unchanged 3");
    Sheet::open(&desk.place, "o-report.csv").replace("x", "6").save(&desk.place, "o-fixed.csv");
    assert_eq!(desk.run("retry o-fixed.csv", 3), "4: unchanged 3, rejected 1");
}

#[test]
fn a_plan_that_waited_does_not_book_what_was_corrected_meanwhile() {
    let desk = Desk::new();
    desk.place.write("p.csv", MOVES);
    desk.served.sheetport(&desk.place, "plan p.csv -t transactions".split(' ')).exits(0);
    desk.place.write("p.csv", MOVES.replace("out,8", "out,9"));
    assert_eq!(desk.run("upload p.csv -t transactions", 0), "3: sent 3");
    assert_eq!(desk.run("resume 1", 3), "3: unchanged 2, rejected 1");
}

#[test]
fn a_transaction_is_not_updated_with_the_values_of_another_row() {
    let desk = Desk::new();
    desk.place.write("t.csv", MOVES);
    desk.run("upload t.csv -t transactions --report t-report.csv", 0);
    let sent = Sheet::open(&desk.place, "t-report.csv");
    let ids: Vec<String> = sent.column("sheetport_service_id").into_iter().map(str::to_owned).collect();
    let update = format!("Transaction ID,Movement,Quantity\n{},in,12\n{},out,x\n", ids[0], ids[1]);
    desk.place.write("u.csv", update);
    desk.run("upload u.csv -t transactions", 3);
    desk.run("report -o few.csv --only problems", 0);
    let mut few = Sheet::open(&desk.place, "few.csv");
    few.set(2, "Transaction ID", &ids[0]).replace("x", "7").save(&desk.place, "taken.csv");
    assert_eq!(desk.run("retry taken.csv", 3), "1: rejected 1");
    let first: Value = desk.served.get(&format!("/v1/public/inventory-transactions/{}", ids[0]));
    assert_eq!(first["transaction_amount"], 12, "{first}");
}

#[test]
fn an_invoice_is_not_created_without_the_line_that_was_sorted_above_it() {
    let desk = Desk::new();
    let customer = "019a3c00-0002-7000-8000-000000000005";
    let item = |number: u32| format!("019a3c00-0001-7000-8000-00000000000{number}");
    desk.place.write(
        "i.csv",
        format!("Invoice no.,Customer ID,Item ID,Amount\n0801,{customer},{},5\n,,{},x\n", item(2), item(7)),
    );
    desk.run("upload i.csv -t invoices", 3);
    desk.run("report -o few.csv --only problems", 0);
    let mut few = Sheet::open(&desk.place, "few.csv");
    few.replace("x", "3").sort_by("Invoice no.").save(&desk.place, "sorted.csv");
    desk.run("retry sorted.csv", 3);
    let invoices = desk.place.sheetport("serve show invoices --data service --json".split(' ')).exits(0).json();
    assert_eq!(invoices["records"].as_array().map(Vec::len), Some(0), "{invoices}");
}

#[test]
fn dates_on_the_first_row_of_a_day_are_not_replaced_by_today() {
    let desk = Desk::new();
    let rows = "2026-09-02,L-06,in,20\n,L-02,out,8\n,L-05,in,6\n2026-09-07,L-07,out,3\n,L-08,out,4\n";
    desk.place.write("d.csv", format!("Date,Stock,Movement,Quantity\n{rows}"));
    assert_eq!(desk.run("upload d.csv -t transactions", 3), "5: sent 2, rejected 3");
}

#[test]
fn values_that_lines_lose_are_said() {
    let desk = Desk::new();
    desk.place.write("o.csv", "Order no.,Item no.,Quantity\nSO-2026-0001,0043,11\n");
    let ended = desk.served.sheetport(&desk.place, "upload o.csv -t orders".split(' ')).exits(0);
    ended.shows(&["would lose values of its lines in the service: 0043 ("]);
}
