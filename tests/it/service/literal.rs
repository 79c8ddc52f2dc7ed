//! A literal service takes and returns only what the contract shows. The expected bodies are written by hand from the contract.

use reqwest::Method;
use serde_json::Value;
use sheetport_service::{Config, Reading};

use super::{Data, Running, answer, folder, load, openapi, start_with};

const ORDERS: &str = "/v1/public/orders";
const INVOICE: &str = r#"{"cid":"c-1","items":[{"id":"bolt","amount":1}]}"#;
const TIMES: &str = r#""created_at":"2026-01-05T09:00:00Z","updated_at":"2026-01-06T10:00:00Z""#;

async fn literal() -> (Data, Running) {
    let data = folder();
    let with_times = |fields: &str| format!("{{{TIMES},{fields}}}");
    let item = with_times(r#""id":"bolt","external_id":"B-1","price":2.50,"tax":19"#);
    let company = with_times(r#""id":"c-1","external_id":"ACME","name":"Acme""#);
    let inventory = with_times(r#""id":"i-1","inventory_id":"INV-1","external_id":"L-1","name":"Bolts""#);
    let order = with_times(r#""id":"o-1","external_id":"SO-1","order_id":1001,"currency":"EUR""#);
    let records = [("item", &*item), ("company", &*company), ("inventory", &*inventory), ("order", &*order)];
    load(data.path(), "acme", &records).await;
    let service = start_with(Config { reading: Reading::Literal, ..Config::new(data.path()) }).await;
    (data, service)
}

#[tokio::test]
async fn responses_have_only_what_the_contract_shows() {
    let (_data, service) = literal().await;
    let order = r#"{"id":"o-1","order_at":"2026-01-05T09:00:00.000Z","created_at":"2026-01-05T09:00:00.000Z","updated_at":"2026-01-06T10:00:00.000Z","order_id":1001,"status":null,"delivery_status":null,"total_price":null,"total_price_without_tax":null,"number_item":null,"currency":"EUR","company_id":null,"contact_id":null}"#;
    let inventory = r#"{"created_at":"2026-01-05T09:00:00.000Z","updated_at":"2026-01-06T10:00:00.000Z","id":"i-1","inventory_id":"INV-1","name":"Bolts","status":null,"record_source":null,"record_source_detail":null,"inventory_status":null,"currency":null,"available":null,"committed":null,"unavailable":null,"initial_value":null,"total_inventory":null,"inventory_value":null,"unit_price":null,"warehouse_id":null,"item_ids":null,"date":null}"#;
    for (path, expected) in [
        ("/v1/public/items", r#"{"data":[{"id":"bolt","price":2.50,"updated_at":"2026-01-06T10:00:00.000Z"}]}"#),
        ("/v1/items?page=1&amount=5", r#"{"data":[{"id":"bolt"}]}"#),
        ("/v1/public/orders?page=1&limit=5", r#"{"data":[{"id":"o-1"}],"page":1,"count":5,"total":1,"message":"OK"}"#),
        ("/v1/orders/", r#"{"data":[{"id":"o-1"}]}"#),
        ("/v1/contacts", r#"{"data":[]}"#),
        ("/v1/public/orders/o-1", order),
        ("/v1/public/orders/-?external_id=SO-1", order),
        ("/v1/public/inventories", &format!("[{inventory}]")),
        ("/v1/public/inventories/i-1", inventory),
        ("/v1/public/inventories/-?external_id=L-1", inventory),
    ] {
        let answered = service.get(path).await;
        assert_eq!((answered.status.as_u16(), &*answered.text), (200, expected), "{path}");
    }
    let companies = service.get("/v1/public/companies").await.ok();
    assert_eq!(companies["data"].to_string(), r#"[{"id":"c-1"}]"#);
    let names: Vec<_> = companies.as_object().unwrap().keys().collect();
    assert_eq!(names, ["data", "page", "count", "total", "message", "ctx_id"]);
    let invoice = service.post("/v1/invoices/create", INVOICE).await.ok();
    assert_eq!(invoice.as_object().unwrap().keys().collect::<Vec<_>>(), ["ok", "status", "id"]);
    service.stop().await;
}

#[tokio::test]
async fn paths_have_record_ids_alone() {
    let (_data, service) = literal().await;
    for path in ["orders/SO-1", "orders/1001", "inventories/INV-1", "inventories/L-1"] {
        let refused = service.get(&format!("/v1/public/{path}")).await;
        assert_eq!((refused.status.as_u16(), &*refused.text), (404, r#"{"message":"no such record"}"#), "{path}");
    }
    let body = r#"{"order":{"externalId":"SO-1","deliveryStatus":"sent"}}"#;
    assert_eq!(service.put(&format!("{ORDERS}/SO-1"), body).await.status, 404);
    let updated = service.put(&format!("{ORDERS}/o-1"), body).await.ok();
    assert_eq!(updated["results"][0]["order_id"], "o-1");
    for (inventory, status) in [("i-1", 200), ("INV-1", 422), ("L-1", 422)] {
        let body = format!(r#"{{"transactionType":"in","inventoryId":"{inventory}","amount":1}}"#);
        assert_eq!(service.post("/v1/public/inventory-transactions", body).await.status, status, "{inventory}");
    }
    service.stop().await;
}

#[tokio::test]
async fn everything_else_is_refused() {
    let (_data, service) = literal().await;
    let message = |text: &str| serde_json::from_str::<Value>(text).unwrap()["message"].as_str().unwrap().to_owned();
    let refused =
        service.put(&format!("{ORDERS}/o-1"), r#"{"order":{"companyId":null},"createMissingItems":null}"#).await;
    assert_eq!(refused.status, 422, "{}", refused.text);
    let expected = "createMissingItems must be a boolean, not null; order.companyId must be a string, not null";
    assert_eq!(message(&refused.text), expected);
    let refused = service.post("/v1/public/items", r#"{"externalId":"A","prise":1}"#).await;
    assert_eq!(message(&refused.text), "prise is not a field of this call; did you mean price?");
    let refused = service.get("/v1/public/items?sort=name").await;
    assert_eq!(message(&refused.text), "sort is not a query parameter of this call");
    service.post("/v1/public/items", r#"{"externalId":"A","price":null}"#).await.ok();
    // The header of a key is one that such a service does not know.
    let mut ids = Vec::new();
    for _ in 0..2 {
        let request = service.request(Method::POST, "/v1/invoices/create").bearer_auth(&service.token);
        let request = request.header("content-type", "application/json").header("idempotency-key", "k").body(INVOICE);
        ids.push(answer(request).await.ok()["id"].clone());
    }
    assert_ne!(ids[0], ids[1]);
    service.stop().await;
}

#[tokio::test]
async fn the_document_says_that_the_service_is_literal_and_describes_it() {
    let (_data, service) = literal().await;
    let document = answer(service.request(Method::GET, "/openapi.json")).await.ok();
    assert!(document["info"]["description"].as_str().unwrap().contains("literal"), "{}", document["info"]);
    let text = document.to_string();
    for absent in ["Idempotency", "x-ctx-id", "x-total-count", "RateLimit"] {
        assert!(!text.contains(absent), "{absent}");
    }
    for (path, concrete) in [
        ("/v1/public/items", "/v1/public/items"),
        ("/v1/public/orders", "/v1/public/orders"),
        ("/v1/public/orders/{order_id}", "/v1/public/orders/o-1"),
        ("/v1/public/companies", "/v1/public/companies"),
        ("/v1/public/inventories", "/v1/public/inventories"),
    ] {
        let body = service.get(concrete).await.ok();
        assert_eq!(openapi::mismatches(&service, path, "get", &body).await, None, "{path}");
    }
    let order =
        &document["paths"]["/v1/public/orders/{order_id}"]["get"]["responses"]["200"]["content"]["application/json"];
    for part in ["schema", "example"] {
        assert!(!order[part].to_string().contains("external_id") && order[part].to_string().contains("company_id"));
    }
    service.stop().await;
}
