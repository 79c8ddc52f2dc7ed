//! Details about amounts in their headers.

use std::collections::HashSet;
use std::sync::LazyLock;

use regex::Regex;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

use super::normalize;
use super::vocabulary;
use crate::decimal::{self, Decimal};

/// `amounts.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Amounts {
    #[serde(deserialize_with = "normalized")]
    measures: HashSet<String>,
    #[serde(deserialize_with = "normalized")]
    not_measures: HashSet<String>,
    scales: Vec<Scale>,
    per: Per,
    price_units: PriceUnits,
}

/// Words for a part or a multiple of a currency.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Scale {
    #[serde(deserialize_with = "number")]
    factor: Decimal,
    words: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Per {
    words: Vec<String>,
    pieces: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PriceUnits {
    #[serde(deserialize_with = "normalized")]
    names: HashSet<String>,
}

/// The unit of the prices below a header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::template) enum PriceUnit {
    /// Prices must be multiplied by the factor, for the price of one piece in the currency.
    Scale { factor: Decimal, words: String },
    /// A unit with an unknown relation to the price of one piece, such as a kilogram.
    Unclear(String),
}

static AMOUNTS: LazyLock<Amounts> = LazyLock::new(|| {
    toml::from_str(include_str!("amounts.toml")).expect("the file is compiled in, and tests parse it")
});

fn number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Decimal, D::Error> {
    decimal::parse(&String::deserialize(deserializer)?).map_err(D::Error::custom)
}

/// Reads words in the form used for comparing headers.
fn normalized<'de, D: Deserializer<'de>>(deserializer: D) -> Result<HashSet<String>, D::Error> {
    let words = Vec::<String>::deserialize(deserializer)?;
    Ok(words.iter().map(|word| normalize::words(word).concat()).collect())
}

/// A thousand or a million before a currency: `k€`, `TEUR`, `Mio. USD`.
static MULTIPLE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?:^|[^\p{L}])(k|t|m)\s?(?:€|\$|£|(?:eur|usd|chf|gbp)(?:[^\p{L}]|$))").expect("a constant pattern")
});

/// Shorter words are not searched for at the end of a compound.
const MIN_OF_COMPOUND: usize = 5;

/// Returns whether the numbers below a header are certainly amounts, such as prices and weights, and neither codes nor dates.
pub(in crate::template) fn is_measure(header: &str) -> bool {
    let normalize::HeaderWords { words, bracketed } = normalize::header(header);
    let joined = words.concat();
    let is_code = |word: &String| AMOUNTS.not_measures.contains(word) || vocabulary().is_code_word(word);
    let is_other = |word: &&String| normalize::is_unspaced(word) && joined.contains(word.as_str());
    if words.iter().chain(bracketed.iter().flatten()).any(is_code)
        || AMOUNTS.not_measures.iter().any(|word| is_other(&word))
    {
        return false;
    }
    let ends_with = |word: &String, measure: &String| {
        measure.len() >= MIN_OF_COMPOUND && word.ends_with(measure.as_str())
            || normalize::is_unspaced(measure) && word.contains(measure.as_str())
    };
    words.iter().any(|word| AMOUNTS.measures.iter().any(|measure| word == measure || ends_with(word, measure)))
}

/// Returns whether the cells below a header are certainly numbers: amounts, counts or taxes.
pub(in crate::template) fn is_number_header(header: &str) -> bool {
    is_measure(header) || vocabulary().is_number_header(&normalize::header(header).words.concat())
}

/// Returns the unit of the prices below a header, or `None` for prices of one piece.
pub(in crate::template) fn price_unit(header: &str) -> Option<PriceUnit> {
    let lower = header.to_lowercase();
    // A slash counts as a word.
    let spaced = lower.replace('/', " / ");
    let words: Vec<&str> = spaced
        .split(|c: char| !(c.is_alphanumeric() || matches!(c, '/' | '.' | ',')))
        .map(|word| word.trim_matches(['.', ',']))
        .filter(|word| !word.is_empty())
        .collect();
    let is_piece = |word: &&&str| AMOUNTS.per.pieces.iter().any(|piece| piece == **word);
    let scale = |factor: Decimal, words: &str| Some(PriceUnit::Scale { factor, words: words.to_owned() });
    for (index, word) in words.iter().enumerate() {
        let is_per = AMOUNTS.per.words.iter().any(|per| per == word);
        let (what, next) = (words.get(index + usize::from(is_per)), words.get(index + usize::from(is_per) + 1));
        let count = what.and_then(|what| count_of(what));
        match (what, count) {
            // "100 pcs", "per 100", "je 100 Stück"
            (Some(what), Some(count)) if is_per && next.is_none() || next.as_ref().is_some_and(is_piece) => {
                return if count == Decimal::ONE {
                    None
                } else {
                    scale(decimal::divide_exactly(Decimal::ONE, count).ok()?, what)
                };
            }
            // "Preis / Price" is the same in two languages.
            (Some(what), _) if *word == "/" && vocabulary().parts.contains(&normalize::words(what).concat()) => {}
            (Some(what), _) if is_per && !is_piece(&what) => return Some(PriceUnit::Unclear(format!("{word} {what}"))),
            _ => {}
        }
    }
    if let Some(found) = MULTIPLE.captures(&lower) {
        let factor = if &found[1] == "m" { 1_000_000 } else { 1000 };
        return scale(Decimal::from(factor), found[0].trim());
    }
    let has = |known: &&String| {
        words.contains(&known.as_str())
            || normalize::is_unspaced(known) && known.chars().nth(1).is_some() && lower.contains(known.as_str())
    };
    let known = AMOUNTS.scales.iter().find_map(|scale| Some((scale.factor, scale.words.iter().find(has)?)));
    known.and_then(|(factor, words)| scale(factor, words))
}

/// Returns the number of pieces per price, if it is a power of ten, so that prices stay exact.
fn count_of(word: &str) -> Option<Decimal> {
    let digits = word.replace(['.', ','], "");
    let is_power =
        digits.strip_prefix('1').is_some_and(|zeros| zeros.len() <= 6 && zeros.bytes().all(|byte| byte == b'0'));
    if is_power { decimal::parse(&digits).ok() } else { None }
}

/// Returns whether a column contains the number of pieces per price for another column.
pub(in crate::template) fn is_price_unit_column(header: &str) -> bool {
    AMOUNTS.price_units.names.contains(&normalize::words(header).concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_of_amounts_are_distinguished_from_codes() {
        for header in [
            "Weight (kg)",
            "Nettogewicht",
            "Discount %",
            "Cost",
            "Poids",
            "重量(kg)",
            "Цена",
            "List price",
            "ListPrice",
        ] {
            assert!(is_measure(header), "{header}");
        }
        for header in
            ["HS code", "Price group", "Preisgruppe", "Version", "Tax code", "Zolltarifnummer", "Date", "単価区分"]
        {
            assert!(!is_measure(header), "{header}");
        }
    }

    #[test]
    fn units_of_prices_are_found_in_headers() {
        for (header, factor) in [
            ("Price (cents)", "0.01"),
            ("price_cents", "0.01"),
            ("Preis in Cent", "0.01"),
            ("Prix (centimes)", "0.01"),
            ("Price in k€", "1000"),
            ("Preis TEUR", "1000"),
            ("Preis (T€)", "1000"),
            ("Umsatz Mio. EUR", "1000000"),
            ("単価(千円)", "1000"),
            ("Price per 100", "0.01"),
            ("Price / 1000", "0.001"),
            ("Preis je 100 Stück", "0.01"),
            ("Price 100 pcs", "0.01"),
            ("Preis pro 1.000 Stk.", "0.001"),
        ] {
            let factor = decimal::parse(factor).expect("a number");
            let found = price_unit(header);
            assert!(
                matches!(&found, Some(PriceUnit::Scale { factor: found, .. }) if *found == factor),
                "{header}: {found:?}"
            );
        }
        for header in
            ["Price per kg", "Price/m2", "Preis pro Stunde", "Price per 12", "Price per 100 g", "Preis per 01.01.2026"]
        {
            assert!(matches!(price_unit(header), Some(PriceUnit::Unclear(_))), "{header}: {:?}", price_unit(header));
        }
        for header in [
            "Price",
            "Price (EUR)",
            "Price per unit",
            "Price per piece",
            "Preis pro Stück",
            "Price each",
            "Price 2026",
            "単価",
        ] {
            assert_eq!(price_unit(header), None, "{header}");
        }
        assert!(is_price_unit_column("PE") && is_price_unit_column("Preis-Einheit") && !is_price_unit_column("VPE"));
    }
}
