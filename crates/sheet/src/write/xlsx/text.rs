//! Excel's limits on texts and sheet names. Longer texts are cut and marked.

use std::borrow::Cow;

use crate::write::defuse::{escape, restore};

/// Maximum length of a cell's text, in UTF-16 code units.
pub const MAX_TEXT: usize = 32_767;
const MAX_SHEET_NAME: usize = 31;
/// The end of every cut text.
const CUT_MARK: &str = "… [cut]";
/// Minimum length of a text to count as cut. Less than [`MAX_TEXT`], because people may edit a cut text, and programs may shorten
/// its line endings.
const MIN_CUT: usize = MAX_TEXT / 2;

/// Shortens `text` to the maximum length of a cell. A shortened text ends with a mark.
pub fn cut(text: &str) -> Cow<'_, str> {
    truncate(text, MAX_TEXT, CUT_MARK)
}

/// Shortens `text` to `max` UTF-16 code units. A shortened text ends with a mark.
pub fn cut_to(text: &str, max: usize) -> Cow<'_, str> {
    truncate(text, max, CUT_MARK)
}

/// Returns true if `text` ends with the mark of a cut text and is long enough.
pub fn is_cut(text: &str) -> bool {
    text.len() >= MIN_CUT && text.ends_with(CUT_MARK) && utf16_len(text) >= MIN_CUT
}

/// Returns the shortened text as read from a workbook, or `None` if `text` fits.
pub fn cut_text(text: &str) -> Option<String> {
    if text.len() < MAX_TEXT {
        return None;
    }
    match cut(&escape(text)) {
        Cow::Owned(cut) => Some(restore(&cut).into_owned()),
        Cow::Borrowed(_) => None,
    }
}

/// Returns the valid sheet name closest to `name`.
pub fn sheet_name(name: &str) -> String {
    let allowed = |c: char| !matches!(c, '[' | ']' | ':' | '*' | '?' | '/' | '\\') && !c.is_control();
    let clean: String = name.chars().map(|c| if allowed(c) { c } else { '_' }).collect();
    let short = truncate(clean.trim().trim_matches('\''), MAX_SHEET_NAME, "");
    let short = short.trim_matches(['\'', ' ']);
    // Excel reserves the name "History".
    if short.is_empty() || short.eq_ignore_ascii_case("history") {
        format!("Sheet {short}").trim().to_owned()
    } else {
        short.to_owned()
    }
}

/// Returns the name of the sheet with the given one-based number among the sheets of one table.
pub(crate) fn numbered_sheet_name(name: &str, number: usize) -> String {
    if number == 1 {
        return name.to_owned();
    }
    let suffix = format!(" {number}");
    let name = truncate(name, MAX_SHEET_NAME - suffix.len(), "");
    format!("{name}{suffix}")
}

/// Shortens `text` to `max` UTF-16 code units, including `mark` at its end.
fn truncate<'a>(text: &'a str, max: usize, mark: &str) -> Cow<'a, str> {
    if text.len() <= max || utf16_len(text) <= max {
        return Cow::Borrowed(text);
    }
    let room = max - utf16_len(mark);
    let mut used = 0;
    let kept: String = text
        .chars()
        .take_while(|c| {
            used += c.len_utf16();
            used <= room
        })
        .collect();
    Cow::Owned(kept + mark)
}

fn utf16_len(text: &str) -> usize {
    text.chars().map(char::len_utf16).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sheet_names_are_valid_in_excel() {
        for (name, accepted) in [
            ("Items", "Items"),
            ("a/b:c[d]", "a_b_c_d_"),
            ("'quoted'", "quoted"),
            ("", "Sheet"),
            ("history", "Sheet history"),
            ("a very long name of a sheet that is cut", "a very long name of a sheet tha"),
        ] {
            assert_eq!(sheet_name(name), accepted);
        }
        assert_eq!(numbered_sheet_name("Items", 1), "Items");
        assert_eq!(numbered_sheet_name("a very long name of a sheet tha", 12), "a very long name of a sheet  12");
    }

    #[test]
    fn long_text_is_cut_and_marked_by_its_utf16_length() {
        assert_eq!(cut("short"), "short");
        let long = cut(&"😀".repeat(20_000)).into_owned();
        assert!(long.ends_with(CUT_MARK));
        assert!(long.encode_utf16().count() <= MAX_TEXT);
        assert_eq!(cut(&"a".repeat(MAX_TEXT)).len(), MAX_TEXT);
        assert!(is_cut(&long) && !is_cut(&"a".repeat(MAX_TEXT)) && !is_cut("as he wrote … [cut]"));
        assert_eq!(
            (cut_text(&"a".repeat(MAX_TEXT)), cut_text(&"'=a".repeat(MAX_TEXT / 3 + 1)).is_some()),
            (None, true)
        );
    }
}
