//! The outcome of an idempotent call for each kind of answer.

use std::time::Duration;

use sheetport_ledger::RecordState::{self, Failed, Sent};

use super::Planned;
use super::server::{Reply, Seen, Server, accepted, answer};

/// Sends a record to a service that answers `first` once and then accepts. Returns the record's state, its messages and
/// the number of requests, and checks that all of them had the same bytes.
async fn one(first: impl Fn(&Seen) -> Reply + Send + Sync + 'static) -> (RecordState, String, usize) {
    let server = Server::start(move |seen| if seen.number == 0 { first(seen) } else { Reply::Accept }).await;
    let planned = Planned::new(&["0042"]).await;
    assert_eq!(planned.send(&server, 4).await, None);
    assert_eq!(planned.accounting().await.pending, 0);
    let log = server.log();
    assert_eq!(server.bodies().len(), 1, "all repetitions have the same bytes");
    assert_eq!(planned.accounting().await.requests, log.len() as u64, "every request is in the accounting");
    let (state, words) = planned.first().await;
    (state, words, log.len())
}

#[tokio::test]
async fn accepted_record_is_sent_once() {
    assert_eq!(one(|_| Reply::Accept).await, (Sent, String::new(), 1));
}

#[tokio::test]
async fn refusal_fails_the_record_and_keeps_every_message() {
    for status in [400, 404, 409, 413, 422] {
        let body = r#"{"message": "no", "errors": {"name": ["too long", "not nice"]}}"#;
        let end = one(move |_| answer(status, "", body)).await;
        assert_eq!(end, (Failed, "too long; not nice".into(), 1), "{status}");
    }
    let end = one(|_| answer(403, "", r#"{"message": "no rights"}"#)).await;
    assert_eq!(end, (Failed, "no rights".into(), 1));
}

#[tokio::test]
async fn success_status_with_errors_fails_the_record() {
    let refused = accepted("0042").replace("true", "false").replace("created", "rejected");
    let end = one(move |_| answer(200, "", &refused)).await;
    assert_eq!(end, (Failed, "the service answered with the status 'rejected'".into(), 1));
    let errors = accepted("0042").replace("null", r#"null, "errors": ["bad price"]"#);
    let end = one(move |_| answer(200, "", &errors)).await;
    assert_eq!(end, (Failed, "bad price".into(), 1));
}

#[tokio::test]
async fn server_errors_are_retried() {
    for status in [408, 423, 425, 500, 501, 502, 503, 504, 505, 520, 529, 598, 599] {
        let end = one(move |_| answer(status, "", "<html>Bad Gateway</html>")).await;
        assert_eq!(end, (Sent, String::new(), 2), "{status}");
    }
}

#[tokio::test]
async fn broken_connections_are_retried() {
    assert_eq!(one(|_| Reply::Reset).await, (Sent, String::new(), 2));
    assert_eq!(one(|_| Reply::Cut(String::new())).await, (Sent, String::new(), 2));
    assert_eq!(one(|_| Reply::Cut("HTTP/1.1 20".into())).await, (Sent, String::new(), 2));
    assert_eq!(one(|_| Reply::Bytes("\u{1}\u{2}nonsense\r\n\r\n".into())).await, (Sent, String::new(), 2));
}

#[tokio::test]
async fn connection_reset_before_the_request_is_retried() {
    let server = Server::refusing(2, |_| Reply::Accept).await;
    let planned = Planned::new(&["0042"]).await;
    assert_eq!(planned.send(&server, 1).await, None);
    assert_eq!(planned.first().await, (Sent, String::new()));
    assert_eq!(server.log().len(), 1);
}

#[tokio::test]
async fn answer_with_a_wrong_length_is_retried() {
    let body = accepted("0042");
    let longer = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{body}", body.len() + 10);
    assert_eq!(one(move |_| Reply::Cut(longer.clone())).await, (Sent, String::new(), 2));
    let shorter = format!("HTTP/1.1 200 OK\r\ncontent-length: 20\r\n\r\n{body}");
    assert_eq!(one(move |_| Reply::Bytes(shorter.clone())).await, (Sent, String::new(), 2));
    let chunked = format!("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\n{body}");
    assert_eq!(one(move |_| Reply::Cut(chunked.clone())).await, (Sent, String::new(), 2));
}

#[tokio::test]
async fn unreadable_success_is_retried() {
    for body in ["", "{\"ok\": tr", "<html>Welcome to the hotel's network</html>", "[]"] {
        assert_eq!(one(move |_| answer(200, "", body)).await, (Sent, String::new(), 2), "{body}");
    }
    // The answer for another record, as a faulty proxy may return it.
    assert_eq!(one(|_| answer(200, "", &accepted("0043"))).await, (Sent, String::new(), 2));
}

/// Extra bytes after an answer are not taken for the answer to the next request.
#[tokio::test]
async fn second_answer_to_a_request_is_ignored() {
    let stray = r#"{"ok": false, "status": "stray", "external_id": "1"}"#;
    let server = Server::start(move |seen| {
        let body = accepted(&seen.key());
        let good = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{body}", body.len());
        let stray = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{stray}", stray.len());
        if seen.number == 0 { Reply::Bytes(good + &stray) } else { Reply::Accept }
    })
    .await;
    let planned = Planned::new(&["0", "1"]).await;
    assert_eq!(planned.send(&server, 1).await, None);
    assert_eq!(planned.accounting().await.sent, 2);
}

#[tokio::test]
async fn endless_answer_is_cut_off() {
    let end = tokio::time::timeout(Duration::from_secs(20), one(|_| Reply::Endless("HTTP/1.1 200 OK\r\n\r\n".into())));
    assert_eq!(end.await.unwrap(), (Sent, String::new(), 2));
    let head = "HTTP/1.1 422 No\r\ncontent-length: 99999999999\r\n\r\n{\"message\": \"no\"}";
    let (state, _, requests) = one(move |_| Reply::Endless(head.into())).await;
    assert_eq!((state, requests), (Failed, 1), "the status is enough");
}

#[tokio::test]
async fn slow_answers_are_awaited() {
    let late = |_: &Seen| Reply::Late(Duration::from_millis(700), Box::new(Reply::Accept));
    assert_eq!(one(late).await, (Sent, String::new(), 1));
}
