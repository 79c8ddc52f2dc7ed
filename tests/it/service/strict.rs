//! Strict mode names unknown fields and parameters; `/readyz` tells whether the database works.

use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use sheetport_service::{Config, Reading};

use super::{ITEMS, Running, answer, folder, start, start_with};

async fn strict(data: &std::path::Path) -> Running {
    start_with(Config { reading: Reading::Strict, ..Config::new(data) }).await
}

#[track_caller]
fn errors(answer: &super::Answer) -> Value {
    assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY, "{}", answer.text);
    answer.json()["errors"].clone()
}

#[tokio::test]
async fn unknown_fields_and_parameters_are_named_with_the_nearest_known_one() {
    let data = folder();
    let service = strict(data.path()).await;
    let refused = service.post(ITEMS, r#"{"externalId":"A","prise":1,"price":"x","zzz":null}"#).await;
    assert_eq!(
        errors(&refused),
        json!({
            "price": ["must be a number or null, not a string"],
            "prise": ["is not a field of this call; did you mean price?"],
            "zzz": ["is not a field of this call"],
        })
    );
    let order =
        r#"{"order":{"items":[{"item_id":"I"},{"itemExternalID":"A","item_id":"I"}],"deliverystatus":"x"},"x":{}}"#;
    assert_eq!(
        errors(&service.put("/v1/public/orders/1", order).await),
        json!({
            "order.deliverystatus": ["is not a field of this call; did you mean deliveryStatus?"],
            "order.items[1].itemExternalID": ["is not a field of this call; did you mean itemExternalId?"],
            "x": ["is not a field of this call"],
        })
    );
    let refused = service.get("/v1/public/items?page=1&limt=5&sort=name").await;
    let named = errors(&refused);
    assert_eq!(named["limt"], json!(["is not a query parameter of this call; did you mean limit?"]));
    assert_eq!(named["sort"], json!(["is not a query parameter of this call"]));
    errors(&service.get("/v1/items?limit=5").await);
    errors(&service.post("/v1/public/items?page=1", r#"{"externalId":"A"}"#).await);
    let refresh = service.request(Method::POST, super::REFRESH).header("content-type", "application/json");
    let refused = answer(refresh.body(r#"{"refresh":"x","token":"y"}"#)).await;
    assert_eq!(errors(&refused), json!({"token": ["is not a field of this call"]}));

    service.upsert(r#"{"externalId":"A","price":1}"#).await;
    service.get("/v1/public/items?page=1&limit=5").await.ok();
    service.get("/v1/items?page=1&amount=5").await.ok();
    service.get("/v1/public/orders/1?external_id=x").await.refused(404);
    service.get("/v1/public/nothing?x=1").await.refused(404);
    service.stop().await;
}

#[tokio::test]
async fn unknown_fields_are_ignored_otherwise() {
    let data = folder();
    let service = start(data.path()).await;
    service.upsert(r#"{"externalId":"A","prise":1}"#).await;
    service.get("/v1/public/items?limt=5").await.ok();
    service.stop().await;
}

#[tokio::test]
async fn a_service_whose_database_is_locked_is_alive_but_not_ready() {
    use sqlx::{ConnectOptions, Connection, raw_sql, sqlite::SqliteConnectOptions};

    let data = folder();
    let service = start(data.path()).await;
    let probe = async |path: &str| answer(service.request(Method::GET, path)).await;
    assert_eq!(probe("/readyz").await.ok(), json!({"ok": true}));
    let mut other = SqliteConnectOptions::new().filename(data.path().join("service.db")).connect().await.unwrap();
    raw_sql("BEGIN IMMEDIATE").execute(&mut other).await.unwrap();
    probe("/readyz").await.refused(503);
    probe("/healthz").await.ok();
    raw_sql("ROLLBACK").execute(&mut other).await.unwrap();
    other.close().await.unwrap();
    assert_eq!(probe("/readyz").await.ok(), json!({"ok": true}));
    service.stop().await;
}
