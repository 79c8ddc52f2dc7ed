//! Characters that can't be seen, or that change what is seen around them, as something to see.

use std::borrow::Cow;

/// `text` with its invisible characters as `⟨U+202E⟩`. The page's script does the same with the cells.
pub(super) fn visible(text: &str) -> Cow<'_, str> {
    if !text.contains(is_invisible) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if is_invisible(c) {
            shown.push_str(&format!("⟨U+{:04X}⟩", u32::from(c)));
        } else {
            shown.push(c);
        }
    }
    Cow::Owned(shown)
}

/// At most `limit` characters of `text`, and whether that is all of it.
pub(super) fn cut(text: &str, limit: usize) -> (&str, bool) {
    // No character has more than four bytes, so that most texts need not be counted.
    if text.len() <= limit {
        return (text, true);
    }
    text.char_indices().nth(limit).map_or((text, true), |(end, _)| (&text[..end], false))
}

/// Controls but for the line's end and the tab, marks of direction, and what has no width, but for the joiners, which emoji
/// and some scripts need.
fn is_invisible(c: char) -> bool {
    (c.is_control() && !matches!(c, '\n' | '\t'))
        || matches!(u32::from(c),
            0xAD | 0x61C | 0x180E | 0x200B | 0x200E | 0x200F | 0x2028..=0x202E | 0x2060..=0x206F | 0xFEFF | 0xFFF9..=0xFFFB)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_turns_text_around_is_seen() {
        assert_eq!(visible("photo\u{202E}gpj.exe"), "photo⟨U+202E⟩gpj.exe");
        assert_eq!(visible("pcs\u{200B}\0"), "pcs⟨U+200B⟩⟨U+0000⟩");
        assert!(matches!(visible("Größe 5\n\t日本 🙂 שלום"), Cow::Borrowed(_)));
    }

    #[test]
    fn a_text_is_cut_between_characters() {
        assert_eq!(cut("Größe", 3), ("Grö", false));
        assert_eq!(cut("Größe", 5), ("Größe", true));
        assert_eq!(cut("", 0), ("", true));
    }
}
