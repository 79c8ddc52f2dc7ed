//! The report of `demo` can be sent back with the command that the demo prints.

use std::net::TcpListener;

use super::super::process::{Place, Sheetport};
use super::super::{accounting, column, summary, table};
use super::workbooks::{open, save};

const REPORT: &str = "sheetport-demo/price-list.report.xlsx";

/// The command of a printed line. The paths of tests need no quotes.
#[track_caller]
fn printed(place: &Place, line: &str) -> Sheetport {
    let words = line.trim().strip_prefix("sheetport ").unwrap_or_else(|| panic!("{line} is no command"));
    place.sheetport(words.split(' ')).without("SHEETPORT_HOME")
}

/// Returns the accounting and the next command.
#[track_caller]
fn run(command: Sheetport, code: i32) -> (String, String) {
    let said = summary(&command.arg("--json").exits(code));
    (accounting(&said), said["next"].as_str().unwrap_or_default().to_owned())
}

#[test]
fn the_printed_command_sends_the_fixed_rows_again_and_again() {
    let place = Place::new();
    let demo = place.sheetport(["demo"]).exits(0);
    let next =
        demo.stdout.lines().find(|line| line.trim_start().starts_with("sheetport continue ")).unwrap().to_owned();
    let summary_sheet = place.sheetport(["view", REPORT, "--sheet", "Summary", "--json"]).exits(0).stdout;
    assert!(summary_sheet.contains(next.trim()), "the report names the same command: {next}");

    let mut sheet = open(&place, REPORT);
    sheet.replace("auf Anfrage", "54,99");
    save(&place, REPORT, &[("price-list", &sheet)]);
    // From any folder, and with the settings of another service.
    std::fs::create_dir(place.path("elsewhere")).unwrap();
    let elsewhere = |line: &str| {
        let command = printed(&place, line).current_dir(place.path("elsewhere"));
        command.env("SHEETPORT_BASE_URL", "http://127.0.0.1:9").secret("SHEETPORT_ACCESS_TOKEN", "of-another-service")
    };
    let (told, next) = run(elsewhere(&next), 3);
    assert_eq!(told, "642: sent 1, unchanged 628, skipped 2, rejected 10, failed 1");
    // The next report, too, and the service has what was sent.
    let second = "sheetport-demo/price-list.report-2.xlsx";
    let mut sheet = open(&place, second);
    sheet.replace("ab 5,00", "5,00");
    save(&place, second, &[("price-list", &sheet)]);
    let (told, _) = run(elsewhere(&next), 3);
    assert_eq!(told, "642: sent 1, unchanged 629, skipped 2, rejected 9, failed 1");
    let export = ["export", "items", "-o", "items.csv", "-q", "--home", "sheetport-demo/home"];
    place.sheetport(export).without("SHEETPORT_HOME").exits(0);
    let items = table(&place.path("items.csv"));
    assert_eq!(items.len(), 1 + 670);
    let prices = column(&items, "price");
    assert!(prices.contains(&"54.99") && prices.contains(&"5.00"), "{prices:?}");
    assert!(!place.path("home").exists(), "the person's own ledger is left alone");

    // After the demo was run again, the report is of its run, at the same address.
    place.sheetport(["demo"]).exits(0);
    let (told, _) = run(elsewhere(&next.replace("report-2.xlsx", "report.xlsx")), 3);
    assert_eq!(told, "642: unchanged 628, skipped 2, rejected 11, failed 1");
}

#[test]
fn a_taken_port_is_explained_and_another_service_can_be_named() {
    let place = Place::new();
    place.sheetport(["demo", "-q"]).exits(0);
    let named = std::fs::read_to_string(place.path("sheetport-demo/home/embedded-service.toml")).unwrap();
    let port = named.split("port = ").nth(1).unwrap().trim().parse::<u16>().unwrap();
    let _other = TcpListener::bind(("127.0.0.1", port)).unwrap();
    let retry = |more: &[&str]| {
        let words = ["retry", REPORT, "--home", "sheetport-demo/home"];
        place.sheetport(words.into_iter().chain(more.iter().copied())).without("SHEETPORT_HOME")
    };
    let ended = retry(&[]).run();
    assert_ne!(ended.code, Some(0));
    ended.says(&[&format!("can't be started at port {port}"), "end the program that uses this port"]);
    retry(&["--base-url", "http://127.0.0.1:9"]).run().says(&["not for http://127.0.0.1:9"]);
    // What asks no service needs none.
    place.sheetport(["runs", "--home", "sheetport-demo/home"]).without("SHEETPORT_HOME").exits(0);
}
