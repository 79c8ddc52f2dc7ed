//! Words of rows that are no records: numbers of pages, remarks, counts and charges, in all languages.

use std::collections::HashSet;
use std::sync::LazyLock;

use serde::Deserialize;

use super::total_rows::starts_with_total;

/// `no_record.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Words {
    page: Vec<String>,
    of: Vec<String>,
    remarks: Vec<String>,
    stamps: Vec<String>,
    counts: Vec<String>,
    charges: Vec<String>,
    hints: Vec<String>,
    examples: Vec<String>,
}

static WORDS: LazyLock<Words> = LazyLock::new(|| {
    toml::from_str(include_str!("no_record.toml")).expect("the file is compiled in, and tests parse it")
});

/// The first letters of the words for a page.
static PAGE_INITIALS: LazyLock<HashSet<char>> =
    LazyLock::new(|| WORDS.page.iter().filter_map(|word| word.chars().next()).collect());

/// The parts of a text such as `Page 1 of 2`.
#[derive(Default)]
struct PageParts {
    numbers: usize,
    has_word: bool,
    /// Whether the number of pages follows.
    has_of: bool,
}

/// Whether a text is the number of a page: `Page 1 of 2`, `- 3 -`, `4/7`.
pub(crate) fn is_page(text: &str) -> bool {
    page_parts(text).is_some_and(|parts| parts.has_word && (1..=2).contains(&parts.numbers))
}

/// Whether a text has the number of a page and of all pages: `Page 1 of 2`.
pub(crate) fn is_page_of_pages(text: &str) -> bool {
    page_parts(text).is_some_and(|parts| parts.has_word && parts.has_of && parts.numbers == 2)
}

/// Whether a text has the word for a page, perhaps with numbers: `Page`, `Page 1`. Most texts differ in the first letter.
pub(crate) fn starts_with_page(text: &str) -> bool {
    let Some(initial) = text.trim_start().chars().flat_map(char::to_lowercase).next() else { return false };
    if !PAGE_INITIALS.contains(&initial) || is_code(text) {
        return false;
    }
    page_parts(text).is_some_and(|parts| parts.has_word)
}

/// Whether a text is of ASCII, without white space and other separators, and has a digit, as identifiers have. Words have none.
fn is_code(text: &str) -> bool {
    let mut has_digit = false;
    let is_plain = text.bytes().all(|byte| {
        has_digit |= byte.is_ascii_digit();
        byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.')
    });
    is_plain && has_digit
}

/// Returns the parts of a text, or `None` if it has any others.
fn page_parts(text: &str) -> Option<PageParts> {
    let text = text.to_lowercase();
    let word = |text: &str, words: &[String]| words.iter().any(|word| word == text);
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let mut found = PageParts::default();
    for part in text.split(|c: char| c.is_whitespace() || "|()[]".contains(c)).filter(|part| !part.is_empty()) {
        if is_number(part) {
            found.numbers += 1;
        } else if word(part, &WORDS.page) || word(part.trim_end_matches(['.', ':']), &WORDS.page) {
            found.has_word = true;
        } else if let Some((left, right)) = part.split_once('/') {
            if !is_number(left) || !is_number(right) {
                return None;
            }
            found.numbers += 2;
            found.has_of = true;
        } else if word(part, &WORDS.of) {
            found.has_of = true;
        } else {
            // 第1页
            let inner = part.trim_matches(|c: char| WORDS.page.iter().any(|word| word.chars().eq([c])));
            if inner == part || !is_number(inner) {
                return None;
            }
            (found.numbers, found.has_word) = (found.numbers + 1, true);
        }
    }
    Some(found)
}

/// Whether a text begins like a footnote or a comment.
pub(crate) fn starts_with_sign(text: &str) -> bool {
    let text = text.trim_start();
    let after = |sign: &str| text.strip_prefix(sign).is_some_and(|rest| rest.starts_with(char::is_whitespace));
    text.starts_with(['*', '†', '‡', '※', '©'])
        || ["#", "//", "--", ";", "'", "rem", "REM"].iter().any(|sign| after(sign))
}

/// Whether a text begins like a remark about the whole list.
pub(crate) fn is_remark(text: &str) -> bool {
    let folded = text.trim().to_lowercase();
    starts_with_sign(text) || WORDS.remarks.iter().any(|start| folded.starts_with(start.as_str()))
}

/// Whether a text is a label beside the time or the author of a list: `Exported on`, `Prepared by:`.
pub(crate) fn is_stamp(text: &str) -> bool {
    is_label(text, &WORDS.stamps)
}

/// Whether a text has such a label with its value after a colon: `Prepared by: X`.
pub(crate) fn has_stamp(text: &str) -> bool {
    text.split_once([':', '：']).is_some_and(|(label, value)| !value.trim().is_empty() && is_stamp(label))
}

/// Whether a text is a label beside the number of the records: `Count`, `Anzahl Artikel:`.
pub(crate) fn is_count(text: &str) -> bool {
    is_label(text, &WORDS.counts)
}

/// Whether a text is a label of a charge below a list: `Shipping`, `Versandkosten:`.
pub(crate) fn is_charge(text: &str) -> bool {
    is_label(text, &WORDS.charges)
}

/// Whether a text would be unusual as an identifier, but not below a list.
pub(crate) fn is_footer(text: &str) -> bool {
    is_page(text) || is_remark(text) || is_stamp(text) || is_count(text) || is_charge(text) || starts_with_total(text)
}

/// Whether a text is the hint or the example of a row with instructions for filling in the columns.
pub(crate) fn is_hint(text: &str) -> bool {
    let folded = text.trim().to_lowercase();
    let bare = folded.trim_matches(['(', ')', '[', ']', '<', '>', '*', ' ']);
    let is_bracketed = [('(', ')'), ('[', ']'), ('<', '>')]
        .iter()
        .any(|(open, close)| folded.starts_with(*open) && folded.ends_with(*close));
    is_bracketed
        || WORDS.hints.iter().any(|hint| hint == bare)
        || WORDS.examples.iter().any(|start| folded.starts_with(start.as_str()))
}

/// Whether a text is one of the words, perhaps with a colon.
fn is_label(text: &str, words: &[String]) -> bool {
    let folded = text.trim().trim_end_matches([':', '：', ' ']).to_lowercase();
    words.contains(&folded)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_pages_are_recognized_in_all_languages() {
        for text in [
            "Page 1 of 2",
            "Seite 3",
            "page 1/2",
            "Página 1 de 9",
            "Strona 1 z 2",
            "Страница 1 из 2",
            "第1页",
            "Page: 7",
        ] {
            assert!(is_page(text), "{text}");
        }
        for text in ["Page", "1/2", "A-1 Page 2 of stock", "PAGE-1", "Bolt 5", "12", "page 1 2 3"] {
            assert!(!is_page(text), "{text}");
        }
    }

    #[test]
    fn remarks_begin_with_a_sign_or_a_word() {
        for text in
            ["# second delivery", "* all prices net", "End of list", "Hinweis: netto", "Stand: 2026-03-02", "※ 税抜"]
        {
            assert!(is_remark(text), "{text}");
        }
        for text in ["#1", "A-1", "Bolt", "*"].into_iter().take(3) {
            assert!(!is_remark(text), "{text}");
        }
    }

    #[test]
    fn labels_are_whole_cells() {
        for text in ["Exported on", "Prepared by:", "Erstellt am", "Imprimé le", "打印日期：", "작성자"] {
            assert!(is_stamp(text), "{text}");
        }
        for text in ["Count", "Anzahl Artikel:", "Nombre de lignes", "総件数", "Количество позиций"]
        {
            assert!(is_count(text), "{text}");
        }
        for text in ["Shipping", "Versandkosten:", "Frais de port", "送料", "Доставка"] {
            assert!(is_charge(text), "{text}");
        }
        assert!(has_stamp("Prepared by: X") && !has_stamp("Prepared by:") && !has_stamp("Bolt: M8"));
        for text in ["Shipping box", "Counter", "Exporter", "A-1"] {
            assert!(!is_charge(text) && !is_count(text) && !is_stamp(text), "{text}");
        }
        assert!(is_page_of_pages("Seite 1 von 2") && !is_page_of_pages("Sheet 4 2"));
    }

    #[test]
    fn words_are_in_lower_case() {
        let lists = [&WORDS.page, &WORDS.remarks, &WORDS.stamps, &WORDS.counts, &WORDS.charges, &WORDS.hints];
        for word in lists.into_iter().flatten() {
            assert_eq!(*word, word.to_lowercase(), "compared with lower case");
        }
    }
}
