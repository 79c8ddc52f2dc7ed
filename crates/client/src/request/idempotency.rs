//! `Idempotency-Key` (draft-ietf-httpapi-idempotency-key-header): repeating a request with the same key has no further effect.

use reqwest::header::{HeaderName, HeaderValue};
use sheetport_files::digest;

pub(crate) const HEADER: HeaderName = HeaderName::from_static("idempotency-key");

/// Length of a key in bytes, before hexadecimal encoding.
const LENGTH: usize = 16;

/// The key of a request and its repetitions. Different requests have different keys.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct IdempotencyKey(String);

impl IdempotencyKey {
    /// Derives a key from the identity of a request.
    pub fn of_parts<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> IdempotencyKey {
        IdempotencyKey(digest::hex(&digest::of_parts(parts)[..LENGTH]))
    }

    /// Returns the value of the header: a string of RFC 8941, in quotation marks.
    pub(crate) fn header_value(&self) -> HeaderValue {
        HeaderValue::try_from(format!("\"{}\"", self.0)).expect("hexadecimal digits are valid in a header")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_strings_of_hexadecimal_digits() {
        let key = IdempotencyKey::of_parts([&b"1"[..], b"{}"]);
        let value = key.header_value();
        let value = value.to_str().expect("text");
        let digits = value.strip_prefix('"').and_then(|value| value.strip_suffix('"')).expect("quotation marks");
        assert!(digits.len() == 32 && digits.bytes().all(|byte| byte.is_ascii_hexdigit()), "{value}");
        assert_eq!(key, IdempotencyKey::of_parts([&b"1"[..], b"{}"]));
        assert_ne!(key, IdempotencyKey::of_parts([&b"1{"[..], b"}"]));
    }
}
