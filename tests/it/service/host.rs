//! The service answers to its own hosts only, so that a web page of another site can't reach it.

use reqwest::header::HOST;
use reqwest::{Method, StatusCode};
use sheetport_service::Config;

use super::{ITEMS, answer, folder, start, start_with};

#[tokio::test]
async fn a_page_of_another_site_can_not_reach_the_service() {
    let data = folder();
    let service = start(data.path()).await;
    for foreign in ["evil.example", "evil.example:8787", "127.0.0.1.evil.example", "192.0.2.7"] {
        for (method, path) in [(Method::GET, ITEMS), (Method::POST, ITEMS), (Method::GET, "/openapi.json")] {
            let request = service.request(method, path).bearer_auth(&service.token).header(HOST, foreign);
            let refused = answer(request).await;
            assert_eq!(refused.status, StatusCode::MISDIRECTED_REQUEST, "{foreign} {path}: {}", refused.text);
            let message = refused.json()["message"].as_str().unwrap().to_owned();
            let host = foreign.split(':').next().unwrap();
            assert!(message.contains(&format!("sheetport serve --host-name {host}")), "{message}");
        }
        let probe = answer(service.request(Method::GET, "/healthz").header(HOST, foreign)).await;
        assert_eq!((probe.status, probe.text.as_str()), (StatusCode::OK, r#"{"ok":true}"#));
    }
    for own in ["localhost", "LocalHost:80", "127.0.0.1", "[::1]:9"] {
        let request = service.request(Method::GET, ITEMS).bearer_auth(&service.token).header(HOST, own);
        assert_eq!(answer(request).await.status, StatusCode::OK, "{own}");
    }
    let twice =
        service.request(Method::GET, ITEMS).bearer_auth(&service.token).header(HOST, "localhost").header(HOST, "::1");
    answer(twice).await.refused(400);
    service.stop().await;
}

#[tokio::test]
async fn the_name_of_a_proxy_is_answered_if_it_is_given() {
    let data = folder();
    let config = Config { host_names: vec!["api.example.com".to_owned()], ..Config::new(data.path()) };
    let service = start_with(config).await;
    for (host, status) in [
        ("api.example.com", StatusCode::OK),
        ("API.example.com.:443", StatusCode::OK),
        ("www.example.com", StatusCode::MISDIRECTED_REQUEST),
    ] {
        let request = service.request(Method::GET, ITEMS).bearer_auth(&service.token).header(HOST, host);
        assert_eq!(answer(request).await.status, status, "{host}");
    }
    service.stop().await;
}
