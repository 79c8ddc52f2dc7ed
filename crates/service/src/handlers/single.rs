//! Single records, by the name in the path or the external id in the query. Contract: "Endpoints"; the precedence of the
//! two is not specified there: an external id alone selects the record, so that a client can find a record without knowing its id. `Accept-Language` is ignored: no response contains text in a language.

use std::sync::Arc;

use crate::app::App;
use crate::auth::Caller;
use crate::request::{ExternalId, RecordId};
use crate::response::{self, ErrorResponse};
use crate::store::{Key, Kind, Record};
use axum::extract::State;
use axum::response::Response;

use super::orders;

/// Returns an order with its lines.
pub(crate) async fn order(
    State(app): State<Arc<App>>,
    caller: Caller,
    RecordId(id): RecordId,
    ExternalId(external_id): ExternalId,
) -> Result<Response, ErrorResponse> {
    let order = find(&app, &caller, Kind::Order, &id, external_id.as_deref()).await?;
    Ok(response::json_text(orders::with_lines(&app.store, &caller.workspace, order).await?))
}

/// Returns an inventory.
pub(crate) async fn inventory(
    State(app): State<Arc<App>>,
    caller: Caller,
    RecordId(id): RecordId,
    ExternalId(external_id): ExternalId,
) -> Result<Response, ErrorResponse> {
    let inventory = find(&app, &caller, Kind::Inventory, &id, external_id.as_deref()).await?;
    Ok(response::json_text(inventory.body))
}

/// Returns a transaction.
pub(crate) async fn transaction(
    State(app): State<Arc<App>>,
    caller: Caller,
    RecordId(id): RecordId,
) -> Result<Response, ErrorResponse> {
    Ok(response::json_text(find(&app, &caller, Kind::Transaction, &id, None).await?.body))
}

/// Returns the record with the external id, or without an external id the record named in the path. Fails with 404 if there is none.
async fn find(
    app: &App,
    caller: &Caller,
    kind: Kind,
    id: &str,
    external_id: Option<&str>,
) -> Result<Record, ErrorResponse> {
    let (keys, value) = match external_id {
        Some(external_id) => (&[Key::ExternalId][..], external_id),
        None => (kind.naming_keys(app.config.reading), id),
    };
    app.store.find_by(&caller.workspace, kind, keys, value).await?.ok_or_else(ErrorResponse::no_record)
}
