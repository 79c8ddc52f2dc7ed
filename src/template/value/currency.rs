//! Currencies beside numbers: signs, ISO 4217 codes and common abbreviations, listed in `currency.toml`.

use std::fmt;
use std::sync::LazyLock;

use serde::Deserialize;

/// `currency.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Currencies {
    codes: Vec<String>,
    pub(crate) unmistakable: Vec<String>,
    pub(crate) signs: Vec<Sign>,
}

/// A sign or an abbreviation.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Sign {
    pub(crate) text: String,
    pub(crate) code: Option<String>,
    #[serde(default)]
    pub(crate) ambiguous: bool,
}

pub(crate) static CURRENCIES: LazyLock<Currencies> = LazyLock::new(|| {
    toml::from_str(include_str!("currency.toml")).expect("the file is compiled in, and tests parse it")
});

/// An active ISO 4217 code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Currency([u8; 3]);

impl Currency {
    /// Parses a code in any case, between any white space. Returns `None` for other texts.
    pub fn parse(text: &str) -> Option<Currency> {
        let code = <[u8; 3]>::try_from(text.trim().as_bytes()).ok()?.map(|byte| byte.to_ascii_uppercase());
        is_code(std::str::from_utf8(&code).ok()?).then_some(Currency(code))
    }

    /// Returns the code in upper case.
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).expect("a code consists of ASCII letters")
    }
}

impl fmt::Display for Currency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Strips a currency from the start of `text`, if any.
pub(crate) fn strip_prefix(text: &str) -> Option<&str> {
    if text.as_bytes().first()?.is_ascii_digit() {
        return None;
    }
    if let Some((code, rest)) = text.split_at_checked(3)
        && is_code(code)
    {
        return Some(rest);
    }
    CURRENCIES.signs.iter().find_map(|sign| text.strip_prefix(&sign.text))
}

/// Strips a currency from the end of `text`, if any.
pub(crate) fn strip_suffix(text: &str) -> Option<&str> {
    if text.as_bytes().last()?.is_ascii_digit() {
        return None;
    }
    if let Some((rest, code)) = text.len().checked_sub(3).and_then(|at| text.split_at_checked(at))
        && is_code(code)
    {
        return Some(rest);
    }
    CURRENCIES.signs.iter().find_map(|sign| text.strip_suffix(&sign.text))
}

/// Whether `text` is an ISO 4217 code.
pub(crate) fn is_code(text: &str) -> bool {
    text.bytes().all(|b| b.is_ascii_uppercase())
        && CURRENCIES.codes.binary_search_by(|code| code.as_str().cmp(text)).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_currencies_are_stripped() {
        for text in ["EUR", "US$", "kr.", "SFr.", "R$", "zł", "円", "ZMW", "AED"] {
            assert_eq!(strip_prefix(&format!("{text} 5")), Some(" 5"), "{text}");
            assert_eq!(strip_suffix(&format!("5 {text}")), Some("5 "), "{text}");
        }
        for text in ["", "5", "eur 5", "ABC 5", "é5", "PCS"] {
            assert_eq!(strip_prefix(text), None, "{text}");
        }
        for text in ["", "5", "5 eur", "5 ABC", "5é", "5 pcs"] {
            assert_eq!(strip_suffix(text), None, "{text}");
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
            assert_eq!(Currency::parse(&code.to_lowercase()).expect(code).to_string(), *code);
        }
    }

    #[test]
    fn lists_are_in_lookup_order() {
        assert!(CURRENCIES.codes.is_sorted());
        let signs: Vec<&str> = CURRENCIES.signs.iter().map(|sign| sign.text.as_str()).collect();
        for (index, sign) in signs.iter().enumerate() {
            let hidden = |later: &&&str| later.starts_with(sign) || later.ends_with(sign);
            assert_eq!(signs[index + 1..].iter().find(hidden), None, "{sign}");
        }
    }
}
