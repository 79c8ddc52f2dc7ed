//! Notation of numbers and dates by locale. The locales are in `locale.toml`.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;
use sheetport_documents::nearest;

/// The separators of a group of locales.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Separators {
    pub names: Vec<String>,
    pub decimal: char,
    /// Group separators. No-break spaces and apostrophes are accepted in every locale.
    pub group: Vec<char>,
    /// Whether digits before the last three form groups of two: `1,23,456`.
    #[serde(default)]
    pub lakh: bool,
}

/// The name for deciding column by column.
pub const AUTO: &str = "auto";

pub type Locale = &'static Separators;

/// The first part of a date.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, PartialOrd, Ord)]
#[serde(rename_all = "lowercase")]
pub enum Order {
    Day,
    Month,
    Year,
}

/// `locale.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Locales {
    pub separators: Vec<Separators>,
    pub(super) arabic: Separators,
    first_part_of_dates: BTreeMap<Order, Vec<String>>,
    languages: BTreeMap<String, Vec<String>>,
}

/// All supported locales.
pub static LOCALES: LazyLock<Locales> =
    LazyLock::new(|| toml::from_str(include_str!("locale.toml")).expect("the file is compiled in, and tests parse it"));

/// Spaces between groups of digits. The plain space comes first.
pub(super) const SPACES: &[char] = &[' ', '\u{a0}', '\u{202f}', '\u{2009}', '\u{2007}'];

pub(super) const APOSTROPHES: &[char] = &['\'', '’'];

/// Returns the separators of a locale.
pub fn find(name: &str) -> Option<Locale> {
    find_in(LOCALES.separators.iter().map(|locale| (locale, &locale.names)), name)
}

/// Returns the order of dates in a locale, or `None` if several are usual.
pub fn order_of(name: &str) -> Option<Order> {
    find_in(LOCALES.first_part_of_dates.iter().map(|(order, names)| (*order, names)), name.trim())
}

/// Returns the locale of a language or country by its name: `de` for `German`.
pub fn of_language(name: &str) -> Option<&'static str> {
    let name = name.trim().to_lowercase();
    let find = |name: &str| {
        let languages = LOCALES.languages.iter();
        languages.filter(|(_, names)| names.iter().any(|known| known == name)).map(|(locale, _)| locale.as_str()).next()
    };
    // German (Germany), english-us
    find(&name).or_else(|| find(name.split(|c: char| !c.is_alphabetic()).next()?))
}

/// Checks the name of a locale, or `auto`. Fails with a suggestion.
pub fn check(name: &str) -> Result<&str, String> {
    if name == AUTO || find(name).is_some() {
        return Ok(name);
    }
    let suggestion = of_language(name).or_else(|| nearest(name, names()));
    Err(match suggestion {
        Some(meant) => format!("it is not a locale; did you mean {meant}?"),
        None => "it is not a locale; examples are auto, en, de and fr-CH".to_owned(),
    })
}

/// Returns the names of all locales with separators.
pub fn names() -> Vec<&'static str> {
    LOCALES.separators.iter().flat_map(|locale| &locale.names).map(String::as_str).collect()
}

/// Looks up a locale by name, or else by language: `de` for `de-DE`.
fn find_in<'a, T>(groups: impl Iterator<Item = (T, &'a Vec<String>)> + Clone, name: &str) -> Option<T> {
    let exact = |name: &str| {
        groups
            .clone()
            .find(|(_, names)| names.iter().any(|known| known.eq_ignore_ascii_case(name)))
            .map(|(found, _)| found)
    };
    let name = name.replace('_', "-");
    exact(&name).or_else(|| name.split_once('-').and_then(|(language, _)| exact(language)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regions_define_the_date_order_but_plain_english_does_not() {
        for (locale, order) in [
            ("de", Some(Order::Day)),
            ("de-CH", Some(Order::Day)),
            ("pt_BR", Some(Order::Day)),
            ("en-GB", Some(Order::Day)),
            ("en_us", Some(Order::Month)),
            ("ja-JP", Some(Order::Year)),
            ("fr-CA", Some(Order::Year)),
            ("en", None),
            ("en-CA", None),
            ("", None),
            ("xx", None),
        ] {
            assert_eq!(order_of(locale), order, "{locale}");
        }
    }
}
