//! Unicode variants of ASCII characters, and invisible characters around a text.

use std::borrow::Cow;

use sheetport_files::visible::has_no_width;

/// Replaces full-width characters and Arabic and Persian digits with ASCII.
///
/// The Arabic separators `٫` and `٬` stay, being unambiguous unlike `.` and `,`.
pub(super) fn to_ascii(text: &str) -> Cow<'_, str> {
    if text.is_ascii() || !text.chars().any(|c| ascii_equivalent(c).is_some()) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.chars().map(|c| ascii_equivalent(c).unwrap_or(c)).collect())
}

/// Returns a word in lower case and with characters of usual width, for comparisons.
pub fn folded_word(word: &str) -> String {
    to_ascii(word).to_lowercase()
}

/// Trims Unicode white space and the invisible direction and width marks of copied cells.
pub(super) fn trim(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_whitespace() || has_no_width(c))
}

/// Trims white space like `str::trim`, which decodes characters from both ends even if there is nothing to trim.
#[inline]
pub fn trimmed(text: &str) -> &str {
    let is_plain = |byte: Option<&u8>| matches!(byte, Some(b'!'..=b'~'));
    let bytes = text.as_bytes();
    if is_plain(bytes.first()) && is_plain(bytes.last()) { text } else { text.trim() }
}

fn ascii_equivalent(c: char) -> Option<char> {
    let offset = |from: u32, to: char| char::from_u32(u32::from(c) - from + u32::from(to));
    match c {
        '\u{ff01}'..='\u{ff5e}' => offset(0xff01, '!'),
        '\u{660}'..='\u{669}' => offset(0x660, '0'),
        '\u{6f0}'..='\u{6f9}' => offset(0x6f0, '0'),
        '\u{66a}' => Some('%'),
        '\u{3000}' => Some(' '),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_and_arabic_characters_become_ascii() {
        assert_eq!(to_ascii("（１，２３４．５０）％"), "(1,234.50)%");
        assert_eq!(to_ascii("١٢٫٥"), "12٫5");
        assert_eq!(to_ascii("۲۰۲۵"), "2025");
        for text in ["", "plain", "größer", "円", "月"] {
            assert!(matches!(to_ascii(text), Cow::Borrowed(same) if same == text), "{text}");
        }
    }

    #[test]
    fn white_space_is_trimmed() {
        for text in ["", " ", "a", "ab", " a", "b ", "\u{a0}a b\u{3000}", "ä", "ö b", "\u{7f}a\u{7f}", "~!"] {
            assert_eq!(trimmed(text), text.trim());
        }
    }

    #[test]
    fn invisible_characters_are_trimmed() {
        for text in ["x y", " x y\u{a0}", "\u{feff}\u{200e}x y\u{202f}\u{3000}", "\tx y\r\n"] {
            assert_eq!(trim(text), "x y");
        }
        assert_eq!(trim("\u{200b} "), "");
        assert_eq!(trim(""), "");
    }
}
