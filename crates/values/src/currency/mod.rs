//! Currencies: ISO 4217 codes, and the signs and words beside amounts, listed in `currency.toml`.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::LazyLock;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Maximum length of a header that can name a currency, in bytes.
const MAX_HEADER: usize = 1000;

/// `currency.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Currencies {
    codes: Vec<Currency>,
    pub unmistakable: Vec<String>,
    pub signs: Vec<Sign>,
    pub words: Vec<Word>,
    /// Currencies without decimals.
    without_decimals: Vec<Currency>,
    /// Words between the name of a price and a currency.
    before_names: Vec<String>,
    /// Currencies with three decimals.
    three_decimals: Vec<Currency>,
    /// Currencies by region or language of a locale.
    regions: BTreeMap<String, Currency>,
}

/// A sign or an abbreviation.
#[derive(Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct Sign {
    pub text: String,
    /// The usual currency.
    pub code: Option<Currency>,
    /// Further currencies with this sign.
    #[serde(default)]
    others: Vec<Currency>,
    #[serde(default)]
    pub ambiguous: bool,
}

/// A name of a currency in some language.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Word {
    pub text: String,
    pub code: Currency,
    /// For a name of several currencies: the language whose headers use the name for this currency.
    pub headers_of: Option<String>,
}

pub static CURRENCIES: LazyLock<Currencies> = LazyLock::new(|| {
    toml::from_str(include_str!("currency.toml")).expect("the file is compiled in, and tests parse it")
});

/// A currency as written beside a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CurrencyMark {
    Code(Currency),
    /// A sign, possibly of several currencies.
    Sign(&'static Sign),
}

impl CurrencyMark {
    /// Parses a code, a sign or a word, such as `eur`, `€` or `Euro`. Returns `None` for other texts.
    pub fn parse(text: &str) -> Option<CurrencyMark> {
        let text = text.trim();
        let sign = || CURRENCIES.signs.iter().find(|sign| sign.text == text).map(CurrencyMark::Sign);
        Currency::parse(text).map(CurrencyMark::Code).or_else(sign).or_else(|| by_name(text).map(CurrencyMark::Code))
    }

    /// Returns all codes and signs.
    pub fn all() -> impl Iterator<Item = CurrencyMark> {
        let codes = CURRENCIES.codes.iter().copied().map(CurrencyMark::Code);
        codes.chain(CURRENCIES.signs.iter().map(CurrencyMark::Sign))
    }

    /// Returns the currency. An ambiguous sign means the currency of the locale's region if possible, or else the most common
    /// currency. Returns `None` if neither is known.
    pub fn currency(self, locale: Option<&str>) -> Option<Currency> {
        match self {
            CurrencyMark::Code(currency) => Some(currency),
            CurrencyMark::Sign(sign) => {
                let regional = locale.and_then(currency_of_locale).filter(|regional| self.can_be(*regional));
                regional.or(sign.code)
            }
        }
    }

    /// Returns the currency like [`CurrencyMark::currency`]. A sign that can stand for `usual` means this currency.
    pub fn currency_with(self, usual: Option<Currency>, locale: Option<&str>) -> Option<Currency> {
        usual.filter(|usual| self.can_be(*usual)).or_else(|| self.currency(locale))
    }

    /// Returns whether the mark can stand for a currency.
    pub fn can_be(self, currency: Currency) -> bool {
        match self {
            CurrencyMark::Code(code) => code == currency,
            CurrencyMark::Sign(sign) => sign.code == Some(currency) || sign.others.contains(&currency),
        }
    }

    /// Returns the usual number of decimals of amounts, or `None` if the possible currencies differ.
    pub fn decimals(self) -> Option<u32> {
        let of = |currency: &Currency| match currency {
            currency if CURRENCIES.without_decimals.contains(currency) => 0,
            currency if CURRENCIES.three_decimals.contains(currency) => 3,
            _ => 2,
        };
        match self {
            CurrencyMark::Code(currency) => Some(of(&currency)),
            CurrencyMark::Sign(sign) => {
                let usual = of(&sign.code?);
                sign.others.iter().all(|other| of(other) == usual).then_some(usual)
            }
        }
    }

    /// Returns whether two marks can stand for the same currency.
    pub fn agrees_with(self, other: CurrencyMark) -> bool {
        match (self, other) {
            (CurrencyMark::Code(currency), mark) | (mark, CurrencyMark::Code(currency)) => mark.can_be(currency),
            (CurrencyMark::Sign(sign), other) => {
                self == other || sign.code.iter().chain(&sign.others).any(|currency| other.can_be(*currency))
            }
        }
    }
}

impl Serialize for CurrencyMark {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for CurrencyMark {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<CurrencyMark, D::Error> {
        let text = <&str>::deserialize(deserializer)?;
        CurrencyMark::parse(text).ok_or_else(|| D::Error::custom(format_args!("'{text}' is not a currency")))
    }
}

impl fmt::Display for CurrencyMark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CurrencyMark::Code(currency) => currency.fmt(f),
            CurrencyMark::Sign(sign) => f.write_str(&sign.text),
        }
    }
}

/// Returns the currency of a locale's region, or else of its language.
pub fn currency_of_locale(locale: &str) -> Option<Currency> {
    let mut parts = locale.split(['-', '_']);
    let language = parts.next()?.to_ascii_lowercase();
    let region = parts.next_back().map(str::to_ascii_uppercase);
    let regions = &CURRENCIES.regions;
    region.and_then(|region| regions.get(&region)).or_else(|| regions.get(&language)).copied()
}

/// An active ISO 4217 code.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[serde(try_from = "String")]
pub struct Currency([u8; 3]);

impl Currency {
    /// Parses a code in any case, between any white space. Returns `None` for other texts.
    pub fn parse(text: &str) -> Option<Currency> {
        let written = <[u8; 3]>::try_from(text.trim().as_bytes()).ok()?;
        // GBp are pence, ZAc South African cents and ILa agorot.
        if let [b'A'..=b'Z', b'A'..=b'Z', b'a'..=b'z'] = written {
            return None;
        }
        let code = written.map(|byte| byte.to_ascii_uppercase());
        Some(Currency(code)).filter(|currency| CURRENCIES.codes.binary_search(currency).is_ok())
    }

    /// Returns the code in upper case.
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).expect("a code consists of ASCII letters")
    }
}

impl TryFrom<String> for Currency {
    type Error = String;

    fn try_from(code: String) -> Result<Currency, String> {
        // Currency::parse would need the list of codes, which is being read here.
        let bytes = <[u8; 3]>::try_from(code.as_bytes()).ok().filter(|bytes| bytes.is_ascii());
        bytes.map(Currency).ok_or_else(|| format!("'{code}' is not a currency code"))
    }
}

impl fmt::Display for Currency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Strips a currency from the start of `text`, if any. Returns the currency and the rest.
pub fn strip_prefix(text: &str) -> Option<(CurrencyMark, &str)> {
    if text.as_bytes().first()?.is_ascii_digit() {
        return None;
    }
    let sign = |sign: &'static Sign| Some((CurrencyMark::Sign(sign), text.strip_prefix(&sign.text)?));
    // Before signs, because Kr is the start of KRW.
    let code = || {
        let (code, rest) = text.split_at_checked(3)?;
        if rest.starts_with(char::is_alphabetic) {
            return None;
        }
        Some((CurrencyMark::Code(upper_case_code(code)?), rest))
    };
    code().or_else(|| CURRENCIES.signs.iter().find_map(sign)).or_else(|| {
        let end = text.find(|c: char| !c.is_alphabetic()).unwrap_or(text.len());
        let (word, rest) = text.split_at(end);
        Some((named(word)?, rest))
    })
}

/// Strips a currency from the end of `text`, if any. Returns the currency and the rest.
pub fn strip_suffix(text: &str) -> Option<(CurrencyMark, &str)> {
    if text.as_bytes().last()?.is_ascii_digit() {
        return None;
    }
    let sign = |sign: &'static Sign| Some((CurrencyMark::Sign(sign), text.strip_suffix(&sign.text)?));
    let code = || {
        let (rest, code) = text.split_at_checked(text.len().checked_sub(3)?)?;
        if rest.ends_with(char::is_alphabetic) {
            return None;
        }
        Some((CurrencyMark::Code(upper_case_code(code)?), rest))
    };
    code().or_else(|| CURRENCIES.signs.iter().find_map(sign)).or_else(|| {
        let start = text
            .rfind(|c: char| !c.is_alphabetic())
            .map_or(0, |at| at + text[at..].chars().next().map_or(1, char::len_utf8));
        let (rest, word) = text.split_at(start);
        Some((named(word)?, rest))
    })
}

/// Returns the currency of a word such as `Euro`, or of an unmistakable code in any case.
fn named(word: &str) -> Option<CurrencyMark> {
    let is_unmistakable = |currency: &Currency| CURRENCIES.unmistakable.iter().any(|code| code == currency.as_str());
    Currency::parse(word).filter(is_unmistakable).or_else(|| by_name(word)).map(CurrencyMark::Code)
}

/// Returns the currency of an unambiguous name in any case.
fn by_name(text: &str) -> Option<Currency> {
    let folded = text.to_lowercase();
    CURRENCIES.words.iter().find(|word| word.headers_of.is_none() && word.text == folded).map(|word| word.code)
}

/// Returns the currency of the amounts below a header such as `Price (EUR)`, `price_usd`, `Preis €` or `Precio en euros`. Returns
/// `None` if the header names no currency, several, or only a possible one, such as `All prices`.
pub fn in_header(header: &str) -> Option<CurrencyMark> {
    // Longer texts are not headers. This check matters because each header is searched once per column name of a template.
    // Nor are numbers, which are most of the cells that are compared.
    if header.len() > MAX_HEADER
        || header.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'.' | b',' | b'-' | b':' | b' '))
    {
        return None;
    }
    let words = header.split(|c: char| !c.is_alphanumeric()).filter_map(named);
    let mut rest = Cow::Borrowed(header);
    // The signs of ASCII all have a dollar.
    let may_have_sign = !header.is_ascii() || header.contains('$');
    let signs = signs_of_headers().filter(|_| may_have_sign).filter(|sign| {
        let is_there = sign.is_in(&rest);
        if is_there {
            // The dollar in `R$` is no sign of its own.
            rest = Cow::Owned(rest.replace(&sign.text, " "));
        }
        is_there
    });
    let mut marks = words.chain(signs.map(CurrencyMark::Sign));
    let first = marks.next()?;
    marks.all(|mark| mark.agrees_with(first)).then_some(first)
}

/// Returns the signs that are recognized in headers: letters alone, such as `kr`, could be part of a word.
fn signs_of_headers() -> impl Iterator<Item = &'static Sign> {
    CURRENCIES.signs.iter().filter(|sign| !sign.text.ends_with(|c: char| c.is_alphabetic() || c == '.'))
}

impl Sign {
    /// Whether a text contains this sign, and not as part of a word.
    fn is_in(&self, text: &str) -> bool {
        let has_letters = self.text.starts_with(char::is_alphabetic);
        text.match_indices(&self.text).any(|(at, _)| !has_letters || !text[..at].ends_with(char::is_alphabetic))
    }
}

/// Returns a header without the currency of the amounts below, folded to lower-case words: `unit price` for `Unit price (EUR)`
/// and for `Unit price in €`. Returns `None` if the header names no currency.
pub fn without_currency(header: &str) -> Option<String> {
    in_header(header)?;
    let mut rest: Vec<String> = Vec::new();
    for word in words_of_header(header) {
        let word = signs_of_headers()
            .filter(|sign| sign.is_in(word))
            .fold(word.to_owned(), |word, sign| word.replace(&sign.text, ""));
        if !word.is_empty() && named(&word).is_none() {
            rest.push(word.to_lowercase());
        }
    }
    // "Price in EUR", "Precio en euros"
    if rest.len() > 1 && rest.last().is_some_and(|last| CURRENCIES.before_names.contains(last)) {
        rest.pop();
    }
    (!rest.is_empty()).then(|| rest.join(" "))
}

fn words_of_header(header: &str) -> impl Iterator<Item = &str> {
    header
        .split(|c: char| c.is_whitespace() || "()[]{}（）【】_-/,:;".contains(c))
        .map(|word| word.trim_matches('.'))
        .filter(|word| !word.is_empty())
}

fn upper_case_code(text: &str) -> Option<Currency> {
    Currency::parse(text).filter(|code| code.as_str() == text)
}

/// Whether `text` is an ISO 4217 code.
pub fn is_code(text: &str) -> bool {
    <[u8; 3]>::try_from(text.as_bytes()).is_ok_and(|code| CURRENCIES.codes.binary_search(&Currency(code)).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_of_ascii_in_headers_have_a_dollar() {
        assert!(signs_of_headers().all(|sign| !sign.text.is_ascii() || sign.text.contains('$')));
    }

    #[test]
    fn whole_currencies_are_stripped() {
        for text in ["EUR", "US$", "kr.", "SFr.", "R$", "zł", "円", "ZMW", "AED", "Euro", "eur", "EURO"] {
            let (mark, rest) =
                strip_prefix(&format!("{text} 5")).map(|(mark, rest)| (mark, rest.to_owned())).expect(text);
            assert_eq!((CurrencyMark::parse(text), rest.as_str()), (Some(mark), " 5"), "{text}");
            let (mark, rest) =
                strip_suffix(&format!("5 {text}")).map(|(mark, rest)| (mark, rest.to_owned())).expect(text);
            assert_eq!((CurrencyMark::parse(text), rest.as_str()), (Some(mark), "5 "), "{text}");
        }
        for text in ["", "5", "top 5", "ABC 5", "é5", "PCS"] {
            assert_eq!(strip_prefix(text), None, "{text}");
        }
        for text in ["", "5", "5 all", "5 ABC", "5é", "5 pcs"] {
            assert_eq!(strip_suffix(text), None, "{text}");
        }
    }

    #[test]
    fn the_region_of_a_locale_chooses_among_currencies_with_the_same_sign() {
        let currency = |sign: &str, locale: Option<&str>| {
            CurrencyMark::parse(sign).expect(sign).currency(locale).map(|currency| currency.to_string())
        };
        for (sign, locale, expected) in [
            ("$", None, Some("USD")),
            ("$", Some("en-CA"), Some("CAD")),
            ("$", Some("de"), Some("USD")),
            ("kr", None, None),
            ("kr", Some("sv"), Some("SEK")),
            ("kr", Some("nb-NO"), Some("NOK")),
            ("¥", Some("zh-CN"), Some("CNY")),
            ("€", Some("en-CA"), Some("EUR")),
            ("Euro", None, Some("EUR")),
        ] {
            assert_eq!(currency(sign, locale).as_deref(), expected, "{sign} {locale:?}");
        }
    }

    #[test]
    fn marks_agree_if_they_can_stand_for_the_same_currency() {
        let mark = |text: &str| CurrencyMark::parse(text).expect(text);
        for (left, right, expected) in [
            ("$", "USD", true),
            ("$", "CAD", true),
            ("$", "€", false),
            ("$", "EUR", false),
            ("EUR", "€", true),
            ("kr", "Kr.", true),
            ("kr", "SEK", true),
            ("$", "CA$", true),
            ("EUR", "USD", false),
        ] {
            assert_eq!(mark(left).agrees_with(mark(right)), expected, "{left} {right}");
            assert_eq!(mark(right).agrees_with(mark(left)), expected, "{right} {left}");
        }
    }

    #[test]
    fn marks_have_the_decimals_of_all_their_currencies() {
        for (text, decimals) in [
            ("JPY", Some(0)),
            ("円", Some(0)),
            ("¥", None),
            ("KWD", Some(3)),
            ("EUR", Some(2)),
            ("$", None),
            ("kr", None),
        ] {
            assert_eq!(CurrencyMark::parse(text).expect(text).decimals(), decimals, "{text}");
        }
    }

    #[test]
    fn currencies_are_iso_codes_in_any_case() {
        for text in ["EUR", "eur", " Eur "] {
            assert_eq!(Currency::parse(text).expect(text).as_str(), "EUR");
        }
        for text in ["", "EU", "EURO", "ABC", "€", "é1", "E R"] {
            assert_eq!(Currency::parse(text), None, "{text}");
        }
        for code in &CURRENCIES.codes {
            assert_eq!(Currency::parse(&code.as_str().to_lowercase()), Some(*code));
        }
    }

    #[test]
    fn lists_are_in_lookup_order() {
        assert!(CURRENCIES.codes.is_sorted());
        let signs = CURRENCIES.signs.iter().flat_map(|sign| sign.code.iter().chain(&sign.others));
        for currency in signs.chain(CURRENCIES.words.iter().map(|word| &word.code)).chain(CURRENCIES.regions.values()) {
            assert!(is_code(currency.as_str()), "{currency}");
        }
        let signs: Vec<&str> = CURRENCIES.signs.iter().map(|sign| sign.text.as_str()).collect();
        for (index, sign) in signs.iter().enumerate() {
            let hidden = |later: &&&str| later.starts_with(sign) || later.ends_with(sign);
            assert_eq!(signs[index + 1..].iter().find(hidden), None, "{sign}");
        }
    }

    #[test]
    fn headers_name_a_currency_or_none() {
        for (header, currency) in [
            ("Price (EUR)", Some("EUR")),
            ("price_usd", Some("USD")),
            ("Preis in €", Some("EUR")),
            ("Precio en euros", Some("EUR")),
            ("Price $", Some("USD")),
            ("Preço (R$)", Some("BRL")),
            ("Precio MX$", Some("MXN")),
            ("Price in US$", Some("USD")),
            ("R$ / €", None),
            ("Preis € / EUR", Some("EUR")),
            ("EUR or USD", None),
            ("All prices", None),
            ("Price TRY", None),
            ("Europe", None),
            ("Price per pound", None),
        ] {
            let found = in_header(header).and_then(|mark| mark.currency(None));
            assert_eq!(found.as_ref().map(Currency::as_str), currency, "{header}");
        }
    }

    #[test]
    fn a_header_without_its_currency_is_a_plain_name() {
        for (header, expected) in [
            ("Unit price (EUR)", Some("unit price")),
            ("Price USD", Some("price")),
            ("Net price EUR", Some("net price")),
            ("Preis in €", Some("preis")),
            ("VK-Preis €", Some("vk preis")),
            ("Precio en euros", Some("precio")),
            ("price_usd", Some("price")),
            ("Price k€", Some("price k")),
            ("Price (R$)", Some("price")),
            ("Price TEUR", None),
            ("EUR", None),
            ("Price", None),
        ] {
            assert_eq!(without_currency(header).as_deref(), expected, "{header}");
        }
    }

    #[test]
    fn a_name_of_several_currencies_counts_in_headers_only() {
        assert_eq!(strip_suffix("5 dollars"), None);
        assert_eq!(CurrencyMark::parse("pounds"), None);
    }
}
