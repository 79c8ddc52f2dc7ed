//! Evidence from all rows of a sheet: the form of identifiers, further tables, and rows broken by a line ending.

use std::collections::BTreeMap;

use sheetport_sheet::{Cell, Row};
use sheetport_values::normalize::trimmed;

use super::identifiers::IdentifierSurveyor;
use super::shifted::{ShiftSurveyor, ShiftedRows, is_digits};
use crate::bind::{Columns, Layout};
use crate::model::{FieldRule, HeaderRow, Place, Source, Template, folded_header};
use crate::words::no_record::is_footer;

/// Number of rows used as evidence for identifiers. Less than a first chunk of rows, so that later rows change nothing.
const EVIDENCE_ROWS: u64 = 2000;
/// Maximum number of broken rows to remember.
const MAX_BROKEN: usize = 1000;
/// Longest identifier of digits that can lack zeros: programs keep 15 digits of a number.
const MAX_DIGITS: usize = 15;
/// Maximum length of a heading or remark to examine, in bytes.
pub(crate) const MAX_BYTES: usize = 200;

/// Evidence about rows that are not records.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct RowSurvey {
    /// Identifiers have digits.
    has_digits: bool,
    half_have_digits: bool,
    /// Identifiers have no white space.
    has_no_spaces: bool,
    /// Whether most records have a name beside their identifier.
    has_names: bool,
    /// The usual length of identifiers of digits, by column, if some begin with zeros.
    lengths: Vec<(usize, usize)>,
    /// The row with the names of a further table's columns.
    second_table: Option<u64>,
    /// The first and last row of records broken by a line ending.
    broken: Vec<(u64, u64)>,
    shifted: ShiftedRows,
}

/// Collects a [`RowSurvey`].
#[derive(Clone, Debug)]
pub(super) struct RowSurveyor {
    /// Whether rows are examined at all.
    is_needed: bool,
    /// The columns of identifiers.
    keys: Vec<usize>,
    /// The column of names, if each row is a record.
    name: Option<usize>,
    /// The columns of numbers.
    numbers: Vec<usize>,
    /// The header, folded, with the columns' positions.
    header: Vec<String>,
    /// The first bytes of the header's names, in lower and upper case.
    initials: Vec<u8>,
    /// Whether a name of the header has a digit.
    names_have_digits: bool,
    is_text: bool,
    /// Number of rows used as evidence.
    rows: u64,
    identifiers: IdentifierSurveyor,
    /// The identifiers of digits in each of the columns of `keys`.
    digits: Vec<DigitLengths>,
    last: u64,
    second_table: Option<u64>,
    shifted: ShiftSurveyor,
    /// Rows with as many cells as the header.
    complete: u64,
    /// Short rows that are not broken records.
    short: u64,
    /// The current run of short rows.
    run: Option<ShortRows>,
    broken: Vec<ShortRows>,
}

/// How long the identifiers of a column are that consist of digits.
#[derive(Clone, Debug, Default)]
struct DigitLengths {
    /// By length, up to [`MAX_DIGITS`].
    all: BTreeMap<usize, u64>,
    /// Those that begin with a zero, by length.
    with_zeros: BTreeMap<usize, u64>,
}

/// Consecutive rows with fewer cells than the header.
#[derive(Clone, Copy, Debug)]
struct ShortRows {
    first: u64,
    count: u64,
    cells: usize,
    /// Whether all rows but the first begin with a text without digits.
    lack_digits: bool,
    /// Whether all rows but the first begin with a text with white space.
    have_spaces: bool,
}

impl RowSurvey {
    /// Returns the header row of a further table, if `row` belongs to that table.
    pub(crate) fn further_table(&self, row: u64) -> Option<u64> {
        self.second_table.filter(|first| *first <= row)
    }

    /// Returns the first and last row of the broken record with this row.
    pub(crate) fn broken(&self, row: u64) -> Option<(u64, u64)> {
        self.broken.iter().copied().find(|(first, last)| (*first..=*last).contains(&row))
    }

    /// Returns the column of the first part of a number that was probably split at its comma, so that the cells after it have
    /// shifted.
    pub(crate) fn shifted(&self, row: &Row) -> Option<usize> {
        self.shifted.split_at(row)
    }

    /// Returns the usual length of the identifiers of a column, if this one of digits is shorter. Programs take zeros at the
    /// beginning away, and other cells of the column have theirs.
    pub(crate) fn missing_zeros(&self, column: usize, text: &str) -> Option<usize> {
        let (_, usual) = self.lengths.iter().find(|(known, _)| *known == column)?;
        let is_number = is_digits(text) && !text.starts_with('0');
        (is_number && text.len() < *usual).then_some(*usual)
    }

    /// Whether most records have a name beside their identifier.
    pub(crate) fn has_names(&self) -> bool {
        self.has_names
    }

    /// Whether a text has no digits, but at least half of the identifiers of the sheet have some.
    pub(crate) fn lacks_digits(&self, text: &str) -> bool {
        self.half_have_digits && !text.chars().any(char::is_numeric)
    }

    /// Whether a text is unlike the identifiers of the sheet.
    pub(crate) fn is_unlike_identifiers(&self, text: &str) -> bool {
        let has_digit = text.chars().any(char::is_numeric);
        let has_space = || trimmed(text).contains(char::is_whitespace);
        self.has_digits && !has_digit || self.has_no_spaces && has_space()
    }
}

impl DigitLengths {
    fn add(&mut self, cell: Cell<'_>) {
        let text = cell.shown();
        let text = trimmed(&text);
        if text.len() <= MAX_DIGITS && is_digits(text) {
            *self.all.entry(text.len()).or_default() += 1;
            if text.starts_with('0') {
                *self.with_zeros.entry(text.len()).or_default() += 1;
            }
        }
    }

    /// Returns the length of most of these identifiers. All with zeros at the beginning have it, and none is longer.
    fn usual(&self) -> Option<usize> {
        let mut with_zeros = self.with_zeros.iter();
        let (Some((length, zeros)), None) = (with_zeros.next(), with_zeros.next()) else { return None };
        let (longest, count) = self.all.last_key_value()?;
        let is_most = count * 2 >= self.all.values().sum();
        (*zeros > 1 && length == longest && is_most).then_some(*length)
    }
}

impl RowSurveyor {
    pub(super) fn new(template: &Template, layout: &Layout) -> RowSurveyor {
        let of = |wanted: &dyn Fn(&FieldRule) -> bool| -> Vec<usize> {
            let rules = template.rules().zip(&layout.columns).filter(|(rule, _)| wanted(rule));
            rules
                .filter(|(rule, _)| matches!(rule.source, Source::Column(_)))
                .flat_map(|(_, columns)| columns.iter())
                .collect()
        };
        let header: Vec<String> = layout.header.names[..layout.width].iter().map(|name| folded_header(name)).collect();
        let mut initials: Vec<u8> = header
            .iter()
            .filter_map(|name| name.chars().next())
            .flat_map(|c| [c.to_string(), c.to_uppercase().to_string()])
            .filter_map(|text| text.bytes().next())
            .collect();
        initials.sort_unstable();
        initials.dedup();
        let keys = of(&|rule| rule.is_name);
        RowSurveyor {
            digits: vec![DigitLengths::default(); keys.len()],
            is_needed: !layout.is_report
                && !layout.is_defused
                && layout.columns.iter().flat_map(Columns::iter).nth(1).is_some(),
            keys,
            name: of(&is_name_of_record).first().copied().filter(|_| template.group.is_none()),
            numbers: of(&|rule| rule.field.json.is_number()),
            names_have_digits: header.iter().any(|name| has_digit(name)),
            header: if matches!(template.sheet.header, HeaderRow::None) { Vec::new() } else { header },
            initials,
            is_text: layout.facts.delimiter.is_some(),
            shifted: ShiftSurveyor::new(template, layout),
            rows: 0,
            identifiers: IdentifierSurveyor::default(),
            last: layout.header.row,
            second_table: None,
            complete: 0,
            short: 0,
            run: None,
            broken: Vec::new(),
        }
    }

    pub(super) fn is_needed(&self) -> bool {
        self.is_needed
    }

    pub(super) fn row(&mut self, row: &Row) {
        if !self.is_needed {
            return;
        }
        let is_after_gap = row.number > self.last + 1;
        self.last = row.number;
        if self.second_table.is_none() && (self.names_other_columns(row) || is_after_gap && self.is_other_header(row)) {
            self.second_table = Some(row.number);
        }
        if self.is_text {
            self.width(row);
        }
        let is_short = self.is_text && row.len() < self.header.len();
        if self.rows < EVIDENCE_ROWS && !is_short && filled(row).nth(1).is_some() {
            self.rows += 1;
            for (column, digits) in self.keys.iter().zip(&mut self.digits) {
                digits.add(row.get(*column));
            }
            let key = self.keys.iter().map(|column| row.get(*column)).find(|cell| !cell.is_blank());
            let Some(key) = key.map(|key| key.shown()) else { return };
            let first = filled(row).next().map(|(_, cell)| cell.shown());
            if !first.is_some_and(|text| text.len() <= MAX_BYTES && is_footer(&text)) {
                self.identifiers.add(&key, self.name.is_some_and(|name| !row.get(name).is_blank()));
            }
        }
    }

    pub(super) fn survey(&self) -> RowSurvey {
        let mut ended = self.clone();
        ended.end_run();
        RowSurvey {
            has_digits: self.identifiers.have_digits(),
            half_have_digits: self.identifiers.half_have_digits(),
            has_no_spaces: self.identifiers.have_no_spaces(),
            has_names: self.identifiers.have_names(),
            lengths: self
                .keys
                .iter()
                .zip(&self.digits)
                .filter_map(|(column, of)| Some((*column, of.usual()?)))
                .collect(),
            second_table: self.second_table,
            broken: ended.broken(),
            shifted: self.shifted.survey(),
        }
    }

    /// Whether a row has the names of this header, but in other columns.
    fn names_other_columns(&self, row: &Row) -> bool {
        let Some(first) = filled(row).next() else { return false };
        let is_initial =
            |text: &str| text.bytes().next().is_some_and(|byte| self.initials.binary_search(&byte).is_ok());
        // Most identifiers have digits, and most names have none.
        let may_be_name = |text: &str| is_initial(text) && (self.names_have_digits || !has_digit(text));
        if !matches!(first.1, Cell::Text(text) if may_be_name(text)) {
            return false;
        }
        let (mut moved, mut count) = (false, 0);
        for (column, cell) in filled(row) {
            let Cell::Text(text) = cell else { return false };
            let name = folded_header(text);
            match self.header.iter().position(|known| *known == name) {
                Some(_) if self.header.get(column) == Some(&name) => {}
                Some(_) => moved = true,
                None => return false,
            }
            count += 1;
        }
        moved && count > 1
    }

    /// Whether a row after a blank row has only words, even in a column of numbers and as an identifier.
    fn is_other_header(&self, row: &Row) -> bool {
        if !self.identifiers.have_digits() {
            return false;
        }
        let is_word = |cell: Cell<'_>| matches!(cell, Cell::Text(text) if text.len() <= MAX_BYTES && !text.contains(|c: char| c.is_numeric()));
        filled(row).nth(1).is_some()
            && filled(row).all(|(_, cell)| is_word(cell))
            && self.numbers.iter().any(|column| !row.get(*column).is_blank())
            && self.keys.iter().any(|column| !row.get(*column).is_blank())
    }

    /// Adds a row's number of cells.
    fn width(&mut self, row: &Row) {
        let width = self.header.len();
        self.shifted.row(row);
        if width < 2 || row.len() >= width {
            self.complete += 1;
            self.end_run();
            return;
        }
        let text = row.get(0).shown();
        let lacks_digits = !text.chars().any(char::is_numeric);
        let has_spaces = text.trim().contains(char::is_whitespace);
        self.run = Some(match self.run {
            Some(run) if run.first + run.count == row.number => ShortRows {
                count: run.count + 1,
                cells: run.cells + row.len(),
                lack_digits: run.lack_digits && lacks_digits,
                have_spaces: run.have_spaces && has_spaces,
                ..run
            },
            _ => {
                self.end_run();
                ShortRows { first: row.number, count: 1, cells: row.len(), lack_digits: true, have_spaces: true }
            }
        });
    }

    fn end_run(&mut self) {
        let Some(run) = self.run.take() else { return };
        let cells = self.header.len() as u64 + run.count - 1;
        if run.count > 1 && run.cells as u64 == cells && self.broken.len() < MAX_BROKEN {
            self.broken.push(run);
        } else {
            self.short += run.count;
        }
    }

    /// Returns the first and last rows of records broken by a line ending.
    fn broken(&self) -> Vec<(u64, u64)> {
        let is_broken = |run: &&ShortRows| {
            run.lack_digits && self.identifiers.have_digits() || run.have_spaces && self.identifiers.have_no_spaces()
        };
        // In some files, rows often lack their last delimiters.
        if self.short > 0 || self.complete < 2 || !self.broken.iter().all(|run| is_broken(&run)) {
            return Vec::new();
        }
        self.broken.iter().map(|run| (run.first, run.first + run.count - 1)).collect()
    }
}

fn has_digit(text: &str) -> bool {
    text.bytes().any(|byte| byte.is_ascii_digit())
}

/// Whether a rule is for the name of a record, beside its identifier.
pub(crate) fn is_name_of_record(rule: &FieldRule) -> bool {
    rule.field.name == "name" && rule.place == Place::Record
}

/// Iterates over the cells that are not blank.
pub(crate) fn filled(row: &Row) -> impl Iterator<Item = (usize, Cell<'_>)> {
    row.cells().enumerate().filter(|(_, cell)| !cell.is_blank())
}
