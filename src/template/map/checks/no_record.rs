//! Rows that are not records: remarks, page numbers, headings of sections, totals, hints under the header, and the rows of a
//! further table.

use std::sync::LazyLock;

use serde::Deserialize;

use crate::sheet::{Cell, Row};
use crate::template::bind::Columns;
use crate::template::map::mapper::Mapper;
use crate::template::map::survey::rows::{MAX_BYTES, filled};
use crate::template::problem::{Cause, NoRecord};
use crate::template::words::total_rows::{is_total_row, starts_with_total};

/// `no_record.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Words {
    page: Vec<String>,
    of: Vec<String>,
    remarks: Vec<String>,
    hints: Vec<String>,
    examples: Vec<String>,
}

static WORDS: LazyLock<Words> = LazyLock::new(|| {
    toml::from_str(include_str!("no_record.toml")).expect("the file is compiled in, and tests parse it")
});

impl Mapper<'_> {
    /// Returns why a row is not a record, with the column of the decisive cell.
    pub(in crate::template::map) fn no_record(&self, row: &Row) -> Option<(Option<usize>, Cause)> {
        let (layout, survey) = (self.layout(), self.row_survey());
        if layout.is_report || layout.is_defused {
            return None;
        }
        if let Some((first, last)) = survey.broken(row.number) {
            return Some((None, Cause::BrokenRow { first, last }));
        }
        if let Some(column) = survey.shifted(row, layout.width) {
            return Some((Some(column), Cause::ShiftedCells));
        }
        if let Some(header_row) = survey.further_table(row.number) {
            return Some((None, Cause::SecondTable { header_row }));
        }
        let mut cells = filled(row);
        let (column, first) = cells.next()?;
        let kind = match (first, cells.next()) {
            (Cell::Text(text), None) if text.len() <= MAX_BYTES => {
                let is_only_column = self.mapped_columns() < 2;
                self.lone_cell(text).filter(|kind| !(is_only_column && *kind == NoRecord::Heading))
            }
            // The name of a cell's record is more than the text of the row.
            (Cell::Text(text), Some(_))
                if is_total_row(text) && self.template().unpivot.is_some() && self.is_identifier(column) =>
            {
                Some(NoRecord::Total)
            }
            (Cell::Text(text), Some(_)) if is_total_row(text) && !self.is_identifier(column) => {
                self.has_no_identifier(row).then_some(NoRecord::Total)
            }
            (Cell::Text(text), Some(_)) => {
                if let Some((column, kind)) = self.unlike_record(column, text, row) {
                    return Some((Some(column), Cause::NoRecord(kind)));
                }
                (row.number <= layout.header.row + 2 && is_hints(row)).then_some(NoRecord::Hints)
            }
            _ => None,
        };
        kind.map(|kind| (Some(column), Cause::NoRecord(kind)))
    }

    /// Returns the kind of a row with a single cell, unless the cell is an identifier.
    fn lone_cell(&self, text: &str) -> Option<NoRecord> {
        if self.layout().width < 2 {
            return None;
        }
        let survey = self.row_survey();
        if is_page(text) {
            Some(NoRecord::Page)
        } else if is_total_row(text) {
            Some(NoRecord::Total)
        } else if is_remark(text) && (survey.is_unlike_identifiers(text) || starts_with_sign(text)) {
            Some(NoRecord::Remark)
        } else {
            survey.is_unlike_identifiers(text).then_some(NoRecord::Heading)
        }
    }

    /// Returns the kind of a row that has an identifier, but is no record: a remark such as `Printed by | Admin`, a total of a
    /// section, or a row without a name although the others have one. The column is that of the decisive cell.
    fn unlike_record(&self, column: usize, text: &str, row: &Row) -> Option<(usize, NoRecord)> {
        if text.len() > MAX_BYTES || !self.is_identifier(column) {
            return None;
        }
        let is_unlike = self.row_survey().is_unlike_identifiers(text);
        // "Total" is also the name of a brand, whose identifier is like the others.
        if (is_unlike || self.row_survey().lacks_digits(text))
            && let Some(name) = self.name_column()
            && let Cell::Text(name_text) = self.cell(row, name)
            && is_total_row(name_text)
        {
            return Some((name, NoRecord::Total));
        }
        if !is_unlike {
            return None;
        }
        let kind = if starts_with_total(text) {
            NoRecord::Total
        } else if is_remark(text) {
            NoRecord::Remark
        } else if self.lacks_name(row) {
            NoRecord::Nameless
        } else {
            return None;
        };
        Some((column, kind))
    }

    /// Returns the column of the name of a record.
    fn name_column(&self) -> Option<usize> {
        self.special().name.and_then(|rule| self.layout().columns[rule].first())
    }

    /// Whether a row has no name although most records have.
    pub(in crate::template::map) fn lacks_name(&self, row: &Row) -> bool {
        self.row_survey().has_names() && self.name_column().is_some_and(|column| self.cell(row, column).is_blank())
    }

    fn mapped_columns(&self) -> usize {
        self.layout().columns.iter().flat_map(Columns::iter).take(2).count()
    }

    pub(in crate::template::map) fn is_identifier(&self, column: usize) -> bool {
        self.special().identifiers.contains(&column)
    }

    /// Whether the template has identifiers, and the row has none.
    fn has_no_identifier(&self, row: &Row) -> bool {
        let columns = &self.special().identifiers;
        !columns.is_empty() && columns.iter().all(|column| row.get(*column).is_blank())
    }
}

/// Whether a text is the number of a page: `Page 1 of 2`, `- 3 -`, `4/7`.
fn is_page(text: &str) -> bool {
    let text = text.to_lowercase();
    let word = |text: &str, words: &[String]| words.iter().any(|word| word == text);
    let mut numbers = 0;
    let mut has_word = false;
    for part in text.split(|c: char| c.is_whitespace() || "|()[]".contains(c)).filter(|part| !part.is_empty()) {
        if part.bytes().all(|byte| byte.is_ascii_digit()) {
            numbers += 1;
        } else if word(part, &WORDS.page) || word(part.trim_end_matches(['.', ':']), &WORDS.page) {
            has_word = true;
        } else if let Some((left, right)) = part.split_once('/') {
            let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
            if !is_number(left) || !is_number(right) {
                return false;
            }
            numbers += 2;
        } else if !word(part, &WORDS.of) {
            // 第1页
            let inner = part.trim_matches(|c: char| WORDS.page.iter().any(|word| word.chars().eq([c])));
            if inner == part || inner.is_empty() || !inner.bytes().all(|byte| byte.is_ascii_digit()) {
                return false;
            }
            (numbers, has_word) = (numbers + 1, true);
        }
    }
    has_word && (1..=2).contains(&numbers)
}

/// Whether a text begins like a footnote or a comment.
fn starts_with_sign(text: &str) -> bool {
    let text = text.trim_start();
    let after = |sign: &str| text.strip_prefix(sign).is_some_and(|rest| rest.starts_with(char::is_whitespace));
    text.starts_with(['*', '†', '‡', '※', '©'])
        || ["#", "//", "--", ";", "'", "rem", "REM"].iter().any(|sign| after(sign))
}

fn is_remark(text: &str) -> bool {
    let folded = text.trim().to_lowercase();
    starts_with_sign(text) || WORDS.remarks.iter().any(|start| folded.starts_with(start.as_str()))
}

/// Whether all cells are instructions for filling in their columns.
fn is_hints(row: &Row) -> bool {
    filled(row).all(|(_, cell)| {
        let Cell::Text(text) = cell else { return false };
        let folded = text.trim().to_lowercase();
        let bare = folded.trim_matches(['(', ')', '[', ']', '<', '>', '*', ' ']);
        let is_bracketed = [('(', ')'), ('[', ']'), ('<', '>')]
            .iter()
            .any(|(open, close)| folded.starts_with(*open) && folded.ends_with(*close));
        is_bracketed
            || WORDS.hints.iter().any(|hint| hint == bare)
            || WORDS.examples.iter().any(|start| folded.starts_with(start.as_str()))
    })
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
    fn rows_of_hints_have_nothing_else() {
        let row = |cells: &[&str]| {
            let mut row = Row::default();
            row.clear(2);
            cells.iter().for_each(|cell| row.push(Cell::Text(cell)));
            row
        };
        assert!(is_hints(&row(&["(required)", "(optional)", ""])));
        assert!(is_hints(&row(&["Pflichtfeld", "optional", "z. B. 12,50"])));
        assert!(!is_hints(&row(&["A-1", "text"])));
    }
}
