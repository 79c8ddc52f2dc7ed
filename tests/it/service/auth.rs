//! Authentication: bearer tokens, access levels, refresh.

use std::time::Duration;

use jsonwebtoken::{Algorithm, EncodingKey, Header};
use reqwest::Method;
use serde_json::{Value, json};
use sheetport_records::token::Access;
use sheetport_service::{Config, Error, issue_tokens};

use super::{ITEMS, REFRESH, Running, answer, folder, start, start_with};

async fn get_with(service: &Running, authorization: &str) -> super::Answer {
    answer(service.request(Method::GET, ITEMS).header("authorization", authorization)).await
}

async fn refresh(service: &Running, body: impl Into<reqwest::Body>) -> super::Answer {
    answer(service.request(Method::POST, REFRESH).header("content-type", "application/json").body(body)).await
}

fn signed(key: &[u8], algorithm: Algorithm, claims: &Value) -> String {
    jsonwebtoken::encode(&Header::new(algorithm), claims, &EncodingKey::from_secret(key)).unwrap()
}

#[tokio::test]
async fn only_valid_access_tokens_are_accepted() {
    let data = folder();
    let service = start(data.path()).await;
    let good = service.tokens("acme", Access::Regular).await;
    assert_eq!(get_with(&service, &format!("bearer {}", good.access)).await.status, 200);

    let key = std::fs::read(data.path().join("signing.key")).unwrap();
    let claims = json!({"workspace": "acme", "access": "full", "kind": "access", "iat": 0, "exp": 99_999_999_999_i64,
        "jti": "x"});
    assert_eq!(get_with(&service, &format!("Bearer {}", signed(&key, Algorithm::HS256, &claims))).await.status, 200);

    let parts: Vec<&str> = good.access.split('.').collect();
    let theirs = service.tokens("theirs", Access::Full).await.access;
    // {"alg":"none","typ":"JWT"}
    let none = "eyJhbGciOiJub25lIiwidHlwIjoiSldUIn0";
    let expired = Config { access_lifetime: Duration::ZERO, ..service.config.clone() };
    let with = |name: &str, value: Value| {
        let mut claims = claims.clone();
        claims[name] = value;
        signed(&key, Algorithm::HS256, &claims)
    };
    let tokens = [
        ("alg none without signature", format!("{none}.{}.", parts[1])),
        ("alg none with signature", format!("{none}.{}.{}", parts[1], parts[2])),
        ("the payload of another token", format!("{}.{}.{}", parts[0], theirs.split('.').nth(1).unwrap(), parts[2])),
        ("another key", signed(&[0; 32], Algorithm::HS256, &claims)),
        ("another algorithm with our key", signed(&key, Algorithm::HS512, &claims)),
        ("expired", issue_tokens(&expired, "acme", Access::Full).await.unwrap().access),
        ("a refresh token", good.refresh.clone()),
        ("no expiry", with("exp", Value::Null)),
        ("an expiry in words", with("exp", "never".into())),
        ("another permission level", with("access", "owner".into())),
        ("another kind", with("kind", "session".into())),
        ("not a token", "abc".to_owned()),
        ("dots", "..".to_owned()),
    ];
    for (what, token) in tokens {
        let refused = get_with(&service, &format!("Bearer {token}")).await;
        refused.refused(401);
        assert_eq!(refused.header("www-authenticate"), "Bearer", "{what}");
        assert!(!refused.text.contains(&token) || token.len() < 5, "{what}: the response must not contain the token");
    }
    for header in ["", "Bearer", "Bearer ", &good.access, &format!("Basic {}", good.access), "Bearer \u{e9}"] {
        get_with(&service, header).await.refused(401);
    }
    answer(service.request(Method::GET, ITEMS)).await.refused(401);
    let twice = service.request(Method::GET, ITEMS).bearer_auth(&good.access).bearer_auth(&good.access);
    answer(twice).await.refused(401);
    answer(service.request(Method::POST, ITEMS).body("not even JSON")).await.refused(401);
    service.stop().await;
}

#[tokio::test]
async fn regular_tokens_are_read_only() {
    let data = folder();
    let service = start(data.path()).await;
    let token = service.tokens("acme", Access::Regular).await.access;
    let request = service.request(Method::POST, ITEMS).bearer_auth(&token);
    answer(request.header("content-type", "application/json").body(r#"{"externalId":"A"}"#)).await.refused(403);
    let list = answer(service.request(Method::GET, ITEMS).bearer_auth(&token)).await;
    assert_eq!(list.json()["total"], 0);
    service.stop().await;
}

#[tokio::test]
async fn a_refresh_returns_an_access_token_of_the_same_access_level() {
    let data = folder();
    let service = start(data.path()).await;
    let tokens = service.tokens("acme", Access::Regular).await;
    let refreshed = refresh(&service, format!(r#"{{"refresh":"{}"}}"#, tokens.refresh)).await;
    assert_eq!(refreshed.status, 200);
    let body = refreshed.json();
    assert_eq!(refreshed.header("cache-control"), "no-store");
    assert_eq!(body.as_object().unwrap().keys().collect::<Vec<_>>(), ["access"]);
    let access = body["access"].as_str().unwrap();
    assert_ne!(access, tokens.access);
    assert_eq!(get_with(&service, &format!("Bearer {access}")).await.status, 200);
    let post = service.request(Method::POST, ITEMS).bearer_auth(access).header("content-type", "application/json");
    answer(post.body(r#"{"externalId":"A"}"#)).await.refused(403);
    service.stop().await;
}

#[tokio::test]
async fn rotation_also_returns_a_refresh_token() {
    let data = folder();
    let service = start_with(Config { rotate_refresh: true, ..Config::new(data.path()) }).await;
    let first = service.tokens("acme", Access::Full).await.refresh;
    let body = refresh(&service, format!(r#"{{"refresh":"{first}"}}"#)).await.json();
    let second = body["refresh"].as_str().unwrap();
    assert_ne!(second, first);
    let body = refresh(&service, format!(r#"{{"refresh":"{second}"}}"#)).await.json();
    let access = body["access"].as_str().unwrap();
    assert_eq!(get_with(&service, &format!("Bearer {access}")).await.status, 200);
    get_with(&service, &format!("Bearer {second}")).await.refused(401);
    service.stop().await;
}

#[tokio::test]
async fn a_replaced_refresh_token_is_void_when_the_new_one_is_used() {
    let data = folder();
    let config = Config { rotate_refresh: true, ..Config::new(data.path()) };
    let service = start_with(config.clone()).await;
    let first = service.tokens("acme", Access::Full).await.refresh;
    let renew = async |service: &Running, token: &str| refresh(service, format!(r#"{{"refresh":"{token}"}}"#)).await;
    let lost = renew(&service, &first).await.json()["refresh"].as_str().unwrap().to_owned();
    // The answer was lost: the client sends the old one again.
    let second = renew(&service, &first).await.json()["refresh"].as_str().unwrap().to_owned();
    assert_ne!(second, lost);
    let third = renew(&service, &second).await.json()["refresh"].as_str().unwrap().to_owned();
    let refused = renew(&service, &first).await.refused(401);
    assert!(refused["message"].as_str().unwrap().contains("was replaced by a newer one"), "{refused}");
    service.stop().await;

    for config in [config.clone(), Config { rotate_refresh: false, ..config }] {
        let service = start_with(config).await;
        renew(&service, &first).await.refused(401);
        assert_eq!(renew(&service, &second).await.status, 200, "the third one has not arrived yet");
        service.stop().await;
    }
    let service = start(data.path()).await;
    assert_eq!(renew(&service, &third).await.status, 200);
    service.stop().await;
}

#[tokio::test]
async fn a_refresh_requires_a_valid_refresh_token() {
    let data = folder();
    let service = start(data.path()).await;
    let tokens = service.tokens("acme", Access::Full).await;
    let expired = Config { refresh_lifetime: Duration::ZERO, ..service.config.clone() };
    let expired = issue_tokens(&expired, "acme", Access::Full).await.unwrap().refresh;
    for token in [tokens.access.as_str(), &expired, "abc", ""] {
        let refused = refresh(&service, format!(r#"{{"refresh":"{token}"}}"#)).await;
        refused.refused(401);
        assert_eq!(refused.header("www-authenticate"), "Bearer");
    }
    refresh(&service, "{}").await.invalid(r#"{"refresh":["is required"]}"#);
    refresh(&service, r#"{"refresh":5}"#).await.invalid(r#"{"refresh":["must be a string"]}"#);
    refresh(&service, "").await.refused(400);
    let body = format!(r#"{{"refresh":"{}"}}"#, tokens.refresh);
    answer(service.request(Method::POST, REFRESH).body(body.clone())).await.refused(415);
    let bare = service.request(Method::POST, REFRESH.trim_end_matches('/'));
    answer(bare.header("content-type", "application/json").body(body)).await.refused(404);
    service.stop().await;
}

#[tokio::test]
async fn invalid_workspace_names_get_no_tokens() {
    let data = folder();
    for name in ["", "a b", "a/b", &"x".repeat(65)] {
        let error = issue_tokens(&Config::new(data.path()), name, Access::Full).await.err().unwrap();
        assert!(matches!(error, Error::WorkspaceName { .. }), "{error}");
        assert!(!error.hint().is_empty());
    }
}
