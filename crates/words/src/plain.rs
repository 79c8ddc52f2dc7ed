//! A header without what readers do not see or do not read as its name.

use std::borrow::Cow;

use sheetport_files::visible::{has_no_width, look_alike};

/// Words in brackets that say whether a column must be filled: marks of templates of other programs, and no part of the name.
const REQUIREMENTS: &str = include_str!("requirements.txt");

/// Removes characters without width, letters of another script within a Latin word, and marks of required columns.
pub fn plain(header: &str) -> Cow<'_, str> {
    let mut plain = Cow::Borrowed(header);
    if !header.is_ascii() {
        let visible: String = header.chars().filter(|c| !has_no_width(*c)).collect();
        plain = Cow::Owned(visible.split_inclusive(|c: char| !c.is_alphabetic()).map(latin).collect());
    }
    match without_requirement(&plain) {
        Some(rest) => Cow::Owned(rest),
        None => plain,
    }
}

/// Replaces letters that look like Latin ones in a word that has Latin letters, too. A Russian word stays.
fn latin(word: &str) -> Cow<'_, str> {
    let is_mixed = !word.is_ascii() && word.contains(|c: char| c.is_ascii_alphabetic());
    match is_mixed && word.contains(|c| look_alike(c).is_some()) {
        true => Cow::Owned(word.chars().map(|c| look_alike(c).unwrap_or(c)).collect()),
        false => Cow::Borrowed(word),
    }
}

/// Removes brackets with a word such as `required`, unless nothing else would be left. Returns `None` if there are none.
fn without_requirement(header: &str) -> Option<String> {
    let (mut kept, mut rest, mut is_changed) = (String::new(), header, false);
    if header.is_ascii() && !header.bytes().any(|byte| matches!(byte, b'(' | b'[' | b'{')) {
        return None;
    }
    while let Some((before, inner, after)) = brackets(rest) {
        let word = inner.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
        kept.push_str(before);
        // The name may have other brackets: "Price (EUR) (required)".
        match is_requirement(&word) {
            true => is_changed = true,
            false => kept.push_str(&rest[before.len()..rest.len() - after.len()]),
        }
        rest = after;
    }
    kept.push_str(rest);
    (is_changed && kept.contains(char::is_alphanumeric)).then_some(kept)
}

fn is_requirement(word: &str) -> bool {
    REQUIREMENTS.lines().any(|line| !line.starts_with('#') && line == word)
}

/// Returns the texts before, within and after the first pair of brackets.
fn brackets(text: &str) -> Option<(&str, &str, &str)> {
    let (before, within) = text.split_once(['(', '[', '{', '（', '【'])?;
    let (inner, after) = within.split_once([')', ']', '}', '）', '】'])?;
    Some((before, inner, after))
}
