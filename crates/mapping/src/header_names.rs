//! Compares the names of columns with the headers of a sheet. Binding, recognition and inference find columns by these rules alone.
//!
//! A header with the same words counts first, in any case and with any white space. If no header has them, spelling counts as
//! little as it does for a reader: `itemNumber`, `Item_No.`, `*SKU`, `Price (required)`, and letters of another script that look
//! the same.

use std::borrow::Cow;
use std::collections::HashMap;

use icu_normalizer::ComposingNormalizerBorrowed;
use sheetport_words::plain;

use super::column_name::folded_header;

/// Longer headers are texts, which have no other spelling.
const MAX_BYTES: usize = 400;
/// Words after which a number sign adds nothing: `SKU#`.
const NUMBERS: [&str; 14] =
    ["sku", "code", "id", "no", "nr", "num", "number", "ref", "reference", "barcode", "ean", "upc", "gtin", "nummer"];

/// The columns of a sheet by their headers. Wide sheets have thousands, and templates hundreds of names.
#[derive(Clone, Debug, Default)]
pub struct HeaderNames {
    exact: HashMap<String, Vec<usize>>,
    loose: HashMap<String, Vec<usize>>,
}

impl HeaderNames {
    pub fn new<'a>(headers: impl IntoIterator<Item = &'a str>) -> HeaderNames {
        let mut names = HeaderNames::default();
        for (column, header) in headers.into_iter().enumerate() {
            names.exact.entry(folded_header(header)).or_default().push(column);
            names.loose.entry(loose(header)).or_default().push(column);
        }
        names
    }

    /// Returns the columns with the words of a name.
    pub fn exactly(&self, name: &str) -> &[usize] {
        self.exact.get(&folded_header(name)).map_or(&[], Vec::as_slice)
    }

    /// Returns the columns with a name in any spelling.
    pub(crate) fn loosely(&self, name: &str) -> &[usize] {
        let name = loose(name);
        self.loose.get(&name).filter(|_| !name.is_empty()).map_or(&[], Vec::as_slice)
    }

    /// Returns the columns of the first name that is a header, or else of the first that is one in another spelling.
    pub fn find<'n>(&self, names: impl Iterator<Item = &'n str> + Clone) -> &[usize] {
        let exact = names.clone().map(|name| self.exactly(name)).find(|columns| !columns.is_empty());
        let mut loose = names.map(|name| self.loosely(name));
        exact.or_else(|| loose.find(|columns| !columns.is_empty())).unwrap_or_default()
    }
}

/// Converts a header to the form in which all spellings are equal: only letters, digits and signs with a meaning. Separators stay
/// between digits: `Price 1.5` is not `Price 15`.
pub(super) fn loose(header: &str) -> String {
    if header.len() > MAX_BYTES {
        return folded_header(header);
    }
    let plain = plain(header);
    let composed = match plain.is_ascii() {
        true => plain,
        false => Cow::Owned(ComposingNormalizerBorrowed::new_nfkc().normalize(&plain).into_owned()),
    };
    let (mut key, mut is_apart) = (String::with_capacity(composed.len()), false);
    // The last word so far, for the meaning of a number sign.
    let mut word = String::new();
    let mut was_lowercase = false;
    for c in composed.chars() {
        match c {
            // Most letters, without a look at separators and the tables of Unicode.
            'a'..='z' => {
                if is_apart {
                    word.clear();
                }
                (is_apart, was_lowercase) = (false, true);
                word.push(c);
                key.push(c);
            }
            '#' => {
                let is_sign = !key.is_empty() && !NUMBERS.contains(&word.as_str());
                if is_sign {
                    key.push_str("number");
                }
                word.clear();
            }
            c if c.is_whitespace() || "_-–—‐‑.:*;()[]{}（）【】：．＿'’‘ʼ´`".contains(c) => {
                is_apart = true
            }
            c => {
                let is_within_number = is_apart && c.is_numeric() && key.ends_with(char::is_numeric);
                if is_within_number {
                    key.push(' ');
                }
                if is_apart || c.is_uppercase() && was_lowercase {
                    word.clear();
                }
                (is_apart, was_lowercase) = (false, c.is_lowercase());
                word.extend(c.to_lowercase());
                key.extend(c.to_lowercase());
            }
        }
    }
    if key.is_empty() { folded_header(header) } else { key }
}

/// The letters of a name, for comparison with names that may be meant.
#[derive(Debug)]
pub(super) struct Spelling {
    words: Vec<String>,
}

impl Spelling {
    pub(super) fn new(name: &str) -> Spelling {
        let name = plain(name);
        let words = name.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        Spelling { words: words.map(str::to_lowercase).collect() }
    }

    /// Returns whether one name is a misspelling of the other: one letter too many, missing, wrong, or two exchanged, in a word
    /// long enough that hardly another word is so close. `Size` and `Side` are words, and `Price 1` and `Price 2` are two prices.
    pub(super) fn is_off_by_one_letter(&self, other: &Spelling) -> bool {
        /// Shorter words have many others at a distance of one letter.
        const MIN_CHARS: usize = 5;
        if self.words.len() != other.words.len() {
            return false;
        }
        let mut different = self.words.iter().zip(&other.words).filter(|(one, other)| one != other);
        let (Some((one, other)), None) = (different.next(), different.next()) else { return false };
        let digits = |word: &str| word.chars().filter(|c| c.is_numeric()).collect::<String>();
        let length = |word: &str| word.chars().count();
        let (shorter, longer) = if length(one) < length(other) { (one, other) } else { (other, one) };
        // A sale price is no sales price.
        let is_plural = length(shorter) < MIN_CHARS && longer.strip_suffix('s') == Some(shorter);
        (MIN_CHARS..=MAX_BYTES).contains(&length(longer))
            && !is_plural
            && length(one).abs_diff(length(other)) <= 1
            && digits(one) == digits(other)
            && strsim::osa_distance(one, other) == 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_a_header_are_equal() {
        for (one, other) in [
            ("Item number", "itemNumber"),
            ("Item number", "ITEM_NUMBER"),
            ("Item no", "Item-No."),
            ("Item no", "Item.No"),
            ("SKU", "SKU:"),
            ("SKU", "SKU *"),
            ("SKU", "* sku"),
            ("SKU", "#SKU"),
            ("SKU", "SKU#"),
            ("Item SKU", "itemSKU#"),
            ("SKU", "(optional) SKU"),
            ("Item #", "item_#"),
            ("Nom de l'article", "Nom de l’article"),
            ("Item #", "Item number"),
            ("SKU", "SKU (required)"),
            ("SKU", "SKU* [Pflichtfeld]"),
            ("Prix", "Prix (obligatoire)"),
            ("Price (EUR)", "Price (EUR) (required)"),
            ("品番", "品番（必須）"),
            ("Price", "Pri\u{200b}ce"),
            ("Price", "\u{feff}Price\u{a0}"),
            ("Price", "\u{420}rice"),
            ("Unit price", "Unit\u{a0}price"),
            ("Größe", "Gro\u{308}ße"),
            ("ＳＫＵ", "sku"),
        ] {
            assert_eq!(loose(one), loose(other), "{one}, {other}");
        }
        for (one, other) in [
            ("Item", "Item #"),
            ("Price 1.5", "Price 15"),
            ("Q1-2", "Q12"),
            ("Tax", "Tax %"),
            ("Price", "Prices"),
            ("Price", "Price (EUR)"),
            ("Cost/unit", "Cost unit"),
            ("*", "#"),
        ] {
            assert_ne!(loose(one), loose(other), "{one}, {other}");
        }
        assert_eq!(loose("(required)"), "required");
    }

    #[test]
    fn the_same_words_come_before_another_spelling() {
        let headers = HeaderNames::new(["Item_No", "item no", "*Price", "Price*", "SKU"]);
        assert_eq!(headers.find(["Item no"].into_iter()), [1]);
        assert_eq!(headers.find(["Price"].into_iter()), [2, 3]);
        assert_eq!(headers.find(["Item-No", "SKU"].into_iter()), [4], "a header with the same words");
        assert_eq!(headers.find(["Cost"].into_iter()), [0; 0]);
    }

    #[test]
    fn one_letter_off_is_a_misspelling() {
        for (one, other, expected) in [
            ("Price", "Prcie", true),
            ("Price", "Prie", true),
            ("Name", "Nam", false),
            ("Sales price", "Sale price", false),
            ("Price", "Pricee", true),
            ("Unit price", "Unit prcie", true),
            ("Currency", "Curency", true),
            ("Size", "Side", false),
            ("Price 1", "Price 2", false),
            ("Quantity", "Current Quantity", false),
            ("Price", "price", false),
            ("Price10", "Price11", false),
            ("Extra580", "Extra581", false),
        ] {
            let (one, other) = (Spelling::new(one), Spelling::new(other));
            assert_eq!(one.is_off_by_one_letter(&other), expected, "{one:?}, {other:?}");
        }
    }
}
