//! Long texts cut for the page.

/// Returns up to `limit` characters of `text`, and whether this is the whole text.
pub(super) fn cut(text: &str, limit: usize) -> (&str, bool) {
    // Fast path: a text has at most as many characters as bytes.
    if text.len() <= limit {
        return (text, true);
    }
    text.char_indices().nth(limit).map_or((text, true), |(end, _)| (&text[..end], false))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_cut_between_characters() {
        assert_eq!(cut("Größe", 3), ("Grö", false));
        assert_eq!(cut("Größe", 5), ("Größe", true));
        assert_eq!(cut("", 0), ("", true));
    }
}
