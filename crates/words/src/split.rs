//! Reduces a text to words: lower case, without diacritics, full-width forms and punctuation, `camelCase` and `snake_case` split, plurals
//! made singular.

use std::borrow::Cow;

use icu_normalizer::{ComposingNormalizerBorrowed, DecomposingNormalizerBorrowed};

/// Maximum number of characters to consider.
const MAX_CHARS: usize = 2_000;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Lower,
    Upper,
    Digit,
    /// Letters of scripts without spaces between words.
    Unspaced,
}

/// Separates diacritics from letters, and replaces full-width forms, at the start of a text. No header has more words.
pub(crate) fn decomposed(text: &str) -> Cow<'_, str> {
    let text = text.char_indices().nth(MAX_CHARS).map_or(text, |(end, _)| &text[..end]);
    if text.is_ascii() { Cow::Borrowed(text) } else { DecomposingNormalizerBorrowed::new_nfkd().normalize(text) }
}

/// Splits a text into words.
pub fn words(text: &str) -> Vec<String> {
    split(&decomposed(text))
}

/// Whether the word is in a script without spaces between words.
pub fn is_unspaced(word: &str) -> bool {
    !word.is_ascii() && word.chars().any(|c| class(c) == Some(Class::Unspaced))
}

pub(crate) fn split(plain: &str) -> Vec<String> {
    let plain = if plain.is_ascii() { Cow::Borrowed(plain) } else { Cow::Owned(recomposed(plain)) };
    let mut words = Vec::new();
    let mut word = String::new();
    let mut classes = plain.chars().map(class).peekable();
    let mut last = None;
    for c in plain.chars() {
        let here = classes.next().flatten();
        let before = std::mem::replace(&mut last, here);
        let Some(here) = here else {
            // Signs used as words.
            let sign = match c {
                '#' => "number",
                '%' => "percent",
                _ => "",
            };
            words.extend([std::mem::take(&mut word), sign.to_owned()]);
            continue;
        };
        let after = classes.peek().copied().flatten();
        let begins = match (before, here) {
            (Some(before), here) if before == here => {
                // In `SKUCode`, the last capital starts the next word.
                here == Class::Upper && after == Some(Class::Lower)
            }
            (Some(Class::Upper), Class::Lower) | (None, _) => false,
            (Some(_), _) => true,
        };
        if begins {
            words.push(std::mem::take(&mut word));
        }
        match c {
            'ß' => word.push_str("ss"),
            'æ' | 'Æ' => word.push_str("ae"),
            'œ' | 'Œ' => word.push_str("oe"),
            'ø' | 'Ø' => word.push('o'),
            'ł' | 'Ł' => word.push('l'),
            'đ' | 'Đ' => word.push('d'),
            'ı' => word.push('i'),
            c if c.is_ascii() => word.push(c.to_ascii_lowercase()),
            c => word.extend(c.to_lowercase()),
        }
    }
    words.push(word);
    words.retain(|word| !word.is_empty());
    words.into_iter().map(singular).collect()
}

/// Drops combining marks, and recomposes Hangul syllables, so that a word never begins or ends within a syllable.
fn recomposed(plain: &str) -> String {
    let unmarked: String = plain.chars().filter(|c| !is_mark(*c)).collect();
    match unmarked.chars().any(|c| ('\u{1100}'..='\u{11ff}').contains(&c)) {
        true => ComposingNormalizerBorrowed::new_nfc().normalize(&unmarked).into_owned(),
        false => unmarked,
    }
}

fn class(c: char) -> Option<Class> {
    match c {
        // Most letters, without a look at the tables of Unicode.
        'a'..='z' => Some(Class::Lower),
        'A'..='Z' => Some(Class::Upper),
        '0'..='9' => Some(Class::Digit),
        c if c.is_ascii() => None,
        // Kana, ideographs, Hangul, Thai.
        '\u{3041}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '々' => Some(Class::Unspaced),
        '\u{1100}'..='\u{11ff}' | '\u{ac00}'..='\u{d7a3}' | '\u{e00}'..='\u{e7f}' => Some(Class::Unspaced),
        c if c.is_numeric() => Some(Class::Digit),
        c if c.is_uppercase() => Some(Class::Upper),
        c if c.is_alphabetic() => Some(Class::Lower),
        _ => None,
    }
}

/// Whether the character is a combining mark or has no width.
fn is_mark(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}' | '\u{3099}' | '\u{309a}' | '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{feff}')
}

/// Removes a plural ending. "Sales" stays, because a sales price is not a sale price.
fn singular(word: String) -> String {
    let keeps = ["ss", "us", "is", "as", "os"].iter().any(|ending| word.ends_with(ending));
    match word.strip_suffix("xes") {
        Some(stem) if word.len() > 4 => return format!("{stem}x"),
        _ => {}
    }
    match word.strip_suffix('s') {
        Some(stem) if word.len() > 3 && !keeps && word != "sales" => stem.to_owned(),
        _ => word,
    }
}
