//! Services and credentials that don't do: the exit code, the remedy, and that nothing was applied.

use std::net::Ipv4Addr;
use std::time::Duration;

use super::process::{Place, until};
use super::service::{Served, tokens};
use super::{accounting, items, summary};

const UPLOAD: [&str; 4] = ["upload", "items.csv", "-t", "items"];

fn with_items(rows: usize) -> Place {
    let place = Place::new();
    place.write("items.csv", items(rows));
    place
}

/// A port that nobody listens on and that nobody else gets, until it is dropped.
fn silent_port() -> tokio::net::TcpSocket {
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    socket.set_reuseaddr(true).unwrap();
    socket.bind((Ipv4Addr::LOCALHOST, 0).into()).unwrap();
    socket
}

#[test]
fn without_an_address_or_credentials_it_says_where_to_put_them() {
    let place = with_items(3);
    let served = Served::start(&place);
    let upload = served.sheetport(&place, UPLOAD).without("SHEETPORT_BASE_URL");
    upload.exits(2).says(&["no service is named", "--base-url", "SHEETPORT_BASE_URL", "sheetport serve"]);
    let upload = place.sheetport(UPLOAD).env("SHEETPORT_BASE_URL", &served.url());
    upload.exits(2).says(&["no credentials for", &served.url(), "SHEETPORT_ACCESS_TOKEN", "SHEETPORT_REFRESH_TOKEN"]);
    for address in ["localhost:8787", "ftp://localhost", "nonsense", "http://me:secret@localhost", "http://"] {
        let upload = served.sheetport(&place, UPLOAD).arg("--base-url").arg(address);
        upload.exits(2).says(&["is not a base address", "such as https://host.example"]);
    }
    assert_eq!(served.total(), 0);
}

#[test]
fn a_rate_that_is_none_is_refused_with_an_example() {
    let place = with_items(3);
    let served = Served::start(&place);
    for rate in ["10", "0/s", "fast", "10/day"] {
        served.sheetport(&place, UPLOAD).arg("--rate").arg(rate).exits(2).says(&[rate, "10/s or 600/min"]);
    }
    assert_eq!(served.total(), 0);
}

#[test]
fn a_service_that_is_away_stops_the_run_and_resume_finishes_it_later() {
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
            .says(&["stopped", "refused", "what was done is kept"]);
        assert!(upload.took < Duration::from_secs(20), "{:?}", upload.took);
        let stopped = summary(&upload);
        assert_eq!(accounting(&stopped), format!("{rows}: pending {rows}"));
        assert_eq!(stopped["next"], "sheetport resume 1");
        drop(socket);
        let served = Served::start_on(&place, port);
        let resumed = served.sheetport(&place, ["resume", "1", "--json"]).exits(0);
        assert_eq!(accounting(&summary(&resumed)), format!("{rows}: sent {rows}"));
        assert_eq!(served.total(), rows as u64);
    }
}

#[test]
fn credentials_that_are_refused_stop_the_run_until_there_are_better_ones() {
    for token in ["garbage", "eyJhbGciOiJIUzI1NiJ9.eyJ3b3Jrc3BhY2UiOiJzaG9wIn0.AAAA"] {
        let place = with_items(3);
        let served = Served::start(&place);
        let upload = served.sheetport(&place, UPLOAD).without("SHEETPORT_REFRESH_TOKEN");
        let upload = upload.secret("SHEETPORT_ACCESS_TOKEN", token).arg("--json").exits(5);
        let upload = upload.says(&["refused the credentials", "SHEETPORT_ACCESS_TOKEN"]);
        let stopped = summary(&upload);
        assert_eq!(accounting(&stopped), "3: pending 3");
        assert_eq!(served.total(), 0);
        assert_eq!(stopped["next"], "sheetport resume 1");
        served.sheetport(&place, ["resume", "1"]).exits(0);
        assert_eq!(served.total(), 3);
    }
}

#[test]
fn a_regular_token_reads_and_does_not_write() {
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
fn a_refresh_token_alone_is_enough() {
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
fn a_run_is_not_carried_on_elsewhere_than_it_was_planned_for() {
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
    let place_token = place.sheetport(["serve", "token", "--data", "service", "--workspace", "other", "--json"]);
    let stranger = place_token.exits(0).json()["access"].as_str().unwrap().to_owned();
    let resume = served.sheetport(&place, ["resume"]).secret("SHEETPORT_ACCESS_TOKEN", &stranger);
    resume.exits(2).says(&["the workspace 'shop'", "'other'", "a token of its workspace"]);
}

#[test]
fn a_second_upload_of_a_file_that_is_being_sent_is_turned_away() {
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
    served.sheetport(&place, ["resume"]).exits(0);
    assert_eq!(served.total(), 30);
}
