//! Writing JSON to the letter: digits go in as they are, which a number type of any kind would not promise.

use super::super::model::Constant;

/// Adds a member to the object that `body` holds so far, after a comma where it is not the first.
pub fn member(body: &mut Vec<u8>, name: &str, value: impl FnOnce(&mut Vec<u8>)) {
    key(body, name);
    value(body);
}

/// Adds a member's name and colon.
pub fn key(body: &mut Vec<u8>, name: &str) {
    if !matches!(body.last(), None | Some(b'{')) {
        body.push(b',');
    }
    text(body, name);
    body.push(b':');
}

pub fn constant(out: &mut Vec<u8>, constant: &Constant) {
    match constant {
        Constant::Text(words) => text(out, words),
        Constant::Number(digits) => out.extend_from_slice(digits.as_bytes()),
        Constant::Boolean(true) => out.extend_from_slice(b"true"),
        Constant::Boolean(false) => out.extend_from_slice(b"false"),
        Constant::Null => out.extend_from_slice(b"null"),
    }
}

pub fn text(out: &mut Vec<u8>, text: &str) {
    if text.bytes().any(|byte| byte < 0x20 || byte == b'"' || byte == b'\\') {
        let written = serde_json::to_writer(out, text);
        debug_assert!(written.is_ok(), "writing text to memory can't fail");
    } else {
        out.push(b'"');
        out.extend_from_slice(text.as_bytes());
        out.push(b'"');
    }
}
