//! Tokens: renewed once for all workers, never sent to another address, never written to messages.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use secrecy::ExposeSecret;
use sheetport_client::auth::{Credentials, TokenFile};
use sheetport_client::{Client, ConnectOptions, Stop};
use sheetport_send::StopReason;

use super::server::{Reply, Seen, Server, answer};
use super::{Planned, client, client_of};

const REFRESH: &str = "/api/token/refresh/";

/// Accepts the token `newest`, and returns it on refresh.
fn renewing(seen: &Seen, newest: &str) -> Reply {
    match (seen.path.as_str(), seen.bearer.as_deref()) {
        (REFRESH, None) => answer(200, "", &format!(r#"{{"access": "{newest}", "refresh": "refresh-2"}}"#)),
        (_, Some(bearer)) if bearer == newest => Reply::Accept,
        _ => Reply::Late(
            Duration::from_millis(100),
            Box::new(answer(
                401,
                "",
                &format!(r#"{{"message": "expired: {}"}}"#, seen.bearer.as_deref().unwrap_or("")),
            )),
        ),
    }
}

fn refreshes(server: &Server) -> Vec<Seen> {
    server.log().into_iter().filter(|seen| seen.path == REFRESH).collect()
}

#[tokio::test]
async fn expired_token_is_renewed_once_for_all_workers() {
    let server = Server::start(|seen| renewing(seen, "access-2")).await;
    let planned = Planned::many(40).await;
    assert_eq!(planned.send(&server, 8).await, None);
    assert_eq!(planned.accounting().await.sent, 40);
    let refreshes = refreshes(&server);
    assert_eq!(refreshes.len(), 1);
    assert_eq!(refreshes[0].body, r#"{"refresh":"refresh-1"}"#);
    let log = server.log();
    let old = log.iter().filter(|seen| seen.bearer.as_deref() == Some("access-1")).count();
    let new = log.iter().filter(|seen| seen.bearer.as_deref() == Some("access-2")).count();
    assert_eq!((old, new), (8, 40));
    assert!(log.iter().skip_while(|seen| seen.path != REFRESH).all(|seen| seen.bearer.as_deref() != Some("access-1")));
}

#[tokio::test]
async fn refresh_token_alone_is_enough() {
    let server = Server::start(|seen| renewing(seen, "access-2")).await;
    let planned = Planned::many(10).await;
    let client = client_of(&server.address, None, Some("refresh-1"), 8);
    assert_eq!(planned.send_with(client, 8).await, None);
    assert_eq!(planned.accounting().await.sent, 10);
    assert_eq!(refreshes(&server).len(), 1);
}

#[tokio::test]
async fn refused_renewed_token_stops_the_run() {
    let server = Server::start(|seen| match seen.path.as_str() {
        REFRESH => answer(200, "", r#"{"access": "access-2"}"#),
        _ => answer(401, "", r#"{"message": "go away"}"#),
    })
    .await;
    let planned = Planned::many(40).await;
    assert_eq!(planned.send(&server, 8).await, Some(StopReason::Service(Stop::Unauthorized("go away".into()))));
    assert_eq!(planned.accounting().await.pending, 40);
    let most = server.bodies().into_values().max();
    assert_eq!(most, Some(2), "a record goes out twice at most");
    planned.resumes().await;
}

#[tokio::test]
async fn refused_refresh_token_is_not_sent_again() {
    let server = Server::start(|seen| match seen.path.as_str() {
        REFRESH => answer(401, "", r#"{"message": "blacklisted: refresh-1"}"#),
        _ => Reply::Late(Duration::from_millis(50), Box::new(answer(401, "", "{}"))),
    })
    .await;
    let planned = Planned::many(40).await;
    let Some(StopReason::Service(Stop::Unauthorized(reason))) = planned.send(&server, 8).await else {
        panic!("not stopped")
    };
    assert!(reason.contains("refresh token was not accepted") && reason.contains("blacklisted"), "{reason}");
    assert!(!reason.contains("refresh-1"), "{reason}");
    assert_eq!(refreshes(&server).len(), 1);
    assert_eq!(planned.accounting().await.pending, 40);
    planned.resumes().await;
}

#[tokio::test]
async fn truncated_401_renews_the_token() {
    let server = Server::start(|seen| match renewing(seen, "access-2") {
        Reply::Late(..) => Reply::Cut("HTTP/1.1 401 No\r\ncontent-length: 50\r\n\r\n{".into()),
        reply => reply,
    })
    .await;
    let planned = Planned::many(3).await;
    assert_eq!(planned.send(&server, 1).await, None);
    assert_eq!(planned.accounting().await.sent, 3);
}

#[tokio::test]
async fn throttled_renewal_pauses_all_workers() {
    let server = Server::start({
        let asked = AtomicUsize::new(0);
        move |seen| match seen.path.as_str() {
            REFRESH if asked.fetch_add(1, Ordering::Relaxed) == 0 => answer(429, "retry-after: 1\r\n", ""),
            _ => renewing(seen, "access-2"),
        }
    })
    .await;
    let planned = Planned::many(20).await;
    assert_eq!(planned.send(&server, 4).await, None);
    assert_eq!(planned.accounting().await.sent, 20);
    let refreshes = refreshes(&server);
    assert_eq!(refreshes.len(), 2);
    assert!(refreshes[1].came - refreshes[0].came >= Duration::from_secs(1));
}

#[tokio::test]
async fn redirects_are_never_followed() {
    let elsewhere = Server::start(|_| Reply::Accept).await;
    for status in [301, 302, 307, 308] {
        let location = format!("location: {}/v1/public/items\r\n", elsewhere.address);
        let server = Server::start(move |_| answer(status, &location, "")).await;
        let planned = Planned::many(20).await;
        let to = Some(format!("{}/v1/public/items", elsewhere.address));
        assert_eq!(planned.send(&server, 4).await, Some(StopReason::Service(Stop::Redirected { status, to })));
        assert!(server.log().len() <= 4, "only requests in flight");
        assert_eq!(planned.accounting().await.pending, 20);
        planned.resumes().await;
    }
    assert!(elsewhere.log().is_empty());
}

#[tokio::test]
async fn redirected_renewal_stops_the_run() {
    let elsewhere = Server::start(|_| answer(200, "", r#"{"access": "stolen"}"#)).await;
    let location = format!("location: {}{REFRESH}\r\n", elsewhere.address);
    let server = Server::start(move |seen| match seen.path.as_str() {
        REFRESH => answer(307, &location, ""),
        _ => answer(401, "", "{}"),
    })
    .await;
    let planned = Planned::many(2).await;
    let to = Some(format!("{}{REFRESH}", elsewhere.address));
    assert_eq!(planned.send(&server, 2).await, Some(StopReason::Service(Stop::Redirected { status: 307, to })));
    assert!(elsewhere.log().is_empty());
}

#[tokio::test]
async fn token_in_an_answer_is_masked_in_the_ledger() {
    let server = Server::start(|seen| {
        let bearer = seen.bearer.as_deref().unwrap();
        answer(400, "", &format!(r#"{{"message": "bad token {bearer}", "errors": {{"{bearer}": "{bearer}"}}}}"#))
    })
    .await;
    let planned = Planned::new(&["1"]).await;
    assert_eq!(planned.send_with(client(&server, 1), 1).await, None);
    let outcome = format!("{:?}", planned.outcome(0).await);
    assert!(!outcome.contains("access-1"), "{outcome}");
}

#[test]
fn secrets_in_a_base_address_are_refused_and_not_shown() {
    for address in
        ["https://user:secret@host", "https://host/?token=secret", "https://host/#secret", "user:secret@host"]
    {
        let credentials = Credentials::default();
        let error = Client::new(address, credentials, &ConnectOptions::default(), 1).unwrap_err();
        assert!(!format!("{error} {error:?}").contains("secret"), "{error}");
    }
}

/// Returns a JWT that is valid from `from` to `to`.
fn jwt(name: &str, from: i64, to: i64) -> String {
    let claims = serde_json::json!({"iat": from, "exp": to, "jti": name, "workspace": "w"});
    let key = jsonwebtoken::EncodingKey::from_secret(b"not verified");
    jsonwebtoken::encode(&jsonwebtoken::Header::default(), &claims, &key).unwrap()
}

#[tokio::test]
async fn token_is_renewed_before_it_expires() {
    let now = jiff::Timestamp::now().as_second();
    let (old, new) = (jwt("old", now - 900, now + 5), jwt("new", now, now + 900));
    let pair = format!(r#"{{"access_token": "{new}"}}"#);
    let server = Server::start(move |seen| match seen.path.as_str() {
        REFRESH => answer(200, "", &pair),
        _ => Reply::Accept,
    })
    .await;
    let planned = Planned::many(50).await;
    let client = client_of(&server.address, Some(&old), Some("refresh-1"), 4);
    assert_eq!(planned.send_with(client, 4).await, None);
    assert_eq!(refreshes(&server).len(), 1);
    assert!(server.log().iter().all(|seen| seen.path == REFRESH || seen.bearer.as_deref() == Some(&new)));
}

/// With a wrong clock every token looks expired, which must not lead to endless renewals.
#[tokio::test]
async fn token_that_always_looks_expired_is_renewed_once() {
    let server = Server::start(|seen| match seen.path.as_str() {
        REFRESH => answer(200, "", &format!(r#"{{"token": "{}"}}"#, jwt("new", 1_000, 2_000))),
        _ => Reply::Accept,
    })
    .await;
    let planned = Planned::many(50).await;
    let client = client_of(&server.address, Some(&jwt("old", 1_000, 2_000)), Some("refresh-1"), 4);
    assert_eq!(planned.send_with(client, 4).await, None);
    assert_eq!(refreshes(&server).len(), 1);
}

#[tokio::test]
async fn processes_share_renewed_tokens_and_store_them_before_use() {
    let folder = tempfile::tempdir().unwrap();
    let file = TokenFile::of(folder.path(), "default");
    let server = Server::start({
        let (asked, file) = (AtomicUsize::new(1), file.clone());
        move |seen| match seen.path.as_str() {
            REFRESH => {
                let number = asked.fetch_add(1, Ordering::Relaxed) + 1;
                let pair = format!(r#"{{"access": "access-{number}", "refresh": "refresh-{number}"}}"#);
                Reply::Late(Duration::from_millis(100), Box::new(answer(200, "", &pair)))
            }
            _ => {
                let kept = file.read().unwrap().unwrap().1.access.unwrap();
                let bearer = seen.bearer.as_deref().unwrap();
                let is_newest = bearer == kept.expose_secret() && bearer != "access-1";
                if is_newest { Reply::Accept } else { answer(401, "", "{}") }
            }
        }
    })
    .await;
    let (access, refresh) = (Some("access-1".into()), Some("refresh-1".into()));
    let credentials = Credentials { access, refresh, file: Some(file.clone()) };
    file.write(&server.address, &credentials).unwrap();
    let process = async || {
        let client = Client::new(&server.address, credentials.clone(), &ConnectOptions::default(), 2).unwrap();
        let planned = Planned::many(20).await;
        assert_eq!(planned.send_with(client.into(), 2).await, None);
        assert_eq!(planned.accounting().await.sent, 20);
    };
    tokio::join!(process(), process(), process());
    assert_eq!(refreshes(&server).len(), 1);
    let (address, kept) = file.read().unwrap().unwrap();
    assert_eq!((address.as_str(), kept.refresh.unwrap().expose_secret()), (server.address.as_str(), "refresh-2"));
}
