//! `POST /v1/subscriptions/create` and `POST /v1/invoices/create`. Contract: "Subscription and sales invoice record"; the
//! responses and the limits of the fields are not specified there.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use serde_json::{Map, Value};
use sheetport_records::invoice::{self, Invoice};
use sheetport_records::subscription::{self, BilledItem, Subscription};

use crate::app::App;
use crate::auth::Caller;
use crate::idempotency::{self, IdempotencyKey};
use crate::request::{self, BILLING_RULES, Errors, JsonObject};
use crate::response::{CtxId, ErrorResponse};
use crate::store::{Key, Kind, Transaction, Work, to_json};
use crate::timestamp;

/// Default status of a new subscription.
const SUBSCRIPTION_STATUS: &str = "active";
/// Default status of a new invoice.
const INVOICE_STATUS: &str = "draft";

/// Creates a subscription.
pub(crate) async fn create_subscription(
    State(app): State<Arc<App>>,
    caller: Caller,
    ctx_id: CtxId,
    key: IdempotencyKey,
    JsonObject { fields, reading, content }: JsonObject,
) -> Result<Response, ErrorResponse> {
    let mut body = request::validate(subscription::INPUT_FIELDS, &BILLING_RULES, &fields, reading)
        .map_err(ErrorResponse::invalid)?;
    let status = request::take_text(&mut body, "subscription_status");
    let status = status.unwrap_or_else(|| SUBSCRIPTION_STATUS.to_owned());
    create(&app, caller, key, content, CreateBilling::new(Kind::Subscription, status, ctx_id, body)).await
}

/// Creates an invoice.
pub(crate) async fn create_invoice(
    State(app): State<Arc<App>>,
    caller: Caller,
    ctx_id: CtxId,
    key: IdempotencyKey,
    JsonObject { fields, reading, content }: JsonObject,
) -> Result<Response, ErrorResponse> {
    let mut body =
        request::validate(invoice::INPUT_FIELDS, &BILLING_RULES, &fields, reading).map_err(ErrorResponse::invalid)?;
    let status = request::take_text(&mut body, "status").unwrap_or_else(|| INVOICE_STATUS.to_owned());
    create(&app, caller, key, content, CreateBilling::new(Kind::Invoice, status, ctx_id, body)).await
}

async fn create(
    app: &App,
    caller: Caller,
    key: IdempotencyKey,
    content: u64,
    create: CreateBilling,
) -> Result<Response, ErrorResponse> {
    let render = |created: Result<String, Errors>| created.map_err(ErrorResponse::invalid);
    idempotency::write(&app.store, &app.keys_in_progress, caller.into(), key, content, create, render).await
}

/// Creates a subscription or an invoice. Fails if the customer or an item does not exist.
struct CreateBilling {
    kind: Kind,
    ctx_id: CtxId,
    cid: String,
    status: String,
    items: Vec<BilledItem>,
    currency: Option<String>,
}

impl CreateBilling {
    fn new(kind: Kind, status: String, ctx_id: CtxId, mut body: Map<String, Value>) -> CreateBilling {
        let items = request::take_objects(&mut body, "items").expect("a required field");
        let items = items.into_iter().map(|mut item| BilledItem {
            id: request::take_text(&mut item, "id").expect("a required field"),
            amount: request::take_number(&mut item, "amount").expect("a required field"),
        });
        CreateBilling {
            kind,
            ctx_id,
            cid: request::take_text(&mut body, "cid").expect("a required field"),
            status,
            items: items.collect(),
            currency: request::take_text(&mut body, "currency"),
        }
    }

    /// Returns the record as JSON.
    fn into_json(self, id: String, at: i64) -> Result<String, sqlx::Error> {
        let CreateBilling { kind, ctx_id, cid, status, items, currency } = self;
        let (created_at, updated_at) = (timestamp::format(at), timestamp::format(at));
        let ctx_id = ctx_id.as_str().to_owned();
        if kind == Kind::Invoice {
            return to_json(&Invoice { ok: true, status, id, cid, items, currency, created_at, updated_at, ctx_id });
        }
        to_json(&Subscription {
            ok: true,
            subscription_status: status.clone(),
            status,
            id,
            cid,
            items,
            currency,
            created_at,
            updated_at,
            ctx_id,
        })
    }
}

impl Work for CreateBilling {
    type Done = Result<String, Errors>;

    async fn run(self, tx: &mut Transaction<'_>) -> Result<Self::Done, sqlx::Error> {
        let mut errors = Errors::new();
        let customer_exists = tx.find(Kind::Contact, Key::Id, &self.cid).await?.is_some()
            || tx.find(Kind::Company, Key::Id, &self.cid).await?.is_some();
        if !customer_exists {
            request::add_error(&mut errors, "cid", "no such contact or company");
        }
        let ids: Vec<_> = self.items.iter().map(|item| &*item.id).collect();
        let existing = tx.find_items(Key::Id, &ids).await?;
        for (index, id) in ids.into_iter().enumerate() {
            if !existing.contains_key(id) {
                request::add_error(&mut errors, &format!("items[{index}].id"), "no such item");
            }
        }
        if !errors.is_empty() {
            return Ok(Err(errors));
        }
        let kind = self.kind;
        let mut record = tx.new_record(kind).await?;
        record.body = self.into_json(record.id.clone(), record.created_at)?;
        tx.save(kind, &record).await?;
        Ok(Ok(record.body))
    }
}
