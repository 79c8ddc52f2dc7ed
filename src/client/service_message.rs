//! Messages in the service's answers, in all known shapes.

use serde_json::Value;

/// A message of the service about a record or a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ServiceMessage {
    /// Field of the record, or `None` for the record as a whole.
    pub field: Option<String>,
    pub message: String,
}

impl ServiceMessage {
    /// Creates a message about the record as a whole.
    pub(crate) fn about_record(message: String) -> ServiceMessage {
        ServiceMessage { field: None, message }
    }
}

/// Returns the sentence in an error body: `message`, `detail` or `error`.
pub(super) fn summary(body: &[u8]) -> Option<String> {
    summary_of(&serde_json::from_slice(body).ok()?)
}

pub(super) fn summary_of(body: &Value) -> Option<String> {
    ["message", "detail", "error"].iter().find_map(|name| body.get(name)?.as_str()).map(str::to_owned)
}

/// Returns all messages in `errors`: an object of lists by field, a list of strings, or one string.
pub(super) fn errors(body: &Value) -> Vec<ServiceMessage> {
    match body.get("errors") {
        Some(Value::Object(fields)) => fields
            .iter()
            .flat_map(|(field, value)| {
                texts(value).into_iter().map(|message| ServiceMessage { field: Some(field.clone()), message })
            })
            .collect(),
        Some(value) => texts(value).into_iter().map(ServiceMessage::about_record).collect(),
        None => Vec::new(),
    }
}

/// Returns the non-empty texts in a value; objects and numbers are returned as JSON.
pub(super) fn texts(value: &Value) -> Vec<String> {
    match value {
        Value::Null | Value::Bool(false) => Vec::new(),
        Value::String(text) if text.trim().is_empty() => Vec::new(),
        Value::String(text) => vec![text.clone()],
        Value::Array(list) => list.iter().flat_map(texts).collect(),
        other => vec![other.to_string()],
    }
}
