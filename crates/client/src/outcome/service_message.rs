//! Messages in the service's answers, in all known shapes.

use serde_json::{Map, Value};

/// Maximum number of messages kept of an answer, and of characters of each.
const MAX_MESSAGES: usize = 20;
const MAX_CHARS: usize = 2_000;

/// A message of the service about a record or a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServiceMessage {
    /// Field of the record as the service writes it, such as `name` or `items.2.quantity`, or `None` for the record as a whole.
    pub field: Option<String>,
    pub message: String,
}

impl ServiceMessage {
    /// Creates a message about the record as a whole.
    pub(crate) fn about_record(message: String) -> ServiceMessage {
        ServiceMessage { field: None, message }
    }
}

/// Members of an answer or a result with a sentence.
const SENTENCES: &[&str] = &["message", "detail", "error", "title", "reason", "description", "error_description"];
/// Members of an error in a list with its sentence: those of JSON:API, problem details (RFC 9457), FastAPI, Spring and Zod.
const ERROR_SENTENCES: &[&str] =
    &["message", "msg", "detail", "description", "defaultMessage", "reason", "error", "title", "text"];
/// Members of an error in a list with its place.
const PLACES: &[&str] = &[
    "field",
    "loc",
    "path",
    "pointer",
    "source",
    "instancePath",
    "propertyPath",
    "property",
    "parameter",
    "param",
    "attribute",
    "target",
    "key",
    "name",
];
/// Members of an error in a list with the number of a line, as people count.
const LINE_NUMBERS: &[&str] = &["line", "line_number", "lineNumber", "position", "row"];
/// How deep errors are looked for in lists and objects. Deeper values are kept as JSON.
const MAX_DEPTH: usize = 6;

/// Returns the sentence in an error body, such as its `message`.
pub(crate) fn summary(body: &[u8]) -> Option<String> {
    let sentences = sentences(&serde_json::from_slice(body).ok()?);
    sentences.into_iter().next().map(|sentence| cut(&sentence.message))
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

/// Returns every text of a body that gives reasons: those of all results, then those of the body itself, each once. Whatever
/// record a result names, its words are the service's words about this request.
pub(super) fn all(body: &Value) -> Vec<ServiceMessage> {
    let mut found: Vec<ServiceMessage> = results(body).iter().flat_map(errors).collect();
    found.extend(errors(body));
    let sentences_of_results = results(body).iter().flat_map(sentences);
    for sentence in sentences_of_results.chain(sentences(body)) {
        let is_said = found.iter().any(|other| other.message.contains(&sentence.message));
        if !is_said && (found.is_empty() || !only_says_that_it_is_invalid(&sentence.message, &found)) {
            found.push(sentence);
        }
    }
    found
}

/// Returns the `results` of a body.
pub(super) fn results(body: &Value) -> &[Value] {
    body.get("results").and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// Returns all messages in `errors`: by field, in a list, or a string.
pub(super) fn errors(body: &Value) -> Vec<ServiceMessage> {
    let mut found = Vec::new();
    if let Some(errors) = body.get("errors") {
        flatten(errors, &mut String::new(), 0, &mut found);
    }
    found
}

/// Whether `error` has a text.
pub(super) fn has_error_text(body: &Value) -> bool {
    body.get("error").is_some_and(|error| {
        let mut found = Vec::new();
        flatten(error, &mut String::new(), 0, &mut found);
        !found.is_empty()
    })
}

/// Returns the sentences of an answer or a result, such as `message`.
fn sentences(body: &Value) -> Vec<ServiceMessage> {
    let mut found = Vec::new();
    for name in SENTENCES {
        match body.get(name) {
            Some(Value::Object(error)) => error_in_list(error, &mut String::new(), &mut found),
            // Only texts and lists of errors are sentences: FastAPI has a list in `detail`.
            Some(value @ (Value::String(_) | Value::Array(_))) => flatten(value, &mut String::new(), 0, &mut found),
            _ => {}
        }
    }
    found
}

/// Whether a sentence only says what the other messages say in detail, such as "the input is invalid: name, price".
fn only_says_that_it_is_invalid(sentence: &str, others: &[ServiceMessage]) -> bool {
    const WORDS: &[&str] = &[
        "a",
        "an",
        "and",
        "are",
        "bad",
        "be",
        "body",
        "contains",
        "content",
        "could",
        "data",
        "details",
        "entity",
        "error",
        "errors",
        "failed",
        "field",
        "fields",
        "following",
        "for",
        "given",
        "has",
        "have",
        "http",
        "in",
        "input",
        "invalid",
        "is",
        "more",
        "not",
        "occurred",
        "of",
        "one",
        "or",
        "processed",
        "record",
        "request",
        "see",
        "some",
        "the",
        "unprocessable",
        "valid",
        "validation",
        "was",
        "were",
        "with",
    ];
    let words = sentence.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty());
    let is_field = |word: &str| {
        let fields = others.iter().filter_map(|other| other.field.as_deref());
        fields.flat_map(|field| field.split(['.', '[', ']', '/'])).any(|field| field.eq_ignore_ascii_case(word))
    };
    let is_number = |word: &str| word.bytes().all(|byte| byte.is_ascii_digit());
    words
        .into_iter()
        .all(|word| WORDS.iter().any(|known| word.eq_ignore_ascii_case(known)) || is_number(word) || is_field(word))
}

/// Adds the messages in a value at `path`.
fn flatten(value: &Value, path: &mut String, depth: usize, found: &mut Vec<ServiceMessage>) {
    match value {
        Value::Null | Value::Bool(false) => {}
        Value::String(text) if text.trim().is_empty() => {}
        Value::String(text) => found.push(at(path, text.clone())),
        Value::Array(_) | Value::Object(_) if depth >= MAX_DEPTH => found.push(at(path, value.to_string())),
        Value::Array(list) => {
            for (index, element) in list.iter().enumerate() {
                match element {
                    Value::Object(error) if sentence(error).is_some() => error_in_list(error, path, found),
                    // A list of errors by position: of the third line, and no errors before.
                    Value::Object(_) => {
                        within(path, &index.to_string(), |path| flatten(element, path, depth + 1, found))
                    }
                    _ => flatten(element, path, depth + 1, found),
                }
            }
        }
        Value::Object(fields) => {
            for (field, value) in fields {
                within(path, field, |path| flatten(value, path, depth + 1, found));
            }
        }
        other => found.push(at(path, other.to_string())),
    }
}

fn within(path: &mut String, segment: &str, each: impl FnOnce(&mut String)) {
    let length = path.len();
    if length > 0 {
        path.push('.');
    }
    path.push_str(segment);
    each(path);
    path.truncate(length);
}

fn at(path: &str, message: String) -> ServiceMessage {
    ServiceMessage { field: (!path.is_empty()).then(|| path.to_owned()), message }
}

fn sentence(error: &Map<String, Value>) -> Option<&str> {
    let texts = ERROR_SENTENCES.iter().filter_map(|name| error.get(*name)?.as_str());
    texts.into_iter().find(|text| !text.trim().is_empty())
}

/// Adds an error that is an object of its own, with its place and code beside the sentence.
fn error_in_list(error: &Map<String, Value>, path: &mut String, found: &mut Vec<ServiceMessage>) {
    let Some(sentence) = sentence(error) else {
        let value = Value::Object(error.clone());
        return flatten(&value, path, 0, found);
    };
    let mut message = sentence.to_owned();
    if let Some(code) = error.get("code").and_then(Value::as_str).filter(|code| !message.contains(code)) {
        message.push_str(&format!(" ({code})"));
    }
    let place = PLACES.iter().find_map(|name| error.get(*name).and_then(place));
    let index = error.get("index").and_then(Value::as_u64);
    if let Some(line) = LINE_NUMBERS.iter().find_map(|name| error.get(*name)?.as_u64()) {
        message = format!("line {line}: {message}");
    }
    let place = match (index, place) {
        (Some(index), place) => {
            Some(format!("[{index}].{}", place.unwrap_or_default()).trim_end_matches('.').to_owned())
        }
        (None, place) => place,
    };
    match place {
        Some(place) => within(path, &place, |path| found.push(at(path, message))),
        None => found.push(at(path, message)),
    }
}

/// Returns the place of an error: a path, its segments in a list, or an object with a pointer.
fn place(value: &Value) -> Option<String> {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Array(segments) => {
            let text = |segment: &Value| match segment {
                Value::String(text) => text.clone(),
                other => other.to_string(),
            };
            segments.iter().map(text).collect::<Vec<_>>().join(".")
        }
        Value::Object(source) => {
            ["pointer", "parameter"].iter().find_map(|name| source.get(*name)?.as_str()).map(str::to_owned)?
        }
        _ => return None,
    };
    (!text.trim().is_empty()).then_some(text)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn few_messages_are_kept_of_many() {
        let many = json!({"errors": vec!["ä".repeat(3_000); 40_000], "message": "m".repeat(3_000)});
        let kept = bounded(errors(&many));
        assert_eq!(kept.len(), MAX_MESSAGES + 1);
        assert_eq!(kept[0].message, format!("{}…", "ä".repeat(MAX_CHARS)));
        assert_eq!(kept[MAX_MESSAGES].message, "… and 39980 more messages of the service");
        assert_eq!(summary(many.to_string().as_bytes()).map(|text| text.chars().count()), Some(MAX_CHARS + 1));
        let few = errors(&json!({"errors": {"name": ["is blank"]}}));
        assert_eq!(bounded(few.clone()), few);
    }

    #[test]
    fn every_text_is_kept_in_any_shape() {
        #[rustfmt::skip]
        let cases: &[(Value, &[(&str, &str)])] = &[
            (json!({"errors": {"name": ["a", "b"], "price": "c"}}), &[("name", "a"), ("name", "b"), ("price", "c")]),
            (json!({"errors": ["a", {"field": "price", "message": "b", "code": "E1"}]}), &[("", "a"), ("price", "b (E1)")]),
            (json!({"detail": [{"loc": ["body", "items", 2, "quantity"], "msg": "a", "type": "missing"}]}), &[("body.items.2.quantity", "a")]),
            (json!({"errors": {"items": [{}, {}, {"quantity": ["a"]}]}}), &[("items.2.quantity", "a")]),
            (json!({"errors": {"items.2.quantity": ["a"]}}), &[("items.2.quantity", "a")]),
            (json!({"errors": [{"detail": "a", "source": {"pointer": "/order/items/2/quantity"}}]}), &[("/order/items/2/quantity", "a")]),
            (json!({"errors": [{"path": ["items", 0], "message": "a"}]}), &[("items.0", "a")]),
            (json!({"errors": [{"index": 2, "field": "price", "error": "a"}]}), &[("[2].price", "a")]),
            (json!({"errors": [{"line": 3, "message": "a"}]}), &[("", "line 3: a")]),
            (json!({"errors": [{"title": ["too long"]}]}), &[("0.title", "too long")]),
            (json!({"errors": [{"code": 7}]}), &[("0.code", "7")]),
            (json!({"error": {"message": "a", "code": "E1"}}), &[("", "a (E1)")]),
            (json!({"message": ["a", "b"]}), &[("", "a"), ("", "b")]),
            (json!({"message": "blocked", "detail": "credit limit", "errors": ["a"]}), &[("", "a"), ("", "blocked"), ("", "credit limit")]),
            (json!({"message": "the input is invalid: name", "errors": {"name": "a"}}), &[("name", "a")]),
            (json!({"message": "Validation failed"}), &[("", "Validation failed")]),
            (json!({"message": "a", "errors": ["a"], "detail": "a"}), &[("", "a")]),
            (json!({"results": [{"external_id": "other", "errors": ["a"], "message": "b"}, {"errors": ["c"]}], "message": "d"}),
             &[("", "a"), ("", "c"), ("", "b"), ("", "d")]),
            (json!({"errors": null, "message": "", "error": false, "results": null}), &[]),
            (json!([1, 2]), &[]),
        ];
        for (body, expected) in cases {
            let found = all(body);
            let found: Vec<(&str, &str)> =
                found.iter().map(|one| (one.field.as_deref().unwrap_or_default(), one.message.as_str())).collect();
            assert_eq!(found, *expected, "{body}");
        }
    }

    #[test]
    fn errors_in_bottomless_lists_end() {
        let deep = format!("{}\"a\"{}", "[".repeat(100), "]".repeat(100));
        let found = errors(&json!({"errors": serde_json::from_str::<Value>(&deep).expect("JSON")}));
        assert_eq!(found.len(), 1);
        assert!(found[0].message.contains("\"a\""), "{found:?}");
    }
}
