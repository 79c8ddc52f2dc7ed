//! Rows that are not records: totals, and repeated header rows.

use sheetport_mapping::words::total_rows::starts_with_total;
use sheetport_sheet::Row;

/// Minimum share of filled cells in the other rows, to make a blank cell unusual.
const USUALLY_FILLED: f64 = 0.8;

/// The rows removed from a sample.
#[derive(Clone, Debug, Default)]
pub(crate) struct ExtraRows {
    /// The distinct labels of totals, each with its zero-based column.
    pub totals: Vec<(usize, String)>,
    /// Number of repeated rows of headers.
    pub headers: usize,
    /// Number of rows with totals.
    pub total_rows: usize,
}

impl ExtraRows {
    /// Removes the rows that are not records.
    pub(super) fn remove(rows: &mut Vec<Row>, headers: &[String]) -> ExtraRows {
        let mut extra = ExtraRows::default();
        let count = rows.len();
        rows.retain(|row| !repeats_headers(row, headers));
        extra.headers = count - rows.len();
        let width = rows.iter().map(Row::len).max().unwrap_or(0);
        let label = |row: &Row| (0..row.len()).find(|index| starts_with_total(&row.get(*index).shown()));
        let others: Vec<&Row> = rows.iter().filter(|row| label(row).is_none()).collect();
        let is_usual = |index: usize| {
            let filled = others.iter().filter(|row| !row.get(index).is_blank()).count();
            !others.is_empty() && filled as f64 >= USUALLY_FILLED * others.len() as f64
        };
        let is_usual: Vec<bool> = (0..width).map(is_usual).collect();
        rows.retain(|row| {
            let lacks_usual_cell =
                |label: &usize| (0..width).any(|it| it != *label && is_usual[it] && row.get(it).is_blank());
            let label = label(row).filter(lacks_usual_cell);
            if let Some(label) = label {
                let found = (label, row.get(label).shown().trim().to_owned());
                extra.total_rows += 1;
                if !extra.totals.contains(&found) {
                    extra.totals.push(found);
                }
            }
            label.is_none()
        });
        extra
    }
}

/// Whether most cells of the row, and at least two, repeat the headers of their columns.
fn repeats_headers(row: &Row, headers: &[String]) -> bool {
    let filled = row.cells().filter(|cell| !cell.is_blank()).count();
    let is_header = |(cell, header): &(sheetport_sheet::Cell<'_>, &String)| {
        !header.is_empty() && cell.shown().split_whitespace().eq(header.split_whitespace())
    };
    let equal = row.cells().zip(headers).filter(is_header).count();
    equal >= 2 && equal * 2 > filled
}
