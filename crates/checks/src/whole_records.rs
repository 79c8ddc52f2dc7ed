//! What the rows of a record have in common with what it says of them all: a total, the number of its lines, their positions, and texts that
//! they repeat. A row that was cut off, filtered out or joined to another record shows nowhere else. A record may also be a copy of the one
//! above, with another number.

use sheetport_sheet::{Cell, Row};
use sheetport_values::normalize::trimmed;
use twox_hash::XxHash3_64;

use super::finding::Finding;
use super::roles::{Meaning, Roles, record_of};

/// Most unmapped columns that may say something of a record.
const MAX_COLUMNS: usize = 16;
/// Fewest records that agree, and fewest of them with several rows.
const FEWEST: usize = 8;
const FEWEST_SEVERAL: usize = 3;
/// Fewest rows of a record that is a copy of the one above. Two are ordered twice by chance.
const FEWEST_COPIED: u64 = 3;
/// One in this many records may disagree, or the column means something else: totals often have costs of delivery.
const MOST_ODD: usize = 10;
/// Most records that are remembered as odd.
const MAX_ODD: usize = 64;
/// Half a cent, and what binary numbers leave of it.
const TOLERANCE: f64 = 0.006;

/// Collects what columns say of the records. Rows of a record stand together.
#[derive(Clone, Debug)]
pub(super) struct RecordCounts {
    group: Vec<usize>,
    units: Option<usize>,
    price: Option<usize>,
    columns: Vec<Column>,
    current: Option<Current>,
    /// The contents of the record above, and the records that repeat it.
    above: Option<(u64, u64)>,
    copies: Claim,
}

/// The record of the rows before.
#[derive(Clone, Debug)]
struct Current {
    hash: u64,
    rows: u64,
    /// The sum of units × price; `None` if one of them can't be read.
    sum: Option<f64>,
    /// What its rows have beside what identifies them.
    contents: u64,
}

/// A column that may say something of its record.
#[derive(Clone, Debug)]
struct Column {
    column: usize,
    /// What it says on the first row of the current record, and whether other rows say the same or nothing.
    says: Option<f64>,
    is_constant: bool,
    /// Whether each row of the current record has the number after that of the row above.
    is_numbered: bool,
    /// The text on the first row of the current record, and whether other rows have the same or none.
    text: u64,
    is_repeated: bool,
    claims: [Claim; 4],
}

/// How often a claim about the records is true.
#[derive(Clone, Debug, Default)]
struct Claim {
    records: usize,
    several: usize,
    different: Vec<u64>,
    odd: Vec<OddRecord>,
    odd_count: usize,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct OddRecord {
    hash: u64,
    group: Vec<usize>,
    column: usize,
    field: &'static str,
    message: String,
    is_warning: bool,
}

/// The claims, in the order of [`Column::claims`].
const TOTAL: usize = 0;
const LINES: usize = 1;
const POSITION: usize = 2;
const TEXT: usize = 3;

impl RecordCounts {
    pub(super) fn new(roles: &Roles) -> RecordCounts {
        let of =
            |meaning: Meaning| roles.numbers.iter().find(|(_, it)| it.meaning == meaning).map(|(column, _)| *column);
        let column = |column: &usize| Column {
            column: *column,
            says: None,
            is_constant: true,
            is_numbered: true,
            text: 0,
            is_repeated: true,
            claims: Default::default(),
        };
        // The rows of a report need not be all rows of a record.
        let is_judged = roles.status.is_none() && !roles.group.is_empty();
        let columns = roles.unmapped.iter().take(MAX_COLUMNS).filter(|_| is_judged).map(column);
        RecordCounts {
            group: roles.group.clone(),
            units: of(Meaning::Count),
            price: of(Meaning::UnitPrice),
            columns: columns.collect(),
            current: None,
            above: None,
            copies: Claim::default(),
        }
    }

    pub(super) fn row(&mut self, roles: &Roles, row: &Row) {
        if self.group.is_empty() || roles.status.is_some() {
            return;
        }
        // A row without an identifier continues the record above.
        let Some(hash) = record_of(&self.group, row).or(self.current.as_ref().map(|current| current.hash)) else {
            return;
        };
        if self.current.as_ref().is_none_or(|current| current.hash != hash) {
            self.end(roles);
            self.current = Some(Current { hash, rows: 0, sum: Some(0.0), contents: 0 });
        }
        let Some(current) = &mut self.current else { return };
        current.rows += 1;
        let contents = roles.mapped.iter().filter(|(column, _)| !self.group.contains(column));
        current.contents = contents.fold(current.contents, |hash, (column, _)| text_hash(row, *column, hash));
        let amount = |column: Option<usize>| number(&row.get(column?));
        let product = amount(self.units).zip(amount(self.price)).map(|(units, price)| units * price);
        current.sum = current.sum.zip(product).map(|(sum, product)| sum + product);
        for column in &mut self.columns {
            let says = number(&row.get(column.column));
            let text = text_hash(row, column.column, 0);
            column.is_repeated =
                current.rows == 1 || column.is_repeated && (text == column.text || row.get(column.column).is_blank());
            if current.rows == 1 {
                column.text = text;
                (column.says, column.is_constant, column.is_numbered) = (says, true, says.is_some());
            } else {
                column.is_constant &= says.is_none() || says == column.says;
                let is_next =
                    says.zip(column.says).is_some_and(|(says, first)| says == first + current.rows as f64 - 1.0);
                column.is_numbered &= is_next;
            }
        }
    }

    /// Counts what the columns have said of the record that has ended.
    fn end(&mut self, roles: &Roles) {
        let Some(current) = self.current.take() else { return };
        let key = self.group.first().copied().unwrap_or_default();
        let field = roles.mapped_at(key).map_or("", |(_, field)| field);
        let odd = |message: String, is_warning: bool| OddRecord {
            hash: current.hash,
            group: self.group.clone(),
            column: key,
            field,
            message,
            is_warning,
        };
        let is_copy =
            current.rows >= FEWEST_COPIED && self.above.is_some_and(|(contents, _)| contents == current.contents);
        self.copies.add(current.rows, !is_copy, current.contents, || {
            odd("has the same rows as the record above, as a copy has".to_owned(), false)
        });
        self.above = Some((current.contents, current.hash));
        for column in &mut self.columns {
            let name = roles.name_of(column.column);
            if current.rows > 1 {
                column.claims[TEXT].add(current.rows, column.is_repeated, column.text, || {
                    odd(format!("has rows with different values under '{name}', unlike the others"), false)
                });
            }
            let Column { says: Some(says), is_constant, is_numbered, ref mut claims, .. } = *column else { continue };
            let rows = current.rows;
            if let Some(sum) = current.sum.filter(|_| is_constant) {
                claims[TOTAL].add(rows, (says - sum).abs() <= TOLERANCE, sum.to_bits(), || {
                    odd(format!("has rows for {sum:.2} in all, and {name} says {says:.2}"), false)
                });
            }
            if is_constant {
                claims[LINES].add(rows, says == rows as f64, rows, || {
                    odd(format!("has {rows} rows, and {name} says {says}"), false)
                });
            }
            // Without its first row, a record has lost it, or begins in the middle of another one.
            claims[POSITION].add(rows, is_numbered && says == 1.0, rows, || {
                odd(format!("has rows that are not numbered from 1 under {name}, unlike the others"), says == 1.0)
            });
        }
    }

    /// Returns the records that what nearly all columns say of records contradicts.
    pub(super) fn odd(&self, roles: &Roles) -> Vec<OddRecord> {
        let mut all = self.clone();
        all.end(roles);
        let columns = all.columns.into_iter();
        let claims = columns.flat_map(|column| {
            // A text that all records repeat is none of the record.
            let is_of_record =
                column.claims[TEXT].different.len() > FEWEST_SEVERAL && column.claims[TEXT].is_rarely_odd();
            column.claims.into_iter().enumerate().filter(move |(claim, _)| *claim != TEXT || is_of_record)
        });
        let claims = claims.map(|(_, claim)| claim).chain(Some(all.copies).filter(Claim::is_rarely_odd));
        claims.filter(Claim::is_sound).flat_map(|claim| claim.odd).collect()
    }
}

impl Claim {
    fn add(&mut self, rows: u64, is_true: bool, about: u64, odd: impl FnOnce() -> OddRecord) {
        if !is_true {
            self.odd_count += 1;
            if self.odd.len() < MAX_ODD {
                self.odd.push(odd());
            }
            return;
        }
        self.records += 1;
        self.several += usize::from(rows > 1);
        if self.different.len() < FEWEST && !self.different.contains(&about) {
            self.different.push(about);
        }
    }

    /// Whether at most one in fifty records is odd.
    fn is_rarely_odd(&self) -> bool {
        self.odd_count <= (self.records / 50).max(1)
    }

    fn is_sound(&self) -> bool {
        let is_true = self.records >= FEWEST && self.several >= FEWEST_SEVERAL && self.different.len() > 1;
        is_true && self.odd_count <= (self.records / MOST_ODD).max(1) && self.odd_count == self.odd.len()
    }
}

impl OddRecord {
    pub(super) fn judge(&self, row: &Row) -> Option<Finding> {
        (record_of(&self.group, row) == Some(self.hash)).then(|| Finding { remedy: "look for a row that is missing, twice, or of another record; if it is right, send it with --accept unlike-others"
                .to_owned(), is_warning: self.is_warning, ..Finding::unlike_others((self.column, self.field), row.get(self.column).shown().trim().to_owned(), self.message.clone()) })
    }
}

/// Returns the hash of a text, and of those before it.
fn text_hash(row: &Row, column: usize, before: u64) -> u64 {
    XxHash3_64::oneshot_with_seed(before, trimmed(&row.get(column).shown()).as_bytes())
}

/// Reads a number in any notation: of two separators, the last one is of the decimals, and so is one that stands alone.
pub(super) fn number(cell: &Cell<'_>) -> Option<f64> {
    match cell {
        Cell::Number(value) | Cell::Money(value, _) | Cell::Rounded(value, _) | Cell::Formatted(value, _) => {
            Some(*value)
        }
        Cell::Text(text) => {
            let text = trimmed(text);
            if let Some(number) = short_number(text) {
                return Some(number);
            }
            let is_plain =
                !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b','));
            // First, because a text may be long.
            if !is_plain {
                return None;
            }
            let decimals = text.rfind(['.', ',']);
            let whole = |text: &str| text.chars().filter(char::is_ascii_digit).collect::<String>();
            let number = match decimals {
                Some(at) => format!("{}.{}", whole(&text[..at]), &text[at + 1..]),
                None => text.to_owned(),
            };
            number.parse().ok()
        }
        _ => None,
    }
}

/// Reads a number of at most 15 digits with at most one separator, as nearly all are: its digits and its power of ten are exact doubles, and
/// the quotient of these is the nearest one.
fn short_number(text: &str) -> Option<f64> {
    const MAX_BYTES: usize = 15;
    if text.len() > MAX_BYTES {
        return None;
    }
    let (mut digits, mut power, mut is_behind) = (0_u64, 1_u64, false);
    for byte in text.bytes() {
        match byte {
            b'0'..=b'9' => {
                digits = digits * 10 + u64::from(byte - b'0');
                power *= if is_behind { 10 } else { 1 };
            }
            b'.' | b',' if !is_behind => is_behind = true,
            _ => return None,
        }
    }
    let has_digits = text.len() > usize::from(is_behind);
    has_digits.then(|| digits as f64 / power as f64)
}

#[cfg(test)]
mod tests {
    use super::super::testing::row;
    use super::*;
    use crate::roles::Quantity;

    /// Returns the rows, from 2, of records that are not whole.
    fn odd(rows: &[[String; 6]]) -> Vec<u64> {
        let number = |field, meaning| Quantity { field, meaning, is_fraction: false };
        let roles = Roles {
            mapped: vec![(0, "externalId")],
            group: vec![0],
            numbers: vec![(1, number("quantity", Meaning::Count)), (2, number("price", Meaning::UnitPrice))],
            unmapped: vec![3, 4, 5],
            names: ["Order", "Qty", "Price", "Total", "Lines", "Pos"].map(str::to_owned).to_vec(),
            ..Roles::default()
        };
        let rows: Vec<Row> = (2..).zip(rows).map(|(number, texts)| row(number, texts)).collect();
        let mut counts = RecordCounts::new(&roles);
        rows.iter().for_each(|row| counts.row(&roles, row));
        let found = counts.odd(&roles);
        rows.iter().filter(|row| found.iter().any(|it| it.judge(row).is_some())).map(|row| row.number).collect()
    }

    /// Makes 12 orders of one to three lines.
    fn orders() -> Vec<[String; 6]> {
        let mut rows = Vec::new();
        for order in 0..12_u32 {
            let lines: Vec<(u32, f64)> =
                (0..=order % 3).map(|line| (1 + (order + line) % 4, 1.25 * f64::from(line + order + 1))).collect();
            let total: f64 = lines.iter().map(|(units, price)| f64::from(*units) * price).sum();
            for (at, (units, price)) in lines.iter().enumerate() {
                let pos = at + 1;
                rows.push([
                    format!("O-{order}"),
                    units.to_string(),
                    format!("{price:.2}"),
                    format!("{total:.2}"),
                    lines.len().to_string(),
                    pos.to_string(),
                ]);
            }
        }
        rows
    }

    #[test]
    fn a_record_with_another_total_number_of_lines_or_position_is_found() {
        let whole = orders();
        assert!(odd(&whole).is_empty());
        // The last row is missing.
        assert_eq!(odd(&whole[..whole.len() - 1]), [23, 24]);
        let mut other = whole.clone();
        other[6][3] = "999.00".to_owned();
        other.iter_mut().for_each(|row| row[4].clear());
        assert_eq!(odd(&other), [8], "of one row");
        let mut moved = whole.clone();
        moved.iter_mut().for_each(|row| (row[3], row[4]) = (String::new(), String::new()));
        moved[1][5] = "2".to_owned();
        assert_eq!(odd(&moved), [3, 4]);
        // Costs of delivery.
        let mut delivered = whole;
        delivered.iter_mut().take(8).for_each(|row| row[3] = format!("{}5", row[3]));
        assert!(odd(&delivered).is_empty());
    }
}
