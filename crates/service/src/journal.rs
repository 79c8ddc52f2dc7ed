//! The contents of a journal entry. Tokens never get into the journal: bodies and headers are not stored, only the query
//! parameters of the contract are, and texts that look like a token are removed everywhere.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use axum::http::{Method, Uri};
use jiff::Timestamp;
use serde_json::{Map, Value};
use twox_hash::XxHash3_64;

use super::store::{RequestEntry, Store};
use super::token_texts::masked;

/// Maximum number of characters of a text in the journal.
const MAX_TEXT: usize = 500;

/// Paths outside the API. Other unknown paths are in the journal, such as those of a client with a wrong base address.
const OUTSIDE: [&str; 8] =
    ["/", "/docs", "/docs/page.js", "/docs/page.css", "/favicon.ico", "/openapi.json", "/healthz", "/readyz"];

/// Query parameters stored with their values.
const PARAMETERS: [&str; 4] = ["page", "limit", "amount", "external_id"];

/// Body fields with the name of the record, most specific first.
const KEYS: [&str; 4] = ["externalId", "inventoryExternalId", "inventoryId", "cid"];

/// A request in progress. Handlers add details.
#[derive(Clone, Debug)]
pub(crate) struct Trace {
    pub number: i64,
    known: Arc<Mutex<Known>>,
}

#[derive(Debug, Default)]
struct Known {
    workspace: Option<Arc<str>>,
    key: Option<String>,
    content: Option<i64>,
    idempotency_key: Option<String>,
    fault: Option<String>,
    is_unanswered: bool,
}

impl Trace {
    pub(crate) fn note_workspace(&self, workspace: &Arc<str>) {
        self.known().workspace = Some(workspace.clone());
    }

    /// Records the key in the body, and the hash of the content.
    pub(crate) fn note_body(&self, content: u64, body: &Map<String, Value>) {
        let mut known = self.known();
        known.content = Some(content.cast_signed());
        if let Some(key) = key_of(body) {
            known.key = Some(key);
        }
    }

    pub(crate) fn note_idempotency_key(&self, key: &str) {
        self.known().idempotency_key = Some(key.to_owned());
    }

    /// Notes an injected fault.
    pub(crate) fn note_fault(&self, name: &str) {
        self.known().fault = Some(name.to_owned());
    }

    /// Records that the client will get no response.
    pub(crate) fn note_no_response(&self) {
        self.known().is_unanswered = true;
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A request that is added to the journal on drop, even if the client disconnects before the response.
pub(super) struct Open<'a> {
    store: &'a Store,
    trace: Trace,
    ctx_id: String,
    started: Instant,
    at: Timestamp,
    method: Method,
    uri: Uri,
    pub(super) status: Option<u16>,
    pub(super) reason: Option<String>,
}

impl<'a> Open<'a> {
    /// Starts tracing a request. Returns `None` without a journal, and for probes and requests for the documentation.
    pub(super) async fn begin(store: &'a Store, ctx_id: &str, method: &Method, uri: &Uri) -> Option<Open<'a>> {
        let path = uri.path();
        if OUTSIDE.contains(&path) {
            return None;
        }
        let number = store.next_request().await?;
        let known = Known { key: id_in(path), ..Known::default() };
        Some(Open {
            store,
            trace: Trace { number, known: Arc::new(Mutex::new(known)) },
            ctx_id: ctx_id.to_owned(),
            started: Instant::now(),
            at: Timestamp::now(),
            method: method.clone(),
            uri: uri.clone(),
            status: None,
            reason: None,
        })
    }

    pub(super) fn trace(&self) -> &Trace {
        &self.trace
    }
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        let known = std::mem::take(&mut *self.trace.known());
        let is_read = matches!(self.method, Method::GET | Method::HEAD);
        let path = self.uri.path();
        let content = known.content.map(|content| {
            let target = [self.method.as_str().as_bytes(), b" ", path.as_bytes()].concat();
            XxHash3_64::oneshot_with_seed(content.cast_unsigned(), &target).cast_signed()
        });
        self.store.add_request(RequestEntry {
            number: self.trace.number,
            ctx_id: std::mem::take(&mut self.ctx_id),
            at: self.at.as_millisecond(),
            is_write: known.workspace.is_some() && !is_read,
            workspace: known.workspace.map(|workspace| workspace.to_string()),
            method: shown(self.method.as_str()),
            path: shown(path),
            query: self.uri.query().map(shown_query),
            key: known.key.as_deref().map(shown),
            content,
            idempotency_key: known.idempotency_key.as_deref().map(shown),
            status: self.status.filter(|_| !known.is_unanswered),
            micros: i64::try_from(self.started.elapsed().as_micros()).unwrap_or(i64::MAX),
            fault: known.fault.as_deref().map(shown),
            reason: self.reason.as_deref().map(shown),
        });
    }
}

/// Returns the identifier in a body.
fn key_of(body: &Map<String, Value>) -> Option<String> {
    let of_order = body.get("order").and_then(Value::as_object);
    let objects = [Some(body), of_order];
    let mut found = objects.into_iter().flatten().flat_map(|object| KEYS.iter().filter_map(|name| object.get(*name)));
    found.find_map(|value| value.as_str().map(str::to_owned))
}

/// Returns the identifier in a path such as `/v1/public/orders/17`.
fn id_in(path: &str) -> Option<String> {
    let (_, id) = path.strip_prefix("/v1/public/")?.split_once('/')?;
    (!id.is_empty()).then(|| id.to_owned())
}

/// Returns a query with the values of known parameters alone.
fn shown_query(query: &str) -> String {
    let pairs = query.split('&').map(|pair| match pair.split_once('=') {
        Some((name, _)) if !PARAMETERS.contains(&name) => format!("{name}=…"),
        _ => pair.to_owned(),
    });
    shown(&pairs.collect::<Vec<_>>().join("&"))
}

/// Returns a text without tokens, cut to the maximum length.
fn shown(text: &str) -> String {
    let text = masked(text);
    match text.char_indices().nth(MAX_TEXT) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn nothing_that_looks_like_a_token_is_shown() {
        assert_eq!(shown("/v1/eyJhbGciOi.eyJ3b3Jr.sig-_x/a"), "/v1/<token>/a");
        assert_eq!(shown("a eyJh b eyJ"), "a <token> b <token>");
        assert_eq!(
            shown_query("page=2&access_token=secret&external_id=A%201&x"),
            "page=2&access_token=…&external_id=A%201&x"
        );
        assert_eq!(shown_query("external_id=eyJabc.def"), "external_id=<token>");
        assert_eq!(shown("/v1/%65%79%4AhbGci.eyJ3/a"), "/v1/<token>/a");
        assert_eq!(shown_query("external_id=%65yJabc&%65yJ"), "external_id=<token>&<token>");
        assert_eq!(shown("100%25%zz%C3%A4%"), "100%25%zz%C3%A4%");
        assert_eq!(shown(&"é".repeat(501)), format!("{}…", "é".repeat(500)));
    }

    #[test]
    fn the_key_of_a_request_names_its_record() {
        let of = |body: Value| key_of(body.as_object().expect("an object"));
        assert_eq!(of(json!({"externalId": "A", "cid": "C"})).as_deref(), Some("A"));
        assert_eq!(of(json!({"order": {"externalId": "O"}})).as_deref(), Some("O"));
        assert_eq!(of(json!({"cid": "C", "externalId": null})).as_deref(), Some("C"));
        assert_eq!(of(json!({"refresh": "R"})), None);
        assert_eq!(id_in("/v1/public/orders/17").as_deref(), Some("17"));
        assert_eq!(id_in("/v1/public/orders/"), None);
        assert_eq!(id_in("/v1/items"), None);
    }
}
