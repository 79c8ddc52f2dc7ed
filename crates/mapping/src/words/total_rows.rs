//! Words that mark a row of totals, in all languages. Separate from the vocabulary, because every identifier is compared with
//! these few words.

use std::collections::{BTreeMap, HashSet};
use std::sync::LazyLock;

use sheetport_values::normalize::trimmed;

/// Longer cells are no labels of totals.
const MAX_BYTES: usize = 40;

/// The key of qualifiers that may follow a word for a total.
const QUALIFIERS: &str = "qualifiers";

/// The words by language.
static LANGUAGES: LazyLock<BTreeMap<String, Vec<String>>> = LazyLock::new(|| {
    toml::from_str(include_str!("total_rows.toml")).expect("the file is compiled in, and tests parse it")
});

static WORDS: LazyLock<HashSet<&'static str>> = LazyLock::new(|| {
    let languages = LANGUAGES.iter().filter(|(language, _)| *language != QUALIFIERS);
    languages.flat_map(|(_, words)| words).map(String::as_str).collect()
});

/// Returns whether an identifier is only a word for a total, perhaps with a colon. Identifiers with digits never are.
pub(crate) fn is_total_row(cell: &str) -> bool {
    let cell = trimmed(cell);
    cell.len() <= MAX_BYTES && !cell.contains(|c: char| c.is_ascii_digit()) && is_total(cell)
}

/// Returns whether an identifier is the total of another one, as spreadsheet programs write subtotals: "B1 Total", "Summe 17".
pub(crate) fn is_total_of(cell: &str) -> bool {
    let cell = trimmed(cell);
    // A word and an identifier.
    if !cell.contains(' ') {
        return false;
    }
    let cell = cell.trim_end_matches([':', '：']);
    let is_identifier = |text: &str| !text.contains(' ') && text.contains(|c: char| c.is_ascii_digit());
    let is_word = |text: &str| WORDS.contains(text.to_lowercase().as_str());
    let first = cell.split_once(' ').is_some_and(|(word, rest)| is_word(word) && is_identifier(rest));
    first || cell.rsplit_once(' ').is_some_and(|(rest, word)| is_word(word) && is_identifier(rest))
}

/// Returns whether a cell is a word for a total, perhaps with a qualifier such as "net" or "inkl. MwSt" and a colon.
pub fn is_total(cell: &str) -> bool {
    let folded = cell.trim_end_matches([':', '：', ' ']).to_lowercase();
    if WORDS.contains(folded.as_str()) {
        return true;
    }
    let is_qualifier =
        |word: &str| LANGUAGES.get(QUALIFIERS).is_some_and(|known| known.iter().any(|known| known == word));
    let mut rest = folded.as_str();
    while let Some((before, word)) = rest.rsplit_once(' ') {
        if !is_qualifier(word.trim_matches(['(', ')', '.', ','])) {
            return false;
        }
        rest = before.trim_end();
        if WORDS.contains(rest) {
            return true;
        }
    }
    false
}

/// Returns whether a cell begins with a word for a total: "Total", "Summe netto", "合計:".
pub fn starts_with_total(cell: &str) -> bool {
    let cell = cell.trim().to_lowercase();
    WORDS.iter().any(|word| {
        let rest = cell.strip_prefix(word);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', ':', '：', '.']))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn totals_are_known_in_all_languages() {
        for cell in [
            "Total",
            "Grand total:",
            "SUMME",
            "合計",
            "合計：",
            "Итого",
            " Toplam ",
            "Gesamtsumme netto",
            "Total (incl. VAT):",
        ] {
            assert!(is_total_row(cell), "{cell}");
        }
        for cell in ["B1 Total", "Summe 17", "Total L-1:", "A-7 Ergebnis"] {
            assert!(is_total_of(cell), "{cell}");
        }
        for cell in ["TOTAL-5", "Total", "Total Care 500", "Totalizer 5", "5"] {
            assert!(!is_total_of(cell), "{cell}");
        }
        for cell in ["", "Total 1", "Totalizer", "total of all", "net", "netto", "0042"] {
            assert!(!is_total_row(cell), "{cell}");
        }
        assert!(starts_with_total("Summe netto 5") && !starts_with_total("Summer"));
    }

    #[test]
    fn every_language_has_words() {
        for language in sheetport_words::vocabulary().languages() {
            assert!(LANGUAGES.get(language).is_some_and(|words| !words.is_empty()), "{language}");
        }
    }

    #[test]
    fn words_are_in_lower_case() {
        assert!(WORDS.iter().all(|word| *word == word.to_lowercase().trim()), "they are compared with lower case");
    }
}
