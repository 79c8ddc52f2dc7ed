//! Reduces a header to words, those in brackets apart.

use crate::plain::plain;
use crate::split::{decomposed, split};
pub use crate::split::{is_unspaced, words};

/// The words of a header.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HeaderWords {
    pub words: Vec<String>,
    /// The words of each pair of brackets.
    pub bracketed: Vec<Vec<String>>,
}

/// Splits a header into words. Without words outside of brackets, the first pair of brackets counts as the header.
pub fn header(text: &str) -> HeaderWords {
    let plain = plain(text);
    let plain = decomposed(&plain);
    let (mut outside, mut inside, mut brackets) = (String::new(), String::new(), Vec::new());
    let mut depth = 0usize;
    for c in plain.chars() {
        match c {
            '(' | '[' | '{' | '【' | '〔' | '「' => depth += 1,
            ')' | ']' | '}' | '】' | '〕' | '」' if depth > 0 => {
                depth -= 1;
                if depth == 0 {
                    brackets.push(std::mem::take(&mut inside));
                    outside.push(' ');
                }
            }
            c if depth > 0 => inside.push(c),
            c => outside.push(c),
        }
    }
    if !inside.is_empty() {
        brackets.push(inside);
    }
    let words = split(&outside);
    let mut bracketed: Vec<Vec<String>> =
        brackets.iter().map(|text| split(text)).filter(|words| !words.is_empty()).collect();
    if words.is_empty() && !bracketed.is_empty() {
        return HeaderWords { words: bracketed.remove(0), bracketed };
    }
    HeaderWords { words, bracketed }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(header(text).words.join(" "), expected, "{text}");
    }

    #[test]
    fn case_and_punctuation_are_ignored() {
        check("  Unit Price: ", "unit price");
        check("UNIT-PRICE", "unit price");
        check("list_price", "list price");
        check("Variant Prices", "variant price");
        check("Sales Price", "sales price");
        check("Status", "status");
        check("Taxes", "tax");
    }

    #[test]
    fn camel_case_is_split() {
        check("productID", "product id");
        check("SKUCode", "sku code");
        check("UnitOfMeasure", "unit of measure");
        check("EAN13", "ean 13");
        check("unitsInStock", "unit in stock");
    }

    #[test]
    fn diacritics_and_full_width_forms_are_removed() {
        check("Größe", "grosse");
        check("Référence", "reference");
        check("Código de artículo", "codigo de articulo");
        check("Ｐｒｉｃｅ", "price");
        check("商品コード", "商品コート");
        check("商品コード", &header("商品ｺｰﾄﾞ").words.join(" "));
        check("№", "no");
        check("Reference #", "reference number");
    }

    #[test]
    fn words_in_brackets_are_separate() {
        let header_words = header("Price (EUR) [net]");
        assert_eq!(header_words.words, ["price"]);
        assert_eq!(header_words.bracketed, [vec!["eur".to_owned()], vec!["net".to_owned()]]);
        check("(SKU)", "sku");
        check("販売価格（税込）", "販売価格");
        check("Price (EUR", "price");
        check("))", "");
    }
}
