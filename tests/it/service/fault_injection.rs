//! Fault injection: rate limits, latency, and the faults of plans.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use reqwest::Method;
use serde_json::json;
use sheetport_records::token::Access;
use sheetport_service::{Config, FaultInjection, Plan};

use super::{ITEMS, REFRESH, Running, answer, folder, load, start, start_with};

async fn start_with_faults(data: &tempfile::TempDir, faults: FaultInjection) -> Running {
    start_with(Config { fault_injection: Some(faults), ..Config::new(data.path()) }).await
}

fn failing(faults: &str, seed: u64) -> FaultInjection {
    let mut plan = Plan::default();
    plan.extend(Plan::of_short_form(faults).unwrap());
    FaultInjection { plan, seed }
}

/// Returns the faults of a plan in TOML.
fn planned(plan: &str) -> FaultInjection {
    FaultInjection { plan: Plan::parse("plan.toml", plan).unwrap(), seed: 1 }
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
    let faults = planned("limit = \"3/h\"");
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
    // A refusal for the access counts as well.
    let regular = service.tokens("third", Access::Regular).await.access;
    let refused = answer(service.request(Method::POST, ITEMS).bearer_auth(regular).body("{}")).await;
    refused.refused(403);
    assert_eq!((refused.header("ratelimit-limit"), refused.header("ratelimit-remaining")), ("3", "2"));
    let other = service.tokens("other", Access::Full).await.access;
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
async fn refused_requests_have_no_effect() {
    let data = folder();
    let service = start_with_faults(&data, failing("422:0.5,429:0.5", 1)).await;
    for n in 0..40 {
        let answer = answer(upsert(&service, n)).await;
        match answer.status.as_u16() {
            429 => assert_eq!(answer.header("retry-after"), "1"),
            _ => drop(answer.refused(422)),
        }
    }
    service.stop().await;
    let service = start(data.path()).await;
    assert_eq!(total(&service).await, 0);
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
    let faults = planned("latency = \"20ms\"\n[[fault]]\ndelay = \"30ms\"");
    let service = start_with_faults(&data, faults).await;
    for n in 0..6 {
        let began = Instant::now();
        assert_eq!(answer(upsert(&service, n)).await.status, 200);
        assert!(began.elapsed() >= slow + latency, "{:?}", began.elapsed());
    }
    assert_eq!(total(&service).await, 6);
    service.stop().await;
}

#[tokio::test]
async fn the_same_seed_lets_the_same_records_fail_in_any_order() {
    let mut runs = Vec::new();
    for (seed, step) in [(7, 1), (7, 17), (8, 1)] {
        let data = folder();
        let service = start_with_faults(&data, failing("500:0.3,reset:0.2", seed)).await;
        let mut statuses = BTreeMap::new();
        for n in 0..40 {
            let record = n * step % 40;
            let mut attempts = Vec::new();
            for _ in 0..2 {
                let response = upsert(&service, record).send().await;
                attempts.push(response.ok().map(|response| response.status().as_u16()));
            }
            statuses.insert(record, attempts);
        }
        service.stop().await;
        let service = start(data.path()).await;
        runs.push((statuses, total(&service).await));
        service.stop().await;
    }
    assert_eq!(runs[0], runs[1]);
    assert_ne!(runs[0].0, runs[2].0);
}

#[tokio::test]
async fn rules_select_requests_by_method_path_key_attempt_and_call() {
    let data = folder();
    let service = start_with_faults(
        &data,
        planned(
            r#"
            [[fault]]
            key = "1?"
            attempt = "..2"
            answer = { status = 503, retry_after = "soon" }
            when = "before"
            [[fault]]
            method = "POST"
            path = "/v1/public/items"
            key = "7"
            answer = { status = 422, message = "no", errors = { price = "is low", name = ["is long", "is odd"] } }
            [[fault]]
            method = "GET"
            path = "/v1/public/orders"
            call = 2
            answer = { status = 403 }
            "#,
        ),
    )
    .await;
    for (record, expected) in [(10, [503, 503, 200]), (1, [200, 200, 200]), (7, [422, 422, 422])] {
        for status in expected {
            let answer = answer(upsert(&service, record)).await;
            assert_eq!(answer.status, status, "{record}");
            match status {
                503 => assert_eq!(answer.header("retry-after"), "soon"),
                422 => assert_eq!(answer.json()["errors"], json!({"price": ["is low"], "name": ["is long", "is odd"]})),
                _ => {}
            }
        }
    }
    for status in [200, 403, 200] {
        assert_eq!(service.get("/v1/public/orders").await.status, status);
    }
    assert_eq!(total(&service).await, 2);
    service.stop().await;
}

#[tokio::test]
async fn answers_can_be_anything() {
    let data = folder();
    let service = start_with_faults(
        &data,
        planned(
            r#"
            [[fault]]
            key = "1"
            answer = { refused = "line 1: no such item" }
            [[fault]]
            key = "2"
            when = "after"
            answer = { status = 200, content_type = "text/html", body = "<html>" }
            [[fault]]
            key = "3"
            answer = { status = 307, headers = { location = "http://elsewhere.invalid/" } }
            when = "before"
            [[fault]]
            key = "4"
            answer = { status = 429, retry_after_date = 30 }
            [[fault]]
            key = "5"
            ending = "garbage"
            [[fault]]
            key = "6"
            ending = "drip"
            [[fault]]
            key = "7"
            ending = "hang"
            when = "before"
            "#,
        ),
    )
    .await;
    let refused = answer(upsert(&service, 1)).await;
    let result = json!([{"external_id": "1", "status": "failed", "errors": ["line 1: no such item"]}]);
    assert_eq!(
        (refused.status.as_u16(), &refused.json()["ok"], &refused.json()["results"]),
        (200, &json!(false), &result)
    );
    let page = answer(upsert(&service, 2)).await;
    assert_eq!((page.status.as_u16(), page.header("content-type"), &*page.text), (200, "text/html", "<html>"));
    let direct = reqwest::Client::builder().no_proxy().redirect(reqwest::redirect::Policy::none()).build().unwrap();
    let redirect = direct.execute(upsert(&service, 3).build().unwrap()).await.unwrap();
    assert_eq!(
        (redirect.status().as_u16(), &redirect.headers()["location"]),
        (307, &"http://elsewhere.invalid/".parse().unwrap())
    );
    let date = answer(upsert(&service, 4)).await.header("retry-after").to_owned();
    let ahead = httpdate::parse_http_date(&date).unwrap().duration_since(std::time::SystemTime::now()).unwrap();
    assert!((20..=30).contains(&ahead.as_secs()), "{date}");
    let garbage = upsert(&service, 5).send().await.unwrap();
    assert_eq!(garbage.status(), 200);
    assert!(serde_json::from_slice::<serde_json::Value>(&garbage.bytes().await.unwrap()).is_err());
    let began = Instant::now();
    assert_eq!(answer(upsert(&service, 6)).await.json()["external_id"], "6");
    assert!(began.elapsed() > Duration::from_secs(1), "{:?}", began.elapsed());
    let hanging = upsert(&service, 7).timeout(Duration::from_millis(500)).send().await;
    assert!(hanging.unwrap_err().is_timeout());
    let listed: Vec<_> = service.get(ITEMS).await.json()["data"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| item["external_id"].clone())
        .collect();
    assert_eq!(listed, ["2", "5", "6"]);
    service.stop().await;
}

#[tokio::test]
async fn tokens_end_early_and_clocks_deviate() {
    let data = folder();
    let faults = planned("clock = \"-2h\"\n[[fault]]\ncall = 2\ntoken_expires = true");
    let service = start_with_faults(&data, faults).await;
    for status in [200, 401, 401] {
        let answer = service.get(ITEMS).await;
        assert_eq!(answer.status, status);
        let date = httpdate::parse_http_date(answer.header("date")).unwrap();
        let behind = std::time::SystemTime::now().duration_since(date).unwrap();
        assert!((7190..7210).contains(&behind.as_secs()), "{behind:?}");
    }
    let renewed = service.tokens("acme", Access::Full).await.access;
    assert_eq!(answer(service.request(Method::GET, ITEMS).bearer_auth(renewed)).await.status, 200);
    service.stop().await;
}

#[tokio::test]
async fn a_refused_order_has_all_fields_of_the_contract() {
    let data = folder();
    let service = start_with_faults(&data, planned("[[fault]]\nanswer = { refused = \"no\" }")).await;
    for (body, external_id) in [(r#"{"order":{}}"#, ""), (r#"{"order":{"externalId":"SO-1"}}"#, "SO-1")] {
        let refused = service.put("/v1/public/orders/17", body).await;
        let mut refusal = refused.json();
        assert_eq!(refusal["ctx_id"].take(), refused.header("x-ctx-id"));
        let result = json!({"external_id": external_id, "status": "failed", "order_id": "17", "errors": ["no"]});
        assert_eq!(refusal, json!({"ok": false, "results": [result], "job_id": "", "ctx_id": null}));
    }
    service.stop().await;
}

/// A client generated from the OpenAPI document reads a refusal like a success.
#[tokio::test]
async fn a_refused_record_has_all_fields_of_the_document() {
    let data = folder();
    let plan = "[[fault]]\nmethod = \"POST\"\nanswer = { refused = [\"no\", \"never\"] }";
    let service = start_with_faults(&data, planned(plan)).await;
    let billed = r#"{"cid":"c","items":[{"id":"i","amount":1.50}],"currency":"EUR"}"#;
    for (path, body) in [
        (ITEMS, r#"{"externalId":"A"}"#),
        ("/v1/public/inventory-transactions", r#"{"transactionType":"in","inventoryId":"L"}"#),
        ("/v1/invoices/create", billed),
        ("/v1/subscriptions/create", billed),
        ("/v1/invoices/create", "{}"),
    ] {
        let refused = service.post(path, body).await;
        assert_eq!(refused.status, 200, "{path}");
        let found = super::openapi::mismatches(&service, path, "post", &refused.json()).await;
        assert_eq!(found, None, "{path}: {}", refused.text);
        assert_eq!((&refused.json()["ok"], &refused.json()["status"]), (&json!(false), &json!("failed")), "{path}");
        assert_eq!(refused.json()["results"][0]["errors"], json!(["no", "never"]), "{path}");
    }
    service.stop().await;
}

#[tokio::test]
async fn keys_are_identifiers_and_attempts_are_of_one_workspace() {
    let data = folder();
    // "item*" is the beginning of a list's path, but of no record here.
    let plan = "[[fault]]\nkey = \"item*\"\nanswer = { status = 503 }\n\
                [[fault]]\nmethod = \"POST\"\nattempt = 1\nanswer = { status = 429 }";
    let service = start_with_faults(&data, planned(plan)).await;
    assert_eq!(service.get(ITEMS).await.status, 200);
    let first = service.post(ITEMS, r#"{"externalId":"A"}"#).await;
    first.refused(429);
    assert!(!first.headers.contains_key("retry-after"), "only if the plan has one");
    let other = service.other_calls(Method::POST, ITEMS, r#"{"externalId":"A"}"#).await;
    other.refused(429);
    assert_eq!(service.post(ITEMS, r#"{"externalId":"A"}"#).await.status, 200);
    assert_eq!(service.other_calls(Method::POST, ITEMS, r#"{"externalId":"A"}"#).await.status, 200);
    service.post(ITEMS, r#"{"externalId":"item-1"}"#).await.refused(503);
    service.stop().await;
}

#[tokio::test]
async fn the_end_of_a_token_is_combined_with_other_effects() {
    for (effects, status, stored) in [
        ("", Some(401), 0),
        ("answer = { status = 500 }\nwhen = \"after\"", Some(500), 1),
        ("answer = { status = 500 }\nwhen = \"before\"", Some(500), 0),
        ("ending = \"reset\"\nwhen = \"after\"", None, 1),
        ("ending = \"reset\"\nwhen = \"before\"", None, 0),
        ("when = \"after\"", Some(200), 1),
    ] {
        let data = folder();
        let plan = format!("[[fault]]\nmethod = \"POST\"\ntoken_expires = true\n{effects}");
        let service = start_with_faults(&data, planned(&plan)).await;
        let answered = upsert(&service, 1).send().await.ok().map(|answer| answer.status().as_u16());
        assert_eq!(answered, status, "{effects}");
        service.get(ITEMS).await.refused(401);
        let fresh = service.tokens("acme", Access::Full).await.access;
        let list = answer(service.request(Method::GET, ITEMS).bearer_auth(fresh)).await;
        assert_eq!(list.json()["total"], stored, "{effects}");
        service.stop().await;
    }
}

#[tokio::test]
async fn every_response_has_the_date_of_the_deviating_clock() {
    let data = folder();
    let service = start_with_faults(&data, planned("clock = \"+2h\"")).await;
    for path in [ITEMS, "/healthz", "/openapi.json", "/v1/nothing"] {
        let answer = answer(service.request(Method::GET, path)).await;
        let date = httpdate::parse_http_date(answer.header("date")).unwrap();
        let ahead = date.duration_since(std::time::SystemTime::now()).unwrap();
        assert!((7190..7210).contains(&ahead.as_secs()), "{path}: {ahead:?}");
    }
    service.stop().await;
}

#[tokio::test]
async fn a_retry_date_follows_the_date_of_the_response() {
    let data = folder();
    let faults = planned("clock = \"-2h\"\n[[fault]]\nanswer = { status = 429, retry_after_date = 30 }");
    let service = start_with_faults(&data, faults).await;
    let answer = service.get(ITEMS).await;
    let date = |name| httpdate::parse_http_date(answer.header(name)).unwrap();
    assert_eq!(date("retry-after").duration_since(date("date")).unwrap(), Duration::from_secs(30));
    let behind = std::time::SystemTime::now().duration_since(date("date")).unwrap();
    assert!((7190..7210).contains(&behind.as_secs()), "{behind:?}");
    service.stop().await;
}

#[tokio::test]
async fn lists_mislead() {
    for (fault, first, second) in [
        ("paging = \"page-ignored\"", json!(["1", "2"]), json!(["1", "2"])),
        ("paging = \"repeats\"", json!(["1", "2"]), json!(["2", "3", "4"])),
        ("paging = \"moves\"", json!(["1", "2"]), json!(["4"])),
        ("max_page = 1", json!(["1"]), json!(["2"])),
    ] {
        let data = folder();
        let service = start_with_faults(&data, planned(&format!("[[fault]]\nmethod = \"GET\"\n{fault}"))).await;
        for n in 1..=4 {
            assert_eq!(answer(upsert(&service, n)).await.status, 200);
        }
        for (page, expected) in [(1, &first), (2, &second)] {
            let list = service.get(&format!("{ITEMS}?page={page}&limit=2")).await.json();
            let ids: Vec<_> = list["data"].as_array().unwrap().iter().map(|item| item["external_id"].clone()).collect();
            assert_eq!(&json!(ids), expected, "{fault}, page {page}");
        }
        service.stop().await;
    }
}

#[tokio::test]
async fn totals_in_headers_mislead() {
    for paging in ["count-lies", "total-lies"] {
        let data = folder();
        let inventories = [("inventory", r#"{"id":"i-1"}"#), ("inventory", r#"{"id":"i-2"}"#)];
        load(data.path(), "acme", &inventories).await;
        let service = start_with_faults(&data, planned(&format!("[[fault]]\npaging = \"{paging}\""))).await;
        let page = service.get("/v1/public/inventories?limit=1").await;
        assert_eq!((page.header("x-total-count"), page.json().as_array().unwrap().len()), ("1", 1), "{paging}");
        service.stop().await;
    }
}
