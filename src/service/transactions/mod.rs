//! `POST` and `PUT` of inventory transactions: the rules of their input, and their answers. What a transaction does to
//! its inventory is in `effect`, how it is stored in `write`. Contract: "Inventory transaction"; the limits of the fields
//! are not shown there and are ours.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use serde_json::{Map, Value};

use crate::records::transaction::{INPUT_FIELDS, TransactionResult};

use super::answer::{self, CtxId, Refusal};
use super::auth::Caller;
use super::body::JsonObject;
use super::input::{self, Rules};
use super::router::App;
use super::single::RecordId;

mod effect;
mod write;

use self::write::{WriteTransaction, Written};

/// The most characters that each text may have, where it is not 255.
pub const LONGEST: &[(&str, usize)] = &[("transactionType", 50), ("status", 50), ("inventoryType", 50)];

pub const RULES: Rules =
    Rules { longest: LONGEST, codes: &[], not_blank: &["transactionType"], date_times: &["transactionDate"] };

/// Creates a transaction and moves the inventory's figures. The answer is given once both are on disk.
pub async fn create(
    State(app): State<Arc<App>>,
    caller: Caller,
    ctx_id: CtxId,
    JsonObject(body): JsonObject,
) -> Result<Response, Refusal> {
    write(&app, caller, &ctx_id, None, &body).await
}

/// Changes the fields that are there, takes back what the transaction did and does it anew.
pub async fn update(
    State(app): State<Arc<App>>,
    caller: Caller,
    ctx_id: CtxId,
    RecordId(id): RecordId,
    JsonObject(body): JsonObject,
) -> Result<Response, Refusal> {
    write(&app, caller, &ctx_id, Some(id), &body).await
}

async fn write(
    app: &App,
    caller: Caller,
    ctx_id: &CtxId,
    id: Option<String>,
    body: &Map<String, Value>,
) -> Result<Response, Refusal> {
    let status = if id.is_some() { "updated" } else { "created" };
    let mut changes = input::checked(INPUT_FIELDS, &RULES, body).map_err(Refusal::invalid)?;
    let work = WriteTransaction {
        workspace: caller.workspace,
        id,
        inventory_id: input::take_text(&mut changes, "inventoryId"),
        inventory_external_id: input::take_text(&mut changes, "inventoryExternalId"),
        changes,
    };
    // The writer has logged why.
    match app.store.carry_out(work).await.map_err(|_| Refusal::internal())? {
        Written::Stored { transaction_id, inventory_id } => Ok(answer::json(&TransactionResult {
            ok: true,
            status: status.to_owned(),
            transaction_id: Some(transaction_id),
            inventory_id: Some(inventory_id),
            ctx_id: Some(ctx_id.as_str().to_owned()),
        })),
        Written::NoTransaction => Err(Refusal::no_record()),
        Written::Refused(errors) => Err(Refusal::invalid(errors)),
    }
}
