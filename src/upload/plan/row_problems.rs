//! Problems with the position of cells and quotes in a row of a text file.

use crate::ledger::Problem;
use crate::sheet::{Row, column_letters};
use crate::template::problem::excerpt;

pub(in crate::upload) const BEYOND_HEADER: &str = "beyond-header";
pub(in crate::upload) const STRAY_QUOTE: &str = "stray-quote";

/// Returns the problem of a value to the right of the header with `width` columns. Often a decimal contains the
/// delimiter, and the following cells are shifted.
pub(super) fn beyond_header(row: &Row, width: usize) -> Option<Problem> {
    let (column, cell) = row.cells().enumerate().skip(width).find(|(_, cell)| !cell.is_blank())?;
    Some(Problem {
        remedy: "put quotes around values that contain the delimiter, or give the column a header".to_owned(),
        ..in_column(row, column, &cell.shown(), BEYOND_HEADER, "is to the right of the last column of the header")
    })
}

/// Returns the problem of a row with a quote in the middle of a quoted value, or with an unclosed quote.
pub(super) fn stray_quote(row: &Row) -> Problem {
    let message = "has a quote where none is allowed, so the cells of this row may be wrong";
    let quoted = row.cells().enumerate().find(|(_, cell)| cell.shown().contains('"'));
    let problem = match quoted {
        Some((column, cell)) => in_column(row, column, &cell.shown(), STRAY_QUOTE, message),
        None => Problem { row: Some(row.number), ..Problem::of_record(STRAY_QUOTE, message) },
    };
    let remedy = "double a quote inside quotes; if this is the last row, check that the file is complete";
    Problem { remedy: remedy.to_owned(), ..problem }
}

fn in_column(row: &Row, column: usize, value: &str, code: &str, message: &str) -> Problem {
    Problem {
        row: Some(row.number),
        column: Some(column),
        header: format!("column {}", column_letters(column)),
        value: excerpt(value),
        ..Problem::of_record(code, message)
    }
}
