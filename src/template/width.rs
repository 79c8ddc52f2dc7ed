//! Characters that look unlike ASCII and mean the same: full-width forms and the digits of Arabic and Persian.

use std::borrow::Cow;

/// `text` with such characters replaced by the ASCII ones; borrowed when there are none.
///
/// The Arabic separators `٫` and `٬` stay as they are, because they say more than a point or a comma does.
pub fn narrow(text: &str) -> Cow<'_, str> {
    if text.is_ascii() || !text.chars().any(|c| ascii(c).is_some()) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.chars().map(|c| ascii(c).unwrap_or(c)).collect())
}

/// Trims white space of any kind, and the marks for direction and width that copied cells have around their text.
pub fn trim(text: &str) -> &str {
    let (first, last) = (text.as_bytes().first(), text.as_bytes().last());
    if first.is_none_or(u8::is_ascii_graphic) && last.is_none_or(u8::is_ascii_graphic) {
        return text;
    }
    text.trim_matches(|c: char| c.is_whitespace() || is_invisible(c))
}

fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

fn ascii(c: char) -> Option<char> {
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
    fn wide_forms_become_the_narrow_ones_and_all_else_stays() {
        assert_eq!(narrow("（１，２３４．５０）％"), "(1,234.50)%");
        assert_eq!(narrow("١٢٫٥"), "12٫5");
        assert_eq!(narrow("۲۰۲۵"), "2025");
        for text in ["", "plain", "größer", "円", "１月".trim_start_matches('１')] {
            assert!(matches!(narrow(text), Cow::Borrowed(same) if same == text), "{text}");
        }
    }

    #[test]
    fn what_cannot_be_seen_around_a_text_is_trimmed() {
        for text in ["x y", " x y\u{a0}", "\u{feff}\u{200e}x y\u{202f}\u{3000}", "\tx y\r\n"] {
            assert_eq!(trim(text), "x y");
        }
        assert_eq!(trim("\u{200b} "), "");
        assert_eq!(trim(""), "");
    }
}
