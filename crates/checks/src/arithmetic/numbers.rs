//! Numbers of cells for arithmetic: their value and their number of decimals.

use std::cell::RefCell;

use sheetport_sheet::{Cell, Row};
use sheetport_values::decimal::{self, Decimal};
use sheetport_values::normalize::trimmed;
use sheetport_values::number::style::{ColumnStyle, Surroundings, common_decimal};
use sheetport_values::number::{Notation, from_f64, parse_in};

use crate::roles::Roles;

/// Maximum number of columns that are searched for relations: the search grows with the third power of their number.
const MAX_COLUMNS: usize = 14;
/// Maximum number of unmapped columns that are looked at, before it is known which of them have numbers.
const MAX_UNMAPPED: usize = 24;
/// Maximum length of a number in bytes.
const MAX_BYTES: usize = 24;
/// Maximum length of an identifier in bytes.
const MAX_ITEM_BYTES: usize = 64;

/// Returns the columns that may take part in a relation: those of mapped numbers, and unmapped ones.
pub(super) fn candidates(roles: &Roles) -> Vec<usize> {
    let mapped = roles.numbers.iter().map(|(column, _)| *column);
    let unmapped = roles.unmapped.iter().copied().take(MAX_UNMAPPED);
    let mut columns: Vec<usize> = mapped.chain(unmapped).collect();
    columns.sort_unstable();
    columns.dedup();
    columns
}

/// The cells of a row in the candidate columns.
#[derive(Clone, Debug)]
pub(super) struct Cells {
    number: u64,
    cells: Vec<Raw>,
    /// The texts of the columns of identifiers.
    items: Vec<Option<String>>,
}

#[derive(Clone, Debug)]
enum Raw {
    Blank,
    Number(Exact),
    Text(String),
    Other,
}

/// A number as it is written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Exact {
    pub(super) value: f64,
    pub(super) decimals: u32,
    /// Digits without zeros at the beginning and the end.
    pub(super) digits: u32,
}

impl Exact {
    fn of(number: Decimal) -> Exact {
        let (mut digits, mut trailing, mut rest) = (0, 0, number.mantissa().unsigned_abs());
        while rest > 0 {
            // Most numbers have few digits, and divisions of wide ones are slow.
            let digit = match u64::try_from(rest) {
                Ok(short) => {
                    rest = u128::from(short / 10);
                    short % 10
                }
                Err(_) => {
                    let digit = rest % 10;
                    rest /= 10;
                    digit as u64
                }
            };
            digits += 1;
            trailing += u32::from(digit == 0 && trailing + 1 == digits);
        }
        Exact { value: decimal::to_f64(number), decimals: number.scale(), digits: digits - trailing }
    }
}

impl Cells {
    pub(super) fn of(row: &Row, columns: &[usize], items: &[usize]) -> Cells {
        let item = |column: &usize| {
            let cell = row.get(*column);
            let shown = cell.shown();
            Some(shown.trim()).filter(|text| !text.is_empty() && text.len() <= MAX_ITEM_BYTES).map(str::to_owned)
        };
        Cells {
            number: row.number,
            cells: columns.iter().map(|column| Raw::of(&row.get(*column))).collect(),
            items: items.iter().map(item).collect(),
        }
    }

    /// Returns the text of an identifier.
    pub(super) fn item(&self, nth: usize) -> Option<&str> {
        self.items.get(nth)?.as_deref()
    }
}

impl Raw {
    fn of(cell: &Cell<'_>) -> Raw {
        let number = |value: f64| from_f64(value).map_or(Raw::Other, |number| Raw::Number(Exact::of(number)));
        match cell {
            Cell::Blank => Raw::Blank,
            Cell::Number(value) | Cell::Money(value, _) | Cell::Rounded(value, _) | Cell::Formatted(value, _) => {
                number(*value)
            }
            // As people read it: 19 of 19 %.
            Cell::Percent(value) => number(*value * 100.0),
            Cell::Text(text) if text.len() <= MAX_BYTES => Raw::Text(text.trim().to_owned()),
            _ => Raw::Other,
        }
    }
}

/// How the numbers of columns of texts are written.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Notations(Vec<(usize, ColumnStyle)>);

/// The columns with numbers.
pub(super) struct Table {
    pub(super) columns: Vec<Column>,
    pub(super) rows: usize,
}

pub(super) struct Column {
    pub(super) index: usize,
    pub(super) values: Vec<Option<Exact>>,
    /// Most decimals of a value.
    pub(super) decimals: u32,
}

impl Table {
    /// Returns the column with this index, if it has numbers.
    pub(super) fn column(&self, index: usize) -> Option<&Column> {
        self.columns.iter().find(|column| column.index == index)
    }
}

/// Returns rows with two numbers, for tests.
#[cfg(test)]
pub(super) fn of_pairs(pairs: &[(f64, f64)]) -> (Vec<Row>, Notations, Table) {
    let row = |(number, (first, second)): (u64, &(f64, f64))| {
        let mut row = Row::default();
        row.clear(number);
        row.push(Cell::Number(*first));
        row.push(Cell::Number(*second));
        row
    };
    let rows: Vec<Row> = (2..).zip(pairs).map(row).collect();
    let cells: Vec<Cells> = rows.iter().map(|row| Cells::of(row, &[0, 1], &[])).collect();
    let notations = Notations::of(&[0, 1], &cells);
    let table = notations.table(&[0, 1], &cells);
    (rows, notations, table)
}

impl Notations {
    pub(super) fn of(columns: &[usize], rows: &[Cells]) -> Notations {
        let mut styles: Vec<(usize, ColumnStyle)> =
            columns.iter().map(|column| (*column, ColumnStyle::default())).collect();
        for row in rows {
            for ((_, style), cell) in styles.iter_mut().zip(&row.cells) {
                if let Raw::Text(text) = cell {
                    style.add(row.number, text);
                }
            }
        }
        let sheet = common_decimal(styles.iter().map(|(_, style)| style));
        let styles = styles
            .into_iter()
            .map(|(column, style)| (column, style.with(Surroundings { sheet, ..Surroundings::default() })));
        Notations(styles.collect())
    }

    /// Returns the columns in which nearly all values are numbers.
    pub(super) fn table(&self, columns: &[usize], rows: &[Cells]) -> Table {
        let read = |(nth, index): (usize, &usize)| {
            let values: Vec<Option<Exact>> = rows.iter().map(|row| self.read(*index, &row.cells[nth])).collect();
            let filled = rows.iter().filter(|row| !matches!(&row.cells[nth], Raw::Blank)).count();
            let numbers = values.iter().flatten().count();
            let decimals = values.iter().flatten().map(|number| number.decimals).max().unwrap_or(0);
            // A few cells of a column of numbers may be words.
            (numbers >= 2 && numbers * 10 >= filled * 9).then_some(Column { index: *index, values, decimals })
        };
        Table { columns: columns.iter().enumerate().filter_map(read).take(MAX_COLUMNS).collect(), rows: rows.len() }
    }

    fn read(&self, column: usize, cell: &Raw) -> Option<Exact> {
        match cell {
            Raw::Number(number) => Some(*number),
            Raw::Text(text) => self.read_text(column, text),
            Raw::Blank | Raw::Other => None,
        }
    }

    fn read_text(&self, column: usize, text: &str) -> Option<Exact> {
        if !text.bytes().any(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let (_, style) = self.0.iter().find(|(known, _)| *known == column)?;
        let parsed = parse_in(text, Notation::Column { locale: None, style }).ok()?;
        Some(Exact::of(parsed.number)).filter(|number| number.value.is_finite())
    }

    /// Returns the numbers of a row, each of which is read once.
    pub(super) fn of_row<'r>(&'r self, row: &'r Row) -> RowNumbers<'r> {
        RowNumbers { notations: self, row, read: RefCell::default() }
    }
}

/// The numbers of a row.
pub(super) struct RowNumbers<'r> {
    notations: &'r Notations,
    pub(super) row: &'r Row,
    /// What was read so far, by column.
    read: RefCell<Vec<(usize, Option<Exact>)>>,
}

impl RowNumbers<'_> {
    /// Returns the number in a column.
    pub(super) fn number(&self, column: usize) -> Option<Exact> {
        let mut read = self.read.borrow_mut();
        if let Some((_, number)) = read.iter().find(|(known, _)| *known == column) {
            return *number;
        }
        let number = match self.row.get(column) {
            Cell::Text(text) if text.len() <= MAX_BYTES => self.notations.read_text(column, trimmed(text)),
            cell => self.notations.read(column, &Raw::of(&cell)),
        };
        read.push((column, number));
        number
    }

    /// Returns the text of a cell, for messages.
    pub(super) fn shown(&self, column: usize) -> String {
        self.row.get(column).shown().trim().to_owned()
    }
}
