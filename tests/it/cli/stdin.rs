//! `-`: spreadsheets on standard input.

use std::fs;

use super::process::{Place, name};
use super::service::{Served, tokens};
use super::{accounting, column, items, sample, summary, table};

const WRONG: &str = "SKU,Name,Price\n0042,Bolt,free\n43,Nut,1.10\n";

#[test]
fn piped_csv_is_uploaded_with_its_report_in_the_current_folder() {
    let place = Place::new();
    let served = Served::start(&place);
    let upload = || served.sheetport(&place, ["upload", "-", "-t", "items", "--json"]).fed(WRONG);
    let first = summary(&upload().exits(3));
    assert_eq!(accounting(&first), "2: sent 1, rejected 1");
    assert_eq!(first["file"], "standard input");
    assert_eq!(first["report"], name(&place.path("stdin.report.xlsx")));
    assert_eq!(first["next"].as_str().unwrap().split_whitespace().next(), Some("sheetport"));
    assert_eq!(summary(&upload().exits(3))["report"], name(&place.path("stdin.report-2.xlsx")));
    assert_eq!(place.names(), ["home", "service", "stdin.report-2.xlsx", "stdin.report.xlsx"]);
    upload().csv_report("report.csv").exits(3);
    let report = table(&place.path("report.csv"));
    assert_eq!(column(&report, "SKU"), ["0042", "43"]);
    assert_eq!(column(&report, "sheetport_status"), ["rejected", "sent"]);

    place.sheetport(["runs"]).exits(0).shows(&["standard input"]);
    served.sheetport(&place, ["report", "1", "-o", "again.xlsx"]).exits(0);
    served.sheetport(&place, ["resume", "1"]).exits(3).says(&["run 1 was finished before"]);
    let mended = fs::read_to_string(place.path("report.csv")).unwrap().replace(",free,", ",2.50,");
    let again = served.sheetport(&place, ["upload", "-", "-t", "items", "--json"]).fed(mended).exits(0);
    assert_eq!(accounting(&summary(&again)), "2: sent 2");
}

#[test]
fn piped_workbook_is_uploaded() {
    let place = Place::new();
    let workbook = fs::read(sample("items.xlsx")).unwrap();
    let check = place.sheetport(["check", "-", "-t", "items", "--json"]).fed(&workbook).exits(0);
    let summary = summary(&check);
    assert_eq!(accounting(&summary), "25: pending 25");
    assert_eq!(summary["next"], "sheetport upload - -t items");
    let dry = place.sheetport(["upload", "-", "-t", "items", "--dry-run"]).fed(&workbook).exits(0);
    dry.shows(&["standard input  XLSX, 1 sheet, sheet 'Items'"]);
}

#[test]
fn run_of_piped_input_can_be_resumed() {
    let place = Place::new();
    let full = tokens(&place, "full");
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    socket.set_reuseaddr(true).unwrap();
    socket.bind((std::net::Ipv4Addr::LOCALHOST, 0).into()).unwrap();
    let port = socket.local_addr().unwrap().port();
    let upload = place
        .sheetport(["upload", "-", "-t", "items"])
        .env("SHEETPORT_BASE_URL", &format!("http://127.0.0.1:{port}"))
        .secret("SHEETPORT_ACCESS_TOKEN", &full.access);
    upload.fed(items(3) + "00004,Nut,free,EUR\n").exits(9);
    drop(socket);
    let served = Served::start_on(&place, port);
    let resumed = summary(&served.sheetport(&place, ["resume", "--json"]).exits(3));
    assert_eq!(accounting(&resumed), "4: sent 3, rejected 1");
    assert_eq!(
        (&resumed["file"], &resumed["report"]),
        (&"standard input".into(), &name(&place.path("stdin.report.xlsx")).into())
    );
}

#[test]
fn messages_name_standard_input() {
    let place = Place::new();
    let broken = items(900).replace("00700,Item 700,", "00700,\"Item 700,");
    for (content, words) in [
        ("", "standard input is empty"),
        ("%PDF-1.7\n", "standard input is not a spreadsheet: a PDF document"),
        (&broken, "standard input can't be read at row 701"),
        ("a;b\n1;2\n", "standard input does not have the columns"),
        ("SKU;Name\n", "standard input has a header in row 1 and no rows below it"),
    ] {
        for command in [&["check", "-", "-t", "items"][..], &["upload", "-", "-t", "items", "--dry-run"]] {
            let ended = place.sheetport(command).fed(content).run();
            assert!([2, 7].contains(&ended.code.unwrap()), "{ended:?}");
            ended.says(&[words]);
        }
    }
    place.sheetport(["view", "-", "--csv"]).fed(&broken).exits(7).says(&["standard input can't be read at row 701"]);
    let sheet = place.sheetport(["view", "-", "--sheet", "2"]).fed("a,b\n1,2\n").exits(2);
    sheet.says(&["standard input has no sheet '2'", "it has: stdin"]);
}

#[cfg(target_os = "linux")]
#[test]
fn nothing_is_left_of_standard_input_after_a_kill() {
    use std::io::Write as _;
    use std::os::unix::fs::PermissionsExt as _;
    use std::process::{Command, Stdio};
    use std::time::{Duration, Instant};

    for signal in ["KILL", "TERM", "INT"] {
        let place = Place::new();
        let folder = place.path("temporary");
        fs::create_dir(&folder).unwrap();
        let mut child = Command::new(env!("CARGO_BIN_EXE_sheetport"))
            .env("SHEETPORT_LANG", "en")
            .args(["check", "-", "-t", "items", "--home", name(&place.path("home"))])
            .env("TMPDIR", &folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(items(5000).as_bytes()).unwrap();
        // The copy is open, without a name in the folder.
        let is_copy = |path: &std::path::PathBuf| {
            fs::read_link(path).is_ok_and(|target| target.starts_with(&folder))
                && fs::metadata(path).is_ok_and(|of| of.len() > 0)
        };
        let until = Instant::now() + Duration::from_secs(20);
        let copy = loop {
            let open = fs::read_dir(format!("/proc/{}/fd", child.id())).unwrap().flatten().map(|entry| entry.path());
            if let Some(copy) = open.into_iter().find(is_copy) {
                break copy;
            }
            assert!(Instant::now() < until, "no copy was written");
            std::thread::sleep(Duration::from_millis(10));
        };
        assert_eq!(fs::metadata(&copy).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
        let killed = Command::new("kill").args(["-s", signal, &child.id().to_string()]).status().unwrap();
        assert!(killed.success());
        drop(stdin);
        child.wait().unwrap();
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 0, "{signal}");
    }
}
