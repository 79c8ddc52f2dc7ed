//! Runs that stop early: the reason, the accounting, and the resumed rest.

use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use sheetport_client::Stop;
use sheetport_ledger::RecordState;
use sheetport_send::StopReason;
use tokio::sync::Notify;

use super::server::{Reply, Server, answer};
use super::{Planned, client, client_of};

const GRACE: Duration = Duration::from_secs(30);

#[tokio::test]
async fn several_403_in_a_row_stop_the_run() {
    let server = Server::start(|_| answer(403, "", r#"{"message": "read only"}"#)).await;
    let planned = Planned::many(40).await;
    assert_eq!(planned.send(&server, 2).await, Some(StopReason::Service(Stop::Forbidden("read only".into()))));
    let accounting = planned.accounting().await;
    assert_eq!((accounting.failed, accounting.pending), (0, 40));
    planned.resumes().await;
}

#[tokio::test]
async fn scattered_403_do_not_stop_the_run() {
    let server = Server::start(|seen| if seen.number % 5 < 4 { answer(403, "", "") } else { Reply::Accept }).await;
    let planned = Planned::many(40).await;
    assert_eq!(planned.send(&server, 1).await, None);
    let accounting = planned.accounting().await;
    assert_eq!((accounting.failed, accounting.sent), (32, 8));
}

#[tokio::test]
async fn unreachable_address_stops_the_run() {
    let nobody = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let planned = Planned::many(40).await;
    let client = client_of(&format!("http://{nobody}"), Some("a"), None, 4);
    let Some(StopReason::Service(Stop::Unreachable(reason))) = planned.send_with(client, 4).await else {
        panic!("not stopped")
    };
    assert!(reason.to_lowercase().contains("refused"), "{reason}");
    assert_eq!(planned.accounting().await.pending, 40);
    planned.resumes().await;
}

/// A restart breaks all connections at once, which counts as a single event.
#[tokio::test]
async fn run_survives_a_restart_of_the_service() {
    let away: OnceLock<Instant> = OnceLock::new();
    let server = Server::start(move |seen| {
        let is_back = || away.get_or_init(Instant::now).elapsed() > Duration::from_millis(500);
        if seen.number < 8 || is_back() {
            return Reply::Accept;
        }
        let spread = Duration::from_millis(50 + seen.number as u64 * 7 % 50);
        Reply::Late(spread, Box::new(Reply::Reset))
    })
    .await;
    let planned = Planned::many(60).await;
    assert_eq!(planned.send(&server, 8).await, None);
    assert_eq!(planned.accounting().await.sent, 60);
}

#[tokio::test]
async fn retry_budget_stops_the_run_on_a_failing_service() {
    let server = Server::start(|_| answer(500, "", "")).await;
    let planned = Planned::many(2_000).await;
    let Some(StopReason::TooManyRetries(reason)) = planned.send(&server, 8).await else { panic!("not stopped") };
    assert_eq!(reason, "the service answered 500");
    assert!(server.log().len() < 200, "{}", server.log().len());
    assert!(planned.accounting().await.pending > 1_900);
    planned.resumes().await;
}

#[tokio::test]
async fn interrupt_waits_for_requests_in_flight_and_keeps_their_outcomes() {
    let asked = Arc::new(Notify::new());
    let ask = Arc::clone(&asked);
    let server = Server::start(move |seen| {
        if seen.number == 10 {
            ask.notify_one();
            return Reply::Late(Duration::from_millis(300), Box::new(Reply::Accept));
        }
        Reply::Accept
    })
    .await;
    let planned = Planned::many(3_000).await;
    let ended = planned
        .send_until(client(&server, 4), 4, async {
            asked.notified().await;
            GRACE
        })
        .await;
    assert_eq!(ended.stopped, Some(StopReason::Interrupted));
    let accounting = planned.accounting().await;
    assert_eq!(accounting.sent, server.log().len() as u64, "every answer that came is kept");
    planned.resumes().await;
    assert_eq!(planned.accounting().await.sent, 3_000);
}

/// Without pending records there is nothing to resume, even after an interrupt or a 403.
#[tokio::test]
async fn finished_run_does_not_count_as_stopped() {
    let asked = Arc::new(Notify::new());
    let ask = Arc::clone(&asked);
    let server = Server::start(move |_| {
        ask.notify_one();
        Reply::Late(Duration::from_millis(200), Box::new(Reply::Accept))
    })
    .await;
    let planned = Planned::new(&["1"]).await;
    let ended = planned
        .send_until(client(&server, 1), 1, async {
            asked.notified().await;
            GRACE
        })
        .await;
    assert_eq!(ended.stopped, None);
    let server = Server::start(|_| answer(403, "", "")).await;
    let planned = Planned::many(4).await;
    assert_eq!(planned.send(&server, 1).await, None);
    assert_eq!(planned.accounting().await.failed, 4);
}

/// The plan rejects duplicate keys; if the ledger has some anyway, they are sent one after another.
#[tokio::test]
async fn records_with_the_same_key_are_sent_one_after_another() {
    let server = Server::start(|seen| match seen.number % 7 {
        2 => answer(503, "", ""),
        _ => Reply::Late(Duration::from_millis(3), Box::new(Reply::Accept)),
    })
    .await;
    let keys = ["a", "b", "a", "a", "c", "b", "a", "d", "b", "a"];
    let planned = Planned::new(&keys).await;
    assert_eq!(planned.send(&server, 6).await, None);
    assert_eq!(planned.accounting().await.sent, 10);
    let log = server.log();
    for key in ["a", "b", "c", "d"] {
        let of: Vec<_> = log.iter().filter(|seen| seen.key() == key).collect();
        assert!(of.windows(2).all(|two| two[0].left.unwrap() <= two[1].came), "two requests for {key} in flight");
        let mut bodies: Vec<&str> = of.iter().map(|seen| seen.body.as_str()).collect();
        bodies.dedup();
        assert!(bodies.is_sorted(), "{bodies:?}");
    }
}

#[tokio::test]
async fn resume_sends_only_unsettled_records() {
    let server = Server::start(|seen| if seen.number == 50 { answer(302, "", "") } else { Reply::Accept }).await;
    let planned = Planned::many(1_200).await;
    assert_eq!(planned.send(&server, 4).await, Some(StopReason::Service(Stop::Redirected { status: 302, to: None })));
    let first = server.bodies();
    let sane = Server::start(|_| Reply::Accept).await;
    assert_eq!(planned.send(&sane, 4).await, None);
    assert_eq!(planned.accounting().await.sent, 1_200);
    let again = sane.bodies().into_keys().filter(|body| first.contains_key(body)).count();
    assert_eq!(again, 1, "of the records that were sent before, the redirected one alone");
    assert!(sane.bodies().into_values().all(|times| times == 1));
    assert_eq!(planned.outcome(1_199).await.state, RecordState::Sent);
}

#[tokio::test]
async fn not_found_for_every_request_stops_the_run() {
    // Reads, too: otherwise it is the records that are not there.
    let server = Server::with_probes(|_| answer(404, "", "<html>Not Found</html>")).await;
    let planned = Planned::many(40).await;
    assert_eq!(planned.send(&server, 2).await, Some(StopReason::Service(Stop::WrongAddress)));
    let accounting = planned.accounting().await;
    assert_eq!((accounting.failed, accounting.pending), (0, 40));
    planned.resumes().await;
}

#[tokio::test]
async fn proxy_that_requires_credentials_stops_the_run() {
    let server = Server::start(|_| answer(407, "proxy-authenticate: Basic\r\n", "")).await;
    let planned = Planned::many(40).await;
    assert_eq!(planned.send(&server, 2).await, Some(StopReason::Service(Stop::ProxyCredentials)));
    assert_eq!(planned.accounting().await.pending, 40);
    planned.resumes().await;
}
