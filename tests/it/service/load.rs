//! Loading records without the contract's calls.

use std::collections::BTreeMap;

use sheetport_service::{Error, Service, Stored, WriteOutcome};

use super::{ITEMS, config, folder, loaded, start};

type Result = std::result::Result<Stored, BTreeMap<String, Vec<String>>>;

async fn load(service: &Service, workspace: &str, records: &[(&str, &str)]) -> Vec<Result> {
    service.load(workspace, records.iter().map(|(kind, record)| loaded(kind, record)).collect()).await.unwrap()
}

fn changes(results: &[Result]) -> Vec<WriteOutcome> {
    results.iter().map(|result| result.as_ref().unwrap().outcome).collect()
}

#[track_caller]
fn refused(result: &Result, errors: &str) {
    let errors: BTreeMap<String, Vec<String>> = serde_json::from_str(errors).unwrap();
    assert_eq!(result.as_ref().err(), Some(&errors));
}

#[tokio::test]
async fn loading_twice_changes_nothing() {
    let data = folder();
    let service = Service::open(config(data.path())).await.unwrap();
    let records = [
        (
            "item",
            r#"{"id":"1","name":"Bolt","price":1.50,"currency":"EUR","status":"active",
            "updated_at":"2026-01-01T00:00:00Z"}"#,
        ),
        ("item", r#"{"external_id":"B","name":"Nut","purchase_price":0.10,"description":"small"}"#),
        ("company", r#"{"external_id":"C","name":"Acme","own":[1.0]}"#),
        ("contact", r#"{"id":"k","name":"Ada"}"#),
        ("inventory", r#"{"inventory_id":"INV-1","available":5.0,"inventory_value":2e1}"#),
        ("order", r#"{"order_id":7,"total_price":1.10}"#),
    ];
    assert_eq!(changes(&load(&service, "acme", &records).await), [WriteOutcome::Created; 6]);
    assert_eq!(changes(&load(&service, "acme", &records).await), [WriteOutcome::Unchanged; 6]);
    // Ids are unique only within a workspace.
    assert_eq!(changes(&load(&service, "other", &records).await), [WriteOutcome::Created; 6]);

    let changed = [
        ("item", r#"{"id":"1","price":null}"#),
        ("company", r#"{"external_id":"C","own":[1.00]}"#),
        ("order", r#"{"order_id":7,"external_id":"SO-7"}"#),
        ("order", r#"{"external_id":"SO-7","total_price":null,"order_at":null}"#),
    ];
    assert_eq!(changes(&load(&service, "acme", &changed).await), [WriteOutcome::Updated; 4]);
    service.close().await;

    let service = start(data.path()).await;
    let items = service.get(ITEMS).await.ok();
    assert_eq!((&items["data"][0]["id"], &items["data"][0]["name"]), (&"1".into(), &"Bolt".into()));
    assert!(items["data"][0]["price"].is_null());
    let order = &service.get("/v1/public/orders").await.ok()["data"][0];
    assert_eq!((order["order_id"].as_i64(), order["total_price"].is_null()), (Some(7), true));
    assert!(order["order_at"].is_string());
    assert!(order["updated_at"].as_str() > order["created_at"].as_str());
    // An item loaded with only an id has the id as its external id.
    assert_eq!(service.upsert(r#"{"externalId":"1","price":2}"#).await["status"], "updated");
    assert_eq!(service.upsert(r#"{"externalId":"B"}"#).await["status"], "updated");
    service.stop().await;
}

#[tokio::test]
async fn invalid_records_are_rejected_and_the_others_stored() {
    let data = folder();
    let service = Service::open(config(data.path())).await.unwrap();
    let results = load(
        &service,
        "acme",
        &[
            ("company", r#"{"id":"a","external_id":"A"}"#),
            ("company", r#"{"id":" ","external_id":5,"name":["x"],"created_at":"yesterday"}"#),
            ("company", r#"{"id":"b","external_id":"A"}"#),
            ("company", r#"{"id":"b","external_id":"B"}"#),
            ("company", r#"{"id":"a","external_id":"B"}"#),
            ("inventory", r#"{"available":1.5,"item_ids":["a",1],"committed":9223372036854775808}"#),
            ("order", r#"{"order_id":1,"total_price":"1"}"#),
            ("item", r#"{"name":"nameless"}"#),
            ("item", r#"{"id":"1","external_id":"A"}"#),
            ("item", r#"{"id":"1","external_id":"B"}"#),
            ("item", r#"{"id":"2","external_id":"A"}"#),
            ("item", r#"{"id":"2","external_id":"B","price":"1"}"#),
        ],
    )
    .await;
    assert!([0, 3, 8].iter().all(|&index| results[index].is_ok()), "{results:?}");
    refused(
        &results[1],
        r#"{"id":["must not be blank"],"external_id":["must be a string"],
        "name":["must be a string or null, not an array"],
        "created_at":["must be an ISO 8601 date-time such as 2026-01-31T08:30:00Z"]}"#,
    );
    refused(&results[2], r#"{"external_id":["belongs to a record with another id"]}"#);
    refused(&results[4], r#"{"external_id":["belongs to a record with another id"]}"#);
    refused(
        &results[5],
        r#"{"available":["must be an integer or null, not a number"],
        "item_ids[1]":["must be a string, not a number"],"committed":["is too large"]}"#,
    );
    refused(&results[6], r#"{"total_price":["must be a number or null, not a string"]}"#);
    refused(&results[7], r#"{"externalId":["is required"]}"#);
    refused(&results[9], r#"{"id":["belongs to an item with another external_id"]}"#);
    refused(&results[10], r#"{"external_id":["belongs to a record with another id"]}"#);
    refused(&results[11], r#"{"price":["must be a number or null, not a string"]}"#);
    service.close().await;

    let service = start(data.path()).await;
    assert_eq!(service.get("/v1/public/companies").await.ok()["total"], 2);
    assert_eq!(service.get(ITEMS).await.ok()["total"], 1);
    assert_eq!(service.get("/v1/public/orders").await.ok()["total"], 0);
    service.stop().await;
}

#[tokio::test]
async fn batches_keep_the_order_and_the_numbers() {
    let data = folder();
    let service = Service::open(config(data.path())).await.unwrap();
    // The first record takes the number that the second would get.
    let mut records = vec![loaded("order", r#"{"order_id":2}"#), loaded("order", "{}"), loaded("order", "{}")];
    records.extend((0..1200).map(|n| loaded("item", &format!(r#"{{"external_id":"{n}"}}"#))));
    let results = service.load("acme", records).await.unwrap();
    assert_eq!(results.len(), 1203);
    assert!(results.iter().all(|result| result.as_ref().is_ok_and(|loaded| loaded.outcome == WriteOutcome::Created)));
    let error = service.load("not a name", Vec::new()).await.unwrap_err();
    assert!(matches!(error, Error::WorkspaceName { .. }), "{error}");
    service.close().await;

    let service = start(data.path()).await;
    let orders = service.get("/v1/public/orders").await.ok();
    let numbers: Vec<_> = orders["data"].as_array().unwrap().iter().map(|order| order["order_id"].as_i64()).collect();
    assert_eq!(numbers, [Some(2), None, Some(3)]);
    let last = service.get("/v1/public/items?page=12&limit=100").await.ok();
    let ids: Vec<_> = last["data"].as_array().unwrap().iter().map(|item| item["id"].as_str().unwrap()).collect();
    let loaded: Vec<_> = results[1103..1203].iter().map(|result| result.as_ref().unwrap().id.as_str()).collect();
    assert_eq!(ids, loaded);
    service.stop().await;
}

#[tokio::test]
async fn lists_show_the_external_ids_of_orders_and_inventories() {
    let data = folder();
    let service = Service::open(config(data.path())).await.unwrap();
    let records = [("order", r#"{"id":"o","external_id":"SO-1"}"#), ("inventory", r#"{"id":"i","external_id":"L-1"}"#)];
    assert_eq!(changes(&load(&service, "acme", &records).await), [WriteOutcome::Created; 2]);
    let renamed = [("order", r#"{"id":"o","external_id":"SO-2"}"#)];
    assert_eq!(changes(&load(&service, "acme", &renamed).await), [WriteOutcome::Updated]);
    service.close().await;

    let service = start(data.path()).await;
    let order = async || service.get("/v1/public/orders").await.ok()["data"][0]["external_id"].clone();
    assert_eq!(order().await, "SO-2");
    service.put("/v1/public/orders/o", r#"{"order":{"externalId":"SO-3"}}"#).await.ok();
    assert_eq!(order().await, "SO-3");
    let movement = r#"{"transactionType":"in","inventoryExternalId":"L-1","amount":1}"#;
    service.post("/v1/public/inventory-transactions", movement).await.ok();
    assert_eq!(service.get("/v1/public/inventories").await.ok()[0]["external_id"], "L-1");
    service.stop().await;
}

#[tokio::test]
async fn items_without_external_ids_match_by_id() {
    let data = folder();
    let service = Service::open(config(data.path())).await.unwrap();
    let known = [("item", r#"{"id":"1","external_id":"B","name":"Nut"}"#)];
    assert_eq!(changes(&load(&service, "acme", &known).await), [WriteOutcome::Created]);
    let exported = [("item", r#"{"id":"1","name":"Nut"}"#), ("item", r#"{"id":"1","name":"Lock nut"}"#)];
    let expected = [WriteOutcome::Unchanged, WriteOutcome::Updated];
    assert_eq!(changes(&load(&service, "acme", &exported).await), expected);
    service.close().await;

    let service = start(data.path()).await;
    assert_eq!(service.upsert(r#"{"externalId":"B"}"#).await["item_id"], "1");
    assert_eq!(service.get(ITEMS).await.ok()["total"], 1);
    service.stop().await;
}

#[tokio::test]
async fn new_transactions_need_a_type() {
    let data = folder();
    let service = Service::open(config(data.path())).await.unwrap();
    let results = load(
        &service,
        "acme",
        &[
            ("inventory", r#"{"id":"i","inventory_id":"INV-1"}"#),
            ("transaction", r#"{"id":"a","inventory_id":"INV-1","amount":1}"#),
            ("transaction", r#"{"id":"b","inventory_id":"INV-1","amount":1,"transaction_type":null}"#),
            ("transaction", r#"{"id":"c","inventory_id":"INV-1","amount":1,"transaction_type":"in"}"#),
            ("transaction", r#"{"id":"c","inventory_id":"INV-1","amount":2,"transaction_type":null}"#),
        ],
    )
    .await;
    for missing in [1, 2] {
        refused(&results[missing], r#"{"transaction_type":["is required"]}"#);
    }
    let outcomes = [3, 4].map(|index| results[index].as_ref().unwrap().outcome);
    assert_eq!(outcomes, [WriteOutcome::Created, WriteOutcome::Updated]);
    service.close().await;

    let service = start(data.path()).await;
    let transaction = service.get("/v1/public/inventory-transactions/c").await.ok();
    assert_eq!((&transaction["transaction_type"], &transaction["transaction_amount"]), (&"in".into(), &2.into()));
    service.stop().await;
}
