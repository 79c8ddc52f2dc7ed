//! The first rows of a sheet: finds the row of headers, and describes each column.

use sheetport_mapping::bind::{RESERVED_PREFIX, report_header};
use sheetport_mapping::model::ColumnName;
use sheetport_records::RecordKind;
use sheetport_sheet::read::header::{TOP, detect_header, without_mark};
use sheetport_sheet::{Row, column_letters};

use super::super::headers::{Header, Slots};
use super::column_profile::ColumnProfile;
use super::extra_rows::ExtraRows;

/// Maximum number of data rows to read.
const MAX_ROWS: usize = 500;
/// Maximum number of columns to match.
const MAX_COLUMNS: usize = 1024;
/// Longer texts are not headers.
const MAX_HEADER_BYTES: usize = 60;

/// The first rows of a sheet.
#[derive(Clone, Debug)]
pub struct Sample {
    /// Row number for binding a template; `None` for an empty sheet.
    pub(crate) header_row: Option<u64>,
    /// Whether the row contains headers; otherwise it is the first row of data.
    pub(crate) has_header: bool,
    pub(crate) columns: Vec<Column>,
    /// Number of columns beyond the maximum.
    pub(crate) ignored_columns: usize,
    /// Texts above the header row.
    pub(crate) titles: Vec<String>,
    /// Data rows.
    pub(crate) rows: Vec<Row>,
    /// Rows that are not records.
    pub(crate) extra: ExtraRows,
    /// The first rows of the sheet, for binding a template.
    pub(crate) top: Vec<Row>,
}

/// A column of the sample.
#[derive(Clone, Debug)]
pub(crate) struct Column {
    pub index: usize,
    /// Header, or letters without a header.
    pub label: String,
    /// Cell in the header row. Differs from the label if the header spans two rows.
    pub bound_header: String,
    pub header: Header,
    /// Name of the column in a template.
    pub name: ColumnName,
    /// Has no header, or a placeholder such as `Column 1`.
    pub is_unnamed: bool,
    pub profile: ColumnProfile,
}

/// Where the names of the columns stand, as indexes of rows.
#[derive(PartialEq)]
struct HeaderRow {
    names: Vec<String>,
    first_data_row: usize,
    /// The row to which a template is bound; `None` without a header.
    bound_row: Option<usize>,
}

impl Sample {
    /// Number of rows to read from a sheet; further rows are ignored.
    pub const NEEDED: usize = TOP + MAX_ROWS;

    /// Finds the header row and the columns in the first rows of a sheet.
    pub fn new(mut rows: Vec<Row>, kind: RecordKind) -> Sample {
        rows.truncate(Sample::NEEDED);
        let top = top(&rows);
        let header = HeaderRow::find(&top, kind);
        Sample::below(header, top, rows)
    }

    /// Returns the headers that the sample of these rows has.
    pub(crate) fn headers(rows: &[Row], kind: RecordKind) -> Vec<Header> {
        let rows = &rows[..rows.len().min(Sample::NEEDED)];
        HeaderRow::find(&top(rows), kind).names.iter().map(|name| Header::new(name)).collect()
    }

    /// Returns the samples of a sheet for kinds of records, each with its kinds: most kinds find the same header.
    pub fn of_kinds(mut rows: Vec<Row>, kinds: &[RecordKind]) -> Vec<(Sample, Vec<RecordKind>)> {
        rows.truncate(Sample::NEEDED);
        let top = top(&rows);
        let mut headers: Vec<(HeaderRow, Vec<RecordKind>)> = Vec::new();
        for kind in kinds {
            let header = HeaderRow::find(&top, *kind);
            match headers.iter_mut().find(|(known, _)| *known == header) {
                Some((_, kinds)) => kinds.push(*kind),
                None => headers.push((header, vec![*kind])),
            }
        }
        let sample = |(header, kinds)| (Sample::below(header, top.clone(), rows.clone()), kinds);
        headers.into_iter().map(sample).collect()
    }

    /// Describes the columns below a header.
    fn below(header: HeaderRow, top: Vec<Row>, rows: Vec<Row>) -> Sample {
        let HeaderRow { names, first_data_row, bound_row } = header;
        let has_header = bound_row.is_some();
        let bound_row = bound_row.or_else(|| rows.iter().position(|row| !row.is_blank()));
        let header_row = bound_row.map(|index| rows[index].number);
        let bound_names = bound_row.map_or(Vec::new(), |index| row_names(&rows[index]));
        let above = rows.iter().take(bound_row.unwrap_or(0));
        let titles = above.flat_map(row_names).filter(|text| !text.is_empty()).collect();
        let mut data: Vec<Row> =
            rows.into_iter().skip(first_data_row).filter(|row| !row.is_blank()).take(MAX_ROWS).collect();
        let extra = ExtraRows::remove(&mut data, if has_header { &bound_names } else { &[] });
        let width = data.iter().map(Row::len).chain([names.len(), bound_names.len()]).max().unwrap_or(0);
        let report_columns = bound_names.iter().position(|name| name.starts_with(RESERVED_PREFIX));
        let width = report_columns.unwrap_or(width).min(width);
        let column = |index| {
            let name = names.get(index).filter(|_| has_header).map_or("", String::as_str);
            Column::new(index, name, &bound_names, has_header, ColumnProfile::new(&data, index))
        };
        let columns = (0..width.min(MAX_COLUMNS)).map(column).collect();
        let ignored_columns = width.saturating_sub(MAX_COLUMNS);
        Sample { header_row, has_header, columns, ignored_columns, titles, rows: data, extra, top }
    }

    /// Whether the sheet has rows below its header.
    pub fn has_records(&self) -> bool {
        self.has_header && !self.rows.is_empty()
    }
}

impl HeaderRow {
    /// Finds the row with the names of the columns of a kind of record.
    fn find(top: &[Row], kind: RecordKind) -> HeaderRow {
        let guessed = detect_header(top);
        let slots = Slots::of(kind);
        let mut names = guessed.names.clone();
        let mut first_data_row = guessed.body;
        let mut bound_row = if guessed.body > guessed.first { guessed.body.checked_sub(1) } else { None };
        // If another row names more fields than the guessed header, that row is the header. The header of a report is always
        // known.
        let count_named = |names: &[String]| slots.count_named(&headers(names));
        let by_fields = top.iter().enumerate().rev().map(|(index, row)| (count_named(&row_names(row)), index));
        let best =
            by_fields.max_by_key(|(count, _)| *count).filter(|(count, _)| *count >= 2.max(count_named(&names) + 1));
        let report = report_header(top).and_then(|header| top.iter().position(|row| row.number == header.row));
        if let Some(index) = report.or(best.map(|(_, index)| index)).filter(|index| Some(*index) != bound_row) {
            names = row_names(&top[index]);
            (first_data_row, bound_row) = (index + 1, Some(index));
        }
        HeaderRow { names, first_data_row, bound_row }
    }
}

impl Column {
    fn new(index: usize, name: &str, bound_names: &[String], has_header: bool, profile: ColumnProfile) -> Column {
        let letters = column_letters(index);
        let name = collapse_spaces(name);
        let bound_header = bound_names.get(index).filter(|_| has_header).cloned().unwrap_or_default();
        let count = |name: &str| bound_names.iter().filter(|other| other.to_lowercase() == name.to_lowercase()).count();
        let column_name = match bound_header.as_str() {
            header if !header.is_empty() && count(header) == 1 => ColumnName::Named(bound_header.clone()),
            // Letters refer to columns of the header row, unless a cell of the row has the same text.
            _ if index >= bound_names.len() || count(&letters) > 0 => ColumnName::Number(index + 1),
            _ => ColumnName::Named(letters.clone()),
        };
        let header = Header::new(&name);
        Column {
            index,
            bound_header,
            name: column_name,
            is_unnamed: name.is_empty() || header.is_placeholder(),
            header,
            label: if name.is_empty() { letters } else { name },
            profile,
        }
    }
}

/// Returns the rows among which the header is.
fn top(rows: &[Row]) -> Vec<Row> {
    rows.iter().take(TOP).cloned().collect()
}

fn headers(names: &[String]) -> Vec<Header> {
    let is_header = |name: &&String| name.len() <= MAX_HEADER_BYTES && name.contains(char::is_alphabetic);
    names.iter().take(MAX_COLUMNS).filter(is_header).map(|name| Header::new(name)).collect()
}

fn row_names(row: &Row) -> Vec<String> {
    row.cells().map(|cell| collapse_spaces(without_mark(&cell.shown()))).collect()
}

fn collapse_spaces(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
