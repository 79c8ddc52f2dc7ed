//! Identifies requests: the keys of the record, and the repetitions of a request.

use std::collections::HashMap;

use axum::http::{Method, Uri};
use serde_json::{Map, Value};
use twox_hash::XxHash3_64;

use crate::records::order;

/// Maximum number of distinct requests to count repetitions for. Beyond this number, counting starts again.
const MAX_COUNTED: usize = 1 << 20;

/// The body fields with the names of a record.
const KEYS: [&str; 5] = ["externalId", "inventoryExternalId", "inventoryId", "id", "cid"];

/// Returns the identifiers in the path and the body of a request.
pub(super) fn keys(path: &str, body: &[u8]) -> Vec<String> {
    let mut keys: Vec<String> =
        path.rsplit('/').next().filter(|last| !last.is_empty()).map(str::to_owned).into_iter().collect();
    let body: Map<String, Value> = serde_json::from_slice(body).unwrap_or_default();
    let of_order = body.get("order").and_then(Value::as_object);
    for object in [Some(&body), of_order].into_iter().flatten() {
        keys.extend(KEYS.iter().filter_map(|name| object.get(*name)?.as_str().map(str::to_owned)));
    }
    keys
}

/// The record of a request, as named by the client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Subject {
    /// The id in the path of an order.
    pub(super) order_id: Option<String>,
    /// The external id in the body.
    pub(super) external_id: Option<String>,
}

impl Subject {
    pub(super) fn of(path: &str, body: &[u8]) -> Subject {
        let order_id = path.strip_prefix(order::PATH).and_then(|rest| rest.strip_prefix('/'));
        Subject { order_id: order_id.filter(|id| !id.is_empty()).map(str::to_owned), external_id: external_id(body) }
    }
}

/// Returns the external id of a record, or of its order.
fn external_id(body: &[u8]) -> Option<String> {
    let body = serde_json::from_slice::<Map<String, Value>>(body).ok()?;
    let external_id = body.get("externalId").or_else(|| body.get("order")?.get("externalId"))?;
    external_id.as_str().map(str::to_owned)
}

/// Returns a hash that identifies a request and its repetitions. Covers the method, the path with the query, and the key of the
/// record, or the body if there is no key.
pub(super) fn identity(method: &Method, uri: &Uri, body: &[u8]) -> u64 {
    let own = external_id(body);
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

/// Counts how often each request has come.
#[derive(Debug, Default)]
pub(super) struct Attempts(HashMap<u64, u64>);

impl Attempts {
    /// Returns the number of the request with this identity, counted from 1.
    pub(super) fn count(&mut self, identity: u64) -> u64 {
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
        assert_eq!(keys("/v1/public/items", br#"{"externalId":"A-1","name":"x"}"#), ["items", "A-1"]);
        assert_eq!(keys("/v1/public/orders/17", br#"{"order":{"externalId":"O-1"}}"#), ["17", "O-1"]);
        assert_eq!(keys("/v1/orders/", b"not JSON"), [""; 0]);
    }

    #[test]
    fn the_subject_is_named_as_by_the_client() {
        let of = |path, body: &str| {
            let Subject { order_id, external_id } = Subject::of(path, body.as_bytes());
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
        assert_eq!([attempts.count(1), attempts.count(2), attempts.count(1)], [1, 1, 2]);
    }
}
