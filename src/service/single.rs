//! Single records as they are read: by the id in the path, or by the external id in the query. Contract: "Endpoints".
//! How the two go together is not shown there: an external id that is given is the one that counts. Whatever
//! `Accept-Language` asks for, the answer is the same, because nothing in it is in a language.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::{FromRequestParts, Path, State};
use axum::http::request::Parts;
use axum::response::Response;

use super::answer::{self, Refusal};
use super::auth::Caller;
use super::lists;
use super::paging;
use super::router::App;
use super::store::{Key, Kind};

pub async fn order(
    app: State<Arc<App>>,
    caller: Caller,
    id: RecordId,
    query: ExternalIdQuery,
) -> Result<Response, Refusal> {
    record(&app, &caller, Kind::Order, &id, query.0.as_deref()).await
}

pub async fn inventory(
    app: State<Arc<App>>,
    caller: Caller,
    id: RecordId,
    query: ExternalIdQuery,
) -> Result<Response, Refusal> {
    record(&app, &caller, Kind::Inventory, &id, query.0.as_deref()).await
}

pub async fn transaction(app: State<Arc<App>>, caller: Caller, id: RecordId) -> Result<Response, Refusal> {
    record(&app, &caller, Kind::Transaction, &id, None).await
}

/// The id in a path. One that is no text names no record.
pub struct RecordId(pub String);

impl<S: Send + Sync> FromRequestParts<S> for RecordId {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<RecordId, Refusal> {
        let Path(id) = Path::from_request_parts(parts, state).await.map_err(|_| Refusal::no_record())?;
        Ok(RecordId(id))
    }
}

/// The query parameter `external_id`; None if it is absent or empty.
pub struct ExternalIdQuery(Option<String>);

impl<S: Sync> FromRequestParts<S> for ExternalIdQuery {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<ExternalIdQuery, Refusal> {
        let pairs = paging::pairs(parts)?;
        let mut values = pairs.into_iter().filter(|(key, _)| key == "external_id").map(|(_, value)| value);
        let value = values.next().filter(|value| !value.is_empty());
        if values.next().is_some() {
            let errors = BTreeMap::from([("external_id".to_owned(), vec!["must be given once".to_owned()])]);
            return Err(Refusal::invalid(errors));
        }
        Ok(ExternalIdQuery(value))
    }
}

/// An id in the path is the service's own, or else the number that people use.
async fn record(
    app: &App,
    caller: &Caller,
    kind: Kind,
    RecordId(id): &RecordId,
    external_id: Option<&str>,
) -> Result<Response, Refusal> {
    let by_path = [Key::Id(id), Key::Number(id)];
    let by_query = external_id.map(|external_id| [Key::ExternalId(external_id)]);
    for &key in by_query.as_ref().map_or(&by_path[..], |keys| &keys[..]) {
        if let Some(record) = app.store.find(&caller.workspace, kind, key).await.map_err(lists::unreadable)? {
            return Ok(answer::json_text(record.shown));
        }
    }
    Err(Refusal::no_record())
}
