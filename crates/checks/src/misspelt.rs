//! Misspelt words in columns of few different words, such as a status: `actvie` among many `active`.

use sheetport_sheet::{Cell, Row};
use sheetport_values::normalize::trimmed;

use super::finding::Finding;

/// Most different words of a column. One with more has texts.
const MAX_WORDS: usize = 32;
/// Longest word in bytes.
const MAX_BYTES: usize = 40;
/// Fewest cells with the right word.
const FEWEST: u64 = 5;
/// How many times as often the right word stands beside a wrong one that stands on all rows of a record.
const RARE: u64 = 10;
/// Fewest letters of a word. Shorter ones have many others at a distance of one letter.
const MIN_LETTERS: usize = 5;

/// Counts of the words of a column.
#[derive(Clone, Debug)]
pub(super) struct WordCounts {
    column: usize,
    field: &'static str,
    words: Vec<(String, u64)>,
    cells: u64,
}

/// The words of a column that are probably misspelt, each with the word that is meant.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Misspelt {
    column: usize,
    field: &'static str,
    words: Vec<(String, String)>,
}

impl WordCounts {
    pub(super) fn new(column: usize, field: &'static str) -> WordCounts {
        WordCounts { column, field, words: Vec::new(), cells: 0 }
    }

    pub(super) fn row(&mut self, row: &Row) {
        let Cell::Text(text) = row.get(self.column) else { return };
        let text = trimmed(text);
        if text.is_empty() || self.words.len() > MAX_WORDS {
            return;
        }
        self.cells += 1;
        if let Some((_, count)) = self.words.iter_mut().find(|(known, _)| known == text) {
            *count += 1;
        } else {
            self.words.push((text.get(..MAX_BYTES).unwrap_or(text).to_owned(), 1));
        }
    }

    /// Returns the misspelt words, if there are any.
    pub(super) fn misspelt(&self) -> Option<Misspelt> {
        if self.words.len() > MAX_WORDS {
            return None;
        }
        let few = (self.cells / 100).max(1);
        let meant = |(word, count): &(String, u64)| {
            let is_meant = |(other, times): &&(String, u64)| {
                *times >= FEWEST && (*count <= few || *count * RARE <= *times) && is_misspelt(word, other)
            };
            let (other, _) = self.words.iter().find(is_meant)?;
            Some((word.clone(), other.clone()))
        };
        let words: Vec<(String, String)> = self.words.iter().filter_map(meant).collect();
        (!words.is_empty()).then_some(Misspelt { column: self.column, field: self.field, words })
    }
}

/// Whether a word differs from another one by a letter, or by two exchanged ones. A word within the other has another meaning: `inactive`.
fn is_misspelt(word: &str, other: &str) -> bool {
    let (word, other) = (word.to_lowercase(), other.to_lowercase());
    let is_word = |text: &str| text.chars().count() >= MIN_LETTERS && !text.chars().any(char::is_numeric);
    is_word(&word)
        && is_word(&other)
        && !word.contains(&other)
        && !other.contains(&word)
        && strsim::osa_distance(&word, &other) == 1
}

impl Misspelt {
    pub(super) fn judge(&self, row: &Row) -> Option<Finding> {
        let cell = row.get(self.column);
        let text = cell.shown();
        let (word, meant) = self.words.iter().find(|(word, _)| word == text.trim())?;
        Some(Finding {
            remedy: "correct it; if it is right, send the row with --accept unlike-others".to_owned(),
            ..Finding::unlike_others(
                (self.column, self.field),
                word.clone(),
                format!("is probably '{meant}', as in other rows"),
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_letter_off_a_common_word_is_misspelt() {
        let misspelt = |words: &[&str]| {
            let mut counts = WordCounts::new(0, "status");
            for word in words {
                let mut row = Row::default();
                row.push(Cell::Text(word));
                counts.row(&row);
            }
            counts.misspelt().map_or_else(Vec::new, |found| found.words)
        };
        let all = |odd| [&["active"; 6][..], &["inactive", odd]].concat();
        for odd in ["actvie", "actve", "activve"] {
            assert_eq!(misspelt(&all(odd)), [(odd.to_owned(), "active".to_owned())]);
        }
        for fine in ["Active", "archived", "actives", "draft", "active2"] {
            assert!(misspelt(&all(fine)).is_empty(), "{fine}");
        }
        // Both are common.
        assert!(misspelt(&[&["shipped"; 6][..], &["skipped"; 6]].concat()).is_empty());
    }
}
