//! The language of the text that people read.
//!
//! English is the language of the sources, of what is stored, and of JSON. Text for people is translated where it is shown:
//! [`say!`] formats a sentence in the language of the process, and [`message`] translates a finished one, such as an error. A
//! catalogue is a folder of TOML files with English sentences and their translations; `{0}` stands for the first value of a
//! sentence, `{0|row|rows}` for a form that depends on it.

mod catalogue;
mod sentence;

use std::borrow::Cow;
use std::sync::{LazyLock, OnceLock};

pub use catalogue::Catalogue;

/// A language with its files: sentences, and the words that stand alone.
struct Source {
    name: &'static str,
    sentences: &'static [&'static str],
    words: &'static str,
}

const GERMAN: Source = Source {
    name: "de",
    sentences: &[
        include_str!("de/terminal.toml"),
        include_str!("de/problems.toml"),
        include_str!("de/errors.toml"),
        include_str!("de/templates.toml"),
        include_str!("de/help.toml"),
        include_str!("de/codes.toml"),
        include_str!("de/short.toml"),
        include_str!("de/foreign.toml"),
    ],
    words: include_str!("de/words.toml"),
};

static GERMAN_CATALOGUE: LazyLock<Catalogue> = LazyLock::new(|| Catalogue::new(GERMAN.sentences, GERMAN.words));

/// The language of the process; `None` is English.
static CHOSEN: OnceLock<Option<&'static LazyLock<Catalogue>>> = OnceLock::new();

/// Chooses the language of the process, by a name such as `de` or `de_DE.UTF-8`. Other languages than those of the catalogues
/// are English.
pub fn choose(name: &str) {
    let _ = CHOSEN.set(is_german(name).then_some(&GERMAN_CATALOGUE));
}

fn is_german(name: &str) -> bool {
    name.split(['_', '-', '.', '@']).next().is_some_and(|language| language.eq_ignore_ascii_case(GERMAN.name))
}

/// Returns the catalogue of the process, or `None` for English.
pub fn catalogue() -> Option<&'static Catalogue> {
    CHOSEN.get().copied().flatten().map(|catalogue| &**catalogue)
}

/// Formats a sentence in the language of the process. Takes the arguments of `format!`.
macro_rules! say {
    ($format:literal $($arguments:tt)*) => {
        $crate::language::said($format, format!($format $($arguments)*))
    };
}
pub(crate) use say;

/// Translates `english`, which `format` has made. For [`say!`].
pub fn said(format: &str, english: String) -> String {
    match catalogue() {
        Some(catalogue) => catalogue.said(format, &english).unwrap_or(english),
        None => english,
    }
}

/// Translates a finished sentence, or several that `; ` or `. ` separates. Unknown ones stay as they are.
pub fn message(english: &str) -> Cow<'_, str> {
    match catalogue() {
        Some(catalogue) => catalogue.message(english),
        None => Cow::Borrowed(english),
    }
}

/// Translates what the help has besides the texts of commands, such as `Usage:`.
pub fn help(english: &str) -> Cow<'_, str> {
    catalogue().map_or(Cow::Borrowed(english), |catalogue| catalogue.help(english))
}

/// Translates what is wrong in a command line, line by line.
pub fn usage(english: &str) -> String {
    help(&lines(english)).into_owned()
}

/// Translates a text line by line, such as an error that shows lines of a file.
pub fn lines(english: &str) -> String {
    /// What advice below a line of a file begins with.
    const HELP: &str = "= help: ";
    let line = |line: &str| {
        let text = line.trim_start();
        let text = text.strip_prefix(HELP).unwrap_or(text);
        format!("{}{}", &line[..line.len() - text.len()], message(text))
    };
    english.split('\n').map(line).collect::<Vec<_>>().join("\n")
}

/// Translates a word that stands alone, such as the name of a state.
pub fn word(english: &str) -> &str {
    catalogue().and_then(|catalogue| catalogue.word(english)).unwrap_or(english)
}

/// Returns a number with the separators of the language between thousands.
pub fn thousands(number: u64) -> String {
    grouped(number, if catalogue().is_some() { '.' } else { ',' })
}

/// Returns a number with the separators of English, for JSON and for sentences that are translated where they are shown.
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

/// Returns a count and a noun, such as `2 records`.
pub fn counted(number: u64, noun: &str) -> String {
    let counted = thousands(number);
    match catalogue().and_then(|catalogue| catalogue.noun(noun, number == 1)) {
        Some(noun) => format!("{counted} {noun}"),
        None => counted_in_english(number, noun),
    }
}

/// Returns a noun for several.
pub fn plural(noun: &str) -> String {
    match catalogue().and_then(|catalogue| catalogue.noun(noun, false)) {
        Some(noun) => noun.to_owned(),
        None => format!("{noun}s"),
    }
}

/// Returns a count and a noun in English, for JSON and for sentences that are translated where they are shown.
pub fn counted_in_english(number: u64, noun: &str) -> String {
    format!("{} {noun}{}", thousands_in_english(number), if number == 1 { "" } else { "s" })
}
