//! Tokens: refreshed once for all, never carried elsewhere, never repeated in words.

use std::time::Duration;

use sheetport::upload::StopReason;

use super::server::{Reply, Seen, Server, answer};
use super::{Planned, client_of};

const REFRESH: &str = "/api/token/refresh/";

/// Accepts the newest of the tokens `access-1`, `access-2`, … and hands out the next on refresh.
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
async fn an_expired_token_is_refreshed_once_for_all_workers() {
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
async fn a_refresh_token_alone_is_enough() {
    let server = Server::start(|seen| renewing(seen, "access-2")).await;
    let planned = Planned::many(10).await;
    let client = client_of(&server.address, None, Some("refresh-1"), 8);
    assert_eq!(planned.send_with(client, 8).await, None);
    assert_eq!(planned.accounting().await.sent, 10);
    assert_eq!(refreshes(&server).len(), 1);
}

#[tokio::test]
async fn a_token_that_is_refused_after_its_refresh_stops_the_run() {
    let server = Server::start(|seen| match seen.path.as_str() {
        REFRESH => answer(200, "", r#"{"access": "access-2"}"#),
        _ => answer(401, "", r#"{"message": "go away"}"#),
    })
    .await;
    let planned = Planned::many(40).await;
    assert_eq!(planned.send(&server, 8).await, Some(StopReason::Unauthorized("go away".into())));
    assert_eq!(planned.accounting().await.pending, 40);
    let most = server.bodies().into_values().max();
    assert_eq!(most, Some(2), "a record goes out twice at most");
    planned.resumes().await;
}

#[tokio::test]
async fn a_redirect_is_never_followed() {
    let elsewhere = Server::start(|_| Reply::Accept).await;
    for status in [301, 302, 307, 308] {
        let location = format!("location: {}/v1/public/items\r\n", elsewhere.address);
        let server = Server::start(move |_| answer(status, &location, "")).await;
        let planned = Planned::many(20).await;
        assert_eq!(planned.send(&server, 4).await, Some(StopReason::Redirected { status }));
        assert!(server.log().len() <= 4, "only what was under way");
        assert_eq!(planned.accounting().await.pending, 20);
        planned.resumes().await;
    }
    assert!(elsewhere.log().is_empty());
}
