//! What the rows of a record have in common with what it says of them all: a total, the number of its lines, their positions. A row that was
//! cut off, filtered out or joined to another record shows nowhere else.

use sheetport_findings::Code;
use sheetport_sheet::{Cell, Row};

use super::finding::Finding;
use super::roles::{Meaning, Roles, record_of};

/// Most unmapped columns that may say something of a record.
const MAX_COLUMNS: usize = 16;
/// Fewest records that agree, and fewest of them with several rows.
const FEWEST: usize = 8;
const FEWEST_SEVERAL: usize = 3;
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
}

/// The record of the rows before.
#[derive(Clone, Debug)]
struct Current {
    hash: u64,
    rows: u64,
    /// The sum of units × price; `None` if one of them can't be read.
    sum: Option<f64>,
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
    claims: [Claim; 3],
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

impl RecordCounts {
    pub(super) fn new(roles: &Roles) -> RecordCounts {
        let of =
            |meaning: Meaning| roles.numbers.iter().find(|(_, it)| it.meaning == meaning).map(|(column, _)| *column);
        let column = |column: &usize| Column {
            column: *column,
            says: None,
            is_constant: true,
            is_numbered: true,
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
        }
    }

    pub(super) fn row(&mut self, roles: &Roles, row: &Row) {
        if self.columns.is_empty() {
            return;
        }
        // A row without an identifier continues the record above.
        let Some(hash) = record_of(&self.group, row).or(self.current.as_ref().map(|current| current.hash)) else {
            return;
        };
        if self.current.as_ref().is_none_or(|current| current.hash != hash) {
            self.end(roles);
            self.current = Some(Current { hash, rows: 0, sum: Some(0.0) });
        }
        let Some(current) = &mut self.current else { return };
        current.rows += 1;
        let amount = |column: Option<usize>| number(&row.get(column?));
        let product = amount(self.units).zip(amount(self.price)).map(|(units, price)| units * price);
        current.sum = current.sum.zip(product).map(|(sum, product)| sum + product);
        for column in &mut self.columns {
            let says = number(&row.get(column.column));
            if current.rows == 1 {
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
        let field = roles.mapped.iter().find(|(column, _)| *column == key).map_or("", |(_, field)| field);
        let odd = |message: String, is_warning: bool| OddRecord {
            hash: current.hash,
            group: self.group.clone(),
            column: key,
            field,
            message,
            is_warning,
        };
        for column in &mut self.columns {
            let name = roles.name_of(column.column);
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
        let claims = all.columns.into_iter().flat_map(|column| column.claims);
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

    fn is_sound(&self) -> bool {
        let is_true = self.records >= FEWEST && self.several >= FEWEST_SEVERAL && self.different.len() > 1;
        is_true && self.odd_count <= (self.records / MOST_ODD).max(1) && self.odd_count == self.odd.len()
    }
}

impl OddRecord {
    pub(super) fn judge(&self, row: &Row) -> Option<Finding> {
        (record_of(&self.group, row) == Some(self.hash)).then(|| Finding {
            code: Code::UnlikeOthers,
            column: self.column,
            field: self.field,
            value: row.get(self.column).shown().trim().to_owned(),
            message: self.message.clone(),
            remedy: "look for a row that is missing, twice, or of another record; if it is right, send it with --accept unlike-others"
                .to_owned(),
            is_warning: self.is_warning,
        })
    }
}

/// Reads a number in any notation: of two separators, the last one is of the decimals, and so is one that stands alone.
fn number(cell: &Cell<'_>) -> Option<f64> {
    match cell {
        Cell::Number(value) | Cell::Money(value, _) | Cell::Rounded(value, _) | Cell::Formatted(value, _) => {
            Some(*value)
        }
        Cell::Text(text) => {
            let text = text.trim();
            let is_plain =
                !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b','));
            let decimals = text.rfind(['.', ',']);
            let whole = |text: &str| text.chars().filter(char::is_ascii_digit).collect::<String>();
            let number = match decimals {
                Some(at) => format!("{}.{}", whole(&text[..at]), &text[at + 1..]),
                None => text.to_owned(),
            };
            number.parse().ok().filter(|_| is_plain)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
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
        let row = |(number, texts): (u64, &[String; 6])| {
            let mut row = Row::default();
            row.clear(number);
            texts.iter().for_each(|text| row.push(if text.is_empty() { Cell::Blank } else { Cell::Text(text) }));
            row
        };
        let rows: Vec<Row> = (2..).zip(rows).map(row).collect();
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
