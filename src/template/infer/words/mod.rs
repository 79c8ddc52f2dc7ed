//! The vocabulary for matching columns to fields, read from TOML files: a file for each language, and `fields.toml` with the
//! lists of names of each field.

pub(super) mod normalize;

use std::collections::{BTreeMap, HashSet};
use std::sync::LazyLock;

use serde::Deserialize;

use crate::records::RecordKind;

/// The code of a language, such as `de`.
pub(super) type Language = &'static str;

const FIELDS: &str = include_str!("fields.toml");

/// The languages in order of preference, for headers with the same name in several.
const LANGUAGES: [(Language, &str); 9] = [
    ("en", include_str!("en.toml")),
    ("de", include_str!("de.toml")),
    ("fr", include_str!("fr.toml")),
    ("es", include_str!("es.toml")),
    ("ja", include_str!("ja.toml")),
    ("it", include_str!("it.toml")),
    ("pt", include_str!("pt.toml")),
    ("nl", include_str!("nl.toml")),
    ("zh", include_str!("zh.toml")),
];

static VOCABULARY: LazyLock<Vocabulary> =
    LazyLock::new(|| Vocabulary::parse().expect("the files are compiled in, and a test parses them"));

/// Returns the vocabulary; parsed on first use.
pub(super) fn vocabulary() -> &'static Vocabulary {
    &VOCABULARY
}

/// All words of all languages.
pub(super) struct Vocabulary {
    fields: FieldsFile,
    languages: Vec<(Language, LanguageFile)>,
    pub articles: HashSet<String>,
    /// Words without a meaning, including the articles.
    pub small: HashSet<String>,
    pub neutral: HashSet<String>,
    pub other_topics: HashSet<String>,
    /// Parts of compounds such as `unitprice`.
    pub parts: HashSet<String>,
}

/// `fields.toml`.
#[derive(Deserialize)]
struct FieldsFile {
    modifier_sets: BTreeMap<String, Vec<String>>,
    #[serde(flatten)]
    kinds: BTreeMap<String, KindWords>,
}

/// The names of a kind of record.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct KindWords {
    pub record_words: Vec<String>,
    pub fields: BTreeMap<String, FieldWords>,
    #[serde(default)]
    pub lines: BTreeMap<String, FieldWords>,
    pub group: Option<FieldWords>,
}

/// The names of a field.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FieldWords {
    pub names: Vec<String>,
    #[serde(default)]
    modifiers: Vec<String>,
    modifier_set: Option<String>,
    pub values: ValueKind,
}

/// The file of a language; `en.toml` explains the lists.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, default)]
#[derive(Default)]
struct LanguageFile {
    articles: Vec<String>,
    small_words: Vec<String>,
    neutral_words: Vec<String>,
    other_topics: Vec<String>,
    withdrawn: Vec<String>,
    status_values: Vec<String>,
    total_rows: Vec<String>,
    placeholder_headers: Vec<String>,
    yes_no: Vec<(String, String)>,
    /// The lists of names, each by certainty in percent.
    names: BTreeMap<String, BTreeMap<u8, Vec<String>>>,
}

/// A name of a column.
#[derive(Clone, Copy, Debug)]
pub(super) struct ColumnTitle {
    pub text: &'static str,
    /// Probability, from 0 to 1, of a column with exactly this name being the field.
    pub certainty: f64,
    pub language: Language,
}

/// The kind of values of a field.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub(super) enum ValueKind {
    /// Identifies the record, so each value is unique.
    Identifier,
    /// Identifies another record.
    Reference,
    Title,
    LongText,
    Currency,
    Price,
    /// Tax as a percentage.
    TaxRate,
    /// Tax as an amount of money.
    TaxAmount,
    Status,
    Date,
    /// A count, mostly in whole numbers.
    Quantity,
    Boolean,
}

impl Vocabulary {
    fn parse() -> Result<Vocabulary, toml::de::Error> {
        let fields: FieldsFile = toml::from_str(FIELDS)?;
        let mut languages: Vec<(Language, LanguageFile)> = Vec::new();
        for (language, source) in LANGUAGES {
            languages.push((language, toml::from_str(source)?));
        }
        let words = |list: fn(&LanguageFile) -> &Vec<String>| {
            normalized(languages.iter().flat_map(move |(_, file)| list(file)))
        };
        let articles = words(|file| &file.articles);
        let mut small = words(|file| &file.small_words);
        small.extend(articles.iter().cloned());
        let neutral = words(|file| &file.neutral_words);
        let other_topics = words(|file| &file.other_topics);
        let mut parts: HashSet<String> = neutral.union(&other_topics).cloned().collect();
        parts.extend(normalized(
            languages.iter().flat_map(|(_, file)| file.names.values()).flat_map(BTreeMap::values).flatten(),
        ));
        parts.extend(normalized(fields.modifier_sets.values().flatten()));
        for kind in fields.kinds.values() {
            let tables = kind.fields.values().chain(kind.lines.values()).chain(&kind.group);
            parts.extend(normalized(tables.flat_map(|field| &field.modifiers).chain(&kind.record_words)));
        }
        parts.retain(|word| word.len() >= 2 && !normalize::is_unspaced(word));
        Ok(Vocabulary { fields, languages, articles, small, neutral, other_topics, parts })
    }

    /// Returns the words of a kind of record.
    pub(super) fn kind(&self, kind: RecordKind) -> &KindWords {
        self.fields.kinds.get(kind.name()).expect("a test checks that fields.toml has every kind of record")
    }

    /// Returns the names of a field, list by list, and each list language by language.
    pub(super) fn names(&'static self, field: &'static FieldWords) -> impl Iterator<Item = ColumnTitle> {
        let lists = field.names.iter().flat_map(|list| {
            self.languages.iter().filter_map(move |(language, file)| Some((*language, file.names.get(list)?)))
        });
        lists.flat_map(|(language, list)| {
            list.iter().rev().flat_map(move |(percent, names)| {
                let certainty = f64::from(*percent) / 100.0;
                names.iter().map(move |text| ColumnTitle { text, certainty, language })
            })
        })
    }

    /// Returns the words with little effect beside a name of the field.
    pub(super) fn modifiers(&self, field: &FieldWords, kind: &KindWords) -> HashSet<String> {
        let shared = field.modifier_set.iter().flat_map(|set| &self.fields.modifier_sets[set]);
        normalized(field.modifiers.iter().chain(shared).chain(&kind.record_words))
    }

    /// Returns headers such as "discontinued": "yes" means that the item is not on offer.
    pub(super) fn withdrawn(&self) -> impl Iterator<Item = &str> {
        self.all(|file| &file.withdrawn)
    }

    /// Whether a cell is a usual word for a status.
    pub(super) fn is_status(&self, cell: &str) -> bool {
        let cell = cell.to_lowercase();
        self.all(|file| &file.status_values).any(|word| word == cell)
    }

    /// Whether a cell marks a row of totals.
    pub(super) fn is_total(&self, cell: &str) -> bool {
        let cell = cell.trim_end_matches([':', ' ']).to_lowercase();
        self.all(|file| &file.total_rows).any(|word| word == cell)
    }

    /// Whether a word is part of a placeholder such as `Column 1`.
    pub(super) fn is_placeholder(&self, word: &str) -> bool {
        self.all(|file| &file.placeholder_headers).any(|known| known == word)
    }

    /// Returns "no" for "yes" in the same language, and the other way round.
    pub(super) fn opposite(&self, cell: &str) -> Option<&str> {
        let cell = cell.to_lowercase();
        self.languages.iter().flat_map(|(_, file)| &file.yes_no).find_map(|(yes, no)| match &cell {
            cell if cell == yes => Some(no.as_str()),
            cell if cell == no => Some(yes.as_str()),
            _ => None,
        })
    }

    fn all(&self, list: fn(&LanguageFile) -> &Vec<String>) -> impl Iterator<Item = &str> {
        self.languages.iter().flat_map(move |(_, file)| list(file)).map(String::as_str)
    }
}

fn normalized<'a>(texts: impl Iterator<Item = &'a String>) -> HashSet<String> {
    texts.flat_map(|text| normalize::words(text)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records::Field;

    fn file(language: &str) -> &'static LanguageFile {
        let (_, file) = vocabulary().languages.iter().find(|(known, _)| *known == language).expect("a language");
        file
    }

    /// Every table of fields with its words: the record's fields, and the fields of its lines.
    fn tables(kind: RecordKind) -> [(Vec<&'static Field>, &'static BTreeMap<String, FieldWords>); 2] {
        let (input, words) = (kind.input(), vocabulary().kind(kind));
        let lines = input.lines().map_or(Vec::new(), |(_, fields)| fields.iter().collect());
        [(input.fields().collect(), &words.fields), (lines, &words.lines)]
    }

    #[test]
    fn every_field_of_every_kind_has_words_and_no_other_field_does() {
        assert_eq!(vocabulary().fields.kinds.len(), RecordKind::ALL.len());
        for kind in RecordKind::ALL {
            for (fields, words) in tables(*kind) {
                let mut fields: Vec<&str> = fields.iter().map(|field| field.name).collect();
                fields.sort_unstable();
                assert_eq!(words.keys().map(String::as_str).collect::<Vec<_>>(), fields, "{kind}");
            }
        }
    }

    #[test]
    fn every_list_of_names_is_used_and_known() {
        let mut used = HashSet::new();
        for kind in vocabulary().fields.kinds.values() {
            for field in kind.fields.values().chain(kind.lines.values()).chain(&kind.group) {
                used.extend(field.names.iter().cloned());
                let set = field.modifier_set.as_ref();
                assert!(set.is_none_or(|set| vocabulary().fields.modifier_sets.contains_key(set)), "{set:?}");
            }
        }
        let english: HashSet<String> = file("en").names.keys().cloned().collect();
        assert_eq!(english, used, "en.toml has a list for everything");
        for (language, file) in &vocabulary().languages {
            let unknown: Vec<_> = file.names.keys().filter(|list| !used.contains(*list)).collect();
            assert!(unknown.is_empty(), "{language}: no field uses {unknown:?}");
        }
    }

    #[test]
    fn no_list_has_a_duplicate_or_a_certainty_out_of_range() {
        for (language, file) in &vocabulary().languages {
            for (list, names) in &file.names {
                assert!(names.keys().all(|percent| (1..=100).contains(percent)), "{language}: {list}");
                let mut seen = HashSet::new();
                let mut names = names.values().flatten();
                assert_eq!(names.find(|name| !seen.insert(*name)), None, "{language}: {list}");
            }
        }
    }

    #[test]
    fn no_certain_name_belongs_to_two_fields_of_a_language() {
        for kind in RecordKind::ALL {
            for (_, words) in tables(*kind) {
                let mut seen: BTreeMap<(Language, &str), (&str, &str)> = BTreeMap::new();
                for (field, words) in words {
                    for list in &words.names {
                        for (language, file) in &vocabulary().languages {
                            let certain = file.names.get(list).into_iter().flat_map(|names| names.range(85..));
                            for name in certain.flat_map(|(_, names)| names) {
                                let (other, other_list) = *seen.entry((language, name)).or_insert((field, list));
                                // A list may be shared whole: an order's line has its tax as an amount or as a rate.
                                assert!(
                                    other == field || other_list == list,
                                    "{language}: {name}: {other} and {field}"
                                );
                            }
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn words_are_read_from_the_files() {
        let words = vocabulary();
        assert!(words.is_status("Draft") && !words.is_status("bolt"));
        assert!(words.is_total("Grand total:") && !words.is_total("total of all"));
        assert_eq!(
            (words.opposite("JA"), words.opposite("no"), words.opposite("x")),
            (Some("nein"), Some("yes"), None)
        );
        let price = &words.kind(RecordKind::Item).fields["price"];
        let first = words.names(price).next().expect("a name");
        assert_eq!((first.text, first.certainty, first.language), ("price", 1.0, "en"));
        assert!(words.modifiers(price, words.kind(RecordKind::Item)).contains("netto"));
    }
}
