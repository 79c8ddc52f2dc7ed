//! Numbers displayed with other text by a number format: 5 as `5 kg`, 1299 as `1299.00 cents`, 5000 as `5`.

use std::collections::HashSet;
use std::sync::LazyLock;

use serde::Deserialize;

use super::NumberError;
use crate::currency::{self, CurrencyMark};
use crate::decimal::{self, Decimal};

/// `literal.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Words {
    multiples: HashSet<String>,
    units: HashSet<String>,
}

static WORDS: LazyLock<Words> = LazyLock::new(|| {
    toml::from_str(include_str!("literal.toml")).expect("the file is compiled in, and a test parses it")
});

/// The text displayed beside a number, by its meaning.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Beside {
    pub has_percent_sign: bool,
    pub currency: Option<CurrencyMark>,
    /// A word other than a unit, if any, otherwise a unit of counts and measures.
    pub word: Option<Word>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    pub text: String,
    /// Whether the word is a unit of counts and measures, such as `kg`.
    pub is_unit: bool,
}

/// Reads the text displayed beside `number`. In an amount of money, `t` and `m` are multiples, otherwise units.
///
/// # Errors
/// Fails if the displayed text means more than the number: another number, words, or a multiple such as `cents`.
pub fn beside(number: Decimal, shown: &str, is_money: bool) -> Result<Beside, NumberError> {
    let mut parts: [&str; 2] = around(number.abs(), shown)?.map(str::trim);
    let literal = parts.join(" ").trim().to_owned();
    let mut beside = Beside::default();
    for part in &mut parts {
        let bare = part.trim_matches('%');
        beside.has_percent_sign |= bare.len() < part.len();
        *part = bare;
    }
    let is_separator = |c: char| c.is_whitespace() || "/()[],:;|*+-–—".contains(c);
    let words = parts.into_iter().flat_map(|part| part.split(is_separator));
    let mut words: Vec<&str> =
        words.map(|word| word.trim_matches(['.', '\''])).filter(|word| !word.is_empty()).collect();
    if let Some(at) = words.iter().position(|word| CurrencyMark::parse(word).is_some()) {
        beside.currency = CurrencyMark::parse(words.remove(at));
    }
    for word in words {
        let bare = without_currency(word);
        let is_money = is_money || beside.currency.is_some() || bare != word;
        let bare = bare.to_lowercase();
        let is_unit = WORDS.units.contains(&bare);
        let is_multiple = WORDS.multiples.contains(&bare) && (is_money || !is_unit);
        if is_multiple || !is_unit && bare.bytes().any(|byte| byte.is_ascii_digit()) {
            return Err(NumberError::Multiple(literal));
        }
        let is_unit = is_unit && beside.word.as_ref().is_none_or(|other| other.is_unit);
        beside.word = Some(Word { text: literal.clone(), is_unit });
    }
    Ok(beside)
}

/// Returns the texts before and after the digits of a number.
fn around(number: Decimal, shown: &str) -> Result<[&str; 2], NumberError> {
    let is_digit = |c: char| c.is_ascii_digit() || c == '.';
    let mut from = 0;
    let mut has_digits = false;
    while let Some(start) = shown[from..].find(|c: char| c.is_ascii_digit()).map(|at| from + at) {
        let run = &shown[start..];
        let run = run[..run.find(|c: char| !is_digit(c)).unwrap_or(run.len())].trim_end_matches('.');
        let end = start + run.len();
        let places = run.split_once('.').map_or(0, |(_, decimals)| decimals.len() as u32);
        if decimal::parse(run).is_ok_and(|run| run == decimal::round(number, places)) {
            return Ok([&shown[..start], &shown[end..]]);
        }
        (from, has_digits) = (end, true);
    }
    Err(match has_digits {
        true => NumberError::ShownOther,
        false if shown.trim().is_empty() => NumberError::Hidden,
        false => NumberError::ShownAsText,
    })
}

/// Strips the currency of a word such as `T€`.
fn without_currency(word: &str) -> &str {
    let stripped = currency::strip_suffix(word).or_else(|| currency::strip_prefix(word));
    let code = || word.split_at_checked(word.len().checked_sub(3)?).filter(|(_, code)| currency::is_code(code));
    match stripped.map(|(_, rest)| rest).or_else(|| code().map(|(rest, _)| rest)) {
        Some(rest) if !rest.is_empty() => rest,
        _ => word,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(number: &str, shown: &str) -> Result<Beside, NumberError> {
        beside(decimal::parse(number).expect("a number"), shown, false)
    }

    #[test]
    fn units_and_other_words_stay_beside_the_number() {
        for (number, shown, word, is_unit) in [
            ("5", "5 kg", "kg", true),
            ("5", "5 m", "m", true),
            ("-2.5", "-2.5 m²", "- m²", true),
            ("12.5", "12.50 Stk.", "Stk.", true),
            ("12.5", "12.50 netto", "netto", false),
            ("5", "ca. 5 kg", "ca. kg", false),
        ] {
            let word = Some(Word { text: word.to_owned(), is_unit });
            assert_eq!(read(number, shown), Ok(Beside { word, ..Beside::default() }), "{shown}");
        }
        assert_eq!(read("5", "5"), Ok(Beside::default()));
        assert!(matches!(beside(5.into(), "5 m", true), Err(NumberError::Multiple(_))));
    }

    #[test]
    fn percent_signs_and_currencies_are_read() {
        assert!(read("19", "19%").is_ok_and(|beside| beside.has_percent_sign && beside.word.is_none()));
        let per_kilogram = read("9.5", "9.50 €/kg").expect("a price");
        assert_eq!(per_kilogram.currency, CurrencyMark::parse("€"));
        assert!(per_kilogram.word.is_some_and(|word| word.is_unit));
    }

    #[test]
    fn multiples_words_and_other_numbers_are_errors() {
        for (number, shown) in [
            ("1299", "1299.00 cents"),
            ("12.9", "12.90 T€"),
            ("12.9", "12.90 k€"),
            ("12.9", "TEUR 12.90"),
            ("12.9", "12.90 Mio. €"),
            ("12.5", "12.50 / 100"),
            ("12.5", "12.50 per 100 pcs"),
            ("5", "5‰"),
        ] {
            assert!(matches!(read(number, shown), Err(NumberError::Multiple(_))), "{shown}");
        }
        assert_eq!(read("5000", "5"), Err(NumberError::ShownOther));
        assert_eq!(read("0", "on request"), Err(NumberError::ShownAsText));
        assert_eq!(read("0", " "), Err(NumberError::Hidden));
        assert_eq!(read("2065551234", "(206) 555-1234"), Err(NumberError::ShownOther));
    }

    #[test]
    fn words_are_written_as_they_are_compared() {
        for word in WORDS.multiples.iter().chain(&WORDS.units) {
            assert_eq!(word.to_lowercase().trim_matches('.'), word);
        }
    }
}
