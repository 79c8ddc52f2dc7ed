//! Yes and no, as people write them.

use super::width::{narrow, trim};

/// Whether a text says yes or no; nothing if it says neither, and for a blank.
pub fn boolean(text: &str) -> Option<bool> {
    const YES: &[&str] = &["true", "yes", "y", "1", "on", "ja", "oui", "sí", "si", "はい", "是", "wahr", "vrai"];
    const NO: &[&str] = &["false", "no", "n", "0", "off", "nein", "non", "いいえ", "否", "falsch", "faux"];
    let text = narrow(trim(text));
    // Only the accent of one word needs more than the letters of ASCII made small.
    let says = |words: &[&str]| words.iter().any(|word| text.eq_ignore_ascii_case(word));
    if says(YES) || says(&["sÍ"]) {
        return Some(true);
    }
    says(NO).then_some(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn yes_and_no_are_understood_in_several_languages() {
        for text in ["true", "TRUE", " Yes ", "y", "1", "On", "Ja", "OUI", "Sí", "SÍ", "si", "はい", "１"] {
            assert_eq!(boolean(text), Some(true), "{text}");
        }
        for text in ["false", "No", "N", "0", "off", "Nein", "non", "いいえ", "０"] {
            assert_eq!(boolean(text), Some(false), "{text}");
        }
        for text in ["", " ", "x", "maybe", "2", "10", "yes no", "-"] {
            assert_eq!(boolean(text), None, "{text}");
        }
    }
}
