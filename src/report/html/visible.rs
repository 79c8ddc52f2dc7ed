//! Visible forms of invisible characters and of characters that change the direction of text.

use std::borrow::Cow;

/// Replaces invisible characters by `⟨U+202E⟩`. The page's script does the same for cells.
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

/// Returns at most `limit` characters of `text`, and true if that is the whole text.
pub(super) fn cut(text: &str, limit: usize) -> (&str, bool) {
    // Fast path: a text has at most as many characters as bytes.
    if text.len() <= limit {
        return (text, true);
    }
    text.char_indices().nth(limit).map_or((text, true), |(end, _)| (&text[..end], false))
}

/// Returns true for control characters other than line feed and tab, direction marks, and characters without width other
/// than joiners, which emoji and some scripts need.
fn is_invisible(c: char) -> bool {
    (c.is_control() && !matches!(c, '\n' | '\t'))
        || matches!(u32::from(c),
            0xAD | 0x61C | 0x180E | 0x200B | 0x200E | 0x200F | 0x2028..=0x202E | 0x2060..=0x206F | 0xFEFF | 0xFFF9..=0xFFFB)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn direction_marks_and_controls_are_shown() {
        assert_eq!(visible("photo\u{202E}gpj.exe"), "photo⟨U+202E⟩gpj.exe");
        assert_eq!(visible("pcs\u{200B}\0"), "pcs⟨U+200B⟩⟨U+0000⟩");
        assert!(matches!(visible("Größe 5\n\t日本 🙂 שלום"), Cow::Borrowed(_)));
    }

    #[test]
    fn text_is_cut_between_characters() {
        assert_eq!(cut("Größe", 3), ("Grö", false));
        assert_eq!(cut("Größe", 5), ("Größe", true));
        assert_eq!(cut("", 0), ("", true));
    }
}
