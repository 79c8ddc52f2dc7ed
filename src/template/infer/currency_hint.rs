//! Finds the currency of prices in a header, a title or a cell.

use super::words::{Language, normalize, vocabulary};
use crate::currency::{CURRENCIES, is_code};

/// A currency found beside prices.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct CurrencyHint {
    pub code: String,
    pub is_certain: bool,
}

/// Finds the currency in a header or a title: `Price (EUR)`, `price_usd`, `Preis €`, `Цена, руб.`. Of words with several
/// meanings, such as `kr`, that of the language counts.
pub(super) fn in_text(text: &str, language: Option<Language>) -> Option<CurrencyHint> {
    let is_upper_case = !text.chars().any(char::is_lowercase);
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| word.len() == 3);
    let code = words.map(|word| (word, word.to_ascii_uppercase())).find(|(word, upper)| {
        CURRENCIES.unmistakable.contains(upper) || !is_upper_case && *word == upper.as_str() && is_code(word)
    });
    if let Some((_, code)) = code {
        return Some(CurrencyHint { code, is_certain: true });
    }
    // Signs made of letters can be parts of words.
    let has_letter = |sign: &str| sign.chars().any(char::is_alphabetic) && !sign.ends_with('$');
    find_sign(|sign| !has_letter(sign) && text.contains(sign)).or_else(|| in_words(text, language))
}

/// Finds the word for a currency. Short words such as `kr` and `fr` only count in their own language.
fn in_words(text: &str, language: Option<Language>) -> Option<CurrencyHint> {
    let is_long = |word: &str| word.chars().count() >= 4 || !word.is_ascii();
    normalize::words(text).iter().find_map(|word| {
        let known = vocabulary().currencies(word);
        let (of, code) = *known.iter().find(|(of, _)| language == Some(*of)).or_else(|| known.first())?;
        let is_certain = language == Some(of);
        (is_certain || is_long(word)).then(|| CurrencyHint { code: code.to_owned(), is_certain })
    })
}

/// Finds the currency in a cell with a number: `12.50 €`.
pub(super) fn beside_number(number: &str) -> Option<CurrencyHint> {
    let number = number.trim();
    if !number.bytes().any(|b| b.is_ascii_digit()) {
        return None;
    }
    let beside = number.trim_matches(|c: char| c.is_ascii_digit() || ".,-+() '\u{a0}\u{202f}".contains(c));
    if beside.is_empty() || beside.len() > 6 {
        return None;
    }
    if is_code(beside) {
        return Some(CurrencyHint { code: beside.to_owned(), is_certain: true });
    }
    find_sign(|sign| sign == beside)
}

fn find_sign(matches: impl Fn(&str) -> bool) -> Option<CurrencyHint> {
    let mut known = CURRENCIES.signs.iter().filter_map(|sign| Some((sign, sign.code?.to_string())));
    let (sign, code) = known.find(|(sign, _)| matches(&sign.text))?;
    Some(CurrencyHint { code, is_certain: !sign.ambiguous })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn currency_is_found_in_headers() {
        for (header, code) in [
            ("Price (EUR)", Some("EUR")),
            ("price_usd", Some("USD")),
            ("PRICE CHF", Some("CHF")),
            ("Preis in €", Some("EUR")),
            ("Precio en euros", Some("EUR")),
            ("Price £", Some("GBP")),
            ("Price TRY", Some("TRY")),
            ("TRY ALL", None),
            ("All prices", None),
            ("Price", None),
            ("販売価格(円)", Some("JPY")),
            ("판매가(원)", Some("KRW")),
            ("Цена, руб.", Some("RUB")),
            ("Frais de port", None),
            ("Pris kr", None),
        ] {
            assert_eq!(in_text(header, None).map(|hint| hint.code).as_deref(), code, "{header}");
        }
    }

    #[test]
    fn short_words_count_in_their_own_language() {
        for (header, language, code) in [
            ("Pris kr", "sv", Some("SEK")),
            ("Pris kr", "de", None),
            ("Cena (zł)", "pl", Some("PLN")),
            ("Cena v Kč", "cs", Some("CZK")),
            ("Fiyat TL", "tr", Some("TRY")),
            ("Preis Fr.", "de", Some("CHF")),
        ] {
            assert_eq!(in_text(header, Some(language)).map(|hint| hint.code).as_deref(), code, "{header}");
        }
    }

    #[test]
    fn currency_is_found_in_cells() {
        let hint = |code: &str, is_certain| Some(CurrencyHint { code: code.to_owned(), is_certain });
        assert_eq!(beside_number("1.234,50 €"), hint("EUR", true));
        assert_eq!(beside_number("$12.00"), hint("USD", false));
        assert_eq!(beside_number("12.00 SEK"), hint("SEK", true));
        assert_eq!(beside_number("CA$ 5"), hint("CAD", true));
        assert_eq!(beside_number("12 pcs"), None);
        assert_eq!(beside_number("€"), None);
        assert_eq!(beside_number("12"), None);
    }
}
