//! Long texts on the page.

/// Maximum characters of a cell on the page.
const MAX_CELL: usize = 2_000;

/// Whether a text is shortened.
pub(super) fn is_cut(text: &str) -> bool {
    text.len() > MAX_CELL && text.char_indices().nth(MAX_CELL).is_some()
}

/// Shortens a long text for display.
pub(super) fn cut(text: &str) -> String {
    match text.char_indices().nth(MAX_CELL) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
