//! A catalogue: English sentences and their translations, found by their words.

use std::borrow::Cow;
use std::collections::HashMap;

use super::lists;
use super::sentence::{Part, key, parts, values};

/// Sentences within sentences, such as the cause of an error, are translated to this depth.
const MAX_DEPTH: usize = 6;
/// Minimum number of letters outside the values for finding an entry by its words. Shorter entries are found by their format only.
const MIN_LETTERS: usize = 5;

pub struct Catalogue {
    entries: Vec<Entry>,
    by_key: HashMap<String, usize>,
    /// Entries by their rarest word.
    by_word: HashMap<String, Vec<usize>>,
    words: HashMap<String, String>,
    /// Singular and plural, by the English singular.
    nouns: HashMap<String, (String, String)>,
    /// Parts of the help, the longest first.
    help: Vec<(String, String)>,
    /// The English singular of plurals.
    singulars: HashMap<String, String>,
}

struct Entry {
    english: Vec<Part>,
    translated: Vec<Part>,
    /// The translation as written, with `{0}` for a value.
    pattern: String,
    /// The number of letters outside the values. The entry with the highest number fits best.
    weight: usize,
}

impl Entry {
    /// Returns whether the sentence itself has the separator.
    fn english_has(&self, separator: &str) -> bool {
        self.english.iter().any(|part| matches!(part, Part::Text(text) if text.contains(separator)))
    }
}

impl Catalogue {
    /// Reads files of sentences, and one with the tables `words` and `nouns`. The sentences of `formats` are found by their
    /// format only, because finished sentences never contain them.
    pub(super) fn new(sentences: &[&str], formats: &[&str], words: &str) -> Catalogue {
        let mut entries = Vec::new();
        let mut by_key = HashMap::new();
        let mut found_by_words = 0;
        for (number, file) in sentences.iter().chain(formats).enumerate() {
            for (english, translated) in texts(toml::from_str(file).expect("a file of sentences is TOML")) {
                let (english, translated, pattern) = (parts(&english), parts(&translated), translated);
                let weight = english.iter().map(|part| if let Part::Text(text) = part { text.len() } else { 0 }).sum();
                by_key.insert(key(&english), entries.len());
                entries.push(Entry { english, translated, pattern, weight });
            }
            if number < sentences.len() {
                found_by_words = entries.len();
            }
        }
        let mut frequencies: HashMap<String, usize> = HashMap::new();
        for entry in &entries[..found_by_words] {
            for word in certain_words(&entry.english) {
                *frequencies.entry(word.to_owned()).or_default() += 1;
            }
        }
        let mut by_word: HashMap<String, Vec<usize>> = HashMap::new();
        for (place, entry) in entries[..found_by_words].iter().enumerate() {
            // `{0} of {1}` would be found in any text.
            let letters: usize = certain_words(&entry.english).map(str::len).sum();
            if letters < MIN_LETTERS {
                continue;
            }
            let rarest =
                certain_words(&entry.english).min_by_key(|word| (frequencies[*word], std::cmp::Reverse(word.len())));
            if let Some(word) = rarest {
                by_word.entry(word.to_owned()).or_default().push(place);
            }
        }
        let mut tables: toml::Table = toml::from_str(words).expect("the file of words is TOML");
        let mut table = |name: &str| match tables.remove(name) {
            Some(toml::Value::Table(table)) => texts(table).collect::<Vec<_>>(),
            _ => Vec::new(),
        };
        let nouns = table("nouns").into_iter().filter_map(|(english, translated)| {
            let (one, many) = translated.split_once('|')?;
            Some((english, (one.to_owned(), many.to_owned())))
        });
        let nouns: HashMap<_, _> = nouns.collect();
        let plural = |noun: &String| match noun.strip_suffix('y') {
            Some(stem) if !noun.ends_with("ay") => format!("{stem}ies"),
            _ => format!("{noun}s"),
        };
        let singulars = nouns.keys().map(|noun| (plural(noun), noun.clone())).collect();
        let mut help = table("help");
        help.sort_by_key(|(english, _)| std::cmp::Reverse(english.len()));
        Catalogue { entries, by_key, by_word, words: table("words").into_iter().collect(), nouns, singulars, help }
    }

    /// Translates the parts of the help that its generator adds.
    pub fn help<'t>(&self, english: &'t str) -> Cow<'t, str> {
        let replaced = |text: Cow<'t, str>, (part, translated): &(String, String)| match text.contains(part.as_str()) {
            true => Cow::Owned(text.replace(part.as_str(), translated)),
            false => text,
        };
        let text = self.help.iter().fold(Cow::Borrowed(english), replaced);
        // What a value means: `- sent: Accepted`.
        let line = |line: &str| match line.trim_start().strip_prefix("- ").and_then(|rest| rest.split_once(": ")) {
            Some((_, meaning)) => {
                let meaning = meaning.trim();
                format!("{}{}", line.trim_end().trim_end_matches(meaning), self.message(meaning))
            }
            None => line.to_owned(),
        };
        Cow::Owned(text.split('\n').map(line).collect::<Vec<_>>().join("\n"))
    }

    /// Translates a word that stands alone.
    pub fn word(&self, english: &str) -> Option<&str> {
        self.words.get(english).map(String::as_str)
    }

    /// Returns the noun in its form for one or for several.
    pub fn noun(&self, english: &str, is_one: bool) -> Option<&str> {
        let (one, many) = self.nouns.get(english)?;
        Some(if is_one { one } else { many })
    }

    /// Returns a noun by its English singular or plural.
    fn kind(&self, english: &str) -> Option<&str> {
        self.noun(english, true).or_else(|| self.noun(self.singulars.get(english)?, false))
    }

    /// Translates a text that was made by `format`.
    pub fn said(&self, format: &str, english: &str) -> Option<String> {
        let entry = &self.entries[*self.by_key.get(&key(&parts(format)))?];
        self.filled(entry, &values(&entry.english, english)?, 1)
    }

    /// Returns the translation of a sentence with `{0}` for a value, or of a word, as it is in the catalogue.
    pub fn pattern(&self, english: &str) -> Option<&str> {
        let sentence = self.by_key.get(&key(&parts(english))).map(|place| self.entries[*place].pattern.as_str());
        sentence.or_else(|| self.word(english))
    }

    /// Translates a finished sentence.
    pub fn message<'t>(&self, english: &'t str) -> Cow<'t, str> {
        self.translated(english, 0).map_or(Cow::Borrowed(english), Cow::Owned)
    }

    fn translated(&self, english: &str, depth: usize) -> Option<String> {
        if depth > MAX_DEPTH || english.is_empty() {
            return None;
        }
        let whole = self.best(english);
        // Several sentences may match the values of an entry with little text.
        if let Some((entry, values)) = &whole
            && (2 * entry.weight > english.len() || !english.contains("; ") && !english.contains(". "))
        {
            return self.filled(entry, values, depth + 1);
        }
        for (separator, is_list) in [("; ", false), (". ", false), (", ", true)] {
            if let Some(translated) = self.several(english, separator, is_list, depth) {
                return Some(translated);
            }
        }
        whole.and_then(|(entry, values)| self.filled(entry, &values, depth + 1))
    }

    /// Translates sentences joined by a separator. Sentences may contain the separator themselves. Items of a list are translated all or
    /// not at all.
    fn several(&self, english: &str, separator: &str, is_list: bool, depth: usize) -> Option<String> {
        let pieces: Vec<&str> = english.split(separator).collect();
        if pieces.len() < 2 {
            return None;
        }
        let mut translated = Vec::new();
        let (mut at, mut found) = (0, 0);
        while at < pieces.len() {
            let most = if at == 0 { pieces.len() - 1 } else { pieces.len() - at };
            let longest = (1..=most).rev().find_map(|count| {
                let sentence = pieces[at..at + count].join(separator);
                let own = self.best(&sentence).filter(|(entry, _)| count == 1 || entry.english_has(separator));
                let text = match own {
                    Some((entry, values)) => self.filled(entry, &values, depth + 1)?,
                    None if at > 0 && count == 1 => self.behind(separator, &sentence, depth)?,
                    None => return None,
                };
                Some((count, text))
            });
            let (count, text) = match longest {
                Some(known) => {
                    found += 1;
                    known
                }
                None if is_list => return None,
                None => (1, pieces[at].to_owned()),
            };
            translated.push(text);
            at += count;
        }
        (found > 0).then(|| translated.join(separator))
    }

    /// Translates a sentence with an entry that begins with the separator, such as `; did you mean {0}?`.
    fn behind(&self, separator: &str, sentence: &str, depth: usize) -> Option<String> {
        let translated = self.beginning_with(&[separator], &format!("{separator}{sentence}"), depth)?;
        translated.strip_prefix(separator).map(str::to_owned)
    }

    /// Translates a text with an entry that begins with one of `starts`.
    fn beginning_with(&self, starts: &[&str], text: &str, depth: usize) -> Option<String> {
        let (entry, values) = self.best(text)?;
        let Some(Part::Text(first)) = entry.english.first() else { return None };
        let begins = starts.iter().any(|start| first.starts_with(start));
        if begins { self.filled(entry, &values, depth + 1) } else { None }
    }

    /// Returns the best entry for a text, and the values.
    fn best<'t>(&self, english: &'t str) -> Option<(&Entry, Vec<&'t str>)> {
        let mut best: Option<(&Entry, Vec<&'t str>)> = None;
        let mut seen: Vec<usize> = Vec::new();
        for word in words(english) {
            for &place in self.by_word.get(word).into_iter().flatten() {
                let entry = &self.entries[place];
                if best.as_ref().is_some_and(|(best, _)| best.weight >= entry.weight) || seen.contains(&place) {
                    continue;
                }
                seen.push(place);
                if let Some(values) = values(&entry.english, english) {
                    best = Some((entry, values));
                }
            }
        }
        best
    }

    fn filled(&self, entry: &Entry, values: &[&str], depth: usize) -> Option<String> {
        let groups = entry.english.iter().filter_map(|part| match part {
            Part::Values(names) => Some(names),
            _ => None,
        });
        let known: Vec<(&Vec<String>, &str)> = groups.zip(values.iter().copied()).collect();
        let value_of = |wanted: &Vec<String>| known.iter().find(|(names, _)| *names == wanted).map(|(_, value)| *value);
        let mut text = String::new();
        for part in &entry.translated {
            match part {
                Part::Text(part) => text.push_str(part),
                // Quoted values are those of the user.
                Part::Values(names) if text.ends_with(['\'', '`', '„', '"']) => text.push_str(value_of(names)?),
                Part::Values(names) => text.push_str(&self.value(value_of(names)?, depth)),
                Part::Word(value) => {
                    let value = value_of(&vec![value.clone()])?;
                    text.push_str(self.word(value).or_else(|| self.kind(value)).unwrap_or(value));
                }
                Part::Form { value, one, many } => {
                    let value = value_of(&vec![value.clone()])?.trim();
                    text.push_str(if value == "1" || value.starts_with("1 ") { one } else { many });
                }
            }
        }
        Some(text)
    }

    /// Translates a value: a number, a number of things, a sentence, or a list.
    fn value<'t>(&self, value: &'t str, depth: usize) -> Cow<'t, str> {
        if is_grouped(value) {
            return Cow::Owned(value.replace(',', "."));
        }
        if let Some((number, noun)) = value.split_once(' ')
            && number.starts_with(|c: char| c.is_ascii_digit())
            && number.chars().all(|c| c.is_ascii_digit() || c == ',')
            && let Some((one, many)) = self.nouns.get(self.singulars.get(noun).map_or(noun, String::as_str))
        {
            let number = if is_grouped(number) { number.replace(',', ".") } else { number.to_owned() };
            return Cow::Owned(format!("{number} {}", if number == "1" { one } else { many }));
        }
        let list = || {
            let quote =
                |item: &str| self.pattern("'{0}'").map_or(format!("'{item}'"), |quotes| quotes.replace("{0}", item));
            lists::translated(value, |separator| self.word(separator), quote, |tail| self.tail(tail, depth))
        };
        self.translated(value, depth).or_else(list).map_or(Cow::Borrowed(value), Cow::Owned)
    }

    /// Translates the text after a list, whose entries begin with a space or a comma.
    fn tail(&self, text: &str, depth: usize) -> Option<String> {
        if text.is_empty() {
            return Some(String::new());
        }
        let earlier = text.rmatch_indices([' ', ',']).map(|(at, _)| at).filter(|at| *at > 0);
        let mut ends = std::iter::once(text.len()).chain(earlier);
        ends.find_map(|end| {
            let (part, rest) = text.split_at(end);
            Some(self.beginning_with(&[" ", ","], part, depth)? + &self.tail(rest, depth)?)
        })
    }
}

fn texts(table: toml::Table) -> impl Iterator<Item = (String, String)> {
    table.into_iter().filter_map(|(english, translated)| match translated {
        toml::Value::String(translated) => Some((english, translated)),
        _ => None,
    })
}

/// Returns whether a text is a number with separators between thousands: `12,345`.
fn is_grouped(text: &str) -> bool {
    let mut groups = text.split(',');
    let is_number = |group: &str| group.bytes().all(|byte| byte.is_ascii_digit());
    let first = groups.next().is_some_and(|group| (1..=3).contains(&group.len()) && is_number(group));
    let rest: Vec<&str> = groups.collect();
    first && !rest.is_empty() && rest.iter().all(|group| group.len() == 3 && is_number(group))
}

fn words(text: &str) -> impl DoubleEndedIterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty())
}

/// Returns the words present in every text made from the sentence. Words next to a value may be parts of longer words, and are left out.
fn certain_words(sentence: &[Part]) -> impl Iterator<Item = &str> {
    let last = sentence.len().saturating_sub(1);
    sentence.iter().enumerate().flat_map(move |(place, part)| {
        let text = if let Part::Text(text) = part { text.as_str() } else { "" };
        let is_letter = |c: char| c.is_alphanumeric();
        let text = if place > 0 { text.trim_start_matches(is_letter) } else { text };
        words(if place < last { text.trim_end_matches(is_letter) } else { text })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SENTENCES: &str = r#"
"{0} can't be read: {1}" = "{0} ist nicht lesbar: {1}"
"it is empty" = "sie ist leer"
"'{0}' is not a number" = "„{0}“ ist keine Zahl"
"; did you mean {0}?" = "; war {0} gemeint?"
"{0} of {1} left out" = "{0} von {1} {1|ausgelassen|weggelassen}"
"write a number" = "eine Zahl schreiben"
"row {0} has {1}: {2}" = "{1} in Zeile {0}: {2}"
"a column called {0} is needed" = "eine Spalte namens {0} ist nötig"
" or one of {0} more" = " oder eine von {0} weiteren"
" (the nearest is {0})" = " (am nächsten kommt {0})"
"'{0}'" = "„{0}“"
"#;
    const WORDS: &str = "[words]\nsent = \"gesendet\"\n\" or \" = \" oder \"\n[nouns]\nrow = \"Zeile|Zeilen\"\nentry = \"Eintrag|Einträge\"\n";

    #[test]
    fn sentences_are_translated_with_the_sentences_in_them() {
        let catalogue = Catalogue::new(&[SENTENCES], &["\"written as {0}\" = \"geschrieben als {0}\""], WORDS);
        for (english, expected) in [
            ("a.csv can't be read: it is empty", "a.csv ist nicht lesbar: sie ist leer"),
            ("'it is empty' is not a number", "„it is empty“ ist keine Zahl"),
            ("1,234 of 2 rows left out", "1.234 von 2 Zeilen weggelassen"),
            ("3 of 1 entry left out", "3 von 1 Eintrag ausgelassen"),
            ("write a number; it is empty", "eine Zahl schreiben; sie ist leer"),
            ("row 3 has x: y", "x in Zeile 3: y"),
            ("it is empty; did you mean x?; something else", "sie ist leer; war x gemeint?; something else"),
            ("it is empty; row 3 has x: y; write a number", "sie ist leer; x in Zeile 3: y; eine Zahl schreiben"),
            ("written as 3 rows", "written as 3 rows"),
            ("a column called 'a' or 'b' is needed", "eine Spalte namens „a“ oder „b“ ist nötig"),
            (
                "a column called 'a or b' or one of 4 more (the nearest is c) is needed",
                "eine Spalte namens „a or b“ oder eine von 4 weiteren (am nächsten kommt c) ist nötig",
            ),
            ("a column called 'a' or none is needed", "eine Spalte namens 'a' or none ist nötig"),
            ("salt of the sea", "salt of the sea"),
            ("something else", "something else"),
        ] {
            assert_eq!(catalogue.message(english), expected);
        }
        assert_eq!(
            catalogue.said("row {row} has {what}: {}", "row 3 has x: 4,000").as_deref(),
            Some("x in Zeile 3: 4.000")
        );
        assert_eq!(catalogue.said("row {row}", "row 3"), None);
        assert_eq!(catalogue.said("written as {0}", "written as 3 rows").as_deref(), Some("geschrieben als 3 Zeilen"));
        assert_eq!(catalogue.word("sent"), Some("gesendet"));
        assert_eq!(catalogue.pattern("{0} can't be read: {1}"), Some("{0} ist nicht lesbar: {1}"));
        assert_eq!((catalogue.pattern("sent"), catalogue.pattern("{0} sent")), (Some("gesendet"), None));
    }
}
