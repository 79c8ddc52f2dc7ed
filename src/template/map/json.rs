//! Writing JSON, and reading JSON strings.

use std::borrow::Cow;
use std::io::Write;

use super::super::model::Constant;

/// Appends a member to an unclosed object, after a comma unless it is the first.
pub(super) fn member(body: &mut Vec<u8>, name: &str, value: impl FnOnce(&mut Vec<u8>)) {
    key(body, name);
    value(body);
}

/// Appends a member's name and colon.
pub(super) fn key(body: &mut Vec<u8>, name: &str) {
    if !matches!(body.last(), None | Some(b'{')) {
        body.push(b',');
    }
    text(body, name);
    body.push(b':');
}

pub(super) fn constant(out: &mut Vec<u8>, constant: &Constant) {
    match constant {
        Constant::Text(value) => text(out, value),
        Constant::Number(number) => write!(out, "{number}").expect("memory can be written"),
        Constant::Boolean(true) => out.extend_from_slice(b"true"),
        Constant::Boolean(false) => out.extend_from_slice(b"false"),
        Constant::Null => out.extend_from_slice(b"null"),
    }
}

pub(super) fn text(out: &mut Vec<u8>, text: &str) {
    if text.bytes().any(|byte| byte < 0x20 || byte == b'"' || byte == b'\\') {
        serde_json::to_writer(out, text).expect("memory can be written");
    } else {
        out.push(b'"');
        out.extend_from_slice(text.as_bytes());
        out.push(b'"');
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
