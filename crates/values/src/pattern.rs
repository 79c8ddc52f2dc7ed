//! Regular expressions of templates, with limits on their memory.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::{Captures, Regex, RegexBuilder};

use crate::budget::{Budget, Exceeded};

/// Limits on the memory of a compiled pattern, in bytes, tried in this order. The size of a pattern is the first sufficient
/// limit.
const SIZES: [usize; 4] = [16 << 10, 128 << 10, 1 << 20, 10 << 20];
/// Limit on the cached states of a search, in bytes per thread.
const SEARCH_SIZE: usize = 256 << 10;
/// Limit on the memory of all patterns of a template, in bytes.
pub const MAX_TOTAL: usize = 64 << 20;

/// A compiled pattern.
#[derive(Clone, Debug)]
pub struct Pattern {
    pub regex: Regex,
    /// Maximum memory, in bytes.
    pub size: usize,
}

/// Compiles a pattern. The error is a message.
pub fn compile(text: &str) -> Result<Pattern, String> {
    for size in SIZES {
        match RegexBuilder::new(text).size_limit(size).dfa_size_limit(SEARCH_SIZE).build() {
            Ok(regex) => return Ok(Pattern { regex, size }),
            Err(regex::Error::CompiledTooBig(_)) => {}
            Err(error) => {
                // All lines except the last repeat the pattern.
                let message = error.to_string();
                let reason = message.lines().last().unwrap_or(&message).trim_start_matches("error: ");
                return Err(format!("this is not a regular expression: {reason}"));
            }
        }
    }
    Err("this pattern is too large; repeat less, or a smaller class, such as [0-9] in place of \\d".to_owned())
}

/// Replaces every match of a pattern. `$1` in `with` is the first group.
pub fn replace_all<'t>(pattern: &Regex, text: &'t str, with: &str, budget: &Budget) -> Result<Cow<'t, str>, Exceeded> {
    budget.step(text.len())?;
    let mut replaced: Option<String> = None;
    let with = delimited(with);
    let mut at = 0;
    for captures in pattern.captures_iter(text) {
        let Some(whole) = captures.get(0) else { continue };
        let replaced = replaced.get_or_insert_default();
        budget.text(whole.start() - at + longest(&with, whole.len()))?;
        replaced.push_str(&text[at..whole.start()]);
        captures.expand(&with, replaced);
        at = whole.end();
    }
    let Some(mut replaced) = replaced else { return Ok(Cow::Borrowed(text)) };
    budget.text(text.len() - at)?;
    replaced.push_str(&text[at..]);
    Ok(Cow::Owned(replaced))
}

/// Puts the numbers of groups in braces where a letter or an underscore follows: the crate would read `$1mm` as a group named `1mm`.
fn delimited(with: &str) -> Cow<'_, str> {
    // Two dollars are one as text.
    static GROUP: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"\$\$|\$(\d+)([\p{L}_])").expect("the pattern is valid"));
    GROUP.replace_all(with, |found: &Captures<'_>| match (found.get(1), found.get(2)) {
        (Some(number), Some(next)) => format!("${{{}}}{}", number.as_str(), next.as_str()),
        _ => "$$".to_owned(),
    })
}

/// Returns the greatest length of a replacement for a match of this length. Groups are parts of the match.
pub fn longest(with: &str, matched: usize) -> usize {
    with.len().saturating_add(with.matches('$').count().saturating_mul(matched))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn replaced(pattern: &str, text: &str, with: &str) -> Result<String, Exceeded> {
        let pattern = compile(pattern).expect("a pattern").regex;
        replace_all(&pattern, text, with, &Budget::of_row(text.len())).map(Cow::into_owned)
    }

    #[test]
    fn every_match_is_replaced() {
        for (pattern, text, with) in [
            ("a", "banana", "[$0]"),
            ("(n)(a)", "banana", "$2$1"),
            ("x", "banana", ""),
            ("", "ab", "-"),
            ("é?", "é", ""),
        ] {
            let expected = Regex::new(pattern).expect("a pattern").replace_all(text, with).into_owned();
            assert_eq!(replaced(pattern, text, with), Ok(expected), "{pattern}");
        }
    }

    #[test]
    fn letters_after_a_group_are_text() {
        for (with, expected) in
            [("$1mm", "8mm"), ("$1_$1", "8_8"), ("$1é", "8é"), ("$$1g", "$1g"), ("$1", "8"), ("$1-$$", "8-$")]
        {
            assert_eq!(replaced("M([0-9]+)", "M8", with).as_deref(), Ok(expected), "{with}");
        }
    }

    #[test]
    fn a_replacement_can_not_grow_without_end() {
        let text = "a".repeat(100_000);
        assert_eq!(replaced("a", &text, &"b".repeat(1000)), Err(Exceeded::Text));
        assert_eq!(replaced("(.+)", &text, &"$1".repeat(100)), Err(Exceeded::Text));
    }

    #[test]
    fn usual_patterns_fit_and_oversized_patterns_are_refused() {
        for usual in
            [r"^[\w .,&/-]{1,100}$", r"^[\p{L}\d .-]{1,80}$", r"^\d{4}-\d{2}-\d{2}$", r"(?i)\b(kg|stück|pcs)\b"]
        {
            assert!(compile(usual).is_ok(), "{usual}");
        }
        for monstrous in [r"(\w{1000}){1000}", r"((a{100}){100}){100}", r"\pL{10000}"] {
            assert!(compile(monstrous).expect_err("an error").contains("too large"), "{monstrous}");
        }
        assert!(compile("[a").expect_err("an error").contains("unclosed character class"));
    }
}
