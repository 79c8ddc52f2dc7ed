//! Words and marks of written dates that say nothing about the date, such as the `er` of `1er mai 2026`. They are in
//! `additions.toml`.

use std::sync::LazyLock;

use serde::Deserialize;

/// Longest date to examine, in bytes; a cell can be megabytes long.
const MAX_TEXT: usize = 80;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Additions {
    before: Vec<String>,
    after_day: Vec<String>,
    after_year: Vec<String>,
}

static ADDITIONS: LazyLock<Additions> = LazyLock::new(|| {
    toml::from_str(include_str!("additions.toml")).expect("the file is compiled in, and tests parse it")
});

/// Returns a date without such words and marks, or `None` if it has none.
pub(super) fn removed(text: &str) -> Option<String> {
    // Dates of digits have no words.
    if text.len() > MAX_TEXT || !text.chars().any(char::is_alphabetic) {
        return None;
    }
    let start = without_word_before(text);
    let (day, rest) = start.split_at(day_end(start)?);
    let (day, rest) = (day, without_mark(rest));
    let rest = without_words_after(rest);
    let plain = format!("{day}{rest}");
    (plain != text).then_some(plain)
}

/// Removes a word before the day.
fn without_word_before(text: &str) -> &str {
    let Some((word, rest)) = text.split_once(char::is_whitespace) else { return text };
    let rest = rest.trim_start();
    let is_known = ADDITIONS.before.contains(&word.to_lowercase());
    if is_known && rest.starts_with(|c: char| c.is_ascii_digit()) { rest } else { text }
}

/// Returns the end of the first number, if it may be a day.
fn day_end(text: &str) -> Option<usize> {
    let start = text.find(|c: char| c.is_ascii_digit())?;
    let digits = text[start..].bytes().take_while(u8::is_ascii_digit).count();
    (digits <= 2).then_some(start + digits)
}

/// Removes the mark of an ordinal number at the start of the text after a day.
fn without_mark(rest: &str) -> &str {
    let marks = ADDITIONS.after_day.iter();
    let is_end = |rest: &str| !rest.starts_with(char::is_alphanumeric);
    let after = |mark: &String| {
        let start = rest.get(..mark.len()).filter(|start| start.to_lowercase() == *mark)?;
        rest.strip_prefix(start).filter(|rest| is_end(rest))
    };
    marks.filter_map(after).next().unwrap_or(rest)
}

/// Removes the word after a year.
fn without_words_after(text: &str) -> &str {
    let is_year = |text: &str| text.ends_with(|c: char| c.is_ascii_digit());
    let after = |word: &String| {
        let start = text.len().checked_sub(word.len())?;
        let end = text.get(start..).filter(|end| end.to_lowercase() == *word)?;
        text.strip_suffix(end).map(str::trim_end).filter(|text| is_year(text))
    };
    ADDITIONS.after_year.iter().find_map(after).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_marks_are_removed() {
        for (text, plain) in [
            ("1er mai 2026", "1 mai 2026"),
            ("1ER MAI 2026", "1 MAI 2026"),
            ("den 3. marts 2026", "3. marts 2026"),
            ("1.º de maio de 2026", "1 de maio de 2026"),
            ("1º de enero de 2026", "1 de enero de 2026"),
            ("1° maggio 2026", "1 maggio 2026"),
            ("May 1st, 2026", "May 1, 2026"),
            ("1:a maj 2026", "1 maj 2026"),
            ("Le 1er mars 2026", "1 mars 2026"),
            ("1 maja 2026 r.", "1 maja 2026"),
            ("1 мая 2026 г.", "1 мая 2026"),
        ] {
            assert_eq!(removed(text).as_deref(), Some(plain), "{text}");
        }
        for text in
            ["", "1 mai 2026", "01.05.2026", "2026er", "den", "1 ermai 2026", "2026-05-01T10:00", "€", "den mai 1"]
        {
            assert_eq!(removed(text), None, "{text}");
        }
    }
}
