//! Reports: what is wrong, the original columns, then the rest. An existing file is never replaced.

use std::fs;
#[cfg(target_os = "linux")]
use std::path::Path;
use std::sync::{Arc, Barrier};

use super::process::{Place, name};
use super::service::Served;
use super::{accounting, column, count, items, summary, table};
use crate::faults::server::{Reply, Server};

const IN_FRONT: [&str; 3] = ["sheetport_status", "sheetport_errors", "sheetport_warnings"];
const BEHIND: [&str; 8] = [
    "sheetport_field",
    "sheetport_service_id",
    "sheetport_ctx_id",
    "sheetport_job_id",
    "sheetport_http_status",
    "sheetport_attempts",
    "sheetport_row",
    "sheetport_run",
];

/// Uploads a file with rows in several states.
fn uploaded() -> (Place, Served) {
    let place = Place::new();
    let served = Served::start(&place);
    let rows = "Shelf,SKU,Name,Price,Status\nA,0042,Bolt,free,active\nB,43,Nut,1.10,in stock from the beginning of the third quarter of 2027\nC,44,Screw,2.50,active\n";
    place.write("prices.csv", rows);
    served.sheetport(&place, ["upload", "prices.csv", "-t", "items"]).csv_report("prices.report.csv").exits(3);
    (place, served)
}

#[test]
fn a_report_has_what_is_wrong_before_the_original_columns() {
    let (place, _served) = uploaded();
    let report = table(&place.path("prices.report.csv"));
    let header = IN_FRONT.into_iter().chain(["Shelf", "SKU", "Name", "Price", "Status"]).chain(BEHIND);
    assert_eq!(report[0], header.collect::<Vec<_>>());
    assert_eq!(column(&report, "SKU"), ["0042", "43", "44"]);
    assert_eq!(column(&report, "Price"), ["free", "1.10", "2.50"]);
    assert_eq!(column(&report, "sheetport_status"), ["rejected", "failed", "sent"]);
    assert_eq!(column(&report, "sheetport_field"), ["price", "status", ""]);
    assert_eq!(column(&report, "sheetport_row"), ["2", "3", "4"]);
    assert_eq!(column(&report, "sheetport_http_status")[1..], ["422", "200"]);
    let errors = column(&report, "sheetport_errors");
    assert!(errors[0].contains("Price 'free' is not a number"), "{errors:?}");
    assert!(errors[1].contains("Status must not be longer than 50 characters"), "{errors:?}");
    assert!(!column(&report, "sheetport_service_id")[2].is_empty());
}

#[test]
fn a_report_never_replaces_a_file() {
    let (place, served) = uploaded();
    let upload = || served.sheetport(&place, ["upload", "prices.csv", "-t", "items"]).exits(3);
    upload();
    let first = fs::read(place.path("prices.report.xlsx")).unwrap();
    upload();
    assert_eq!(fs::read(place.path("prices.report.xlsx")).unwrap(), first);
    assert_ne!(fs::read(place.path("prices.report-2.xlsx")).unwrap(), first);
    let first = fs::read(place.path("prices.report.csv")).unwrap();
    let onto = |file| place.sheetport(["report", "-o", file]).exits(2).says(&["already exists", "another name"]);
    onto("prices.report.csv");
    onto("prices.csv");
    assert_eq!(fs::read(place.path("prices.report.csv")).unwrap(), first);
    let elsewhere = place.sheetport(["report", "-o", "missing/report.csv"]).exits(1);
    elsewhere.says(&["missing/report.csv can't be written", "check that the folder exists"]);
}

#[test]
fn an_upload_with_an_unwritable_report_sends_nothing() {
    let (place, served) = uploaded();
    let before = place.names();
    let mine = fs::read(place.path("prices.csv")).unwrap();
    place.write("other.csv", items(3));
    let upload = |report| served.sheetport(&place, ["upload", "other.csv", "-t", "items", "--report", report]);
    upload("prices.csv").exits(2).says(&["prices.csv already exists", "choose another name"]);
    upload("other.csv").exits(2).says(&["other.csv already exists"]);
    upload("missing/a.csv").exits(1).says(&["missing/a.csv can't be written", "there is no such folder"]);
    upload("a.pdf").exits(2).says(&["a.pdf", ".xlsx or .csv", ".html"]);
    served.sheetport(&place, ["resume", "--report", "prices.csv"]).exits(2).says(&["prices.csv already exists"]);
    assert_eq!(fs::read(place.path("prices.csv")).unwrap(), mine);
    assert_eq!(served.total(), 1, "as before");
    let sent = upload("a.csv").exits(0).shows(&["Report  a.csv"]);
    assert!(!sent.stdout.contains("fix the rows"), "no row needs fixing: {}", sent.stdout);
    assert_eq!(column(&table(&place.path("a.csv")), "sheetport_status"), ["sent"; 3]);
    let mut after = place.names();
    after.retain(|name| !["a.csv", "other.csv"].contains(&name.as_str()));
    assert_eq!(after, before);
}

/// A folder in which no name is short enough for a report, also for the administrator.
#[cfg(target_os = "linux")]
#[test]
fn a_report_that_cannot_be_beside_its_file_goes_elsewhere_aloud() {
    const LONGEST: usize = 4_095;
    let place = Place::new();
    let served = Served::start(&place);
    let mut folder = place.path("");
    while folder.as_os_str().len() + 110 < LONGEST {
        folder.push("f".repeat(100));
    }
    folder.push("f".repeat(LONGEST - folder.as_os_str().len() - 1 - "/a.csv".len()));
    fs::create_dir_all(&folder).unwrap();
    let file = folder.join("a.csv");
    fs::write(&file, "SKU,Name,Price\nA,Bolt,1.50\nB,Nut,free\n").unwrap();
    let upload = |from: &Path| {
        let upload = served.sheetport(&place, ["upload", name(&file), "-t", "items", "--json"]).current_dir(from);
        upload.exits(3).says(&["can't be written", "the report goes to"]).json()
    };
    let first = upload(&place.path(""));
    assert_eq!(first["report"], *name(&place.path("a.report.xlsx")));
    assert!(place.path("a.report.xlsx").exists());
    let second = upload(&folder);
    assert_eq!(second["report"], *name(&place.path("home/reports/a.report.xlsx")));
    assert!(place.path("home/reports/a.report.xlsx").exists());
}

#[test]
fn resuming_a_finished_run_names_the_report_command() {
    let (place, served) = uploaded();
    let before = place.names();
    let resumed = served.sheetport(&place, ["resume", "--json"]).exits(3).says(&["run 1 was finished before"]);
    let summary = summary(&resumed);
    assert_eq!(accounting(&summary), "3: sent 1, rejected 1, failed 1");
    assert_eq!(summary["next"], "sheetport report 1 -o report-1.xlsx --only problems");
    assert_eq!(place.names(), before, "the report already existed");
}

#[test]
fn only_selects_rows() {
    let (place, _served) = uploaded();
    for (only, rows) in [("all", 3), ("problems", 2), ("sent", 1), ("failed", 1), ("rejected", 1), ("pending", 0)] {
        let file = format!("{only}.csv");
        let written = place.sheetport(["report", "1", "-o", &file, "--only", only, "--json"]).exits(0).json();
        assert_eq!(count(&written, "rows"), rows, "{only}");
        assert_eq!(table(&place.path(&file)).len() as u64, rows + 1, "{only}");
    }
    place.sheetport(["report", "-o", "x.csv", "--only", "wrong"]).exits(2).says(&["all, problems, sent"]);
}

#[test]
fn unsupported_report_options_are_refused() {
    let (place, _served) = uploaded();
    place.sheetport(["report", "-o", "report.pdf"]).exits(2).says(&["report.pdf", ".xlsx or .csv", ".html"]);
    place.sheetport(["report", "7", "-o", "report.csv"]).exits(2).says(&["there is no run 7", "sheetport runs"]);
    let fresh = Place::new();
    fresh.sheetport(["report", "-o", "report.csv"]).exits(2).says(&["no runs yet", "sheetport upload"]);
}

#[test]
fn a_report_needs_only_the_ledger() {
    let (place, _served) = uploaded();
    let first = fs::read(place.path("prices.report.csv")).unwrap();
    fs::remove_file(place.path("prices.csv")).unwrap();
    place.sheetport(["report", "1", "-o", "again.csv"]).exits(0);
    assert_eq!(fs::read(place.path("again.csv")).unwrap(), first);
}

#[test]
fn a_csv_report_has_a_byte_order_mark_if_the_file_had_or_on_request() {
    let (place, served) = uploaded();
    let begins_with_mark = |file: &str| fs::read(place.path(file)).unwrap().starts_with(b"\xEF\xBB\xBF");
    assert!(!begins_with_mark("prices.report.csv"));
    place.sheetport(["report", "-o", "plain.csv"]).exits(0);
    place.sheetport(["report", "-o", "marked.csv", "--bom"]).exits(0);
    assert!(!begins_with_mark("plain.csv") && begins_with_mark("marked.csv"));
    assert_eq!(table(&place.path("plain.csv")), table(&place.path("marked.csv")));

    place.write("excel.csv", "\u{feff}SKU,Name,Price,Currency\n0050,Größe,frei,EUR\n");
    served.sheetport(&place, ["upload", "excel.csv", "-t", "items"]).csv_report("excel.report.csv").exits(3);
    assert!(begins_with_mark("excel.report.csv"));
    // It can be read again.
    let mended = fs::read_to_string(place.path("excel.report.csv")).unwrap().replace(",frei,", ",1.50,");
    place.write("mended.csv", mended);
    served.sheetport(&place, ["upload", "mended.csv", "-t", "items"]).exits(0);
}

#[test]
fn formulas_are_defused_in_reports_and_restored_when_sent() {
    let place = Place::new();
    let served = Served::start(&place);
    let names = ["=HYPERLINK(\"http://x\")", "+49-170", "@SUM(A1)", "'=quoted", "-A1"];
    let rows: String = names
        .iter()
        .enumerate()
        .map(|(number, name)| format!("{number},\"{}\",free,EUR\n", name.replace('"', "\"\"")))
        .collect();
    place.write("prices.csv", format!("SKU,Name,Price,Currency\n{rows}"));
    served.sheetport(&place, ["upload", "prices.csv", "-t", "items"]).csv_report("prices.report.csv").exits(3);
    let report = table(&place.path("prices.report.csv"));
    let defused: Vec<String> = names.iter().map(|name| format!("'{name}")).collect();
    assert_eq!(column(&report, "Name"), defused);

    place.sheetport(["report", "-o", "prices.xlsx"]).exits(0);
    for report in ["prices.report.csv", "prices.xlsx"] {
        for (name, row) in names.iter().zip(2..) {
            let row = row.to_string();
            place.write(
                "t.toml",
                "record = \"item\"\n[fields.externalId]\ncolumn = \"SKU\"\n[fields.name]\ncolumn = \"Name\"\n",
            );
            let explained =
                place.sheetport(["explain", report, "-t", "t.toml", "--row", &row, "--json"]).exits(0).json();
            assert_eq!(explained["request"]["body"]["name"], *name, "{report}");
        }
    }
}

#[test]
fn a_report_is_a_workbook_named_after_its_file() {
    let (place, served) = uploaded();
    fs::remove_file(place.path("prices.report.csv")).unwrap();
    let again = served.sheetport(&place, ["upload", "prices.csv", "-t", "items", "--json"]).exits(3);
    assert_eq!(summary(&again)["report"], name(&place.path("prices.report.xlsx")));
    let again = served.sheetport(&place, ["retry", "prices.report.xlsx", "--json"]).exits(3);
    assert_eq!(summary(&again)["report"], name(&place.path("prices.report-2.xlsx")));
    place.write("my.reporting.csv", "SKU,Name,Price,Currency\n1,Bolt,free,EUR\n");
    served.sheetport(&place, ["upload", "my.reporting.csv", "-t", "items"]).exits(3);
    assert!(place.path("my.reporting.report.xlsx").exists());
    served.sheetport(&place, ["upload", "my.reporting.report.xlsx", "-t", "items"]).exits(3);
    assert!(place.path("my.reporting.report-2.xlsx").exists());
}

/// Several runs in a shared folder end at the same moment.
#[tokio::test(flavor = "multi_thread", worker_threads = 8)]
async fn runs_that_end_together_each_have_a_report_of_their_own() {
    const RUNS: usize = 6;
    let place = Arc::new(Place::new());
    place.write("prices.csv", "SKU,Name,Price,Currency\n0042,Bolt,free,EUR\n43,Nut,1.10,EUR\n");
    // Nobody gets an answer before all have asked.
    let all = Arc::new(Barrier::new(RUNS));
    let server = Server::start(move |seen| {
        if seen.repeat < RUNS {
            tokio::task::block_in_place(|| all.wait());
        }
        Reply::Accept
    })
    .await;
    let asking = |number: usize, args: Vec<String>| {
        let home = place.path(&format!("home-{number}"));
        let command = place.sheetport(args).env("SHEETPORT_HOME", home.to_str().unwrap());
        command.env("SHEETPORT_BASE_URL", &server.address).secret("SHEETPORT_ACCESS_TOKEN", "access-1")
    };
    let upload = ["upload", "prices.csv", "-t", "items", "--no-progress"].map(str::to_owned).to_vec();
    let running: Vec<_> = (0..RUNS).map(|number| asking(number, upload.clone()).start()).collect();
    let ended: Vec<_> = tokio::task::block_in_place(|| running.into_iter().map(|run| run.wait().exits(3)).collect());
    let mut names: Vec<String> = (1..=RUNS)
        .map(|number| if number == 1 { String::new() } else { format!("-{number}") })
        .map(|number| format!("prices.report{number}.xlsx"))
        .collect();
    let mut told = Vec::new();
    for (number, ended) in ended.iter().enumerate() {
        let line = ended.stdout.lines().find(|line| line.trim_start().starts_with("Report ")).unwrap();
        let report = line.trim_start().trim_start_matches("Report").trim().to_owned();
        let (_, name) = report.rsplit_once(['/', '\\']).unwrap_or(("", &report));
        told.push(name.to_owned());
        let next = format!("sheetport continue {name}");
        assert!(ended.stdout.contains(&next), "{next} is not in {}", ended.stdout);
        // It is the report of this run and of no other, and whole.
        let retry = ["retry", &report, "--json"].map(str::to_owned).to_vec();
        let again = tokio::task::block_in_place(|| asking(number, retry).exits(3));
        assert_eq!(accounting(&summary(&again)), "2: unchanged 1, rejected 1");
    }
    told.sort();
    names.sort();
    assert_eq!(told, names);
    let leftovers: Vec<String> = place.names().into_iter().filter(|name| name.ends_with(".part")).collect();
    assert_eq!(leftovers, [""; 0]);
}
