//! Rows that break what is regular in the others: nothing of them arrives, and the rest does.

use serde_json::Value;

use super::process::Place;
use super::service::Served;

fn items(served: &Served) -> Vec<String> {
    let items = served.get("/v1/public/items?page=1&limit=100");
    let mut found: Vec<String> =
        items["data"].as_array().unwrap().iter().map(|item| item["external_id"].as_str().unwrap().to_owned()).collect();
    found.sort();
    found
}

#[test]
fn rows_unlike_the_others_do_not_arrive() {
    let place = Place::new();
    place.write(
        "a.csv",
        "Command,SKU,Name,Price,Currency\nMERGE,A-1,Axe,1.00,EUR\nDELETE,A-2,Bolt,2.00,EUR\nMERGE,Cog,3.00,4,EUR\nMERGE,A-4,TBD,4.00,EUR\n\
         MERGE,A-5,Eye,5.00,EUR\nMERGE,A-6,Fan,-6.00,EUR\n",
    );
    let served = Served::start(&place);
    let run = served.sheetport(&place, ["upload", "a.csv", "-t", "items", "-y", "--report", "r.csv"]).exits(3);
    run.shows(&["says that the row is no ordinary record", "has no digit, unlike the others", "is less than zero"]);
    assert_eq!(items(&served), ["A-1", "A-5", "A-6"]);
    // The remedies of the messages are taken.
    place.write(
        "own.toml",
        "sheetport = 1\nextends = \"items\"\n[sheet]\nignored = [\"Command\"]\n[fields.externalId]\ncolumn = \"SKU\"\ndamaged = \"accept\"\n\
         [fields.name]\ncolumn = \"Name\"\ndamaged = \"accept\"\n",
    );
    served.sheetport(&place, ["upload", "a.csv", "-t", "own.toml", "-y"]).exits(0);
    assert_eq!(items(&served), ["A-1", "A-2", "A-4", "A-5", "A-6", "Cog"]);
    place.write(
        "skip.toml",
        "sheetport = 1\nextends = \"items\"\n[sheet]\nskip_where = { column = \"Command\", matches = '^DELETE$' }\n",
    );
    let checked = place.sheetport(["check", "a.csv", "-t", "skip.toml", "--json"]).exits(3).json();
    assert_eq!((checked["skipped"].as_u64(), checked["rejected"].as_u64()), (Some(1), Some(2)));
}

#[test]
fn the_arithmetic_of_rows_tells_amounts_from_rates() {
    let place = Place::new();
    place.write(
        "vat.csv",
        "SKU,Name,Net price,VAT,Gross price\nA-1,a,12.00,2.28,14.28\nA-2,b,20.00,3.80,23.80\nA-3,c,5.00,0.95,5.95\n",
    );
    let checked = place.sheetport(["check", "vat.csv", "-t", "items"]).exits(3);
    checked.shows(&["is the tax itself, not its rate", "12.00 + 2.28 = 14.28"]);
    let german = place.sheetport(["--lang", "de", "check", "vat.csv", "-t", "items"]).exits(3);
    german.shows(&["ist der Betrag der Steuer, nicht ihr Satz"]);

    let rows: String = (0..12).fold(String::new(), |mut rows, nth| {
        let (quantity, cents) = (nth + 2, 1_05 + 37 * nth);
        let total = if nth == 7 { 99 } else { quantity * cents };
        let money = |cents: u64| format!("{}.{:02}", cents / 100, cents % 100);
        rows.push_str(&format!("SO-{nth},A-1,{quantity},{},{}\n", money(cents), money(total)));
        rows
    });
    place.write("orders.csv", format!("Order no,SKU,Qty,Unit price,Line total\n{rows}"));
    let checked = place.sheetport(["check", "orders.csv", "-t", "orders", "--json"]).exits(3).json();
    let problem = &checked["problems"][0];
    assert_eq!((problem["code"].as_str(), &problem["rows"]), (Some("does-not-add-up"), &Value::from(vec![9])));
}

#[test]
fn evidence_of_later_rows_judges_the_first_ones_too() {
    let place = Place::new();
    let mut sheet = "SKU,Name,Price\nBOLT,x,1.00\n".to_owned();
    for number in 0..9_000 {
        sheet.push_str(&format!("A-{number},name {number},1.{:02}\n", number % 90 + 10));
    }
    place.write("long.csv", sheet);
    let checked = place.sheetport(["check", "long.csv", "-t", "items", "--json"]).exits(3).json();
    assert_eq!((checked["rows"].as_u64(), checked["rejected"].as_u64()), (Some(9_001), Some(1)));
    assert_eq!(checked["problems"][0]["rows"], Value::from(vec![2]));
}

/// Twenty orders of three lines, in order of their numbers and dates, with a description that the template does not read.
fn orders(change: impl Fn(usize, &mut [String; 6])) -> String {
    let described = ["Bolt", "Nut", "Washer", "Screw", "Anchor", "Tape", "Glue"];
    let mut rows = "Order,Date,SKU,Description,Qty,Price\n".to_owned();
    for line in 0..60 {
        let (order, item) = (line / 3, line * 5 % 7);
        let mut cells = [
            format!("{}", 5001 + order),
            format!("2026-03-{:02}", order + 1),
            format!("A-{item:02}"),
            described[item].to_owned(),
            format!("{}", line % 4 + 1),
            format!("{}.35", item + 1),
        ];
        change(line, &mut cells);
        rows.push_str(&format!("{}\n", cells.join(",")));
    }
    rows
}

#[test]
fn rows_that_break_an_order_or_agree_with_no_other_row_are_asked_about() {
    let place = Place::new();
    place.write(
        "t.toml",
        "record = \"order\"\n[fields.externalId]\ncolumn = \"Order\"\n[fields.orderAt]\ncolumn = \"Date\"\n[lines.itemExternalId]\n\
         column = \"SKU\"\n[lines.quantity]\ncolumn = \"Qty\"\n[lines.price]\ncolumn = \"Price\"\n[group]\nby = [\"Order\"]\n",
    );
    place.write("ok.csv", orders(|_, _| ()));
    place.sheetport(["check", "ok.csv", "-t", "t.toml"]).exits(0);
    let set = |at: usize, column: usize, text: &'static str| {
        move |line: usize, cells: &mut [String; 6]| {
            if line == at {
                cells[column] = text.to_owned();
            }
        }
    };
    let of_order = |column: usize, text: &'static str| {
        move |line: usize, cells: &mut [String; 6]| {
            if line / 3 == 9 {
                cells[column] = text.to_owned();
            }
        }
    };
    for (rows, code, says) in [
        (orders(set(31, 2, "A-77")), "unlike-others", "stands beside 'Nut' under Description in this row alone"),
        (orders(set(31, 3, "Glue")), "unlike-others", "stands beside 'Glue' under Description in this row alone"),
        (orders(set(31, 0, "5018")), "unlike-others", "stands between rows of 5011"),
        (orders(of_order(0, "5910")), "unlike-others", "the consecutive numbers of the others lack 5010"),
        (orders(of_order(1, "2026-10-03")), "implausible-date", "stands between 2026-03-09 and 2026-03-11"),
    ] {
        place.write("o.csv", rows);
        place.sheetport(["check", "o.csv", "-t", "t.toml"]).exits(3).shows(&[says]);
        let checked = place.sheetport(["check", "o.csv", "-t", "t.toml", "--accept", code, "--json"]);
        // An order with another date in one of its lines has a problem of its own.
        let rejected = checked.run().json()["rejected"].as_u64();
        assert_eq!(rejected, Some(u64::from(says.contains("between rows"))), "{says}");
    }
}

#[test]
fn lines_above_the_header_that_the_template_contradicts_hold_the_file_back() {
    let place = Place::new();
    let served = Served::start(&place);
    let list =
        |title: &str| format!("Preisliste 2026;;\n{title};;\n\nSKU;Name;Price\nA-1;Axe;150,00\nA-2;Bolt;250,00\n");
    place.write("eur.toml", "extends = \"items\"\n[fields.currency]\nvalue = \"EUR\"\n");
    for (title, says) in [
        ("Alle Preise je 100 Stück", "add scale = 0.01 below [fields.price]"),
        ("ENTWURF – nicht verwenden", "is the list to be sent at all?"),
        ("All prices in USD", "the amounts are sent in EUR"),
    ] {
        place.write("list.csv", list(title));
        let held = served.sheetport(&place, ["upload", "list.csv", "-t", "eur.toml"]).exits(3);
        held.shows(&[title, says, "--accept contradicted-title"]);
        assert!(items(&served).is_empty(), "{title}");
        let german = place.sheetport(["--lang", "de", "check", "list.csv", "-t", "eur.toml"]).exits(3);
        german.shows(&["steht über der Überschrift"]);
    }
    for title in ["Stand: 01.11.2026", "Alle Preise in EUR", "Preise je Stück", "Die 100 besten Artikel"] {
        place.write("list.csv", list(title));
        place.sheetport(["check", "list.csv", "-t", "eur.toml"]).exits(0);
    }
    // The line that the hint names, and the answer for good.
    place.write("list.csv", list("Alle Preise je 100 Stück"));
    place.write("per.toml", "extends = \"eur.toml\"\n[fields.price]\ncolumn = \"Price\"\nscale = 0.01\n");
    served.sheetport(&place, ["upload", "list.csv", "-t", "per.toml"]).exits(0);
    assert_eq!(items(&served), ["A-1", "A-2"]);
    assert_eq!(
        served.get("/v1/public/items?page=1&limit=1")["data"][0]["price"].as_f64().map(|price| price < 3.0),
        Some(true)
    );
    place.write("all.toml", "extends = \"eur.toml\"\naccept = [\"contradicted-title\"]\n");
    place.sheetport(["check", "list.csv", "-t", "all.toml"]).exits(0);
}

#[test]
fn prices_below_cost_and_remarks_beside_rows_are_asked_about() {
    let place = Place::new();
    let list = |change: &dyn Fn(u64, &mut [String; 5])| {
        (1..=24).fold("SKU,Name,Price,Purchase price,\n".to_owned(), |mut rows, nth| {
            let cents = 137 * nth + 200;
            let money = |cents: u64| format!("{}.{:02}", cents / 100, cents % 100);
            let cost = cents * (50 + nth * 7 % 30) / 100;
            let mut row = [format!("A-{nth}"), format!("Item {nth}"), money(cents), money(cost), String::new()];
            change(nth, &mut row);
            rows.push_str(&format!("{}\n", row.join(",")));
            rows
        })
    };
    let healthy = list(&|_, _| {});
    place.write("a.csv", &healthy);
    let checked = place.sheetport(["check", "a.csv", "-t", "items", "--json"]).exits(0).json();
    assert_eq!(checked["warnings"], serde_json::json!([]));
    place.write(
        "a.csv",
        list(&|nth, row| {
            if nth == 9 {
                row[3] = "15.00".to_owned()
            }
        }),
    );
    place.sheetport(["check", "a.csv", "-t", "items"]).exits(3).shows(&["is below 'Purchase price', 15.00"]);
    place.write("a.csv", healthy.replace("Price,Purchase price", "Purchase price,Price"));
    place.sheetport(["check", "a.csv", "-t", "items"]).exits(3).shows(&["is below 'Purchase price' in 24 of 24 rows"]);
    place.write(
        "a.csv",
        list(&|nth, row| {
            if nth == 9 {
                row[4] = "DRAFT".to_owned()
            }
        }),
    );
    let drafted = place.sheetport(["check", "a.csv", "-t", "items"]).exits(3);
    drafted.shows(&["'DRAFT' says that the row is no ordinary record", "skip_where = { column = \"E\""]);
    place.write(
        "a.csv",
        list(&|nth, row| {
            if nth == 9 {
                row[2].clear()
            }
        }),
    );
    place.sheetport(["check", "a.csv", "-t", "items"]).exits(0).shows(&["is blank, unlike the others"]);
    place.write(
        "a.csv",
        list(&|nth, row| {
            if nth == 9 {
                row[1] = "0".to_owned()
            }
        }),
    );
    place.sheetport(["check", "a.csv", "-t", "items"]).exits(3).shows(&["'0' stands for a missing value"]);
}
