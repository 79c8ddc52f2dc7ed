//! Examples of requests and responses, of the demo workspace. A test sends the requests and compares the responses.

pub(super) const ITEM_INPUT: &str =
    r#"{"externalId":"0045","name":"Hex bolt M10 × 40","currency":"EUR","price":31.90,"tax":19}"#;

pub(super) const ITEM_RESULT: &str = r#"{"ok":true,"status":"created","external_id":"0045",
    "item_id":"01a207c6-c9f9-776f-ae89-ba5bbc48c8c0","ctx_id":"01a207c6c9df7412b730a75652803c23"}"#;

pub(super) const ITEMS: &str = r#"{"data":[{"id":"019a3c00-0001-7000-8000-000000000001",
    "name":"Hex bolt M8 × 40, zinc plated","price":24.90,"currency":"EUR","status":"active",
    "updated_at":"2026-01-05T08:00:00.000Z","external_id":"0042","description":"Box of 100","purchase_price":11.20,
    "tax":19}],"page":1,"count":100,"total":1,"message":"OK","ctx_id":"01a207c6c7f37008b564e3da6bee2a72"}"#;

pub(super) const ORDER: &str = r#"{"id":"019a3c00-0005-7000-8000-000000000001","order_at":"2026-01-01T09:17:00.000Z",
    "created_at":"2026-01-01T09:17:00.000Z","updated_at":"2026-01-05T08:00:00.000Z","order_id":5001,
    "status":"confirmed","delivery_status":"shipped","total_price":1458.35,"total_price_without_tax":1225.50,
    "number_item":1,"currency":"PLN","company_id":"019a3c00-0002-7000-8000-00000000000a",
    "contact_id":"019a3c00-0003-7000-8000-000000000010","external_id":"SO-2026-0001",
    "items":[{"item_id":"019a3c00-0001-7000-8000-000000000002","itemExternalId":"0043","quantity":10,"price":122.55,
    "tax":null,"tax_rate":19}]}"#;

pub(super) const ORDERS: &str = r#"{"data":[{"id":"019a3c00-0005-7000-8000-000000000001",
    "order_at":"2026-01-01T09:17:00.000Z","created_at":"2026-01-01T09:17:00.000Z",
    "updated_at":"2026-01-05T08:00:00.000Z","order_id":5001,"status":"confirmed","delivery_status":"shipped",
    "total_price":1458.35,"total_price_without_tax":1225.50,"number_item":1,"currency":"PLN",
    "company_id":"019a3c00-0002-7000-8000-00000000000a","contact_id":"019a3c00-0003-7000-8000-000000000010",
    "external_id":"SO-2026-0001"}],"page":1,"count":100,"total":1,"message":"OK",
    "ctx_id":"01a207c6c84071119e342f243161d005"}"#;

pub(super) const ORDER_INPUT: &str = r#"{"order":{"companyExternalId":"C-1001","deliveryStatus":"shipped",
    "items":[{"itemExternalId":"0042","quantity":3,"price":24.90,"tax_rate":19}]},
    "createMissingItems":false,"triggerWorkflows":false}"#;

pub(super) const ORDER_RESULT: &str = r#"{"ok":true,"results":[{"external_id":"SO-2026-0001","status":"updated",
    "order_id":"019a3c00-0005-7000-8000-000000000001","errors":[]}],"job_id":"",
    "ctx_id":"01a207c6c90f73e1ba77a94b4f03a892"}"#;

pub(super) const COMPANIES: &str = r#"{"data":[{"id":"019a3c00-0002-7000-8000-000000000001","external_id":"C-1001",
    "name":"Müller & Söhne Metallbau GmbH","email":"einkauf@mueller-metallbau.example","phone":"+49 711 555010",
    "status":"active","created_at":"2026-01-05T08:00:00.000Z","updated_at":"2026-01-05T08:00:00.000Z",
    "currency":"EUR"}],"page":1,"count":100,"total":1,"message":"OK","ctx_id":"01a207c6c87777f7bdd2df990e1e3a2c"}"#;

pub(super) const CONTACTS: &str = r#"{"data":[{"id":"019a3c00-0003-7000-8000-000000000001","external_id":"P-2001",
    "name":"Jürgen Müller","email":"juergen.mueller@mueller-metallbau.example","phone":"+49 151 5550001",
    "company_id":"019a3c00-0002-7000-8000-000000000001","status":"active","created_at":"2026-01-05T08:00:00.000Z",
    "updated_at":"2026-01-05T08:00:00.000Z"}],"page":1,"count":100,"total":1,"message":"OK",
    "ctx_id":"01a207c6c8aa77ef8754a2a5732f7898"}"#;

pub(super) const INVENTORY: &str = r#"{"created_at":"2026-01-05T08:00:00.000Z","updated_at":"2026-01-05T08:00:00.000Z",
    "id":"019a3c00-0004-7000-8000-000000000001","inventory_id":"INV-1","name":"Bolts","status":"active",
    "record_source":"demo","record_source_detail":"Außenlager Lübeck","inventory_status":"in_stock","currency":"EUR",
    "available":1840,"committed":120,"unavailable":12,"initial_value":1972,"total_inventory":1972,
    "inventory_value":32242.20,"unit_price":16.35,"warehouse_id":"nord",
    "item_ids":["019a3c00-0001-7000-8000-000000000001"],"date":"2026-01-11T00:00:00.000Z","external_id":"L-01"}"#;

pub(super) const INVENTORIES: &str = r#"[{"created_at":"2026-01-05T08:00:00.000Z",
    "updated_at":"2026-01-05T08:00:00.000Z","id":"019a3c00-0004-7000-8000-000000000001","inventory_id":"INV-1",
    "name":"Bolts","status":"active","record_source":"demo","record_source_detail":"Außenlager Lübeck",
    "inventory_status":"in_stock","currency":"EUR","available":1840,"committed":120,"unavailable":12,
    "initial_value":1972,"total_inventory":1972,"inventory_value":32242.20,"unit_price":16.35,"warehouse_id":"nord",
    "item_ids":["019a3c00-0001-7000-8000-000000000001"],"date":"2026-01-11T00:00:00.000Z","external_id":"L-01"}]"#;

pub(super) const TRANSACTION_INPUT: &str = r#"{"transactionType":"in","inventoryExternalId":"L-01",
    "transactionAmount":12,"transactionDate":"2026-01-31T09:30:00Z","inventoryType":"available","useUnitValue":true,
    "price":15.40}"#;

pub(super) const TRANSACTION_RESULT: &str = r#"{"ok":true,"status":"created",
    "transaction_id":"01a207c6-c8f1-76dc-890b-7b9d5fe1f541","inventory_id":"INV-1",
    "ctx_id":"01a207c6c8ef71439c41dab710f51fb8"}"#;

pub(super) const TRANSACTION: &str = r#"{"created_at":"2026-01-31T09:30:00.000Z",
    "updated_at":"2026-01-31T09:30:00.000Z","id":"019a3c00-0006-7000-8000-000000000001",
    "transaction_id":"019a3c00-0006-7000-8000-000000000001","inventory_id":"INV-1",
    "inventory_uuid":"019a3c00-0004-7000-8000-000000000001","inventory_type":"available","transaction_type":"in",
    "status":"done","amount":12,"transaction_amount":12,"use_unit_value":true,"price":15.40,"total_price":184.80,
    "average_price":15.40,"transaction_date":"2026-01-31T09:30:00.000Z","usage_status":"applied"}"#;

pub(super) const SUBSCRIPTION_INPUT: &str = r#"{"cid":"019a3c00-0002-7000-8000-000000000001",
    "subscription_status":"active","items":[{"id":"019a3c00-0001-7000-8000-000000000024","amount":2}],
    "currency":"EUR"}"#;

pub(super) const SUBSCRIPTION: &str = r#"{"ok":true,"status":"active","id":"01a207c6-c953-76c3-b410-9f7de64403a6",
    "cid":"019a3c00-0002-7000-8000-000000000001","subscription_status":"active",
    "items":[{"id":"019a3c00-0001-7000-8000-000000000024","amount":2}],"currency":"EUR",
    "created_at":"2026-01-31T09:30:00.000Z","updated_at":"2026-01-31T09:30:00.000Z",
    "ctx_id":"01a207c6c95270a4a3bfb82d0c04fb12"}"#;

pub(super) const INVOICE_INPUT: &str = r#"{"cid":"019a3c00-0003-7000-8000-000000000005","status":"scheduled",
    "items":[{"id":"019a3c00-0001-7000-8000-000000000001","amount":10}],"currency":"EUR"}"#;

pub(super) const INVOICE: &str = r#"{"ok":true,"status":"scheduled","id":"01a207c6-c979-74c6-b764-732aba0ccf43",
    "cid":"019a3c00-0003-7000-8000-000000000005","items":[{"id":"019a3c00-0001-7000-8000-000000000001","amount":10}],
    "currency":"EUR","created_at":"2026-01-31T09:30:00.000Z","updated_at":"2026-01-31T09:30:00.000Z",
    "ctx_id":"01a207c6c96076e08f425ebdd08d8ce6"}"#;

pub(super) const REFRESH_INPUT: &str = r#"{"refresh":"<REFRESH_TOKEN>"}"#;

pub(super) const REFRESH_RESULT: &str = r#"{"access":"<ACCESS_TOKEN>"}"#;

pub(super) const HEALTH: &str = r#"{"ok":true}"#;

/// Returns the body of an error response with this status.
pub(super) fn error(status: &str) -> serde_json::Value {
    let (message, errors) = match status {
        "400" => ("the query is malformed", None),
        "401" => ("the bearer token has expired", None),
        "403" => ("the token has Regular access, which is read-only; use a token with Full Access", None),
        "404" => ("no such record", None),
        "408" => ("timed out reading the body", None),
        "409" => ("a request with this Idempotency-Key is in progress; try again later", None),
        "413" => ("the body is larger than 1048576 bytes", None),
        "415" => ("send the header `Content-Type: application/json`", None),
        "422" => {
            let errors = serde_json::json!({"price": ["must be a number or null, not a string"]});
            ("the input is invalid: price", Some(errors))
        }
        "429" => ("rate limit exceeded; retry after the time in Retry-After", None),
        "503" => ("the database can't be read and written; see the log of the service", None),
        _ => ("internal error; see the log of the service", None),
    };
    let mut body = serde_json::json!({"message": message, "ctx_id": "01a207c6c9df7412b730a75652803c23"});
    if let Some(errors) = errors {
        body["errors"] = errors;
    }
    body
}
