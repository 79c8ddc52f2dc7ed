//! The first hour of a new user, from README alone: a clean home, a price list that no built-in template fits, and every
//! message on the way to the first corrected row. `INSTA_UPDATE=always` accepts changed messages; read them first.

use std::fs;

use regex::Regex;

use super::process::{Ended, Place};
use super::table;
use crate::docs::edit_workbook;

const HOME: &str = "sheetport-demo/home";

/// Returns both outputs with what differs between machines and runs replaced.
fn messages(ended: &Ended) -> String {
    let text =
        format!("exit code {}\n--- stdout\n{}--- stderr\n{}", ended.code.unwrap_or(-1), ended.stdout, ended.stderr);
    let varying = [
        (r"/[^ ]*/(sheetport-demo|samples)/", "FOLDER/$1/"),
        // The rate is shown only after some time, and each state of progress on a line only if it is slow.
        (r"(?m)^(reading|checking|sending) .*\n", ""),
        (r", \d[\d,.]*/s\b", ""),
        (r"\d+(\.\d+)? s\b", "N s"),
    ];
    varying
        .iter()
        .fold(text, |text, (pattern, name)| Regex::new(pattern).unwrap().replace_all(&text, *name).into_owned())
}

#[test]
fn six_commands_lead_to_a_corrected_row() {
    let place = Place::new();
    let samples = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("samples");
    fs::create_dir(place.path("samples")).unwrap();
    fs::copy(samples.join("tool-prices.csv"), place.path("samples/tool-prices.csv")).unwrap();
    let sheet = "samples/tool-prices.csv";
    let mut commands = 0;
    let mut run = |name: &str, args: &[&str], code: i32| {
        commands += 1;
        let command =
            place.sheetport(args).without("SHEETPORT_HOME").env("HOME", place.path("clean").to_str().unwrap());
        insta::assert_snapshot!(name, messages(&command.exits(code)));
    };
    run("1-demo", &["demo"], 0);
    run("2-infer", &["template", "infer", sheet, "--record", "item", "-o", "tool-prices.toml"], 0);
    // The person reads the guesses, corrects one, and confirms all.
    let template = fs::read_to_string(place.path("tool-prices.toml")).unwrap();
    assert!(template.contains("column = \"Barcode\""), "{template}");
    let template = template.replace("column = \"Barcode\"", "column = \"Ordering code\"");
    place.write("tool-prices.toml", template.replace("guess = true  # delete this line if it is right\n", ""));
    run("3-check", &["check", sheet, "-t", "tool-prices.toml"], 3);
    run("4-upload", &["upload", sheet, "-t", "tool-prices.toml", "--home", HOME], 3);
    let report = place.path("samples/tool-prices.report.xlsx");
    for (wrong, right) in [("on request", "39.95"), ("2O.95", "20.95")] {
        assert!(edit_workbook(&report, wrong, right), "{wrong}");
    }
    run("5-retry", &["retry", "samples/tool-prices.report.xlsx", "--home", HOME], 3);
    assert!(commands < 6);
    place.sheetport(["export", "items", "-o", "sent.csv", "--home", HOME, "-q"]).exits(0);
    let sent = table(&place.path("sent.csv"));
    for (id, price) in [("004201", "39.95"), ("004401", "20.95")] {
        assert!(
            sent.iter().any(|row| row.iter().any(|cell| cell == id) && row.iter().any(|cell| cell == price)),
            "{id}"
        );
    }
}

#[test]
fn a_file_is_enough_to_open_its_page() {
    let place = Place::new();
    place.write("prices.csv", "SKU,Name,Price\nA-1,Bolt,1.50\n");
    let shown = place.sheetport(["prices.csv", "--no-open", "--json"]).env("DISPLAY", ":0").start();
    assert!(shown.line().contains("\"listening\":\"http://127.0.0.1:"));
    drop(shown);
    let without = ["DISPLAY", "WAYLAND_DISPLAY", "WSL_DISTRO_NAME"];
    let command = without.iter().fold(place.sheetport(["prices.csv"]), |command, name| command.without(name));
    if cfg!(not(target_os = "macos")) {
        command.exits(2).says(&["'prices.csv' is a file, and there is no display", "sheetport check prices.csv"]);
    }
    let wrong = ["check", "prcies.csv", "-t", "items"];
    place.sheetport(wrong).exits(7).says(&["prcies.csv can't be opened", "did you mean prices.csv?"]);
    place.sheetport(["check", "orders.csv", "-t", "items"]).exits(7).says(&["check the name and your permission"]);
}
