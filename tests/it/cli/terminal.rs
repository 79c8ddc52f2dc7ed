//! Text of others does nothing on a terminal: names of files and columns, cells, templates, claims of tokens, and answers
//! of the service.

use std::num::NonZero;

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use serde_json::json;

use super::process::{Ended, Place};
use crate::faults::server::{Reply, Server, answer};
use crate::hostile;

/// Sequences of our own styles.
const OWN: [&str; 8] = ["0", "1", "2", "31", "32", "33", "1;31", "1;36"];

/// What a terminal did besides showing text.
#[derive(Debug, Default, PartialEq)]
struct Acts(Vec<String>);

impl vt100::Callbacks for Acts {
    fn audible_bell(&mut self, _: &mut vt100::Screen) {
        self.0.push("bell".to_owned());
    }

    fn visual_bell(&mut self, _: &mut vt100::Screen) {
        self.0.push("flash".to_owned());
    }

    fn resize(&mut self, _: &mut vt100::Screen, size: (u16, u16)) {
        self.0.push(format!("resize {size:?}"));
    }

    fn set_window_icon_name(&mut self, _: &mut vt100::Screen, name: &[u8]) {
        self.0.push(format!("icon {name:?}"));
    }

    fn set_window_title(&mut self, _: &mut vt100::Screen, title: &[u8]) {
        self.0.push(format!("title {title:?}"));
    }

    fn copy_to_clipboard(&mut self, _: &mut vt100::Screen, _: &[u8], text: &[u8]) {
        self.0.push(format!("clipboard {text:?}"));
    }

    fn paste_from_clipboard(&mut self, _: &mut vt100::Screen, _: &[u8]) {
        self.0.push("paste".to_owned());
    }

    fn unhandled_char(&mut self, _: &mut vt100::Screen, c: char) {
        self.0.push(format!("char {c:?}"));
    }

    fn unhandled_control(&mut self, _: &mut vt100::Screen, byte: u8) {
        self.0.push(format!("control {byte}"));
    }

    fn unhandled_escape(&mut self, _: &mut vt100::Screen, _: Option<u8>, _: Option<u8>, byte: u8) {
        self.0.push(format!("escape {byte}"));
    }

    fn unhandled_csi(&mut self, _: &mut vt100::Screen, _: Option<u8>, _: Option<u8>, _: &[&[u16]], c: char) {
        self.0.push(format!("sequence {c}"));
    }

    fn unhandled_osc(&mut self, _: &mut vt100::Screen, _: &[&[u8]]) {
        self.0.push("command".to_owned());
    }
}

/// Asserts that a terminal only shows the output, with our own styles, and that no line is somebody else's.
#[track_caller]
fn check(ended: &Ended) {
    for output in [&ended.stdout, &ended.stderr] {
        let [rows, columns] = [200, 400].map(|size| NonZero::new(size).unwrap());
        let mut terminal = vt100::Parser::new_with_callbacks(rows, columns, 0, Acts::default());
        terminal.process(output.replace('\n', "\r\n").as_bytes());
        assert_eq!(*terminal.callbacks(), Acts::default(), "{output:?}");
        let mut parts = output.split("\x1b[");
        let mut text = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let (code, rest) = part.split_once('m').unwrap_or_default();
            assert!(OWN.contains(&code), "{code:?} in {output:?}");
            text.push_str(rest);
        }
        let acting = |c: &char| {
            let hides =
                matches!(c, '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}');
            hides || c.is_control() && *c != '\n'
        };
        assert_eq!(text.chars().find(acting), None, "{output:?}");
        assert!(!text.lines().any(|line| line.starts_with("Next    sheetport logout")), "{output}");
    }
}

fn csv(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "\"\""))
}

#[test]
fn cells_headers_and_names_of_files_are_shown() {
    for hostile in &hostile::of_terminals() {
        let place = Place::new();
        let file = format!("s{}.csv", hostile.replace('/', "_"));
        let cell = csv(hostile);
        let sheet = format!("SKU,Name,Price,{cell}\nA-1,{cell},{cell}\n{cell},Nut,2.00,{cell}\nA-3,Pin,3.00\n");
        place.write(&file, sheet);
        place.write("t.toml", format!("record = \"item\"\n[fields.externalId]\ncolumn = {}\n", json!(hostile)));
        for args in [
            &["check", &file, "-t", "items"][..],
            &["check", &file, "-t", "items", "--online"],
            &["check", &file],
            &["check", &file, "-t", "orders"],
            &["check", &file, "-t", "t.toml"],
            &["check", &file, "-t", &format!("{hostile}.toml")],
            &["check", &format!("no{file}"), "-t", "items"],
            &["check", &file, "-t", "items", "--sheet", hostile],
            &["check", &file, "-t", "items", "--set", hostile],
            &["explain", &file, "-t", "items", "--row", "2"],
            &["explain", &file, "-t", "items", "--row", "4"],
            &["view", &file],
            &["template", "infer", &file, "--record", "item", "-o", "out.toml"],
            &["upload", &file, "-t", "items", "--dry-run"],
            &["upload", &file, "-t", "items", "--base-url", hostile],
            &["report", hostile],
            &["export", hostile],
            &[hostile],
        ] {
            check(&place.sheetport(args).args(["--color", "always"]).run());
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_and_claims_are_shown() {
    for hostile in hostile::of_terminals() {
        let place = Place::new();
        place.write("s.csv", "SKU,Name,Price\nA-1,Bolt,1.00\nA-2,Nut,2.00\n");
        let list = json!({"data": [{"id": hostile, hostile.as_str(): hostile}], "total": 1, "page": 1}).to_string();
        let claims =
            json!({"workspace": hostile, "workspace_id": hostile, "access_level": hostile, "exp": 4_000_000_000_u64});
        let server = Server::start(move |seen| match (seen.path.contains("?page"), seen.key() == "A-1") {
            (true, _) => answer(200, "", &list),
            (false, true) => {
                let errors =
                    json!({"ok": false, "errors": [{"field": hostile, "message": hostile}], "message": hostile});
                answer(422, "", &errors.to_string())
            }
            (false, false) => Reply::Bytes(format!(
                "HTTP/1.1 403 {}\r\ncontent-length: 0\r\n\r\n",
                hostile.replace(['\r', '\n'], " ")
            )),
        })
        .await;
        let part = |value: &serde_json::Value| BASE64_URL_SAFE_NO_PAD.encode(value.to_string());
        let token = format!("{}.{}.c2ln", part(&json!({"alg": "HS256"})), part(&claims));
        for args in [
            &["upload", "s.csv", "-t", "items", "--yes"][..],
            &["runs"],
            &["runs", "1"],
            &["report", "1", "-o", "r.csv"],
            &["resume", "1", "-v"],
            &["export", "items", "-o", "items.csv"],
            &["whoami"],
        ] {
            let ended = {
                let command =
                    place.sheetport(args).args(["--color", "always"]).env("SHEETPORT_BASE_URL", &server.address);
                let command = command.env("SHEETPORT_ACCESS_TOKEN", &token).env("SHEETPORT_REFRESH_TOKEN", "refresh");
                tokio::task::spawn_blocking(move || command.run()).await.unwrap()
            };
            check(&ended);
        }
        // Programs without a guard of their own, such as a pager, show the report as well.
        let report = std::fs::read_to_string(place.path("r.csv")).unwrap();
        let report = report.trim_start_matches('\u{feff}').replace("\r\n", "\n");
        assert_eq!(report.lines().count(), 3, "{report:?}");
        check(&Ended { stdout: report, ..Ended::default() });
    }
}

/// Runs a command of the shell on a terminal, and returns what the terminal gets.
#[cfg(target_os = "linux")]
fn on_terminal(place: &Place, command: &str) -> super::process::Sheetport {
    let program = env!("CARGO_BIN_EXE_sheetport");
    place.command("script", ["-qec", &format!("'{program}' {command} 2>/dev/null"), "/dev/null"]).env("COLUMNS", "400")
}

#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread")]
async fn records_on_a_terminal_are_shown() {
    let place = Place::new();
    let record = |(id, hostile): (usize, &String)| json!({"id": id.to_string(), "name": hostile, "sku": hostile});
    let texts = hostile::texts();
    let hostile = || texts.iter();
    let records: Vec<_> = hostile().enumerate().map(record).collect();
    let list = json!({"data": records, "total": records.len(), "page": 1}).to_string();
    let server = Server::start(move |_| answer(200, "", &list)).await;
    let cells: String = hostile().map(|hostile| format!("A,{}\n", csv(hostile))).collect();
    // With few controls in much text, as a file of many controls is refused.
    place.write("s.csv", format!("SKU,Name\n{}{cells}", "B-1,Bolt with a hexagonal head\n".repeat(1_000)));
    for args in [
        "export items -o -",
        "export items -o - --format tsv",
        "export items -o - --format ndjson",
        "view s.csv --csv",
        "view s.csv --json",
    ] {
        let command = on_terminal(&place, args).env("SHEETPORT_BASE_URL", &server.address);
        let command = command.env("SHEETPORT_ACCESS_TOKEN", "access").env("SHEETPORT_REFRESH_TOKEN", "refresh");
        let mut ended = tokio::task::spawn_blocking(move || command.run()).await.unwrap();
        ended.stdout = ended.stdout.replace("\r\n", "\n").replace('\t', " ");
        assert!(ended.stdout.contains("title"), "{args}: {}", ended.stdout);
        check(&ended);
    }
}
