//! Masks texts that look like a token, so that no token gets into the journal.

/// Returns a text without tokens, also if they are percent-encoded.
pub(super) fn masked(text: &str) -> String {
    let decoded = percent_decoded(text);
    without_tokens(if decoded.contains(TOKEN) { &decoded } else { text })
}

/// Decodes percent-encoded ASCII characters, which might hide a token.
fn percent_decoded(text: &str) -> String {
    let mut decoded = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('%') {
        decoded.push_str(before);
        let byte = after.get(..2).and_then(|digits| u8::from_str_radix(digits, 16).ok()).filter(u8::is_ascii);
        match byte {
            Some(byte) => decoded.push(char::from(byte)),
            None => decoded.push('%'),
        }
        rest = if byte.is_some() { &after[2..] } else { after };
    }
    decoded + rest
}

/// The beginning of a JWT: `{"` in Base64.
const TOKEN: &str = "eyJ";

/// Replaces texts that look like a JWT.
fn without_tokens(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(TOKEN) {
        let is_part = |letter: char| letter.is_ascii_alphanumeric() || "-_.=".contains(letter);
        let length = rest[at..].find(|letter| !is_part(letter)).unwrap_or(rest.len() - at);
        clean.push_str(&rest[..at]);
        clean.push_str("<token>");
        rest = &rest[at + length..];
    }
    clean + rest
}
