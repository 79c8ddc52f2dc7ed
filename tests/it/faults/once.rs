//! Non-idempotent calls: no record is sent twice, and records that may have been applied are unknown.

use std::sync::Arc;
use std::time::{Duration, Instant};

use sheetport_client::Stop;
use sheetport_ledger::{self as ledger, Claim, Ledger, Part, RecordState, SendingChanges};
use sheetport_records::RecordKind;
use sheetport_send::{Progress, StopReason};
use tokio::sync::Notify;

use super::server::{Reply, Seen, Server, answer};
use super::{Planned, client, client_of, work};

const KINDS: [RecordKind; 3] = [RecordKind::InventoryTransaction, RecordKind::Subscription, RecordKind::Invoice];

/// Checks that no body was received twice.
#[track_caller]
fn assert_once(server: &Server) {
    let twice: Vec<_> = server.bodies().into_iter().filter(|(_, times)| *times > 1).collect();
    assert!(twice.is_empty(), "{twice:?}");
}

#[tokio::test]
async fn every_record_is_sent_once_and_none_stays_in_flight() {
    for kind in KINDS {
        let server = Server::start(|_| Reply::Accept).await;
        let planned = Planned::once(kind, 600).await;
        assert_eq!(planned.send(&server, 8).await, None);
        assert_eq!(planned.accounting().await.sent, 600);
        assert_once(&server);
        assert_eq!(planned.ledger.settle_in_flight(Part::whole(planned.run), None).await.unwrap(), Default::default());
    }
}

#[tokio::test]
async fn lost_answers_leave_records_unknown_and_resume_skips_them() {
    for kind in KINDS {
        let server = Server::start(|seen| match seen.number {
            20 => Reply::Reset,
            40 => answer(500, "", ""),
            60 => answer(503, "retry-after: 0\r\n", ""),
            80 => Reply::Cut("HTTP/1.1 200 OK\r\ncontent-length: 50\r\n\r\n{".into()),
            _ => Reply::Accept,
        })
        .await;
        let planned = Planned::once(kind, 100).await;
        assert_eq!(planned.send(&server, 1).await, None);
        let now = planned.accounting().await;
        assert_eq!((now.sent, now.unknown, now.pending), (96, 4, 0), "{kind}");
        assert_once(&server);
        planned.resumes().await;
        assert_eq!(planned.accounting().await, now);
    }
}

/// A 429 means that nothing was applied, so no record is in flight during the pause.
#[tokio::test]
async fn throttled_record_is_retried_and_never_unknown() {
    let waits = Arc::new(Notify::new());
    let wait = Arc::clone(&waits);
    let server = Server::start(move |seen| match seen.number {
        3 => {
            wait.notify_one();
            answer(429, "retry-after: 60\r\n", "")
        }
        _ => Reply::Late(Duration::from_millis(20), Box::new(Reply::Accept)),
    })
    .await;
    let planned = Planned::once(RecordKind::Invoice, 40).await;
    let stop = async {
        waits.notified().await;
        // The grace period in which other requests in flight end.
        Duration::from_secs(30)
    };
    let ended = planned.send_until(client(&server, 4), 4, stop).await;
    assert_eq!(ended.stopped, Some(StopReason::Interrupted));
    let now = planned.accounting().await;
    assert_eq!((now.unknown, now.sent), (0, server.log().len() as u64 - 1));
    planned.resumes().await;
    assert_eq!((planned.accounting().await.sent, planned.accounting().await.unknown), (40, 0));
}

#[tokio::test]
async fn requests_without_an_answer_after_the_grace_period_are_unknown() {
    let began = Instant::now();
    for kind in [RecordKind::Invoice, RecordKind::Item] {
        let asked = Arc::new(Notify::new());
        let ask = Arc::clone(&asked);
        let server = Server::start(move |seen| {
            if seen.number == 5 {
                ask.notify_one();
            }
            let wait = if seen.number >= 3 { Duration::from_secs(100) } else { Duration::ZERO };
            Reply::Late(wait, Box::new(Reply::Accept))
        })
        .await;
        let planned = match kind {
            RecordKind::Item => Planned::many(40).await,
            kind => Planned::once(kind, 40).await,
        };
        let stop = async {
            asked.notified().await;
            Duration::from_millis(100)
        };
        let ended = planned.send_until(client(&server, 3), 3, stop).await;
        assert_eq!(ended.stopped, Some(StopReason::Interrupted));
        let now = planned.accounting().await;
        let unknown = if kind == RecordKind::Item { 0 } else { 3 };
        assert_eq!((now.sent, now.unknown, now.pending), (3, unknown, 37 - unknown), "{kind}");
        planned.resumes().await;
    }
    assert!(began.elapsed() < Duration::from_secs(20));
}

/// Simulates a crash by dropping the sending task while requests are in flight.
#[tokio::test]
async fn only_records_in_flight_at_a_crash_are_unknown() {
    for kind in KINDS {
        let asked = Arc::new(Notify::new());
        let ask = Arc::clone(&asked);
        let server = Server::start(move |seen| {
            if seen.number == 30 {
                ask.notify_one();
            }
            let wait = Duration::from_millis(if seen.number >= 28 { 60_000 } else { 1 });
            Reply::Late(wait, Box::new(Reply::Accept))
        })
        .await;
        let planned = Planned::once(kind, 200).await;
        tokio::select! {
            _ = planned.send(&server, 4) => panic!("not stopped"),
            () = asked.notified() => {}
        }
        let seen = server.log().len() as u64;
        let again = Ledger::open(planned.folder.path()).await.unwrap();
        assert!(again.accounting(planned.run).await.unwrap().unknown == 0);
        planned.resumes().await;
        let now = planned.accounting().await;
        assert!((1..=4).contains(&now.unknown), "{now:?}");
        assert_eq!(now.sent + now.unknown, 200);
        assert!(now.sent + 4 >= seen, "what was answered is kept");
        let outcome = again.outcomes(planned.run, 0..=200).await.unwrap();
        let unknown = outcome.values().find(|outcome| outcome.state == RecordState::Unknown).unwrap();
        assert!(
            unknown.problems[0]
                .message
                .contains("ended or could not use the ledger any more before the answer was stored"),
            "{unknown:?}"
        );
    }
}

#[tokio::test]
async fn failed_connections_leave_no_record_unknown() {
    let nobody = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let planned = Planned::once(RecordKind::Subscription, 20).await;
    let client = client_of(&format!("http://{nobody}"), Some("a"), None, 4);
    assert!(matches!(planned.send_with(client, 4).await, Some(StopReason::Service(Stop::Unreachable(_)))));
    assert_eq!(planned.accounting().await.pending, 20);
    planned.resumes().await;
    assert_eq!(planned.accounting().await.sent, 20);
}

/// Nothing is sent without its intent in the ledger.
#[tokio::test(flavor = "multi_thread")]
async fn failing_ledger_stops_the_run_before_the_next_request() {
    // Time for another sender to interfere.
    let wait = |number| Duration::from_millis(if number == 8 { 1_000 } else { 0 });
    let server = Server::start(move |seen| Reply::Late(wait(seen.number), Box::new(Reply::Accept))).await;
    let planned = Planned::once(RecordKind::Invoice, 40).await;
    let claim = Claim { seq: 20, name: None, body: [0; 16] };
    let other = Ledger::open(planned.folder.path()).await.unwrap();
    let once = std::sync::Once::new();
    // Another sender, which the lock should prevent, begins a record of the run.
    let interfere = |state: &Progress| {
        if state.sent >= 5 {
            once.call_once(|| {
                tokio::task::block_in_place(|| {
                    tokio::runtime::Handle::current().block_on(async {
                        let run = other.run(planned.run).await.unwrap();
                        other
                            .start(&run, &[], &SendingChanges::default(), std::slice::from_ref(&claim), false, 2)
                            .await
                            .unwrap();
                    });
                });
            });
        }
    };
    let locked = planned.ledger.lock_run(planned.run).await.unwrap();
    let work = work(&planned.ledger, client(&server, 1), &locked, RecordKind::Invoice, 1);
    let ended = sheetport_send::send(&work, None, Box::pin(std::future::pending()), &interfere).await;
    drop(locked);
    assert!(matches!(ended, Err(ledger::Error::Database(_))), "{ended:?}");
    assert_eq!(server.log().len(), 20);
    planned.resumes().await;
    assert_eq!((planned.accounting().await.sent, planned.accounting().await.unknown), (39, 1));
}

/// Runs 200 invoices against a server and returns the number of creates and of unknown records.
async fn incident(concurrency: usize, script: impl Fn(&Seen) -> Reply + Send + Sync + 'static) -> (usize, u64) {
    let server = Server::with_probes(script).await;
    let planned = Planned::once(RecordKind::Invoice, 200).await;
    let stopped = planned.send(&server, concurrency).await;
    assert!(matches!(stopped, Some(StopReason::TooManyUnknown(_) | StopReason::Service(Stop::Unreachable(_)))));
    let now = planned.accounting().await;
    assert_eq!((now.sent + now.unknown + now.pending, now.failed), (200, 0));
    assert_once_of(&server);
    planned.resumes().await;
    (server.log().iter().filter(|seen| !seen.body.is_empty()).count(), now.unknown)
}

/// Checks that no body was received twice, apart from the probes, which have none.
#[track_caller]
fn assert_once_of(server: &Server) {
    let twice: Vec<_> = server.bodies().into_iter().filter(|(body, times)| !body.is_empty() && *times > 1).collect();
    assert!(twice.is_empty(), "{twice:?}");
}

#[tokio::test]
async fn nothing_is_created_in_a_service_that_is_down() {
    let reset = || Reply::Reset;
    let error = || answer(502, "", "");
    let no_content = || Reply::Bytes("HTTP/1.1 204 No Content\r\n\r\n".into());
    let page = || answer(200, "", "<html>Maintenance</html>");
    let (one, two, three, four) = tokio::join!(
        incident(8, move |_| reset()),
        incident(8, move |_| error()),
        incident(8, move |_| no_content()),
        incident(8, move |_| page()),
    );
    assert_eq!([one, two, three, four], [(0, 0); 4]);
}

#[tokio::test]
async fn outage_leaves_at_most_twice_the_requests_in_flight_unknown() {
    let (writes, all, some) = tokio::join!(
        // Reads are answered throughout.
        incident(8, |seen| if seen.body.is_empty() { answer(200, "", "[]") } else { answer(500, "", "") }),
        incident(8, |seen| match seen.number {
            ..50 if seen.body.is_empty() => answer(200, "", "[]"),
            ..50 => Reply::Accept,
            _ => answer(503, "retry-after: 1\r\n", ""),
        }),
        incident(8, |seen| match seen.number {
            number if seen.body.is_empty() || number % 2 == 0 => Reply::Accept,
            _ => Reply::Reset,
        }),
    );
    for (creates, unknown) in [writes, all, some] {
        assert!(unknown <= 16 && creates > 0, "{unknown} of {creates} creates are unknown");
    }
}

#[tokio::test]
async fn server_errors_of_every_kind_leave_the_record_unknown() {
    for status in [408, 500, 501, 502, 503, 504, 505, 520, 529, 530, 598, 599] {
        let server = Server::start(move |_| answer(status, "", r#"{"message": "no"}"#)).await;
        let planned = Planned::once(RecordKind::Invoice, 1).await;
        assert_eq!(planned.send(&server, 1).await, None);
        let (state, message) = planned.first().await;
        assert_eq!((state, message), (RecordState::Unknown, format!("the service answered {status}: no")));
        assert_once(&server);
    }
}

/// 423 and 425 mean that the request was not applied.
#[tokio::test]
async fn locked_and_too_early_requests_are_retried() {
    for status in [423, 425] {
        let server = Server::start(move |seen| match seen.number {
            0 => answer(status, "", ""),
            _ => Reply::Accept,
        })
        .await;
        let planned = Planned::once(RecordKind::Invoice, 1).await;
        assert_eq!(planned.send(&server, 1).await, None);
        assert_eq!(planned.first().await, (RecordState::Sent, String::new()));
        assert_eq!(server.log().len(), 2);
    }
}

/// Web frameworks answer a handled POST with a redirect to the new record.
#[tokio::test]
async fn a_redirect_after_a_create_is_unknown_and_stops_the_run() {
    for status in [300, 301, 302, 303, 307, 308] {
        let server = Server::start(move |_| answer(status, "location: /v1/invoices/7\r\n", "")).await;
        let planned = Planned::once(RecordKind::Invoice, 10).await;
        let to = Some("/v1/invoices/7".to_owned());
        let stop = StopReason::Service(Stop::Redirected { status, to });
        assert_eq!(planned.send(&server, 1).await, Some(stop));
        let now = planned.accounting().await;
        assert_eq!((now.unknown, now.pending), (1, 9), "{status}");
        planned.resumes().await;
        assert_once(&server);
    }
}

#[tokio::test]
async fn a_redirect_to_the_same_path_elsewhere_leaves_the_record_pending() {
    for (status, to, is_pending) in [
        (301, "https://shop.example/v1/invoices/create", true),
        (308, "https://shop.example/v1/invoices/create/?x=1", true),
        (307, "/v1/invoices/create/", true),
        (302, "/v1/invoices/create", false),
        (303, "https://shop.example/v1/invoices/create", false),
        (302, "https://shop.example/login", false),
    ] {
        let server = Server::start(move |_| answer(status, &format!("location: {to}\r\n"), "")).await;
        let planned = Planned::once(RecordKind::Invoice, 3).await;
        assert!(planned.send(&server, 1).await.is_some(), "{status} {to}");
        let now = planned.accounting().await;
        assert_eq!((now.unknown, now.pending), if is_pending { (0, 3) } else { (1, 2) }, "{status} {to}");
    }
}

#[tokio::test]
async fn success_with_an_error_and_no_id_is_a_refusal() {
    let server = Server::start(|_| answer(200, "", r#"{"error": "no such customer"}"#)).await;
    let planned = Planned::once(RecordKind::Invoice, 1).await;
    assert_eq!(planned.send(&server, 1).await, None);
    assert_eq!(planned.first().await, (RecordState::Failed, "no such customer".to_owned()));
}

#[tokio::test]
async fn no_content_is_no_proof_of_a_create() {
    let server = Server::start(|_| Reply::Bytes("HTTP/1.1 204 No Content\r\n\r\n".into())).await;
    let planned = Planned::once(RecordKind::Invoice, 1).await;
    assert_eq!(planned.send(&server, 1).await, None);
    assert_eq!(planned.first().await.0, RecordState::Unknown);
}
