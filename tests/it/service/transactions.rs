//! Inventory transactions: responses, and effects on inventories.

use futures_util::future::join_all;
use reqwest::Method;
use serde_json::Value;
use sheetport_records::token::Access;

use super::{Data, Running, answer, folder, load, start};

const TRANSACTIONS: &str = "/v1/public/inventory-transactions";

const BOLTS: &str = r#"{"id":"i-1","external_id":"BOLTS","inventory_id":"INV-1","available":100,"committed":5,
    "unavailable":1,"total_inventory":106,"inventory_value":265.00,"unit_price":2.50,"currency":"EUR",
    "created_at":"2026-01-01T00:00:00Z","updated_at":"2026-01-01T00:00:00Z"}"#;
/// An inventory with unknown figures.
const NUTS: &str = r#"{"id":"i-2","external_id":"NUTS","inventory_id":"INV-2"}"#;

async fn with_inventories() -> (Data, Running) {
    let data = folder();
    load(data.path(), "acme", &[("inventory", BOLTS), ("inventory", NUTS)]).await;
    load(data.path(), "other", &[("inventory", r#"{"id":"theirs","external_id":"THEIRS","available":1}"#)]).await;
    let service = start(data.path()).await;
    (data, service)
}

impl Running {
    async fn create(&self, body: &str) -> String {
        let created = self.post(TRANSACTIONS, body.to_owned()).await.ok();
        assert_eq!((&created["ok"], &created["status"]), (&true.into(), &"created".into()));
        created["transaction_id"].as_str().unwrap().to_owned()
    }

    async fn change(&self, id: &str, body: &str) -> Value {
        self.put(&format!("{TRANSACTIONS}/{id}"), body.to_owned()).await.ok()
    }

    async fn transaction(&self, id: &str) -> Value {
        self.get(&format!("{TRANSACTIONS}/{id}")).await.ok()
    }

    /// Returns `available committed unavailable total value` of an inventory.
    async fn figures(&self, id: &str) -> String {
        let inventory = self.get(&format!("/v1/public/inventories/{id}")).await.ok();
        let names = ["available", "committed", "unavailable", "total_inventory", "inventory_value"];
        names.map(|name| inventory[name].to_string()).join(" ")
    }
}

#[tokio::test]
async fn a_transaction_is_created_and_read() {
    let (_data, service) = with_inventories().await;
    let sent = r#"{"transactionType":"in","inventoryId":"INV-1","amount":12,"transactionAmount":10,
        "transactionDate":"2026-02-03T09:00:00+01:00","status":"done","inventoryType":"available",
        "useUnitValue":true,"price":1.20,"unknown":1}"#;
    let answered = service.post(TRANSACTIONS, sent).await;
    let created = answered.ok();
    let keys: Vec<_> = created.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["ok", "status", "transaction_id", "inventory_id", "ctx_id"]);
    assert_eq!((&created["ok"], &created["status"]), (&true.into(), &"created".into()));
    assert_eq!((&created["inventory_id"], &created["ctx_id"]), (&"INV-1".into(), &answered.header("x-ctx-id").into()));
    let id = created["transaction_id"].as_str().unwrap();

    let regular = service.tokens("acme", Access::Regular).await.access;
    let read = service.request(Method::GET, &format!("{TRANSACTIONS}/{id}")).bearer_auth(regular);
    let read = answer(read).await;
    let at = read.ok()["created_at"].as_str().unwrap().to_owned();
    let expected = format!(
        r#"{{"created_at":"{at}","updated_at":"{at}","id":"{id}","transaction_id":"{id}","inventory_id":"INV-1","inventory_uuid":"i-1","inventory_type":"available","transaction_type":"in","status":"done","amount":12,"transaction_amount":10,"use_unit_value":true,"price":1.20,"total_price":12.00,"average_price":1.20,"transaction_date":"2026-02-03T08:00:00.000Z","usage_status":"applied"}}"#
    );
    assert_eq!(read.text, expected);
    assert_eq!(service.figures("i-1").await, "110 5 1 116 277.00");
    service.stop().await;
}

#[tokio::test]
async fn missing_values_are_null_or_derived() {
    let (_data, service) = with_inventories().await;
    let id = service.create(r#"{"transactionType":"In","inventoryExternalId":"NUTS","amount":3.0}"#).await;
    let read = service.transaction(&id).await;
    assert_eq!((&read["amount"], &read["transaction_amount"]), (&3.into(), &3.into()));
    assert_eq!((&read["use_unit_value"], &read["transaction_date"]), (&false.into(), &read["created_at"]));
    for name in ["inventory_type", "status", "price", "total_price", "average_price"] {
        assert!(read[name].is_null(), "{name} in {read}");
    }
    assert_eq!(service.figures("i-2").await, "3 null null 3 null");
    let id = service.create(r#"{"transactionType":"in","inventoryId":"i-2","inventoryExternalId":"NUTS"}"#).await;
    assert_eq!(service.transaction(&id).await["amount"], 0);
    assert_eq!(service.figures("i-2").await, "3 null null 3 null");
    service.stop().await;
}

#[tokio::test]
async fn types_and_inventory_types_determine_the_figures() {
    let (_data, service) = with_inventories().await;
    let cases = [
        (r#""transactionType":"in","amount":10"#, "110 5 1 116 290.00"),
        (r#""transactionType":"OUT","amount":10"#, "100 5 1 106 265.00"),
        (r#""transactionType":"adjustment","amount":-3"#, "97 5 1 103 257.50"),
        (r#""transactionType":"adjust","amount":3"#, "100 5 1 106 265.00"),
        (r#""transactionType":"in","amount":2,"inventoryType":"committed""#, "100 7 1 108 270.00"),
        (r#""transactionType":"out","amount":1,"inventoryType":"unavailable""#, "100 7 0 107 267.50"),
        (r#""transactionType":"out","amount":200,"price":1.5,"inventoryType":"raw material""#, "-100 7 0 -93 266.00"),
        (r#""transactionType":"transfer","amount":5,"price":9"#, "-100 7 0 -93 266.00"),
    ];
    let mut last = String::new();
    for (body, figures) in cases {
        last = service.create(&format!(r#"{{"inventoryId":"i-1",{body}}}"#)).await;
        assert_eq!(service.figures("i-1").await, figures, "{body}");
    }
    let read = service.transaction(&last).await;
    assert_eq!((&read["usage_status"], &read["transaction_type"]), (&"not_applied".into(), &"transfer".into()));
    assert_eq!((&read["amount"], &read["total_price"]), (&5.into(), &9.into()));
    service.stop().await;
}

#[tokio::test]
async fn an_update_reverts_and_replaces_the_effect() {
    let (_data, service) = with_inventories().await;
    let id = service.create(r#"{"transactionType":"in","inventoryId":"i-1","amount":10,"price":33.10}"#).await;
    assert_eq!(service.figures("i-1").await, "110 5 1 116 298.10");
    let before = service.transaction(&id).await;

    let updated = service.change(&id, r#"{"transactionType":"in","transactionAmount":4}"#).await;
    assert_eq!((&updated["ok"], &updated["status"]), (&true.into(), &"updated".into()));
    assert_eq!((&updated["transaction_id"], &updated["inventory_id"]), (&id.as_str().into(), &"INV-1".into()));
    assert_eq!(service.figures("i-1").await, "104 5 1 110 298.10");
    let after = service.transaction(&id).await;
    assert_eq!((&after["amount"], &after["transaction_amount"]), (&10.into(), &4.into()));
    assert_eq!(after["average_price"].to_string(), "8.275");
    assert_eq!(after["created_at"], before["created_at"]);
    assert!(after["updated_at"].as_str() > before["updated_at"].as_str());

    service.change(&id, r#"{"transactionType":"out","price":null,"inventoryType":"committed"}"#).await;
    assert_eq!(service.figures("i-1").await, "100 1 1 102 255.00");
    service.change(&id, r#"{"transactionType":"kept","transactionAmount":null}"#).await;
    assert_eq!(service.figures("i-1").await, "100 5 1 106 265.00");
    let after = service.transaction(&id).await;
    assert_eq!((&after["transaction_amount"], after["price"].is_null()), (&10.into(), true));

    // To another inventory with an unknown value, and back.
    service.change(&id, r#"{"transactionType":"in","inventoryExternalId":"NUTS"}"#).await;
    assert_eq!(service.figures("i-1").await, "100 5 1 106 265.00");
    assert_eq!(service.figures("i-2").await, "null 10 null 10 null");
    assert_eq!(service.transaction(&id).await["inventory_uuid"], "i-2");
    service.change(&id, r#"{"transactionType":"in","inventoryId":"INV-1","inventoryExternalId":null}"#).await;
    assert_eq!(service.figures("i-1").await, "100 15 1 116 290.00");
    assert_eq!(service.figures("i-2").await, "null 0 null 0 null");
    service.stop().await;
}

#[tokio::test]
async fn an_update_without_changes_has_no_effect() {
    let (_data, service) = with_inventories().await;
    let body = r#"{"transactionType":"in","inventoryId":"i-1","amount":10,"price":5,"status":null}"#;
    let id = service.create(body).await;
    let (transaction, inventory) = (service.transaction(&id).await, service.get("/v1/public/inventories/i-1").await);
    for _ in 0..3 {
        assert_eq!(service.change(&id, body).await["status"], "updated");
    }
    assert_eq!(service.transaction(&id).await, transaction);
    assert_eq!(service.get("/v1/public/inventories/i-1").await.text, inventory.text);
    // Without an effect the inventory does not change.
    service.change(&id, r#"{"transactionType":"in","status":"done"}"#).await;
    assert_eq!(service.get("/v1/public/inventories/i-1").await.text, inventory.text);
    service.stop().await;
}

#[tokio::test]
async fn invalid_input_is_a_422_without_effect() {
    let (_data, service) = with_inventories().await;
    let id = service.create(r#"{"transactionType":"in","inventoryId":"i-1","amount":0}"#).await;
    let one = format!("{TRANSACTIONS}/{id}");
    let cases = [
        (r#"{"inventoryId":"i-1"}"#, r#"{"transactionType":["is required"]}"#),
        (r#"{"transactionType":" ","inventoryId":"i-1"}"#, r#"{"transactionType":["must not be blank"]}"#),
        (
            r#"{"transactionType":null,"inventoryId":1,"amount":1.5,"transactionAmount":"1","transactionDate":0,
                "status":[],"inventoryType":{},"useUnitValue":"yes","price":"1"}"#,
            r#"{"transactionType":["must be a string, not null"],
                "inventoryId":["must be a string or null, not a number"],
                "amount":["must be an integer or null, not a number"],
                "transactionAmount":["must be an integer or null, not a string"],
                "transactionDate":["must be a string or null, not a number"],
                "status":["must be a string or null, not an array"],
                "inventoryType":["must be a string or null, not an object"],
                "useUnitValue":["must be a boolean or null, not a string"],
                "price":["must be a number or null, not a string"]}"#,
        ),
        (
            r#"{"transactionType":"in","inventoryId":"i-1","amount":9223372036854775808,"price":1e40,
                "transactionDate":"03/04/2026"}"#,
            r#"{"amount":["is too large"],"price":["has more than 28 digits"],
                "transactionDate":["must be an ISO 8601 date-time such as 2026-01-31T08:30:00Z"]}"#,
        ),
        (r#"{"transactionType":"in","inventoryId":"none"}"#, r#"{"inventoryId":["no such inventory"]}"#),
        (r#"{"transactionType":"in","inventoryId":"theirs"}"#, r#"{"inventoryId":["no such inventory"]}"#),
        (
            r#"{"transactionType":"in","inventoryExternalId":"THEIRS"}"#,
            r#"{"inventoryExternalId":["no such inventory"]}"#,
        ),
        (
            r#"{"transactionType":"in","inventoryId":"i-1","inventoryExternalId":"NUTS"}"#,
            r#"{"inventoryExternalId":["belongs to another inventory than inventoryId"]}"#,
        ),
        (
            r#"{"transactionType":"in","inventoryId":"i-1","amount":9223372036854775807}"#,
            r#"{"amount":["makes the inventory's figures too large"]}"#,
        ),
        (
            r#"{"transactionType":"out","inventoryId":"i-1","transactionAmount":-9223372036854775808}"#,
            r#"{"transactionAmount":["makes the inventory's figures too large"]}"#,
        ),
        (
            r#"{"transactionType":"in","inventoryId":"i-1","amount":2,"price":79228162514264337593543950335}"#,
            r#"{"amount":["makes the inventory's figures too large"]}"#,
        ),
    ];
    for (body, errors) in cases {
        service.post(TRANSACTIONS, body).await.invalid(errors);
        service.put(&one, body).await.invalid(errors);
    }
    let needed = r#"{"inventoryId":["is required without inventoryExternalId"]}"#;
    service.post(TRANSACTIONS, r#"{"transactionType":"in","inventoryId":null}"#).await.invalid(needed);
    service.post(TRANSACTIONS, "[]").await.refused(400);
    assert_eq!(service.figures("i-1").await, "100 5 1 106 265.00");
    service.stop().await;
}

#[tokio::test]
async fn transactions_of_other_workspaces_are_a_404() {
    let (_data, service) = with_inventories().await;
    let id = service.create(r#"{"transactionType":"in","inventoryId":"i-1","amount":1}"#).await;
    let body = r#"{"transactionType":"out","inventoryId":"theirs","amount":1}"#;
    let (ours, none) = (format!("{TRANSACTIONS}/{id}"), format!("{TRANSACTIONS}/none"));
    let refusals = [
        service.other_calls(Method::GET, &ours, "").await,
        service.other_calls(Method::PUT, &ours, body).await,
        service.get(&none).await,
        service.put(&none, body).await,
        service.put(&format!("{TRANSACTIONS}/%00"), body).await,
        service.get(&format!("{TRANSACTIONS}/%ff")).await,
    ];
    let messages: Vec<_> = refusals.iter().map(|refused| refused.refused(404)["message"].clone()).collect();
    assert!(messages.iter().all(|message| *message == messages[0]), "{messages:?}");
    assert_eq!(service.figures("i-1").await, "101 5 1 107 267.50");

    let regular = service.tokens("acme", Access::Regular).await.access;
    for (method, path) in [(Method::POST, TRANSACTIONS), (Method::PUT, &ours)] {
        let request = service.request(method, path).bearer_auth(&regular);
        answer(request.header("content-type", "application/json").body(body)).await.refused(403);
    }
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn concurrent_transactions_all_count() {
    let (_data, service) = with_inventories().await;
    let bodies: Vec<_> = (1..=60)
        .map(|n| {
            let word = if n % 3 == 0 { "out" } else { "in" };
            format!(r#"{{"transactionType":"{word}","inventoryId":"i-2","amount":{n},"price":0.10}}"#)
        })
        .collect();
    let ids = join_all(bodies.iter().map(|body| service.create(body))).await;
    // 1 + … + 60 is 1830; the multiples of 3 add up to 630 and are subtracted.
    assert_eq!(service.figures("i-2").await, "570 null null 570 2.00");
    let again = r#"{"transactionType":"adjust","amount":1,"price":0.01}"#;
    join_all(ids.iter().map(|id| service.change(id, again))).await;
    assert_eq!(service.figures("i-2").await, "60 null null 60 0.60");
    service.stop().await;
}

#[tokio::test]
async fn a_loaded_amount_counts_as_the_units() {
    let data = folder();
    let amount_alone = r#"{"id":"t-1","inventory_id":"INV-1","transaction_type":"in","amount":10,
        "transaction_amount":null,"usage_status":"applied"}"#;
    let units_alone = r#"{"id":"t-2","inventory_id":"INV-1","transaction_type":"in","transaction_amount":3}"#;
    load(data.path(), "acme", &[("inventory", BOLTS), ("transaction", amount_alone), ("transaction", units_alone)])
        .await;
    let service = start(data.path()).await;
    for (id, units) in [("t-1", 10), ("t-2", 3)] {
        let transaction = service.transaction(id).await;
        assert_eq!(
            (&transaction["amount"], &transaction["transaction_amount"]),
            (&units.into(), &units.into()),
            "{id}"
        );
    }
    assert!(service.figures("i-1").await.starts_with("100 5 1 106 "));
    service.change("t-1", r#"{"transactionType":"in","amount":4}"#).await;
    assert!(service.figures("i-1").await.starts_with("94 5 1 100 "), "{}", service.figures("i-1").await);
    service.stop().await;
}
