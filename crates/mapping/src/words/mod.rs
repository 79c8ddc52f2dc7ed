//! The vocabulary for matching columns to fields, read from TOML files: a file for each language, and `fields.toml` with the
//! lists of names of each field.

pub mod alternatives;
pub mod amounts;
pub mod movements;
pub(super) mod no_record;
pub mod normalize;
pub mod total_rows;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{LazyLock, OnceLock};

use serde::Deserialize;
use sheetport_records::RecordKind;

/// The code of a language, such as `de`.
pub type Language = &'static str;

const FIELDS: &str = include_str!("fields.toml");

/// The languages in order of preference, for headers with the same name in several.
const LANGUAGES: [(Language, &str); 15] = [
    ("en", include_str!("languages/en.toml")),
    ("de", include_str!("languages/de.toml")),
    ("fr", include_str!("languages/fr.toml")),
    ("es", include_str!("languages/es.toml")),
    ("ja", include_str!("languages/ja.toml")),
    ("it", include_str!("languages/it.toml")),
    ("pt", include_str!("languages/pt.toml")),
    ("nl", include_str!("languages/nl.toml")),
    ("pl", include_str!("languages/pl.toml")),
    ("cs", include_str!("languages/cs.toml")),
    ("sv", include_str!("languages/sv.toml")),
    ("tr", include_str!("languages/tr.toml")),
    ("ru", include_str!("languages/ru.toml")),
    ("zh", include_str!("languages/zh.toml")),
    ("ko", include_str!("languages/ko.toml")),
];

static VOCABULARY: LazyLock<Vocabulary> =
    LazyLock::new(|| Vocabulary::parse().expect("the files are compiled in, and a test parses them"));

/// Returns the vocabulary; parsed on first use.
pub fn vocabulary() -> &'static Vocabulary {
    &VOCABULARY
}

/// Returns the language with the most names of columns among `headers`: at least two, and more than any other language.
pub fn language_of(headers: &[String]) -> Option<Language> {
    let joined: HashSet<String> = headers.iter().map(|header| normalize::words(header).concat()).collect();
    let count = |(language, lists): &(Language, HashMap<String, Vec<ColumnTitle>>)| {
        let known: HashSet<&str> = lists.values().flatten().map(|title| title.joined.as_str()).collect();
        (joined.iter().filter(|header| known.contains(header.as_str())).count(), *language)
    };
    let mut counts: Vec<(usize, Language)> = vocabulary().names.iter().map(count).collect();
    counts.sort_unstable_by(|left, right| right.cmp(left));
    match counts.as_slice() {
        [(most, language), (next, _), ..] if *most >= 2 && most > next => Some(language),
        _ => None,
    }
}

/// Whether a header is a name of the stock of an item, such as `Stock` or `Bestand`, in any language.
pub fn is_stock_header(header: &str) -> bool {
    let joined = normalize::header(header).words.concat();
    let mut lists = vocabulary().names.iter().filter_map(|(_, lists)| lists.get("stock_quantity"));
    lists.any(|titles| titles.iter().any(|title| title.joined == joined))
}

/// All words of all languages.
pub struct Vocabulary {
    fields: FieldsFile,
    languages: Vec<(Language, LanguageFile)>,
    /// The lists of names of each language, best names first.
    names: Vec<(Language, HashMap<String, Vec<ColumnTitle>>)>,
    /// The highest certainty of each name, as a single word. Filled when it is needed, as are the next two.
    certainties: OnceLock<HashMap<&'static str, f64>>,
    /// Names of columns of prices, counts and taxes, each as a single word.
    number_headers: OnceLock<HashSet<&'static str>>,
    /// Parts of compounds such as `unitprice`.
    parts: OnceLock<HashSet<&'static str>>,
    modifiers: HashMap<String, HashSet<String>>,
    record_words: HashMap<String, HashSet<String>>,
    /// Headers of totals, each as a single word.
    total_headers: HashSet<String>,
    value_headers: HashSet<String>,
    date_headers: HashSet<String>,
    pub net: HashSet<String>,
    pub gross: HashSet<String>,
    pub articles: HashSet<String>,
    /// Words without a meaning, including the articles.
    pub small: HashSet<String>,
    pub neutral: HashSet<String>,
    pub other_topics: HashSet<String>,
}

/// The words with little effect beside a name of a field.
#[derive(Clone, Debug, Default)]
pub struct Modifiers(Vec<&'static HashSet<String>>);

impl Modifiers {
    pub fn contains(&self, word: &str) -> bool {
        self.0.iter().any(|words| words.contains(word))
    }
}

/// `fields.toml`.
#[derive(Deserialize)]
#[serde(transparent)]
struct FieldsFile {
    kinds: BTreeMap<String, KindWords>,
}

/// The names of a kind of record.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KindWords {
    pub fields: BTreeMap<String, FieldWords>,
    #[serde(default)]
    pub lines: BTreeMap<String, FieldWords>,
    pub group: Option<FieldWords>,
}

/// The names of a field.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FieldWords {
    /// Names of lists in the files of the languages.
    pub names: Vec<String>,
    /// Lists of names that often mean something else.
    #[serde(default)]
    pub doubtful: Vec<String>,
    /// Lists of names of numbers without a field, beside which a doubtful name means something else.
    #[serde(default)]
    pub ruled_out_by: Vec<String>,
    modifiers: Vec<String>,
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
    payment_values: Vec<String>,
    placeholder_headers: Vec<String>,
    yes_no: Vec<(String, String)>,
    /// Headers of amounts of a whole line or record.
    total_headers: Vec<String>,
    /// Headers of values of a whole row beside a price of one.
    value_headers: Vec<String>,
    /// Headers of dates of any kind.
    date_headers: Vec<String>,
    net_words: Vec<String>,
    gross_words: Vec<String>,
    /// Words by kind of record.
    record_words: BTreeMap<String, Vec<String>>,
    modifiers: BTreeMap<String, Vec<String>>,
    /// The lists of names, each by certainty in percent.
    names: BTreeMap<String, BTreeMap<u8, Vec<String>>>,
}

/// A name of a column.
#[derive(Clone, Debug)]
pub struct ColumnTitle {
    pub text: String,
    /// Probability, from 0 to 1, of a column with exactly this name being the field.
    pub certainty: f64,
    pub language: Language,
    /// The normalized words.
    pub words: Vec<String>,
    /// All words without spaces.
    pub joined: String,
}

/// The kind of values of a field.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum ValueKind {
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

impl ValueKind {
    pub fn is_number(self) -> bool {
        matches!(self, ValueKind::Price | ValueKind::TaxRate | ValueKind::TaxAmount | ValueKind::Quantity)
    }
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
        let mut modifiers: HashMap<String, HashSet<String>> = HashMap::new();
        let mut record_words: HashMap<String, HashSet<String>> = HashMap::new();
        for (_, file) in &languages {
            for (set, words) in &file.modifiers {
                modifiers.entry(set.clone()).or_default().extend(normalized(words));
            }
            for (kind, words) in &file.record_words {
                record_words.entry(kind.clone()).or_default().extend(normalized(words));
            }
        }
        let names: Vec<_> = languages.iter().map(|(language, file)| (*language, names(language, file))).collect();
        let totals = languages.iter().flat_map(|(_, file)| &file.total_headers);
        let totals = totals.flat_map(|pattern| alternatives::expand(pattern));
        let total_headers = totals.map(|name| normalize::words(&name).concat()).collect();
        let (value_headers, date_headers) = (words(|file| &file.value_headers), words(|file| &file.date_headers));
        let (net, gross) = (words(|file| &file.net_words), words(|file| &file.gross_words));
        Ok(Vocabulary {
            fields,
            languages,
            names,
            certainties: OnceLock::new(),
            number_headers: OnceLock::new(),
            parts: OnceLock::new(),
            modifiers,
            record_words,
            total_headers,
            value_headers,
            date_headers,
            net,
            gross,
            articles,
            small,
            neutral,
            other_topics,
        })
    }

    /// Returns the words of a kind of record.
    pub fn kind(&self, kind: RecordKind) -> &KindWords {
        self.fields.kinds.get(kind.name()).expect("a test checks that fields.toml has every kind of record")
    }

    /// Returns all names of a field.
    pub fn names(&'static self, field: &'static FieldWords) -> impl Iterator<Item = &'static ColumnTitle> {
        self.names_in(&field.names).chain(self.names_in(&field.doubtful))
    }

    /// Returns the names of lists, list by list, and each list language by language.
    pub fn names_in(&'static self, lists: &'static [String]) -> impl Iterator<Item = &'static ColumnTitle> {
        lists.iter().flat_map(|list| self.names.iter().filter_map(move |(_, lists)| lists.get(list))).flatten()
    }

    pub fn languages(&self) -> impl Iterator<Item = Language> {
        self.languages.iter().map(|(language, _)| *language)
    }

    /// Returns the highest certainty of a name, as one normalized word, in any list.
    pub fn certainty_of(&'static self, joined: &str) -> Option<f64> {
        let certainties = self.certainties.get_or_init(|| {
            let mut certainties: HashMap<&str, f64> = HashMap::new();
            for title in self.titles() {
                let certainty = certainties.entry(&title.joined).or_default();
                *certainty = certainty.max(title.certainty);
            }
            certainties
        });
        certainties.get(joined).copied()
    }

    /// Whether a word may be a part of a compound such as `unitprice`.
    pub fn is_part(&'static self, word: &str) -> bool {
        let parts = self.parts.get_or_init(|| {
            let words = self.neutral.iter().chain(&self.other_topics);
            let words = words.chain(self.modifiers.values().chain(self.record_words.values()).flatten());
            let words = words.chain(self.titles().flat_map(|title| &title.words));
            words.map(String::as_str).filter(|word| word.len() >= 2 && word.is_ascii()).collect()
        });
        parts.contains(word)
    }

    /// Returns the names of all columns in all languages.
    fn titles(&'static self) -> impl Iterator<Item = &'static ColumnTitle> {
        self.names.iter().flat_map(|(_, lists)| lists.values()).flatten()
    }

    /// Returns the words with little effect beside a name of the field.
    pub fn modifiers(&'static self, field: &FieldWords, kind: RecordKind) -> Modifiers {
        let sets = field.modifiers.iter().filter_map(|set| self.modifiers.get(set));
        Modifiers(sets.chain(self.record_words.get(kind.name())).collect())
    }

    /// Whether a normalized word says that a column has codes or numbers of records, in any language.
    pub fn is_code_word(&self, word: &str) -> bool {
        self.modifiers.get("code").is_some_and(|words| words.contains(word))
    }

    /// Returns headers such as "discontinued": "yes" means that the item is not on offer.
    pub fn withdrawn(&self) -> impl Iterator<Item = &str> {
        self.all(|file| &file.withdrawn)
    }

    /// Whether a header, as one normalized word, names the amount of a whole line or record.
    pub fn is_total_header(&self, joined: &str) -> bool {
        self.total_headers.contains(joined)
    }

    /// Whether a header, as one normalized word, names prices, counts or taxes.
    pub(super) fn is_number_header(&'static self, joined: &str) -> bool {
        let headers = self.number_headers.get_or_init(|| {
            let fields = self.fields.kinds.values().flat_map(|kind| kind.fields.values().chain(kind.lines.values()));
            let lists = fields
                .filter(|field| field.values.is_number())
                .flat_map(|field| field.names.iter().chain(&field.doubtful).chain(&field.ruled_out_by));
            let lists: HashSet<&String> = lists.collect();
            let titles = self.names.iter().flat_map(|(_, names)| names).filter(|(list, _)| lists.contains(list));
            titles.flat_map(|(_, titles)| titles).map(|title| title.joined.as_str()).collect()
        });
        headers.contains(joined)
    }

    /// Whether a header, as one normalized word, names the value of a whole row beside a price of one.
    pub(super) fn is_value_header(&self, joined: &str) -> bool {
        self.value_headers.contains(joined)
    }

    /// Whether a header, as one normalized word, names a date of any kind.
    pub(super) fn is_date_header(&self, joined: &str) -> bool {
        self.date_headers.contains(joined)
    }

    /// Whether a cell is a usual word for a status.
    pub fn is_status(&self, cell: &str) -> bool {
        let cell = cell.to_lowercase();
        self.all(|file| &file.status_values).any(|word| word == cell)
    }

    /// Whether a cell says whether something has been paid for.
    pub fn is_payment(&self, cell: &str) -> bool {
        let cell = cell.trim().to_lowercase();
        self.all(|file| &file.payment_values).any(|word| word == cell)
    }

    /// Whether a word is part of a placeholder such as `Column 1`.
    pub fn is_placeholder(&self, word: &str) -> bool {
        self.all(|file| &file.placeholder_headers).any(|known| known == word)
    }

    /// Returns "no" for "yes" in the same language, and the other way round. A word of several languages, such as "ja", is
    /// one of the sheet's language first.
    pub fn opposite(&self, cell: &str, language: Option<Language>) -> Option<&str> {
        let cell = cell.to_lowercase();
        let own = self.languages.iter().filter(|(known, _)| Some(*known) == language);
        own.chain(&self.languages).flat_map(|(_, file)| &file.yes_no).find_map(|(yes, no)| match &cell {
            cell if cell == yes => Some(no.as_str()),
            cell if cell == no => Some(yes.as_str()),
            _ => None,
        })
    }

    fn all(&self, list: fn(&LanguageFile) -> &Vec<String>) -> impl Iterator<Item = &str> {
        self.languages.iter().flat_map(move |(_, file)| list(file)).map(String::as_str)
    }
}

impl ColumnTitle {
    pub fn new(text: String, certainty: f64, language: Language) -> ColumnTitle {
        let words = normalize::words(&text);
        ColumnTitle { text, certainty, language, joined: words.concat(), words }
    }
}

/// Returns the lists of names of a language with all alternatives, best names first.
fn names(language: Language, file: &LanguageFile) -> HashMap<String, Vec<ColumnTitle>> {
    let list = |(list, by_certainty): (&String, &BTreeMap<u8, Vec<String>>)| {
        let mut known = HashSet::new();
        let mut names: Vec<ColumnTitle> = Vec::new();
        for (percent, patterns) in by_certainty.iter().rev() {
            let all = patterns.iter().flat_map(|pattern| alternatives::expand(pattern));
            let titles = all.map(|name| ColumnTitle::new(name, f64::from(*percent) / 100.0, language));
            names.extend(titles.filter(|title| known.insert(title.joined.clone())));
        }
        (list.clone(), names)
    };
    file.names.iter().map(list).collect()
}

fn normalized<'a>(texts: impl IntoIterator<Item = &'a String>) -> HashSet<String> {
    texts.into_iter().flat_map(|text| normalize::words(text)).collect()
}

#[cfg(test)]
mod tests {
    use sheetport_records::Field;
    use sheetport_values::boolean;

    use super::*;

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
        let mut used = HashSet::new();
        for kind in vocabulary().fields.kinds.values() {
            for field in kind.fields.values().chain(kind.lines.values()).chain(&kind.group) {
                used.extend(field.names.iter().chain(&field.doubtful).chain(&field.ruled_out_by).cloned());
                for set in &field.modifiers {
                    assert!(vocabulary().modifiers.contains_key(set), "{set}");
                }
            }
        }
        let english: HashSet<String> = file("en").names.keys().cloned().collect();
        assert_eq!(english, used, "en.toml has a list for everything");
        assert_eq!(vocabulary().languages.len(), 15);
        for (language, file) in &vocabulary().languages {
            let unknown: Vec<_> = file.names.keys().filter(|list| !used.contains(*list)).collect();
            assert!(unknown.is_empty(), "{language}: no field uses {unknown:?}");
            let missing = used.iter().filter(|list| !file.names.contains_key(*list));
            let missing: Vec<_> = missing.filter(|list| !OPTIONAL.contains(&list.as_str())).collect();
            assert!(missing.is_empty(), "{language} has no names for {missing:?}");
            let lists =
                [&file.total_headers, &file.status_values, &file.payment_values, &file.net_words, &file.other_topics];
            for words in lists {
                assert!(!words.is_empty(), "{language}");
            }
            assert!(!file.yes_no.is_empty() && total_rows::has_language(language), "{language}");
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
                    for list in words.names.iter().chain(&words.doubtful) {
                        for (language, lists) in &vocabulary().names {
                            let certain = lists.get(list).into_iter().flatten().filter(|title| title.certainty >= 0.85);
                            for title in certain {
                                let key = (*language, title.joined.as_str());
                                let (other, other_list) = *seen.entry(key).or_insert((field, list));
                                // A list may be shared whole: an order's line has its tax as an amount or as a rate.
                                if other != field && other_list != list {
                                    several
                                        .push(format!("{kind}, {language}: {} in {other_list} and {list}", title.text));
                                }
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
        for (language, file) in &vocabulary().languages {
            let (yes, no) = &file.yes_no[0];
            assert_eq!((boolean::parse(yes), boolean::parse(no)), (Some(true), Some(false)), "{language}");
            for (yes, no) in &file.yes_no {
                assert!(boolean::parse(yes) != Some(false) && boolean::parse(no) != Some(true), "{language}: {yes}");
            }
        }
    }

    #[test]
    fn headers_of_withdrawn_items_are_names_of_the_status() {
        let words = vocabulary();
        let active = &words.kind(RecordKind::Item).fields["status"];
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
            assert!(words.names(active).any(|name| name.joined == joined), "{header} is a name");
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
        let price = &words.kind(RecordKind::Item).fields["price"];
        let first = words.names(price).next().expect("a name");
        assert_eq!((first.text.as_str(), first.certainty, first.language), ("price", 1.0, "en"));
        assert!(words.modifiers(price, RecordKind::Item).contains("netto"));
    }
}
