//! Detection of a sheet's titles, header rows and first row of values.
//!
//! Words above numbers or dates are the name of the column. Rows with a single cell above the names are titles. Names over
//! several rows, such as those of grouped columns, are joined.

use super::text::Confidence;
use super::value_type::ValueType;
use crate::{Cell, Row};

/// Number of rows to examine.
pub const TOP: usize = 100;
/// Maximum number of header rows.
const MAX_NAME_ROWS: usize = 5;

/// Result of the detection. Indexes refer to the examined rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Header {
    /// First row of the table, after any titles.
    pub first: usize,
    /// First row of values; equals `first` if there is no header row.
    pub body: usize,
    /// Names of the columns. Names over several rows are joined with a space.
    pub names: Vec<String>,
    pub confidence: Confidence,
}

/// Classifies a cell.
pub fn cell_type(cell: Cell<'_>) -> ValueType {
    match cell {
        Cell::Blank => ValueType::Blank,
        Cell::Text(text) => ValueType::of(text.as_bytes()),
        Cell::Number(_) | Cell::Percent(_) | Cell::Money(..) | Cell::Formatted(..) | Cell::Rounded(..) => {
            ValueType::Number
        }
        Cell::Date(_) | Cell::Time(_) | Cell::DateTime(_) => ValueType::Date,
        Cell::Boolean(_) | Cell::Error(_) => ValueType::Word,
    }
}

/// Returns a header without leading byte order marks: the mark of an appended file, a repeated mark, or a mark that was read as
/// Windows-1252 and encoded again.
pub fn without_mark(text: &str) -> &str {
    const MARKS: [&str; 2] = ["\u{feff}", "\u{ef}\u{bb}\u{bf}"];
    let mut rest = text;
    while let Some(unmarked) = MARKS.iter().find_map(|mark| rest.strip_prefix(mark)) {
        rest = unmarked;
    }
    rest
}

/// Detects the header in the first rows of a sheet, at most [`TOP`].
pub fn detect_header(top: &[Row]) -> Header {
    let types: Vec<Vec<ValueType>> = top.iter().map(types_of).collect();
    let filled: Vec<usize> =
        types.iter().map(|row| row.iter().filter(|kind| **kind != ValueType::Blank).count()).collect();
    let width = most_frequent(types.iter().map(Vec::len));
    let typed = typed_columns(&types);
    let is_name_row = |row: usize| filled[row] > 0 && !types[row].iter().any(|kind| is_typed(*kind));
    let names_over_values = |row: usize| typed.iter().filter(|column| is_words(&types[row], **column)).count();
    let first = table_start(top, &types, &filled, |row| is_name_row(row) && names_over_values(row) > 0);
    let Some(first) = first else {
        return Header { first: 0, body: 0, names: Vec::new(), confidence: Confidence::Guess };
    };
    if !is_name_row(first) {
        let confidence = if typed.is_empty() { Confidence::Guess } else { Confidence::Likely };
        return Header { first, body: first, names: Vec::new(), confidence };
    }
    let mut name_rows = vec![first];
    let mut body = first + 1;
    let mut has_full_rows = false;
    for row in first + 1..top.len().min(first + 2 * MAX_NAME_ROWS) {
        if filled[row] == 0 {
            continue;
        }
        let above = *name_rows.last().expect("the first row is a header row");
        let fills_a_gap = (0..types[row].len()).any(|column| {
            types[row][column] != ValueType::Blank && name_rows.iter().all(|above| is_blank(&types[*above], column))
        });
        // In a single column, values are above each other like the names of several header rows.
        let goes_on = is_name_row(row)
            && width > 1
            && name_rows.len() < MAX_NAME_ROWS
            && 2 * names_over_values(row) >= typed.len()
            && names_over_values(row) > 0
            && (fills_a_gap || filled[row] >= filled[above]);
        if !goes_on {
            break;
        }
        has_full_rows |= !fills_a_gap;
        name_rows.push(row);
        body = row + 1;
    }
    while top.get(body).is_some_and(is_line) {
        body += 1;
    }
    let names = join(top, &name_rows);
    let confidence = match names_over_values(first) {
        _ if top.len() == body => Confidence::Guess,
        0 if typed.is_empty() => Confidence::Guess,
        0 => Confidence::Likely,
        // The further rows may be the first records.
        _ if has_full_rows => Confidence::Likely,
        _ => Confidence::Certain,
    };
    Header { first, body, names, confidence }
}

/// Returns the types of a row's cells. A line between the header and the values is as good as blank.
fn types_of(row: &Row) -> Vec<ValueType> {
    match is_line(row) {
        true => vec![ValueType::Blank; row.len()],
        false => row.cells().map(cell_type).collect(),
    }
}

/// Returns whether a row is a line drawn with characters, such as `-----` in each cell.
fn is_line(row: &Row) -> bool {
    const MIN_LEN: usize = 3;
    let is_drawn = |text: &str| {
        let mut chars = text.trim().chars();
        let first = chars.next().filter(|c| "-=_*~\u{2013}\u{2014}\u{2500}\u{2501}\u{2550}".contains(*c));
        first.is_some_and(|first| chars.clone().count() + 1 >= MIN_LEN && chars.all(|c| c == first))
    };
    !row.is_blank() && row.cells().all(|cell| cell.is_blank() || matches!(cell, Cell::Text(text) if is_drawn(text)))
}

/// Finds the first row of the table. Rows with a single cell are titles if a blank row or the header follows.
fn table_start(
    top: &[Row],
    types: &[Vec<ValueType>],
    filled: &[usize],
    names_columns: impl Fn(usize) -> bool,
) -> Option<usize> {
    let mut counts: Vec<usize> = filled.iter().copied().filter(|count| *count > 0).collect();
    counts.sort_unstable();
    let usual = *counts.get(counts.len() / 2)?;
    // A title has a single cell, or a few in a wide table: "Printed on" and a date.
    let is_wide = |row: usize| usual == 1 || filled[row] > (usual / 4).clamp(1, 3);
    let mut start = (0..top.len()).find(|row| filled[*row] > 0)?;
    let wide = (start..top.len()).find(|row| is_wide(*row))?;
    // Rows before a blank row, and rows directly above the header, are titles.
    if let Some(blank) = (start..wide).rev().find(|row| filled[*row] == 0) {
        start = blank + 1;
    }
    if names_columns(wide) {
        start = wide;
    }
    // If most rows have a single cell, a title must be directly above a header over values.
    if start == wide && filled[wide] == 1 && !names_columns(wide) {
        let next = (wide + 1..top.len()).find(|row| filled[*row] > 0);
        if let Some(next) = next.filter(|next| filled[*next] > 1 && names_columns(*next)) {
            return Some(next);
        }
    }
    // A sentence with delimiters may be as wide as a row by chance.
    let width = most_frequent(types.iter().map(Vec::len));
    // Above single values, a row of several cells is no sentence but the names of columns that are otherwise blank.
    if start == wide && types[wide].len() != width && width > 1 && wide + 1 < top.len() {
        let next = (wide + 1..top.len()).find(|row| filled[*row] > 0);
        // A row below without some of these names is the second header row: a workbook omits the blank cells at the end
        // of merged cells.
        let goes_on =
            |next: usize| (0..width).any(|column| !is_blank(&types[wide], column) && is_blank(&types[next], column));
        if let Some(next) = next.filter(|next| types[*next].len() == width && names_columns(*next) && !goes_on(*next)) {
            return Some(next);
        }
    }
    Some(start)
}

/// Returns the most frequent value.
fn most_frequent(values: impl Iterator<Item = usize>) -> usize {
    let mut values: Vec<usize> = values.collect();
    values.sort_unstable();
    values.chunk_by(|a, b| a == b).max_by_key(|run| run.len()).map_or(0, |run| run[0])
}

fn is_typed(kind: ValueType) -> bool {
    matches!(kind, ValueType::Number | ValueType::Date)
}

fn is_words(row: &[ValueType], column: usize) -> bool {
    row.get(column).is_some_and(|kind| !is_typed(*kind) && *kind != ValueType::Blank)
}

fn is_blank(row: &[ValueType], column: usize) -> bool {
    row.get(column).is_none_or(|kind| *kind == ValueType::Blank)
}

/// Returns the columns with mostly numbers or dates.
fn typed_columns(types: &[Vec<ValueType>]) -> Vec<usize> {
    let width = types.iter().map(Vec::len).max().unwrap_or(0);
    let mut typed = vec![0usize; width];
    let mut words = vec![0usize; width];
    for row in types {
        for (column, kind) in row.iter().enumerate() {
            typed[column] += usize::from(is_typed(*kind));
            words[column] += usize::from(!is_typed(*kind) && *kind != ValueType::Blank);
        }
    }
    (0..width).filter(|column| typed[*column] > 0 && 2 * typed[*column] >= words[*column]).collect()
}

/// Joins the names of several header rows. A blank cell takes the name to its left if a row below names its column, because the
/// left name then belongs to a group of columns.
fn join(top: &[Row], rows: &[usize]) -> Vec<String> {
    let [row] = rows else {
        let width = rows.iter().map(|row| top[*row].len()).max().unwrap_or(0);
        let text = |row: usize, column: usize| without_mark(&top[row].get(column).shown()).trim().to_owned();
        let mut names = vec![Vec::new(); width];
        for (level, row) in rows.iter().enumerate() {
            let below = &rows[level + 1..];
            let mut group = String::new();
            for (column, name) in names.iter_mut().enumerate() {
                let own = text(*row, column);
                // A name in a row above ends the group.
                let starts_anew = rows[..level].iter().any(|above| !text(*above, column).is_empty());
                if !own.is_empty() || starts_anew {
                    group.clone_from(&own);
                }
                if !own.is_empty() {
                    name.push(own);
                } else if !group.is_empty() && below.iter().any(|below| !text(*below, column).is_empty()) {
                    name.push(group.clone());
                }
            }
        }
        return names.into_iter().map(|parts| parts.join(" ")).collect();
    };
    top[*row].cells().map(|cell| without_mark(&cell.shown()).to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(text: &str) -> Vec<Row> {
        let row = |(index, line): (usize, &str)| {
            let mut row = Row::default();
            row.clear(index as u64 + 1);
            line.split(',').for_each(|cell| row.push(Cell::Text(cell)));
            row
        };
        text.lines().enumerate().map(row).collect()
    }

    #[track_caller]
    fn check(text: &str, first: usize, body: usize, names: &[&str]) {
        let header = detect_header(&rows(text));
        assert_eq!((header.first, header.body), (first, body), "{text}");
        assert_eq!(header.names, names, "{text}");
    }

    #[test]
    fn the_row_above_the_values_is_the_header() {
        check("SKU,Name,Price\n0042,Bolt,1.50\n0043,Nut,2\n", 0, 1, &["SKU", "Name", "Price"]);
        check("0042,Bolt,1.50\n0043,Nut,2\n", 0, 0, &[]);
        check("a,b\nc,d\n", 0, 1, &["a", "b"]);
        check("SKU,Name\n", 0, 1, &["SKU", "Name"]);
    }

    #[test]
    fn byte_order_marks_are_removed_from_headers() {
        for mark in ["\u{feff}", "\u{feff}\u{feff}", "ï»¿", "\u{feff}ï»¿"] {
            check(&format!("{mark}SKU,Name,Price\n0042,Bolt,1.50\n"), 0, 1, &["SKU", "Name", "Price"]);
            check(
                &format!("{mark}SKU,Travel,\n,Air,Rail\nA,1,2\nB,1,2\n"),
                0,
                2,
                &["SKU", "Travel Air", "Travel Rail"],
            );
        }
        assert_eq!(without_mark("ï»id"), "ï»id");
    }

    #[test]
    fn titles_are_skipped() {
        check("Prices,,\n,,\nSKU,Name,Price\n1,Bolt,2\n2,Nut,3\n", 2, 3, &["SKU", "Name", "Price"]);
        check("Prices\nSpring\nSKU,Price\n1,2\n2,3\n3,4\n", 2, 3, &["SKU", "Price"]);
        check("Made by us, with care, on Monday\nSKU,Price\n1,2\n2,3\n3,4\n", 1, 2, &["SKU", "Price"]);
    }

    #[test]
    fn a_title_is_recognized_if_most_rows_are_short() {
        check(
            "Meetings,,\nMinister,Date,With\nIda,Oct-14,A\n,,B\n,,C\n,,D\n,,E\n",
            1,
            2,
            &["Minister", "Date", "With"],
        );
        check(",,Travel\nName,On,Cost\nIda,Oct-14,5\n,,6\n,,7\n,,8\n", 0, 2, &["Name", "On", "Travel Cost"]);
    }

    #[test]
    fn a_single_cell_without_other_evidence_is_not_a_title() {
        check("Bolt,,\nNut,red,x\nPin,blue,y\n", 0, 1, &["Bolt", "", ""]);
    }

    #[test]
    fn header_rows_are_joined() {
        check(
            "Stock,,Price,\nMin,Max,Net,Gross\n1,2,3,4\n",
            0,
            2,
            &["Stock Min", "Stock Max", "Price Net", "Price Gross"],
        );
        check("SKU,Travel,,Sum\n,Air,Rail,\nA,1,2,3\nB,1,2,3\n", 0, 2, &["SKU", "Travel Air", "Travel Rail", "Sum"]);
        check("A,B\nA,B\n1,2\n", 0, 2, &["A A", "B B"]);
    }

    #[test]
    fn values_above_each_other_are_no_header() {
        let single = "PRODUCT,BRAND,PRICE\nStone\nBanana\nRoast\n1\n2\n3\n4\n";
        check(single, 0, 1, &["PRODUCT", "BRAND", "PRICE"]);
        check("Name\nBolt\nNut\nPin\n1\n2\n3\n4\n", 0, 1, &["Name"]);
    }

    #[test]
    fn lines_are_neither_names_nor_values() {
        check("SKU,Name,Price\n-----,-----,-----\nA-1,a,2\nA-2,b,3\n", 0, 2, &["SKU", "Name", "Price"]);
        check("=====,=====\nSKU,Price\n=====,=====\nA-1,2\nA-2,3\n", 1, 3, &["SKU", "Price"]);
        check("SKU,Note,Price\nA-1,-,2\nA-2,--,3\n", 0, 1, &["SKU", "Note", "Price"]);
    }

    #[test]
    fn a_first_record_without_numbers_is_not_a_header_row() {
        check("Name,Trip,Cost\nIda,none,\nEva,14-Jan,5\nUte,15-Jan,7\n", 0, 1, &["Name", "Trip", "Cost"]);
    }
}
