//! Uploads to a healthy service.

use std::fs;

use super::process::{Place, name};
use super::service::Served;
use super::{accounting, column, count, items, sample, summary, table};

#[test]
fn valid_items_are_sent_from_csv_and_xlsx() {
    for file in ["items.csv", "items.xlsx"] {
        let place = Place::new();
        let served = Served::start(&place);
        fs::copy(sample(file), place.path(file)).unwrap();
        place.sheetport(["check", file, "-t", "items"]).exits(0);
        let upload = served.sheetport(&place, ["upload", file, "-t", "items", "--json"]).exits(0);
        let summary = summary(&upload);
        assert_eq!(accounting(&summary), "25: sent 25", "{file}");
        assert_eq!((count(&summary, "rows"), count(&summary, "requests")), (25, 25));
        assert!(summary["report"].is_null() && summary["next"].is_null(), "{summary}");
        assert_eq!(served.total(), 25);
        assert_eq!(place.names(), ["home", file, "service"], "no report without problems");
    }
}

#[test]
fn price_list_with_problems_sends_the_valid_rows_and_exits_with_3() {
    let place = Place::new();
    let served = Served::start(&place);
    for file in ["price-list.csv", "price-list.toml"] {
        fs::copy(sample(file), place.path(file)).unwrap();
    }
    let arguments = ["price-list.csv", "-t", "price-list.toml", "--json"];
    let check = place.sheetport(["check"].iter().chain(&arguments)).exits(3);
    assert_eq!(accounting(&summary(&check)), "642: skipped 2, rejected 11, pending 629");
    let upload = served.sheetport(&place, ["upload"].into_iter().chain(arguments)).exits(3);
    let summary = summary(&upload);
    assert_eq!(accounting(&summary), "642: sent 628, skipped 2, rejected 11, failed 1");
    assert_eq!(summary["report"], name(&place.path("price-list.report.xlsx")));
    assert!(summary["next"].as_str().unwrap().contains("sheetport continue "), "{summary}");
    assert_eq!(served.total(), 628);
}

#[test]
fn values_arrive_as_typed() {
    let place = Place::new();
    let served = Served::start(&place);
    place.write("prices.csv", "SKU,Name,Price,Currency\n0042,007 bolts,1234.50,EUR\n42,Nut,0.10,EUR\n");
    let upload = || served.sheetport(&place, ["upload", "prices.csv", "-t", "items", "--json"]).exits(0);
    upload();
    upload();
    assert_eq!(served.total(), 2, "0042 is not 42, and a second upload makes no second item");
    served.sheetport(&place, ["export", "items", "-o", "items.csv"]).exits(0);
    let back = table(&place.path("items.csv"));
    let mut prices: Vec<_> = column(&back, "name").into_iter().zip(column(&back, "price")).collect();
    prices.sort_unstable();
    assert_eq!(prices, [("007 bolts", "1234.50"), ("Nut", "0.10")]);
}

#[test]
fn all_or_nothing_sends_only_if_every_row_is_valid() {
    let place = Place::new();
    let served = Served::start(&place);
    let upload = |file| served.sheetport(&place, ["upload", file, "-t", "items", "--all-or-nothing", "--json"]);
    place.write("wrong.csv", "SKU,Name,Price\n1,Bolt,2.00\n2,Nut,free\n");
    let refused = upload("wrong.csv").exits(3).says(&["nothing was sent", "--all-or-nothing"]);
    assert_eq!(accounting(&summary(&refused)), "2: rejected 1, pending 1");
    assert_eq!(served.total(), 0);
    served.sheetport(&place, ["resume"]).exits(2).says(&["run 1 can't be resumed", "upload the file again"]);
    assert_eq!(served.total(), 0);
    place.write("right.csv", items(2));
    assert_eq!(accounting(&summary(&upload("right.csv").exits(0))), "2: sent 2");
}

#[test]
fn rate_is_not_exceeded() {
    let place = Place::new();
    let served = Served::start(&place);
    place.write("items.csv", items(60));
    let upload = served.sheetport(&place, ["upload", "items.csv", "-t", "items", "--rate", "50/s", "--json"]).exits(0);
    let summary = summary(&upload);
    assert_eq!(count(&summary, "requests"), 60);
    let seconds = summary["seconds"].as_f64().unwrap();
    assert!(seconds >= 1.0, "60 requests at 50/s took {seconds} s");
    assert!(summary["rate"].as_f64().unwrap() <= 60.0, "{summary}");
}

#[test]
fn fixed_report_is_uploaded_with_the_same_template() {
    let place = Place::new();
    let served = Served::start(&place);
    let arguments = ["-t", "items", "--json"];
    place.write(
        "prices.csv",
        "Shelf,SKU,Name,Price,Status\nA,0042,=Bolt,free,active\nB,43,Nut,1.10,in stock from the beginning of the third quarter of 2027\nC,44,Screw,2,active\n",
    );
    let upload = served.sheetport(&place, ["upload", "prices.csv"].into_iter().chain(arguments)).exits(3);
    assert_eq!(accounting(&summary(&upload)), "3: sent 1, rejected 1, failed 1");
    served.sheetport(&place, ["report", "-o", "errors.csv", "--only", "problems"]).exits(0);
    let errors = fs::read_to_string(place.path("errors.csv")).unwrap();
    assert!(errors.contains("'free' is not a number") && errors.contains(",free,"), "{errors}");
    place.write(
        "errors.csv",
        errors
            .replace(",free,", ",7.25,")
            .replace(",in stock from the beginning of the third quarter of 2027,", ",active,"),
    );
    let again = served.sheetport(&place, ["upload", "errors.csv"].into_iter().chain(arguments)).exits(0);
    assert_eq!(accounting(&summary(&again)), "2: sent 2");
    assert_eq!(served.total(), 3);
    served.sheetport(&place, ["export", "items", "-o", "items.csv"]).exits(0);
    let back = table(&place.path("items.csv"));
    let mut names = column(&back, "name");
    names.sort_unstable();
    // The quote in the export keeps spreadsheet programs from running the name as a formula.
    assert_eq!(names, ["'=Bolt", "Nut", "Screw"]);
}

#[test]
fn runs_are_listed_newest_first() {
    let place = Place::new();
    let served = Served::start(&place);
    place.sheetport(["runs"]).exits(0).shows(&["no runs yet", "sheetport upload"]);
    place.write("one.csv", items(1));
    place.write("two.csv", items(2));
    for file in ["one.csv", "two.csv"] {
        served.sheetport(&place, ["upload", file, "-t", "items", "-q"]).exits(0);
    }
    let listed = place.sheetport(["runs", "--json"]).exits(0).json();
    let runs = listed["runs"].as_array().unwrap();
    assert_eq!(runs.iter().map(|run| count(run, "run")).collect::<Vec<_>>(), [2, 1]);
    assert!(runs.iter().all(|run| run["state"] == "done" && run["workspace"] == "shop"), "{listed}");
    assert_eq!(runs[0]["file"], name(&place.path("two.csv")));
    place.sheetport(["runs"]).exits(0).shows(&["one.csv", "two.csv", "done"]);
    place.sheetport(["runs", "--limit", "1"]).exits(0).shows(&["two.csv"]);
    place.sheetport(["runs", "--limit", "0"]).exits(2).says(&["'0'", "--limit"]);
    let resumed = served.sheetport(&place, ["resume", "--json"]).exits(0);
    assert_eq!(accounting(&summary(&resumed)), "2: sent 2", "nothing was pending");
    assert_eq!(served.total(), 2);
}

#[test]
fn quiet_prints_only_the_accounting() {
    let place = Place::new();
    let served = Served::start(&place);
    place.write("items.csv", items(3));
    let upload = served.sheetport(&place, ["upload", "items.csv", "-t", "items", "--quiet"]).exits(0);
    assert_eq!(upload.stderr, "");
    let upload = served.sheetport(&place, ["upload", "items.csv", "-t", "items"]).exits(0);
    upload.shows(&["header in row 1", "SKU → externalId", "3 records from 3 rows", "3  sent"]);
}
