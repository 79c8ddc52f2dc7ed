//! Topics of sheets that are not about the records of a template, recognized by single headers: reviews, returns, payments.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::LazyLock;

use serde::Deserialize;
use sheetport_mapping::words::{alternatives, normalize};
use sheetport_records::RecordKind;

use super::super::headers::Header;

/// The plural of the topic of people.
const PEOPLE: &str = "people";

/// A topic of sheets.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Topic {
    /// The name of the rows, in the plural.
    pub plural: String,
    /// The kinds of records that this topic is foreign to, each with fields that may still occur beside such columns.
    foreign_to: BTreeMap<String, Vec<String>>,
    /// Number of such columns that makes a sheet foreign even beside these fields.
    #[serde(default)]
    pub certain: Option<usize>,
    /// At least one in this number of unsent columns must belong to the topic.
    #[serde(default = "half")]
    pub share: usize,
    /// By language.
    words: BTreeMap<String, Vec<String>>,
}

fn half() -> usize {
    2
}

#[derive(Deserialize)]
struct TopicsFile {
    summaries: BTreeMap<String, Vec<String>>,
    #[serde(flatten)]
    topics: BTreeMap<String, Topic>,
}

/// All topics with their words, indexed for comparison.
struct Topics {
    topics: Vec<Topic>,
    phrases: Phrases,
    summaries: Phrases,
}

/// Phrases, each with the index of its topic.
#[derive(Default)]
struct Phrases {
    /// Whole headers without spaces.
    whole: HashMap<String, HashSet<usize>>,
    /// All words of a phrase, indexed by one of them.
    words: HashMap<String, Vec<(Vec<String>, usize)>>,
    /// Phrases in scripts without spaces.
    unspaced: Vec<(String, usize)>,
}

static TOPICS: LazyLock<Topics> = LazyLock::new(|| {
    let file: TopicsFile =
        toml::from_str(include_str!("other_sheets.toml")).expect("the file is compiled in, and a test parses it");
    let (mut phrases, mut summaries) = (Phrases::default(), Phrases::default());
    let topics: Vec<Topic> = file.topics.into_values().collect();
    for (index, topic) in topics.iter().enumerate() {
        topic.words.values().flatten().for_each(|pattern| phrases.add(pattern, index));
    }
    file.summaries.values().flatten().for_each(|pattern| summaries.add(pattern, 0));
    Topics { topics, phrases, summaries }
});

/// Returns the topics of a header.
pub(super) fn topics_of(header: &Header) -> Vec<&'static Topic> {
    let topics = &*TOPICS;
    let found = topics.phrases.find(header);
    if found.is_empty() || !topics.summaries.find(header).is_empty() {
        return Vec::new();
    }
    let mut found: Vec<usize> = found.into_iter().collect();
    found.sort_unstable();
    found.into_iter().map(|index| &topics.topics[index]).collect()
}

/// Whether a header is about people, such as the buyer or an e-mail address.
pub(super) fn is_about_people(header: &Header) -> bool {
    topics_of(header).iter().any(|topic| topic.plural == PEOPLE)
}

impl Topic {
    /// Whether the topic can be foreign to a kind of record.
    pub(super) fn is_about_other_than(&self, kind: RecordKind) -> bool {
        self.foreign_to.contains_key(kind.name())
    }

    /// Whether a sheet of records of a kind has no such column. `has_field`: whether the template uses a field.
    pub(super) fn is_foreign_to(&self, kind: RecordKind, has_field: impl Fn(&str) -> bool) -> bool {
        self.foreign_to.get(kind.name()).is_some_and(|beside| !beside.iter().any(|field| has_field(field)))
    }
}

impl Phrases {
    fn add(&mut self, pattern: &str, topic: usize) {
        let (is_whole, pattern) = pattern.strip_prefix('=').map_or((false, pattern), |pattern| (true, pattern));
        for phrase in alternatives::expand(pattern) {
            let header = Header::new(&phrase);
            if is_whole {
                self.whole.entry(header.joined().to_owned()).or_default().insert(topic);
            } else if normalize::is_unspaced(header.joined()) {
                self.unspaced.push((header.joined().to_owned(), topic));
            } else if let Some(rarest) = header.words().iter().max_by_key(|word| word.len()) {
                self.words.entry(rarest.clone()).or_default().push((header.words().to_vec(), topic));
            }
        }
    }

    fn find(&self, header: &Header) -> HashSet<usize> {
        let mut found = self.whole.get(header.joined()).cloned().unwrap_or_default();
        // "Lieferschein-Nr." is the same word as "Lieferscheinnr".
        let compounds = header.words().windows(2).map(|pair| pair.concat());
        let words: Vec<String> = header.words().iter().cloned().chain(compounds).collect();
        for phrases in words.iter().filter_map(|word| self.words.get(word)) {
            let fits = phrases.iter().filter(|(phrase, _)| phrase.iter().all(|word| words.contains(word)));
            found.extend(fits.map(|(_, topic)| *topic));
        }
        if normalize::is_unspaced(header.joined()) {
            let fits = self.unspaced.iter().filter(|(phrase, _)| header.joined().contains(phrase.as_str()));
            found.extend(fits.map(|(_, topic)| *topic));
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use sheetport_mapping::words::vocabulary;

    use super::*;

    #[track_caller]
    fn check(header: &str, expected: &[&str]) {
        let found: Vec<&str> = topics_of(&Header::new(header)).iter().map(|topic| topic.plural.as_str()).collect();
        assert_eq!(found, expected, "{header}");
    }

    #[test]
    fn headers_of_events_have_topics() {
        check("Rating", &["reviews"]);
        check("Stars (1-5)", &["reviews"]);
        check("Reason for the return", &["returns"]);
        check("Quantity returned", &["returns"]);
        check("Rücksendegrund", &["returns"]);
        check("Motif du retour", &["returns"]);
        check("退货数量", &["returns"]);
        check("返品理由", &["returns"]);
        check("E-mail", &["people"]);
        check("Tracking #", &["shipments"]);
        check("Units sold", &["sales figures"]);
        check("Employee", &["people", "working hours or tasks"]);
        check("31-60 days", &["overdue payments"]);
        check("Lieferschein-Nr.", &["delivery notes", "sales or purchase documents"]);
        check("Sueldo base", &["wages"]);
        check("Check-in", &["bookings"]);
        check("Code postal", &["addresses"]);
    }

    #[test]
    fn headers_of_records_have_no_topic() {
        for header in [
            "Average rating",
            "Number of reviews",
            "Review count",
            "Return policy",
            "Returnable",
            "Note",
            "Sale start",
            "Warranty",
            "Category",
            "Weight",
            "Stock",
            "Quantity",
            "Date",
            "Image URL",
            "Anzahl",
            "Bestellnummer",
            "Order no",
            "Cantidad",
            "数量",
            "Created at",
            "Brand",
            "Color",
            "Unit",
            "Lead time",
            "Supplier",
            "Supplier e-mail",
            "Country of origin",
            "Package weight",
            "Room for text",
            "Rental price",
        ] {
            check(header, &[]);
        }
    }

    #[test]
    fn every_topic_has_words_in_every_language_and_known_kinds_and_fields() {
        let languages: Vec<&str> = vocabulary().languages().collect();
        for topic in &TOPICS.topics {
            let known: Vec<&str> = topic.words.keys().map(String::as_str).collect();
            assert!(languages.iter().all(|language| known.contains(language)), "{}: {known:?}", topic.plural);
            assert_eq!(known.len(), languages.len(), "{}", topic.plural);
            assert!(!topic.foreign_to.is_empty(), "{}", topic.plural);
            for (kind, beside) in &topic.foreign_to {
                let kind = RecordKind::ALL.iter().find(|known| known.name() == kind);
                let input = kind.unwrap_or_else(|| panic!("{}: an unknown kind", topic.plural)).input();
                let is_field = |name: &String| {
                    let mut fields =
                        input.fields().chain(input.lines().into_iter().flat_map(|(_, lines)| lines.iter()));
                    fields.any(|field| field.name == name)
                };
                assert!(beside.iter().all(is_field), "{}: {beside:?}", topic.plural);
            }
        }
    }
}
