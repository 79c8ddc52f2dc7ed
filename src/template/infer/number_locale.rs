//! Finds the notation of a sheet's numbers: the locale able to read the most numbers, or that of the headers' language.

use super::super::value::locale::{self, LOCALES};
use super::super::value::number::{self, Percent};
use super::sample::Sample;
use super::words::Language;
use crate::decimal::Decimal;
use crate::sheet::{Cell, Row};

/// Notation of the numbers of a sheet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct NumberLocales {
    /// Locale of the sheet; `None` for plain digits only.
    pub sheet: Option<&'static str>,
    /// Columns, counted from 0, with another locale than the sheet.
    pub columns: Vec<(usize, &'static str)>,
    /// A number with another meaning in a different locale, if both locales can read all numbers.
    pub ambiguous: Option<String>,
}

const CANDIDATES: &[&str] = &["en", "de", "fr", "de-CH", "de-AT", "en-IN"];
const SEPARATORS: [char; 8] = ['.', ',', '\'', '’', ' ', '\u{a0}', '\u{202f}', '٫'];

impl NumberLocales {
    /// Detects the locales of columns of numbers.
    pub(super) fn detect(sample: &Sample, columns: &[usize], language: Option<Language>) -> NumberLocales {
        let others = CANDIDATES.iter().copied().filter(|name| Some(*name) != language);
        let candidates: Vec<&'static str> = language.into_iter().chain(others).collect();
        let columns: Vec<(usize, Vec<&str>)> = columns.iter().map(|index| (*index, numbers(sample, *index))).collect();
        let all: Vec<&str> = columns.iter().flat_map(|(_, texts)| texts).copied().collect();
        if !all.iter().any(|text| text.contains(SEPARATORS)) {
            return NumberLocales::default();
        }
        let sheet = best(&candidates, &all);
        let different = columns.iter().filter_map(|(index, texts)| {
            let locale = best(&candidates, texts);
            (readable(locale, texts) > readable(sheet, texts)).then_some((*index, locale))
        });
        NumberLocales { sheet: Some(sheet), columns: different.collect(), ambiguous: ambiguous(sheet, &all) }
    }
}

/// Returns the first locale able to read the most numbers.
fn best(candidates: &[&'static str], texts: &[&str]) -> &'static str {
    let candidates = candidates.iter().rev().copied();
    candidates.max_by_key(|name| readable(name, texts)).expect("the constant candidates are among them")
}

fn readable(locale: &str, texts: &[&str]) -> usize {
    texts.iter().filter(|text| read(locale, text).is_some()).count()
}

fn read(locale: &str, text: &str) -> Option<Decimal> {
    number::parse(text, locale::find(locale), Some(Percent::Whole)).ok()
}

/// Returns a number with another meaning in a locale with opposite separators, if both can read all numbers.
fn ambiguous(chosen: &str, texts: &[&str]) -> Option<String> {
    let decimal = locale::find(chosen)?.decimal;
    let other = LOCALES.separators.iter().find(|other| other.decimal != decimal && other.group.contains(&decimal))?;
    let other = other.names.first()?;
    if readable(other, texts) != readable(chosen, texts) {
        return None;
    }
    texts.iter().find(|text| read(chosen, text) != read(other, text)).map(|text| (*text).to_owned())
}

fn numbers(sample: &Sample, column: usize) -> Vec<&str> {
    let text = |row| match Row::get(row, column) {
        Cell::Text(text) if text.bytes().any(|b| b.is_ascii_digit()) => Some(text),
        _ => None,
    };
    sample.rows.iter().filter_map(text).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records::RecordKind;

    fn found(texts: &[&[&str]], language: Option<Language>) -> NumberLocales {
        let rows = texts.iter().enumerate().map(|(index, cells)| {
            let mut row = Row::default();
            row.clear(index as u64 + 1);
            cells.iter().for_each(|cell| row.push(Cell::Text(cell)));
            row
        });
        let sample = Sample::new(rows.collect(), RecordKind::Item);
        let columns: Vec<usize> = (0..texts[0].len()).collect();
        NumberLocales::detect(&sample, &columns, language)
    }

    #[track_caller]
    fn check(texts: &[&str], language: Option<Language>, sheet: Option<&str>) {
        let rows: Vec<&[&str]> = [&["Price"][..]].into_iter().chain(texts.iter().map(std::slice::from_ref)).collect();
        assert_eq!(found(&rows, language).sheet, sheet, "{texts:?}");
    }

    #[test]
    fn locale_is_detected_from_numbers() {
        check(&["12.50", "3"], None, Some("en"));
        check(&["12,50", "3"], None, Some("de"));
        check(&["12,50", "3"], Some("fr"), Some("fr"));
        check(&["12,50", "3"], Some("en"), Some("de"));
        check(&["1.234,50", "3"], Some("es"), Some("es"));
        check(&["1 234,50 €", "3"], None, Some("fr"));
        check(&["1'234.50"], Some("de"), Some("en"));
        check(&["1,23,456.00"], None, Some("en-IN"));
        check(&["12.50"], Some("de"), Some("en"));
        check(&["12", "3"], Some("de"), None);
    }

    #[test]
    fn ambiguous_numbers_are_reported() {
        let rows: &[&[&str]] = &[&["Price"], &["1,234"], &["5"]];
        assert_eq!(found(rows, Some("en")).ambiguous.as_deref(), Some("1,234"));
        let rows: &[&[&str]] = &[&["Price"], &["1,234"], &["5.50"]];
        assert_eq!(found(rows, Some("en")).ambiguous, None);
    }

    #[test]
    fn a_column_can_have_its_own_locale() {
        let rows: &[&[&str]] = &[&["VK", "EK"], &["1.234,50", "1.64"], &["3,89", "2.06"], &["4,50", "2"]];
        let locales = found(rows, Some("de"));
        assert_eq!((locales.sheet, locales.columns), (Some("de"), vec![(1, "en")]));
    }
}
