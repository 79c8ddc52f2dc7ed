//! Lists of other records than items: envelopes, entries and pages.

use reqwest::Method;
use serde_json::Value;
use sheetport_records::token::Access;

use super::{Data, Running, answer, folder, load, start};

const ORDER: &str = r#"{"id":"o-1","order_at":"2026-01-05T09:00:00Z","created_at":"2026-01-05T09:00:01Z",
    "updated_at":"2026-01-06T10:00:00Z","order_id":1001,"status":"open","delivery_status":"pending",
    "total_price":119.00,"total_price_without_tax":100.00,"number_item":2,"currency":"EUR","company_id":"c-1",
    "contact_id":null,"external_id":"SO-1"}"#;

const INVENTORY: &str = r#"{"created_at":"2026-01-01T00:00:00Z","updated_at":"2026-01-02T00:00:00Z","id":"i-1",
    "inventory_id":"INV-7","name":"Bolts","status":"active","record_source":"import","record_source_detail":"stock.csv",
    "inventory_status":"in_stock","currency":"EUR","available":10,"committed":2,"unavailable":1,"initial_value":13,
    "total_inventory":13,"inventory_value":32.50,"unit_price":2.50,"warehouse_id":"w-1","item_ids":["a","b"],
    "date":"2026-01-01T00:00:00Z","external_id":null}"#;

fn value(json: &str) -> Value {
    serde_json::from_str(json).unwrap()
}

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

async fn with_records() -> (Data, Running) {
    let data = folder();
    let company = r#"{"id":"c-1","external_id":"ACME","name":"Acme","vat":"DE1","tags":["a",{"b":1.50}],
        "created_at":"2026-01-01T00:00:00Z","updated_at":"2026-01-01T00:00:00Z"}"#;
    let contact = r#"{"id":"k-1","name":"Ada","company_id":"c-1","created_at":"2026-01-01T00:00:00Z",
        "updated_at":"2026-01-01T00:00:00Z"}"#;
    let records =
        [("order", ORDER), ("inventory", INVENTORY), ("company", company), ("contact", contact), ("order", r#"{}"#)];
    load(data.path(), "acme", &records).await;
    let service = start(data.path()).await;
    (data, service)
}

#[tokio::test]
async fn lists_of_both_families_contain_orders_in_the_read_shape() {
    let (_data, service) = with_records().await;
    for (path, size) in [("/v1/public/orders", "limit"), ("/v1/orders/", "amount")] {
        let list = service.get(path).await.ok();
        assert_eq!(keys(&list), ["data", "page", "count", "total", "message", "ctx_id"]);
        assert_eq!((&list["page"], &list["count"], &list["total"]), (&1.into(), &100.into(), &2.into()));
        assert!(list["message"].is_string() && list["ctx_id"].is_string());
        let expected = ORDER.replace(":00Z", ":00.000Z").replace(":01Z", ":01.000Z");
        assert_eq!(list["data"][0], value(&expected));
        assert_eq!(keys(&list["data"][1]), keys(&list["data"][0]));
        assert_eq!(list["data"][1]["order_id"], 2);

        let second = service.get(&format!("{path}?page=2&{size}=1")).await.ok();
        assert_eq!((&second["page"], &second["count"], &second["total"]), (&2.into(), &1.into(), &2.into()));
        assert_eq!(second["data"].as_array().unwrap().len(), 1);
        assert_eq!(second["data"][0], list["data"][1]);
        let refused = service.get(&format!("{path}?page=0&{size}=x")).await;
        let why = r#"["must be a whole number of at least 1"]"#;
        refused.invalid(&format!(r#"{{"page":{why},"{size}":{why}}}"#));
    }
    // The families differ in the parameter of the page size; the older path has a trailing slash.
    assert_eq!(service.get("/v1/orders/?limit=1").await.ok()["count"], 100);
    assert_eq!(service.get("/v1/public/orders?amount=1").await.ok()["count"], 100);
    for (path, known) in [("/v1/orders", "/v1/orders/"), ("/v1/public/orders/", "/v1/public/orders"), ("/v2", "/docs")]
    {
        let message = service.get(path).await.refused(404)["message"].to_string();
        assert!(message.contains(known), "{path}: {message}");
    }
    service.stop().await;
}

#[tokio::test]
async fn companies_and_contacts_keep_further_fields() {
    let (_data, service) = with_records().await;
    let list = service.get("/v1/public/companies").await.ok();
    assert_eq!(keys(&list), ["data", "page", "count", "total", "message", "ctx_id"]);
    let company = r#"{"id":"c-1","external_id":"ACME","name":"Acme","email":null,"phone":null,"status":null,
        "created_at":"2026-01-01T00:00:00.000Z","updated_at":"2026-01-01T00:00:00.000Z","vat":"DE1",
        "tags":["a",{"b":1.50}]}"#;
    assert_eq!((&list["data"], &list["total"]), (&value(&format!("[{company}]")), &1.into()));

    let list = service.get("/v1/contacts?amount=5").await.ok();
    assert_eq!(keys(&list), ["data", "page", "count", "total", "message", "ctx_id"]);
    let contact = r#"{"id":"k-1","external_id":null,"name":"Ada","email":null,"phone":null,"company_id":"c-1",
        "status":null,"created_at":"2026-01-01T00:00:00.000Z","updated_at":"2026-01-01T00:00:00.000Z"}"#;
    assert_eq!((&list["data"], &list["count"]), (&value(&format!("[{contact}]")), &5.into()));
    service.stop().await;
}

#[tokio::test]
async fn the_list_of_inventories_is_a_bare_array() {
    let (_data, service) = with_records().await;
    let list = service.get("/v1/public/inventories").await;
    let expected = INVENTORY.replace(":00Z", ":00.000Z");
    assert_eq!(list.ok(), value(&format!("[{expected}]")));
    assert!(list.text.contains(r#""inventory_value":32.50,"#), "{}", list.text);
    assert_eq!(list.header("x-total-count"), "1");
    assert_eq!(service.get("/v1/public/inventories?page=2&limit=1").await.text, "[]");
    service
        .get("/v1/public/inventories?limit=0")
        .await
        .invalid(r#"{"limit":["must be a whole number of at least 1"]}"#);
    service.stop().await;
}

#[tokio::test]
async fn inventories_are_found_by_any_id_within_their_workspace() {
    let data = folder();
    let inventory = INVENTORY.replace(r#""external_id":null"#, r#""external_id":"EXT/1 ü""#);
    load(data.path(), "acme", &[("inventory", &inventory)]).await;
    let service = start(data.path()).await;
    let expected = value(&inventory.replace(":00Z", ":00.000Z"));
    let paths = ["i-1", "INV-7", "i-1?external_id=", "nothing?external_id=EXT%2F1%20%C3%BC"];
    for path in paths {
        let path = format!("/v1/public/inventories/{path}");
        for language in ["de", "fr-CH, fr;q=0.9", "*", "not a language"] {
            let request = service.request(Method::GET, &path).header("accept-language", language);
            assert_eq!(answer(request.bearer_auth(&service.token)).await.ok(), expected);
        }
        let regular = service.tokens("acme", Access::Regular).await.access;
        assert_eq!(answer(service.request(Method::GET, &path).bearer_auth(regular)).await.status, 200);
    }
    let mut messages = Vec::new();
    for path in ["nothing", "EXT", "i-1?external_id=nothing", "%00", "i-1%00", "%ff"] {
        let refused = service.get(&format!("/v1/public/inventories/{path}")).await;
        messages.push(refused.refused(404)["message"].clone());
    }
    for path in paths {
        let refused = service.other_calls(Method::GET, &format!("/v1/public/inventories/{path}"), "").await;
        messages.push(refused.refused(404)["message"].clone());
    }
    messages.dedup();
    assert_eq!(messages.len(), 1, "{messages:?}");
    let twice = service.get("/v1/public/inventories/i-1?external_id=a&external_id=b").await;
    twice.invalid(r#"{"external_id":["must not be repeated"]}"#);
    service.stop().await;
}

#[tokio::test]
async fn both_families_list_the_same_items() {
    let data = folder();
    let service = start(data.path()).await;
    for n in 0..3 {
        service.upsert(format!(r#"{{"externalId":"{n}","price":1.50}}"#)).await;
    }
    let older = service.get("/v1/items?page=2&amount=2").await.ok();
    assert_eq!((&older["page"], &older["count"], &older["total"]), (&2.into(), &2.into(), &3.into()));
    assert_eq!(older["data"], service.get("/v1/public/items?page=2&limit=2").await.ok()["data"]);
    // The contract's fields, then further fields of uploads.
    let fields = keys(&older["data"][0]);
    assert_eq!(fields[..6], ["id", "name", "price", "currency", "status", "updated_at"]);
    assert_eq!(fields[6..], ["external_id", "description", "purchase_price", "tax"]);
    service.stop().await;
}

#[tokio::test]
async fn lists_contain_only_records_of_the_workspace() {
    let (_data, service) = with_records().await;
    for path in ["/v1/public/orders", "/v1/orders/", "/v1/public/companies", "/v1/contacts", "/v1/items"] {
        let list = service.other_calls(Method::GET, path, "").await.ok();
        assert_eq!((&list["data"], &list["total"]), (&value("[]"), &0.into()), "{path}");
        answer(service.request(Method::GET, path)).await.refused(401);
        answer(service.request(Method::POST, path)).await.refused(401);
        service.post(path, "{}").await.refused(405);
    }
    assert_eq!(service.other_calls(Method::GET, "/v1/public/inventories", "").await.text, "[]");
    service.stop().await;
}
