//! Attributes of HTML tags.

use std::borrow::Cow;

use html5gum::StartTag;

use crate::cell::Setting;

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

/// Returns how an element sets its text: by its name or its style.
pub(super) fn setting(tag: &StartTag<()>) -> Setting {
    match tag.name.as_slice() {
        b"sup" => Setting::Raised,
        b"sub" => Setting::Lowered,
        b"s" | b"strike" | b"del" => Setting::Struck,
        _ => match attribute(tag, "style") {
            Some(style) if style.contains("line-through") => Setting::Struck,
            Some(style) if style.contains("vertical-align") && style.contains("super") => Setting::Raised,
            Some(style) if style.contains("vertical-align") && style.contains("sub") => Setting::Lowered,
            _ => Setting::Plain,
        },
    }
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
