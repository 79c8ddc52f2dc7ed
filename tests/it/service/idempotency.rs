//! `Idempotency-Key`: repetitions get the first response and take no effect.

use reqwest::{Method, StatusCode};
use sheetport_service::Service;

use super::{Answer, ITEMS, Running, answer, config, folder, start};

pub(super) const INVOICE: &str = r#"{"cid":"019a3c00-0003-7000-8000-000000000005","items":[{"id":"019a3c00-0001-7000-8000-000000000001","amount":10}]}"#;

pub(super) async fn demo(data: &std::path::Path) -> Running {
    let filling = Service::open(config(data)).await.unwrap();
    filling.fill_demo("acme").await.unwrap();
    filling.close().await;
    start(data).await
}

async fn send(service: &Running, method: Method, path: &str, key: &str, body: &str) -> Answer {
    let request = service.request(method, path).bearer_auth(&service.token).header("idempotency-key", key);
    answer(request.header("content-type", "application/json").body(body.to_owned())).await
}

pub(super) async fn invoice(service: &Running, key: &str, body: &str) -> Answer {
    send(service, Method::POST, "/v1/invoices/create", key, body).await
}

#[tokio::test]
async fn a_repetition_gets_the_stored_response_also_after_a_kill() {
    let data = folder();
    let service = demo(data.path()).await;
    let first = invoice(&service, "k-1", INVOICE).await;
    let again = invoice(&service, "\"k-1\"", INVOICE).await;
    assert_eq!((first.ok(), again.status), (again.json(), StatusCode::OK));
    assert_eq!((first.headers.get("idempotency-replayed"), again.header("idempotency-replayed")), (None, "true"));
    assert_ne!(first.header("x-ctx-id"), again.header("x-ctx-id"));
    service.kill().await;

    let service = start(data.path()).await;
    assert_eq!(invoice(&service, "k-1", INVOICE).await.ok(), first.json());
    let other = invoice(&service, "k-2", INVOICE).await.ok();
    assert_ne!(other["id"], first.json()["id"]);
    service.stop().await;
}

#[tokio::test]
async fn a_key_belongs_to_one_request_of_one_workspace() {
    let data = folder();
    let service = demo(data.path()).await;
    invoice(&service, "k", INVOICE).await.ok();
    let other = invoice(&service, "k", &INVOICE.replace("10", "11")).await.refused(422);
    assert!(other["message"].as_str().unwrap().contains("another path or body"), "{other}");
    send(&service, Method::POST, "/v1/subscriptions/create", "k", INVOICE).await.refused(422);
    let token = service.tokens("other", sheetport_records::token::Access::Full).await.access;
    let request = service.request(Method::POST, ITEMS).bearer_auth(token).header("idempotency-key", "k");
    answer(request.header("content-type", "application/json").body(r#"{"externalId":"A"}"#)).await.ok();
    for bad in ["", "\"", "a b", &"x".repeat(256)] {
        invoice(&service, bad, INVOICE).await.refused(400);
    }
    service.stop().await;
}

#[tokio::test]
async fn refused_requests_leave_their_key_free() {
    let data = folder();
    let service = demo(data.path()).await;
    invoice(&service, "k", r#"{"cid":"nobody","items":[{"id":"x","amount":1}]}"#).await.refused(422);
    invoice(&service, "k", "{}").await.refused(422);
    invoice(&service, "k", INVOICE).await.ok();
    // All writes know keys.
    let transaction = r#"{"transactionType":"in","inventoryExternalId":"L-01","transactionAmount":12}"#;
    let first = send(&service, Method::POST, "/v1/public/inventory-transactions", "t", transaction).await.ok();
    let again = send(&service, Method::POST, "/v1/public/inventory-transactions", "t", transaction).await.ok();
    assert_eq!(first, again);
    let order = r#"{"order":{"deliveryStatus":"shipped"},"triggerWorkflows":true}"#;
    let first = send(&service, Method::PUT, "/v1/public/orders/SO-2026-0001", "o", order).await.ok();
    assert_eq!(
        send(&service, Method::PUT, "/v1/public/orders/SO-2026-0001", "o", order).await.ok()["job_id"],
        first["job_id"]
    );
    let item = send(&service, Method::POST, ITEMS, "i", r#"{"externalId":"N"}"#).await.ok();
    assert_eq!(
        (&item["status"], &send(&service, Method::POST, ITEMS, "i", r#"{"externalId":"N"}"#).await.ok()["status"]),
        (&"created".into(), &"created".into())
    );
    service.stop().await;
}

#[tokio::test]
async fn of_many_requests_at_once_one_takes_effect() {
    let data = folder();
    let service = demo(data.path()).await;
    let sent = (0..20).map(|_| invoice(&service, "k", INVOICE));
    let answers = futures_util::future::join_all(sent).await;
    let mut ids = std::collections::HashSet::new();
    for answer in answers {
        match answer.status {
            StatusCode::CONFLICT => {}
            _ => drop(ids.insert(answer.ok()["id"].to_string())),
        }
    }
    assert_eq!(ids.len(), 1);
    let next = invoice(&service, "other", INVOICE).await.ok();
    assert!(!ids.contains(&next["id"].to_string()));
    service.stop().await;
}
