//! `PUT /v1/public/orders/{order_id}`: the rules of its input, and its answer. How lines make totals is in `totals`, how
//! the update is carried out in `update`. Contract: "Order update input"; the limits of the fields are not shown there
//! and are ours.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use serde_json::{Map, Value};

use crate::records::order::{INPUT_FIELDS, OrderResult, OrderUpdateResult};

use super::answer::{self, CtxId, Refusal};
use super::auth::Caller;
use super::body::JsonObject;
use super::input::{self, Errors, Rules};
use super::router::App;
use super::single::RecordId;

mod totals;
mod update;

use self::update::{Line, UpdateOrder, Updated};

/// The most characters that each text may have, where it is not 255.
pub const LONGEST: &[(&str, usize)] = &[("deliveryStatus", 50)];

pub const RULES: Rules =
    Rules { longest: LONGEST, codes: &[], not_blank: &["externalId", "itemExternalId"], date_times: &["orderAt"] };

/// Changes what the body has of the order, or nothing of it and says why.
pub async fn update(
    State(app): State<Arc<App>>,
    caller: Caller,
    ctx_id: CtxId,
    RecordId(id): RecordId,
    JsonObject(body): JsonObject,
) -> Result<Response, Refusal> {
    let work = update_input(caller.workspace, id, &body).map_err(Refusal::invalid)?;
    // The writer has logged why.
    let Some(Updated { id, external_id, job_id, errors }) =
        app.store.carry_out(work).await.map_err(|_| Refusal::internal())?
    else {
        return Err(Refusal::no_record());
    };
    let ok = errors.is_empty();
    let status = if ok { "updated" } else { "failed" }.to_owned();
    let external_id = external_id.unwrap_or_default();
    Ok(answer::json(&OrderUpdateResult {
        ok,
        results: vec![OrderResult { external_id, status, order_id: id, errors }],
        job_id: job_id.unwrap_or_default(),
        ctx_id: ctx_id.as_str().to_owned(),
    }))
}

/// The update that a body asks for, or everything that is wrong with it.
pub fn update_input(workspace: Arc<str>, id: String, body: &Map<String, Value>) -> Result<UpdateOrder, Errors> {
    let mut body = input::checked(INPUT_FIELDS, &RULES, body)?;
    let mut order = match body.shift_remove("order") {
        Some(Value::Object(order)) => order,
        _ => Map::new(),
    };
    let lines = input::take_objects(&mut order, "items");
    let lines = lines.map(|lines| lines.into_iter().map(line).collect::<Vec<_>>());
    let mut errors = Errors::new();
    for (index, line) in lines.iter().flatten().enumerate() {
        if line.item_id.is_none() && line.item_external_id.is_none() {
            let field = format!("order.items[{index}].item_id");
            input::push(&mut errors, &field, "is required, unless itemExternalId is given");
        }
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    Ok(UpdateOrder {
        workspace,
        id,
        external_id: input::take_text(&mut order, "externalId"),
        lines,
        company_id: input::take_text(&mut order, "companyId"),
        company_external_id: input::take_text(&mut order, "companyExternalId"),
        order_at: input::take_text(&mut order, "orderAt"),
        delivery_status: input::take_text(&mut order, "deliveryStatus"),
        creates_missing_items: input::take_flag(&mut body, "createMissingItems"),
        triggers_workflows: input::take_flag(&mut body, "triggerWorkflows"),
    })
}

fn line(mut line: Map<String, Value>) -> Line {
    Line {
        item_id: input::take_text(&mut line, "item_id"),
        item_external_id: input::take_text(&mut line, "itemExternalId"),
        quantity: input::take_number(&mut line, "quantity"),
        price: input::take_number(&mut line, "price"),
        tax: input::take_number(&mut line, "tax"),
        tax_rate: input::take_number(&mut line, "tax_rate"),
    }
}
