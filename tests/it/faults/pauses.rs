//! Throttling: a pause that the service asks for holds all workers.

use std::time::{Duration, Instant};

use sheetport_client::Stop;
use sheetport_send::StopReason;

use super::server::{Reply, Seen, Server, answer};
use super::{Planned, client};

const SECOND: Duration = Duration::from_secs(1);

/// Returns the time from the answer that asked for a pause to the next request.
fn wait_kept(server: &Server, asked: impl Fn(&Seen) -> bool) -> Duration {
    let log = server.log();
    let asked = log.iter().find(|seen| asked(seen)).unwrap();
    // Requests in flight arrive before the client knows of the pause.
    let known = asked.left.unwrap() + Duration::from_millis(50);
    let next = log.iter().map(|seen| seen.came).filter(|came| *came > known).min().unwrap();
    next - asked.left.unwrap()
}

#[tokio::test]
async fn no_worker_sends_during_a_pause() {
    let server = Server::start(move |seen| match seen.number {
        5 => answer(429, "retry-after: 1\r\n", ""),
        _ => Reply::Late(Duration::from_millis(5), Box::new(Reply::Accept)),
    })
    .await;
    let planned = Planned::many(60).await;
    assert_eq!(planned.send(&server, 6).await, None);
    assert_eq!(planned.accounting().await.sent, 60);
    let waited = wait_kept(&server, |seen| seen.number == 5);
    assert!(waited >= SECOND - Duration::from_millis(5), "{waited:?}");
}

/// A server in trouble asks for its own request, but several in a row ask for all.
#[tokio::test]
async fn failing_server_delays_its_record_and_a_failing_service_all_records() {
    // Of 18 failures, six at a time, five in a row are answered whatever comes between, and no record gets five of them.
    for (failures, all_wait) in [(5..6, false), (5..23, true)] {
        let server = Server::start(move |seen| match failures.contains(&seen.number) {
            true => answer(503, "retry-after: 1\r\n", ""),
            false => Reply::Late(Duration::from_millis(5), Box::new(Reply::Accept)),
        })
        .await;
        let planned = Planned::many(60).await;
        assert_eq!(planned.send(&server, 6).await, None);
        assert_eq!(planned.accounting().await.sent, 60);
        let log = server.log();
        let asked = log.iter().find(|seen| seen.number == 5).unwrap();
        let again = log.iter().find(|seen| seen.key() == asked.key() && seen.repeat == 1).unwrap();
        assert!(again.came - asked.left.unwrap() >= SECOND - Duration::from_millis(5));
        let first_attempts = log.iter().filter(|seen| seen.repeat == 0);
        let last = first_attempts.map(|seen| seen.came).max().unwrap() - asked.left.unwrap();
        assert_eq!(last >= SECOND - Duration::from_millis(5), all_wait, "{last:?}");
    }
}

#[tokio::test]
async fn retry_after_may_be_a_date() {
    let server = Server::start(|seen| match seen.number {
        0 => answer(429, "date: Fri, 21 Nov 2025 07:28:00 GMT\r\nretry-after: Fri, 21 Nov 2025 07:28:02 GMT\r\n", ""),
        _ => Reply::Accept,
    })
    .await;
    let planned = Planned::new(&["1"]).await;
    assert_eq!(planned.send(&server, 1).await, None);
    assert!(wait_kept(&server, |seen| seen.number == 0) >= 2 * SECOND - Duration::from_millis(5));
}

/// A 429 for each worker counts as a single pause.
#[tokio::test]
async fn throttled_burst_counts_as_one_pause() {
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
async fn pause_of_more_than_15_minutes_stops_the_run() {
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
async fn interrupt_ends_a_pause() {
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
