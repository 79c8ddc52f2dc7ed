//! `report --only`: the rows of one state, in each format.

use std::fs;

use serde_json::Value;

use super::process::Place;
use super::{accounting, column, count, summary, table};
use crate::faults::server::{Reply, Seen, Server, answer};

const TEMPLATE: &str = "\
record = \"subscription\"
[sheet]
skip_where = { column = \"Id\", matches = \"^left out\" }
[group]
by = \"Id\"
[fields.cid]
column = \"Id\"
[lines.id]
column = \"Item\"
[lines.amount]
column = \"Amount\"
";
const SHEET: &str =
    "Id,Item,Amount\nmade,i,1\nleft out,i,1\nwrong,i,many\nlate,i,1\nlate,j,2\nlost,i,1\nbad,i,1\nlast,i,1\n";
/// Which rows are in which state when the report of [`SHEET`] was handed back.
const STATES: [(&str, &[&str]); 9] = [
    ("sent", &["late", "late"]),
    ("unchanged", &["made"]),
    ("skipped", &["left out"]),
    ("rejected", &["wrong"]),
    ("failed", &["bad"]),
    ("unknown", &["lost"]),
    ("pending", &["last"]),
    ("problems", &["wrong", "lost", "bad", "last"]),
    ("all", &["made", "left out", "wrong", "late", "late", "lost", "bad", "last"]),
];

/// Refuses all but one at first, and then takes one, breaks off, and refuses one again.
fn reply(seen: &Seen) -> Reply {
    let body: Value = serde_json::from_str(&seen.body).unwrap();
    match (body["cid"].as_str().unwrap(), seen.repeat) {
        ("made", _) | ("late", 1) => Reply::Accept,
        ("lost", 1) => Reply::Reset,
        _ => answer(422, "", r#"{"message": "not now"}"#),
    }
}

/// The ids and states that a report has.
fn rows(place: &Place, file: &str) -> Vec<(String, String)> {
    let cells = |rows: Vec<Vec<String>>| {
        let of = |name| column(&rows, name).into_iter().map(str::to_owned).collect::<Vec<_>>();
        of("Id").into_iter().zip(of("sheetport_status")).collect()
    };
    match file.rsplit_once('.').unwrap().1 {
        "csv" => cells(table(&place.path(file))),
        "xlsx" => {
            let seen = place.sheetport(["view", file, "--json", "--all-sheets"]).exits(0).json();
            let sheet = &seen["sheets"][1];
            let text = |cell: &Value| cell.as_str().map_or_else(String::new, str::to_owned);
            let row = |row: &Value| row.as_array().unwrap().iter().map(text).collect();
            cells(sheet["rows"].as_array().unwrap().iter().map(row).collect())
        }
        _ => {
            let html = fs::read_to_string(place.path(file)).unwrap();
            let json = html.split_once("id=\"data\">").unwrap().1.split_once("</script>").unwrap().0;
            let rows = serde_json::from_str::<Value>(json).unwrap()["rows"].clone();
            let of =
                |row: &Value| [&row["cells"][0], &row["state"]].map(|text| text.as_str().unwrap().to_owned()).into();
            rows.as_array().unwrap().iter().map(of).collect()
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn only_reports_the_rows_of_one_state_in_each_format() {
    let place = Place::new();
    place.write("t.toml", TEMPLATE);
    place.write("sheet.csv", SHEET);
    let server = Server::start(reply).await;
    let run = |args: &[&str], code| {
        let command = place.sheetport(args).env("SHEETPORT_BASE_URL", &server.address);
        let command = command.secret("SHEETPORT_ACCESS_TOKEN", "access-1");
        tokio::task::block_in_place(|| command.exits(code))
    };
    let first = run(&["upload", "sheet.csv", "-t", "t.toml", "--json"], 3);
    assert_eq!(accounting(&summary(&first)), "7: sent 1, skipped 1, rejected 1, failed 4");
    let again = ["retry", "sheet.report.xlsx", "--json", "--concurrency", "1", "--max-errors", "1"];
    let second = summary(&run(&again, 9));
    let each = "7: sent 1, unchanged 1, skipped 1, rejected 1, failed 1, unknown 1, pending 1";
    assert_eq!(accounting(&second), each);
    for (state, ids) in STATES {
        for extension in ["csv", "xlsx", "html"] {
            let file = format!("{state}.{extension}");
            let args = ["report", "2", "-o", &file, "--only", state];
            let said = place.sheetport(args).exits(0);
            let in_words = if ids.len() == 1 { "1 row".to_owned() } else { format!("{} rows", ids.len()) };
            assert_eq!(said.stdout, format!("Wrote {in_words} of run 2 to {file}\n  Next    sheetport continue 2\n"));
            let found = rows(&place, &file);
            let found_ids: Vec<&str> = found.iter().map(|(id, _)| id.as_str()).collect();
            assert_eq!(found_ids, ids, "{file}");
            let is_state = |found: &str| match state {
                "all" => true,
                "problems" => ["rejected", "failed", "unknown", "pending"].contains(&found),
                state => found == state,
            };
            assert!(found.iter().all(|(_, found)| is_state(found)), "{file}: {found:?}");
            let as_json = format!("again-{file}");
            let told = place.sheetport(["report", "2", "-o", &as_json, "--only", state, "--json"]).exits(0).json();
            assert_eq!((count(&told, "rows"), count(&told, "left_out")), (ids.len() as u64, 0), "{file}");
        }
    }
}

#[test]
fn report_of_an_empty_state_has_no_rows() {
    let place = Place::new();
    place.write("sheet.csv", "Id\n1\n");
    place.write("t.toml", "record = \"item\"\n[fields.externalId]\ncolumn = \"Id\"\n");
    let served = super::service::Served::start(&place);
    served.sheetport(&place, ["upload", "sheet.csv", "-t", "t.toml", "-q"]).exits(0);
    for extension in ["csv", "xlsx", "html"] {
        let file = format!("failed.{extension}");
        let said = place.sheetport(["report", "-o", &file, "--only", "failed"]).exits(0);
        assert_eq!(said.stdout, format!("Wrote 0 rows of run 1 to {file}\n"));
        assert_eq!(rows(&place, &file), []);
    }
}
