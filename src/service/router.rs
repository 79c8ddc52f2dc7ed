//! All routes in one list, and what every handler may reach. What a route does is in the resource's own file.

use std::sync::Arc;

use axum::Router;
use axum::http::StatusCode;
use axum::middleware::{from_fn, from_fn_with_state};
use axum::response::Response;
use axum::routing::{get, post};

use crate::records::answer::Health;
use crate::records::{company, contact, inventory, invoice, item, order, subscription, token, transaction};

use super::answer::{self, Refusal};
use super::auth::{self, Keys};
use super::rehearsal::{self, Rehearser};
use super::store::Store;
use super::{Config, billing, items, lists, openapi, orders, single, tokens, transactions};

pub struct App {
    pub config: Config,
    pub keys: Keys,
    pub store: Store,
}

pub fn router(app: Arc<App>) -> Router {
    let rehearser = app.config.rehearsal.clone().map(|rehearsal| Arc::new(Rehearser::new(rehearsal)));
    let open = Router::new().route(token::REFRESH_PATH, post(tokens::refresh));
    let guarded = Router::new()
        .route(item::PATH, get(items::list).post(items::upsert))
        .route(order::PATH, get(lists::orders))
        .route(order::ONE_PATH, get(single::order).put(orders::update))
        .route(company::PATH, get(lists::companies))
        .route(inventory::PATH, get(lists::inventories))
        .route(inventory::ONE_PATH, get(single::inventory))
        .route(transaction::PATH, post(transactions::create))
        .route(transaction::ONE_PATH, get(single::transaction).put(transactions::update))
        .route(order::OLDER_PATH, get(lists::older_orders))
        .route(item::OLDER_PATH, get(lists::older_items))
        .route(contact::PATH, get(lists::older_contacts))
        .route(subscription::CREATE_PATH, post(billing::create_subscription))
        .route(invoice::CREATE_PATH, post(billing::create_invoice));
    // The token comes before the rehearsal, which limits by workspace.
    let guarded = rehearsal::around(guarded, rehearser.as_ref())
        .route_layer(from_fn_with_state(app.clone(), auth::require_token));
    rehearsal::around(open, rehearser.as_ref())
        .merge(guarded)
        .merge(openapi::routes())
        .route("/healthz", get(healthz))
        .method_not_allowed_fallback(method_not_allowed)
        .fallback(not_found)
        .layer(from_fn(answer::with_ctx_id))
        .with_state(app)
}

async fn healthz() -> Response {
    answer::json(&Health { ok: true })
}

async fn not_found() -> Refusal {
    Refusal::new(StatusCode::NOT_FOUND, "there is nothing at this path")
}

async fn method_not_allowed() -> Refusal {
    Refusal::new(StatusCode::METHOD_NOT_ALLOWED, "this path does not answer to this method")
}
