//! How a sheet's numbers are written, by the numbers themselves: every locale is tried, and the one that reads the most
//! is taken. Where several read all, the language of the headers decides.

use super::super::value::locale::{self, LOCALES};
use super::super::value::number::{self, Percent};
use super::sample::Sample;
use super::synonyms::Language;
use crate::decimal::Decimal;
use crate::sheet::Cell;

/// What was found out about a sheet's numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Locales {
    /// For the sheet; nothing where plain digits are all that was met.
    pub sheet: Option<&'static str>,
    /// Columns that are written in another way.
    pub columns: Vec<(usize, &'static str)>,
    /// A number that another locale would read as well, and differently.
    pub unclear: Option<String>,
}

const CANDIDATES: &[&str] = &["en", "de", "fr", "de-CH", "de-AT", "en-IN"];

pub fn tag(language: Language) -> &'static str {
    match language {
        Language::English => "en",
        Language::German => "de",
        Language::French => "fr",
        Language::Spanish => "es",
        Language::Japanese => "ja",
        Language::Italian => "it",
        Language::Portuguese => "pt",
        Language::Dutch => "nl",
    }
}

/// Looks at the columns that hold numbers.
pub fn locales(sample: &Sample, columns: &[usize], language: Option<Language>) -> Locales {
    let own = language.map(tag);
    let candidates: Vec<&'static str> =
        own.into_iter().chain(CANDIDATES.iter().copied().filter(|name| Some(*name) != own)).collect();
    let texts: Vec<(usize, Vec<&str>)> = columns.iter().map(|column| (*column, texts(sample, *column))).collect();
    let all: Vec<&str> = texts.iter().flat_map(|(_, texts)| texts).copied().collect();
    let separated = |text: &&&str| text.contains(['.', ',', '\'', '’', ' ', '\u{a0}', '\u{202f}', '٫']);
    if !all.iter().any(|text| separated(&text)) {
        return Locales::default();
    }
    let sheet = best(&candidates, &all);
    let mut others = Vec::new();
    for (column, texts) in &texts {
        let of_column = best(&candidates, texts);
        if count(of_column, texts) > count(sheet, texts) {
            others.push((*column, of_column));
        }
    }
    Locales { sheet: Some(sheet), unclear: unclear(sheet, &all), columns: others }
}

fn best(candidates: &[&'static str], texts: &[&str]) -> &'static str {
    // The last of equals is taken by max_by_key, and the first is wanted.
    candidates.iter().rev().copied().max_by_key(|name| count(name, texts)).unwrap_or("en")
}

fn count(name: &str, texts: &[&str]) -> usize {
    texts.iter().filter(|text| read(name, text).is_some()).count()
}

fn read(name: &str, text: &str) -> Option<Decimal> {
    number::parse(text, locale::find(name), Some(Percent::Whole)).ok()
}

/// Where each number could be read by another locale, too, one that comes out differently.
fn unclear(chosen: &str, texts: &[&str]) -> Option<String> {
    let decimal = locale::find(chosen)?.decimal;
    let other = LOCALES.iter().find(|other| other.decimal != decimal && other.group.contains(&decimal))?;
    let other = other.names.first()?;
    let differs = |text: &&&str| read(chosen, text) != read(other, text);
    (count(other, texts) == count(chosen, texts)).then(|| texts.iter().find(differs).map(|text| (*text).to_owned()))?
}

fn texts(sample: &Sample, column: usize) -> Vec<&str> {
    let text = |row| match crate::sheet::Row::get(row, column) {
        Cell::Text(text) if text.bytes().any(|b| b.is_ascii_digit()) => Some(text),
        _ => None,
    };
    sample.rows.iter().filter_map(text).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records::RecordKind;
    use crate::sheet::Row;

    fn found(texts: &[&[&str]], language: Option<Language>) -> Locales {
        let rows = texts.iter().enumerate().map(|(index, cells)| {
            let mut row = Row::default();
            row.clear(index as u64 + 1);
            cells.iter().for_each(|cell| row.push(Cell::Text(cell)));
            row
        });
        let sample = Sample::of(rows.collect(), RecordKind::Item);
        let columns: Vec<usize> = (0..texts[0].len()).collect();
        locales(&sample, &columns, language)
    }

    #[track_caller]
    fn check(texts: &[&str], language: Option<Language>, sheet: Option<&str>) {
        let rows: Vec<&[&str]> = [&["Price"][..]].into_iter().chain(texts.iter().map(std::slice::from_ref)).collect();
        assert_eq!(found(&rows, language).sheet, sheet, "{texts:?}");
    }

    #[test]
    fn numbers_tell_how_they_are_written() {
        check(&["12.50", "3"], None, Some("en"));
        check(&["12,50", "3"], None, Some("de"));
        check(&["12,50", "3"], Some(Language::French), Some("fr"));
        check(&["12,50", "3"], Some(Language::English), Some("de"));
        check(&["1.234,50", "3"], Some(Language::Spanish), Some("es"));
        check(&["1 234,50 €", "3"], None, Some("fr"));
        check(&["1'234.50"], Some(Language::German), Some("en"));
        check(&["1,23,456.00"], None, Some("en-IN"));
        check(&["12.50"], Some(Language::German), Some("en"));
        check(&["12", "3"], Some(Language::German), None);
    }

    #[test]
    fn what_could_be_read_in_two_ways_is_said() {
        let rows: &[&[&str]] = &[&["Price"], &["1,234"], &["5"]];
        assert_eq!(found(rows, Some(Language::English)).unclear.as_deref(), Some("1,234"));
        let rows: &[&[&str]] = &[&["Price"], &["1,234"], &["5.50"]];
        assert_eq!(found(rows, Some(Language::English)).unclear, None);
    }

    #[test]
    fn a_column_may_be_written_in_another_way() {
        let rows: &[&[&str]] = &[&["VK", "EK"], &["1.234,50", "1.64"], &["3,89", "2.06"], &["4,50", "2"]];
        let locales = found(rows, Some(Language::German));
        assert_eq!((locales.sheet, locales.columns), (Some("de"), vec![(1, "en")]));
    }
}
