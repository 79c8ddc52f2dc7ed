//! Topics of sheets that are not about the records of a template, recognized by single headers: reviews, returns, payments.

use std::collections::BTreeSet;

use sheetport_records::RecordKind;

use super::normalize;
pub use super::tables::Topic;
use super::tables::{PHRASES, Phrases, SUMMARIES, TOPICS, entry};

/// Returns the topics of a header. `words`: its words, with compounds split; `joined`: all words without spaces, as written.
pub fn topics_of(words: &[String], joined: &str) -> Vec<&'static Topic> {
    let found = PHRASES.find(words, joined);
    if found.is_empty() || !SUMMARIES.find(words, joined).is_empty() {
        return Vec::new();
    }
    found.into_iter().filter_map(|position| TOPICS.get(position)).collect()
}

impl Topic {
    /// Whether the topic can be foreign to a kind of record.
    pub fn is_about_other_than(&self, kind: RecordKind) -> bool {
        entry(self.foreign_to, kind.name()).is_some()
    }

    /// Whether a sheet of records of a kind has no such column. `has_field`: whether the template uses a field.
    pub fn is_foreign_to(&self, kind: RecordKind, has_field: impl Fn(&str) -> bool) -> bool {
        entry(self.foreign_to, kind.name()).is_some_and(|beside| !beside.iter().any(|field| has_field(field)))
    }
}

impl Phrases {
    fn find(&'static self, words: &[String], joined: &str) -> BTreeSet<usize> {
        let mut found: BTreeSet<usize> =
            entry(self.whole, joined).into_iter().flat_map(|topics| topics.iter()).copied().collect();
        // "Lieferschein-Nr." is the same word as "Lieferscheinnr".
        let compounds: Vec<String> = words.windows(2).map(|pair| pair.concat()).collect();
        let words = || words.iter().chain(&compounds);
        for phrases in words().filter_map(|word| entry(self.words, word)) {
            let fits =
                phrases.iter().filter(|(phrase, _)| phrase.iter().all(|word| words().any(|known| known == word)));
            found.extend(fits.map(|(_, topic)| *topic));
        }
        if normalize::is_unspaced(joined) {
            let fits = self.unspaced.iter().filter(|(phrase, _)| joined.contains(phrase));
            found.extend(fits.map(|(_, topic)| *topic));
        }
        found
    }
}
