//! Reports for a supplier: they say what is wrong with the rows, nothing of lookup tables, paths, template, service and workspace,
//! and can be handed back.

use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

use super::process::Place;
use super::service::Served;
use super::{accounting, column, summary, table};

const TEMPLATE: &str = "\
record = \"item\"
[fields.externalId]
column = \"SKU\"
[fields.name]
column = \"Name\"
[fields.price]
text = \"{{ Price * 13.7531 }}\"
maximum = 1000
[fields.currency]
column = \"Cur\"
lookup = { file = \"tables/internal.csv\", from = \"Word\", to = \"Code\" }
[fields.status]
column = \"State\"
lookup = { file = \"tables/states.csv\", from = \"Word\", to = \"Code\" }
allowed = [\"active\", \"refused by the service because it is far too long for it\"]
";
/// Rows with each kind of problem, one that the service refuses, and good ones.
const ROWS: &str = "\
SKU,Name,Price,Cur,State
A,Bolt,1.10,Eurro,ok
B,Nut,2.20,Euro,ok
C,Screw,999.99,Euro,ok
D,Pin,4.40,Euro,old
E,Cap,free,Euro,ok
F,Rod,5.50,Euro,long
";
/// Texts that are in nothing that the supplier sent.
const INTERNAL: [&str; 11] = [
    "Euroland",
    "Pinkland",
    "OBSOLETE-17",
    "internal.csv",
    "states.csv",
    "13.7531",
    "13752.962469",
    "our-margin",
    "secret-folder",
    "sheetport retry",
    "sheetport continue",
];

fn place() -> (Place, Served) {
    let place = Place::new();
    let served = Served::start(&place);
    fs::create_dir_all(place.path("secret-folder/tables")).unwrap();
    place.write("secret-folder/our-margin.toml", TEMPLATE);
    place.write("secret-folder/tables/internal.csv", "Word,Code\nEuro,EUR\nEuroland,EUR\nPinkland,PNK\n");
    let states =
        "Word,Code\nok,active\nold,OBSOLETE-17\nlong,refused by the service because it is far too long for it\n";
    place.write("secret-folder/tables/states.csv", states);
    place.write("secret-folder/prices.csv", ROWS);
    (place, served)
}

/// Returns all text of a report: of a workbook, of all of its parts and their names.
fn text(path: &Path) -> String {
    if path.extension().is_none_or(|extension| extension != "xlsx") {
        return fs::read_to_string(path).unwrap();
    }
    let mut archive = zip::ZipArchive::new(File::open(path).unwrap()).unwrap();
    let mut all = String::new();
    for index in 0..archive.len() {
        let mut part = archive.by_index(index).unwrap();
        all.push_str(&part.name().unwrap());
        part.read_to_string(&mut all).unwrap();
    }
    all
}

/// Returns the internal texts that a report has.
fn found<'a>(path: &Path, internal: &[&'a str]) -> Vec<&'a str> {
    let text = text(path);
    internal.iter().filter(|internal| text.contains(**internal)).copied().collect()
}

#[test]
fn a_report_for_a_supplier_says_nothing_of_tables_paths_service_and_workspace() {
    let (place, served) = place();
    let (file, template) = ("secret-folder/prices.csv", "secret-folder/our-margin.toml");
    let (host, folder) = (served.url(), place.path("").display().to_string());
    let host = host.strip_prefix("http://").unwrap();
    let ids: Vec<String> = {
        served.sheetport(&place, ["upload", file, "-t", template, "--report", "own.xlsx"]).exits(3);
        place.sheetport(["report", "-o", "own.csv"]).exits(0);
        let report = table(&place.path("own.csv"));
        ["sheetport_service_id", "sheetport_ctx_id"]
            .iter()
            .flat_map(|name| column(&report, name).into_iter().filter(|id| !id.is_empty()).map(str::to_owned))
            .collect()
    };
    assert!(ids.len() > 2, "{ids:?}");
    let mut internal = INTERNAL.to_vec();
    internal.extend([host, folder.as_str(), "shop"]);
    internal.extend(ids.iter().map(String::as_str));
    let own = found(&place.path("own.xlsx"), &internal);
    for known in
        ["Euroland", "Pinkland", "13752.962469", "OBSOLETE-17", "our-margin", "sheetport continue", host, "shop"]
    {
        assert!(own.contains(&known), "the report of the same run has {known}: {own:?}");
    }

    let names = |extension: &str| ["check", "later", "upload", "retry"].map(|name| format!("{name}.{extension}"));
    for extension in ["xlsx", "csv", "html"] {
        let [check, later, upload, retry] = names(extension);
        place.sheetport(["check", file, "-t", template, "--report", &check, "--for-supplier"]).exits(3);
        place.sheetport(["report", "1", "-o", &later, "--only", "all", "--for-supplier"]).exits(0);
        let args = ["upload", file, "-t", template, "--report", &upload, "--for-supplier"];
        served.sheetport(&place, args).exits(3);
        served.sheetport(&place, ["retry", "own.xlsx", "--report", &retry, "--for-supplier"]).exits(3);
        for report in [&check, &later, &upload, &retry] {
            assert_eq!(found(&place.path(report), &internal), [""; 0], "{report}");
            let text = text(&place.path(report));
            for words in
                ["is not a known value", "can't be calculated with", "is more than 1000", "ask whoever sent you"]
            {
                assert!(text.contains(words), "{report} lacks '{words}'");
            }
        }
        // Another report of the run is as the run was asked for.
        let again = format!("again.{extension}");
        place.sheetport(["report", "-o", &again, "--only", "all"]).exits(0);
        assert_eq!(found(&place.path(&again), &internal), [""; 0], "{again}");
    }
    assert!(text(&place.path("later.xlsx")).contains("send it back"));
    let refused = column(&table(&place.path("later.csv")), "sheetport_errors").join("\n");
    assert!(refused.contains("State must not be longer than 50 characters"), "{refused}");
}

#[test]
fn a_corrected_report_of_a_supplier_can_be_retried_or_uploaded() {
    for is_retry in [true, false] {
        let (place, served) = place();
        let template = "secret-folder/our-margin.toml";
        let report = ["--report", "for supplier.csv", "--for-supplier", "--json"];
        let args = ["upload", "secret-folder/prices.csv", "-t", template].into_iter().chain(report);
        let first = summary(&served.sheetport(&place, args).exits(3));
        assert_eq!(accounting(&first), "6: sent 1, rejected 4, failed 1");
        let rows = table(&place.path("for supplier.csv"));
        let mut corrected = csv::Writer::from_path(place.path("corrected.csv")).unwrap();
        for row in &rows {
            let fixed = row.iter().map(|cell| match cell.as_str() {
                "Eurro" => "Euro",
                "999.99" => "9.99",
                "old" | "long" => "ok",
                "free" => "7.70",
                cell => cell,
            });
            corrected.write_record(fixed).unwrap();
        }
        corrected.flush().unwrap();
        let again = match is_retry {
            true => served.sheetport(&place, ["retry", "corrected.csv", "--json"]).exits(0),
            false => served.sheetport(&place, ["upload", "corrected.csv", "-t", template, "--json"]).exits(0),
        };
        let sent = accounting(&summary(&again));
        let expected = ["6: sent 5, unchanged 1", "6: sent 6"];
        assert!(expected.contains(&sent.as_str()), "{is_retry}: {sent}");
        assert_eq!(served.total(), 6);
    }
}
