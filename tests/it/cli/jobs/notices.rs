//! Notices by command, webhook and mail: who is told of what, and that secrets stay secret.

#![cfg(unix)]

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};

use super::super::connect::certificates::Authority;
use super::super::process::{Place, Sheetport};
use super::super::service::Served;
use super::smtp::MailServer;
use super::{INBOX, with_job};
use crate::faults::server::{Reply, Server, answer};

fn run<'a>(place: &Place, served: &Served, more: impl IntoIterator<Item = &'a str>) -> Sheetport {
    served.sheetport(place, ["job", "run", "nightly.toml"]).args(more)
}

#[test]
fn a_notification_command_gets_only_its_events() {
    let tell = |on: &str| format!("[[notify]]\non = {on}\ncommand = [\"sh\", \"-c\", \"cat >> told; env > env\"]\n");
    let place = with_job(&format!("{INBOX}{}", tell("[\"failure\"]")));
    let served = Served::start(&place);
    let told = || {
        let text = fs::read_to_string(place.path("told")).unwrap_or_default();
        let _ = fs::remove_file(place.path("told"));
        (!text.is_empty()).then(|| serde_json::from_str::<Value>(&text).unwrap())
    };
    run(&place, &served, []).exits(0);
    assert_eq!(told(), None, "nothing came is no failure");
    place.write("inbox/bad.csv", "SKU,Price\nB2,free\n");
    let ran = run(&place, &served, ["--json"]).exits(3).json();
    assert_eq!(ran["notices"], json!([{"by": "command", "on": ["failure"], "error": null}]));
    let summary = told().expect("told");
    assert_eq!((&summary["job"], &summary["exit"]), (&json!("nightly"), &json!(3)));
    let environment = fs::read_to_string(place.path("env")).unwrap();
    let report = place.path("failed/bad.report.xlsx");
    assert!(environment.contains(&format!("SHEETPORT_JOB_REPORTS={}\n", report.display())), "{environment}");
    assert!(!environment.contains("SHEETPORT_ACCESS_TOKEN") && !environment.contains("SHEETPORT_REFRESH_TOKEN"));
    // As the environment of this test has no ledger, the variable is absent, too.
    for (on, is_told) in [("[\"nothing\"]", true), ("[\"warnings\", \"success\"]", false)] {
        place.write("nightly.toml", format!("{INBOX}{}", tell(on)));
        run(&place, &served, []).exits(0);
        assert_eq!(told().is_some(), is_told, "{on}");
    }
    place.write("nightly.toml", format!("{INBOX}{}", tell("\"success\"")));
    place.write("inbox/good.csv", "SKU,Price\nB2,1\n");
    run(&place, &served, ["-q"]).exits(0);
    assert!(told().is_some());
    // Nobody would know of the next failure.
    place.write("nightly.toml", format!("{INBOX}[[notify]]\non = \"nothing\"\ncommand = \"no-such-program\"\n"));
    run(&place, &served, ["-q"]).exits(1).shows(&["not told by command: no-such-program can't be started"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_webhook_gets_the_summary_and_the_reports() {
    let hook = Server::with_probes(|seen| match seen.number {
        // Services of others have bad moments.
        0 => answer(503, "", ""),
        _ => answer(200, "", "ok"),
    })
    .await;
    let place = with_job(&format!("{INBOX}[[notify]]\nwebhook_env = \"HOOK\"\n"));
    let served = Served::start(&place);
    place.write("inbox/bad.csv", "SKU,Price\nB2,free\n");
    let address = format!("{}/secret-path", hook.address);
    let command = run(&place, &served, ["--json"]).secret("HOOK", &address);
    tokio::task::spawn_blocking(move || command.exits(3)).await.unwrap();
    let log = hook.log();
    assert_eq!(log.len(), 2);
    assert!(log.iter().all(|seen| seen.path == "/secret-path" && seen.bearer.is_none()), "no token goes there");
    let body: Value = serde_json::from_str(&log[1].body).unwrap();
    assert!(body["text"].as_str().unwrap().starts_with("Sheetport job nightly: some rows need fixing"), "{body}");
    assert_eq!((&body["on"], &body["summary"]["exit"]), (&json!(["failure"]), &json!(3)));
    assert_eq!(body["attachments"][0]["name"], "bad.report.xlsx");
    let report = BASE64_STANDARD.decode(body["attachments"][0]["base64"].as_str().unwrap()).unwrap();
    assert_eq!(report, fs::read(place.path("failed/bad.report.xlsx")).unwrap());

    // A refusal is told without the address.
    let hook = Server::with_probes(|_| Reply::Bytes("HTTP/1.1 404 No\r\ncontent-length: 0\r\n\r\n".to_owned())).await;
    let address = format!("{}/secret-path", hook.address);
    let command = run(&place, &served, ["--json"]).secret("HOOK", &address);
    place.write("inbox/bad.csv", "SKU,Price\nB3,free\n");
    let ran = tokio::task::spawn_blocking(move || command.exits(1)).await.unwrap().json();
    assert!(ran["notices"][0]["error"].as_str().unwrap().contains("404"), "{ran}");
}

fn mail_job(port: u16, more: &str) -> String {
    format!(
        "{INBOX}[[notify]]\n[notify.mail]\nfrom = \"Sheetport <sheetport@shop.example>\"\nto = [\"anna@shop.example\"]\n\
         server = \"127.0.0.1\"\nport = {port}\n{more}\n"
    )
}

#[test]
fn mail_has_the_report_attached() {
    let server = MailServer::start(None);
    let place = with_job(&mail_job(server.port, "security = \"none\""));
    let served = Served::start(&place);
    place.write("inbox/Preise März.csv", "SKU,Price\nB2,free\n");
    run(&place, &served, ["-q"]).exits(3);
    let [letter] = server.letters().try_into().expect("one letter");
    assert!(letter.commands.contains(&"RCPT TO:<anna@shop.example>".to_owned()), "{letter:?}");
    for words in [
        "Subject: Sheetport job nightly: some rows need fixing or were refused",
        "Auto-Submitted: auto-generated",
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        "1 rejected",
    ] {
        assert!(letter.text.contains(words), "{words} is not in {}", letter.text);
    }
    let report = fs::read(place.path("failed/Preise März.report.xlsx")).unwrap();
    let attached: String = letter.text.split_whitespace().collect();
    assert!(attached.contains(&BASE64_STANDARD.encode(report)), "{}", letter.text);
}

#[test]
fn mail_is_encrypted_and_the_password_comes_from_a_private_file() {
    let ca = Authority::new("Test CA");
    let server = MailServer::start(Some(&ca.server(&["127.0.0.1"])));
    let log_in = "user = \"anna\"\npassword_file = \"mail.password\"";
    let place = with_job(&mail_job(server.port, &format!("{log_in}\nca_file = \"ca.pem\"")));
    place.write("ca.pem", ca.pem());
    let served = Served::start(&place);
    let path = place.write("mail.password", "geheim\n");
    let bad = || place.write("inbox/bad.csv", "SKU,Price\nB2,free\n");
    bad();
    fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
    run(&place, &served, []).exits(1).shows(&["not told by mail", "644"]);
    assert_eq!(server.letters().len(), 0);
    fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
    bad();
    run(&place, &served, []).exits(3).shows(&["told by mail"]);
    let [letter] = server.letters().try_into().expect("one letter");
    let login = format!("AUTH PLAIN {}", BASE64_STANDARD.encode("\0anna\0geheim"));
    let before: Vec<&String> = letter.commands.iter().take_while(|line| *line != "STARTTLS").collect();
    assert!(before.iter().all(|line| line.starts_with("EHLO")), "{letter:?}");
    assert!(letter.commands.contains(&login), "{letter:?}");
    // A server that nobody vouches for gets no password.
    place.write("nightly.toml", mail_job(server.port, log_in));
    bad();
    run(&place, &served, []).exits(1).shows(&["not told by mail"]);
    assert_eq!(server.letters().len(), 1);
}

#[test]
fn a_refresh_token_that_ends_soon_is_a_warning() {
    let place = with_job(INBOX);
    let served = Served::start(&place);
    let warnings = |days: &str| {
        let words = ["serve", "token", "--data", "service", "--workspace", "shop", "--json", "--refresh-days", days];
        let tokens = place.sheetport(words).exits(0).json();
        let token = |name: &str| tokens[name].as_str().unwrap().to_owned();
        let command =
            place.sheetport(["job", "run", "nightly.toml", "--json"]).env("SHEETPORT_BASE_URL", &served.url());
        let command = command.secret("SHEETPORT_ACCESS_TOKEN", &token("access"));
        command.secret("SHEETPORT_REFRESH_TOKEN", &token("refresh")).exits(0).json()["warnings"].clone()
    };
    assert_eq!(warnings("30"), json!([]));
    let soon = warnings("6");
    assert!(soon[0].as_str().unwrap().starts_with("the refresh token ends on 20"), "{soon}");
}
