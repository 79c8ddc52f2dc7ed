//! Throttling: when the service asks to wait, everybody waits.

use std::time::{Duration, Instant};

use sheetport::client::Stop;
use sheetport::upload::StopReason;

use super::server::{Reply, Seen, Server, answer};
use super::{Planned, client};

const SECOND: Duration = Duration::from_secs(1);

/// When the service had asked to wait, and the first request that came after that.
fn wait_kept(server: &Server, asked: impl Fn(&Seen) -> bool) -> Duration {
    let log = server.log();
    let asked = log.iter().find(|seen| asked(seen)).unwrap();
    // What was under way when the answer left had come before the client could know of it.
    let known = asked.left.unwrap() + Duration::from_millis(50);
    let next = log.iter().map(|seen| seen.came).filter(|came| *came > known).min().unwrap();
    next - asked.left.unwrap()
}

#[tokio::test]
async fn no_worker_sends_while_the_service_asked_to_wait() {
    for status in [429, 503] {
        let server = Server::start(move |seen| match seen.number {
            5 => answer(status, "retry-after: 1\r\n", ""),
            _ => Reply::Late(Duration::from_millis(5), Box::new(Reply::Accept)),
        })
        .await;
        let planned = Planned::many(60).await;
        assert_eq!(planned.send(&server, 6).await, None);
        assert_eq!(planned.accounting().await.sent, 60);
        let waited = wait_kept(&server, |seen| seen.number == 5);
        assert!(waited >= SECOND - Duration::from_millis(5), "{status}: {waited:?}");
    }
}

#[tokio::test]
async fn a_pause_may_be_named_as_a_date() {
    let server = Server::start(|seen| match seen.number {
        0 => answer(429, "date: Fri, 21 Nov 2025 07:28:00 GMT\r\nretry-after: Fri, 21 Nov 2025 07:28:02 GMT\r\n", ""),
        _ => Reply::Accept,
    })
    .await;
    let planned = Planned::new(&["1"]).await;
    assert_eq!(planned.send(&server, 1).await, None);
    assert!(wait_kept(&server, |seen| seen.number == 0) >= 2 * SECOND - Duration::from_millis(5));
}

/// One answer that says "too many" for each worker is one event, not as many as there are workers.
#[tokio::test]
async fn a_burst_that_is_throttled_as_a_whole_is_one_throttling() {
    let server = Server::start(|seen| match seen.repeat {
        0 => Reply::Late(Duration::from_millis(100), Box::new(answer(429, "retry-after: 1\r\n", ""))),
        _ => Reply::Accept,
    })
    .await;
    let planned = Planned::many(64).await;
    let began = Instant::now();
    assert_eq!(planned.send(&server, 64).await, None);
    assert_eq!(planned.accounting().await.sent, 64);
    assert!(began.elapsed() < 5 * SECOND, "{:?}", began.elapsed());
}

#[tokio::test]
async fn a_pause_longer_than_anybody_waits_stops_the_run() {
    for (header, minutes) in [("901", 15), ("99999999999", u64::MAX / 60)] {
        let server = Server::start(move |_| answer(429, &format!("retry-after: {header}\r\n"), "")).await;
        let planned = Planned::many(20).await;
        let Some(StopReason::Service(Stop::WaitTooLong(wait))) = planned.send(&server, 4).await else {
            panic!("not stopped")
        };
        assert!(wait.as_secs() / 60 >= minutes.min(15), "{wait:?}");
        assert!(server.log().len() <= 4);
        assert_eq!(planned.accounting().await.pending, 20);
        planned.resumes().await;
    }
}

#[tokio::test]
async fn a_person_need_not_wait_out_a_pause() {
    let server = Server::start(|_| answer(429, "retry-after: 600\r\n", "")).await;
    let planned = Planned::many(20).await;
    let began = Instant::now();
    let asked = async {
        while server.log().is_empty() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        30 * SECOND
    };
    let ended = planned.send_until(client(&server, 4), 4, asked).await;
    assert_eq!(ended.stopped, Some(StopReason::Interrupted));
    assert!(began.elapsed() < 5 * SECOND);
    assert_eq!(planned.accounting().await.pending, 20);
    planned.resumes().await;
}
