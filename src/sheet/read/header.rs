//! Which of a sheet's first rows are titles, which name the columns, and where the values begin. Pure, and a guess: a
//! file does not say.
//!
//! Values tell it: where a column holds numbers or dates, the words above them are its name. Rows with a single cell
//! above the names are titles. Names over several rows, as of grouped columns, are joined.

use super::Sure;
use super::looks::{Look, look};
use crate::sheet::{Cell, Row};

/// As many rows as are looked at.
pub const TOP: usize = 100;
/// Names stand in so many rows at most.
const MAX_NAME_ROWS: usize = 5;

/// What the first rows of a sheet are. Indexes are into the rows that were looked at.
#[derive(Clone, Debug, PartialEq)]
pub struct Header {
    /// Where the table begins: what is before are titles.
    pub first: usize,
    /// Where the values begin; equal to `first` when no row names the columns.
    pub body: usize,
    /// The columns' names: of several rows joined with a space, else as they are.
    pub names: Vec<String>,
    pub sure: Sure,
}

/// What a cell looks like.
pub fn cell_look(cell: Cell<'_>) -> Look {
    match cell {
        Cell::Blank => Look::Blank,
        Cell::Text(text) => look(text.as_bytes()),
        Cell::Number(_) | Cell::Percent(_) => Look::Number,
        Cell::Date(_) | Cell::Time(_) | Cell::DateTime(_) => Look::Date,
        Cell::Boolean(_) | Cell::Error(_) => Look::Word,
    }
}

/// Guesses from the sheet's first rows, of which there are at most [`TOP`].
pub fn guess(top: &[Row]) -> Header {
    let looks: Vec<Vec<Look>> = top.iter().map(|row| row.cells().map(cell_look).collect()).collect();
    let filled: Vec<usize> = looks.iter().map(|row| row.iter().filter(|look| **look != Look::Blank).count()).collect();
    let typed = typed_columns(&looks);
    let is_name_row = |row: usize| filled[row] > 0 && !looks[row].iter().any(|look| is_typed(*look));
    let over_values = |row: usize| typed.iter().filter(|column| is_words(&looks[row], **column)).count();
    let first = begin(top, &looks, &filled, |row| is_name_row(row) && over_values(row) > 0);
    let Some(first) = first else {
        return Header { first: 0, body: 0, names: Vec::new(), sure: Sure::Guess };
    };
    if !is_name_row(first) {
        let sure = if typed.is_empty() { Sure::Guess } else { Sure::Likely };
        return Header { first, body: first, names: Vec::new(), sure };
    }
    let mut name_rows = vec![first];
    let mut body = first + 1;
    for row in first + 1..top.len().min(first + 2 * MAX_NAME_ROWS) {
        if filled[row] == 0 {
            continue;
        }
        let above = *name_rows.last().unwrap_or(&first);
        let fills_a_gap = (0..looks[row].len()).any(|column| {
            looks[row][column] != Look::Blank && name_rows.iter().all(|above| is_blank(&looks[*above], column))
        });
        let goes_on = is_name_row(row)
            && name_rows.len() < MAX_NAME_ROWS
            && 2 * over_values(row) >= typed.len()
            && over_values(row) > 0
            && (fills_a_gap || filled[row] >= filled[above]);
        if !goes_on {
            break;
        }
        name_rows.push(row);
        body = row + 1;
    }
    let names = join(top, &name_rows);
    let sure = match over_values(first) {
        _ if top.len() == body => Sure::Guess,
        0 if typed.is_empty() => Sure::Guess,
        0 => Sure::Likely,
        _ => Sure::Certain,
    };
    Header { first, body, names, sure }
}

/// The row where the table begins. Rows with a single cell above it are titles, if a blank row or the columns' names
/// follow them.
fn begin(top: &[Row], looks: &[Vec<Look>], filled: &[usize], names_columns: impl Fn(usize) -> bool) -> Option<usize> {
    let mut counts: Vec<usize> = filled.iter().copied().filter(|count| *count > 0).collect();
    counts.sort_unstable();
    let usual = *counts.get(counts.len() / 2)?;
    // One cell, or a few where the table has many columns: "Printed on" and a date.
    let is_wide = |row: usize| usual == 1 || filled[row] > (usual / 4).clamp(1, 3);
    let mut start = (0..top.len()).find(|row| filled[*row] > 0)?;
    let wide = (start..top.len()).find(|row| is_wide(*row))?;
    // What stands before a blank row is a title. What stands right above the names is one too.
    if let Some(blank) = (start..wide).rev().find(|row| filled[*row] == 0) {
        start = blank + 1;
    }
    if names_columns(wide) {
        start = wide;
    }
    // Where most rows have a single cell, none is narrow. One right above names that stand over values is a title still.
    if start == wide && filled[wide] == 1 && !names_columns(wide) {
        let next = (wide + 1..top.len()).find(|row| filled[*row] > 0);
        if let Some(next) = next.filter(|next| filled[*next] > 1 && names_columns(*next)) {
            return Some(next);
        }
    }
    // A sentence with delimiters in it is as wide as a row by chance.
    let widths = looks.iter().map(Vec::len);
    let width = commonest(widths);
    if start == wide && looks[wide].len() != width && wide + 1 < top.len() {
        let next = (wide + 1..top.len()).find(|row| filled[*row] > 0);
        // A row below that leaves out what this one names is its second row of names: of a workbook's merged cells
        // the blank ones at a row's end are not there.
        let goes_on =
            |next: usize| (0..width).any(|column| !is_blank(&looks[wide], column) && is_blank(&looks[next], column));
        if let Some(next) = next.filter(|next| looks[*next].len() == width && names_columns(*next) && !goes_on(*next)) {
            return Some(next);
        }
    }
    Some(start)
}

fn commonest(values: impl Iterator<Item = usize>) -> usize {
    let mut values: Vec<usize> = values.collect();
    values.sort_unstable();
    values.chunk_by(|a, b| a == b).max_by_key(|run| run.len()).map_or(0, |run| run[0])
}

fn is_typed(look: Look) -> bool {
    matches!(look, Look::Number | Look::Date)
}

fn is_words(row: &[Look], column: usize) -> bool {
    row.get(column).is_some_and(|look| !is_typed(*look) && *look != Look::Blank)
}

fn is_blank(row: &[Look], column: usize) -> bool {
    row.get(column).is_none_or(|look| *look == Look::Blank)
}

/// The columns that hold numbers or dates nearly throughout.
fn typed_columns(looks: &[Vec<Look>]) -> Vec<usize> {
    let width = looks.iter().map(Vec::len).max().unwrap_or(0);
    let mut typed = vec![0usize; width];
    let mut words = vec![0usize; width];
    for row in looks {
        for (column, look) in row.iter().enumerate() {
            typed[column] += usize::from(is_typed(*look));
            words[column] += usize::from(!is_typed(*look) && *look != Look::Blank);
        }
    }
    (0..width).filter(|column| typed[*column] > 0 && 2 * typed[*column] >= words[*column]).collect()
}

/// The names that `rows` make together. A blank cell takes on the name to its left in its row, when a row below names
/// it: that is how a name over a group of columns is kept.
fn join(top: &[Row], rows: &[usize]) -> Vec<String> {
    let [row] = rows else {
        let width = rows.iter().map(|row| top[*row].len()).max().unwrap_or(0);
        let text = |row: usize, column: usize| top[row].get(column).shown().trim().to_owned();
        let mut names = vec![Vec::new(); width];
        for (level, row) in rows.iter().enumerate() {
            let below = &rows[level + 1..];
            let mut group = String::new();
            for (column, name) in names.iter_mut().enumerate() {
                let own = text(*row, column);
                // A new name above ends the group.
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
    top[*row].cells().map(|cell| cell.shown().into_owned()).collect()
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
        let header = guess(&rows(text));
        assert_eq!((header.first, header.body), (first, body), "{text}");
        assert_eq!(header.names, names, "{text}");
    }

    #[test]
    fn the_row_over_the_values_names_the_columns() {
        check("SKU,Name,Price\n0042,Bolt,1.50\n0043,Nut,2\n", 0, 1, &["SKU", "Name", "Price"]);
        check("0042,Bolt,1.50\n0043,Nut,2\n", 0, 0, &[]);
        check("a,b\nc,d\n", 0, 1, &["a", "b"]);
        check("SKU,Name\n", 0, 1, &["SKU", "Name"]);
    }

    #[test]
    fn titles_are_left_out() {
        check("Prices,,\n,,\nSKU,Name,Price\n1,Bolt,2\n2,Nut,3\n", 2, 3, &["SKU", "Name", "Price"]);
        check("Prices\nSpring\nSKU,Price\n1,2\n2,3\n3,4\n", 2, 3, &["SKU", "Price"]);
        check("Made by us, with care, on Monday\nSKU,Price\n1,2\n2,3\n3,4\n", 1, 2, &["SKU", "Price"]);
    }

    #[test]
    fn a_title_over_names_is_one_where_most_rows_are_short_too() {
        check(
            "Meetings,,\nMinister,Date,With\nIda,Oct-14,A\n,,B\n,,C\n,,D\n,,E\n",
            1,
            2,
            &["Minister", "Date", "With"],
        );
        check(",,Travel\nName,On,Cost\nIda,Oct-14,5\n,,6\n,,7\n,,8\n", 0, 2, &["Name", "On", "Travel Cost"]);
    }

    #[test]
    fn a_row_with_one_cell_is_no_title_when_nothing_says_so() {
        check("Bolt,,\nNut,red,x\nPin,blue,y\n", 0, 1, &["Bolt", "", ""]);
    }

    #[test]
    fn names_over_several_rows_are_joined() {
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
    fn a_first_record_without_numbers_is_no_second_row_of_names() {
        check("Name,Trip,Cost\nIda,none,\nEva,14-Jan,5\nUte,15-Jan,7\n", 0, 1, &["Name", "Trip", "Cost"]);
    }
}
