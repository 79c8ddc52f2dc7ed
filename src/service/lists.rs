//! Pages of lists on the wire: the envelope of both families, and the bare array of inventories. Contract: "Endpoints"
//! and "Limits"; what the older family's lists look like is not shown there, and they have the envelope, too.

use std::fmt::Write;
use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderName, HeaderValue};
use axum::response::Response;

use super::answer::{self, CtxId, Refusal};
use super::auth::Caller;
use super::paging::{BareQuery, OlderQuery, PageQuery};
use super::router::App;
use super::store::{EntryPage, Kind};

/// How many records a list has that has no envelope to say it in.
const TOTAL_HEADER: HeaderName = HeaderName::from_static("x-total-count");

pub async fn orders(
    app: State<Arc<App>>,
    caller: Caller,
    ctx_id: CtxId,
    query: PageQuery,
) -> Result<Response, Refusal> {
    records(&app, &caller, &ctx_id, query, Kind::Order).await
}

pub async fn companies(
    app: State<Arc<App>>,
    caller: Caller,
    ctx_id: CtxId,
    query: PageQuery,
) -> Result<Response, Refusal> {
    records(&app, &caller, &ctx_id, query, Kind::Company).await
}

/// A JSON array without an envelope.
pub async fn inventories(State(app): State<Arc<App>>, caller: Caller, query: BareQuery) -> Result<Response, Refusal> {
    let BareQuery(query) = query;
    let page = app.store.record_page(&caller.workspace, Kind::Inventory, query.page, query.limit).await;
    let page = page.map_err(unreadable)?;
    let mut response = answer::json_text(format!("[{}]", page.entries));
    response.headers_mut().insert(TOTAL_HEADER, HeaderValue::from(page.total));
    Ok(response)
}

pub async fn older_orders(
    app: State<Arc<App>>,
    caller: Caller,
    ctx_id: CtxId,
    OlderQuery(query): OlderQuery,
) -> Result<Response, Refusal> {
    records(&app, &caller, &ctx_id, query, Kind::Order).await
}

pub async fn older_contacts(
    app: State<Arc<App>>,
    caller: Caller,
    ctx_id: CtxId,
    OlderQuery(query): OlderQuery,
) -> Result<Response, Refusal> {
    records(&app, &caller, &ctx_id, query, Kind::Contact).await
}

pub async fn older_items(
    State(app): State<Arc<App>>,
    caller: Caller,
    ctx_id: CtxId,
    OlderQuery(query): OlderQuery,
) -> Result<Response, Refusal> {
    envelope(app.store.item_page(&caller.workspace, query.page, query.limit).await, query, &ctx_id)
}

/// A page as it is answered. The entries are JSON already: putting the envelope around them spares reading and writing
/// each of them.
pub fn envelope(page: Result<EntryPage, sqlx::Error>, query: PageQuery, ctx_id: &CtxId) -> Result<Response, Refusal> {
    let page = page.map_err(unreadable)?;
    let mut text = String::with_capacity(page.entries.len() + 160);
    text.push_str(r#"{"data":["#);
    text.push_str(&page.entries);
    let (PageQuery { page: number, limit }, total, ctx_id) = (query, page.total, ctx_id.as_str());
    let written =
        write!(text, r#"],"page":{number},"count":{limit},"total":{total},"message":"OK","ctx_id":"{ctx_id}"}}"#);
    written.map_err(|_| Refusal::internal())?;
    Ok(answer::json_text(text))
}

/// The database could not be read: a fault of ours, which the log tells.
pub fn unreadable(error: sqlx::Error) -> Refusal {
    tracing::error!(%error, "records could not be read");
    Refusal::internal()
}

async fn records(
    app: &App,
    caller: &Caller,
    ctx_id: &CtxId,
    query: PageQuery,
    kind: Kind,
) -> Result<Response, Refusal> {
    envelope(app.store.record_page(&caller.workspace, kind, query.page, query.limit).await, query, ctx_id)
}
