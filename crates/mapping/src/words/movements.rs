//! Words for movements of stock, in all languages.

use std::collections::HashSet;
use std::sync::LazyLock;

use serde::Deserialize;
use sheetport_words::{Language, normalize};

use super::normalized;

/// `movements.toml`, with each word as a single normalized word.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Words {
    #[serde(rename = "in", deserialize_with = "normalized")]
    received: HashSet<String>,
    #[serde(rename = "out", deserialize_with = "normalized")]
    issued: HashSet<String>,
    #[serde(deserialize_with = "normalized")]
    adjust: HashSet<String>,
    #[serde(deserialize_with = "normalized")]
    bought: HashSet<String>,
    #[serde(deserialize_with = "normalized")]
    sold: HashSet<String>,
    plus: Vec<String>,
    minus: Vec<String>,
    pairs: Vec<Pair>,
    #[serde(deserialize_with = "normalized")]
    state: HashSet<String>,
    #[serde(deserialize_with = "normalized")]
    quantity: HashSet<String>,
}

/// Abbreviations of two movements.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Pair {
    #[serde(rename = "in")]
    received: String,
    #[serde(rename = "out")]
    issued: String,
    languages: Vec<String>,
}

/// The kind of a movement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Movement {
    In,
    Out,
    Adjust,
}

static WORDS: LazyLock<Words> = LazyLock::new(|| {
    toml::from_str(include_str!("movements.toml")).expect("the file is compiled in, and tests parse it")
});

impl Movement {
    /// Returns the word of the service.
    pub fn word(self) -> &'static str {
        match self {
            Movement::In => "in",
            Movement::Out => "out",
            Movement::Adjust => "adjust",
        }
    }

    /// Returns the meaning of a cell in a column of types.
    pub fn of(cell: &str) -> Option<Movement> {
        let is = |signs: &[String]| signs.iter().any(|sign| sign == cell.trim());
        let joined = normalize::words(cell).concat();
        if is(&WORDS.plus) || WORDS.bought.contains(&joined) {
            Some(Movement::In)
        } else if is(&WORDS.minus) || WORDS.sold.contains(&joined) {
            Some(Movement::Out)
        } else {
            Movement::of_word(&joined)
        }
    }

    /// Returns the meaning of an abbreviation such as `E` and `A`, if the values of its column have the opposite, too, and
    /// no other pair of the language.
    pub fn of_pair(cell: &str, values: &[&str], language: Option<Language>) -> Option<Movement> {
        let language = language?;
        let is = |cell: &str, word: &str| cell.trim().to_lowercase() == word.to_lowercase();
        let has = |word: &str| values.iter().any(|value| is(value, word));
        let mut known = WORDS
            .pairs
            .iter()
            .filter(|pair| pair.languages.iter().any(|of| of == language) && has(&pair.received) && has(&pair.issued));
        let pair = known.next().filter(|_| known.next().is_none())?;
        if is(cell, &pair.received) { Some(Movement::In) } else { is(cell, &pair.issued).then_some(Movement::Out) }
    }

    /// Returns the meaning of the quantities below a header: `In`, `Qty out`, `Zugangsmenge`.
    pub fn of_header(header: &str) -> Option<Movement> {
        let mut words = normalize::header(header).words;
        words.retain(|word| !WORDS.quantity.contains(word));
        Movement::of_word(&words.concat())
    }

    fn of_word(joined: &str) -> Option<Movement> {
        if WORDS.received.contains(joined) {
            Some(Movement::In)
        } else if WORDS.issued.contains(joined) {
            Some(Movement::Out)
        } else {
            WORDS.adjust.contains(joined).then_some(Movement::Adjust)
        }
    }
}

/// Returns whether a header of quantities says how many there were before or are after a movement: `Old qty`, `Menge neu`.
pub fn is_state_header(header: &str) -> bool {
    let normalize::HeaderWords { words, bracketed } = normalize::header(header);
    let is_state = |word: &String| {
        WORDS.state.iter().any(|state| word == state || normalize::is_unspaced(state) && word.contains(state))
    };
    words.iter().chain(bracketed.iter().flatten()).any(is_state)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn movements_are_known_in_all_languages() {
        for (cell, movement) in [
            ("IN", Movement::In),
            ("Zugang", Movement::In),
            ("Entrée", Movement::In),
            ("Приход", Movement::In),
            ("入庫", Movement::In),
            ("Abgang", Movement::Out),
            ("Výdej", Movement::Out),
            ("出库", Movement::Out),
            ("Korrektur", Movement::Adjust),
        ] {
            assert_eq!(Movement::of(cell), Some(movement), "{cell}");
        }
        assert_eq!(Movement::of("Inventory"), None);
        assert_eq!(Movement::of_header("Qty in"), Some(Movement::In));
        assert_eq!(Movement::of_header("Abgang (Menge)"), Some(Movement::Out));
        assert_eq!(Movement::of_header("Quantity"), None);
    }

    #[test]
    fn quantities_before_and_after_a_movement_are_no_movements() {
        for header in
            ["New qty", "Old quantity", "Menge neu", "Nouvelle quantité", "新数量", "수량 (변경후)", "Qty after"]
        {
            assert!(is_state_header(header), "{header}");
        }
        for header in ["Qty", "Quantity moved", "Menge", "数量", "Newton"] {
            assert!(!is_state_header(header), "{header}");
        }
    }

    #[test]
    fn signs_and_abbreviations_are_movements() {
        for (cell, movement) in
            [("+", Movement::In), ("-", Movement::Out), ("−", Movement::Out), ("Purchase", Movement::In)]
        {
            assert_eq!(Movement::of(cell), Some(movement), "{cell}");
        }
        for (language, received, issued) in [("de", "E", "A"), ("fr", "E", "S"), ("en", "i", "o"), ("ru", "П", "Р")] {
            let values = [received, issued];
            assert_eq!(Movement::of_pair(received, &values, Some(language)), Some(Movement::In), "{received}");
            assert_eq!(Movement::of_pair(issued, &values, Some(language)), Some(Movement::Out), "{issued}");
            assert_eq!(Movement::of_pair(received, &[received], Some(language)), None, "{received}");
            assert_eq!(Movement::of_pair(received, &values, None), None, "{received}");
        }
        assert_eq!(Movement::of_pair("A", &["E", "A"], Some("fr")), None);
        assert_eq!(Movement::of_pair("A", &["E", "Z", "A"], Some("de")), None);
    }

    #[test]
    fn no_word_has_two_meanings() {
        let known = &*WORDS;
        assert!(known.received.is_disjoint(&known.issued));
        assert!(known.received.union(&known.issued).all(|word| !known.adjust.contains(word)));
        let goods: HashSet<_> = known.received.union(&known.issued).chain(&known.adjust).collect();
        assert!(known.bought.is_disjoint(&known.sold));
        assert!(known.bought.union(&known.sold).all(|word| !goods.contains(word) && !word.is_empty()));
        assert!(!known.received.contains("") && !known.issued.contains("") && !known.adjust.contains(""));
    }
}
