//! Rows of a CSV with commas in which a number with a comma lacks its quotes, so that the cells after it have shifted.

use std::collections::{BTreeMap, BTreeSet};

use sheetport_sheet::{Cell, Row};

use crate::bind::Layout;
use crate::model::{FieldRule, HeaderRow, Source, Template};
use crate::words::amounts::is_number_header;

/// Which rows of a sheet have shifted cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ShiftedRows {
    /// Number of cells of the header.
    width: usize,
    /// Maximum number of cells of a row whose cells are in place.
    longest: usize,
    /// Number of columns that may have values in such a row.
    named: usize,
}

/// Collects [`ShiftedRows`].
#[derive(Clone, Debug)]
pub(super) struct ShiftSurveyor {
    is_needed: bool,
    /// Number of cells of the header.
    width: usize,
    /// Number of columns up to the last with a name.
    named: usize,
    columns: Vec<Column>,
    /// Number of rows without a split number, by the number of blank cells beyond the header.
    plain: BTreeMap<usize, u64>,
    /// The same of rows with a split number.
    split: BTreeMap<usize, u64>,
    /// Whether the last column with a name is blank in a row that is as long as the header.
    has_blank_end: bool,
    /// Whether rows without a split number have values in columns without a name.
    has_unnamed_values: bool,
    /// Whether all rows with a split number have values in columns without a name.
    are_overfull: bool,
    /// The columns where all these rows may be split.
    common: Option<BTreeSet<usize>>,
}

/// A column of the header, with evidence from the rows with a split number.
#[derive(Clone, Debug, Default)]
struct Column {
    name: String,
    /// Whether the template or, once a row has a split number, the header expects numbers.
    has_numbers: bool,
    is_identifier: bool,
    /// Whether a field for texts reads the column.
    is_text: bool,
    /// Whether a cell begins with a zero, like decimals and unlike counts.
    has_zero_first: bool,
    /// Whether all cells have as many digits as decimals or thousands.
    has_parts: bool,
    has_words: bool,
    is_filled: bool,
}

impl Default for ShiftedRows {
    fn default() -> ShiftedRows {
        ShiftedRows { width: 0, longest: usize::MAX, named: usize::MAX }
    }
}

impl ShiftedRows {
    /// Returns the column of the first part of a number that was probably split at its comma, so that the cells after it have
    /// shifted.
    pub(super) fn split_at(&self, row: &Row) -> Option<usize> {
        let has_more = row.len() > self.longest || self.named < self.width && has_values(row, self.named..self.width);
        // A value beyond the header is another problem.
        if !has_more || has_values(row, self.width..usize::MAX) { None } else { splits(row).next() }
    }
}

impl ShiftSurveyor {
    pub(super) fn new(template: &Template, layout: &Layout) -> ShiftSurveyor {
        let names = &layout.header.names[..layout.width];
        let column = |name: &String| Column { name: name.clone(), has_parts: true, ..Column::default() };
        let mut columns: Vec<Column> = names.iter().map(column).collect();
        for (rule, of_rule) in template.rules().zip(&layout.columns) {
            for index in of_rule.iter().filter(|_| matches!(rule.source, Source::Column(_))) {
                if let Some(column) = columns.get_mut(index) {
                    column.add_rule(rule);
                }
            }
        }
        let named = names.iter().rposition(|name| !name.trim().is_empty()).map_or(0, |last| last + 1);
        ShiftSurveyor {
            is_needed: layout.facts.delimiter == Some(b',') && !matches!(template.sheet.header, HeaderRow::None),
            width: names.len(),
            named,
            columns,
            plain: BTreeMap::new(),
            split: BTreeMap::new(),
            has_blank_end: false,
            has_unnamed_values: false,
            are_overfull: true,
            common: None,
        }
    }

    pub(super) fn row(&mut self, row: &Row) {
        if !self.is_needed || self.named == 0 {
            return;
        }
        let extra = row.len().saturating_sub(self.width);
        let has_unnamed = row.len() > self.named && has_values(row, self.named..self.width);
        if extra == 0 && !has_unnamed {
            *self.plain.entry(0).or_default() += 1;
            self.has_blank_end |= row.get(self.named - 1).is_blank();
            return;
        }
        // Remarks and values beyond the header say nothing about the length of rows.
        if row.cells().filter(|cell| !cell.is_blank()).nth(1).is_none() || has_values(row, self.width..usize::MAX) {
            return;
        }
        let columns: BTreeSet<usize> = splits(row).collect();
        if columns.is_empty() {
            *self.plain.entry(extra).or_default() += 1;
            self.has_unnamed_values |= has_unnamed;
            return;
        }
        *self.split.entry(extra).or_default() += 1;
        self.are_overfull &= has_unnamed;
        for (index, column) in self.columns.iter_mut().enumerate() {
            column.add_cell(row.get(index));
        }
        self.common = Some(match self.common.take() {
            Some(common) => common.intersection(&columns).copied().collect(),
            None => {
                // Few sheets have such a row, and only then the words of headers are needed.
                self.columns.iter_mut().for_each(|column| column.has_numbers |= is_number_header(&column.name));
                columns
            }
        });
    }

    pub(super) fn survey(&self) -> ShiftedRows {
        let count = |rows: &BTreeMap<usize, u64>| rows.values().sum::<u64>();
        let split = count(&self.split);
        if split == 0 {
            return ShiftedRows::default();
        }
        let longest = |rows: &BTreeMap<usize, u64>| self.width + most_frequent(rows);
        let named = if self.has_unnamed_values { usize::MAX } else { self.named };
        let complete = self.plain.get(&0).copied().unwrap_or_default();
        if count(&self.plain) - complete > complete {
            return ShiftedRows { width: self.width, longest: longest(&self.plain), named };
        }
        // A cell more in nearly all rows is usually a delimiter at their end, although some rows may lack it.
        if split > complete && !self.has_blank_end && !self.all_are_shifted() {
            return ShiftedRows { width: self.width, longest: longest(&self.split), named: usize::MAX };
        }
        ShiftedRows { width: self.width, longest: self.width, named }
    }

    /// Whether a common column of the rows looks like the first part of split numbers, because the next column doesn't fit its
    /// header.
    fn all_are_shifted(&self) -> bool {
        let column = |index: usize| self.columns.get(index);
        let expects_numbers = |index: &usize| column(*index).is_some_and(|column| column.has_numbers);
        let is_odd = |index: &usize| {
            let next = column(index + 1).filter(|next| !next.is_identifier);
            let has_parts = next.is_some_and(|next| next.has_zero_first || !next.has_numbers && next.has_parts);
            has_parts || self.columns[index + 1..].iter().any(Column::is_text_of_numbers)
        };
        let mut common = self.common.iter().flatten().filter(|index| expects_numbers(index));
        common.any(|index| self.are_overfull || is_odd(index))
    }
}

impl Column {
    fn add_rule(&mut self, rule: &FieldRule) {
        self.has_numbers |= rule.field.json.is_number();
        self.is_identifier |= rule.is_name;
        self.is_text |= rule.is_plain_text();
    }

    fn add_cell(&mut self, cell: Cell<'_>) {
        let text = cell.shown();
        let text = text.trim();
        if text.is_empty() {
            return;
        }
        let digits = text.bytes().take_while(u8::is_ascii_digit).count();
        self.is_filled = true;
        self.has_words |= text.contains(char::is_alphabetic);
        self.has_parts &= matches!(digits, 2 | 3);
        self.has_zero_first |= digits > 1 && text.starts_with('0');
    }

    fn is_text_of_numbers(&self) -> bool {
        self.is_text && self.is_filled && !self.has_words
    }
}

/// Whether any cell of these columns has a value.
fn has_values(row: &Row, columns: std::ops::Range<usize>) -> bool {
    row.cells().enumerate().skip(columns.start).any(|(index, cell)| index < columns.end && !cell.is_blank())
}

/// Returns the key with the most rows.
fn most_frequent(rows: &BTreeMap<usize, u64>) -> usize {
    rows.iter().max_by_key(|(_, count)| **count).map_or(0, |(key, _)| *key)
}

/// Iterates over the columns of numbers that are followed by the rest of a number: one or two decimals, or thousands.
fn splits(row: &Row) -> impl Iterator<Item = usize> {
    let text = |column: usize| match row.get(column) {
        Cell::Text(text) => text.trim(),
        _ => "",
    };
    (1..row.len().saturating_sub(1)).filter(move |column| is_split(text(*column), text(*column + 1)))
}

/// Whether two cells look like a number that was split at its comma.
fn is_split(first: &str, second: &str) -> bool {
    // A sign or a currency may be in front, but no letters of an identifier.
    let whole = first.trim_start_matches(|c: char| !c.is_alphanumeric());
    let rest = second.trim_end_matches(|c: char| !c.is_ascii_digit());
    let thousands = rest.split_once('.').map_or(rest, |(thousands, _)| thousands);
    let is_decimals = matches!(rest.len(), 1 | 2) && is_digits(rest);
    let is_thousands = thousands.len() == 3
        && whole.len() <= 3
        && !whole.starts_with('0')
        && rest.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    (1..=9).contains(&whole.len()) && is_digits(whole) && (is_decimals || is_thousands && is_digits(thousands))
}

pub(super) fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_numbers_are_recognized() {
        for (first, second) in
            [("12", "75"), ("€ 12", "5"), ("-1", "05 EUR"), ("1", "299.00"), ("12", "000"), ("0", "5%")]
        {
            assert!(is_split(first, second), "{first},{second}");
        }
        for (first, second) in [
            ("A12", "75"),
            ("12.5", "75"),
            ("12", "75.5"),
            ("12", "x"),
            ("0", "299"),
            ("1234", "299"),
            ("", "5"),
            ("12", "2026"),
        ] {
            assert!(!is_split(first, second), "{first},{second}");
        }
    }
}
