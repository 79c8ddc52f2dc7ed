//! `POST /v1/subscriptions/create` and `POST /v1/invoices/create`. Contract: "Subscription and sales invoice record";
//! the answers and the limits of the fields are not shown there and are ours.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use serde_json::{Map, Value};

use crate::records::invoice::{self, Invoice};
use crate::records::subscription::{self, BilledItem, Subscription};

use super::answer::{self, CtxId, Refusal};
use super::auth::Caller;
use super::body::JsonObject;
use super::input::{self, Errors, Rules};
use super::moment;
use super::router::App;
use super::store::{ItemKey, Key, Kind, Tx, Work, to_json};

/// The most characters that each text may have, where it is not 255.
pub const LONGEST: &[(&str, usize)] = &[("subscription_status", 50), ("status", 50)];

pub const RULES: Rules =
    Rules { longest: LONGEST, codes: &["currency"], not_blank: &["subscription_status", "status"], date_times: &[] };

/// What a record is that does not say it.
const SUBSCRIPTION_STATUS: &str = "active";
const INVOICE_STATUS: &str = "draft";

pub async fn create_subscription(
    State(app): State<Arc<App>>,
    caller: Caller,
    ctx_id: CtxId,
    JsonObject(body): JsonObject,
) -> Result<Response, Refusal> {
    let mut body = input::checked(subscription::INPUT_FIELDS, &RULES, &body).map_err(Refusal::invalid)?;
    let status = input::take_text(&mut body, "subscription_status").unwrap_or_else(|| SUBSCRIPTION_STATUS.to_owned());
    create(&app, Create::new(Kind::Subscription, status, caller, ctx_id, body)).await
}

pub async fn create_invoice(
    State(app): State<Arc<App>>,
    caller: Caller,
    ctx_id: CtxId,
    JsonObject(body): JsonObject,
) -> Result<Response, Refusal> {
    let mut body = input::checked(invoice::INPUT_FIELDS, &RULES, &body).map_err(Refusal::invalid)?;
    let status = input::take_text(&mut body, "status").unwrap_or_else(|| INVOICE_STATUS.to_owned());
    create(&app, Create::new(Kind::Invoice, status, caller, ctx_id, body)).await
}

async fn create(app: &App, create: Create) -> Result<Response, Refusal> {
    if create.items.is_empty() {
        return Err(Refusal::invalid(Errors::from([("items".to_owned(), vec!["must not be empty".to_owned()])])));
    }
    // The writer has logged why.
    let created = app.store.carry_out(create).await.map_err(|_| Refusal::internal())?;
    created.map(answer::json_text).map_err(Refusal::invalid)
}

/// A record that is to be created for somebody who is known, of items that are there.
struct Create {
    kind: Kind,
    workspace: Arc<str>,
    ctx_id: CtxId,
    cid: String,
    status: String,
    items: Vec<BilledItem>,
    currency: Option<String>,
}

impl Create {
    fn new(kind: Kind, status: String, caller: Caller, ctx_id: CtxId, mut body: Map<String, Value>) -> Create {
        let items = input::take_objects(&mut body, "items").unwrap_or_default();
        // Both fields are required, and have been checked.
        let items = items.into_iter().filter_map(|mut item| {
            let id = input::take_text(&mut item, "id")?;
            Some(BilledItem { id, amount: input::take_number(&mut item, "amount")? })
        });
        Create {
            kind,
            workspace: caller.workspace,
            ctx_id,
            cid: input::take_text(&mut body, "cid").unwrap_or_default(),
            status,
            items: items.collect(),
            currency: input::take_text(&mut body, "currency"),
        }
    }

    /// The record as it is answered.
    fn shown(self, id: String, at: i64) -> Result<String, sqlx::Error> {
        let Create { kind, ctx_id, cid, status, items, currency, .. } = self;
        let (created_at, updated_at) = (moment::show(at), moment::show(at));
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

impl Work for Create {
    type Done = Result<String, Errors>;

    fn workspace(&self) -> &Arc<str> {
        &self.workspace
    }

    async fn run(self, tx: &mut Tx<'_>) -> Result<Self::Done, sqlx::Error> {
        let mut errors = Errors::new();
        let is_known = tx.find(Kind::Contact, Key::Id(&self.cid)).await?.is_some()
            || tx.find(Kind::Company, Key::Id(&self.cid)).await?.is_some();
        if !is_known {
            input::push(&mut errors, "cid", "there is no such contact or company");
        }
        let keys: Vec<_> = self.items.iter().map(|item| ItemKey::Id(&item.id)).collect();
        for (index, found) in tx.find_items(&keys).await?.into_iter().enumerate() {
            if found.is_none() {
                input::push(&mut errors, &format!("items[{index}].id"), "there is no such item");
            }
        }
        if !errors.is_empty() {
            return Ok(Err(errors));
        }
        let kind = self.kind;
        let mut record = tx.new_record(kind).await?;
        record.shown = self.shown(record.id.clone(), record.created_at)?;
        tx.insert(kind, &record).await?;
        Ok(Ok(record.shown))
    }
}
