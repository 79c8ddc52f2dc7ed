//! Unusable services and credentials: exit code, hint, and that nothing was sent.

use std::net::Ipv4Addr;
use std::time::Duration;

use super::process::{Place, until};
use super::service::{Served, tokens};
use super::{accounting, count, items, summary};
use crate::faults::server::{Reply, Server, answer};

const UPLOAD: [&str; 4] = ["upload", "items.csv", "-t", "items"];

fn with_items(rows: usize) -> Place {
    let place = Place::new();
    place.write("items.csv", items(rows));
    place
}

/// Reserves a port without listening on it, until the socket is dropped.
fn silent_port() -> tokio::net::TcpSocket {
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    socket.set_reuseaddr(true).unwrap();
    socket.bind((Ipv4Addr::LOCALHOST, 0).into()).unwrap();
    socket
}

#[test]
fn missing_address_or_credentials_are_explained() {
    let place = with_items(3);
    let served = Served::start(&place);
    let upload = served.sheetport(&place, UPLOAD).without("SHEETPORT_BASE_URL");
    upload.exits(2).says(&["no service address is set", "--base-url", "SHEETPORT_BASE_URL", "sheetport serve"]);
    let upload = place.sheetport(UPLOAD).env("SHEETPORT_BASE_URL", &served.url());
    upload.exits(2).says(&["no credentials for", &served.url(), "SHEETPORT_ACCESS_TOKEN", "SHEETPORT_REFRESH_TOKEN"]);
    for address in ["localhost:8787", "ftp://localhost", "nonsense", "http://me:secret@localhost", "http://"] {
        let upload = served.sheetport(&place, UPLOAD).arg("--base-url").arg(address);
        upload.exits(2).says(&["is not a base address", "such as https://host.example"]);
    }
    assert_eq!(served.total(), 0);
}

#[test]
fn invalid_rate_is_refused_with_an_example() {
    let place = with_items(3);
    let served = Served::start(&place);
    for rate in ["0/s", "fast", "10/day"] {
        served.sheetport(&place, UPLOAD).arg("--rate").arg(rate).exits(2).says(&[rate, "10/s or 600/min"]);
    }
    assert_eq!(served.total(), 0);
}

#[test]
fn unreachable_service_stops_the_run_and_resume_finishes_it() {
    for rows in [1, 60] {
        let place = with_items(rows);
        let socket = silent_port();
        let port = socket.local_addr().unwrap().port();
        let full = tokens(&place, "full");
        let upload = place
            .sheetport(UPLOAD)
            .env("SHEETPORT_BASE_URL", &format!("http://127.0.0.1:{port}"))
            .secret("SHEETPORT_ACCESS_TOKEN", &full.access)
            .arg("--json")
            .exits(9)
            .says(&["stopped", "refused", "all outcomes so far are saved"]);
        assert!(upload.took < Duration::from_secs(20), "{:?}", upload.took);
        let stopped = summary(&upload);
        assert_eq!(accounting(&stopped), format!("{rows}: pending {rows}"));
        assert_eq!(stopped["next"], "sheetport continue 1");
        drop(socket);
        let served = Served::start_on(&place, port);
        let resumed = served.sheetport(&place, ["resume", "1", "--json"]).exits(0);
        assert_eq!(accounting(&summary(&resumed)), format!("{rows}: sent {rows}"));
        assert_eq!(served.total(), rows as u64);
    }
}

#[test]
fn refused_credentials_stop_the_run_and_resume_takes_new_ones() {
    for token in ["garbage", "eyJhbGciOiJIUzI1NiJ9.eyJ3b3Jrc3BhY2UiOiJzaG9wIn0.AAAA"] {
        let place = with_items(3);
        let served = Served::start(&place);
        let upload = served.sheetport(&place, UPLOAD).without("SHEETPORT_REFRESH_TOKEN");
        let upload = upload.secret("SHEETPORT_ACCESS_TOKEN", token).arg("--json").exits(5);
        let upload = upload.says(&["refused the credentials", "SHEETPORT_ACCESS_TOKEN"]);
        let stopped = summary(&upload);
        assert_eq!(accounting(&stopped), "3: pending 3");
        assert_eq!(served.total(), 0);
        assert_eq!(stopped["next"], "sheetport continue 1");
        served.sheetport(&place, ["resume", "1"]).exits(0);
        assert_eq!(served.total(), 3);
    }
}

#[test]
fn regular_token_can_export_but_not_upload() {
    let place = with_items(40);
    let served = Served::start(&place);
    let regular = tokens(&place, "regular");
    let sheetport = |args: &[&'static str]| {
        let sheetport = served.sheetport(&place, args.iter().copied());
        sheetport.secret("SHEETPORT_ACCESS_TOKEN", &regular.access).secret("SHEETPORT_REFRESH_TOKEN", &regular.refresh)
    };
    sheetport(&UPLOAD).exits(5).says(&["the token does not allow this", "Regular", "Full Access"]);
    place.sheetport(["runs"]).exits(0).shows(&["no runs yet"]);
    assert_eq!(served.total(), 0);
    sheetport(&["export", "items", "-o", "out.csv"]).exits(0).shows(&["0 items"]);
}

#[test]
fn refresh_token_alone_is_enough() {
    let place = with_items(20);
    let served = Served::start(&place);
    for (access, sent) in [(None, "20: sent 20"), (Some("expired"), "20: sent 20")] {
        let upload = served.sheetport(&place, UPLOAD).arg("--json");
        let upload = match access {
            None => upload.without("SHEETPORT_ACCESS_TOKEN"),
            Some(token) => upload.secret("SHEETPORT_ACCESS_TOKEN", token),
        };
        assert_eq!(accounting(&summary(&upload.exits(0))), sent);
    }
    assert_eq!(served.total(), 20);
}

#[test]
fn resume_refuses_another_address_or_workspace() {
    let place = with_items(30);
    let served = Served::start(&place);
    let slow = served.sheetport(&place, UPLOAD).arg("--rate").arg("1/s").start();
    until("the first item", || (served.total() > 0).then_some(()));
    slow.kill();
    let other = Place::new();
    let elsewhere = Served::start(&other);
    let resume = served.sheetport(&place, ["resume"]).env("SHEETPORT_BASE_URL", &elsewhere.url());
    resume.exits(2).says(&["run 1 can't be resumed", &served.url(), &elsewhere.url()]);
    assert_eq!(elsewhere.total(), 0);
    let pair = place.sheetport(["serve", "token", "--data", "service", "--workspace", "other", "--json"]);
    let pair = pair.exits(0).json();
    let resume = served.sheetport(&place, ["resume"]);
    let resume = resume.secret("SHEETPORT_ACCESS_TOKEN", pair["access"].as_str().unwrap());
    let resume = resume.secret("SHEETPORT_REFRESH_TOKEN", pair["refresh"].as_str().unwrap());
    resume.exits(2).says(&["the workspace 'shop'", "'other'", "a token of that workspace"]);
}

#[test]
fn second_upload_of_a_file_in_use_is_refused() {
    let place = with_items(30);
    let served = Served::start(&place);
    let slow = served.sheetport(&place, UPLOAD).arg("--rate").arg("1/s").start();
    until("the first item", || (served.total() > 0).then_some(()));
    served
        .sheetport(&place, UPLOAD)
        .exits(6)
        .says(&["another sheetport process is working on this upload", "wait until"]);
    served.sheetport(&place, ["resume"]).exits(6).says(&["another sheetport process is working"]);
    slow.kill();
    served.sheetport(&place, ["resume", "--rate", "100/s"]).exits(0);
    assert_eq!(served.total(), 30);
}

#[tokio::test(flavor = "multi_thread")]
async fn every_command_reports_a_redirect_in_the_same_way() {
    let server = Server::with_probes(|_| answer(302, "location: /login\r\n", "")).await;
    let place = with_items(3);
    for args in [&UPLOAD[..], &["export", "items", "-o", "out.csv"], &["whoami"]] {
        let command = place.sheetport(args).env("SHEETPORT_BASE_URL", &server.address);
        let ended = command.secret("SHEETPORT_ACCESS_TOKEN", "access-1").exits(9);
        let redirect = "the service redirects (302) to /login, and a token is never sent to another address";
        ended.says(&[redirect, "the base address"]);
    }
}

/// The probe before the first create, a request with the expired token, its renewal, and the creates.
#[tokio::test(flavor = "multi_thread")]
async fn every_request_is_counted() {
    let server = Server::with_probes(|seen| match (seen.path.as_str(), seen.bearer.as_deref()) {
        ("/api/token/refresh/", _) => answer(200, "", r#"{"access": "access-2"}"#),
        (_, Some("access-2")) if seen.path.contains("invoices") => Reply::Accept,
        (_, Some("access-2")) => answer(200, "", r#"{"data": [{"id": "c"}, {"id": "i"}]}"#),
        _ => answer(401, "", r#"{"message": "expired"}"#),
    })
    .await;
    let place = Place::new();
    place.write("invoices.csv", "Invoice no.,Customer ID,Item ID,Amount\n1,c,i,1\n2,c,i,2\n3,c,i,3\n");
    let upload = place.sheetport(["upload", "invoices.csv", "-t", "invoices", "--json", "--concurrency", "1"]);
    let upload = upload.env("SHEETPORT_BASE_URL", &server.address).secret("SHEETPORT_ACCESS_TOKEN", "access-1");
    let sent = summary(&upload.secret("SHEETPORT_REFRESH_TOKEN", "refresh-1").exits(0));
    assert_eq!(accounting(&sent), "3: sent 3");
    let log = server.log();
    assert_eq!(count(&sent, "requests") + count(&sent, "other_requests"), log.len() as u64, "{sent} {log:?}");
    let creates = log.iter().filter(|seen| seen.path.contains("invoices")).count() as u64;
    assert_eq!(count(&sent, "requests"), creates, "{log:?}");
    assert!(count(&sent, "other_requests") >= 3, "a probe, with the old and the new token, and the renewal: {log:?}");
}
