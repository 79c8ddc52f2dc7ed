//! Which currency prices are in, by what stands beside them: in a header, in a title, or in the cells.

use super::super::value::currency;

/// What signs stand for. A sign of several currencies stands for the one that uses it the most, which is a guess.
const SIGNS: &[(&str, &str, bool)] = &[
    ("CA$", "CAD", true),
    ("NZ$", "NZD", true),
    ("HK$", "HKD", true),
    ("US$", "USD", true),
    ("MX$", "MXN", true),
    ("R$", "BRL", true),
    ("A$", "AUD", true),
    ("€", "EUR", true),
    ("£", "GBP", false),
    ("￡", "GBP", false),
    ("$", "USD", false),
    ("¥", "JPY", false),
    ("￥", "JPY", false),
    ("円", "JPY", true),
    ("₹", "INR", true),
    ("₽", "RUB", true),
    ("₺", "TRY", true),
    ("₩", "KRW", true),
    ("₪", "ILS", true),
    ("₴", "UAH", true),
    ("₫", "VND", true),
    ("฿", "THB", true),
    ("zł", "PLN", true),
    ("Kč", "CZK", true),
    ("Ft", "HUF", true),
    ("SFr", "CHF", true),
    ("Fr.", "CHF", false),
    ("元", "CNY", true),
];

/// Codes that are known in any case, because no word is written like them.
const USUAL: &[&str] = &[
    "EUR", "USD", "GBP", "CHF", "JPY", "CAD", "AUD", "NZD", "SEK", "NOK", "DKK", "PLN", "CZK", "HUF", "CNY", "INR",
    "BRL", "MXN", "SGD", "HKD", "KRW", "ZAR", "RUB",
];

/// A currency, and whether nothing else can be meant.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Money {
    pub code: String,
    pub sure: bool,
}

/// Whether `text` is the code of a currency.
pub fn is_code(text: &str) -> bool {
    text.len() == 3 && text.bytes().all(|b| b.is_ascii_uppercase()) && currency::strip_prefix(text) == Some("")
}

/// The currency that a header or a title names: `Price (EUR)`, `price_usd`, `Preis €`.
pub fn named(text: &str) -> Option<Money> {
    let shouts = !text.chars().any(char::is_lowercase);
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| word.len() == 3);
    let code = words
        .map(|word| (word, word.to_ascii_uppercase()))
        .find(|(word, upper)| USUAL.contains(&upper.as_str()) || !shouts && *word == upper.as_str() && is_code(word));
    if let Some((_, code)) = code {
        return Some(Money { code, sure: true });
    }
    if text.to_lowercase().split(|c: char| !c.is_alphabetic()).any(|word| matches!(word, "euro" | "euros")) {
        return Some(Money { code: "EUR".to_owned(), sure: true });
    }
    let symbols = SIGNS.iter().filter(|(sign, ..)| !sign.chars().all(|c| c.is_ascii_alphabetic() || c == '.'));
    sign(text, symbols.filter(|(sign, ..)| !matches!(*sign, "zł" | "Kč" | "元")))
}

/// The currency that stands beside a number.
pub fn beside(number: &str) -> Option<Money> {
    let number = number.trim();
    if !number.bytes().any(|b| b.is_ascii_digit()) {
        return None;
    }
    let beside = number.trim_matches(|c: char| c.is_ascii_digit() || ".,-+() '\u{a0}\u{202f}".contains(c));
    if beside.is_empty() || beside.len() > 6 {
        return None;
    }
    if is_code(beside) {
        return Some(Money { code: beside.to_owned(), sure: true });
    }
    let exact = SIGNS.iter().filter(|(sign, ..)| *sign == beside);
    sign(beside, exact)
}

fn sign<'a>(text: &str, mut signs: impl Iterator<Item = &'a (&'a str, &'a str, bool)>) -> Option<Money> {
    let (_, code, sure) = signs.find(|(sign, ..)| text.contains(sign))?;
    Some(Money { code: (*code).to_owned(), sure: *sure })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_tells_the_currency() {
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
        ] {
            assert_eq!(named(header).map(|money| money.code).as_deref(), code, "{header}");
        }
    }

    #[test]
    fn a_cell_tells_the_currency_and_how_surely() {
        let money = |code: &str, sure| Some(Money { code: code.to_owned(), sure });
        assert_eq!(beside("1.234,50 €"), money("EUR", true));
        assert_eq!(beside("$12.00"), money("USD", false));
        assert_eq!(beside("12.00 SEK"), money("SEK", true));
        assert_eq!(beside("CA$ 5"), money("CAD", true));
        assert_eq!(beside("12 pcs"), None);
        assert_eq!(beside("€"), None);
        assert_eq!(beside("12"), None);
    }
}
