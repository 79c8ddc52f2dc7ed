//! Fault injection: rate limits, latency and faults.

use std::time::{Duration, Instant};

use reqwest::Method;
use sheetport::records::token::Access;
use sheetport::service::{Config, FaultInjection};

use super::{ITEMS, REFRESH, Running, answer, folder, start, start_with};

async fn start_with_faults(data: &tempfile::TempDir, faults: FaultInjection) -> Running {
    start_with(Config { fault_injection: Some(faults), ..Config::new(data.path()) }).await
}

fn failing(faults: &str, seed: u64) -> FaultInjection {
    FaultInjection { faults: faults.parse().unwrap(), ..FaultInjection::new(seed) }
}

async fn total(service: &Running) -> u64 {
    service.get(ITEMS).await.json()["total"].as_u64().unwrap()
}

fn upsert(service: &Running, n: u32) -> reqwest::RequestBuilder {
    let request = service.request(Method::POST, ITEMS).bearer_auth(&service.token);
    request.header("content-type", "application/json").body(format!(r#"{{"externalId":"{n}"}}"#))
}

#[tokio::test]
async fn responses_have_no_rate_limit_headers_by_default() {
    let data = folder();
    let service = start(data.path()).await;
    let headers = service.get(ITEMS).await.headers;
    assert!(headers.keys().all(|name| !name.as_str().starts_with("ratelimit")), "{headers:?}");
    service.stop().await;
}

#[tokio::test]
async fn a_workspace_over_its_limit_gets_a_429_with_retry_after() {
    let data = folder();
    let faults = FaultInjection { limit: Some("3/h".parse().unwrap()), ..FaultInjection::new(0) };
    let service = start_with_faults(&data, faults).await;
    for remaining in ["2", "1", "0"] {
        let answer = service.get(ITEMS).await;
        assert_eq!(answer.status, 200);
        assert_eq!((answer.header("ratelimit-limit"), answer.header("ratelimit-remaining")), ("3", remaining));
    }
    for _ in 0..2 {
        let answer = service.post(ITEMS, r#"{"externalId":"A"}"#).await;
        answer.refused(429);
        assert_eq!((answer.header("ratelimit-limit"), answer.header("ratelimit-remaining")), ("3", "0"));
        for name in ["retry-after", "ratelimit-reset"] {
            let seconds: u64 = answer.header(name).parse().unwrap();
            let whole = if name == "retry-after" { 1200 } else { 3600 };
            assert!((whole - 60..=whole).contains(&seconds), "{name}: {seconds}");
        }
    }
    let other = service.tokens("other", Access::Full).access;
    let request = |path| service.request(Method::GET, path);
    assert_eq!(answer(request(ITEMS).bearer_auth(other)).await.header("ratelimit-remaining"), "2");
    answer(request(ITEMS)).await.refused(401);
    for _ in 0..5 {
        assert_eq!(answer(request("/healthz")).await.status, 200);
    }
    service.stop().await;
}

#[tokio::test]
async fn injected_errors_have_error_bodies_and_half_of_the_writes_are_stored() {
    let data = folder();
    let service = start_with_faults(&data, failing("503:1", 1)).await;
    for n in 0..40 {
        answer(upsert(&service, n)).await.refused(503);
    }
    answer(service.request(Method::POST, REFRESH)).await.refused(503);
    assert_eq!(answer(service.request(Method::GET, "/healthz")).await.status, 200);
    service.stop().await;
    let service = start(data.path()).await;
    assert!((10..=30).contains(&total(&service).await), "{}", total(&service).await);
    service.stop().await;
}

#[tokio::test]
async fn an_injected_429_has_retry_after() {
    let data = folder();
    let service = start_with_faults(&data, failing("429:1", 1)).await;
    for n in 0..10 {
        let answer = answer(upsert(&service, n)).await;
        answer.refused(429);
        assert_eq!(answer.header("retry-after"), "1");
    }
    service.stop().await;
}

#[tokio::test]
async fn a_reset_closes_the_connection_without_a_response() {
    let data = folder();
    let service = start_with_faults(&data, failing("reset:1", 1)).await;
    for n in 0..40 {
        let error = upsert(&service, n).send().await.unwrap_err();
        assert!(error.is_request() && error.status().is_none(), "{error:?}");
    }
    service.stop().await;
    let service = start(data.path()).await;
    assert!((10..=30).contains(&total(&service).await), "{}", total(&service).await);
    service.stop().await;
}

#[tokio::test]
async fn a_cut_response_ends_after_half_of_its_body() {
    let data = folder();
    let service = start_with_faults(&data, failing("cut:1", 1)).await;
    let invalid = upsert(&service, 0).body("{}");
    for (request, status) in [(upsert(&service, 0), 200), (invalid, 422)] {
        let mut response = request.send().await.unwrap();
        assert_eq!(response.status(), status);
        let announced = response.content_length().unwrap();
        let mut received = 0;
        let error = loop {
            match response.chunk().await {
                Ok(Some(chunk)) => received += chunk.len() as u64,
                Ok(None) => panic!("the answer ended well"),
                Err(error) => break error,
            }
        };
        assert!(error.is_body() || error.is_decode(), "{error:?}");
        assert_eq!(received, announced / 2);
    }
    service.stop().await;
    let service = start(data.path()).await;
    assert_eq!(total(&service).await, 1);
    service.stop().await;
}

#[tokio::test]
async fn slow_responses_and_latency_add_up() {
    let data = folder();
    let (slow, latency) = (Duration::from_millis(30), Duration::from_millis(20));
    let service = start_with_faults(&data, FaultInjection { slow, latency, ..failing("slow:1", 1) }).await;
    for n in 0..6 {
        let began = Instant::now();
        assert_eq!(answer(upsert(&service, n)).await.status, 200);
        assert!(began.elapsed() >= slow + latency, "{:?}", began.elapsed());
    }
    assert_eq!(total(&service).await, 6);
    service.stop().await;
}

#[tokio::test]
async fn the_same_seed_repeats_the_same_faults() {
    let mut runs = Vec::new();
    for seed in [7, 7, 8] {
        let data = folder();
        let service = start_with_faults(&data, failing("500:0.3,reset:0.2", seed)).await;
        let mut statuses = Vec::new();
        for n in 0..40 {
            statuses.push(upsert(&service, n).send().await.ok().map(|response| response.status().as_u16()));
        }
        service.stop().await;
        let service = start(data.path()).await;
        runs.push((statuses, total(&service).await));
        service.stop().await;
    }
    assert_eq!(runs[0], runs[1]);
    assert_ne!(runs[0].0, runs[2].0);
}
