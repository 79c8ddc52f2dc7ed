//! A table as a worksheet, written in constant memory: each row goes to a temporary file when the next row begins.
//!
//! A table longer than a worksheet continues on further sheets, each with the header. A table that is too wide is an error, and
//! texts that are too long are cut, marked and counted.

use std::borrow::Cow;
use std::path::PathBuf;

use rust_xlsxwriter::{Format, IgnoreError, Workbook, Worksheet, XlsxError};

use super::cell::{CellKind, MAX_WIDTH, XlsxCell};
use super::file::WorkbookFile;
use super::styles::{self, CellStyles};
use super::text::{cut, numbered_sheet_name, sheet_name};
use crate::write::defuse::escape;
use crate::write::value::Value;
use crate::write::whole_file::{ReadyFile, WholeFile};
use crate::{Error, column_letters};

/// Maximum number of rows of a worksheet, with the header.
const MAX_ROWS: u32 = 1_048_576;
/// Maximum number of columns of a worksheet.
pub const MAX_COLUMNS: usize = 16_384;
const MIN_WIDTH: usize = 8;
/// Number of rows to measure for the widths of columns.
const MEASURED_ROWS: u32 = 1000;
/// Space for the filter button beside a column's title, in characters.
const FILTER_BUTTON: usize = 3;

/// A workbook with one table.
pub struct XlsxTable {
    file: WorkbookFile,
    sheets: Sheets,
    /// Number of values written with an apostrophe.
    defused: u64,
}

/// Name, header and format of a table.
pub struct Layout {
    /// Name of the worksheet; the nearest valid name is used.
    pub name: String,
    pub header: Vec<Title>,
    /// Name of an empty worksheet before the table.
    pub first_sheet: Option<String>,
    /// Finishes a full worksheet, given its last row.
    pub finish_sheet: FinishSheet,
}

pub type FinishSheet = Box<dyn Fn(&mut Worksheet, u32) -> Result<(), XlsxError> + Send>;

/// A column's title.
pub struct Title {
    pub text: String,
    pub format: Format,
    /// Fixed width of the column, or `None` to measure the content.
    pub width: Option<f64>,
}

/// A cell, or `None` if blank, and a format to use instead of the column's.
pub struct StyledCell<'a> {
    pub cell: Option<XlsxCell<'a>>,
    pub format: Option<&'a Format>,
}

/// Creates references to the cells of a table.
#[derive(Clone)]
pub struct Locations {
    name: String,
    rows_per_sheet: u64,
}

struct Sheets {
    layout: Layout,
    styles: CellStyles,
    max_rows: u32,
    /// Number of worksheets before the table.
    before: usize,
    /// Number of worksheets begun. Rows go to the last worksheet.
    count: usize,
    /// Next row of the last worksheet, zero-based.
    next_row: u32,
    cut_texts: u64,
    /// The last row written and its height, to be set when the next row begins.
    height: Option<(u32, f64)>,
    /// Widest content of each column so far, in characters.
    widths: Vec<usize>,
    /// Format of each column of the last worksheet, taken from its first cell.
    kinds: Vec<Option<CellKind>>,
}

impl XlsxTable {
    /// Creates a plain table.
    pub fn plain(file: WholeFile, name: &str, header: &[&str]) -> Result<XlsxTable, Error> {
        XlsxTable::create(file, Layout::plain(name, header))
    }

    /// # Errors
    /// [`Error::Unwritable`] if the header is wider than a worksheet.
    pub fn create(file: WholeFile, layout: Layout) -> Result<XlsxTable, Error> {
        XlsxTable::with_max_rows(file, layout, MAX_ROWS)
    }

    pub fn with_max_rows(file: WholeFile, layout: Layout, max_rows: u32) -> Result<XlsxTable, Error> {
        XlsxTable::begin(WorkbookFile::create(file)?, layout, max_rows, 0)
    }

    /// Ends the table, and begins a plain table on a new worksheet of the workbook.
    pub(crate) fn next_table(self, name: &str, header: &[&str]) -> Result<XlsxTable, Error> {
        let XlsxTable { mut file, mut sheets, .. } = self;
        file.edit(|workbook| sheets.end(workbook))?;
        XlsxTable::begin(file, Layout::plain(name, header), sheets.max_rows, sheets.before + sheets.count)
    }

    /// Begins a table after `before` worksheets.
    fn begin(file: WorkbookFile, mut layout: Layout, max_rows: u32, before: usize) -> Result<XlsxTable, Error> {
        layout.name = sheet_name(&layout.name);
        let widths = layout.header.iter().map(|title| title.text.chars().count() + FILTER_BUTTON).collect();
        let sheets = Sheets {
            styles: CellStyles::on(&styles::base()),
            max_rows,
            before: before + usize::from(layout.first_sheet.is_some()),
            count: 0,
            next_row: 0,
            cut_texts: 0,
            height: None,
            widths,
            kinds: Vec::new(),
            layout,
        };
        let mut table = XlsxTable { file, sheets, defused: 0 };
        table.check_width(table.sheets.layout.header.len())?;
        let XlsxTable { file, sheets, .. } = &mut table;
        file.edit(|workbook| {
            if let Some(name) = &sheets.layout.first_sheet {
                workbook.add_worksheet().set_name(name)?;
            }
            sheets.begin(workbook)
        })?;
        Ok(table)
    }

    /// Returns the number of cut texts so far.
    pub fn cut_texts(&self) -> u64 {
        self.sheets.cut_texts
    }

    /// Returns the number of values so far written with an apostrophe.
    pub(crate) fn defused(&self) -> u64 {
        self.defused
    }

    /// Returns the cell kind of a column's format, if known.
    pub fn column_kind(&self, column: usize) -> Option<CellKind> {
        self.sheets.kinds.get(column).copied().flatten()
    }

    pub fn locations(&self) -> Locations {
        let rows_per_sheet = u64::from(self.sheets.max_rows.saturating_sub(1)).max(1);
        Locations { name: self.sheets.layout.name.clone(), rows_per_sheet }
    }

    pub fn values(&mut self, values: &[Value<'_>]) -> Result<(), Error> {
        let is_escaped =
            |value: &&Value<'_>| matches!(value, Value::Text(text) if matches!(escape(text), Cow::Owned(_)));
        self.defused += values.iter().filter(is_escaped).count() as u64;
        let cells = values.iter().map(|value| StyledCell { cell: XlsxCell::from_value(value), format: None });
        self.row(cells, None, |_, _| Ok(()))
    }

    /// Writes a row, with a height in points if given. `finish` may add to the row, given the worksheet and the zero-based row.
    ///
    /// # Errors
    /// [`Error::Unwritable`] if the row is wider than a worksheet.
    pub fn row<'a>(
        &mut self,
        cells: impl ExactSizeIterator<Item = StyledCell<'a>>,
        height: Option<f64>,
        finish: impl FnOnce(&mut Worksheet, u32) -> Result<(), XlsxError>,
    ) -> Result<(), Error> {
        self.check_width(cells.len())?;
        let XlsxTable { file, sheets, .. } = self;
        file.edit(|workbook| {
            if sheets.next_row == sheets.max_rows {
                sheets.end(workbook)?;
                sheets.begin(workbook)?;
            }
            let row = sheets.next_row;
            finish(sheets.write(workbook, cells)?, row)?;
            sheets.height = height.map(|height| (row, height));
            Ok(())
        })
    }

    /// Ends the table, lets `finish` complete the workbook, and puts the file in place.
    pub fn finish(self, finish: impl FnOnce(&mut Workbook) -> Result<(), XlsxError>) -> Result<PathBuf, Error> {
        self.save(finish)?.finish()
    }

    /// Ends the table and prepares the file for `path`, in the same folder.
    pub fn ready_as(self, path: PathBuf) -> Result<ReadyFile, Error> {
        let mut file = self.save(|_| Ok(()))?;
        file.rename(path);
        file.ready()
    }

    fn save(self, finish: impl FnOnce(&mut Workbook) -> Result<(), XlsxError>) -> Result<WholeFile, Error> {
        let XlsxTable { mut file, mut sheets, .. } = self;
        file.edit(|workbook| {
            sheets.end(workbook)?;
            finish(workbook)
        })?;
        file.save()
    }

    fn check_width(&self, columns: usize) -> Result<(), Error> {
        if columns <= MAX_COLUMNS {
            return Ok(());
        }
        let reason = format!("a workbook has room for {MAX_COLUMNS} columns, not {columns}; write it as .csv");
        Err(Error::Unwritable { path: self.file.path().to_owned(), reason })
    }
}

impl Layout {
    pub fn plain(name: &str, header: &[&str]) -> Layout {
        let format = styles::header();
        let title = |text: &&str| Title { text: (*text).to_owned(), format: format.clone(), width: None };
        Layout {
            name: name.to_owned(),
            header: header.iter().map(title).collect(),
            first_sheet: None,
            finish_sheet: Box::new(|_, _| Ok(())),
        }
    }
}

impl Sheets {
    fn begin(&mut self, workbook: &mut Workbook) -> Result<(), XlsxError> {
        self.count += 1;
        let sheet = workbook.add_worksheet_with_constant_memory()?;
        sheet.set_name(numbered_sheet_name(&self.layout.name, self.count))?;
        sheet.set_freeze_panes(1, 0)?;
        // Print all columns across one A4 page, with the header on every page.
        sheet.set_landscape();
        sheet.set_paper_size(9);
        sheet.set_print_fit_to_pages(1, 0);
        sheet.set_repeat_rows(0, 0)?;
        for (column, title) in (0..).zip(&self.layout.header) {
            sheet.write_string_with_format(0, column, cut(&escape(&title.text)), &title.format)?;
        }
        self.next_row = 1;
        self.kinds = vec![None; self.layout.header.len()];
        Ok(())
    }

    fn write<'w, 'a>(
        &mut self,
        workbook: &'w mut Workbook,
        cells: impl Iterator<Item = StyledCell<'a>>,
    ) -> Result<&'w mut Worksheet, XlsxError> {
        let row = self.next_row;
        self.next_row += 1;
        let height = self.height.take();
        let sheet = self.current(workbook)?;
        if let Some((row, height)) = height {
            sheet.set_row_height(row, height)?;
        }
        for (index, StyledCell { cell, format }) in cells.enumerate() {
            let column = index as u16;
            let Some(cell) = cell else {
                if let Some(format) = format {
                    sheet.write_blank(row, column, format)?;
                }
                continue;
            };
            self.cut_texts += u64::from(cell.is_cut);
            if row <= MEASURED_ROWS
                && let Some(width) = self.widths.get_mut(index)
            {
                *width = cell.width().max(*width);
            }
            // Cells inherit the format of their column. Writing explicit formats takes 50 % longer.
            let format = match (format, self.kinds.get_mut(index)) {
                (Some(format), _) => Some(format),
                (None, Some(Some(kind))) if *kind == cell.kind => None,
                (None, Some(unknown @ None)) if cell.kind != CellKind::FormulaText => {
                    *unknown = Some(cell.kind);
                    sheet.set_column_format(column, self.styles.format(cell.kind))?;
                    None
                }
                (None, _) => Some(self.styles.format(cell.kind)),
            };
            cell.write(sheet, row, column, format)?;
        }
        Ok(sheet)
    }

    fn end(&mut self, workbook: &mut Workbook) -> Result<(), XlsxError> {
        let last_row = self.next_row.saturating_sub(1);
        // The writer (rust_xlsxwriter 0.102) stores a last row with a height twice, the second time without cells. Without a
        // height, programs choose one that fits.
        self.height = None;
        let sheet = self.current(workbook)?;
        for (column, (title, measured)) in (0..).zip(self.layout.header.iter().zip(&self.widths)) {
            let width = title.width.unwrap_or((*measured).clamp(MIN_WIDTH, MAX_WIDTH) as f64);
            sheet.set_column_width(column, width)?;
        }
        if let Some(last_column) = self.layout.header.len().checked_sub(1) {
            let last_column = last_column as u16;
            sheet.autofilter(0, 0, last_row, last_column)?;
            // Excel would mark every identifier that looks like a number.
            sheet.ignore_error_range(0, 0, last_row, last_column, IgnoreError::NumberStoredAsText)?;
        }
        (self.layout.finish_sheet)(sheet, last_row)
    }

    fn current<'w>(&self, workbook: &'w mut Workbook) -> Result<&'w mut Worksheet, XlsxError> {
        workbook.worksheet_from_index(self.before + self.count - 1)
    }
}

impl Locations {
    /// Returns a reference such as `'Items 2'!B7` to a cell, by the zero-based indexes of its row and column.
    pub fn reference(&self, row: u64, column: usize) -> String {
        let sheet = usize::try_from(row / self.rows_per_sheet).expect("sheets are counted in memory") + 1;
        let sheet = numbered_sheet_name(&self.name, sheet).replace('\'', "''");
        format!("'{sheet}'!{}{}", column_letters(column), row % self.rows_per_sheet + 2)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::write::whole_file::Existing;
    use crate::{Cell, Options, Row, open};

    fn table(folder: &Path, max_rows: u32) -> XlsxTable {
        let file = WholeFile::create(&folder.join("out.xlsx"), Existing::Keep).unwrap();
        XlsxTable::with_max_rows(file, Layout::plain("Items", &["SKU", "Name"]), max_rows).unwrap()
    }

    #[test]
    fn a_long_table_continues_on_further_sheets_with_the_header() {
        let folder = tempfile::tempdir().unwrap();
        let mut table = table(folder.path(), 3);
        for number in ["1", "2", "3", "4", "5"] {
            table.values(&[Value::Number(number)]).unwrap();
        }
        let path = table.finish(|_| Ok(())).unwrap();
        let book = open(&path, &Options::default()).unwrap();
        assert_eq!(book.sheets(), ["Items", "Items 2", "Items 3"]);
        for (sheet, numbers) in [(0, &[1.0, 2.0][..]), (1, &[3.0, 4.0]), (2, &[5.0])] {
            let mut rows = book.rows(sheet).unwrap();
            let mut row = Row::default();
            assert!(rows.next(&mut row).unwrap());
            assert_eq!(row.get(0), Cell::Text("SKU"));
            for number in numbers {
                assert!(rows.next(&mut row).unwrap());
                assert_eq!(row.get(0), Cell::Number(*number));
            }
            assert!(!rows.next(&mut row).unwrap());
        }
    }

    #[test]
    fn a_workbook_has_several_tables() {
        let folder = tempfile::tempdir().unwrap();
        let mut table = table(folder.path(), 3);
        for number in ["1", "2", "3"] {
            table.values(&[Value::Number(number)]).unwrap();
        }
        let mut table = table.next_table("Orders", &["Number"]).unwrap();
        assert_eq!(table.cut_texts(), 0);
        table.values(&[Value::Number("7")]).unwrap();
        let path = table.next_table("Companies", &["Name"]).unwrap().finish(|_| Ok(())).unwrap();
        let book = open(&path, &Options::default()).unwrap();
        assert_eq!(book.sheets(), ["Items", "Items 2", "Orders", "Companies"]);
        for (sheet, expected) in [(1, Cell::Number(3.0)), (2, Cell::Number(7.0))] {
            let (mut rows, mut row) = (book.rows(sheet).unwrap(), Row::default());
            assert!(rows.next(&mut row).unwrap() && rows.next(&mut row).unwrap());
            assert_eq!(row.get(0), expected);
        }
    }

    #[test]
    fn a_row_with_a_height_is_stored_once() {
        let folder = tempfile::tempdir().unwrap();
        let mut table = table(folder.path(), 4);
        for number in ["1", "2", "3", "4"] {
            let value = Value::Number(number);
            let cells = [StyledCell { cell: XlsxCell::from_value(&value), format: None }];
            table.row(cells.into_iter(), Some(45.0), |_, _| Ok(())).unwrap();
        }
        let path = table.finish(|_| Ok(())).unwrap();
        let mut parts = zip::ZipArchive::new(std::fs::File::open(path).unwrap()).unwrap();
        for (sheet, rows, heights) in [(1, 4, 2), (2, 2, 0)] {
            let part = parts.by_name(&format!("xl/worksheets/sheet{sheet}.xml")).unwrap();
            let xml = std::io::read_to_string(part).unwrap();
            let numbers: Vec<&str> = xml.split("<row r=\"").skip(1).map(|row| row.split('"').next().unwrap()).collect();
            let expected: Vec<String> = (1..=rows).map(|row| row.to_string()).collect();
            assert_eq!(numbers, expected);
            assert_eq!(xml.matches("ht=\"45\"").count(), heights);
        }
    }

    #[test]
    fn references_name_the_right_sheet() {
        let locations = Locations { name: "It's".to_owned(), rows_per_sheet: 2 };
        let references = [(0, 0), (1, 1), (2, 0), (4, 1)].map(|(row, column)| locations.reference(row, column));
        assert_eq!(references, ["'It''s'!A2", "'It''s'!B3", "'It''s 2'!A2", "'It''s 3'!B2"]);
    }

    #[test]
    fn values_keep_their_kinds_whatever_the_column_s_first_cell_was() {
        let folder = tempfile::tempdir().unwrap();
        let mut table = table(folder.path(), 3);
        let at = jiff::civil::DateTime::constant(2026, 1, 2, 3, 4, 5, 60_000_000);
        let rows = [
            [Value::Text("0042".into()), Value::Number("1.50")],
            [Value::Number("12345678901234567"), Value::Text("x".into())],
            [Value::DateTime { at, text: "2026-01-02T03:04:05.060Z" }, Value::Boolean(true)],
            [Value::Text("0043".into()), Value::Number("1e3")],
        ];
        rows.iter().for_each(|row| table.values(row).unwrap());
        let path = table.ready_as(folder.path().join("other.xlsx")).unwrap().finish().unwrap().path;
        let book = open(&path, &Options::default()).unwrap();
        let mut found = Vec::new();
        for sheet in 0..2 {
            let (mut rows, mut row) = (book.rows(sheet).unwrap(), Row::default());
            while rows.next(&mut row).unwrap() {
                found.push(row.cells().map(|cell| format!("{cell:?}")).collect::<Vec<_>>().join(" "));
            }
        }
        assert_eq!(
            found,
            [
                "Text(\"SKU\") Text(\"Name\")",
                "Text(\"0042\") Rounded(1.5, 2)",
                "Text(\"12345678901234567\") Text(\"x\")",
                "Text(\"SKU\") Text(\"Name\")",
                "DateTime(2026-01-02T03:04:05.06) Boolean(true)",
                "Text(\"0043\") Number(1000.0)",
            ]
        );
    }

    #[test]
    fn a_table_without_columns_or_rows_is_a_valid_workbook() {
        let folder = tempfile::tempdir().unwrap();
        let file = WholeFile::create(&folder.path().join("out.xlsx"), Existing::Keep).unwrap();
        let path = XlsxTable::plain(file, "", &[]).unwrap().finish(|_| Ok(())).unwrap();
        assert_eq!(open(&path, &Options::default()).unwrap().sheets(), ["Sheet"]);
    }
}
