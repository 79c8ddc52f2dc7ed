//! Restores the column order of a report, however people have moved the columns: first the columns of the sheet, then the
//! report's columns with their English titles, then columns to ignore.

use super::header::without_mark;
use crate::report_words::english_title;
use crate::{Cell, RESERVED_PREFIX, Row};

/// Number of rows to search for the header of a report.
pub const HEADER_SEARCH_ROWS: usize = 100;
/// Columns that identify a report, without the prefix.
const TELLING: [&str; 3] = ["status", "row", "run"];
/// Columns with words for people, without the prefix. Text typed into these columns is ignored.
const WORDS: [&str; 3] = ["status", "errors", "warnings"];

/// Arranges the rows of a sheet if the sheet is a report.
#[derive(Debug, Default)]
pub(super) struct ReportColumns {
    /// Number of rows searched for the header.
    searched: usize,
    found: Option<Arrangement>,
    /// Buffer for a row.
    spare: Row,
}

/// The order of a report's columns.
#[derive(Debug, PartialEq, Eq)]
struct Arrangement {
    /// The column of the file for each column.
    order: Vec<usize>,
    is_identity: bool,
    /// The columns of words, in the order of the file.
    words: Vec<usize>,
}

impl ReportColumns {
    /// Arranges the next row of the sheet.
    #[inline]
    pub(super) fn arrange(&mut self, row: &mut Row) {
        if self.found.is_none() && self.searched == HEADER_SEARCH_ROWS {
            return;
        }
        self.arrange_in_report(row);
    }

    fn arrange_in_report(&mut self, row: &mut Row) {
        match &self.found {
            Some(found) => found.arrange(row, &mut self.spare),
            None => {
                self.searched += 1;
                if let Some((found, titles)) = Arrangement::of_header(row) {
                    titles.iter().for_each(|(column, title)| row.put(*column, Cell::Text(title)));
                    found.arrange(row, &mut self.spare);
                    self.found = Some(found);
                }
            }
        }
    }
}

impl Arrangement {
    /// Returns the order for the header of a report and the titles of the report's columns, or `None` for another row.
    fn of_header(row: &Row) -> Option<(Arrangement, Vec<(usize, String)>)> {
        let title = |(column, cell): (usize, Cell<'_>)| match cell {
            Cell::Text(text) if text.contains(RESERVED_PREFIX) => {
                Some((column, english_title(without_mark(text).trim())?.to_owned()))
            }
            _ => None,
        };
        let titles: Vec<(usize, String)> = row.cells().enumerate().filter_map(title).collect();
        let name = |title: &str| title.strip_prefix(RESERVED_PREFIX).map(str::to_owned).unwrap_or_default();
        if !titles.iter().any(|(_, title)| TELLING.contains(&name(title).as_str())) {
            return None;
        }
        let is_word = |title: &str| WORDS.contains(&name(title).as_str());
        let words = titles.iter().filter(|(_, title)| is_word(title)).map(|(column, _)| *column).collect();
        let is_ours = |column: &usize| titles.iter().any(|(ours, _)| ours == column);
        let others: Vec<usize> = (0..row.len()).filter(|column| !is_ours(column)).collect();
        // Columns to the right of the report were added by people. The columns of words may be on either side of the sheet.
        let end = titles.iter().rev().find(|(_, title)| !is_word(title)).map(|(column, _)| *column);
        let end = end.filter(|end| others.first().is_some_and(|first| first < end)).unwrap_or(row.len());
        let (own, added): (Vec<usize>, Vec<usize>) = others.into_iter().partition(|column| *column < end);
        let ours = titles.iter().map(|(column, _)| *column);
        let order: Vec<usize> = own.into_iter().chain(ours).chain(added).collect();
        let is_identity = order.iter().copied().eq(0..order.len());
        Some((Arrangement { order, is_identity, words }, titles))
    }

    fn arrange(&self, row: &mut Row, spare: &mut Row) {
        let is_filled = |(column, cell): (usize, Cell<'_>)| !cell.is_blank() && !self.words.contains(&column);
        if !self.words.is_empty() && !row.cells().enumerate().any(is_filled) {
            row.clear(row.number);
            return;
        }
        if self.is_identity {
            return;
        }
        spare.clear(row.number);
        let width = self.order.len();
        let last = self.order.iter().rposition(|column| *column < row.len());
        self.order[..last.map_or(0, |last| last + 1)].iter().for_each(|column| spare.push_from(row, *column));
        for column in width..row.len() {
            spare.put_from(column, row, column);
        }
        std::mem::swap(row, spare);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(number: u64, texts: &str) -> Row {
        let mut row = Row::default();
        row.clear(number);
        texts.split('|').for_each(|text| row.push(Cell::Text(text)));
        row
    }

    /// Arranges rows, and returns them as texts.
    fn arranged(rows: &[&str]) -> Vec<String> {
        let mut columns = ReportColumns::default();
        let texts = |row: Row| row.cells().map(|cell| cell.shown().into_owned()).collect::<Vec<_>>().join("|");
        let mut arrange = |(number, text): (u64, &&str)| {
            let mut row = row(number, text);
            columns.arrange(&mut row);
            texts(row)
        };
        (1..).zip(rows).map(&mut arrange).collect()
    }

    #[test]
    fn columns_of_the_sheet_come_first_in_any_report() {
        let arrange = |header| arranged(&[header]).remove(0);
        let all = "SKU|Price|sheetport_status|sheetport_errors|sheetport_row|sheetport_run";
        for header in [
            all,
            "sheetport_status|sheetport_errors|SKU|Price|sheetport_row|sheetport_run",
            "sheetport_status|SKU|sheetport_errors|Price|sheetport_row|sheetport_run",
            "\u{feff}sheetport_stato|sheetport_errori|SKU|Price| sheetport_row |sheetport_run",
        ] {
            assert_eq!(arrange(header), all);
        }
        let moved = arrange("sheetport_run|sheetport_row|sheetport_status|SKU|Price");
        assert_eq!(moved, "SKU|Price|sheetport_run|sheetport_row|sheetport_status");
        let added = arrange("sheetport_状態|New|SKU|sheetport_run|Remark");
        assert_eq!(added, "New|SKU|sheetport_status|sheetport_run|Remark");
        assert_eq!(arrange("SKU|sheetport_status|Remark"), "SKU|Remark|sheetport_status");
        assert_eq!(arrange("sheetport|SKU|sheetport_field"), "sheetport|SKU|sheetport_field");
    }

    #[test]
    fn rows_follow_their_header_and_keep_what_is_beyond_it() {
        let header = "sheetport_status|sheetport_errors|SKU|Price|sheetport_row|sheetport_run";
        let rows = ["My title|", header, "sent||A|1|2|1-b|beyond", "failed|no|B", "read this|or this", "||||3|"];
        let expected = [
            "My title|",
            "SKU|Price|sheetport_status|sheetport_errors|sheetport_row|sheetport_run",
            "A|1|sent||2|1-b|beyond",
            "B||failed|no",
            "",
            "||||3|",
        ];
        assert_eq!(arranged(&rows), expected);
    }

    #[test]
    fn a_header_is_searched_in_the_first_rows_only() {
        let mut rows = vec!["a|b"; HEADER_SEARCH_ROWS];
        rows.push("sheetport_status|SKU");
        assert_eq!(arranged(&rows)[HEADER_SEARCH_ROWS], "sheetport_status|SKU");
        assert_eq!(arranged(&rows[1..])[HEADER_SEARCH_ROWS - 1], "SKU|sheetport_status");
    }
}
