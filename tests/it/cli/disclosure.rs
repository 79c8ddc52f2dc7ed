//! Reports and exports are open to nobody who could not read the spreadsheet or the file before.

#![cfg(unix)]

use std::fs::{Permissions, metadata, set_permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt};

use super::process::Place;
use super::service::Served;

const ROWS: &str = "SKU,Name,Price\nA,Bolt,free\nB,Nut,1.10\n";

fn mode(place: &Place, name: &str) -> u32 {
    metadata(place.path(name)).unwrap().mode() & 0o777
}

/// Returns a mode without what the umask of the tests takes away.
fn usual(place: &Place, mode: u32) -> u32 {
    place.write("new", "");
    mode & metadata(place.path("new")).unwrap().mode()
}

fn set_mode(place: &Place, name: &str, mode: u32) {
    set_permissions(place.path(name), Permissions::from_mode(mode)).unwrap();
}

#[test]
fn a_report_has_no_more_readers_than_the_spreadsheet() {
    let place = Place::new();
    let served = Served::start(&place);
    for (of_sheet, of_report) in [(0o600, 0o600), (0o400, 0o600), (0o640, 0o640), (0o644, 0o644), (0o666, 0o644)] {
        let (sheet, of_report) = (format!("s{of_sheet:o}.csv"), usual(&place, of_report));
        place.write(&sheet, ROWS);
        set_mode(&place, &sheet, of_sheet);
        served.sheetport(&place, ["upload", &sheet, "-t", "items"]).exits(3);
        assert_eq!(mode(&place, &format!("s{of_sheet:o}.report.xlsx")), of_report, "{of_sheet:o}");
        for extension in ["csv", "xlsx", "html"] {
            let (check, later) = (format!("c{of_sheet:o}.{extension}"), format!("l{of_sheet:o}.{extension}"));
            place.sheetport(["check", &sheet, "-t", "items", "--report", &check]).exits(3);
            place.sheetport(["report", "-o", &later]).exits(0);
            assert_eq!([mode(&place, &check), mode(&place, &later)], [of_report; 2], "{of_sheet:o} {extension}");
        }
    }
}

#[test]
fn a_report_remembers_who_could_read_the_spreadsheet() {
    let place = Place::new();
    let served = Served::start(&place);
    place.write("prices.csv", ROWS);
    set_mode(&place, "prices.csv", 0o600);
    served.sheetport(&place, ["upload", "prices.csv", "-t", "items"]).exits(3);
    set_mode(&place, "prices.csv", 0o644);
    place.sheetport(["report", "-o", "opened.csv"]).exits(0);
    std::fs::remove_file(place.path("prices.csv")).unwrap();
    place.sheetport(["report", "-o", "removed.csv"]).exits(0);
    served.sheetport(&place, ["retry", "prices.report.xlsx", "--report", "retried.xlsx"]).exits(3);
    for report in ["opened.csv", "removed.csv", "retried.xlsx"] {
        assert_eq!(mode(&place, report), 0o600, "{report}");
    }
    // Closed after the upload.
    place.write("other.csv", ROWS.replace("A,", "C,"));
    served.sheetport(&place, ["upload", "other.csv", "-t", "items", "--report", "first.csv"]).exits(3);
    set_mode(&place, "other.csv", 0o600);
    place.sheetport(["report", "-o", "closed.csv"]).exits(0);
    assert_eq!([mode(&place, "first.csv"), mode(&place, "closed.csv")], [usual(&place, 0o644), 0o600]);
}

#[test]
fn a_report_of_standard_input_is_for_its_owner_only() {
    let place = Place::new();
    place.sheetport(["check", "-", "-t", "items", "--report", "out.csv"]).fed(ROWS).exits(3);
    assert_eq!(mode(&place, "out.csv"), 0o600);
    let served = Served::start(&place);
    served.sheetport(&place, ["upload", "-", "-t", "items"]).fed(ROWS).exits(3);
    assert_eq!(mode(&place, "stdin.report.xlsx"), 0o600);
}

#[test]
fn an_export_keeps_the_mode_of_the_file_that_it_replaces() {
    let place = Place::new();
    let served = Served::start(&place);
    place.write("prices.csv", ROWS);
    served.sheetport(&place, ["upload", "prices.csv", "-t", "items"]).exits(3);
    let export = |file| served.sheetport(&place, ["export", "items", "-o", file]).exits(0);
    for file in ["items.csv", "items.xlsx"] {
        export(file);
        assert_eq!(mode(&place, file), usual(&place, 0o644), "{file}");
        for kept in [0o600, 0o640, 0o660, 0o644] {
            set_mode(&place, file, kept);
            export(file);
            assert_eq!(mode(&place, file), kept, "{file}");
        }
    }
}
