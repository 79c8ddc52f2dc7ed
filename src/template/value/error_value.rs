//! Errors of formulas that a spreadsheet program saved as text.

use std::collections::HashSet;
use std::sync::LazyLock;

/// The errors in the languages of spreadsheet programs.
static ERRORS: LazyLock<HashSet<&str>> =
    LazyLock::new(|| include_str!("error_values.txt").split_whitespace().collect());

/// Returns whether a text is the error of a formula, such as `#N/A` or `Err:502`.
pub(crate) fn is_error(text: &str) -> bool {
    let text = text.trim();
    if let Some(number) = text.strip_prefix("Err:") {
        return number.len() == 3 && number.bytes().all(|byte| byte.is_ascii_digit());
    }
    text.starts_with('#') && ERRORS.contains(text)
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
