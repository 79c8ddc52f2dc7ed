//! Errors of formulas saved as text by a spreadsheet program.

use std::collections::HashSet;
use std::sync::LazyLock;

/// The errors in the languages of spreadsheet programs.
static ERRORS: LazyLock<HashSet<&str>> =
    LazyLock::new(|| include_str!("error_values.txt").split_whitespace().collect());

/// What Google Sheets shows for a formula whose result has not come yet.
const PENDING: [&str; 2] = ["Loading...", "Loading…"];
/// Minimum number of signs that a program shows in place of a value wider than its column.
const MIN_SIGNS: usize = 3;

/// Returns whether a text is the error of a formula, such as `#N/A` or `Err:502`.
pub fn is_error(text: &str) -> bool {
    if !may_begin(text, b'#') && !may_begin(text, b'E') {
        return false;
    }
    let text = text.trim_start();
    match text.strip_prefix("Err:") {
        Some(number) => number.trim_end().len() == 3 && number.trim_end().bytes().all(|byte| byte.is_ascii_digit()),
        None => text.starts_with('#') && ERRORS.contains(text.trim_end()),
    }
}

/// Returns whether a program wrote a text in place of a value that it could not show: `########` or `Loading...`.
pub fn is_stand_in(text: &str) -> bool {
    if !may_begin(text, b'#') && !may_begin(text, b'L') {
        return false;
    }
    let text = text.trim_start();
    match text.as_bytes().first() {
        Some(b'#') => text.trim_end().len() >= MIN_SIGNS && text.trim_end().bytes().all(|byte| byte == b'#'),
        Some(b'L') => PENDING.contains(&text.trim_end()),
        _ => false,
    }
}

/// Whether a text begins with a character, or with white space in front of it.
fn may_begin(text: &str, byte: u8) -> bool {
    text.as_bytes().first().is_some_and(|first| *first == byte || !matches!(first, b'!'..=b'~'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_all_languages_are_recognized() {
        for text in ["#N/A", " #REF! ", "#NV", "#BEZUG!", "#¡VALOR!", "#ЗНАЧ!", "Err:502"] {
            assert!(is_error(text), "{text}");
        }
        for text in ["", "#", "#1", "N/A", "Err:", "Err:5021", "#42-red", "# REF!"] {
            assert!(!is_error(text), "{text}");
        }
    }

    #[test]
    fn texts_in_place_of_a_value_are_recognized() {
        for text in ["########", "###", " ##### ", "Loading...", "Loading…"] {
            assert!(is_stand_in(text), "{text}");
        }
        for text in ["", "#", "##", "###1", "#REF!", "Loading", "Loading... s"] {
            assert!(!is_stand_in(text), "{text}");
        }
    }
}
