//! `POST` and `PUT` of inventory transactions: input and response. `effect` calculates the effect on the inventory,
//! `write` stores both, `load` stores a transaction as another service shows it. Contract: "Inventory transaction"; the limits of the fields are not specified there.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use sheetport_records::transaction::{INPUT_FIELDS, TransactionResult};

use crate::app::App;
use crate::auth::Caller;
use crate::idempotency::{self, IdempotencyKey};
use crate::request::{self, JsonObject, RecordId, TRANSACTION_RULES};
use crate::response::{self, CtxId, ErrorResponse};
use crate::store::Kind;

mod effect;
mod load;
mod write;

use self::write::{WriteResult, WriteTransaction};

pub(crate) use self::load::LoadTransaction;

/// Creates a transaction and updates the inventory. Responds when both are on disk.
pub(crate) async fn create(
    State(app): State<Arc<App>>,
    caller: Caller,
    ctx_id: CtxId,
    key: IdempotencyKey,
    body: JsonObject,
) -> Result<Response, ErrorResponse> {
    write(app, caller, ctx_id, None, key, body).await
}

/// Changes the fields in the body, reverts the previous effect of the transaction and applies the new one.
pub(crate) async fn update(
    State(app): State<Arc<App>>,
    caller: Caller,
    ctx_id: CtxId,
    RecordId(id): RecordId,
    key: IdempotencyKey,
    body: JsonObject,
) -> Result<Response, ErrorResponse> {
    write(app, caller, ctx_id, Some(id), key, body).await
}

async fn write(
    app: Arc<App>,
    caller: Caller,
    ctx_id: CtxId,
    id: Option<String>,
    key: IdempotencyKey,
    body: JsonObject,
) -> Result<Response, ErrorResponse> {
    let status = if id.is_some() { "updated" } else { "created" }.to_owned();
    let mut changes = request::validate(INPUT_FIELDS, &TRANSACTION_RULES, &body.fields, body.reading)
        .map_err(ErrorResponse::invalid)?;
    let write = WriteTransaction {
        id,
        inventory_keys: Kind::Inventory.naming_keys(body.reading),
        inventory_id: request::take_text(&mut changes, "inventoryId"),
        inventory_external_id: request::take_text(&mut changes, "inventoryExternalId"),
        changes,
    };
    let render = move |written: WriteResult| match written {
        WriteResult::Stored { transaction_id, inventory_id } => Ok(response::text_of(&TransactionResult {
            ok: true,
            status,
            transaction_id: Some(transaction_id),
            inventory_id: Some(inventory_id),
            ctx_id: Some(ctx_id.as_str().to_owned()),
        })),
        WriteResult::NoTransaction => Err(ErrorResponse::no_record()),
        WriteResult::Invalid(errors) => Err(ErrorResponse::invalid(errors)),
    };
    idempotency::write(&app.store, &app.keys_in_progress, caller.into(), key, body.content, write, render).await
}
