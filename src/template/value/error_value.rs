//! Errors of formulas saved as text by a spreadsheet program.

use std::collections::HashSet;
use std::sync::LazyLock;

/// The errors in the languages of spreadsheet programs.
static ERRORS: LazyLock<HashSet<&str>> =
    LazyLock::new(|| include_str!("error_values.txt").split_whitespace().collect());

/// Returns whether a text is the error of a formula, such as `#N/A` or `Err:502`.
pub(crate) fn is_error(text: &str) -> bool {
    let text = text.trim_start();
    match text.strip_prefix("Err:") {
        Some(number) => number.trim_end().len() == 3 && number.trim_end().bytes().all(|byte| byte.is_ascii_digit()),
        None => text.starts_with('#') && ERRORS.contains(text.trim_end()),
    }
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
}
