//! Compares a header with the names of a field.
//!
//! An exact match scores best. A header with a name and further words scores nearly as well if these words change little,
//! and does not match if a word belongs to another topic. Otherwise, the header may be a misspelt name.

use std::collections::HashSet;

use sheetport_records::RecordKind;
use sheetport_values::currency::CurrencyMark;
use sheetport_words::normalize::{self, HeaderWords};
use sheetport_words::vocabulary::{Vocabulary, WordSet, titles_in};
use sheetport_words::{ColumnTitle, FieldWords, Language, Modifiers, vocabulary};

use super::currency_hint::in_text;

/// A header, normalized for comparison.
#[derive(Clone, Debug)]
pub(crate) struct Header {
    words: Vec<String>,
    /// All words without spaces.
    joined: String,
    bracketed: Vec<Vec<String>>,
    marks: Marks,
}

/// Which words and letters a text has, each as one of 64 bits. Most names are ruled out by their marks alone: a sheet can have thousands
/// of headers, and a field hundreds of names.
#[derive(Clone, Copy, Debug, Default)]
struct Marks {
    words: u64,
    letters: u64,
    /// In characters.
    length: usize,
}

/// A name of a field.
struct KnownName {
    title: &'static ColumnTitle,
    /// Without the words that a header may lack.
    marks: Marks,
    is_unspaced: bool,
}

/// How a header matches a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MatchKind {
    Exact,
    /// The header has all words of the name, and others.
    Contains,
    /// The header is spelt almost like the name.
    Similar,
}

/// A match of a header with a field.
#[derive(Clone, Debug)]
pub(crate) struct NameMatch {
    /// From 0 to 1.
    pub score: f64,
    pub kind: MatchKind,
    /// The matching name.
    pub name: String,
    /// Certainty of the name itself, from 0 to 1.
    pub certainty: f64,
    pub language: Language,
}

/// The names of one field, normalized for comparison.
pub(crate) struct FieldNames {
    names: Vec<KnownName>,
    /// Names with few other meanings.
    unmistakable: HashSet<&'static str>,
    modifiers: Modifiers,
    /// The field is an internal id of the service, without other names.
    own_name_only: bool,
}

/// Minimum certainty of an unmistakable name.
const UNMISTAKABLE: f64 = 0.85;
/// Longer headers are texts; only this many characters are compared.
const MAX_HEADER_CHARS: usize = 120;

const IN_BRACKETS: f64 = 0.9;
/// The header has the words of the name, apart from words without a meaning.
const ALL_WORDS: f64 = 0.99;
const CONTAINED: f64 = 0.95;
const SIMILAR: f64 = 0.62;
/// Factor for names in another language than the sheet's.
const FOREIGN: f64 = 0.8;
/// Deductions for each further word of a header.
const UNKNOWN_WORD: f64 = 0.22;
const NUMBER: f64 = 0.12;
const NEUTRAL_WORD: f64 = 0.03;

impl Header {
    pub(crate) fn new(header: &str) -> Header {
        let header: String = header.chars().take(MAX_HEADER_CHARS).collect();
        let HeaderWords { words, bracketed } = normalize::header(&header);
        let joined = words.concat();
        let words: Vec<String> = words.into_iter().flat_map(|word| vocabulary().split_compound(word)).collect();
        let marks = Marks::new(words.iter().map(String::as_str), &joined);
        Header { joined, words, bracketed, marks }
    }

    /// Whether the header is about a topic without a field.
    pub(crate) fn is_other_topic(&self) -> bool {
        self.words.iter().any(|word| vocabulary().other_topics.contains(word))
            || vocabulary().unspaced_topics.iter().any(|topic| self.joined.contains(topic))
    }

    /// Returns the words, with compounds split.
    pub(crate) fn words(&self) -> &[String] {
        &self.words
    }

    /// Returns all words without spaces.
    pub(crate) fn joined(&self) -> &str {
        &self.joined
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// Whether the header is an unambiguous name of a field of any kind of record.
    pub(crate) fn is_certain_title(&self) -> bool {
        vocabulary().certainty_of(&self.joined).is_some_and(|certainty| certainty >= UNMISTAKABLE)
    }

    /// Whether the header names an unspecified code: `Ref.`, `Código`.
    pub(crate) fn is_any_code(&self) -> bool {
        self.words.iter().all(|word| vocabulary().is_code_word(word))
    }

    /// Whether the header names the amount of a whole line or record.
    pub(crate) fn is_total(&self) -> bool {
        vocabulary().is_total_header(&self.joined)
    }

    /// Whether the header means a price with tax (`true`) or without tax (`false`).
    pub(crate) fn with_tax(&self) -> Option<bool> {
        let says = |words: WordSet| {
            let all = self.words.iter().chain(self.bracketed.iter().flatten());
            // Compounds such as "Bruttopreis" are words of their own.
            let is_within = |known: &str, word: &str| {
                normalize::is_unspaced(known) && word.contains(known) || known.len() >= 5 && word.starts_with(known)
            };
            all.clone().any(|word| words.contains(word))
                || words.iter().any(|known| all.clone().any(|word| is_within(known, word)))
        };
        // Words for "without tax" may contain a word for "with tax", as in Chinese.
        says(vocabulary().net).then_some(false).or_else(|| says(vocabulary().gross).then_some(true))
    }

    /// Whether the header only says that amounts are with or without tax: `Net`, `TTC`.
    pub(crate) fn is_tax_basis(&self) -> bool {
        let Vocabulary { net, gross, small, .. } = vocabulary();
        self.with_tax().is_some()
            && self.words.iter().all(|word| net.contains(word) || gross.contains(word) || small.contains(word))
    }

    /// Returns the words in brackets if their meaning is unknown: they neither belong to the field nor name a currency.
    pub(crate) fn unexplained(&self, names: &FieldNames) -> Option<String> {
        let words = vocabulary();
        let is_known = |word: &String| {
            words.small.contains(word)
                || words.neutral.contains(word)
                || words.net.contains(word)
                || words.gross.contains(word)
                || names.modifiers.contains(word)
                || names.names.iter().any(|name| name.title.words.contains(&word.as_str()))
                || word.bytes().all(|byte| byte.is_ascii_digit())
                || in_text(word, None).is_some()
                || CurrencyMark::parse(word).is_some()
        };
        let unknown = self.bracketed.iter().find(|words| {
            !words.iter().all(is_known) && !names.names.iter().any(|name| name.title.joined == words.concat())
        })?;
        Some(unknown.join(" "))
    }

    /// Whether the headers share a meaningful word.
    pub(crate) fn shares_topic(&self, other: &Header) -> bool {
        let is_topic = |word: &String| word.len() > 2 && !vocabulary().small.contains(word);
        self.words.iter().any(|word| is_topic(word) && other.words.contains(word))
    }

    /// Whether a program made the header up: `Column 1`, `Unnamed: 0`, `F3`.
    pub(crate) fn is_placeholder(&self) -> bool {
        let is_number = |word: &str| word.bytes().all(|b| b.is_ascii_digit());
        self.words.iter().all(|word| is_number(word) || vocabulary().is_placeholder(word))
    }

    /// Whether the header contains any of these words.
    pub(crate) fn contains_any<'a>(&self, mut words: impl Iterator<Item = &'a str>) -> bool {
        words.any(|word| {
            let word = normalize::words(word).concat();
            self.joined == word
                || self.words.contains(&word)
                || normalize::is_unspaced(&word) && self.joined.contains(&word)
        })
    }
}

impl Marks {
    fn new<'w>(words: impl Iterator<Item = &'w str>, joined: &str) -> Marks {
        // FNV-1a, which is short; equal bits of different words only cost a comparison.
        let hash = |word: &str| {
            word.bytes()
                .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
        };
        Marks {
            words: words.fold(0, |bits, word| bits | 1 << (hash(word) >> 58)),
            letters: joined.chars().fold(0, |bits, letter| bits | 1 << (u32::from(letter) % 64)),
            length: joined.chars().count(),
        }
    }

    /// Whether texts may differ in `changes` letters at most: each change adds and removes one letter at most.
    fn may_be_within(self, other: Marks, changes: usize) -> bool {
        self.length.abs_diff(other.length) <= changes
            && (self.letters ^ other.letters).count_ones() as usize <= 2 * changes
    }
}

impl KnownName {
    fn new(title: &'static ColumnTitle) -> KnownName {
        let needed = title.words.iter().copied().filter(|word| !vocabulary().articles.contains(word));
        let marks = Marks::new(needed, title.joined);
        KnownName { title, marks, is_unspaced: normalize::is_unspaced(title.joined) }
    }

    /// Whether the header may have all words of the name, or contain a name without spaces.
    fn may_be_in(&self, header: &Header) -> bool {
        self.is_unspaced || !header.bracketed.is_empty() || self.marks.words & !header.marks.words == 0
    }
}

impl FieldNames {
    /// Returns the names of a field; `with_own`: its name in the API, too.
    pub(super) fn new(field: &'static FieldWords, kind: RecordKind, with_own: bool) -> FieldNames {
        let own = field.own.as_ref().filter(|_| with_own);
        let titles = || own.into_iter().chain(field.titles());
        let unmistakable = titles().filter(|title| title.certainty >= UNMISTAKABLE);
        FieldNames {
            unmistakable: unmistakable.map(|title| title.joined).collect(),
            names: titles().map(KnownName::new).collect(),
            modifiers: vocabulary().modifiers(field, kind),
            own_name_only: field.names.is_empty(),
        }
    }

    /// Returns the names in these lists only.
    pub(super) fn of_lists(lists: &'static [&'static str], field: &'static FieldWords, kind: RecordKind) -> FieldNames {
        FieldNames {
            names: titles_in(lists).map(KnownName::new).collect(),
            unmistakable: HashSet::new(),
            modifiers: vocabulary().modifiers(field, kind),
            own_name_only: lists.is_empty(),
        }
    }

    /// Returns an empty list, for fields with columns from earlier templates only.
    pub(super) fn none() -> FieldNames {
        FieldNames {
            names: Vec::new(),
            unmistakable: HashSet::new(),
            modifiers: Modifiers::default(),
            own_name_only: true,
        }
    }

    /// Whether the header is a name with few other meanings.
    pub(crate) fn has_unmistakable(&self, header: &Header) -> bool {
        self.unmistakable.contains(header.joined.as_str())
    }

    /// Whether the header is exactly a name of the field.
    pub(crate) fn has_name(&self, header: &Header) -> bool {
        self.names.iter().any(|name| name.title.joined == header.joined)
    }

    /// Returns the best match of the header with a name. Only a header that matches no name may be a misspelling. Names in
    /// another language than the sheet's are less certain, except for English.
    pub(crate) fn best_match(&self, header: &Header, language: Option<Language>) -> Option<NameMatch> {
        if header.joined.is_empty() {
            return None;
        }
        let is_exact = |name: &KnownName| header.joined == name.title.joined;
        let possible = self.names.iter().filter(|name| name.may_be_in(header) || is_exact(name));
        let matches = possible.filter_map(|name| {
            let (score, kind) = self.score(header, name)?;
            let title = name.title;
            let is_foreign = language.is_some_and(|language| title.language != language && title.language != "en");
            Some((score * title.certainty * if is_foreign { FOREIGN } else { 1.0 }, kind, title))
        });
        let best = matches.reduce(|best, next| if next.0 > best.0 { next } else { best });
        let misspelt = || {
            let name = self.names.iter().find(|name| !self.own_name_only && is_similar(header, name))?;
            Some((SIMILAR * name.title.certainty, MatchKind::Similar, name.title))
        };
        let (score, kind, title) = best.filter(|best| best.0 > 0.0).or_else(misspelt)?;
        let ColumnTitle { text, certainty, language, .. } = *title;
        Some(NameMatch { score, kind, name: text.to_owned(), certainty, language })
    }

    fn score(&self, header: &Header, name: &KnownName) -> Option<(f64, MatchKind)> {
        let KnownName { title: name, is_unspaced, .. } = name;
        if header.joined == name.joined {
            return Some((1.0, MatchKind::Exact));
        }
        if self.own_name_only {
            return None;
        }
        let in_brackets = header.bracketed.iter().any(|words| words.concat() == name.joined);
        if in_brackets && name.joined.len() > 2 && !header.words.iter().any(|word| self.is_other_topic(word)) {
            return Some((IN_BRACKETS, MatchKind::Contains));
        }
        let score = match is_unspaced {
            true => self.score_within(header, name)?,
            false => self.score_words(header, name)?,
        };
        Some((score, MatchKind::Contains))
    }

    /// Scores a header with all words of the name; each further word lowers the score.
    fn score_words(&self, header: &Header, name: &ColumnTitle) -> Option<f64> {
        let words = vocabulary();
        let is_missing = |word: &str| !header.words.iter().any(|other| other == word) && !words.articles.contains(word);
        if name.words.iter().any(|word| is_missing(word)) {
            return None;
        }
        let mut others: Vec<&str> = header.words.iter().map(String::as_str).collect();
        for word in name.words {
            match others.iter().position(|other| other == word) {
                Some(index) => drop(others.remove(index)),
                None if words.articles.contains(word) => {}
                None => return None,
            }
        }
        if name.words.iter().all(|word| words.small.contains(word)) {
            return None;
        }
        let mut score = if others.iter().all(|word| words.small.contains(word)) { ALL_WORDS } else { CONTAINED };
        let is_number = |word: &str| word.bytes().all(|b| b.is_ascii_digit());
        // The three numbers of a date are one.
        let number = if others.iter().filter(|word| is_number(word)).count() == 3 { NUMBER / 3.0 } else { NUMBER };
        for word in others {
            score -= match word {
                word if self.modifiers.contains(word) => NEUTRAL_WORD,
                word if is_number(word) => number,
                word if words.small.contains(word) => 0.0,
                word if words.neutral.contains(word) => NEUTRAL_WORD,
                word if self.is_other_topic(word) => return None,
                _ => UNKNOWN_WORD,
            };
        }
        (score > 0.0).then_some(score)
    }

    /// Scores a header containing the name, for scripts without spaces: best at the end of a short header.
    fn score_within(&self, header: &Header, name: &ColumnTitle) -> Option<f64> {
        let at = header.joined.rfind(name.joined)?;
        let (before, after) = (&header.joined[..at], &header.joined[at + name.joined.len()..]);
        let is_topic = |text: &str| {
            vocabulary().unspaced_topics.iter().any(|topic| text.contains(topic) && !self.modifiers.contains(topic))
        };
        if is_topic(before) || is_topic(after) {
            return None;
        }
        let changes_little =
            |text: &str| text.is_empty() || self.modifiers.contains(text) || vocabulary().neutral.contains(text);
        let others = before.chars().chain(after.chars()).fold(0.0, |count, _| count + 1.0);
        let score = match changes_little(before) && changes_little(after) {
            true => 0.93,
            false if after.is_empty() => 0.85 - 0.03 * others,
            false => 0.65 - 0.04 * others,
        };
        (score > 0.0).then_some(score)
    }

    fn is_other_topic(&self, word: &str) -> bool {
        vocabulary().other_topics.contains(word) && !self.modifiers.contains(word)
    }
}

/// Whether the header is probably a misspelling of the name; headers of known words are not.
fn is_similar(header: &Header, name: &KnownName) -> bool {
    let max_distance = if name.marks.length >= 12 { 2 } else { usize::from(name.marks.length >= 5) };
    let is_known = |word: &String| vocabulary().is_part(word) || vocabulary().small.contains(word);
    max_distance > 0
        && name.marks.may_be_within(header.marks, max_distance)
        && !header.words.iter().all(is_known)
        && strsim::osa_distance(&header.joined, name.title.joined) <= max_distance
}
