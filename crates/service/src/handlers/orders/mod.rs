//! `PUT /v1/public/orders/{order_id}`: input and response. `update` changes the order, `totals` calculates the totals, `lines` shows the lines.
//! Contract: "Order update input"; the limits of the fields are not specified there.

use std::sync::{Arc, OnceLock};

use axum::extract::State;
use axum::response::Response;
use serde_json::{Map, Value};
use sheetport_records::order::{INPUT_FIELDS, OrderResult, OrderUpdateResult};

use crate::app::App;
use crate::auth::Caller;
use crate::idempotency::{self, IdempotencyKey};
use crate::reading::Reading;
use crate::request::{self, Errors, JsonObject, ORDER_RULES, RecordId};
use crate::response::{self, CtxId, ErrorResponse, Refusal};
use crate::store::Kind;

mod lines;
mod totals;
mod update;

pub(crate) use self::lines::with_lines;
use self::update::{Line, UpdateOrder, UpdatedOrder};

/// Applies all changes in the body, or reports the errors and changes nothing.
pub(crate) async fn update(
    State(app): State<Arc<App>>,
    caller: Caller,
    ctx_id: CtxId,
    RecordId(id): RecordId,
    key: IdempotencyKey,
    body: JsonObject,
) -> Result<Response, ErrorResponse> {
    let update = parse_update(id, &body.fields, body.reading).map_err(ErrorResponse::invalid)?;
    let refusal = Arc::new(OnceLock::new());
    let noted = refusal.clone();
    let render = move |updated: Option<UpdatedOrder>| {
        let UpdatedOrder { id, external_id, job_id, errors } = updated.ok_or_else(ErrorResponse::no_record)?;
        let ok = errors.is_empty();
        if !ok {
            noted.get_or_init(|| Refusal::new(&errors));
        }
        let status = if ok { "updated" } else { "failed" }.to_owned();
        // The contract has empty strings for an absent external id or job.
        let external_id = external_id.unwrap_or_default();
        Ok(response::text_of(&OrderUpdateResult {
            ok,
            results: vec![OrderResult { external_id, status, order_id: id, errors }],
            job_id: job_id.unwrap_or_default(),
            ctx_id: ctx_id.as_str().to_owned(),
        }))
    };
    let (store, in_progress) = (&app.store, &app.keys_in_progress);
    let mut response = idempotency::write(store, in_progress, caller.into(), key, body.content, update, render).await?;
    if let Some(refusal) = refusal.get() {
        response.extensions_mut().insert(Refusal::clone(refusal));
    }
    Ok(response)
}

/// Validates the body of an update. `id` is the name in the path. Fails with all errors.
pub(crate) fn parse_update(id: String, body: &Map<String, Value>, reading: Reading) -> Result<UpdateOrder, Errors> {
    let mut body = request::validate(INPUT_FIELDS, &ORDER_RULES, body, reading)?;
    let Some(Value::Object(mut order)) = body.shift_remove("order") else { unreachable!("a required object") };
    let lines = request::take_objects(&mut order, "items");
    let lines = lines.map(|lines| lines.into_iter().map(line).collect::<Vec<_>>());
    let mut errors = Errors::new();
    for (index, line) in lines.iter().flatten().enumerate() {
        if line.item_id.is_none() && line.item_external_id.is_none() {
            let field = format!("order.items[{index}].item_id");
            request::add_error(&mut errors, &field, "is required without itemExternalId");
        }
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    Ok(UpdateOrder {
        id,
        keys: Kind::Order.naming_keys(reading),
        external_id: request::take_text(&mut order, "externalId"),
        lines,
        company_id: request::take_text(&mut order, "companyId"),
        company_external_id: request::take_text(&mut order, "companyExternalId"),
        order_at: request::take_text(&mut order, "orderAt"),
        delivery_status: request::take_text(&mut order, "deliveryStatus"),
        create_missing_items: request::take_flag(&mut body, "createMissingItems"),
        trigger_workflows: request::take_flag(&mut body, "triggerWorkflows"),
    })
}

fn line(mut line: Map<String, Value>) -> Line {
    Line {
        item_id: request::take_text(&mut line, "item_id"),
        item_external_id: request::take_text(&mut line, "itemExternalId"),
        quantity: request::take_number(&mut line, "quantity"),
        price: request::take_number(&mut line, "price"),
        tax: request::take_number(&mut line, "tax"),
        tax_rate: request::take_number(&mut line, "tax_rate"),
    }
}
