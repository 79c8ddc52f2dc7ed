//! Writing JSON, and reading JSON strings.

use std::borrow::Cow;
use std::fmt::Write as _;

use super::super::model::Constant;

/// Appends a member to an unclosed object, after a comma unless it is the first.
pub(super) fn member(body: &mut String, name: &str, value: impl FnOnce(&mut String)) {
    key(body, name);
    value(body);
}

/// Appends a member's name and colon.
pub(super) fn key(body: &mut String, name: &str) {
    if !matches!(body.as_bytes().last(), None | Some(b'{')) {
        body.push(',');
    }
    text(body, name);
    body.push(':');
}

pub(super) fn constant(out: &mut String, constant: &Constant) {
    match constant {
        Constant::Text(value) => text(out, value),
        Constant::Number(number) => write!(out, "{number}").expect("memory can be written"),
        Constant::Boolean(true) => out.push_str("true"),
        Constant::Boolean(false) => out.push_str("false"),
        Constant::Null => out.push_str("null"),
    }
}

pub(super) fn text(out: &mut String, text: &str) {
    if text.bytes().any(|byte| byte < 0x20 || byte == b'"' || byte == b'\\') {
        out.push_str(&serde_json::to_string(text).expect("a text is JSON"));
    } else {
        out.push('"');
        out.push_str(text);
        out.push('"');
    }
}

/// Whether a JSON value is null or an empty text.
pub(super) fn is_empty(json: &str) -> bool {
    matches!(json, "null" | "\"\"")
}

/// Returns the text of a JSON string, or any other JSON unchanged.
pub fn unquoted(json: &str) -> Cow<'_, str> {
    match json.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
        Some(inner) if !inner.contains('\\') => Cow::Borrowed(inner),
        Some(_) => serde_json::from_str(json).map_or(Cow::Borrowed(json), Cow::Owned),
        None => Cow::Borrowed(json),
    }
}
