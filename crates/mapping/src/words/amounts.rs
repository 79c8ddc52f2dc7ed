//! Details about amounts in their headers.

use std::collections::HashSet;
use std::sync::LazyLock;

use regex::Regex;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use sheetport_values::decimal::{self, Decimal};
use sheetport_values::number::{self, NumberError};
use sheetport_words::{normalize, vocabulary};

use super::normalized;

/// `amounts.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Amounts {
    #[serde(deserialize_with = "normalized")]
    measures: HashSet<String>,
    #[serde(deserialize_with = "normalized")]
    not_measures: HashSet<String>,
    #[serde(deserialize_with = "normalized")]
    figures: HashSet<String>,
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
    packs: HashSet<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PriceUnits {
    #[serde(deserialize_with = "normalized")]
    names: HashSet<String>,
    dozens: HashSet<String>,
    counts: HashSet<String>,
    codes: HashSet<String>,
}

/// The unit of the prices below a header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PriceUnit {
    /// Prices must be multiplied by the factor, for the price of one piece in the currency.
    Scale { factor: Decimal, words: String },
    /// Several pieces, by which prices can't be divided exactly, or whose number is not known: a dozen, a box.
    Several(String),
    /// A unit with an unknown relation to the price of one piece, such as a kilogram.
    Unclear(String),
}

impl PriceUnit {
    pub fn is_several(&self) -> bool {
        !matches!(self, PriceUnit::Unclear(_))
    }
}

static AMOUNTS: LazyLock<Amounts> = LazyLock::new(|| {
    toml::from_str(include_str!("amounts.toml")).expect("the file is compiled in, and tests parse it")
});

fn number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Decimal, D::Error> {
    decimal::parse(&String::deserialize(deserializer)?).map_err(D::Error::custom)
}

/// A thousand or a million before a currency: `k€`, `TEUR`, `Mio. USD`.
static MULTIPLE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?:^|[^\p{L}])(k|t|m)\s?(?:€|\$|£|(?:eur|usd|chf|gbp)(?:[^\p{L}]|$))").expect("a constant pattern")
});

/// One of these is in each text that the pattern fits. Compiling it takes longer than checking a small sheet.
const CURRENCIES: [&str; 7] = ["€", "$", "£", "eur", "usd", "chf", "gbp"];

/// Shorter words are not searched for at the end of a compound.
const MIN_OF_COMPOUND: usize = 5;

/// Shorter words do not begin others: `preis` and `preise`, but not `cena` and `cenacle`.
const MIN_OF_TITLE: usize = 5;

/// Returns whether the numbers below a header are certainly amounts, such as prices and weights, and neither codes nor dates.
pub(crate) fn is_measure(header: &str) -> bool {
    let normalize::HeaderWords { words, bracketed } = normalize::header(header);
    let joined = words.concat();
    let ends_with = |word: &String, measure: &String| {
        measure.len() >= MIN_OF_COMPOUND && word.ends_with(measure.as_str())
            || normalize::is_unspaced(measure) && word.contains(measure.as_str())
    };
    if !words.iter().any(|word| AMOUNTS.measures.iter().any(|measure| word == measure || ends_with(word, measure))) {
        return false;
    }
    let is_code = |word: &String| AMOUNTS.not_measures.contains(word) || vocabulary().is_code_word(word);
    let is_other = |word: &String| normalize::is_unspaced(word) && joined.contains(word.as_str());
    !words.iter().chain(bracketed.iter().flatten()).any(is_code) && !AMOUNTS.not_measures.iter().any(is_other)
}

/// Returns whether the cells below a header are certainly numbers: amounts, counts or taxes.
pub(crate) fn is_number_header(header: &str) -> bool {
    is_measure(header) || vocabulary().is_number_header(&normalize::header(header).words.concat())
}

/// Returns the unit of the prices below a header, or `None` for prices of one piece.
pub fn price_unit(header: &str) -> Option<PriceUnit> {
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
            (Some(what), _) if *word == "/" && vocabulary().is_part(&normalize::words(what).concat()) => {}
            (Some(what), _) if is_per && is_pack(what) => return Some(PriceUnit::Several(format!("{word} {what}"))),
            (Some(what), _) if is_per && !is_piece(&what) => return Some(PriceUnit::Unclear(format!("{word} {what}"))),
            _ => {}
        }
    }
    if CURRENCIES.iter().any(|currency| lower.contains(currency))
        && let Some(found) = MULTIPLE.captures(&lower)
    {
        let factor = if &found[1] == "m" { 1_000_000 } else { 1000 };
        return scale(Decimal::from(factor), found[0].trim());
    }
    let has = |known: &&String| {
        if known.starts_with('(') {
            return lower.contains(known.as_str());
        }
        let parts: Vec<&str> = known.split(' ').collect();
        words.windows(parts.len()).any(|window| window == parts)
            || normalize::is_unspaced(known) && known.chars().nth(1).is_some() && lower.contains(known.as_str())
    };
    let known = AMOUNTS.scales.iter().find_map(|scale| Some((scale.factor, scale.words.iter().find(has)?)));
    let dozen = || words.iter().find(|word| AMOUNTS.price_units.dozens.contains(**word));
    known
        .and_then(|(factor, words)| scale(factor, words))
        .or_else(|| dozen().map(|word| PriceUnit::Several((*word).to_owned())))
}

/// Whether a word is for a package, or for a number of pieces: `Karton`, `dozen`.
fn is_pack(word: &str) -> bool {
    AMOUNTS.per.packs.contains(word) || AMOUNTS.price_units.dozens.contains(word)
}

/// Returns the unit of all prices that a line above the header names: `Preise je 100 Stück`, `All amounts in thousand EUR`. A title without
/// a word for amounts is about something else.
pub fn unit_in_title(title: &str) -> Option<PriceUnit> {
    let words = normalize::words(title);
    let is_about_amounts = |word: &String| {
        let begins = |measure: &&String| measure.len() >= MIN_OF_TITLE && word.starts_with(measure.as_str());
        AMOUNTS.measures.iter().chain(&AMOUNTS.figures).any(|measure| begins(&measure) || word == measure)
    };
    price_unit(title).filter(|_| words.iter().any(is_about_amounts))
}

/// Returns the number of pieces per price, if it is a power of ten, so that prices stay exact.
fn count_of(word: &str) -> Option<Decimal> {
    let digits = word.replace(['.', ','], "");
    let is_power =
        digits.strip_prefix('1').is_some_and(|zeros| zeros.len() <= 6 && zeros.bytes().all(|byte| byte == b'0'));
    if is_power { decimal::parse(&digits).ok() } else { None }
}

/// Returns whether a column contains the number of pieces per price for another column. Words in brackets don't count:
/// `Preiseinheit (PE)`.
pub fn is_price_unit_column(header: &str) -> bool {
    AMOUNTS.price_units.names.contains(&normalize::header(header).words.concat())
}

/// Digits, and the letter before them.
static COUNT: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"(\p{L}?)(\d[\d.,]*)").expect("a constant pattern"));

/// Returns whether a cell below the header of a price unit stands for several pieces: `100`, `1.000`, `je 100 Stk`, `C`, `Dutzend`.
/// Units such as `pcs` and `m2` stand for one.
pub fn is_several(cell: &str) -> bool {
    let PriceUnits { dozens, counts, codes, .. } = &AMOUNTS.price_units;
    let mut words =
        cell.split(|c: char| !(c.is_alphanumeric() || matches!(c, '%' | '‰'))).filter(|word| !word.is_empty());
    if words.any(|word| {
        codes.contains(word) || counts.contains(&word.to_lowercase()) || dozens.contains(&word.to_lowercase())
    }) {
        return true;
    }
    COUNT.captures_iter(cell).any(|found| {
        let digits = found[2].trim_end_matches(['.', ',']);
        let is_exponent = !found[1].is_empty() && matches!(digits, "2" | "3");
        let is_alone = digits.len() == cell.trim().len();
        match number::parse(digits, None, None) {
            // A number with decimals is an amount of money.
            Ok(number) if is_alone && !number.fract().is_zero() => false,
            Ok(number) => !is_exponent && number != Decimal::ONE && !number.is_zero(),
            Err(error) => matches!(error, NumberError::Ambiguous(_)),
        }
    })
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
            ("Price (p)", "0.01"),
            ("Price GBX", "0.01"),
            ("Price (paise)", "0.01"),
            ("price_minor_units", "0.01"),
            ("Preis in Rappen", "0.01"),
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
            "Gross price",
            "単価",
        ] {
            assert_eq!(price_unit(header), None, "{header}");
        }
    }

    #[test]
    fn units_of_prices_are_found_in_titles() {
        for title in [
            "Preise je 100 Stück",
            "All prices per 1000 pcs",
            "Alle Angaben in TEUR",
            "Prices in cents",
            "Prix par 100 pièces",
        ] {
            assert!(
                matches!(unit_in_title(title), Some(PriceUnit::Scale { .. })),
                "{title}: {:?}",
                unit_in_title(title)
            );
        }
        for title in [
            "Prices per piece",
            "The top 100 articles",
            "100 pcs",
            "Thousand Islands Ltd.",
            "Preisliste 2026",
            "50 Cent",
        ] {
            assert_eq!(unit_in_title(title), None, "{title}");
        }
    }

    #[test]
    fn columns_of_price_units_are_found_by_their_headers() {
        for header in [
            "PE",
            "Preis-Einheit",
            "Preiseinheit (PE)",
            "Preis je",
            "Preis pro",
            "Price unit",
            "PRICE_UNIT",
            "Price base",
            "Price per",
            "Per",
            "Unit price quantity",
            "Prix par",
            "Prix pour",
            "Unité de prix",
            "Unidad de precio",
            "Precio por",
            "Prezzo per",
            "Unità di prezzo",
            "Unidade de preço",
            "Preço por",
            "Prijseenheid",
            "Prijs per",
            "Cena za",
            "Jednostka ceny",
            "Cenová jednotka",
            "Prisenhet",
            "Pris per",
            "Fiyat birimi",
            "Цена за",
            "Единица цены",
            "価格単位",
            "计价单位",
            "가격 단위",
        ] {
            assert!(is_price_unit_column(header), "{header}");
        }
        for header in [
            "VPE",
            "ME",
            "Unit",
            "UoM",
            "Einheit",
            "Unité",
            "Base price",
            "Price",
            "Preis je Stück",
            "Pack size",
            "単位",
        ] {
            assert!(!is_price_unit_column(header), "{header}");
        }
    }

    #[test]
    fn several_pieces_are_numbers_words_and_codes() {
        for cell in [
            "100",
            "1.000",
            "1,000",
            "je 100 Stk",
            "100er",
            "per100",
            "12 pcs",
            "C",
            "M",
            "per C",
            "CEN",
            "Dutzend",
            "dozen",
            "Dtzd.",
            "%",
            "‰",
            "hundred",
            "Tsd",
            "Tsd.",
            "je Tausend",
            "mille",
            "ciento",
            "тыс.",
            "千個",
        ] {
            assert!(is_several(cell), "{cell}");
        }
        for cell in [
            "", "1", "1,00", "1.0", "0", "pcs", "Stk", "Stück", "kg", "m", "m2", "m²", "cm3", "ST", "EA", "1 kg",
            "10.50", "c", "千克",
        ] {
            assert!(!is_several(cell), "{cell}");
        }
    }
}
