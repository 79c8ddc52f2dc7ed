//! Warnings about what people do not see in a spreadsheet program, or see in other rows: hidden rows and columns, and merged
//! cells.

use std::collections::BTreeMap;

use sheetport_findings::Code;
use sheetport_ledger::Problem;
use sheetport_mapping::bind::own_column;
use sheetport_mapping::model::Place;
use sheetport_mapping::{Layout, Template};
use sheetport_sheet::{Appearance, MergedCells, Row, column_letters};

use super::super::table::Table;

/// Maximum number of ranges in a warning.
const SHOWN: usize = 8;
/// Maximum number of gaps of a sheet. Merged cells after the last gap cause no warning.
const MAX_GAPS: usize = 1 << 18;

/// The columns of a sheet that the template uses, with their blank cells. Empty for our own reports and exports, which have no
/// merged cells and hide no columns with data.
#[derive(Debug, Default)]
pub(crate) struct UsedColumns {
    columns: Vec<UsedColumn>,
    /// The first and last row to send; `None` for all rows.
    chosen: Option<(u64, u64)>,
    /// The first and last rows of the ranges of rows with values.
    filled: Vec<(u64, u64)>,
    records: Records,
    gaps: usize,
}

/// Tells which adjacent rows are of the same record.
#[derive(Debug, Default)]
struct Records {
    /// The columns that identify the record of a row; empty if each row is a record.
    columns: Vec<usize>,
    /// Whether a row with these columns blank belongs to the record above.
    blank_is_above: bool,
    /// The cells of these columns in the last row.
    cells: Row,
    /// The number of the current record.
    number: u64,
}

#[derive(Debug)]
struct UsedColumn {
    column: usize,
    /// The field that has its values, or `None` for a column of conditions.
    field: Option<&'static str>,
    /// Whether each row needs a value, not only one row of each record.
    is_of_rows: bool,
    is_filled_down: bool,
    has_values: bool,
    /// The row and record of the last value, if no row or record without one followed.
    value: Option<(u64, u64)>,
    /// The rows of values with a blank cell below, and the row of this cell.
    gaps: Vec<(u64, u64)>,
}

impl UsedColumns {
    pub(crate) fn new(template: &Template, layout: &Layout, chosen: Option<(u64, u64)>) -> UsedColumns {
        if layout.is_defused {
            return UsedColumns::default();
        }
        let unused = |column| UsedColumn {
            column,
            field: None,
            is_of_rows: false,
            is_filled_down: false,
            has_values: false,
            value: None,
            gaps: Vec::new(),
        };
        let mut columns: BTreeMap<usize, UsedColumn> = BTreeMap::new();
        for column in layout.tested().chain(layout.group.iter().copied()) {
            columns.entry(column).or_insert_with(|| unused(column)).is_of_rows = true;
        }
        for (index, rule) in template.rules().enumerate() {
            for column in layout.columns_of(index).into_iter().filter(|column| *column == own_column(*column)) {
                let used = columns.entry(column).or_insert_with(|| unused(column));
                used.field.get_or_insert(rule.field.name);
                used.is_of_rows |= rule.place == Place::Line || layout.group.is_empty();
            }
        }
        let blank_is_above = template.group.as_ref().is_some_and(|group| group.blank_is_above);
        let continued = if blank_is_above { layout.group.as_slice() } else { &[] };
        for column in layout.fill_down.iter().chain(continued) {
            columns.entry(*column).and_modify(|used| used.is_filled_down = true);
        }
        let records = Records { columns: layout.group.clone(), blank_is_above, ..Records::default() };
        UsedColumns { columns: columns.into_values().collect(), chosen, filled: Vec::new(), records, gaps: 0 }
    }

    /// Adds the next row.
    pub(crate) fn row(&mut self, row: &Row) {
        let is_chosen = self.chosen.is_none_or(|(first, last)| (first..=last).contains(&row.number));
        if is_chosen && !row.is_blank() {
            match self.filled.last_mut().filter(|(_, last)| last.saturating_add(1) == row.number) {
                Some((_, last)) => *last = row.number,
                None => self.filled.push((row.number, row.number)),
            }
        }
        let record = self.records.of(row);
        for used in &mut self.columns {
            if !row.get(used.column).is_blank() {
                used.has_values |= is_chosen;
                used.value = Some((row.number, record));
            } else if is_chosen
                && let Some((value, _)) = used.value.take_if(|(_, of)| used.is_of_rows || *of != record)
                && self.gaps < MAX_GAPS
            {
                self.gaps += 1;
                used.gaps.push((value, row.number));
            }
        }
    }

    /// Returns the warnings after the row `last` of the sheet, its last one.
    pub(crate) fn warnings<'a>(
        self,
        table: &'a Table,
        appearance: &'a Appearance,
        last: u64,
    ) -> impl Iterator<Item = Problem> + use<'a> {
        let mut merged = appearance.merged().to_vec();
        merged.sort_unstable_by_key(|merged| (merged.first_column, merged.first_row));
        merged.dedup();
        let hidden_rows = hidden_rows(table, appearance, &self.filled, last);
        let across = self.merged_across(table, appearance);
        let of_columns = self.columns.into_iter().flat_map(move |used| {
            let hidden = used.hidden(table, appearance);
            hidden.into_iter().chain(used.merged(table, &merged))
        });
        hidden_rows.into_iter().chain(across).chain(of_columns)
    }

    /// Returns a warning about merged cells over several columns with fields: only the first column has their value. Ignores
    /// headings, which cover all columns.
    fn merged_across(&self, table: &Table, appearance: &Appearance) -> Option<Problem> {
        let with_fields = self.columns.iter().filter(|used| used.field.is_some() && used.has_values);
        let columns: Vec<usize> = with_fields.map(|used| used.column).collect();
        let is_lacking = |cells: &&MergedCells| {
            let covered = columns.iter().filter(|column| cells.covers_column(**column)).count();
            covered > 1 && covered < columns.len() && self.has_row_in(cells.first_row, cells.last_row)
        };
        let start = table.layout.header.row + 1;
        let all = appearance.merged_across().iter().chain(appearance.merged());
        let mut lacking: Vec<&MergedCells> = all.filter(|cells| cells.first_row >= start).filter(is_lacking).collect();
        lacking.sort_unstable_by_key(|cells| (cells.first_row, cells.first_column));
        lacking.dedup();
        let first = *lacking.first()?;
        let warning = Problem {
            row: Some(first.first_row),
            value: listed(lacking.iter().map(ToString::to_string)),
            remedy: "unmerge them and fill in every column".to_owned(),
            ..Problem::of_record(Code::MergedCells, "are merged cells: only the first column of each has the value")
        };
        Some(table.of_column(first.first_column, warning))
    }

    /// Returns whether a row with values is among these rows.
    fn has_row_in(&self, first: u64, last: u64) -> bool {
        let at = self.filled.partition_point(|(_, end)| *end < first);
        self.filled.get(at).is_some_and(|(start, _)| *start <= last)
    }
}

impl Records {
    /// Returns the number of the record of the next row.
    fn of(&mut self, row: &Row) -> u64 {
        let cells = || self.columns.iter().map(|column| row.get(*column));
        let continues = self.blank_is_above && cells().all(|cell| cell.is_blank());
        if self.columns.is_empty() || !continues && !cells().eq(self.cells.cells()) {
            self.number += 1;
            let mut last = std::mem::take(&mut self.cells);
            last.clear(0);
            self.columns.iter().for_each(|column| last.push_from(row, *column));
            self.cells = last;
        }
        self.number
    }
}

impl UsedColumn {
    /// Returns a warning if the column is hidden and its values are sent.
    fn hidden(&self, table: &Table, appearance: &Appearance) -> Option<Problem> {
        let field = self.field.filter(|_| self.has_values && appearance.hides_column(self.column))?;
        let warning = Problem {
            field: field.to_owned(),
            value: column_letters(self.column),
            remedy: "show it in the spreadsheet program and check its values, or name another column in the template"
                .to_owned(),
            ..Problem::of_record(Code::HiddenColumns, "is a hidden column, whose values are sent")
        };
        Some(table.of_column(self.column, warning))
    }

    /// Returns a warning about merged cells that begin in the column and leave records below their value without one. `merged` is
    /// sorted by the first column and row.
    fn merged(&self, table: &Table, merged: &[MergedCells]) -> Option<Problem> {
        if self.is_filled_down {
            return None;
        }
        let start = merged.partition_point(|cells| cells.first_column < self.column);
        let own = merged[start..].iter().take_while(|cells| cells.first_column == self.column);
        let lacking: Vec<&MergedCells> = own.filter(|cells| self.has_gap_in(cells)).collect();
        let (first, others) = lacking.split_first()?;
        let message = match others {
            [] => format!("are merged cells: only row {} has the value", first.first_row),
            _ => "are merged cells: only the first row of each has the value".to_owned(),
        };
        let warning = Problem {
            row: Some(first.first_row),
            field: self.field.unwrap_or_default().to_owned(),
            value: listed(lacking.iter().map(ToString::to_string)),
            remedy: "unmerge them and fill in every row, or add the column to fill_down under [sheet] in the template"
                .to_owned(),
            ..Problem::of_record(Code::MergedCells, message)
        };
        Some(table.of_column(self.column, warning))
    }

    /// Returns whether the value of merged cells is in their first row, and a record below has none.
    fn has_gap_in(&self, cells: &MergedCells) -> bool {
        let gap = self.gaps.binary_search_by_key(&cells.first_row, |(value, _)| *value);
        gap.ok().and_then(|gap| self.gaps.get(gap)).is_some_and(|(_, blank)| *blank <= cells.last_row)
    }
}

/// Returns a warning about hidden rows among the rows of a sheet, up to the row `last`. `filled`: the ranges of rows with values.
fn hidden_rows(table: &Table, appearance: &Appearance, filled: &[(u64, u64)], last: u64) -> Option<Problem> {
    let start = table.layout.header.row + 1;
    let ranges = appearance.hidden_rows().iter();
    let ranges = ranges.map(|(first, end)| ((*first).max(start), (*end).min(last))).filter(|(first, end)| first <= end);
    let ranges = joined(ranges.collect());
    let (first, _) = *ranges.first()?;
    let sent: u64 = ranges.iter().map(|range| rows_in(filled, *range)).sum();
    let message = match sent {
        0 => return None,
        1 => "are hidden rows, of which 1 is sent like the others".to_owned(),
        sent => format!("are hidden rows, of which {sent} are sent like the others"),
    };
    let shown = |(first, end): &(u64, u64)| if first == end { format!("{first}") } else { format!("{first} to {end}") };
    Some(Problem {
        row: Some(first),
        value: listed(ranges.iter().map(shown)),
        remedy:
            "show them in the spreadsheet program, such as by removing its filter; delete them, or leave them out with \
                 skip_where or --rows, if they are not to be sent"
                .to_owned(),
        ..Problem::of_record(Code::HiddenRows, message)
    })
}

/// Sorts ranges, and joins those that overlap or are adjacent.
fn joined(mut ranges: Vec<(u64, u64)>) -> Vec<(u64, u64)> {
    ranges.sort_unstable();
    let mut joined: Vec<(u64, u64)> = Vec::new();
    for (first, last) in ranges {
        match joined.last_mut().filter(|(_, end)| first <= end.saturating_add(1)) {
            Some((_, end)) => *end = last.max(*end),
            None => joined.push((first, last)),
        }
    }
    joined
}

/// Returns the number of rows of sorted ranges within a range.
fn rows_in(ranges: &[(u64, u64)], (first, last): (u64, u64)) -> u64 {
    let start = ranges.partition_point(|(_, end)| *end < first);
    let within = ranges[start..].iter().take_while(|(start, _)| *start <= last);
    within.map(|(start, end)| (*end).min(last) - (*start).max(first) + 1).sum()
}

/// Lists the first ranges.
fn listed(mut ranges: impl Iterator<Item = String>) -> String {
    let shown: Vec<String> = ranges.by_ref().take(SHOWN).collect();
    let more = if ranges.next().is_some() { " and more" } else { "" };
    format!("{}{more}", shown.join(", "))
}
