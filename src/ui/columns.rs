//! Width of text on a terminal. Chinese, Japanese and Korean characters take two columns, combining accents zero.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Returns the number of columns of a text.
pub(super) fn width(text: &str) -> usize {
    text.width()
}

/// Returns the text on one line of at most `most` columns, without control characters and with an ellipsis if cut.
pub(super) fn cut(text: &str, most: usize) -> String {
    let shown: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    if width(&shown) <= most {
        return shown;
    }
    let mut used = 0;
    let fits = |c: &char| {
        used += c.width().unwrap_or(0);
        used < most
    };
    shown.chars().take_while(fits).chain(['…']).collect()
}

/// Pads the text with spaces.
pub(super) fn padded(text: &str, columns: usize) -> String {
    format!("{text}{}", " ".repeat(columns.saturating_sub(width(text))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_characters_take_two_columns_and_accents_none() {
        for (text, cut_to_6, padded_to_6) in [
            ("Bolt", "Bolt", "Bolt  "),
            ("Bolzen", "Bolzen", "Bolzen"),
            ("Schraube", "Schra…", "Schraube"),
            ("税率", "税率", "税率  "),
            ("商品名", "商品名", "商品名"),
            ("商品番号", "商品…", "商品番号"),
            ("a商品番号", "a商品…", "a商品番号"),
            ("u\u{308}ber", "u\u{308}ber", "u\u{308}ber  "),
            ("a\tb\n", "a b ", "a\tb\n"),
            ("ﾈｼﾞ", "ﾈｼﾞ", "ﾈｼﾞ   "),
        ] {
            assert_eq!(cut(text, 6), cut_to_6, "{text}");
            if !text.contains('\t') {
                assert_eq!(padded(text, 6), padded_to_6, "{text}");
            }
        }
    }
}
