//! Words that people write for yes and no.

/// What a word says; nothing for any other word.
pub fn boolean(text: &str) -> Option<bool> {
    const YES: &[&str] = &["true", "yes", "y", "1", "on", "ja", "j", "oui", "sí", "si", "sim", "はい", "wahr", "vrai"];
    const NO: &[&str] = &["false", "no", "n", "0", "off", "nein", "non", "não", "いいえ", "falsch", "faux"];
    let word = text.trim().to_lowercase();
    match word.as_str() {
        word if YES.contains(&word) => Some(true),
        word if NO.contains(&word) => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn yes_and_no_are_known_in_any_case_and_nothing_else_is_guessed() {
        for (text, said) in [
            ("TRUE", Some(true)),
            (" Ja ", Some(true)),
            ("0", Some(false)),
            ("NON", Some(false)),
            ("", None),
            ("x", None),
        ] {
            assert_eq!(boolean(text), said, "{text}");
        }
    }
}
