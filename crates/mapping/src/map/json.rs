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

/// Returns the name and the JSON of the first member of an object that we have written, behind its brace, and what follows. `None` at its end.
pub(super) fn first_member(members: &str) -> Option<(&str, &str, &str)> {
    let name = members.strip_prefix('"')?;
    // Names of fields have no escapes.
    let (name, value) = name.split_at(name.find('"')?);
    let value = value.strip_prefix("\":")?;
    let (value, rest) = value.split_at(end_of_value(value));
    Some((name, value, rest))
}

/// Returns the length of the first JSON value of a text.
fn end_of_value(text: &str) -> usize {
    let (mut depth, mut is_text, mut is_escaped) = (0_usize, false, false);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if is_text => is_escaped = true,
            b'"' => is_text = !is_text,
            _ if is_text => {}
            b'{' | b'[' => depth += 1,
            b',' | b'}' | b']' if depth == 0 => return at,
            b'}' | b']' => depth -= 1,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_of_our_own_objects_are_split() {
        let mut rest = r#""a":"x\\\",}","b":-1.50,"c":[{"d":"]"},2],"e":null}"#;
        let mut found = Vec::new();
        while let Some((name, value, behind)) = first_member(rest) {
            found.push((name, value));
            rest = behind.strip_prefix(',').unwrap_or(behind);
        }
        let expected = [("a", r#""x\\\",}""#), ("b", "-1.50"), ("c", r#"[{"d":"]"},2]"#), ("e", "null")];
        assert_eq!((found.as_slice(), rest), (expected.as_slice(), "}"));
    }
}
