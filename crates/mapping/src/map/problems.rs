//! Problems of cells, rows and records, located in the sheet.

use sheetport_sheet::{Cell, Row};
use sheetport_values::identifier::{self, Damage};

use super::super::bind::{Columns, own_column};
use super::super::model::{Damaged, FieldRule};
use super::super::problem::{Cause, MarkedParts, Problem, excerpt};
use super::mapper::{Mapper, SEPARATOR};

impl Mapper<'_> {
    /// Creates a problem of the group columns.
    pub fn group_problem(&self, row: u64, group: &str, cause: Cause) -> Problem {
        let column = self.layout().group.first().copied();
        let value = excerpt(group).replace(SEPARATOR, " ");
        self.problem_at(row, column, "group", value, cause)
    }

    /// Returns the problem of a group's cell damaged by a spreadsheet program. Damaged cells would join different records.
    pub(super) fn group_damage(&self, row: &Row, column: usize) -> Option<Problem> {
        // Problems of identifiers are reported by their rule.
        if self.is_identifier(column) {
            return None;
        }
        let cause = match self.usable_cell(row, column) {
            Ok(_) if row.parts(column).next().is_some() => Some(Cause::MarkedParts(MarkedParts::of(row, column))),
            Ok(Cell::Number(number) | Cell::Rounded(number, _)) => {
                identifier::from_f64(number).err().map(Cause::Damaged)
            }
            // Numbers of orders can have the form of a date, and other texts that group rows that of a time, or several lines.
            Ok(Cell::Text(text)) => identifier::damage(text)
                .filter(|damage| !matches!(damage, Damage::Date | Damage::Time | Damage::LineBreak))
                .map(Cause::Damaged),
            Ok(_) => None,
            Err(cause) => Some(cause),
        }?;
        let value = excerpt(&self.cell(row, column).shown());
        Some(self.problem_at(row.number, Some(column), "group", value, cause))
    }

    /// Creates a problem of a record with a duplicate key.
    pub fn same_key(&self, row: u64, key: &str, cause: Cause) -> Problem {
        let has_no_column = |index: usize| self.rule(index).1.first().is_none();
        let keys = self.special().keys.iter().copied();
        let index = keys.min_by_key(|index| (has_no_column(*index), *index));
        let (rule, columns) = self.rule(index.expect("a record with a key has a rule for it"));
        let cause = match cause {
            Cause::Duplicate { other_row } if other_row == row && self.template().unpivot.is_some() => {
                Cause::DuplicateInRow
            }
            cause => cause,
        };
        self.problem_at(row, columns.first(), rule.field.name, excerpt(key), cause)
    }

    /// Creates a problem of a value that also occurs in another record.
    pub fn same_value(&self, row: u64, index: usize, value: &str, cause: Cause) -> Problem {
        let (rule, columns) = self.rule(index);
        self.problem_at(row, columns.first(), rule.field.name, excerpt(value), cause)
    }

    /// Creates a problem of a value, at its cell in the row. The value of a line may be in one of several columns.
    pub fn value_problem(&self, row: &Row, index: usize, value: &str, cause: Cause) -> Problem {
        let (rule, columns) = self.rule(index);
        let has_value = |column: &usize| self.cell(row, *column).shown().trim() == value;
        let column = self.layout().columns_of(index).into_iter().find(has_value).or(columns.first());
        self.problem_at(row.number, column, rule.field.name, excerpt(value), cause)
    }

    /// Returns the parts of a text that are set differently, unless the field is for texts that people read.
    pub(super) fn marked_parts(&self, rule: &FieldRule, row: &Row, column: usize) -> Option<MarkedParts> {
        let is_exact = !rule.is_plain_text() && rule.damaged != Damaged::Accept;
        (is_exact && row.parts(column).next().is_some()).then(|| MarkedParts::of(row, column))
    }

    pub(super) fn problem(&self, rule: &FieldRule, columns: &Columns, row: &Row, cause: Cause) -> Problem {
        // The first unusable cell, or the first cell.
        let column = columns.iter().find(|column| self.usable_cell(row, *column).is_err()).or(columns.first());
        let value = column.map(|index| excerpt(&self.cell(row, index).shown())).unwrap_or_default();
        let cause = match cause {
            Cause::AfterStep { value: after, cause, .. } if after == value => *cause,
            cause => cause,
        };
        self.problem_at(row.number, column, rule.field.name, value, cause)
    }

    pub(super) fn problem_at(
        &self,
        row: u64,
        column: Option<usize>,
        field: &'static str,
        value: String,
        cause: Cause,
    ) -> Problem {
        let column = column.map(own_column);
        let header = column.and_then(|index| self.layout().header.names.get(index)).map(|name| excerpt(name));
        let header = header.unwrap_or_default();
        Problem { table: self.table(), row, column, header, field, value, cause }
    }
}
