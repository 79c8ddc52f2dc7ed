//! Orders: single reads, and updates with their totals, checks and per-record results.

use futures_util::future::join_all;
use reqwest::Method;
use serde_json::Value;
use sheetport_records::token::Access;

use super::{Data, ITEMS, Running, answer, folder, load, start};

const ORDERS: &str = "/v1/public/orders";

const FIRST: &str = r#"{"id":"o-1","external_id":"SO-1","order_at":"2026-01-05T09:00:00Z","status":"open",
    "created_at":"2026-01-05T09:00:00Z","updated_at":"2026-01-06T10:00:00Z","order_id":1001,"delivery_status":"pending",
    "total_price":119.00,"total_price_without_tax":100.00,"number_item":2,"currency":"EUR","contact_id":"k-1"}"#;

async fn with_orders() -> (Data, Running) {
    let data = folder();
    let records = [
        ("order", FIRST),
        ("order", r#"{"id":"o-2","external_id":"SO-2","order_id":1002}"#),
        ("company", r#"{"id":"c-1","external_id":"ACME"}"#),
        ("company", r#"{"id":"c-2","external_id":"GLOBEX"}"#),
        ("item", r#"{"id":"bolt","external_id":"B-1","price":2.50}"#),
        ("item", r#"{"id":"nut","external_id":"N-1"}"#),
    ];
    load(data.path(), "acme", &records).await;
    let theirs = [
        ("order", r#"{"id":"theirs","external_id":"THEIRS","order_id":7}"#),
        ("company", r#"{"id":"their-company","external_id":"THEIRS"}"#),
        ("item", r#"{"id":"their-item","external_id":"T-1"}"#),
    ];
    load(data.path(), "other", &theirs).await;
    let service = start(data.path()).await;
    (data, service)
}

impl Running {
    async fn order(&self, id: &str) -> Value {
        self.get(&format!("{ORDERS}/{id}")).await.ok()
    }

    async fn update(&self, id: &str, body: &str) -> Value {
        self.put(&format!("{ORDERS}/{id}"), body.to_owned()).await.ok()
    }

    /// Asserts that an update fails with these errors and changes nothing.
    async fn update_fails(&self, id: &str, body: &str, errors: &[&str]) {
        let (order, items) = (self.order(id).await, self.get(ITEMS).await.ok()["data"].clone());
        let result = self.update(id, body).await;
        assert_eq!((&result["ok"], &result["job_id"]), (&false.into(), &"".into()), "{result}");
        assert_eq!(result["results"].as_array().unwrap().len(), 1);
        assert_eq!(
            (&result["results"][0]["status"], &result["results"][0]["order_id"]),
            (&"failed".into(), &order["id"])
        );
        assert_eq!(result["results"][0]["errors"], Value::from(errors));
        assert_eq!(self.order(id).await, order, "{body}");
        assert_eq!(self.get(ITEMS).await.ok()["data"], items, "{body}");
    }

    /// Returns `number_item total_price_without_tax total_price` of an order.
    async fn totals(&self, id: &str) -> String {
        let order = self.order(id).await;
        ["number_item", "total_price_without_tax", "total_price"].map(|name| order[name].to_string()).join(" ")
    }
}

#[tokio::test]
async fn orders_are_found_by_id_and_by_external_id() {
    let (_data, service) = with_orders().await;
    let expected = r#"{"id":"o-1","order_at":"2026-01-05T09:00:00.000Z","created_at":"2026-01-05T09:00:00.000Z","updated_at":"2026-01-06T10:00:00.000Z","order_id":1001,"status":"open","delivery_status":"pending","total_price":119.00,"total_price_without_tax":100.00,"number_item":2,"currency":"EUR","company_id":null,"contact_id":"k-1","external_id":"SO-1"}"#;
    for path in ["o-1", "SO-1", "o-1?external_id=", "o-2?external_id=SO-1", "nothing?external_id=SO-1"] {
        assert_eq!(service.get(&format!("{ORDERS}/{path}")).await.text, expected, "{path}");
    }
    let mut messages = Vec::new();
    for path in ["nothing", "1001", "7", "o-1?external_id=SO-9", "theirs", "x?external_id=THEIRS", "%00", "%ff"] {
        let refused = service.get(&format!("{ORDERS}/{path}")).await;
        messages.push(refused.refused(404)["message"].clone());
    }
    let refused = service.other_calls(Method::PUT, &format!("{ORDERS}/o-1"), r#"{"order":{}}"#).await;
    messages.push(refused.refused(404)["message"].clone());
    messages.dedup();
    assert_eq!(messages.len(), 1, "{messages:?}");
    service.stop().await;
}

#[tokio::test]
async fn an_update_changes_only_the_fields_in_the_body() {
    let (_data, service) = with_orders().await;
    let before = service.order("o-1").await;
    let body = r#"{"order":{"externalId":"SO-1b","companyId":"c-1","companyExternalId":"ACME",
        "orderAt":"2026-02-01T12:00:00+02:00","deliveryStatus":"delivered","unknown":1}}"#;
    let answered = service.put(&format!("{ORDERS}/SO-1"), body).await;
    let ctx_id = answered.header("x-ctx-id").to_owned();
    assert_eq!(
        answered.text,
        format!(
            r#"{{"ok":true,"results":[{{"external_id":"SO-1b","status":"updated","order_id":"o-1","errors":[]}}],"job_id":"","ctx_id":"{ctx_id}"}}"#
        )
    );
    let after = service.get(&format!("{ORDERS}/x?external_id=SO-1b")).await.ok();
    assert_eq!((&after["company_id"], &after["delivery_status"]), (&"c-1".into(), &"delivered".into()));
    assert_eq!(after["order_at"], "2026-02-01T10:00:00.000Z");
    assert!(after["updated_at"].as_str() > before["updated_at"].as_str());
    for same in ["id", "created_at", "order_id", "status", "total_price", "number_item", "currency", "contact_id"] {
        assert_eq!(after[same], before[same], "{same}");
    }
    // Repeating the update changes nothing.
    for body in [body, r#"{"order":{}}"#, r#"{"order":{"companyExternalId":"ACME"},"createMissingItems":true}"#] {
        assert_eq!(service.update("o-1", body).await["results"][0]["status"], "updated");
        assert_eq!(service.order("o-1").await, after);
    }
    service.stop().await;
}

#[tokio::test]
async fn an_update_finds_the_order_by_the_path_alone() {
    let (_data, service) = with_orders().await;
    let body = r#"{"order":{"externalId":"SO-2","deliveryStatus":"sent"}}"#;
    let result = service.update("SO-2", body).await;
    assert_eq!((&result["ok"], &result["results"][0]["order_id"]), (&true.into(), &"o-2".into()));
    assert_eq!(service.order("o-2").await["delivery_status"], "sent");
    // Neither the external id of the body nor a running number selects an order, and updates do not create orders.
    for path in ["new", "1002"] {
        for external_id in [r#""SO-2""#, r#""new""#, r#""THEIRS""#, "null"] {
            let body = format!(r#"{{"order":{{"externalId":{external_id}}}}}"#);
            service.put(&format!("{ORDERS}/{path}"), body).await.refused(404);
        }
    }
    assert_eq!(service.get(ORDERS).await.ok()["total"], 2);
    service.update_fails("o-1", body, &[r#"externalId "SO-2" belongs to another order"#]).await;
    service.stop().await;
}

#[tokio::test]
async fn the_id_of_an_order_comes_before_the_external_id_of_another() {
    let data = folder();
    let records = [
        ("order", r#"{"id":"first","external_id":"same","order_id":1}"#),
        ("order", r#"{"id":"same","external_id":"1","order_id":2}"#),
        ("order", r#"{"id":"2","external_id":"third","order_id":3}"#),
    ];
    load(data.path(), "acme", &records).await;
    let service = start(data.path()).await;
    for (path, id) in [("same", "same"), ("1", "same"), ("2", "2"), ("third", "2"), ("first", "first")] {
        assert_eq!(service.order(path).await["id"], id, "{path}");
        let body = format!(r#"{{"order":{{"deliveryStatus":"{path}"}}}}"#);
        let result = service.update(path, &body).await;
        assert_eq!(result["results"][0]["order_id"], id, "{path}");
        assert_eq!(service.order(id).await["delivery_status"], path);
    }
    // An external id in the query alone selects.
    assert_eq!(service.get(&format!("{ORDERS}/same?external_id=same")).await.ok()["id"], "first");
    service.get(&format!("{ORDERS}/3")).await.refused(404);
    service.stop().await;
}

#[tokio::test]
async fn a_single_order_has_its_lines() {
    let (_data, service) = with_orders().await;
    assert_eq!(service.order("o-1").await.get("items"), None, "a loaded order has two lines, which nobody knows");
    let lines = r#"{"item_id":"bolt","quantity":1.50,"price":9.99,"tax":1.90},{"itemExternalId":"N-1","tax_rate":19},
        {"itemExternalId":"NEW","quantity":2}"#;
    service.update("o-1", &format!(r#"{{"order":{{"items":[{lines}]}},"createMissingItems":true}}"#)).await;
    let order = service.order("o-1").await;
    let created = order["items"][2]["item_id"].as_str().unwrap();
    let expected = format!(
        r#"[{{"item_id":"bolt","itemExternalId":"B-1","quantity":1.50,"price":9.99,"tax":1.90,"tax_rate":null}},{{"item_id":"nut","itemExternalId":"N-1","quantity":1,"price":0,"tax":null,"tax_rate":19}},{{"item_id":"{created}","itemExternalId":"NEW","quantity":2,"price":0,"tax":null,"tax_rate":null}}]"#
    );
    assert_eq!(order["items"].to_string(), expected);
    // The lines can be sent again as they are.
    service.update("o-1", &format!(r#"{{"order":{{"items":{expected}}}}}"#)).await;
    assert_eq!(service.order("o-1").await, order);
    service.update("o-1", r#"{"order":{"items":[]}}"#).await;
    assert_eq!(service.order("SO-1").await["items"], Value::Array(Vec::new()));
    assert_eq!(service.get(ORDERS).await.ok()["data"][0].get("items"), None, "lists have no lines");
    service.stop().await;
}

#[tokio::test]
async fn null_in_an_update_means_not_given() {
    let (_data, service) = with_orders().await;
    let body = r#"{"order":{"companyId":"c-1","items":[{"item_id":"bolt","tax":1}]}}"#;
    service.update("o-1", body).await;
    let before = service.order("o-1").await;
    let body = r#"{"order":{"externalId":null,"items":null,"companyId":null,"companyExternalId":null,"orderAt":null,
        "deliveryStatus":null},"createMissingItems":null,"triggerWorkflows":null}"#;
    let result = service.update("o-1", body).await;
    assert_eq!((&result["ok"], &result["job_id"]), (&true.into(), &"".into()), "{result}");
    assert_eq!(service.order("o-1").await, before);
    let body = r#"{"order":{"items":[{"item_id":null,"itemExternalId":"B-1","quantity":null,"price":null,"tax":null,
        "tax_rate":null}]}}"#;
    service.update("o-1", body).await;
    assert_eq!(service.totals("o-1").await, "1 2.50 2.50");
    service.stop().await;
}

#[tokio::test]
async fn totals_are_calculated_from_the_lines() {
    let (_data, service) = with_orders().await;
    let cases = [
        (r#"{"item_id":"bolt","quantity":4,"price":10.50,"tax_rate":19}"#, "1 42.00 49.98"),
        (r#"{"itemExternalId":"B-1","quantity":3}"#, "1 7.50 7.50"),
        (r#"{"item_id":"nut","itemExternalId":"N-1"}"#, "1 0.00 0.00"),
        (r#"{"item_id":"bolt","quantity":1,"price":0.335,"tax":0.005,"tax_rate":50}"#, "1 0.34 0.35"),
        (
            r#"{"item_id":"bolt","quantity":1.5,"price":9.99},{"item_id":"bolt","price":1e2,"tax":-1},
                {"item_id":"nut","quantity":-2,"price":3}"#,
            "3 108.99 107.99",
        ),
        (
            r#"{"item_id":"bolt","quantity":3,"price":12345678901234567890.11}"#,
            "1 37037036703703703670.33 37037036703703703670.33",
        ),
        (
            r#"{"item_id":"bolt","quantity":1.1234567890123456,"price":2.1234567890123456,"tax_rate":5.551115123125783e-17},
                {"item_id":"nut","quantity":3,"price":5.551115123125783e-17}"#,
            "2 2.39 2.39",
        ),
        ("", "0 0.00 0.00"),
    ];
    for (lines, totals) in cases {
        let result = service.update("o-1", &format!(r#"{{"order":{{"items":[{lines}]}}}}"#)).await;
        assert_eq!(result["ok"], true, "{result}");
        assert_eq!(service.totals("o-1").await, totals, "{lines}");
    }
    service.update("o-1", r#"{"order":{"deliveryStatus":"sent","orderAt":"9999-12-31T23:59:59Z"}}"#).await;
    assert_eq!(service.totals("o-1").await, "0 0.00 0.00");
    assert_eq!(service.order("o-1").await["order_at"], "9999-12-31T23:59:59.000Z");
    service.stop().await;
}

#[tokio::test]
async fn missing_references_are_listed_by_line_and_nothing_changes() {
    let (_data, service) = with_orders().await;
    let body = r#"{"order":{"externalId":"changed","deliveryStatus":"changed","companyId":"nobody",
        "companyExternalId":"THEIRS","items":[{"item_id":"bolt"},{"item_id":"x\"y"},{"itemExternalId":"T-1"},
        {"item_id":"bolt","itemExternalId":"N-1"},{"item_id":"bolt","itemExternalId":"none"},
        {"item_id":"their-item","itemExternalId":"N-1"},
        {"item_id":"nut","quantity":79228162514264337593543950335,"price":10}]},"triggerWorkflows":true}"#;
    let found = [
        r#"no company has the companyId "nobody""#,
        r#"no company has the companyExternalId "THEIRS""#,
        r#"line 2: no item has the item_id "x\"y""#,
        r#"line 3: no item has the itemExternalId "T-1""#,
        "line 4: item_id and itemExternalId belong to different items",
        "line 5: item_id and itemExternalId belong to different items",
        r#"line 6: no item has the item_id "their-item""#,
        "line 7: an amount has more than 28 digits",
    ];
    service.update_fails("o-1", body, &found).await;
    // Items are never created by `item_id`, and an error prevents the creation of all items.
    let body = body.replacen('{', r#"{"createMissingItems":true,"#, 1);
    let found: Vec<_> = found.into_iter().filter(|error| !error.starts_with("line 3")).collect();
    service.update_fails("o-1", &body, &found).await;
    let body = r#"{"order":{"companyId":"c-1","companyExternalId":"GLOBEX"}}"#;
    service.update_fails("o-1", body, &["companyId and companyExternalId belong to different companies"]).await;
    service.stop().await;
}

#[tokio::test]
async fn missing_items_are_created_on_request() {
    let (_data, service) = with_orders().await;
    let body = r#"{"order":{"items":[{"itemExternalId":"NEW","quantity":2,"price":1.50},{"itemExternalId":"B-1"},
        {"itemExternalId":"NEW","price":9}, {"itemExternalId":"FREE"}]},"createMissingItems":true}"#;
    for _ in 0..2 {
        assert_eq!(service.update("o-1", body).await["ok"], true);
        let items = service.get(ITEMS).await.ok();
        assert_eq!(items["total"], 4);
        assert_eq!((&items["data"][2]["name"], items["data"][2]["price"].to_string()), (&"NEW".into(), "1.50".into()));
        assert_eq!((&items["data"][3]["name"], items["data"][3]["price"].is_null()), (&"FREE".into(), true));
        assert_eq!(service.totals("o-1").await, "4 14.50 14.50");
    }
    assert_eq!(service.upsert(r#"{"externalId":"NEW"}"#).await["status"], "updated");
    service.stop().await;
}

#[tokio::test]
async fn triggered_workflows_return_a_job() {
    let (_data, service) = with_orders().await;
    let mut jobs = Vec::new();
    for _ in 0..2 {
        let body = r#"{"order":{"deliveryStatus":"sent"},"triggerWorkflows":true}"#;
        jobs.push(service.update("o-1", body).await["job_id"].as_str().unwrap().to_owned());
    }
    assert!(jobs[0] != jobs[1] && jobs.iter().all(|job| !job.is_empty()), "{jobs:?}");
    assert_eq!(service.update("o-1", r#"{"order":{},"triggerWorkflows":false}"#).await["job_id"], "");
    service.stop().await;
}

#[tokio::test]
async fn invalid_input_is_a_422() {
    let (_data, service) = with_orders().await;
    let line = |line: &str| format!(r#"{{"order":{{"items":[{{"item_id":"bolt"}},{line}]}}}}"#);
    let cases = [
        ("{}".to_owned(), r#"{"order":["is required"]}"#),
        (r#"{"order":null}"#.to_owned(), r#"{"order":["is required"]}"#),
        (
            r#"{"order":{"externalId":7,"items":{},"companyId":1,"companyExternalId":[],"orderAt":"soon",
                "deliveryStatus":true},"createMissingItems":"no","triggerWorkflows":1}"#
                .to_owned(),
            r#"{"order.externalId":["must be a string, not a number"],
                "order.items":["must be an array of objects, not an object"],
                "order.companyId":["must be a string, not a number"],
                "order.companyExternalId":["must be a string, not an array"],
                "order.orderAt":["must be an ISO 8601 date-time such as 2026-01-31T08:30:00Z"],
                "order.deliveryStatus":["must be a string, not a boolean"],
                "createMissingItems":["must be a boolean, not a string"],
                "triggerWorkflows":["must be a boolean, not a number"]}"#,
        ),
        (line("7"), r#"{"order.items[1]":["must be an object, not a number"]}"#),
        (line(r#"{"quantity":1}"#), r#"{"order.items[1].item_id":["is required without itemExternalId"]}"#),
        (
            line(r#"{"itemExternalId":" ","quantity":"1","price":1e40,"tax":{},"tax_rate":[]}"#),
            r#"{"order.items[1].itemExternalId":["must not be blank"],
                "order.items[1].quantity":["must be a number, not a string"],
                "order.items[1].price":["has more than 28 digits"],
                "order.items[1].tax":["must be a number, not an object"],
                "order.items[1].tax_rate":["must be a number, not an array"]}"#,
        ),
        (
            line(&vec![r#"{"item_id":"a"}"#; 1000].join(",")),
            r#"{"order.items":["must not have more than 1000 entries"]}"#,
        ),
        (
            format!(r#"{{"order":{{"externalId":"a\u0000","deliveryStatus":"{}"}}}}"#, "é".repeat(51)),
            r#"{"order.externalId":["must not contain NUL"],
                "order.deliveryStatus":["must not be longer than 50 characters"]}"#,
        ),
    ];
    for (body, errors) in cases {
        service.put(&format!("{ORDERS}/o-1"), body).await.invalid(errors);
    }
    service.put(&format!("{ORDERS}/o-1"), "[]").await.refused(400);
    service.post(&format!("{ORDERS}/o-1"), "{}").await.refused(405);
    let regular = service.tokens("acme", Access::Regular).await.access;
    let request = service.request(Method::PUT, &format!("{ORDERS}/o-1")).bearer_auth(&regular);
    answer(request.header("content-type", "application/json").body(r#"{"order":{}}"#)).await.refused(403);
    let request = service.request(Method::GET, &format!("{ORDERS}/o-1")).bearer_auth(&regular);
    assert_eq!(answer(request).await.ok()["delivery_status"], "pending");
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn concurrent_updates_are_atomic() {
    let (_data, service) = with_orders().await;
    let bodies: Vec<_> = (1..=40)
        .map(|n| {
            format!(
                r#"{{"order":{{"deliveryStatus":"{n}","items":[{{"itemExternalId":"NEW","quantity":{n},"price":1}}]}},
                    "createMissingItems":true}}"#
            )
        })
        .collect();
    let results = join_all(bodies.iter().map(|body| service.update("o-1", body))).await;
    assert!(results.iter().all(|result| result["ok"] == true));
    let order = service.order("o-1").await;
    assert_eq!(order["total_price"].to_string(), format!("{}.00", order["delivery_status"].as_str().unwrap()));
    assert_eq!(service.get(ITEMS).await.ok()["total"], 3);
    service.stop().await;
}
