//! One row's cells in two buffers that are reused from row to row, so that reading allocates nothing per cell.

use jiff::civil;

use super::cell::Cell;

/// A row of a sheet. Missing cells at the end are blank.
#[derive(Clone, Debug, Default)]
pub struct Row {
    /// As the spreadsheet program shows it: the first row is 1. In a CSV, records are counted, not lines.
    pub number: u64,
    text: String,
    slots: Vec<Slot>,
}

/// A cell whose text lies in the row's buffer.
#[derive(Clone, Copy, Debug)]
enum Slot {
    Blank,
    Text { start: usize, end: usize },
    Number(f64),
    Boolean(bool),
    Date(civil::Date),
    Time(civil::Time),
    DateTime(civil::DateTime),
    Error { start: usize, end: usize },
}

impl Row {
    /// Empties the row for the next use and keeps its buffers.
    pub fn clear(&mut self, number: u64) {
        self.number = number;
        self.text.clear();
        self.slots.clear();
    }

    pub fn push(&mut self, cell: Cell<'_>) {
        let slot = match cell {
            Cell::Blank | Cell::Text("") => Slot::Blank,
            Cell::Text(text) => {
                let (start, end) = self.store(text);
                Slot::Text { start, end }
            }
            Cell::Error(text) => {
                let (start, end) = self.store(text);
                Slot::Error { start, end }
            }
            Cell::Number(number) => Slot::Number(number),
            Cell::Boolean(boolean) => Slot::Boolean(boolean),
            Cell::Date(date) => Slot::Date(date),
            Cell::Time(time) => Slot::Time(time),
            Cell::DateTime(at) => Slot::DateTime(at),
        };
        self.slots.push(slot);
    }

    /// Adds blank cells until the row has `len` of them.
    pub fn pad(&mut self, len: usize) {
        while self.slots.len() < len {
            self.slots.push(Slot::Blank);
        }
    }

    pub fn get(&self, index: usize) -> Cell<'_> {
        self.slots.get(index).map_or(Cell::Blank, |slot| self.cell(*slot))
    }

    pub fn cells(&self) -> impl ExactSizeIterator<Item = Cell<'_>> {
        self.slots.iter().map(|slot| self.cell(*slot))
    }

    pub fn len(&self) -> usize {
        self.slots.len()
    }

    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// True when every cell is blank.
    pub fn is_blank(&self) -> bool {
        self.cells().all(|cell| cell.is_blank())
    }

    fn store(&mut self, text: &str) -> (usize, usize) {
        let start = self.text.len();
        self.text.push_str(text);
        (start, self.text.len())
    }

    fn cell(&self, slot: Slot) -> Cell<'_> {
        match slot {
            Slot::Blank => Cell::Blank,
            Slot::Text { start, end } => Cell::Text(&self.text[start..end]),
            Slot::Error { start, end } => Cell::Error(&self.text[start..end]),
            Slot::Number(number) => Cell::Number(number),
            Slot::Boolean(boolean) => Cell::Boolean(boolean),
            Slot::Date(date) => Cell::Date(date),
            Slot::Time(time) => Cell::Time(time),
            Slot::DateTime(at) => Cell::DateTime(at),
        }
    }
}
