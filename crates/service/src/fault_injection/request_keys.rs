//! Identifies requests: the keys of the record, and the repetitions of a request.

use std::collections::HashMap;

use axum::http::{Method, Uri};
use serde_json::{Map, Value};
use sheetport_records::{inventory, order, transaction};
use twox_hash::XxHash3_64;

/// Maximum number of distinct requests to count repetitions for. Beyond this number, counting starts again.
const MAX_COUNTED: usize = 1 << 20;

/// The body fields with the names of a record.
const KEYS: [&str; 5] = ["externalId", "inventoryExternalId", "inventoryId", "id", "cid"];

/// The lists whose paths continue with the id of a record.
const WITH_IDS: [&str; 3] = [order::PATH, inventory::PATH, transaction::PATH];

/// Returns the identifiers in the path and the body of a request.
pub(super) fn keys(path: &str, body: &[u8]) -> Vec<String> {
    let mut keys: Vec<String> = WITH_IDS.iter().find_map(|list| id_in(path, list)).into_iter().collect();
    let body: Map<String, Value> = serde_json::from_slice(body).unwrap_or_default();
    let of_order = body.get("order").and_then(Value::as_object);
    for object in [Some(&body), of_order].into_iter().flatten() {
        keys.extend(KEYS.iter().filter_map(|name| object.get(*name)?.as_str().map(str::to_owned)));
    }
    keys
}

/// Returns the id behind the path of a list.
fn id_in(path: &str, list: &str) -> Option<String> {
    path.strip_prefix(list)?.strip_prefix('/').filter(|id| !id.is_empty()).map(str::to_owned)
}

/// The record of a request, as named by the client.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Subject {
    pub(super) path: String,
    /// The body, or an empty object if it is none.
    pub(super) body: Map<String, Value>,
    /// The id in the path of an order.
    pub(super) order_id: Option<String>,
    /// The external id in the body.
    pub(super) external_id: Option<String>,
}

impl Subject {
    pub(super) fn of(path: &str, body: &[u8]) -> Subject {
        let body = serde_json::from_slice(body).unwrap_or_default();
        let external_id = external_id(&body);
        Subject { path: path.to_owned(), body, order_id: id_in(path, order::PATH), external_id }
    }
}

/// Returns the external id of a record, or of its order.
fn external_id(body: &Map<String, Value>) -> Option<String> {
    let external_id = body.get("externalId").or_else(|| body.get("order")?.get("externalId"))?;
    external_id.as_str().map(str::to_owned)
}

/// Returns a hash that identifies a request and its repetitions. Covers the method, the path with the query, and the key of the
/// record, or the body if there is no key.
pub(super) fn identity(method: &Method, uri: &Uri, body: &[u8]) -> u64 {
    let own = serde_json::from_slice(body).ok().and_then(|object| external_id(&object));
    let target = uri.path_and_query().map_or("", |target| target.as_str());
    let record = own.as_ref().map_or(body, |key| key.as_bytes());
    let mut bytes = Vec::with_capacity(target.len() + record.len() + 16);
    for part in [method.as_str().as_bytes(), target.as_bytes(), record] {
        bytes.extend_from_slice(part);
        // Separates the parts: none contains NUL.
        bytes.push(0);
    }
    XxHash3_64::oneshot(&bytes)
}

/// Counts how often each request has come. Workspaces are isolated: the same request to another workspace is a different one.
#[derive(Debug, Default)]
pub(super) struct Attempts(HashMap<u64, u64>);

impl Attempts {
    /// Returns the number of the request with this identity, counted from 1.
    pub(super) fn count(&mut self, workspace: &str, identity: u64) -> u64 {
        let identity = XxHash3_64::oneshot_with_seed(identity, workspace.as_bytes());
        if self.0.len() >= MAX_COUNTED && !self.0.contains_key(&identity) {
            tracing::warn!("too many different requests; their attempts are counted anew");
            self.0.clear();
        }
        let attempt = self.0.entry(identity).or_default();
        *attempt += 1;
        *attempt
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_found_in_path_and_body() {
        assert_eq!(keys("/v1/public/items", br#"{"externalId":"A-1","name":"x"}"#), ["A-1"]);
        assert_eq!(keys("/v1/public/orders/17", br#"{"order":{"externalId":"O-1"}}"#), ["17", "O-1"]);
        assert_eq!(keys("/v1/public/inventories/L-1", b""), ["L-1"]);
        for path in ["/v1/orders/", "/v1/public/orders", "/v1/public/orders/", "/v1/invoices/create"] {
            assert_eq!(keys(path, b"not JSON"), [""; 0], "{path} names no record");
        }
    }

    #[test]
    fn the_subject_is_named_as_by_the_client() {
        let of = |path, body: &str| {
            let Subject { order_id, external_id, .. } = Subject::of(path, body.as_bytes());
            [order_id, external_id].map(Option::unwrap_or_default)
        };
        assert_eq!(of("/v1/public/orders/17", r#"{"order":{"externalId":"O-1"}}"#), ["17", "O-1"]);
        assert_eq!(of("/v1/public/orders/17", r#"{"order":{}}"#), ["17", ""]);
        assert_eq!(of("/v1/public/orders", ""), ["", ""]);
        assert_eq!(of("/v1/public/items", r#"{"externalId":"A-1"}"#), ["", "A-1"]);
    }

    #[test]
    fn repetitions_share_an_identity() {
        let of = |uri: &'static str, body: &str| identity(&Method::POST, &Uri::from_static(uri), body.as_bytes());
        let item = of("/v1/public/items", r#"{"externalId":"A-1","price":1}"#);
        assert_eq!(item, of("/v1/public/items", r#"{"externalId":"A-1","price":2}"#), "a corrected record is the same");
        assert_ne!(item, of("/v1/public/items", r#"{"externalId":"A-2","price":1}"#));
        assert_ne!(of("/a?page=1", ""), of("/a?page=2", ""));
        assert_ne!(of("/a", r#"{"n":1}"#), of("/a", r#"{"n":2}"#));
        let mut attempts = Attempts::default();
        assert_eq!([attempts.count("a", 1), attempts.count("a", 2), attempts.count("a", 1)], [1, 1, 2]);
        assert_eq!([attempts.count("b", 1), attempts.count("a", 1)], [1, 3], "each workspace for itself");
    }
}
