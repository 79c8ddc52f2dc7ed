//! Finds the currency of prices in a header, a title or a cell.

use sheetport_values::currency::{self, CURRENCIES, Currency, CurrencyMark, currency_of_locale, is_code};
use sheetport_words::{Language, normalize};

/// A currency found beside prices.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct CurrencyHint {
    pub code: String,
    pub is_certain: bool,
}

/// Finds the currency in a header or a title: `Price (EUR)`, `price_usd`, `Preis €`, `Цена, руб.`. The language decides about
/// ambiguous words such as `kr`.
pub(crate) fn in_text(text: &str, language: Option<Language>) -> Option<CurrencyHint> {
    let hint = |code: Currency, is_certain| CurrencyHint { code: code.to_string(), is_certain };
    if let Some(mark) = currency::in_header(text) {
        return of_mark(mark);
    }
    let is_upper_case = !text.chars().any(char::is_lowercase);
    let mut codes = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !is_upper_case && is_code(word));
    let code = codes.find_map(Currency::parse);
    code.map(|code| hint(code, true)).or_else(|| {
        normalize::words(text)
            .iter()
            .find_map(|word| in_word(word, language))
            .map(|(code, certain)| hint(code, certain))
    })
}

/// Returns the currency of a code or sign, such as that of a number format.
pub(crate) fn of_mark(mark: CurrencyMark) -> Option<CurrencyHint> {
    let is_certain = match mark {
        CurrencyMark::Code(_) => true,
        CurrencyMark::Sign(sign) => !sign.ambiguous,
    };
    Some(CurrencyHint { code: mark.currency(None)?.to_string(), is_certain })
}

/// Finds the currency of a normalized word of a header, and whether the currency is certain. Short words such as `kr` and `fr`
/// only count in their own language.
fn in_word(word: &str, language: Option<Language>) -> Option<(Currency, bool)> {
    let is_it = |text: &str| normalize::words(text).concat() == word;
    let mut names = CURRENCIES.words.iter().filter(|known| is_it(&known.text)).map(|known| {
        let is_certain = known.headers_of.as_deref().is_none_or(|of| language == Some(of));
        (known.code, is_certain)
    });
    let sign = || CURRENCIES.signs.iter().find(|sign| sign.text.starts_with(char::is_alphabetic) && is_it(&sign.text));
    let regional = language.and_then(currency_of_locale);
    let by_sign = || {
        let mark = CurrencyMark::Sign(sign()?);
        let regional = regional.filter(|regional| mark.can_be(*regional));
        Some((regional.or(mark.currency(None))?, regional.is_some()))
    };
    let (code, is_certain) = names.next().or_else(by_sign)?;
    let is_long = word.chars().count() >= 4 || !word.is_ascii();
    (is_certain || is_long).then_some((code, is_certain))
}

/// Finds the currency in a cell with a number: `12.50 €`.
pub(crate) fn beside_number(number: &str) -> Option<CurrencyHint> {
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
