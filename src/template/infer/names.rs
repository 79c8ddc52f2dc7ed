//! What a header says by its words: how alike it is to the names that a field goes by.
//!
//! Equal is best. A name that stands in the header whole, beside words that change little, is nearly as good; a word
//! that says that the column is about something else ends it. What is left is the name that was probably meant.

use std::collections::HashSet;
use std::sync::LazyLock;

use super::fold::{self, Words};
use super::synonyms::{ALIEN, ARTICLES, Language, NEUTRAL, STOP, Synonyms, Vocabulary, listed, of};
use crate::records::RecordKind;

/// A header, taken apart.
#[derive(Clone, Debug)]
pub struct Name {
    words: Vec<String>,
    joined: String,
    asides: Vec<Vec<String>>,
}

/// How a header came to be taken for a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Match {
    Exact,
    AllWords,
    Nearest,
}

/// What a header says of a field.
#[derive(Clone, Debug, PartialEq)]
pub struct Likeness {
    /// From 0 to 1.
    pub score: f64,
    pub how: Match,
    /// The name that it is like, as the synonyms have it.
    pub like: &'static str,
    pub language: Language,
}

struct Term {
    text: &'static str,
    words: Vec<String>,
    joined: String,
    weight: f64,
    language: Language,
}

/// The names of one field, folded.
pub struct Terms {
    terms: Vec<Term>,
    kin: HashSet<String>,
    /// Nothing but the field's own name stands for it.
    exact_only: bool,
    /// The names that hardly mean anything else.
    plain: HashSet<String>,
}

/// Names of this weight hardly mean anything else.
const PLAIN: f64 = 0.85;
const ALL_WORDS: f64 = 0.95;
/// As many characters of a header as are looked at.
const LONGEST: usize = 120;
const NEAREST: f64 = 0.62;
/// What each further word takes off.
const UNKNOWN_WORD: f64 = 0.22;
const NUMBER: f64 = 0.12;
const NEUTRAL_WORD: f64 = 0.03;

static STOPS: LazyLock<HashSet<String>> = LazyLock::new(|| folded(STOP));
static ARTICLE_WORDS: LazyLock<HashSet<String>> = LazyLock::new(|| folded(ARTICLES));
static NEUTRALS: LazyLock<HashSet<String>> = LazyLock::new(|| folded(NEUTRAL));
static ALIENS: LazyLock<HashSet<String>> = LazyLock::new(|| folded(ALIEN));
static UNSPACED_ALIENS: LazyLock<Vec<String>> =
    LazyLock::new(|| ALIENS.iter().filter(|word| fold::is_unspaced(word)).cloned().collect());

/// Every word that is known, by which words written together are taken apart.
static KNOWN: LazyLock<HashSet<String>> = LazyLock::new(|| {
    let mut known: HashSet<String> = ALIENS.iter().chain(NEUTRALS.iter()).cloned().collect();
    for kind in RecordKind::ALL {
        let vocabulary = of(*kind);
        known.extend(folded(vocabulary.own));
        for synonyms in vocabulary.fields.iter().chain(vocabulary.lines).chain(vocabulary.group) {
            known.extend(folded(synonyms.kin));
            let names = synonyms.sets.iter().flat_map(|set| set.iter()).flat_map(|names| names.names());
            known.extend(names.flat_map(fold::words));
        }
    }
    known.retain(|word| word.len() >= 2 && !fold::is_unspaced(word));
    known
});

impl Name {
    pub fn of(header: &str) -> Name {
        // What is longer is a text and no name.
        let header: String = header.chars().take(LONGEST).collect();
        let Words { words, asides } = fold::header(&header);
        Name { joined: words.concat(), words: words.into_iter().flat_map(apart).collect(), asides }
    }

    /// Whether a word says that the column is about something other than what records have.
    pub fn is_alien(&self) -> bool {
        self.words.iter().any(|word| ALIENS.contains(word))
            || UNSPACED_ALIENS.iter().any(|alien| self.joined.contains(alien))
    }

    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// A name that a program gives where nobody did: `Column 1`, `Unnamed: 0`, `F3`.
    pub fn is_placeholder(&self) -> bool {
        const GIVEN: [&str; 8] = ["column", "unnamed", "spalte", "colonne", "columna", "f", "feld", "列"];
        let is_given = |word: &String| GIVEN.contains(&word.as_str()) || word.bytes().all(|b| b.is_ascii_digit());
        self.words.iter().all(is_given)
    }

    /// Whether one of `words` is the header or a word of it.
    pub fn says(&self, words: &'static str) -> bool {
        listed(words).any(|word| {
            let folded = fold::words(word).concat();
            self.joined == folded
                || self.words.contains(&folded)
                || fold::is_unspaced(&folded) && self.joined.contains(&folded)
        })
    }
}

impl Terms {
    /// The names of a field, to which its own name belongs when `own_name` is.
    pub fn of(synonyms: &Synonyms, vocabulary: &Vocabulary, own_name: Option<&'static str>) -> Terms {
        let term = |text: &'static str, weight: f64, language: Language| {
            let words = fold::words(text);
            Term { text, joined: words.concat(), words, weight, language }
        };
        // Where people have no words for a field, it is one of the service's own ids, and others have ids, too.
        let exact_only = synonyms.sets.is_empty();
        let weight = if exact_only { 0.7 } else { 1.0 };
        // A line's `id` is what every table begins with.
        let own = own_name.filter(|name| *name != "id").map(|name| term(name, weight, Language::English));
        let names = synonyms.sets.iter().flat_map(|set| set.iter());
        let names = names.flat_map(|names| names.names().map(|name| term(name, names.weight, names.language)));
        let kin = folded(synonyms.kin).into_iter().chain(folded(vocabulary.own)).collect();
        let terms: Vec<Term> = own.into_iter().chain(names).collect();
        let plain = terms.iter().filter(|term| term.weight >= PLAIN).map(|term| term.joined.clone()).collect();
        Terms { terms, kin, exact_only, plain }
    }

    /// Whether the header is one of the names that mean nothing else.
    pub fn is_plainly(&self, name: &Name) -> bool {
        !name.joined.is_empty() && self.plain.contains(&name.joined)
    }

    /// How alike the header is to the nearest of the names.
    pub fn likeness(&self, name: &Name) -> Option<Likeness> {
        let scored = self.terms.iter().filter_map(|term| {
            let (score, how) = self.score(name, term)?;
            Some(Likeness { score: score * term.weight, how, like: term.text, language: term.language })
        });
        let better = |best: Likeness, next: Likeness| if next.score > best.score { next } else { best };
        scored.reduce(better).filter(|likeness| likeness.score > 0.0)
    }

    fn score(&self, name: &Name, term: &Term) -> Option<(f64, Match)> {
        if name.joined.is_empty() {
            return None;
        }
        if name.joined == term.joined {
            return Some((1.0, Match::Exact));
        }
        if self.exact_only {
            return None;
        }
        let aside = name.asides.iter().any(|aside| aside.concat() == term.joined);
        if aside && term.joined.len() > 2 && !name.words.iter().any(|word| self.is_alien(word)) {
            return Some((0.9, Match::AllWords));
        }
        if fold::is_unspaced(&term.joined) {
            return self.within(name, term);
        }
        if let Some(score) = self.all_words(name, term) {
            return Some((score, Match::AllWords));
        }
        let known = name.words.iter().all(|word| KNOWN.contains(word) || STOPS.contains(word));
        let length = term.joined.chars().count();
        let most = if length >= 12 { 2 } else { usize::from(length >= 5) };
        let alike_in_length = name.joined.chars().count().abs_diff(length) <= most;
        let near = !known && most > 0 && alike_in_length && strsim::osa_distance(&name.joined, &term.joined) <= most;
        near.then_some((NEAREST, Match::Nearest))
    }

    /// The name's words are all in the header; what else is there takes off.
    fn all_words(&self, name: &Name, term: &Term) -> Option<f64> {
        let mut left: Vec<&str> = name.words.iter().map(String::as_str).collect();
        for word in &term.words {
            match left.iter().position(|other| other == word) {
                Some(place) => drop(left.remove(place)),
                None if ARTICLE_WORDS.contains(word) => {}
                None => return None,
            }
        }
        if term.words.iter().all(|word| STOPS.contains(word)) {
            return None;
        }
        let mut score = if left.iter().all(|word| STOPS.contains(*word)) { 1.0 } else { ALL_WORDS };
        for word in left {
            score -= match word {
                word if self.kin.contains(word) => NEUTRAL_WORD,
                word if word.bytes().all(|b| b.is_ascii_digit()) => NUMBER,
                word if STOPS.contains(word) => 0.0,
                word if NEUTRALS.contains(word) => NEUTRAL_WORD,
                word if self.is_alien(word) => return None,
                _ => UNKNOWN_WORD,
            };
        }
        (score > 0.0).then_some(score)
    }

    /// The same for scripts without spaces: such a name is the better the more of the header it is, best at its end.
    fn within(&self, name: &Name, term: &Term) -> Option<(f64, Match)> {
        let at = name.joined.rfind(&term.joined)?;
        let before = &name.joined[..at];
        let after = &name.joined[at + term.joined.len()..];
        let rest = before.chars().chain(after.chars()).count();
        let alien =
            |text: &str| UNSPACED_ALIENS.iter().any(|alien| text.contains(alien.as_str()) && !self.kin.contains(alien));
        if alien(before) || alien(after) {
            return None;
        }
        let neutral = |text: &str| text.is_empty() || self.kin.contains(text) || NEUTRALS.contains(text);
        let score = match neutral(before) && neutral(after) {
            true => 0.93,
            false if after.is_empty() => 0.85 - 0.03 * f64::from(u32::try_from(rest).unwrap_or(u32::MAX)),
            false => 0.65 - 0.04 * f64::from(u32::try_from(rest).unwrap_or(u32::MAX)),
        };
        (score > 0.0).then_some((score, Match::AllWords))
    }

    fn is_alien(&self, word: &str) -> bool {
        ALIENS.contains(word) && !self.kin.contains(word)
    }
}

fn folded(words: &'static str) -> HashSet<String> {
    listed(words).flat_map(fold::words).collect()
}

/// Takes apart what is written together, such as `unitprice` or `Verkaufspreisnetto`, if all of its parts are known.
fn apart(word: String) -> Vec<String> {
    const SHORT: [&str; 8] = ["id", "no", "nr", "ek", "vk", "at", "in", "of"];
    const MOST: usize = 4;
    if word.len() < 4 || !word.is_ascii() || KNOWN.contains(&word) {
        return vec![word];
    }
    // A German compound may have an s between its parts.
    fn parts(rest: &str, left: usize) -> Option<Vec<String>> {
        if rest.is_empty() {
            return Some(Vec::new());
        }
        if left == 0 {
            return None;
        }
        (2..=rest.len()).rev().find_map(|end| {
            let part = &rest[..end];
            let known = KNOWN.contains(part) && end > 2 || SHORT.contains(&part);
            let tail = &rest[end..];
            let tails = [Some(tail), tail.strip_prefix('s').filter(|tail| !tail.is_empty())];
            if !known {
                return None;
            }
            let mut found = tails.into_iter().flatten().find_map(|tail| parts(tail, left - 1))?;
            found.insert(0, part.to_owned());
            Some(found)
        })
    }
    parts(&word, MOST).unwrap_or_else(|| vec![word])
}
