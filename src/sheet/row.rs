//! One row's cells in two buffers that are reused from row to row, so that reading allocates nothing per cell.

pub mod wire;

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
    Percent(f64),
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

    #[inline]
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
            Cell::Percent(number) => Slot::Percent(number),
            Cell::Boolean(boolean) => Slot::Boolean(boolean),
            Cell::Date(date) => Slot::Date(date),
            Cell::Time(time) => Slot::Time(time),
            Cell::DateTime(at) => Slot::DateTime(at),
        };
        self.slots.push(slot);
    }

    /// Empties the row and fills it with texts that lie in `bytes`, each from a start to an end. The whole is validated
    /// at once and taken over as it is, which is what makes reading a CSV cheap. Answers the index of the first text
    /// that is not UTF-8.
    pub fn fill(
        &mut self,
        number: u64,
        bytes: &[u8],
        texts: impl ExactSizeIterator<Item = (usize, usize)> + Clone,
    ) -> Result<(), usize> {
        self.clear(number);
        let broken_at =
            |at: usize| texts.clone().position(|(_, end)| end > at).unwrap_or(texts.len().saturating_sub(1));
        let text = std::str::from_utf8(bytes).map_err(|error| broken_at(error.valid_up_to()))?;
        // Two texts that are broken at their seam can make a valid whole.
        if !text.is_ascii() {
            let is_broken = |(start, end)| !text.is_char_boundary(start) || !text.is_char_boundary(end);
            if let Some(index) = texts.clone().position(is_broken) {
                return Err(index);
            }
        }
        let slot = |(start, end)| if start == end { Slot::Blank } else { Slot::Text { start, end } };
        self.slots.extend(texts.map(slot));
        self.text.push_str(text);
        Ok(())
    }

    /// Puts a cell at `index`, with blank cells before it where there are none yet.
    #[inline]
    pub fn put(&mut self, index: usize, cell: Cell<'_>) {
        self.pad(index);
        let end = self.slots.len();
        self.push(cell);
        if index < end {
            self.slots.swap_remove(index);
        }
    }

    /// Adds blank cells until the row has `len` of them.
    #[inline]
    pub fn pad(&mut self, len: usize) {
        if self.slots.len() < len {
            self.slots.resize(len, Slot::Blank);
        }
    }

    #[inline]
    pub fn get(&self, index: usize) -> Cell<'_> {
        self.slots.get(index).map_or(Cell::Blank, |slot| self.cell(*slot))
    }

    #[inline]
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

    /// The first text that is not blank.
    pub fn get_first_filled(&self) -> Option<&str> {
        self.cells().find(|cell| !cell.is_blank()).and_then(|cell| match cell {
            Cell::Text(text) => Some(text),
            _ => None,
        })
    }

    /// The bytes of all texts together.
    pub fn text_len(&self) -> usize {
        self.text.len()
    }

    /// Gives back the memory of an uncommonly large row, before the row is kept for reuse among many.
    pub fn shed(&mut self) {
        if self.text.capacity() > 64 * 1024 {
            self.text = String::new();
        }
        if self.slots.capacity() > 4096 {
            self.slots = Vec::new();
        }
    }

    fn store(&mut self, text: &str) -> (usize, usize) {
        let start = self.text.len();
        self.text.push_str(text);
        (start, self.text.len())
    }

    #[inline]
    fn cell(&self, slot: Slot) -> Cell<'_> {
        match slot {
            Slot::Blank => Cell::Blank,
            Slot::Text { start, end } => Cell::Text(&self.text[start..end]),
            Slot::Error { start, end } => Cell::Error(&self.text[start..end]),
            Slot::Number(number) => Cell::Number(number),
            Slot::Percent(number) => Cell::Percent(number),
            Slot::Boolean(boolean) => Cell::Boolean(boolean),
            Slot::Date(date) => Cell::Date(date),
            Slot::Time(time) => Cell::Time(time),
            Slot::DateTime(at) => Cell::DateTime(at),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_filled_from_texts_among_other_bytes() {
        let mut row = Row::default();
        row.push(Cell::Number(1.0));
        assert_eq!(row.fill(3, "a,,ä,\"b\"".as_bytes(), [(0, 1), (2, 2), (3, 5), (7, 8)].into_iter()), Ok(()));
        assert_eq!(row.number, 3);
        let cells: Vec<_> = row.cells().collect();
        assert_eq!(cells, [Cell::Text("a"), Cell::Blank, Cell::Text("ä"), Cell::Text("b")]);
    }

    #[test]
    fn text_that_is_not_utf8_is_refused_with_its_field_even_if_only_the_seam_is_broken() {
        let mut row = Row::default();
        assert_eq!(row.fill(1, b"a,b,\xE4c", [(0, 1), (2, 3), (4, 6)].into_iter()), Err(2));
        assert_eq!(row.fill(1, b"a\xC3\xA4c", [(0, 2), (2, 4)].into_iter()), Err(0));
    }

    #[test]
    fn a_cell_is_put_where_it_belongs() {
        let mut row = Row::default();
        row.put(2, Cell::Text("c"));
        row.put(0, Cell::Number(1.0));
        let cells: Vec<_> = row.cells().collect();
        assert_eq!(cells, [Cell::Number(1.0), Cell::Blank, Cell::Text("c")]);
    }
}
