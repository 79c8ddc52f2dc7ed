//! Single records, by the id in the path or the external id in the query. Contract: "Endpoints"; the precedence of the
//! two is not specified there. `Accept-Language` is ignored: no response contains text in a language.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use axum::routing::{MethodRouter, get};

use crate::service::app::App;
use crate::service::auth::Caller;
use crate::service::request::{ExternalId, RecordId};
use crate::service::response::{self, ErrorResponse};
use crate::service::store::{Key, Kind};

/// Returns the handler for a record of a kind. An external id in the query takes precedence over the path.
pub(crate) fn by_id_or_external_id(kind: Kind) -> MethodRouter<Arc<App>> {
    get(
        async move |State(app): State<Arc<App>>,
                    caller: Caller,
                    RecordId(id): RecordId,
                    ExternalId(external_id): ExternalId| {
            match external_id {
                Some(external_id) => find(&app, &caller, kind, &[(Key::ExternalId, &external_id)]).await,
                None => find(&app, &caller, kind, &[(Key::Id, &id), (Key::Number, &id)]).await,
            }
        },
    )
}

/// Returns a transaction.
pub(crate) async fn transaction(
    State(app): State<Arc<App>>,
    caller: Caller,
    RecordId(id): RecordId,
) -> Result<Response, ErrorResponse> {
    find(&app, &caller, Kind::Transaction, &[(Key::Id, &id)]).await
}

/// Returns the first record that matches one of the keys. Fails with 404 if there is none.
async fn find(app: &App, caller: &Caller, kind: Kind, keys: &[(Key, &str)]) -> Result<Response, ErrorResponse> {
    for (key, value) in keys {
        if let Some(record) = app.store.find(&caller.workspace, kind, *key, value).await? {
            return Ok(response::json_text(record.body));
        }
    }
    Err(ErrorResponse::no_record())
}
