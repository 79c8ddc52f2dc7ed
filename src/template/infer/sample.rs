//! The beginning of a sheet: which row names the columns, and the rows of values that are looked at.

use super::super::bind::RESERVED_PREFIX;
use super::super::model::ColumnName;
use super::choose::Slots;
use super::names::Name;
use crate::records::RecordKind;
use crate::sheet::read::header::{TOP, detect_header};
use crate::sheet::{Row, column_letters};

/// As many rows of values as are looked at.
pub const ROWS: usize = 500;

/// As many columns as are looked at.
pub const MOST_COLUMNS: usize = 1024;

/// The beginning of one sheet.
#[derive(Clone, Debug)]
pub struct Sample {
    /// The row that a template binds to, as the spreadsheet program counts; nothing for a sheet without rows.
    pub header_row: Option<u64>,
    /// Whether that row names the columns. Where none does, it is the first row of values.
    pub has_header: bool,
    pub columns: Vec<Column>,
    /// Columns past those that are looked at.
    pub beyond: usize,
    /// What stands above the header.
    pub titles: Vec<String>,
    pub rows: Vec<Row>,
    /// The sheet's first rows as they are, in which a template looks for its header.
    pub top: Vec<Row>,
}

/// A column of the sample.
#[derive(Clone, Debug)]
pub struct Column {
    /// What a person calls it: its header, or its letters.
    pub label: String,
    /// What stands above it in the row that a template binds to.
    pub bound: String,
    pub name: Name,
    /// How a template names it.
    pub called: ColumnName,
    /// Nobody gave it a name that says anything.
    pub is_silent: bool,
}

impl Sample {
    /// How many rows of a sheet are needed.
    pub const NEEDED: usize = TOP + ROWS;

    /// Looks through a sheet's first rows; more than [`Sample::NEEDED`] are not looked at.
    pub fn of(mut rows: Vec<Row>, kind: RecordKind) -> Sample {
        rows.truncate(Sample::NEEDED);
        let top: Vec<Row> = rows.iter().take(TOP).cloned().collect();
        let header = detect_header(&top);
        let slots = Slots::of(kind);
        let mut named = header.names.clone();
        // Where the values begin, and the row that a template binds to.
        let mut body = header.body;
        let mut bound = if header.body > header.first { header.body.checked_sub(1) } else { None };
        // A row that says much more of what records have than the one that was guessed is the header.
        let says = |names: &[String]| slots.says(names);
        let best = top
            .iter()
            .enumerate()
            .rev()
            .map(|(index, row)| (says(&names_of(row)), index))
            .max_by_key(|(said, _)| *said);
        if let Some((said, index)) = best
            && said >= 2
            && said > says(&named)
            && Some(index) != bound
        {
            named = names_of(&top[index]);
            (body, bound) = (index + 1, Some(index));
        }
        let has_header = bound.is_some();
        let bound = bound.or_else(|| rows.iter().position(|row| !row.is_blank()));
        let header_row = bound.map(|index| rows[index].number);
        let row = bound.map(|index| names_of(&rows[index])).unwrap_or_default();
        let titles = rows.iter().take(bound.unwrap_or(0)).flat_map(names_of).filter(|text| !text.is_empty()).collect();
        let values: Vec<Row> = rows.into_iter().skip(body).filter(|row| !row.is_blank()).take(ROWS).collect();
        let width = values.iter().map(Row::len).chain([named.len(), row.len()]).max().unwrap_or(0);
        let own = row.iter().position(|name| name.starts_with(RESERVED_PREFIX)).unwrap_or(width).min(width);
        let columns = (0..own.min(MOST_COLUMNS)).map(|index| Column::of(index, &named, &row, has_header)).collect();
        let beyond = own.saturating_sub(MOST_COLUMNS);
        Sample { header_row, has_header, columns, beyond, titles, rows: values, top }
    }
}

impl Column {
    /// `row` holds the cells of the row that a template binds to, whether they are names or not.
    fn of(index: usize, named: &[String], row: &[String], has_header: bool) -> Column {
        let letters = column_letters(index);
        let full = named.get(index).map(|name| tidy(name)).filter(|name| has_header && !name.is_empty());
        let bound = row.get(index).filter(|name| has_header && !name.is_empty()).cloned().unwrap_or_default();
        let alike = |name: &str| row.iter().filter(|other| other.to_lowercase() == name.to_lowercase()).count();
        let called = match bound.as_str() {
            name if !name.is_empty() && alike(name) == 1 => ColumnName::Named(bound.clone()),
            // Letters name a column that the row has, unless a cell of it reads like them.
            _ if index >= row.len() || alike(&letters) > 0 => ColumnName::Number(index + 1),
            _ => ColumnName::Named(letters.clone()),
        };
        let name = Name::of(full.as_deref().unwrap_or_default());
        let is_silent = full.is_none() || name.is_placeholder();
        Column { label: full.unwrap_or(letters), bound, name, called, is_silent }
    }
}

/// A row's cells as names.
fn names_of(row: &Row) -> Vec<String> {
    row.cells().map(|cell| tidy(&cell.shown())).collect()
}

/// White space does not tell headers apart.
fn tidy(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
