//! Retrying reports of records with one row.

use super::super::process::Place;
use super::super::service::Served;
use super::super::{accounting, count, items, summary};
use super::{PRICES, Sheet, retry_report, uploaded_prices};

/// Hands `sheet` back and answers the accounting.
#[track_caller]
fn retry(place: &Place, served: &Served, sheet: &Sheet, code: i32) -> String {
    sheet.save(place, "mended.csv");
    retry_report(place, served, "mended.csv", code)
}

#[test]
fn retry_sends_only_unaccepted_rows_over_several_rounds() {
    let (place, served) = uploaded_prices();
    let first = Sheet::open(&place, "prices.report.csv");
    // Nothing was mended: what was wrong is wrong, what was refused is asked for again.
    let again = served.sheetport(&place, ["retry", "prices.report.csv", "--json"]).csv_report("prices.report-2.csv");
    let again = summary(&again.exits(3));
    assert_eq!(accounting(&again), "4: unchanged 2, rejected 1, failed 1");
    assert_eq!((count(&again, "requests"), count(&again, "rows")), (1, 4));
    let next = again["next"].as_str().unwrap();
    assert!(next.starts_with("sheetport continue ") && next.ends_with("prices.report-2.csv"), "{next}");
    let second = Sheet::open(&place, "prices.report-2.csv");
    assert_eq!(second.column("sheetport_status"), ["rejected", "failed", "unchanged", "unchanged"]);
    assert_eq!(second.column("sheetport_service_id")[2..], first.column("sheetport_service_id")[2..]);
    // One row is mended in the second report, and then the other in the first, which knows of neither.
    assert_eq!(retry(&place, &served, second.clone().set(2, "Price", "9.00"), 3), "4: sent 1, unchanged 2, failed 1");
    let third = Sheet::open(&place, "mended.report.csv");
    assert_eq!(retry(&place, &served, first.clone().set(3, "Status", "active"), 0), "4: sent 1, unchanged 3");
    for sheet in [&first, &second, &third] {
        assert_eq!(retry(&place, &served, sheet, 0), "4: unchanged 4");
    }
    assert_eq!(served.total(), 4);
    let runs = place.sheetport(["runs", "--json"]).exits(0).json();
    let of: Vec<String> = runs["runs"].as_array().unwrap().iter().map(|run| run["retry_of"].to_string()).collect();
    assert_eq!(of, ["3", "2", "1", "1", "2", "1", "null"]);
    place.sheetport(["runs"]).exits(0).shows(&["mended.csv, retry of run 2"]);
}

#[test]
fn rows_may_be_sorted_filtered_and_added() {
    let (place, served) = uploaded_prices();
    let mut sheet = Sheet::open(&place, "prices.report.csv");
    sheet
        .replace("free", "9.00")
        .replace("in stock from the beginning of the third quarter of 2027", "active")
        .sort_by("sheetport_status");
    assert_eq!(sheet.column("SKU"), ["43", "0042", "44", "45"]);
    sheet.leave_out("SKU", "44").add(&["46", "Cog", "1", "active"]);
    assert_eq!(retry(&place, &served, &sheet, 0), "4: sent 3, unchanged 1");
    assert_eq!(served.total(), 5);
    // The same file once more: the row that was added is known by what it said, until it says something else.
    assert_eq!(retry(&place, &served, &sheet, 0), "4: unchanged 4");
    sheet.replace("Cog", "Wheel");
    assert_eq!(retry(&place, &served, &sheet, 0), "4: sent 1, unchanged 3");
    sheet.replace("Wheel", "Cog");
    assert_eq!(retry(&place, &served, &sheet, 0), "4: sent 1, unchanged 3");
    // The report of that is of the rows as they stand now, and they are known by where they came from.
    place.sheetport(["report", "-o", "all.csv"]).exits(0);
    let all = Sheet::open(&place, "all.csv");
    assert_eq!(all.column("sheetport_row"), ["2", "3", "4", "5"]);
    assert_eq!(retry(&place, &served, &all, 0), "4: unchanged 4");
    // The first report knows nothing of the row that was added, and of all others what became of them.
    let first = Sheet::open(&place, "prices.report.csv");
    assert_eq!(retry(&place, &served, &first, 0), "4: unchanged 4");
}

#[test]
fn edited_status_column_is_ignored() {
    let (place, served) = uploaded_prices();
    let mut sheet = Sheet::open(&place, "prices.report.csv");
    sheet.set(2, "Price", "9").set(2, "sheetport_status", "sent").set(5, "sheetport_status", "failed");
    assert_eq!(retry(&place, &served, &sheet, 3), "4: sent 1, unchanged 2, failed 1");
    let mut sheet = Sheet::open(&place, "prices.report.csv");
    sheet.set(3, "Status", "active").drop_column("sheetport_status").drop_column("sheetport_errors");
    assert_eq!(retry(&place, &served, &sheet, 0), "4: sent 1, unchanged 3");
}

#[test]
fn ambiguous_row_reference_is_a_problem_of_its_cell() {
    let (place, served) = uploaded_prices();
    let sheet = Sheet::open(&place, "prices.report.csv");
    let token = sheet.column("sheetport_run")[0].to_owned();
    let mut mended = sheet.clone();
    mended.replace("free", "9.00").replace("in stock from the beginning of the third quarter of 2027", "active");
    // A copy of an accepted row for a new item, and one of a row that is sent.
    let copy = |row: usize| mended.0[row - 1].clone();
    let mut copied = mended.clone();
    copied.0.extend([copy(4), copy(2)]);
    copied.set(6, "SKU", "50").set(7, "SKU", "51");
    copied.save(&place, "mended.csv");
    let refused = served.sheetport(&place, ["retry", "mended.csv", "--dry-run"]).exits(3);
    refused.shows(&["sheetport_row such as '4' appears twice", "rows 6, 7", "empty its sheetport_"]);
    assert_eq!(retry(&place, &served, &copied, 3), "6: sent 2, unchanged 2, rejected 2");
    let mut emptied = copied.clone();
    for row in [6, 7] {
        emptied.set(row, "sheetport_run", "").set(row, "sheetport_row", "");
    }
    assert_eq!(retry(&place, &served, &emptied, 0), "6: sent 2, unchanged 4");
    assert_eq!(served.total(), 6);

    for (header, text, words) in [
        ("sheetport_row", "99", "sheetport_row '99' is no row of run 1"),
        ("sheetport_row", "", "sheetport_row is no row of run 1"),
        ("sheetport_row", "four", "sheetport_row 'four' is no row of run 1"),
        ("sheetport_run", "", "sheetport_run is not 1-"),
        ("sheetport_run", "2-bcdfgh", "sheetport_run '2-bcdfgh' is not 1-"),
        ("sheetport_run", "1", "sheetport_run '1' is not 1-"),
    ] {
        let mut edited = sheet.clone();
        edited.set(5, header, text).save(&place, "mended.csv");
        let ended = served.sheetport(&place, ["retry", "mended.csv", "--dry-run"]).exits(3);
        ended.shows(&[words, "row 5", "1  rejected", "3  unchanged"]);
    }
    assert!(token.starts_with("1-") && token.len() == 8, "{token}");
}

#[test]
fn edits_to_accepted_rows_are_not_sent_but_reported() {
    let (place, served) = uploaded_prices();
    let mut sheet = Sheet::open(&place, "prices.report.csv");
    // A program that saved it may have written numbers in its own way.
    sheet.set(4, "Price", "2.5").set(5, "Name", "Long pin").save(&place, "mended.csv");
    let ended = served.sheetport(&place, ["retry", "mended.csv"]).exits(3);
    ended.says(&["1 row of accepted records was edited; the changes are not sent: row 5"]);
    assert!(!served.get("/v1/public/items")["data"].to_string().contains("Long pin"));
}

#[test]
fn the_second_retry_of_a_report_is_compared_with_what_the_first_one_sent() {
    let (place, served) = uploaded_prices();
    let mut sheet = Sheet::open(&place, "prices.report.csv");
    sheet.set(2, "Price", "1.50").set(3, "Status", "active").save(&place, "mended.csv");
    assert_eq!(
        accounting(&summary(&served.sheetport(&place, ["retry", "mended.csv", "--json"]).exits(0))),
        "4: sent 2, unchanged 2"
    );
    let again = served.sheetport(&place, ["retry", "mended.csv"]).exits(0);
    let again = again.says(&["nothing to do: the service has accepted every row of this report"]);
    assert!(!again.stderr.contains("edited"), "{}", again.stderr);
    // An edit after that is one, also back to what the first file had.
    for price in ["1.75", "free"] {
        sheet.set(2, "Price", price).save(&place, "mended.csv");
        let edited = served.sheetport(&place, ["retry", "mended.csv"]).exits(0);
        edited.says(&["1 row of accepted records was edited; the changes are not sent: row 2"]);
    }
}

#[test]
fn shifted_cells_are_not_sent_until_fixed() {
    let place = Place::new();
    let served = Served::start(&place);
    place.write("prices.csv", "SKU,Name,Price,Status\n1,Bolt,1,50,active\n2,\"Nut\",2,active\n3,\"Co");
    served.sheetport(&place, ["upload", "prices.csv", "-t", "items"]).csv_report("prices.report.csv").exits(3);
    let sheet = Sheet::open(&place, "prices.report.csv");
    assert_eq!(retry(&place, &served, &sheet, 3), "3: unchanged 1, rejected 2");
    // And so it is in the report of that.
    place.sheetport(["report", "-o", "again.csv"]).exits(0);
    let mut sheet = Sheet::open(&place, "again.csv");
    assert_eq!(retry(&place, &served, &sheet, 3), "3: unchanged 1, rejected 2");
    sheet.fill(2, &["1", "Bolt", "1.50", "active", ""]);
    assert_eq!(retry(&place, &served, &sheet, 3), "3: sent 1, unchanged 1, rejected 1");
}

#[test]
fn skipped_rows_stay_skipped() {
    let place = Place::new();
    let served = Served::start(&place);
    place.write("items.csv", items(9).replace(",2.50,", ",two,"));
    served
        .sheetport(&place, ["upload", "items.csv", "-t", "items", "--rows", "2-4"])
        .csv_report("items.report.csv")
        .exits(3);
    let mut sheet = Sheet::open(&place, "items.report.csv");
    sheet.replace("two", "2").sort_by("sheetport_status");
    assert_eq!(retry(&place, &served, &sheet, 0), "9: sent 1, unchanged 2, skipped 6");

    place.write(
        "twice.csv",
        "SKU,Name,Status\n1,old,active\n2,b,in stock from the beginning of the third quarter of 2027\n1,new,active\n",
    );
    let template = "record = \"item\"\nduplicates = \"last\"\n[fields.externalId]\ncolumn = \"SKU\"\n\
                    [fields.name]\ncolumn = \"Name\"\n[fields.status]\ncolumn = \"Status\"\n";
    place.write("t.toml", template);
    served.sheetport(&place, ["upload", "twice.csv", "-t", "t.toml"]).csv_report("twice.report.csv").exits(3);
    // Sorted, the older one stands last.
    let mut sheet = Sheet::open(&place, "twice.report.csv");
    sheet.replace("in stock from the beginning of the third quarter of 2027", "active").0[1..].reverse();
    assert_eq!(retry(&place, &served, &sheet, 0), "3: sent 1, unchanged 1, skipped 1");
    assert!(!served.get("/v1/public/items")["data"].to_string().contains("\"old\""));
}

#[test]
fn retry_uses_the_template_of_the_run_unless_another_is_named() {
    let place = Place::new();
    let served = Served::start(&place);
    let template = "record = \"item\"\n[sheet]\nheader = 3\nfill_down = { columns = [\"Brand\"] }\n\
                    [fields.externalId]\ncolumn = \"Key\"\n[fields.name]\ntext = \"{{ Brand }} {{ Name }}\"\n\
                    [fields.price]\ncolumn = \"Price\"\nlocale = \"en\"\n";
    place.write("mine.toml", template);
    place.write("list.csv", "Our list\n\nKey,Brand,Name,Price\n1,,Plain,free\n2,Acme,Bolt,1\n3,,Nut,free\n");
    served.sheetport(&place, ["upload", "list.csv", "-t", "mine.toml"]).csv_report("list.report.csv").exits(3);
    std::fs::remove_file(place.path("mine.toml")).unwrap();
    // Sorted, the row without a brand stands below one that has one, and has none all the same.
    let mut sheet = Sheet::open(&place, "list.report.csv");
    sheet.set(2, "Price", "2");
    let row = sheet.0.remove(1);
    sheet.0.push(row);
    assert_eq!(retry(&place, &served, &sheet, 3), "3: sent 1, unchanged 1, rejected 1");
    let names = served.get("/v1/public/items")["data"].to_string();
    assert!(names.contains("\"Plain\"") || names.contains("\" Plain\""), "{names}");
    // What was wrong may be the template.
    place.write("other.toml", template.replace("[fields.price]", "[fields.price]\nmap = { free = 0 }"));
    let args = ["retry", "mended.csv", "-t", "other.toml", "--json"];
    assert_eq!(accounting(&summary(&served.sheetport(&place, args).exits(0))), "3: sent 1, unchanged 2");
    place.write("order.toml", super::ORDERS);
    let args = ["retry", "mended.csv", "-t", "order.toml"];
    served.sheetport(&place, args).exits(2).says(&["records of the kind item"]);
}

#[test]
fn all_or_nothing_applies_to_reports() {
    let place = Place::new();
    let served = Served::start(&place);
    place.write("prices.csv", PRICES.replace("in stock from the beginning of the third quarter of 2027", "active"));
    let upload = served.sheetport(&place, ["upload", "prices.csv", "-t", "items", "--all-or-nothing", "--json"]);
    let upload = upload.csv_report("prices.report.csv");
    let next = summary(&upload.exits(3))["next"].as_str().unwrap().to_owned();
    assert_eq!(next, "sheetport continue prices.report.csv");
    // The run remembers that it was uploaded with --all-or-nothing.
    let args = ["retry", "prices.report.csv", "--json"];
    let again = served.sheetport(&place, args).csv_report("prices.report-2.csv");
    assert_eq!(accounting(&summary(&again.exits(3))), "4: rejected 1, pending 3");
    assert_eq!(served.total(), 0);
    let mut sheet = Sheet::open(&place, "prices.report-2.csv");
    assert_eq!(retry(&place, &served, sheet.replace("free", "1"), 0), "4: sent 4");
}
