//! The language of text for people.
//!
//! Sources, stored data and JSON are in English. Text is translated on output: [`say!`] formats a sentence in the language of the
//! process, and [`message`] translates a finished sentence, such as an error. Files can have a different [`Language`]: a report
//! follows its sheet. A catalogue is a folder of TOML files with English sentences and translations. `{0}` stands for the first
//! value of a sentence, and `{0|row|rows}` chooses between singular and plural. This crate knows the codes of problems, and else no sentence
//! and no crate of the program.
//!
//! | file or folder | purpose |
//! |---|---|
//! | `catalogue.rs` | finds the translation of a sentence |
//! | `sentence.rs` | compares a finished sentence with a pattern, and fills in the values |
//! | `lists.rs` | lists within sentences |
//! | `codes.rs` | the explanations of the codes of problems, from `codes.toml` of each language |
//! | `en/`, `de/` | the English explanations, and the German catalogue: a file for each part of the program |
//!
//! # Adding a language
//!
//! A catalogue has a line for each sentence: `"{0} of {1} rows" = "{0} von {1} {1|Zeile|Zeilen}"`. `{0}` may appear anywhere in the
//! translation, and `{_1}` marks a value of the English sentence without a place in it, such as the *s* of a plural. `words.toml` has single
//! words and nouns. Sentences of `reports.toml` are found by their format alone, and may be as short as `{0} rows`. Copy the folder `de`, translate
//! the right sides, and list the files below; the names of the first sheet of reports are in `crates/sheet/src/report_words.toml`. A language
//! is offered once all of its texts are there.
//!
//! # Where text is translated
//!
//! English is the language of the ledger and of JSON because programs compare messages, and because text stored in one language is
//! read in another. Sentences of commands go through [`say!`] and are looked up by format. Problems, warnings, errors and hints come from
//! below as finished sentences: [`message`] compares such a sentence with the entries sharing its rarest word, and the entry with most
//! letters wins. Sentences within sentences are translated, too, such as the cause of an error. Values in quotation marks belong to the user
//! and stay.
//!
//! A report has the language of its sheet: `Translator` in `report` translates the problems, [`say_in!`] the sentences, and the web page
//! says `say("…")` in template and script. The page of `review` has the language of the browser: the words of the page are in
//! `crates/review/src/page/words/`, and `http::translation` there translates the program's words in a response. Single words are
//! translated by [`word`] only, where the code marks labels, because a cell may be called *file* or *all*.
//!
//! Messages have no identifiers: each would be in two places, and a reader of the code would not see the text of the user.
//! `tests/it/house/translations.rs` parses the sources and demands an entry for each sentence with the same values, and a sentence for each
//! entry. `tests/it/house/untranslated.txt` lists sentences still without a translation, `not_translated.toml` sentences without need of translation.

mod catalogue;
mod codes;
mod lists;
mod sentence;

use std::borrow::Cow;
use std::sync::{LazyLock, OnceLock};

pub use catalogue::Catalogue;
pub use codes::Explanation;

/// A language and the files of its catalogue.
struct Source {
    name: &'static str,
    sentences: &'static [&'static str],
    /// Sentences that are found by their format only.
    formats: &'static [&'static str],
    words: &'static str,
}

const GERMAN: Source = Source {
    name: "de",
    sentences: &[
        include_str!("de/terminal.toml"),
        include_str!("de/problems.toml"),
        include_str!("de/errors.toml"),
        include_str!("de/templates.toml"),
        include_str!("de/review.toml"),
        include_str!("de/help.toml"),
        include_str!("de/short.toml"),
        include_str!("de/foreign.toml"),
    ],
    formats: &[include_str!("de/reports.toml")],
    words: include_str!("de/words.toml"),
};

static GERMAN_CATALOGUE: LazyLock<Catalogue> =
    LazyLock::new(|| Catalogue::new(GERMAN.sentences, GERMAN.formats, GERMAN.words));

/// The language of the process.
static CHOSEN: OnceLock<Language> = OnceLock::new();

/// English, or the language of a catalogue.
#[derive(Clone, Copy, Default)]
pub struct Language(Option<&'static LazyLock<Catalogue>>);

impl std::fmt::Debug for Language {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.tag())
    }
}

impl Language {
    /// Returns the language of a name such as `de` or `de_DE.UTF-8`: English for languages without a catalogue.
    pub fn of(name: &str) -> Language {
        let is_german =
            name.split(['_', '-', '.', '@']).next().is_some_and(|language| language.eq_ignore_ascii_case(GERMAN.name));
        Language(is_german.then_some(&GERMAN_CATALOGUE))
    }

    /// Returns the tag of the language, such as `de`.
    pub fn tag(self) -> &'static str {
        if self.is_english() { "en" } else { GERMAN.name }
    }

    pub fn is_english(self) -> bool {
        self.0.is_none()
    }

    /// Returns the catalogue, or `None` for English.
    pub fn catalogue(self) -> Option<&'static Catalogue> {
        self.0.map(|catalogue| &**catalogue)
    }

    /// Translates `english`, which `format` has made. For [`say!`] and [`say_in!`].
    pub fn said(self, format: &str, english: String) -> String {
        match self.catalogue() {
            Some(catalogue) => catalogue.said(format, &english).unwrap_or(english),
            None => english,
        }
    }

    /// Translates finished sentences, separated by `; ` or `. `. Unknown sentences stay English.
    pub fn message(self, english: &str) -> Cow<'_, str> {
        self.catalogue().map_or(Cow::Borrowed(english), |catalogue| catalogue.message(english))
    }

    /// Translates a text line by line, such as an error that shows lines of a file.
    pub fn lines(self, english: &str) -> String {
        /// What advice below a line of a file begins with.
        const HELP: &str = "= help: ";
        let line = |line: &str| {
            let text = line.trim_start();
            let text = text.strip_prefix(HELP).unwrap_or(text);
            format!("{}{}", &line[..line.len() - text.len()], self.message(text))
        };
        english.split('\n').map(line).collect::<Vec<_>>().join("\n")
    }

    /// Translates a single word, such as the name of a state.
    pub fn word(self, english: &str) -> &str {
        self.catalogue().and_then(|catalogue| catalogue.word(english)).unwrap_or(english)
    }

    /// Translates a word or a sentence, with `{0}` in place of its first value.
    pub fn label(self, english: &str) -> &str {
        self.catalogue().and_then(|catalogue| catalogue.pattern(english)).unwrap_or(english)
    }

    /// Returns a number with the separators of the language between thousands.
    pub fn thousands(self, number: u64) -> String {
        grouped(number, if self.is_english() { ',' } else { '.' })
    }

    /// Translates a noun for one thing, such as a kind of record.
    pub fn noun(self, english: &str) -> &str {
        self.catalogue().and_then(|catalogue| catalogue.noun(english, true)).unwrap_or(english)
    }

    /// Returns a count and a noun, such as `2 records`.
    pub fn counted(self, number: u64, noun: &str) -> String {
        match self.catalogue().and_then(|catalogue| catalogue.noun(noun, number == 1)) {
            Some(noun) => format!("{} {noun}", self.thousands(number)),
            None => counted_in_english(number, noun),
        }
    }
}

/// Chooses the language of the process, by a name such as `de` or `de_DE.UTF-8`.
pub fn choose(name: &str) {
    let _ = CHOSEN.set(Language::of(name));
}

/// Returns the language of the process.
pub fn chosen() -> Language {
    CHOSEN.get().copied().unwrap_or_default()
}

/// Returns the catalogue of the process, or `None` for English.
pub fn catalogue() -> Option<&'static Catalogue> {
    chosen().catalogue()
}

/// Formats a sentence in the language of the process. Takes the arguments of `format!`.
#[macro_export]
macro_rules! say {
    ($format:literal $($arguments:tt)*) => {
        $crate::said($format, format!($format $($arguments)*))
    };
}

/// Formats a sentence in a [`Language`]. Takes the language, and the arguments of `format!`.
#[macro_export]
macro_rules! say_in {
    ($language:expr, $format:literal $($arguments:tt)*) => {
        $language.said($format, format!($format $($arguments)*))
    };
}

/// Translates `english`, which `format` has made, to the language of the process. For [`say!`].
pub fn said(format: &str, english: String) -> String {
    chosen().said(format, english)
}

/// Translates a finished sentence to the language of the process.
pub fn message(english: &str) -> Cow<'_, str> {
    chosen().message(english)
}

/// Translates the generated parts of help, such as `Usage:`.
pub fn help(english: &str) -> Cow<'_, str> {
    catalogue().map_or(Cow::Borrowed(english), |catalogue| catalogue.help(english))
}

/// Translates what is wrong in a command line, line by line.
pub fn usage(english: &str) -> String {
    help(&lines(english)).into_owned()
}

/// Translates a text line by line to the language of the process.
pub fn lines(english: &str) -> String {
    chosen().lines(english)
}

/// Translates a single word to the language of the process.
pub fn word(english: &str) -> &str {
    chosen().word(english)
}

/// Returns a number with the separators of the language of the process.
pub fn thousands(number: u64) -> String {
    chosen().thousands(number)
}

/// Returns a number with English separators, for JSON and for sentences to be translated later.
pub fn thousands_in_english(number: u64) -> String {
    grouped(number, ',')
}

fn grouped(number: u64, separator: char) -> String {
    let digits = number.to_string();
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            grouped.push(separator);
        }
        grouped.push(digit);
    }
    grouped
}

/// Returns a number with one decimal.
pub fn tenths(number: f64) -> String {
    let text = format!("{number:.1}");
    if catalogue().is_some() { text.replace('.', ",") } else { text }
}

/// Returns a count and a noun, such as `2 records`, in the language of the process.
pub fn counted(number: u64, noun: &str) -> String {
    chosen().counted(number, noun)
}

/// Returns a noun for several.
pub fn plural(noun: &str) -> String {
    match catalogue().and_then(|catalogue| catalogue.noun(noun, false)) {
        Some(noun) => noun.to_owned(),
        None => format!("{noun}s"),
    }
}

/// Returns a count and a noun in English, for JSON and for sentences to be translated later.
pub fn counted_in_english(number: u64, noun: &str) -> String {
    format!("{} {noun}{}", thousands_in_english(number), if number == 1 { "" } else { "s" })
}
