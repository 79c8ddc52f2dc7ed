//! Rows that are not records: remarks, page numbers, headings of sections, totals, hints under the header, and the rows of a
//! further table.

use sheetport_sheet::{Cell, Row};

use crate::bind::Columns;
use crate::map::mapper::Mapper;
use crate::map::survey::rows::{MAX_BYTES, filled};
use crate::problem::{Cause, NoRecord};
use crate::words::no_record::{
    has_stamp, is_charge, is_count, is_hint, is_page, is_page_of_pages, is_remark, is_stamp, starts_with_page,
    starts_with_sign,
};
use crate::words::total_rows::{is_total_row, starts_with_total};

/// Maximum number of cells of a row with the number of a page: `Page | 1 | of | 2`.
const MAX_PAGE_CELLS: usize = 4;

impl Mapper<'_> {
    /// Returns why a row is not a record, with the column of the decisive cell.
    pub(crate) fn no_record(&self, row: &Row) -> Option<(Option<usize>, Cause)> {
        let (layout, survey) = (self.layout(), self.row_survey());
        if layout.is_report || layout.is_defused {
            return None;
        }
        if let Some((first, last)) = survey.broken(row.number) {
            return Some((None, Cause::BrokenRow { first, last }));
        }
        if let Some(column) = survey.shifted(row) {
            return Some((Some(column), Cause::ShiftedCells));
        }
        if let Some(header_row) = survey.further_table(row.number) {
            return Some((None, Cause::SecondTable { header_row }));
        }
        let mut cells = filled(row);
        let (column, first) = cells.next()?;
        if row.number <= layout.header.row + 2 && self.template().unpivot.is_none() && is_numbering(row, layout.width) {
            return Some((Some(column), Cause::NoRecord(NoRecord::Hints)));
        }
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
            (Cell::Text(text), Some((_, second))) => {
                if let Some(kind) = self.footer(text, second, row) {
                    return Some((Some(column), Cause::NoRecord(kind)));
                }
                if let Some((column, kind)) = self.unlike_record(column, text, row) {
                    return Some((Some(column), Cause::NoRecord(kind)));
                }
                (row.number <= layout.header.row + 2 && is_hints(row)).then_some(NoRecord::Hints)
            }
            _ => None,
        };
        kind.map(|kind| (Some(column), Cause::NoRecord(kind)))
    }

    /// Returns the kind of a row that is no record whatever the identifiers of the sheet look like: the number of a page, or a
    /// label with its only value, such as `Exported on | 2026-01-05`.
    fn footer(&self, text: &str, second: Cell<'_>, row: &Row) -> Option<NoRecord> {
        if text.len() > MAX_BYTES {
            return None;
        }
        if starts_with_page(text) && is_page_row(row) {
            return Some(NoRecord::Page);
        }
        if filled(row).nth(2).is_some() {
            return None;
        }
        let is_unlike = self.row_survey().is_unlike_identifiers(text);
        // A single word may also be an identifier.
        let is_certain = is_unlike || text.trim().contains([' ', ':', '：']);
        if !is_certain {
            None
        } else if is_count(text) && is_whole_number(&second) {
            Some(NoRecord::Total)
        } else if is_stamp(text) {
            Some(NoRecord::Remark)
        } else {
            (is_unlike && is_page(text)).then_some(NoRecord::Page)
        }
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
        } else if has_stamp(text) || is_remark(text) && (survey.is_unlike_identifiers(text) || starts_with_sign(text)) {
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
        } else if self.lacks_name(row) || self.is_charge(column, text, row) {
            NoRecord::Nameless
        } else {
            return None;
        };
        Some((column, kind))
    }

    /// Whether a row without a name has a word for a charge, such as `Shipping`, in the column of the records' own identifiers.
    fn is_charge(&self, column: usize, text: &str, row: &Row) -> bool {
        let is_own = || self.special().keys.iter().any(|rule| self.layout().columns[*rule].contains(column));
        let has_name = || self.name_column().is_some_and(|column| !self.cell(row, column).is_blank());
        self.template().group.is_none() && is_charge(text) && is_own() && !has_name()
    }

    /// Returns the column of the name of a record.
    fn name_column(&self) -> Option<usize> {
        self.special().name.and_then(|rule| self.layout().columns[rule].first())
    }

    /// Whether a row has no name although most records have.
    pub(crate) fn lacks_name(&self, row: &Row) -> bool {
        self.row_survey().has_names() && self.name_column().is_some_and(|column| self.cell(row, column).is_blank())
    }

    fn mapped_columns(&self) -> usize {
        self.layout().columns.iter().flat_map(Columns::iter).take(2).count()
    }

    pub(crate) fn is_identifier(&self, column: usize) -> bool {
        self.special().identifiers.contains(&column)
    }

    /// Whether the template has identifiers, and the row has none.
    fn has_no_identifier(&self, row: &Row) -> bool {
        let columns = &self.special().identifiers;
        !columns.is_empty() && columns.iter().all(|column| row.get(*column).is_blank())
    }
}

/// Whether all cells are instructions for filling in their columns.
fn is_hints(row: &Row) -> bool {
    filled(row).all(|(_, cell)| matches!(cell, Cell::Text(text) if is_hint(text)))
}

/// Whether a row numbers all columns: `1 | 2 | 3`, as in forms of Eastern Europe.
fn is_numbering(row: &Row, width: usize) -> bool {
    const FEWEST: usize = 3;
    width >= FEWEST && (0..width).all(|column| row.get(column).shown().trim() == (column + 1).to_string())
}

/// Whether a row consists of the number of a page and of all pages, in several cells.
fn is_page_row(row: &Row) -> bool {
    if filled(row).nth(MAX_PAGE_CELLS).is_some() {
        return false;
    }
    let cells: Vec<_> = filled(row).map(|(_, cell)| cell.shown()).collect();
    cells.iter().map(|cell| cell.len()).sum::<usize>() <= MAX_BYTES && is_page_of_pages(&cells.join(" "))
}

/// Whether a cell is a number without decimals.
fn is_whole_number(cell: &Cell<'_>) -> bool {
    let text = cell.shown();
    let text = text.trim();
    text.contains(|c: char| c.is_ascii_digit())
        && text.chars().all(|c| c.is_ascii_digit() || c == ' ' || c == '.' || c == ',')
}

#[cfg(test)]
mod tests {
    use super::*;

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
