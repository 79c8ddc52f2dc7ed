//! The tables, as Rust source.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use crate::files::{FieldWords, Files, LanguageFile, TopicsFile};
use crate::{alternatives, compounds, split};

/// Sorted words.
type Words = BTreeSet<String>;

/// Phrases, each with the number of its topic.
#[derive(Default)]
struct Phrases {
    whole: BTreeMap<String, BTreeSet<usize>>,
    words: BTreeMap<String, BTreeSet<(Vec<String>, usize)>>,
    unspaced: BTreeSet<(String, usize)>,
}

/// A name of a column.
struct Title {
    text: String,
    percent: u8,
    language: &'static str,
    words: Vec<String>,
}

/// Returns the source of the tables, one `static` for each.
pub(crate) fn of(files: &Files) -> String {
    let all = |list: fn(&LanguageFile) -> &Vec<String>| files.languages.iter().flat_map(move |(_, file)| list(file));
    let words = |list: fn(&LanguageFile) -> &Vec<String>| normalized(all(list));
    let as_written = |list: fn(&LanguageFile) -> &Vec<String>| all(list).cloned().collect::<Words>();
    let by_name = |sets: fn(&LanguageFile) -> &BTreeMap<String, Vec<String>>| {
        let mut merged: BTreeMap<&str, Words> = BTreeMap::new();
        for (name, words) in files.languages.iter().flat_map(|(_, file)| sets(file)) {
            merged.entry(name).or_default().extend(normalized(words));
        }
        merged
    };
    let (modifiers, record_words) = (by_name(|file| &file.modifiers), by_name(|file| &file.record_words));
    let articles = words(|file| &file.articles);
    let small: Words = words(|file| &file.small_words).into_iter().chain(articles.iter().cloned()).collect();
    let (neutral, other_topics) = (words(|file| &file.neutral_words), words(|file| &file.other_topics));
    let lists = lists(files);
    let titles = || lists.values().flatten();
    let parts: Words = (neutral.iter().chain(&other_topics))
        .chain(modifiers.values().chain(record_words.values()).flatten())
        .chain(titles().flat_map(|title| &title.words))
        .filter(|word| word.len() >= 2 && word.is_ascii())
        .cloned()
        .collect();
    let mut certainties: BTreeMap<String, u8> = BTreeMap::new();
    for title in titles() {
        let certainty = certainties.entry(title.words.concat()).or_default();
        *certainty = title.percent.max(*certainty);
    }
    let totals = all(|file| &file.total_headers).flat_map(|pattern| alternatives::expand(pattern));
    let totals: Words = totals.map(|name| split::words(&name).concat()).collect();
    let unspaced: Words = other_topics.iter().filter(|word| split::is_unspaced(word)).cloned().collect();

    let mut source = String::new();
    let mut table = |name: &str, kind: &str, value: String| {
        writeln!(source, "pub(crate) static {name}: {kind} = {value};").expect("a text can be written to");
    };
    for (name, set) in [
        ("ARTICLES", articles),
        ("SMALL", small),
        ("NEUTRAL", neutral),
        ("OTHER_TOPICS", other_topics),
        ("UNSPACED_TOPICS", unspaced),
        ("NET", words(|file| &file.net_words)),
        ("GROSS", words(|file| &file.gross_words)),
        ("VALUE_HEADERS", words(|file| &file.value_headers)),
        ("DATE_HEADERS", words(|file| &file.date_headers)),
        ("TOTAL_HEADERS", totals),
        ("NUMBER_HEADERS", number_headers(files, &lists)),
        ("WITHDRAWN", as_written(|file| &file.withdrawn)),
        ("STATUS_VALUES", as_written(|file| &file.status_values)),
        ("PAYMENT_VALUES", as_written(|file| &file.payment_values)),
        ("PLACEHOLDER_HEADERS", as_written(|file| &file.placeholder_headers)),
    ] {
        table(name, "WordSet", word_set(&set));
    }
    for (name, sets) in [("MODIFIERS", &modifiers), ("RECORD_WORDS", &record_words)] {
        let entries = sets.iter().map(|(name, set)| format!("({name:?}, {})", word_set(set)));
        table(name, "Table<WordSet>", slice(entries));
    }
    table("CERTAINTIES", "Table<u8>", slice(certainties.iter().map(|entry| format!("{entry:?}"))));
    table(
        "LISTS",
        "Table<&[ColumnTitle]>",
        slice(lists.iter().map(|(name, titles)| format!("({name:?}, {})", slice(titles.iter().map(title))))),
    );
    table(
        "LANGUAGES",
        "&[LanguageWords]",
        slice(files.languages.iter().map(|(code, file)| language(code, file, &lists))),
    );
    table(
        "KINDS",
        "Table<KindWords>",
        slice(files.fields.iter().map(|(name, kind)| {
            let fields = |fields: &BTreeMap<String, FieldWords>| {
                slice(fields.iter().map(|(name, words)| format!("({name:?}, {})", field(Some(name), words))))
            };
            let group = kind.group.as_ref().map_or("None".to_owned(), |words| format!("Some({})", field(None, words)));
            format!(
                "({name:?}, KindWords {{ fields: {}, lines: {}, group: {group} }})",
                fields(&kind.fields),
                fields(&kind.lines)
            )
        })),
    );
    topics(&files.topics, &parts, &mut table);
    table("PARTS", "WordSet", word_set(&parts));
    source
}

/// Returns the lists of names with all alternatives: language by language, each with its best names first.
fn lists(files: &Files) -> BTreeMap<String, Vec<Title>> {
    let mut lists: BTreeMap<String, Vec<Title>> = BTreeMap::new();
    for (language, file) in &files.languages {
        for (list, by_certainty) in &file.names {
            let mut known = BTreeSet::new();
            let names = lists.entry(list.clone()).or_default();
            for (percent, patterns) in by_certainty.iter().rev() {
                for text in patterns.iter().flat_map(|pattern| alternatives::expand(pattern)) {
                    let words = split::words(&text);
                    if known.insert(words.concat()) {
                        names.push(Title { text, percent: *percent, language, words });
                    }
                }
            }
        }
    }
    lists
}

/// Returns the names of columns of prices, counts and taxes.
fn number_headers(files: &Files, lists: &BTreeMap<String, Vec<Title>>) -> Words {
    const NUMBERS: [&str; 4] = ["price", "tax-rate", "tax-amount", "quantity"];
    let fields = files.fields.values().flat_map(|kind| kind.fields.values().chain(kind.lines.values()));
    let used = fields.filter(|field| NUMBERS.contains(&field.values.as_str()));
    let used: BTreeSet<&String> =
        used.flat_map(|field| field.names.iter().chain(&field.doubtful).chain(&field.ruled_out_by)).collect();
    let titles = lists.iter().filter(|(list, _)| used.contains(list)).flat_map(|(_, titles)| titles);
    titles.map(|title| title.words.concat()).collect()
}

fn normalized<'a>(texts: impl IntoIterator<Item = &'a String>) -> Words {
    texts.into_iter().flat_map(|text| split::words(text)).collect()
}

fn topics(file: &TopicsFile, parts: &Words, table: &mut impl FnMut(&str, &str, String)) {
    let (mut phrases, mut summaries) = (Phrases::default(), Phrases::default());
    for (index, topic) in file.topics.values().enumerate() {
        topic.words.values().flatten().for_each(|pattern| phrases.add(pattern, index, parts));
    }
    file.summaries.values().flatten().for_each(|pattern| summaries.add(pattern, 0, parts));
    table("PHRASES", "Phrases", phrases.source());
    table("SUMMARIES", "Phrases", summaries.source());
    table(
        "TOPICS",
        "&[Topic]",
        slice(file.topics.values().map(|topic| {
            let foreign_to = slice(topic.foreign_to.iter().map(|(kind, beside)| format!("({kind:?}, &{beside:?})")));
            format!(
                "Topic {{ plural: {:?}, foreign_to: {foreign_to}, certain: {:?}, share: {} }}",
                topic.plural, topic.certain, topic.share
            )
        })),
    );
}

impl Phrases {
    fn add(&mut self, pattern: &str, topic: usize, parts: &Words) {
        let (is_whole, pattern) = pattern.strip_prefix('=').map_or((false, pattern), |pattern| (true, pattern));
        for phrase in alternatives::expand(pattern) {
            let words = split::words(&phrase);
            let joined = words.concat();
            if is_whole {
                self.whole.entry(joined).or_default().insert(topic);
            } else if split::is_unspaced(&joined) {
                self.unspaced.insert((joined, topic));
            } else {
                let words: Vec<String> =
                    words.into_iter().flat_map(|word| compounds::split(word, |part| parts.contains(part))).collect();
                if let Some(longest) = words.iter().max_by_key(|word| word.len()) {
                    self.words.entry(longest.clone()).or_default().insert((words.clone(), topic));
                }
            }
        }
    }

    fn source(&self) -> String {
        let whole =
            slice(self.whole.iter().map(|(joined, topics)| format!("({joined:?}, &{:?})", Vec::from_iter(topics))));
        let words = slice(self.words.iter().map(|(longest, phrases)| {
            let phrases = phrases.iter().map(|(words, topic)| format!("(&{words:?}, {topic})"));
            format!("({longest:?}, {})", slice(phrases))
        }));
        let unspaced = slice(self.unspaced.iter().map(|entry| format!("{entry:?}")));
        format!("Phrases {{ whole: {whole}, words: {words}, unspaced: {unspaced} }}")
    }
}

fn language(code: &str, file: &LanguageFile, lists: &BTreeMap<String, Vec<Title>>) -> String {
    let titles = lists.values().flatten().filter(|title| title.language == code);
    let names: Words = titles.map(|title| title.words.concat()).collect();
    let yes_no = slice(file.yes_no.iter().map(|pair| format!("{pair:?}")));
    format!("LanguageWords {{ code: {code:?}, names: {}, yes_no: {yes_no} }}", word_set(&names))
}

/// Returns the words of a field; `own` is its name in the API, if it has one.
fn field(own: Option<&str>, words: &FieldWords) -> String {
    /// Certainty of the own name of a field without other names, an internal id of the service.
    const INTERNAL_ID: u8 = 70;
    let percent = if words.names.is_empty() { INTERNAL_ID } else { 100 };
    // `id` is the first column of every table and does not identify the item of a line.
    let own = own.filter(|name| *name != "id").map(|name| {
        let own = Title { text: name.to_owned(), percent, language: "en", words: split::words(name) };
        title(&own)
    });
    let own = own.map_or("None".to_owned(), |own| format!("Some({own})"));
    let FieldWords { names, doubtful, ruled_out_by, modifiers, values } = words;
    let values: String = values.split('-').map(|word| word[..1].to_uppercase() + &word[1..]).collect();
    format!(
        "FieldWords {{ own: {own}, names: &{names:?}, doubtful: &{doubtful:?}, ruled_out_by: &{ruled_out_by:?}, \
         modifiers: &{modifiers:?}, values: ValueKind::{values} }}"
    )
}

fn title(title: &Title) -> String {
    let Title { text, percent, language, words } = title;
    let certainty = f64::from(*percent) / 100.0;
    format!(
        "ColumnTitle {{ text: {text:?}, certainty: {certainty:?}, language: {language:?}, words: &{words:?}, joined: {:?} }}",
        words.concat()
    )
}

fn word_set(words: &Words) -> String {
    format!("WordSet({})", slice(words.iter().map(|word| format!("{word:?}"))))
}

fn slice(elements: impl Iterator<Item = String>) -> String {
    format!("&[{}]", elements.collect::<Vec<_>>().join(", "))
}
