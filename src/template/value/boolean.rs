//! Yes and no in several languages. The words are in `boolean.txt`.

use super::normalize::{folded_word, trim};

/// Parses a word for yes or no, in any case. Returns `None` for any other text.
pub(crate) fn parse(text: &str) -> Option<bool> {
    let word = folded_word(trim(text));
    include_str!("boolean.txt").lines().filter(|line| !line.starts_with('#')).find_map(|line| {
        let (meaning, words) = line.split_once(':')?;
        words.split_whitespace().any(|known| known == word).then_some(meaning == "yes")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn yes_and_no_are_understood_in_several_languages() {
        for text in ["true", "TRUE", " Yes ", "y", "1", "On", "Ja", "OUI", "Sí", "SÍ", "si", "はい", "１", "ＹＥＳ"]
        {
            assert_eq!(parse(text), Some(true), "{text}");
        }
        for text in ["false", "No", "N", "0", "off", "Nein", "non", "いいえ", "０"] {
            assert_eq!(parse(text), Some(false), "{text}");
        }
        for text in ["", " ", "x", "maybe", "2", "10", "yes no", "-", "yes:", "#"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
