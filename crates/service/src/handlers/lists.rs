//! Pages of lists: in an envelope in both families, and the bare array of inventories. Contract: "Endpoints" and
//! "Limits"; the shape of the older family's lists is not specified there.

use std::sync::Arc;

use axum::extract::State;
use axum::http::HeaderValue;
use axum::response::Response;
use axum::routing::{MethodRouter, get};

use crate::app::App;
use crate::auth::Caller;
use crate::request::{DEFAULT_LIMIT, MAX_LIMIT, PageQuery, QueryParameters};
use crate::response::{self, CtxId, ErrorResponse};
use crate::store::Kind;

/// Returns the handler for the list of a kind, in the order of creation. `size` names the parameter of the page size.
pub(crate) fn list(kind: Kind, size: &'static str) -> MethodRouter<Arc<App>> {
    get(async move |State(app): State<Arc<App>>, caller: Caller, ctx_id: CtxId, query: QueryParameters| {
        let PageQuery { page: number, limit } = query.page(size, DEFAULT_LIMIT).map_err(ErrorResponse::invalid)?;
        let page = app.store.page(&caller.workspace, kind, number, limit).await?;
        let (total, ctx_id) = (page.total, ctx_id.as_str());
        // The entries are JSON already, and copied once.
        let end = format!(r#"],"page":{number},"count":{limit},"total":{total},"message":"OK","ctx_id":"{ctx_id}"}}"#);
        Ok::<_, ErrorResponse>(response::json_text([r#"{"data":["#, &page.entries, &end].concat()))
    })
}

/// Returns a page of inventories as a JSON array. An array cannot tell whether there are more pages, so the default page
/// size is the maximum.
pub(crate) async fn inventories(
    State(app): State<Arc<App>>,
    caller: Caller,
    query: QueryParameters,
) -> Result<Response, ErrorResponse> {
    let PageQuery { page, limit } = query.page("limit", MAX_LIMIT).map_err(ErrorResponse::invalid)?;
    let page = app.store.page(&caller.workspace, Kind::Inventory, page, limit).await?;
    let mut response = response::json_text(["[", &page.entries, "]"].concat());
    response.headers_mut().insert(response::TOTAL_HEADER, HeaderValue::from(page.total));
    Ok(response)
}
