//! A literal service returns only what the contract shows: this file cuts every response down to it. So a client that passes its
//! tests with such a service doesn't depend on anything that our own service adds. Where the contract shows nothing, the least is left:
//! an entry of a list has an `id`, a created record also has `ok` and `status`, an error has a message.

use axum::body::{Body, to_bytes};
use axum::http::{HeaderMap, Method, header};
use axum::response::Response;
use serde_json::{Map, Value, json};
use sheetport_records::{ListedField, company, contact, inventory, invoice, item, order, subscription, transaction};

/// The part of a response that the contract shows.
#[derive(Clone, Copy, Debug)]
pub(super) enum Shown {
    /// Everything.
    All,
    /// These fields of an object.
    Object(Fields),
    /// An array of objects.
    Array(Fields),
    /// An envelope with these members, and the entries in `data`.
    Envelope(&'static [&'static str], Fields),
}

/// The fields of an object that the contract shows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fields {
    names: &'static [ListedField],
    /// Whether the contract shows that fields may be null. Otherwise, a field without a value is absent.
    pub(super) may_be_null: bool,
}

/// The contract shows no field of some entries, but names records by their ids.
const ID: &[ListedField] = &[ListedField::text("id")];

/// Point 2 of "Errors", and the id of the "created subscription" or "created invoice record".
const CREATED: &[ListedField] = &[ListedField::boolean("ok"), ListedField::text("status"), ListedField::text("id")];

const ENVELOPE: &[&str] = &["page", "count", "total", "message"];
const ENVELOPE_OF_COMPANIES: &[&str] = &["page", "count", "total", "message", "ctx_id"];

/// Headers that the contract does not show, and that no standard of HTTP has.
const EXTENSIONS: [&str; 6] =
    ["x-ctx-id", "x-total-count", "ratelimit-limit", "ratelimit-remaining", "ratelimit-reset", "idempotency-replayed"];

/// Returns the part of a success that the contract shows, by the method and the path of its route.
pub(super) fn shown(method: &Method, path: &str) -> Shown {
    let nullable = |names| Fields { names, may_be_null: true };
    let filled = |names| Fields { names, may_be_null: false };
    let is_write = *method != Method::GET && *method != Method::HEAD;
    match path {
        subscription::CREATE_PATH | invoice::CREATE_PATH => Shown::Object(filled(CREATED)),
        _ if is_write => Shown::All,
        item::PATH => Shown::Envelope(&[], filled(item::LIST.fields)),
        item::OLDER_PATH | order::OLDER_PATH | contact::PATH => Shown::Envelope(&[], filled(ID)),
        order::PATH => Shown::Envelope(ENVELOPE, filled(ID)),
        order::ONE_PATH => Shown::Object(nullable(order::SINGLE.fields)),
        company::PATH => Shown::Envelope(ENVELOPE_OF_COMPANIES, filled(ID)),
        inventory::PATH => Shown::Array(nullable(inventory::LIST.fields)),
        inventory::ONE_PATH => Shown::Object(nullable(inventory::SINGLE.fields)),
        transaction::ONE_PATH => Shown::Object(filled(transaction::SINGLE.fields)),
        _ => Shown::All,
    }
}

impl Shown {
    /// Removes everything else from the body of a success.
    pub(super) fn cut(self, body: Value) -> Value {
        match (self, body) {
            (Shown::Object(fields), Value::Object(object)) => Value::Object(fields.cut(object)),
            (Shown::Array(fields), Value::Array(entries)) => fields.cut_all(entries),
            (Shown::Envelope(members, fields), Value::Object(envelope)) => {
                let shown = envelope.into_iter().filter_map(|(name, value)| match value {
                    Value::Array(entries) if name == "data" => Some((name, fields.cut_all(entries))),
                    value => members.contains(&&*name).then_some((name, value)),
                });
                Value::Object(shown.collect())
            }
            (_, other) => other,
        }
    }
}

impl Fields {
    pub(super) fn contains(self, name: &str) -> bool {
        self.names.iter().any(|field| field.name == name)
    }

    fn cut(self, object: Map<String, Value>) -> Map<String, Value> {
        let is_shown = |name: &str, value: &Value| self.contains(name) && (self.may_be_null || !value.is_null());
        object.into_iter().filter(|(name, value)| is_shown(name, value)).collect()
    }

    fn cut_all(self, entries: Vec<Value>) -> Value {
        let cut = entries.into_iter().map(|entry| match entry {
            Value::Object(object) => Value::Object(self.cut(object)),
            other => other,
        });
        Value::Array(cut.collect())
    }
}

/// Cuts a success down to what the contract shows.
pub(super) async fn cut(response: Response, shown: Shown) -> Response {
    if matches!(shown, Shown::All) || !response.status().is_success() {
        return response;
    }
    let (mut parts, body) = response.into_parts();
    // Bodies of the service are complete in memory, so reading can't fail.
    let body = to_bytes(body, usize::MAX).await.unwrap_or_default();
    parts.headers.remove(header::CONTENT_LENGTH);
    let body = match serde_json::from_slice(&body) {
        Ok(value) => Body::from(shown.cut(value).to_string()),
        // The answer to a HEAD request.
        Err(_) => Body::from(body),
    };
    Response::from_parts(parts, body)
}

/// Removes the headers that the contract does not show.
pub(super) fn cut_headers(headers: &mut HeaderMap) {
    for name in EXTENSIONS {
        headers.remove(name);
    }
}

/// Returns whether [`cut_headers`] removes a header.
pub(super) fn is_extension(name: &str) -> bool {
    EXTENSIONS.iter().any(|extension| name.eq_ignore_ascii_case(extension))
}

/// Returns the body of an error. The contract shows none, but a person needs the reason.
pub(super) fn error(reason: &str) -> Value {
    json!({"message": reason})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_fields_of_the_contract_are_left() {
        let cut = |method: Method, path: &str, body: Value| shown(&method, path).cut(body).to_string();
        let page = |entry: Value| json!({"data": [entry], "page": 1, "count": 100, "total": 1, "message": "OK", "ctx_id": "c"});
        let item = json!({"id": "1", "name": "Bolt", "price": null, "currency": "EUR", "external_id": "A", "tax": 19});
        let listed = r#"{"data":[{"id":"1","name":"Bolt","currency":"EUR"}]}"#;
        assert_eq!(cut(Method::GET, item::PATH, page(item)), listed);
        let order = json!({"id": "o", "order_id": 5, "company_id": null, "external_id": "SO-1", "items": []});
        let listed = r#"{"data":[{"id":"o"}],"page":1,"count":100,"total":1,"message":"OK"}"#;
        assert_eq!(cut(Method::GET, order::PATH, page(order.clone())), listed);
        assert_eq!(cut(Method::GET, order::OLDER_PATH, page(order.clone())), r#"{"data":[{"id":"o"}]}"#);
        let read = r#"{"id":"o","order_id":5,"company_id":null}"#;
        assert_eq!(cut(Method::GET, order::ONE_PATH, order.clone()), read);
        assert_eq!(cut(Method::PUT, order::ONE_PATH, order.clone()), order.to_string());
        let inventories = json!([{"id": "i", "date": null, "external_id": "L-1"}]);
        assert_eq!(cut(Method::GET, inventory::PATH, inventories), r#"[{"id":"i","date":null}]"#);
        let created = json!({"ok": true, "status": "draft", "id": "7", "cid": "c", "ctx_id": "x"});
        assert_eq!(cut(Method::POST, invoice::CREATE_PATH, created), r#"{"ok":true,"status":"draft","id":"7"}"#);
    }
}
