//! Words for movements of stock, in all languages.

use std::collections::HashSet;
use std::sync::LazyLock;

use serde::Deserialize;

use super::amounts::normalized;
use super::normalize;

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
    quantity: HashSet<String>,
}

/// The kind of a movement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::template) enum Movement {
    In,
    Out,
    Adjust,
}

static WORDS: LazyLock<Words> = LazyLock::new(|| {
    toml::from_str(include_str!("movements.toml")).expect("the file is compiled in, and tests parse it")
});

impl Movement {
    /// Returns the word of the service.
    pub(in crate::template) fn word(self) -> &'static str {
        match self {
            Movement::In => "in",
            Movement::Out => "out",
            Movement::Adjust => "adjust",
        }
    }

    /// Returns the meaning of a cell in a column of types.
    pub(in crate::template) fn of(cell: &str) -> Option<Movement> {
        Movement::of_word(&normalize::words(cell).concat())
    }

    /// Returns the meaning of the quantities below a header: `In`, `Qty out`, `Zugangsmenge`.
    pub(in crate::template) fn of_header(header: &str) -> Option<Movement> {
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
    fn no_word_has_two_meanings() {
        let known = &*WORDS;
        assert!(known.received.is_disjoint(&known.issued));
        assert!(known.received.union(&known.issued).all(|word| !known.adjust.contains(word)));
        assert!(!known.received.contains("") && !known.issued.contains("") && !known.adjust.contains(""));
    }
}
