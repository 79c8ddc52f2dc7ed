//! The vocabulary for matching columns to fields.

use std::collections::HashSet;

use sheetport_records::RecordKind;

use super::tables::{
    ARTICLES, CERTAINTIES, DATE_HEADERS, GROSS, KINDS, LANGUAGES, LISTS, LanguageWords, MODIFIERS, NET, NEUTRAL,
    NUMBER_HEADERS, OTHER_TOPICS, PARTS, PAYMENT_VALUES, PLACEHOLDER_HEADERS, RECORD_WORDS, SMALL, STATUS_VALUES,
    TOTAL_HEADERS, UNSPACED_TOPICS, VALUE_HEADERS, WITHDRAWN, entry,
};
pub use super::tables::{ColumnTitle, FieldWords, KindWords, Language, ValueKind, WordSet};
use super::{compounds, normalize};

/// All words of all languages.
pub struct Vocabulary {
    pub net: WordSet,
    pub gross: WordSet,
    pub articles: WordSet,
    /// Words without a meaning, including the articles.
    pub small: WordSet,
    pub neutral: WordSet,
    pub other_topics: WordSet,
    /// Those of the other topics that are in a script without spaces, for searching within a header.
    pub unspaced_topics: WordSet,
}

/// The words with little effect beside a name of a field.
#[derive(Clone, Debug, Default)]
pub struct Modifiers(Vec<WordSet>);

static VOCABULARY: Vocabulary = Vocabulary {
    net: NET,
    gross: GROSS,
    articles: ARTICLES,
    small: SMALL,
    neutral: NEUTRAL,
    other_topics: OTHER_TOPICS,
    unspaced_topics: UNSPACED_TOPICS,
};

/// Returns the vocabulary.
pub fn vocabulary() -> &'static Vocabulary {
    &VOCABULARY
}

/// Returns the language with the most names of columns among `headers`: at least two, and more than any other language.
pub fn language_of(headers: &[String]) -> Option<Language> {
    let joined: HashSet<String> = headers.iter().map(|header| normalize::words(header).concat()).collect();
    let count =
        |words: &LanguageWords| (joined.iter().filter(|header| words.names.contains(header)).count(), words.code);
    let mut counts: Vec<(usize, Language)> = LANGUAGES.iter().map(count).collect();
    counts.sort_unstable_by(|left, right| right.cmp(left));
    match counts.as_slice() {
        [(most, language), (next, _), ..] if *most >= 2 && most > next => Some(language),
        _ => None,
    }
}

impl Modifiers {
    pub fn contains(&self, word: &str) -> bool {
        self.0.iter().any(|words| words.contains(word))
    }
}

impl KindWords {
    /// Returns the words of a field of the record.
    pub fn field(&'static self, name: &str) -> Option<&'static FieldWords> {
        entry(self.fields, name)
    }

    /// Returns the words of a field of the lines.
    pub fn line(&'static self, name: &str) -> Option<&'static FieldWords> {
        entry(self.lines, name)
    }
}

impl FieldWords {
    /// Returns all names of the field, list by list, and each list language by language.
    pub fn titles(&'static self) -> impl Iterator<Item = &'static ColumnTitle> {
        titles_in(self.names).chain(titles_in(self.doubtful))
    }
}

/// Returns the names of lists, list by list, and each list language by language.
pub fn titles_in(lists: &'static [&'static str]) -> impl Iterator<Item = &'static ColumnTitle> {
    lists.iter().filter_map(|list| entry(LISTS, list)).flat_map(|titles| titles.iter())
}

impl Vocabulary {
    /// Returns the words of a kind of record.
    pub fn kind(&self, kind: RecordKind) -> &'static KindWords {
        entry(KINDS, kind.name()).expect("a test checks that fields.toml has every kind of record")
    }

    pub fn languages(&self) -> impl Iterator<Item = Language> {
        LANGUAGES.iter().map(|words| words.code)
    }

    /// Returns the highest certainty, from 0 to 1, of a name in any list. `joined`: the name as one normalized word.
    pub fn certainty_of(&self, joined: &str) -> Option<f64> {
        entry(CERTAINTIES, joined).map(|percent| f64::from(*percent) / 100.0)
    }

    /// Whether a word may be a part of a compound such as `unitprice`.
    pub fn is_part(&self, word: &str) -> bool {
        PARTS.contains(word)
    }

    /// Splits a compound of known words, such as `unitprice` or `Verkaufspreisnetto`.
    pub fn split_compound(&self, word: String) -> Vec<String> {
        compounds::split(word, |part| self.is_part(part))
    }

    /// Returns the words with little effect beside a name of the field.
    pub fn modifiers(&self, field: &FieldWords, kind: RecordKind) -> Modifiers {
        let sets = field.modifiers.iter().filter_map(|set| entry(MODIFIERS, set));
        Modifiers(sets.chain(entry(RECORD_WORDS, kind.name())).copied().collect())
    }

    /// Whether a normalized word says that a column has codes or numbers of records, in any language.
    pub fn is_code_word(&self, word: &str) -> bool {
        entry(MODIFIERS, "code").is_some_and(|words| words.contains(word))
    }

    /// Returns headers such as "discontinued": "yes" means that the item is not on offer.
    pub fn withdrawn(&self) -> impl Iterator<Item = &'static str> {
        WITHDRAWN.iter()
    }

    /// Whether a header, as one normalized word, names the amount of a whole line or record.
    pub fn is_total_header(&self, joined: &str) -> bool {
        TOTAL_HEADERS.contains(joined)
    }

    /// Whether a header, as one normalized word, names prices, counts or taxes.
    pub fn is_number_header(&self, joined: &str) -> bool {
        NUMBER_HEADERS.contains(joined)
    }

    /// Whether a header, as one normalized word, names the value of a whole row beside a price of one.
    pub fn is_value_header(&self, joined: &str) -> bool {
        VALUE_HEADERS.contains(joined)
    }

    /// Whether a header, as one normalized word, names a date of any kind.
    pub fn is_date_header(&self, joined: &str) -> bool {
        DATE_HEADERS.contains(joined)
    }

    /// Whether a header is a name of the stock of an item, such as `Stock` or `Bestand`, in any language.
    pub fn is_stock_header(&self, header: &str) -> bool {
        let joined = normalize::header(header).words.concat();
        titles_in(&["stock_quantity"]).any(|title| title.joined == joined)
    }

    /// Whether a cell is a usual word for a status.
    pub fn is_status(&self, cell: &str) -> bool {
        STATUS_VALUES.contains(&cell.to_lowercase())
    }

    /// Whether a cell says whether something has been paid for.
    pub fn is_payment(&self, cell: &str) -> bool {
        PAYMENT_VALUES.contains(&cell.trim().to_lowercase())
    }

    /// Whether a word is part of a placeholder such as `Column 1`.
    pub fn is_placeholder(&self, word: &str) -> bool {
        PLACEHOLDER_HEADERS.contains(word)
    }

    /// Returns "no" for "yes" in the same language, and the other way round. A word of several languages, such as "ja", is
    /// one of the sheet's language first.
    pub fn opposite(&self, cell: &str, language: Option<Language>) -> Option<&'static str> {
        let cell = cell.to_lowercase();
        let own = LANGUAGES.iter().filter(|words| Some(words.code) == language);
        own.chain(LANGUAGES).flat_map(|words| words.yes_no).find_map(|(yes, no)| match &cell {
            cell if cell == yes => Some(*no),
            cell if cell == no => Some(*yes),
            _ => None,
        })
    }
}

#[cfg(test)]
#[allow(dead_code, reason = "the build reads all of it")]
#[path = "../build/files.rs"]
mod files;

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, HashSet};
    use std::path::Path;
    use std::sync::LazyLock;

    use sheetport_records::Field;
    use sheetport_values::boolean;

    use super::super::tables::Table;
    use super::files::Files;
    use super::*;

    static FILES: LazyLock<Files> = LazyLock::new(|| Files::read(Path::new(env!("CARGO_MANIFEST_DIR"))));

    /// Every table of fields with its words: the record's fields, and the fields of its lines.
    fn tables(kind: RecordKind) -> [(Vec<&'static Field>, Table<FieldWords>); 2] {
        let (input, words) = (kind.input(), vocabulary().kind(kind));
        let lines = input.lines().map_or(Vec::new(), |(_, fields)| fields.iter().collect());
        [(input.fields().collect(), words.fields), (lines, words.lines)]
    }

    #[test]
    fn every_field_of_every_kind_has_words_and_no_other_field_does() {
        assert_eq!(KINDS.len(), RecordKind::ALL.len());
        for kind in RecordKind::ALL {
            for (fields, words) in tables(*kind) {
                let mut fields: Vec<&str> = fields.iter().map(|field| field.name).collect();
                fields.sort_unstable();
                assert_eq!(words.iter().map(|(name, _)| *name).collect::<Vec<_>>(), fields, "{kind}");
            }
        }
    }

    /// Lists of names that a language may lack, because other lists or the English words suffice.
    const OPTIONAL: [&str; 13] = [
        "external_id",
        "contact",
        "inventory",
        "inventory_type",
        "moved_quantity",
        "generic_inventory",
        "generic_item_number",
        "generic_order_number",
        "order_line_item",
        "order_line_item_name",
        "price_basis",
        "quantity_change",
        "unit_cost",
    ];

    #[test]
    fn every_language_has_names_for_every_field() {
        let mut used: HashSet<&str> = HashSet::new();
        for (_, kind) in KINDS {
            for (_, field) in kind.fields.iter().chain(kind.lines) {
                used.extend(field.names.iter().chain(field.doubtful).chain(field.ruled_out_by));
                for set in field.modifiers {
                    assert!(entry(MODIFIERS, set).is_some(), "{set}");
                }
            }
            used.extend(kind.group.iter().flat_map(|group| group.names));
        }
        let english: HashSet<&str> = FILES.languages[0].1.names.keys().map(String::as_str).collect();
        assert_eq!(english, used, "en.toml has a list for everything");
        for (language, file) in &FILES.languages {
            let unknown: Vec<_> = file.names.keys().filter(|list| !used.contains(list.as_str())).collect();
            assert!(unknown.is_empty(), "{language}: no field uses {unknown:?}");
            let missing = used.iter().filter(|list| !file.names.contains_key(**list));
            let missing: Vec<_> = missing.filter(|list| !OPTIONAL.contains(list)).collect();
            assert!(missing.is_empty(), "{language} has no names for {missing:?}");
            let lists =
                [&file.total_headers, &file.status_values, &file.payment_values, &file.net_words, &file.other_topics];
            for words in lists {
                assert!(!words.is_empty(), "{language}");
            }
            assert!(!file.yes_no.is_empty(), "{language}");
        }
    }

    #[test]
    fn no_list_has_a_duplicate_or_a_certainty_out_of_range() {
        for (language, file) in &FILES.languages {
            for (list, names) in &file.names {
                assert!(names.keys().all(|percent| (1..=100).contains(percent)), "{language}: {list}");
                let mut seen = HashSet::new();
                let mut names = names.values().flatten();
                assert_eq!(names.find(|name| !seen.insert(*name)), None, "{language}: {list}");
            }
            let several = file.other_topics.iter().find(|topic| topic.contains(' '));
            assert_eq!(several, None, "{language}: topics are single words");
        }
    }

    #[test]
    fn no_certain_name_belongs_to_two_fields_of_a_language() {
        let mut several = Vec::new();
        for kind in RecordKind::ALL {
            for (_, words) in tables(*kind) {
                let mut seen: BTreeMap<(Language, &str), (&str, &str)> = BTreeMap::new();
                for (field, words) in words {
                    for list in words.names.iter().chain(words.doubtful) {
                        let titles = entry(LISTS, list).into_iter().flat_map(|titles| titles.iter());
                        for title in titles.filter(|title| title.certainty >= 0.85) {
                            let key = (title.language, title.joined);
                            let (other, other_list) = *seen.entry(key).or_insert((field, list));
                            // A list may be shared whole: an order's line has its tax as an amount or as a rate.
                            if other != *field && other_list != *list {
                                let ColumnTitle { text, language, .. } = title;
                                several.push(format!("{kind}, {language}: {text} in {other_list} and {list}"));
                            }
                        }
                    }
                }
            }
        }
        assert!(several.is_empty(), "{several:#?}");
    }

    #[test]
    fn yes_and_no_of_every_language_are_understood() {
        for LanguageWords { code, yes_no, .. } in LANGUAGES {
            let (yes, no) = yes_no[0];
            assert_eq!((boolean::parse(yes), boolean::parse(no)), (Some(true), Some(false)), "{code}");
            for (yes, no) in *yes_no {
                assert!(boolean::parse(yes) != Some(false) && boolean::parse(no) != Some(true), "{code}: {yes}");
            }
        }
    }

    #[test]
    fn headers_of_withdrawn_items_are_names_of_the_status() {
        let words = vocabulary();
        let active = words.kind(RecordKind::Item).field("status").expect("a field");
        for header in [
            "Utgått",
            "Vervallen",
            "Wycofany",
            "Vyřazeno",
            "Descontinuado",
            "Fuori produzione",
            "Üretimden kalktı",
            "Снят с производства",
            "단종",
        ] {
            let joined = normalize::words(header).concat();
            assert!(active.titles().any(|name| name.joined == joined), "{header} is a name");
            let mut withdrawn = words.withdrawn().map(|word| normalize::words(word).concat());
            assert!(withdrawn.any(|word| word == joined), "{header} means withdrawn");
        }
    }

    #[test]
    fn words_are_read_from_the_files() {
        let words = vocabulary();
        assert!(words.is_status("Draft") && !words.is_status("bolt"));
        assert_eq!(
            (words.opposite("JA", None), words.opposite("no", None), words.opposite("x", None)),
            (Some("nein"), Some("yes"), None)
        );
        assert_eq!((words.opposite("Ja", Some("sv")), words.opposite("no", Some("it"))), (Some("nej"), Some("sì")));
        let price = words.kind(RecordKind::Item).field("price").expect("a field");
        let first = price.titles().next().expect("a name");
        assert_eq!((first.text, first.certainty, first.language), ("price", 1.0, "en"));
        assert!(words.modifiers(price, RecordKind::Item).contains("netto"));
        assert_eq!(words.split_compound("verkaufspreisnetto".to_owned()), ["verkaufspreis", "netto"]);
    }

    /// The build script knows the kinds of values by their names in the file.
    #[test]
    fn headers_of_numbers_are_those_of_fields_with_numbers() {
        let fields = KINDS.iter().flat_map(|(_, kind)| kind.fields.iter().chain(kind.lines)).map(|(_, field)| field);
        let lists = fields
            .filter(|field| field.values.is_number())
            .flat_map(|field| [field.names, field.doubtful, field.ruled_out_by]);
        let names: HashSet<&str> = lists.flat_map(titles_in).map(|title| title.joined).collect();
        assert_eq!(NUMBER_HEADERS.iter().collect::<HashSet<&str>>(), names);
    }

    #[test]
    fn tables_are_sorted_as_they_are_searched() {
        let sets = [ARTICLES, SMALL, NEUTRAL, OTHER_TOPICS, NET, GROSS, TOTAL_HEADERS, NUMBER_HEADERS, PARTS];
        assert!(sets.iter().all(|set| set.0.is_sorted() && set.iter().all(|word| set.contains(word))));
        assert!(LISTS.is_sorted_by_key(|(list, _)| *list) && CERTAINTIES.is_sorted_by_key(|(name, _)| *name));
        assert!(KINDS.iter().all(|(_, kind)| kind.fields.is_sorted_by_key(|(name, _)| *name)));
    }

    #[test]
    fn every_topic_has_words_in_every_language_and_known_kinds_and_fields() {
        let languages: Vec<&str> = vocabulary().languages().collect();
        for topic in FILES.topics.topics.values() {
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
