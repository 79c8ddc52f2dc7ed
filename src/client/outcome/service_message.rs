//! Messages in the service's answers, in all known shapes.

use serde_json::Value;

/// Maximum number of messages kept of an answer, and of characters of each.
const MAX_MESSAGES: usize = 20;
const MAX_CHARS: usize = 2_000;

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
pub(in crate::client) fn summary(body: &[u8]) -> Option<String> {
    summary_of(&serde_json::from_slice(body).ok()?)
}

pub(super) fn summary_of(body: &Value) -> Option<String> {
    ["message", "detail", "error"].iter().find_map(|name| body.get(name)?.as_str()).map(cut)
}

/// Returns the first messages, shortened, and the number of further messages. A service that returns thousands of messages per
/// record would otherwise fill the memory and the ledger.
pub(super) fn bounded(mut messages: Vec<ServiceMessage>) -> Vec<ServiceMessage> {
    let more = messages.len().saturating_sub(MAX_MESSAGES);
    messages.truncate(MAX_MESSAGES);
    for message in &mut messages {
        message.message = cut(&message.message);
        message.field = message.field.as_deref().map(cut);
    }
    if more > 0 {
        messages.push(ServiceMessage::about_record(format!("… and {more} more messages of the service")));
    }
    messages
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(MAX_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Returns all messages in `errors`: an object of lists by field, a list of strings, or a string.
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

/// Returns all messages in `results[].errors`, for responses without messages elsewhere.
pub(super) fn errors_of_results(body: &Value) -> Vec<ServiceMessage> {
    let results = body.get("results").and_then(Value::as_array).into_iter().flatten();
    results.flat_map(errors).collect()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_messages_are_kept_of_many() {
        let many = serde_json::json!({"errors": vec!["ä".repeat(3_000); 40_000], "message": "m".repeat(3_000)});
        let kept = bounded(errors(&many));
        assert_eq!(kept.len(), MAX_MESSAGES + 1);
        assert_eq!(kept[0].message, format!("{}…", "ä".repeat(MAX_CHARS)));
        assert_eq!(kept[MAX_MESSAGES].message, "… and 39980 more messages of the service");
        assert_eq!(summary_of(&many).map(|text| text.chars().count()), Some(MAX_CHARS + 1));
        let few = errors(&serde_json::json!({"errors": {"name": ["is blank"]}}));
        assert_eq!(bounded(few.clone()), few);
    }
}
