//! What is left of a header when only its words count: lower case, without diacritics, full-width forms and punctuation,
//! `camelCase` and `snake_case` taken apart, plurals undone.

use icu_normalizer::DecomposingNormalizerBorrowed;

/// What stands in a header: its words, and those that stand in brackets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Words {
    pub words: Vec<String>,
    pub asides: Vec<Vec<String>>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Lower,
    Upper,
    Digit,
    /// Letters of scripts that put no spaces between words.
    Unspaced,
}

/// The words of a header, those in brackets apart. Where nothing stands outside of brackets, what is in them counts.
pub fn header(text: &str) -> Words {
    let plain = DecomposingNormalizerBorrowed::new_nfkd().normalize(text);
    let (mut outside, mut inside, mut asides) = (String::new(), String::new(), Vec::new());
    let mut depth = 0usize;
    for c in plain.chars() {
        match c {
            '(' | '[' | '{' | '【' | '〔' | '「' => depth += 1,
            ')' | ']' | '}' | '】' | '〕' | '」' if depth > 0 => {
                depth -= 1;
                if depth == 0 {
                    asides.push(std::mem::take(&mut inside));
                    outside.push(' ');
                }
            }
            c if depth > 0 => inside.push(c),
            c => outside.push(c),
        }
    }
    if !inside.is_empty() {
        asides.push(inside);
    }
    let words = split(&outside);
    let mut asides: Vec<Vec<String>> =
        asides.iter().map(|aside| split(aside)).filter(|aside| !aside.is_empty()).collect();
    if words.is_empty() && !asides.is_empty() {
        return Words { words: asides.remove(0), asides };
    }
    Words { words, asides }
}

/// The words of a text.
pub fn words(text: &str) -> Vec<String> {
    split(&DecomposingNormalizerBorrowed::new_nfkd().normalize(text))
}

/// Whether the word is written in a script that puts no spaces between words.
pub fn is_unspaced(word: &str) -> bool {
    word.chars().any(|c| class(c) == Some(Class::Unspaced))
}

fn split(plain: &str) -> Vec<String> {
    let chars: Vec<char> = plain.chars().filter(|c| !is_mark(*c)).collect();
    let mut words = Vec::new();
    let mut word = String::new();
    for (index, c) in chars.iter().copied().enumerate() {
        let Some(here) = class(c) else {
            // Some write these for a word.
            let sign = match c {
                '#' => "number",
                '%' => "percent",
                _ => "",
            };
            words.extend([std::mem::take(&mut word), sign.to_owned()]);
            continue;
        };
        let before = index.checked_sub(1).and_then(|index| class(chars[index]));
        let after = chars.get(index + 1).copied().and_then(class);
        let begins = match (before, here) {
            (Some(before), here) if before == here => {
                // The last capital of several begins the word that goes on in small letters: SKUCode.
                here == Class::Upper && after == Some(Class::Lower)
            }
            (Some(Class::Upper), Class::Lower) | (None, _) => false,
            (Some(_), _) => true,
        };
        if begins {
            words.push(std::mem::take(&mut word));
        }
        match c {
            'ß' => word.push_str("ss"),
            'æ' | 'Æ' => word.push_str("ae"),
            'œ' | 'Œ' => word.push_str("oe"),
            'ø' | 'Ø' => word.push('o'),
            'ł' | 'Ł' => word.push('l'),
            'đ' | 'Đ' => word.push('d'),
            'ı' => word.push('i'),
            c => word.extend(c.to_lowercase()),
        }
    }
    words.push(word);
    words.retain(|word| !word.is_empty());
    words.into_iter().map(singular).collect()
}

fn class(c: char) -> Option<Class> {
    match c {
        // Kana, ideographs, Hangul, Thai.
        '\u{3041}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '々' => Some(Class::Unspaced),
        '\u{1100}'..='\u{11ff}' | '\u{ac00}'..='\u{d7a3}' | '\u{e00}'..='\u{e7f}' => Some(Class::Unspaced),
        c if c.is_numeric() => Some(Class::Digit),
        c if c.is_uppercase() => Some(Class::Upper),
        c if c.is_alphabetic() => Some(Class::Lower),
        _ => None,
    }
}

/// Marks that a decomposed letter leaves behind, and what has no width at all.
fn is_mark(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}' | '\u{3099}' | '\u{309a}' | '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{feff}')
}

/// Undoes the plural `s`. "Sales" stays: a sales price is not what a sale price is.
fn singular(word: String) -> String {
    let keeps = ["ss", "us", "is", "as", "os"].iter().any(|ending| word.ends_with(ending));
    match word.strip_suffix("xes") {
        Some(stem) if word.len() > 4 => return format!("{stem}x"),
        _ => {}
    }
    match word.strip_suffix('s') {
        Some(stem) if word.len() > 3 && !keeps && word != "sales" => stem.to_owned(),
        _ => word,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(header(text).words.join(" "), expected, "{text}");
    }

    #[test]
    fn case_and_punctuation_do_not_count() {
        check("  Unit Price: ", "unit price");
        check("UNIT-PRICE", "unit price");
        check("list_price", "list price");
        check("Variant Prices", "variant price");
        check("Sales Price", "sales price");
        check("Status", "status");
        check("Taxes", "tax");
    }

    #[test]
    fn camel_case_is_taken_apart() {
        check("productID", "product id");
        check("SKUCode", "sku code");
        check("UnitOfMeasure", "unit of measure");
        check("EAN13", "ean 13");
        check("unitsInStock", "unit in stock");
    }

    #[test]
    fn diacritics_and_full_width_forms_do_not_count() {
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
    fn what_is_in_brackets_stands_apart() {
        let folded = header("Price (EUR) [net]");
        assert_eq!(folded.words, ["price"]);
        assert_eq!(folded.asides, [vec!["eur".to_owned()], vec!["net".to_owned()]]);
        check("(SKU)", "sku");
        check("販売価格（税込）", "販売価格");
        check("Price (EUR", "price");
        check("))", "");
    }
}
