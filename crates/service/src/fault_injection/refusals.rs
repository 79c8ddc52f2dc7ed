//! Responses of a plan that refuse a record with `ok: false`. They have all fields of the response to a success, so that clients
//! generated from the OpenAPI document can read them.

use axum::response::Response;
use jiff::Timestamp;
use serde::Serialize;
use serde_json::{Map, Value, json};
use sheetport_records::invoice::{self, Invoice};
use sheetport_records::item::{self, ItemResult};
use sheetport_records::order::{OrderResult, OrderUpdateResult};
use sheetport_records::subscription::{self, BilledItem, Subscription};
use sheetport_records::transaction::TransactionResult;

use super::request_keys::Subject;
use crate::{response, timestamp};

/// The `status` of a refused record.
const FAILED: &str = "failed";

/// Returns a response with `ok: false` and the errors in `results`. Contract: "Errors".
pub(super) fn refusal(subject: &Subject, errors: &[String], ctx_id: &str) -> Response {
    // The contract has empty strings for an absent external id or job.
    let external_id = subject.external_id.clone().unwrap_or_default();
    let (status, ctx_id) = (FAILED.to_owned(), ctx_id.to_owned());
    if let Some(order_id) = subject.order_id.clone() {
        let results = vec![OrderResult { external_id, status, order_id, errors: errors.to_vec() }];
        return response::json(&OrderUpdateResult { ok: false, results, job_id: String::new(), ctx_id });
    }
    let results = json!([{"external_id": external_id, "status": status, "errors": errors}]);
    let text = |name: &str| subject.body.get(name).and_then(Value::as_str).map(str::to_owned);
    let items = || {
        let items = subject.body.get("items").cloned().unwrap_or_default();
        serde_json::from_value::<Vec<BilledItem>>(items).unwrap_or_default()
    };
    let now = timestamp::format(Timestamp::now().as_millisecond());
    let mut body = match subject.path.as_str() {
        item::PATH => fields(&ItemResult { ok: false, status, external_id, item_id: None, ctx_id: Some(ctx_id) }),
        invoice::CREATE_PATH => fields(&Invoice {
            ok: false,
            status,
            id: String::new(),
            cid: text("cid").unwrap_or_default(),
            items: items(),
            currency: text("currency"),
            created_at: now.clone(),
            updated_at: now,
            ctx_id,
        }),
        subscription::CREATE_PATH => fields(&Subscription {
            ok: false,
            subscription_status: status.clone(),
            status,
            id: String::new(),
            cid: text("cid").unwrap_or_default(),
            items: items(),
            currency: text("currency"),
            created_at: now.clone(),
            updated_at: now,
            ctx_id,
        }),
        _ => fields(&TransactionResult {
            ok: false,
            status,
            transaction_id: None,
            inventory_id: None,
            ctx_id: Some(ctx_id),
        }),
    };
    body.insert("results".to_owned(), results);
    response::json(&body)
}

fn fields(result: &impl Serialize) -> Map<String, Value> {
    match serde_json::to_value(result) {
        Ok(Value::Object(fields)) => fields,
        _ => unreachable!("response types are objects"),
    }
}
