//! Problems of a row of a text file: cells beyond the header, and possibly wrong cells.

use sheetport_findings::Code;
use sheetport_ledger::Problem;
use sheetport_mapping::problem::excerpt;
use sheetport_sheet::{Cell, Doubt, Row, column_letters, is_unsplit};

/// Returns the problem of a value to the right of the header with `width` columns. Often a decimal contains the
/// delimiter, and the following cells are shifted.
pub(crate) fn beyond_header(row: &Row, width: usize) -> Option<Problem> {
    if row.len() <= width {
        return None;
    }
    let (column, cell) = row.cells().enumerate().skip(width).find(|(_, cell)| !cell.is_blank())?;
    Some(Problem {
        remedy: "put quotes around values that contain the delimiter, or give the column a header".to_owned(),
        ..in_column(row, column, &cell.shown(), Code::BeyondHeader, "is to the right of the last column of the header")
    })
}

/// Returns the problem of a row with all values in its first cell. Programs write such rows when they save a CSV that was opened
/// with all columns in one.
pub(crate) fn unsplit(row: &Row, width: usize) -> Option<Problem> {
    let Some(Cell::Text(text)) = row.cells().next() else { return None };
    // Of two columns, the second may just be blank after a text with a comma.
    let is_alone = if width == 2 { row.len() == 1 } else { row.cells().skip(1).all(|cell| cell.is_blank()) };
    if width < 2 || !is_alone || !is_unsplit(text, width) {
        return None;
    }
    Some(Problem {
        remedy: "remove the quotes around the row, or split the column (Data > Text to Columns) and save again"
            .to_owned(),
        ..in_column(row, 0, text, Code::UnsplitRow, "has the values of all columns in one cell")
    })
}

/// Returns the problem of a row of a text file with possibly wrong cells.
pub(crate) fn doubtful(row: &Row, doubt: Doubt) -> Problem {
    let (code, message, remedy) = match doubt {
        Doubt::StrayQuote => (
            Code::StrayQuote,
            "has a quote where none is allowed, so the cells of this row may be wrong",
            "double a quote inside quotes; if this is the last row, check that the file is complete",
        ),
        Doubt::SwallowedRecords => (
            Code::SwallowedRows,
            "has lines like further rows, which a quote at the start of the cell made part of it",
            "double the quotes that belong to the text, and put quotes around the cell",
        ),
        Doubt::OtherDelimiter => (
            Code::OtherDelimiter,
            "has another delimiter than the other rows",
            "write all rows with the same delimiter",
        ),
        Doubt::CutOff => (
            Code::CutOff,
            "is the last line, shorter than all others and without a line ending: the file may be cut off",
            "get the complete file, or complete the line",
        ),
    };
    let cell = match doubt {
        Doubt::StrayQuote => row.cells().enumerate().find(|(_, cell)| cell.shown().contains('"')),
        Doubt::SwallowedRecords => row.cells().enumerate().find(|(_, cell)| cell.shown().contains(['\n', '\r'])),
        Doubt::OtherDelimiter => row.cells().enumerate().next(),
        Doubt::CutOff => row.cells().enumerate().last(),
    };
    let problem = match cell {
        Some((column, cell)) => in_column(row, column, &cell.shown(), code, message),
        None => Problem { row: Some(row.number), ..Problem::of_record(code, message) },
    };
    Problem { remedy: remedy.to_owned(), ..problem }
}

fn in_column(row: &Row, column: usize, value: &str, code: Code, message: &str) -> Problem {
    Problem {
        row: Some(row.number),
        column: Some(column),
        header: format!("column {}", column_letters(column)),
        value: excerpt(value),
        ..Problem::of_record(code, message)
    }
}
