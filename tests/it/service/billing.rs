//! Subscriptions and sales invoice records.

use reqwest::Method;
use sheetport_records::token::Access;

use super::{Data, Running, answer, folder, load, start};

const SUBSCRIPTIONS: &str = "/v1/subscriptions/create";
const INVOICES: &str = "/v1/invoices/create";

async fn with_customers() -> (Data, Running) {
    let data = folder();
    let records = [
        ("company", r#"{"id":"c-1"}"#),
        ("contact", r#"{"id":"k-1","external_id":"ADA"}"#),
        ("item", r#"{"id":"bolt","external_id":"B-1"}"#),
    ];
    load(data.path(), "acme", &records).await;
    let theirs = [("contact", r#"{"id":"theirs"}"#), ("item", r#"{"id":"their-item"}"#)];
    load(data.path(), "other", &theirs).await;
    let service = start(data.path()).await;
    (data, service)
}

#[tokio::test]
async fn a_subscription_is_created() {
    let (_data, service) = with_customers().await;
    let body = r#"{"cid":"k-1","subscription_status":"paused","items":[{"id":"bolt","amount":1.50},
        {"id":"bolt","amount":2}],"currency":"EUR"}"#;
    let created = service.post(SUBSCRIPTIONS, body).await;
    let json = created.ok();
    let (id, at) = (json["id"].as_str().unwrap(), json["created_at"].as_str().unwrap());
    assert_eq!(
        created.text,
        format!(
            r#"{{"ok":true,"status":"paused","id":"{id}","cid":"k-1","subscription_status":"paused","items":[{{"id":"bolt","amount":1.50}},{{"id":"bolt","amount":2}}],"currency":"EUR","created_at":"{at}","updated_at":"{at}","ctx_id":"{}"}}"#,
            created.header("x-ctx-id")
        )
    );
    let least = service.post(SUBSCRIPTIONS, r#"{"cid":"c-1","items":[{"id":"bolt","amount":1}]}"#).await.ok();
    assert_eq!((&least["subscription_status"], least["currency"].is_null()), (&"active".into(), true));
    assert_ne!(least["id"], id);
    service.stop().await;
}

#[tokio::test]
async fn an_invoice_is_created() {
    let (_data, service) = with_customers().await;
    let body = r#"{"cid":"c-1","status":"scheduled","items":[{"id":"bolt","amount":3}],"currency":"USD"}"#;
    let created = service.post(INVOICES, body).await;
    let json = created.ok();
    let (id, at) = (json["id"].as_str().unwrap(), json["created_at"].as_str().unwrap());
    assert_eq!(
        created.text,
        format!(
            r#"{{"ok":true,"status":"scheduled","id":"{id}","cid":"c-1","items":[{{"id":"bolt","amount":3}}],"currency":"USD","created_at":"{at}","updated_at":"{at}","ctx_id":"{}"}}"#,
            created.header("x-ctx-id")
        )
    );
    let least = service.post(INVOICES, r#"{"cid":"k-1","items":[{"id":"bolt","amount":1}]}"#).await.ok();
    assert_eq!(least["status"], "draft");
    service.stop().await;
}

#[tokio::test]
async fn unknown_customers_and_items_are_a_422() {
    let (_data, service) = with_customers().await;
    let cases = [
        ("{}", r#"{"cid":["is required"],"items":["is required"]}"#),
        (r#"{"cid":"k-1","items":[]}"#, r#"{"items":["must not be empty"]}"#),
        (
            r#"{"cid":null,"items":[{},{"id":5,"amount":"1"},"bolt"],"currency":"euro"}"#,
            r#"{"cid":["must be a string, not null"],"items[0].id":["is required"],"items[0].amount":["is required"],
                "items[1].id":["must be a string, not a number"],"items[1].amount":["must be a number, not a string"],
                "items[2]":["must be an object, not a string"],
                "currency":["must be a three-letter code such as EUR"]}"#,
        ),
        (
            r#"{"cid":"ADA","items":[{"id":"bolt","amount":1},{"id":"B-1","amount":1},{"id":"their-item","amount":1}]}"#,
            r#"{"cid":["no such contact or company"],"items[1].id":["no such item"],
                "items[2].id":["no such item"]}"#,
        ),
        (
            r#"{"cid":"theirs","items":[{"id":"bolt","amount":1e40}]}"#,
            r#"{"items[0].amount":["has more than 28 digits"]}"#,
        ),
        (r#"{"cid":"theirs","items":[{"id":"bolt","amount":1}]}"#, r#"{"cid":["no such contact or company"]}"#),
    ];
    for path in [SUBSCRIPTIONS, INVOICES] {
        for (body, errors) in cases {
            service.post(path, body).await.invalid(errors);
        }
        service.post(path, "null").await.refused(400);
        service.get(path).await.refused(405);
        let regular = service.tokens("acme", Access::Regular).await.access;
        let request = service.request(Method::POST, path).bearer_auth(&regular);
        answer(request.header("content-type", "application/json").body("{}")).await.refused(403);
    }
    service
        .post(SUBSCRIPTIONS, r#"{"cid":"k-1","items":[{"id":"bolt","amount":1}],"subscription_status":""}"#)
        .await
        .invalid(r#"{"subscription_status":["must not be blank"]}"#);
    service.stop().await;
}
