//! Yes and no in several languages. The words are in `boolean.txt`.

use crate::normalize::{folded_word, trim};

/// Parses a word for yes or no, in any case. Returns `None` for any other text.
pub fn parse(text: &str) -> Option<bool> {
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
        for text in [
            "true",
            "TRUE",
            " Yes ",
            "y",
            "1",
            "On",
            "Ja",
            "OUI",
            "Sí",
            "SÍ",
            "si",
            "はい",
            "１",
            "ＹＥＳ",
            "Tak",
            "Ano",
            "EVET",
            "Да",
            "Sim",
            "SÌ",
            "예",
        ] {
            assert_eq!(parse(text), Some(true), "{text}");
        }
        for text in [
            "false",
            "No",
            "N",
            "0",
            "off",
            "Nein",
            "non",
            "いいえ",
            "０",
            "Nej",
            "Nee",
            "NIE",
            "ne",
            "Hayır",
            "HAYIR",
            "НЕТ",
            "Não",
            "아니오",
        ] {
            assert_eq!(parse(text), Some(false), "{text}");
        }
        let lines = || include_str!("boolean.txt").lines().filter(|line| !line.starts_with('#'));
        let mut known: Vec<&str> = lines().flat_map(|line| line.split_whitespace().skip(1)).collect();
        assert!(known.iter().all(|word| **word == folded_word(word)), "words are in lower case");
        let count = known.len();
        known.sort_unstable();
        known.dedup();
        assert_eq!(known.len(), count, "every word has one meaning");
        for text in ["", " ", "x", "maybe", "2", "10", "yes no", "-", "yes:", "#"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
