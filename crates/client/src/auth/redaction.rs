//! Masks tokens in answers, because messages end up in ledgers, reports and logs.

use std::collections::HashSet;

use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;

use crate::outcome::{Redirect, Response, TransportOutcome};

/// Replaces a token or a part of a token.
const MASK: &str = "***";
/// Minimum length of token parts to mask in error responses and redirects. Shorter tokens are not masked, because they would
/// match inside ordinary words.
const PART_IN_ERROR: usize = 8;
/// Minimum length of token parts to mask in successful responses to writes. Longer, because identifiers must not be changed by
/// chance.
const PART_IN_RESULT: usize = 16;

/// Masks the tokens, and parts of tokens, in a response. Pages of a list contain no messages, so only whole tokens are masked
/// there.
pub(crate) fn redacted(outcome: TransportOutcome, secrets: &[&SecretString], is_write: bool) -> TransportOutcome {
    let TransportOutcome::Response(response) = outcome else { return outcome };
    let secrets = secrets.iter().map(|secret| secret.expose_secret().as_bytes());
    let secrets: Vec<&[u8]> = secrets.filter(|secret| secret.len() >= PART_IN_ERROR).collect();
    let is_success = response.status < 300;
    let shortest = match is_success {
        true if is_write => PART_IN_RESULT,
        true => usize::MAX,
        false => PART_IN_ERROR,
    };
    let mut body = response.body;
    if !is_success || is_write {
        body = with_plain_texts(body, &secrets, shortest);
    }
    let redirect = response.redirect.map(|redirect| {
        let masked = masked(redirect.to.into_bytes(), &secrets, PART_IN_ERROR);
        Redirect { to: String::from_utf8_lossy(&masked).into_owned(), ..redirect }
    });
    TransportOutcome::Response(Response { body: masked(body, &secrets, shortest), redirect, ..response })
}

/// Rewrites JSON without unnecessary escapes if the escapes hide a token.
fn with_plain_texts(body: Vec<u8>, secrets: &[&[u8]], shortest: usize) -> Vec<u8> {
    if memchr::memchr(b'\\', &body).is_none() {
        return body;
    }
    let value = serde_json::from_slice::<Value>(&body).ok();
    let plain = value.and_then(|value| serde_json::to_vec(&value).ok());
    match plain {
        Some(plain) if secrets.iter().any(|secret| without_parts(&plain, secret, shortest).is_some()) => plain,
        _ => body,
    }
}

fn masked(mut text: Vec<u8>, secrets: &[&[u8]], shortest: usize) -> Vec<u8> {
    for secret in secrets {
        if let Some(masked) = without_parts(&text, secret, shortest) {
            text = masked;
        }
    }
    text
}

/// Masks every part of `secret` with at least `shortest` bytes, or the whole secret if shorter. Returns `None` if there is
/// nothing to mask.
fn without_parts(text: &[u8], secret: &[u8], shortest: usize) -> Option<Vec<u8>> {
    let shortest = shortest.min(secret.len());
    // A cheap first test: every such part contains a whole piece of half the length.
    let mut pieces = secret.chunks_exact(shortest / 2);
    if !pieces.any(|piece| memchr::memmem::find(text, piece).is_some()) {
        return None;
    }
    let parts: HashSet<&[u8]> = secret.windows(shortest).collect();
    let is_part = |at: usize| text.get(at..at + shortest).is_some_and(|part| parts.contains(part));
    let mut masked = Vec::new();
    let (mut copied, mut at) = (0, 0);
    while at + shortest <= text.len() {
        if !is_part(at) {
            at += 1;
            continue;
        }
        masked.extend_from_slice(&text[copied..at]);
        masked.extend_from_slice(MASK.as_bytes());
        while is_part(at) {
            at += 1;
        }
        at += shortest - 1;
        copied = at;
    }
    if copied == 0 {
        return None;
    }
    masked.extend_from_slice(&text[copied..]);
    Some(masked)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOKEN: &str = "eyJhbGciOiJIUzI1NiJ9.eyJ3b3Jrc3BhY2UiOiJzaG9wIn0.c2lnbmF0dXJl";
    const REFRESH: &str = "r3fr3sh/token+of=theshop";

    fn answer(status: u16, body: &str, location: Option<&str>, is_write: bool) -> Response {
        let redirect = location.map(|to| Redirect { to: to.to_owned(), is_same_path: false });
        let response = Response { status, body: body.as_bytes().to_owned(), retry_after: None, redirect, quota: None };
        let secrets = [TOKEN, REFRESH, "a"].map(|secret| SecretString::from(secret.to_owned()));
        match redacted(TransportOutcome::Response(response), &secrets.each_ref(), is_write) {
            TransportOutcome::Response(response) => response,
            other => panic!("{other:?}"),
        }
    }

    fn body(status: u16, text: &str, is_write: bool) -> String {
        String::from_utf8(answer(status, text, None, is_write).body).expect("text")
    }

    #[test]
    fn tokens_and_their_parts_are_masked() {
        for (text, expected) in [
            (format!("the token {TOKEN} is wrong"), "the token *** is wrong"),
            (format!("the token {}… is wrong", &TOKEN[..12]), "the token ***… is wrong"),
            (format!("…{} and {}", &TOKEN[50..], &TOKEN[..20]), "…*** and ***"),
            (format!("{REFRESH}, {TOKEN}"), "***, ***"),
            (TOKEN[30..38].to_owned(), "***"),
            ("no such customer, or a secret".to_owned(), "no such customer, or a secret"),
            (String::new(), ""),
        ] {
            assert_eq!(body(422, &text, true), expected);
            assert_eq!(body(500, &text, false), expected);
        }
    }

    #[test]
    fn escapes_hide_no_token() {
        let escaped: String = TOKEN.chars().map(|c| format!("\\u{:04x}", u32::from(c))).collect();
        let refresh = REFRESH.replace('/', "\\/");
        let sent = format!(r#"{{"message": "no {escaped} or {refresh}"}}"#);
        assert_eq!(body(403, &sent, false), r#"{"message":"no *** or ***"}"#);
        let sent = format!(r#"{{"ok": true, "ctx_id": "{escaped}"}}"#);
        assert_eq!(body(200, &sent, true), r#"{"ok":true,"ctx_id":"***"}"#);
        let plain = r#"{"message": "a \"quoted\" name", "x": 1.0}"#;
        assert_eq!(body(403, plain, false), plain);
    }

    #[test]
    fn short_parts_in_a_success_are_kept() {
        assert_eq!(body(200, &TOKEN[..15], true), &TOKEN[..15]);
        assert_eq!(body(200, &TOKEN[..16], true), "***");
        assert_eq!(body(200, &TOKEN[..40], false), &TOKEN[..40], "a page of a list");
        assert_eq!(body(200, &format!("[{TOKEN}]"), false), "[***]");
    }

    #[test]
    fn redirects_show_no_token() {
        let to = |location: &str| answer(302, "", Some(location), false).redirect.expect("a redirect").to;
        assert_eq!(to(&format!("https://x.example/{TOKEN}/a")), "https://x.example/***/a");
        assert_eq!(to(&format!("https://x.example/{}", &TOKEN[..30])), "https://x.example/***");
        assert_eq!(to("https://x.example/a"), "https://x.example/a");
    }
}
