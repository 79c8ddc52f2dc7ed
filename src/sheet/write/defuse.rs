//! Protection against formula injection through CSV files.
//!
//! Spreadsheet programs run text that starts with `=`, `+`, `-`, `@`, a tab or a carriage return. [`defuse`] puts an
//! apostrophe before such text, also if it follows other apostrophes, so that [`restore`] is the exact inverse:
//! `restore(defuse(s)) == s` for every `s`. Plain numbers such as `-1.234,50` and `+49` stay unchanged.

use std::borrow::Cow;

/// Returns `text` in a form that is safe in a CSV.
pub fn defuse(text: &str) -> Cow<'_, str> {
    if is_dangerous(text) { Cow::Owned(format!("'{text}")) } else { Cow::Borrowed(text) }
}

/// Reverts [`defuse`]. Other text is returned unchanged.
pub fn restore(text: &str) -> &str {
    match text.strip_prefix('\'') {
        Some(rest) if is_dangerous(rest) => rest,
        _ => text,
    }
}

fn is_dangerous(text: &str) -> bool {
    // Fast path for nearly all text.
    if !matches!(text.as_bytes().first(), Some(b'\'' | b'=' | b'+' | b'-' | b'@' | b'\t' | b'\r')) {
        return false;
    }
    text.trim_start_matches('\'').starts_with(['=', '+', '-', '@', '\t', '\r']) && !is_plain_number(text)
}

fn is_plain_number(text: &str) -> bool {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    digits.bytes().any(|byte| byte.is_ascii_digit())
        && digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.' || byte == b',')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{prop_assert, prop_assert_eq, proptest};

    use super::*;

    #[test]
    fn formulas_are_defused_and_numbers_stay() {
        for (text, safe) in [
            ("=1+1", "'=1+1"),
            ("@SUM(A1)", "'@SUM(A1)"),
            ("+49 170 123", "'+49 170 123"),
            ("-", "'-"),
            ("\t=1", "'\t=1"),
            ("'=1", "''=1"),
            ("'-5", "''-5"),
            ("-5", "-5"),
            ("-1.234,50", "-1.234,50"),
            ("+49", "+49"),
            ("'tis", "'tis"),
            ("", ""),
            ("a=b", "a=b"),
        ] {
            assert_eq!(defuse(text), safe);
            assert_eq!(restore(safe), text);
        }
    }

    proptest! {
        #[test]
        fn restore_reverts_defuse(text in "['=+\\-@\t\r0-9.,a ]{0,6}|\\PC*") {
            let safe = defuse(&text);
            prop_assert!(!safe.starts_with(['=', '+', '-', '@', '\t', '\r']) || is_plain_number(&safe));
            prop_assert_eq!(restore(&safe), text.as_str());
        }
    }
}
