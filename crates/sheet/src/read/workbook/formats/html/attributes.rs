//! Attributes of HTML tags.

use std::borrow::Cow;

use html5gum::StartTag;

/// Returns the value of an attribute, empty for an attribute without a value.
pub(super) fn attribute<'t>(tag: &'t StartTag<()>, name: &str) -> Option<Cow<'t, str>> {
    tag.attributes.get(name.as_bytes()).map(|value| String::from_utf8_lossy(value))
}

/// Returns true if an element is hidden by its style.
pub(super) fn is_hidden(tag: &StartTag<()>) -> bool {
    attribute(tag, "style").is_some_and(|style| {
        let style: String = style.chars().filter(|c| !c.is_whitespace()).collect();
        style.to_ascii_lowercase().contains("display:none")
    })
}

/// Returns a number of columns or rows, from 1 to `most`.
pub(super) fn span(tag: &StartTag<()>, name: &str, most: usize) -> usize {
    let text = attribute(tag, name).unwrap_or_default();
    let digits: &str = text.trim();
    let digits = &digits[..digits.bytes().take_while(u8::is_ascii_digit).count()];
    match digits.parse::<usize>() {
        Ok(number) => number.clamp(1, most),
        // More than a number can hold.
        Err(_) if !digits.is_empty() => most,
        Err(_) => 1,
    }
}
