//! The first rows of a sheet, for evidence from the order of the rows: numbers, dates and texts of each column.

use sheetport_sheet::Row;
use sheetport_values::normalize::trimmed;
use twox_hash::XxHash3_64;

use super::features::is_barcode;
use super::hashed::ByHash;
use super::roles::{Roles, record_of};
use super::sequence::days;
use super::whole_records::number;

/// Most rows and columns that are kept: half a megabyte.
const MAX_ROWS: usize = 2048;
const MAX_COLUMNS: usize = 16;
/// Most different texts of a column. Those with more do not repeat them.
const MAX_TEXTS: usize = 512;
/// Longest text in bytes.
const MAX_BYTES: usize = 120;

#[derive(Clone, Debug)]
pub(super) struct Sample {
    /// The numbers of the rows, and what identifies their records.
    pub(super) rows: Vec<u64>,
    pub(super) records: Vec<u64>,
    pub(super) columns: Vec<Column>,
}

#[derive(Clone, Debug)]
pub(super) struct Column {
    pub(super) index: usize,
    is_amount: bool,
    /// By row; of columns that the template reads as numbers, and of others that have nothing else.
    pub(super) numbers: Option<Vec<Option<f64>>>,
    /// By row, with the day before the month and the other way round; only of columns of dates.
    pub(super) days: Option<Vec<Option<[i32; 2]>>>,
    pub(super) texts: Vec<Texts>,
    /// By row: the hash of its text; 0 for none.
    pub(super) hashes: Vec<u64>,
    /// Whether a cell has a text of three letters at least.
    pub(super) has_words: bool,
    /// The number of barcodes, and of other texts.
    barcodes: [usize; 2],
}

/// A part of the texts of a column.
#[derive(Clone, Debug)]
pub(super) struct Texts {
    pub(super) part: Part,
    /// By row: the place of its text in the order of appearance, from 1; 0 for none.
    pub(super) ids: Vec<u16>,
    pub(super) different: usize,
    known: ByHash<u16>,
    /// The first texts with their hashes.
    pub(super) first: Vec<(u64, String)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Whole,
    /// The first of several words, as of *Hammer, large*.
    FirstWord,
    /// The letters in front of a number.
    Letters,
    /// Whether there is a value.
    Filled,
}

/// Number of the first texts that are kept, to be shown.
const FIRST: usize = 24;

impl Sample {
    pub(super) fn new(roles: &Roles) -> Sample {
        let mut columns: Vec<usize> = roles.mapped.iter().map(|(column, _)| *column).collect();
        columns.extend(roles.unmapped.iter().filter(|column| !columns.contains(column)).copied().collect::<Vec<_>>());
        // The rows of a report are those with problems.
        columns.truncate(if roles.status.is_some() { 0 } else { MAX_COLUMNS });
        let parts = [Part::Whole, Part::FirstWord, Part::Letters, Part::Filled];
        let column = |index: usize| Column {
            index,
            is_amount: roles.numbers.iter().any(|(number, _)| *number == index),
            numbers: Some(Vec::new()),
            days: Some(Vec::new()),
            texts: parts
                .map(|part| Texts { part, ids: Vec::new(), different: 0, known: ByHash::default(), first: Vec::new() })
                .into(),
            hashes: Vec::new(),
            has_words: false,
            barcodes: [0; 2],
        };
        Sample { rows: Vec::new(), records: Vec::new(), columns: columns.into_iter().map(column).collect() }
    }

    pub(super) fn row(&mut self, roles: &Roles, row: &Row) {
        if self.rows.len() >= MAX_ROWS || self.columns.is_empty() {
            return;
        }
        let before = self.records.last().copied().filter(|_| !roles.group.is_empty());
        self.records.push(record_of(&roles.group, row).or(before).unwrap_or(row.number));
        self.rows.push(row.number);
        for column in &mut self.columns {
            let cell = row.get(column.index);
            let amount = number(&cell);
            if !column.is_amount && amount.is_none() && !cell.is_blank() {
                column.numbers = None;
            }
            column.numbers.iter_mut().for_each(|numbers| numbers.push(amount));
            if let Some(dates) = &mut column.days {
                let date = days(&cell).map(|days| days.map(|day| i32::try_from(day).unwrap_or(0)));
                let is_other = date.is_none() && !cell.is_blank();
                dates.push(date);
                if is_other {
                    column.days = None;
                }
            }
            let shown = cell.shown();
            let text = trimmed(&shown);
            column.hashes.push(if text.is_empty() { 0 } else { XxHash3_64::oneshot(text.as_bytes()) });
            column.barcodes[usize::from(!is_barcode(text))] += usize::from(!text.is_empty());
            column.has_words = column.has_words || text.chars().filter(|c| c.is_alphabetic()).count() >= 3;
            column.texts.retain_mut(|texts| texts.add(text));
        }
    }

    pub(super) fn column(&self, index: usize) -> Option<&Column> {
        self.columns.iter().find(|column| column.index == index)
    }

    /// Returns the number of different records of the rows at these places.
    pub(super) fn records_of(&self, places: impl Iterator<Item = usize>) -> usize {
        let mut records: Vec<u64> = places.filter_map(|place| self.records.get(place).copied()).collect();
        records.sort_unstable();
        records.dedup();
        records.len()
    }
}

impl Column {
    pub(super) fn are_barcodes(&self) -> bool {
        let [barcodes, others] = self.barcodes;
        others * 10 <= barcodes
    }

    pub(super) fn texts(&self, part: Part) -> Option<&Texts> {
        self.texts.iter().find(|texts| texts.part == part)
    }
}

impl Texts {
    /// Returns whether the texts can still repeat.
    fn add(&mut self, text: &str) -> bool {
        let id = match self.part.of(text) {
            None => 0,
            Some(part) => {
                let next = u16::try_from(self.known.len() + 1).unwrap_or(u16::MAX);
                let hash = XxHash3_64::oneshot(part.as_bytes());
                let id = *self.known.entry(hash).or_insert(next);
                if id == next && self.first.len() < FIRST {
                    self.first.push((hash, part.to_owned()));
                }
                id
            }
        };
        self.ids.push(id);
        self.different = self.known.len();
        self.different <= MAX_TEXTS && text.len() <= MAX_BYTES
    }
}

impl Part {
    pub(super) fn of(self, text: &str) -> Option<&str> {
        match self {
            Part::Filled => Some(if text.is_empty() { "" } else { "*" }),
            Part::Whole => Some(text).filter(|text| !text.is_empty()),
            Part::FirstWord => text.split_once([' ', ',']).map(|(first, _)| first).filter(|word| is_word(word)),
            Part::Letters => {
                let end = text.find(|c: char| !c.is_alphabetic()).filter(|end| *end > 0)?;
                Some(&text[..end]).filter(|_| !text.contains(' '))
            }
        }
    }
}

fn is_word(text: &str) -> bool {
    text.chars().any(char::is_alphabetic)
}
