//! Tables of a document read as a whole: a web page or an XML spreadsheet. Rows are kept encoded, in little more memory than
//! their texts.

use super::input::Source;
use crate::cell::{Setting, TextPart};
use crate::read::appearance::Appearance;
use crate::read::workbook::fault::Fault;
use crate::read::workbook::protocol::SheetEntry;
use crate::read::workbook::row_sender::{RowSender, Stop, check_place};
use crate::read::workbook::styles::ShownText;
use crate::read::{MAX_COLUMNS, MAX_RECORD};
use crate::{Cell, Row, Shown};

/// Maximum number of tables of a document.
const MAX_TABLES: usize = 10_000;
/// Number of rows per report of progress.
const PROGRESS: u64 = 1024;

/// The tables of a document, in order.
#[derive(Debug, Default)]
pub(super) struct Tables(Vec<Table>);

#[derive(Debug)]
struct Table {
    entry: SheetEntry,
    /// Encoded rows.
    rows: Vec<u8>,
    appearance: Appearance,
}

impl Tables {
    pub(super) fn add(&mut self, table: TableBuilder) -> Result<(), Fault> {
        if self.0.len() == MAX_TABLES {
            return Err(Fault::new(format!("it has more than {MAX_TABLES} tables")));
        }
        self.0.push(table.finish());
        Ok(())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Names the tables, if there are as many names as tables.
    pub(super) fn name(&mut self, names: Vec<String>) {
        if names.len() == self.0.len() {
            self.0.iter_mut().zip(names).for_each(|(table, name)| table.entry.name = name);
        }
    }

    /// Names tables without a name by their numbers, unless there is only one table.
    pub(super) fn number(&mut self) {
        if self.0.len() > 1 {
            for (number, table) in (1..).zip(&mut self.0) {
                if table.entry.name.is_empty() {
                    table.entry.name = format!("Table {number}");
                }
            }
        }
    }

    pub(super) fn entries(&self) -> Vec<SheetEntry> {
        self.0.iter().map(|table| table.entry.clone()).collect()
    }

    /// Returns the appearance of a table.
    #[cfg(test)]
    pub(super) fn appearance_of(&self, table: usize) -> Option<&Appearance> {
        self.0.get(table).map(|table| &table.appearance)
    }

    /// Sends the rows of a table. Returns its appearance.
    pub(super) fn send(&self, table: usize, rows: &mut RowSender<'_>) -> Result<Appearance, Stop> {
        let Some(table) = self.0.get(table) else { return Err(format!("it has no sheet {table}").into()) };
        let (mut rest, mut row) = (table.rows.as_slice(), Row::default());
        while !rest.is_empty() {
            rest = row.decode(rest, MAX_COLUMNS).expect("an encoded row can be decoded");
            let number = u32::try_from(row.number - 1).expect("row numbers were checked");
            for (column, cell) in (0..).zip(row.cells()) {
                let shown = row.shown(column as usize);
                let shown = shown.map(|Shown { text, is_certain }| ShownText { text: text.to_owned(), is_certain });
                rows.shown_cell(number, column, cell, shown)?;
                rows.add_parts(column, row.parts(column as usize));
            }
        }
        Ok(table.appearance.clone())
    }
}

/// A table under construction. Cells are added in order.
#[derive(Debug)]
pub(super) struct TableBuilder {
    table: Table,
    row: Row,
    finished: u64,
}

impl TableBuilder {
    pub(super) fn new(name: String) -> TableBuilder {
        let entry = SheetEntry { name, is_hidden: false };
        let table = Table { entry, rows: Vec::new(), appearance: Appearance::default() };
        TableBuilder { table, row: Row::default(), finished: 0 }
    }

    /// Adds a cell at a one-based row and a zero-based column, with its displayed text if different from the text of its value.
    /// Ignores blank cells.
    pub(super) fn cell(
        &mut self,
        number: u64,
        column: usize,
        cell: Cell<'_>,
        shown: Option<Shown<'_>>,
        file: &Source,
    ) -> Result<(), Fault> {
        if matches!(cell, Cell::Blank | Cell::Text("")) {
            return Ok(());
        }
        check_place(number, column).map_err(Fault::new)?;
        if number < self.row.number {
            return Err(Fault::new(format!("row {number} is stored out of order, after row {}", self.row.number)));
        }
        if number > self.row.number {
            self.finish_row();
            self.row.clear(number);
            self.finished += 1;
            if self.finished.is_multiple_of(PROGRESS) {
                file.activity().record_output();
            }
        }
        let text = if let Cell::Text(text) | Cell::Error(text) = cell { text.len() } else { 0 };
        if self.row.text_len() + text > MAX_RECORD {
            return Err(Fault::new(format!("row {number} is longer than 16 MiB")));
        }
        self.row.put(column, cell);
        if let Some(shown) = shown {
            self.row.show(column, shown);
        }
        Ok(())
    }

    /// Adds the parts of the text of the last cell, which is at `column`.
    pub(super) fn add_parts(&mut self, column: usize, parts: &[(Setting, String)]) {
        for (setting, text) in parts {
            self.row.add_part(column, TextPart { setting: *setting, text });
        }
    }

    /// Returns the appearance of the table, for additions.
    pub(super) fn appearance(&mut self) -> &mut Appearance {
        &mut self.table.appearance
    }

    pub(super) fn hide_table(&mut self) {
        self.table.entry.is_hidden = true;
    }

    /// Returns true if no cell was added.
    pub(super) fn is_blank(&self) -> bool {
        self.row.number == 0
    }

    fn finish_row(&mut self) {
        if !self.row.is_empty() {
            self.row.encode(&mut self.table.rows);
            self.row.shrink();
        }
    }

    fn finish(mut self) -> Table {
        self.finish_row();
        self.table
    }
}
