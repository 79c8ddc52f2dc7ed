//! The routes.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::http::{StatusCode, Uri};
use axum::middleware::{from_fn, from_fn_with_state};
use axum::response::Response;
use axum::routing::{get, post};
use sheetport_records::answer::Health;
use sheetport_records::{company, contact, inventory, invoice, item, order, subscription, token, transaction};
use sheetport_web::OwnHosts;
use tokio::time::timeout;

use super::app::App;
use super::fault_injection::{self, FaultInjector};
use super::handlers::{billing, items, lists, orders, single, tokens, transactions};
use super::host;
use super::reading::Reading;
use super::response::{self, ErrorResponse};
use super::store::Kind;
use super::{auth, exactness, openapi};

/// Longest time for the database to be read and written.
const READY_TIMEOUT: Duration = Duration::from_secs(2);

/// Returns the router of the service, for requests to `hosts`.
pub(super) fn router(app: Arc<App>, hosts: OwnHosts) -> Router {
    let injector = app.config.fault_injection.clone().map(|settings| Arc::new(FaultInjector::new(settings)));
    let unauthenticated = Router::new().route(token::REFRESH_PATH, post(tokens::refresh));
    let authenticated = Router::new()
        .route(item::PATH, lists::list(Kind::Item, "limit").post(items::upsert))
        .route(item::OLDER_PATH, lists::list(Kind::Item, "amount"))
        .route(order::PATH, lists::list(Kind::Order, "limit"))
        .route(order::OLDER_PATH, lists::list(Kind::Order, "amount"))
        .route(order::ONE_PATH, get(single::order).put(orders::update))
        .route(company::PATH, lists::list(Kind::Company, "limit"))
        .route(contact::PATH, lists::list(Kind::Contact, "amount"))
        .route(inventory::PATH, get(lists::inventories))
        .route(inventory::ONE_PATH, get(single::inventory))
        .route(transaction::PATH, post(transactions::create))
        .route(transaction::ONE_PATH, get(single::transaction).put(transactions::update))
        .route(subscription::CREATE_PATH, post(billing::create_subscription))
        .route(invoice::CREATE_PATH, post(billing::create_invoice))
        // Before the layers, so that only callers with a token learn that a method is unsupported.
        .method_not_allowed_fallback(method_not_allowed);
    let reading = app.config.reading;
    let authenticated = exact(authenticated, reading).route_layer(from_fn(auth::require_access));
    let unauthenticated = exact(unauthenticated, reading);
    // Authentication runs first, because the rate limit applies per workspace.
    let authenticated = fault_injection::wrap(authenticated, injector.as_ref())
        .route_layer(from_fn_with_state(app.keys.clone(), auth::require_token));
    let routes = fault_injection::wrap(unauthenticated, injector.as_ref())
        .merge(authenticated)
        .merge(openapi::routes(reading))
        .route(host::ALIVE, get(healthz))
        .route(host::READY, get(readyz))
        .route("/", get(root))
        .method_not_allowed_fallback(method_not_allowed)
        .fallback(not_found)
        .layer(from_fn_with_state(hosts, host::require))
        .layer(from_fn_with_state((app.store.clone(), reading), response::with_ctx_id));
    fault_injection::with_clock(routes, injector.as_ref()).with_state(app)
}

/// Adds the checks of a strict or literal service to the routes.
fn exact(routes: Router<Arc<App>>, reading: Reading) -> Router<Arc<App>> {
    match reading {
        Reading::Tolerant => routes,
        Reading::Strict | Reading::Literal => routes.route_layer(from_fn_with_state(reading, exactness::require)),
    }
}

async fn healthz() -> Response {
    response::json(&Health { ok: true })
}

/// Responds with 503 unless the database can be read and written within a moment.
async fn readyz(State(app): State<Arc<App>>) -> Result<Response, ErrorResponse> {
    match timeout(READY_TIMEOUT, app.store.check()).await {
        Ok(Ok(())) => Ok(response::json(&Health { ok: true })),
        Ok(Err(_)) | Err(_) => {
            let message = "the database can't be read and written; see the log of the service";
            Err(ErrorResponse::new(StatusCode::SERVICE_UNAVAILABLE, message))
        }
    }
}

async fn root() -> Response {
    response::json_text(
        r#"{"message":"Sheetport's embedded service","docs":"/docs","openapi":"/openapi.json"}"#.to_owned(),
    )
}

async fn not_found(uri: Uri) -> ErrorResponse {
    let message = match openapi::similar_path(uri.path()) {
        Some(path) => format!("no such path; the path is {path}"),
        None => "no such path; /docs lists the paths".to_owned(),
    };
    ErrorResponse::new(StatusCode::NOT_FOUND, message)
}

async fn method_not_allowed() -> ErrorResponse {
    ErrorResponse::new(StatusCode::METHOD_NOT_ALLOWED, "this path does not support this method")
}
