//! A row of cells in two reusable buffers, to avoid allocations per cell.

use std::borrow::Cow;

use super::cell::{Cell, CellOf, Setting, Shown, TextPart};

/// A row of a sheet. Cells past the end are blank.
#[derive(Clone, Debug, Default)]
pub struct Row {
    /// One-based row number, as displayed by spreadsheet programs. In a CSV, the number of the record, not of the line.
    pub number: u64,
    text: String,
    slots: Vec<Slot>,
    /// Displayed texts by column. Columns without an entry display the texts of their values.
    shown: Vec<Option<ShownSlot>>,
    /// Parts of texts, for the few cells whose parts are set differently.
    parts: Vec<PartSlot>,
}

/// A cell with its text as a range of the row's text buffer: start and end.
type Slot = CellOf<(usize, usize)>;

/// A displayed text, as a range of the row's text buffer.
#[derive(Clone, Copy, Debug)]
struct ShownSlot {
    text: (usize, usize),
    is_certain: bool,
}

/// A part of a cell's text, as a range of the row's text buffer.
#[derive(Clone, Copy, Debug)]
struct PartSlot {
    column: usize,
    setting: Setting,
    text: (usize, usize),
}

impl Row {
    /// Empties the row and keeps its buffers.
    pub fn clear(&mut self, number: u64) {
        self.number = number;
        self.text.clear();
        self.slots.clear();
        self.shown.clear();
        self.parts.clear();
    }

    #[inline]
    pub fn push(&mut self, cell: Cell<'_>) {
        let slot = match cell {
            Cell::Text("") => Slot::Blank,
            cell => cell.map_text(|text| {
                let start = self.text.len();
                self.text.push_str(text);
                (start, self.text.len())
            }),
        };
        self.slots.push(slot);
    }

    /// Replaces the cells with texts at the given ranges of `bytes`. Validates and copies `bytes` as a whole, which is much
    /// faster than cell by cell.
    ///
    /// # Errors
    /// The index of the first text of invalid UTF-8.
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
        // Two invalid texts can be valid when joined.
        if !text.is_ascii() {
            let is_broken = |(start, end)| !text.is_char_boundary(start) || !text.is_char_boundary(end);
            if let Some(index) = texts.clone().position(is_broken) {
                return Err(index);
            }
        }
        let slot = |(start, end)| if start == end { Slot::Blank } else { Slot::Text((start, end)) };
        self.slots.extend(texts.map(slot));
        self.text.push_str(text);
        Ok(())
    }

    /// Sets the cell at `index`, adding blank cells before it as needed.
    #[inline]
    pub fn put(&mut self, index: usize, cell: Cell<'_>) {
        self.pad(index);
        let end = self.slots.len();
        self.push(cell);
        if index < end {
            self.slots.swap_remove(index);
            if let Some(shown) = self.shown.get_mut(index) {
                *shown = None;
            }
            self.parts.retain(|part| part.column != index);
        }
    }

    /// Sets the displayed text of the cell at `index`.
    pub fn show(&mut self, index: usize, shown: Shown<'_>) {
        let start = self.text.len();
        self.text.push_str(shown.text);
        if self.shown.len() <= index {
            self.shown.resize(index + 1, None);
        }
        self.shown[index] = Some(ShownSlot { text: (start, self.text.len()), is_certain: shown.is_certain });
    }

    /// Returns the displayed text of the cell at `index`, if different from the text of its value.
    pub fn shown(&self, index: usize) -> Option<Shown<'_>> {
        let ShownSlot { text: (start, end), is_certain } = self.shown.get(index).copied().flatten()?;
        Some(Shown { text: &self.text[start..end], is_certain })
    }

    /// Whether all cells display the texts of their values, in one setting.
    pub fn is_plain(&self) -> bool {
        self.shown.is_empty() && self.parts.is_empty()
    }

    /// Returns the displayed texts with their columns.
    pub(super) fn all_shown(&self) -> impl Iterator<Item = (usize, Shown<'_>)> {
        (0..self.shown.len()).filter_map(|column| Some((column, self.shown(column)?)))
    }

    /// Adds the next part of the text of the cell at `column`.
    pub(super) fn add_part(&mut self, column: usize, part: TextPart<'_>) {
        let start = self.text.len();
        self.text.push_str(part.text);
        self.parts.push(PartSlot { column, setting: part.setting, text: (start, self.text.len()) });
    }

    /// Returns the parts of the text of the cell at `column`. Empty for all cells without a part that is set differently.
    pub fn parts(&self, column: usize) -> impl Iterator<Item = TextPart<'_>> {
        self.all_parts().filter(move |(of, _)| *of == column).map(|(_, part)| part)
    }

    /// Returns the parts of texts with their columns.
    pub(super) fn all_parts(&self) -> impl Iterator<Item = (usize, TextPart<'_>)> {
        let part = |part: &PartSlot| TextPart { setting: part.setting, text: &self.text[part.text.0..part.text.1] };
        self.parts.iter().map(move |slot| (slot.column, part(slot)))
    }

    /// Appends the cell at `index` of another row, including its displayed text.
    pub fn push_from(&mut self, row: &Row, index: usize) {
        self.put_from(self.slots.len(), row, index);
    }

    /// Sets the cell at `at` to the cell at `index` of another row, including its displayed text.
    pub fn put_from(&mut self, at: usize, row: &Row, index: usize) {
        self.put(at, row.get(index));
        if let Some(shown) = row.shown(index) {
            self.show(at, shown);
        }
        row.parts(index).for_each(|part| self.add_part(at, part));
    }

    /// Applies `replace` to all texts with an apostrophe.
    pub fn replace_texts(&mut self, replace: impl Fn(&str) -> Cow<'_, str>) {
        if !self.text.contains('\'') {
            return;
        }
        let mut replaced = Row { number: self.number, ..Row::default() };
        for (column, cell) in self.cells().enumerate() {
            match cell {
                Cell::Text(text) => {
                    replaced.push(Cell::Text(&replace(text)));
                    self.parts(column).for_each(|part| replaced.add_part(column, part));
                }
                _ => replaced.push_from(self, column),
            }
        }
        *self = replaced;
    }

    /// Adds blank cells until the row has at least `len` cells.
    #[inline]
    pub fn pad(&mut self, len: usize) {
        if self.slots.len() < len {
            self.slots.resize(len, Slot::Blank);
        }
    }

    #[inline]
    pub fn get(&self, index: usize) -> Cell<'_> {
        match self.slots.get(index) {
            None | Some(Slot::Blank) => Cell::Blank,
            // Nearly all cells of text files.
            Some(Slot::Text((start, end))) => Cell::Text(&self.text[*start..*end]),
            Some(slot) => self.cell(*slot),
        }
    }

    #[inline]
    pub fn cells(&self) -> impl ExactSizeIterator<Item = Cell<'_>> {
        (0..self.slots.len()).map(|index| self.get(index))
    }

    pub fn len(&self) -> usize {
        self.slots.len()
    }

    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// Returns true if every cell is blank.
    pub fn is_blank(&self) -> bool {
        self.cells().all(|cell| cell.is_blank())
    }

    /// Returns the first non-blank cell, if text.
    pub(crate) fn first_filled_text(&self) -> Option<&str> {
        self.cells().find(|cell| !cell.is_blank()).and_then(|cell| match cell {
            Cell::Text(text) => Some(text),
            _ => None,
        })
    }

    /// Returns the total length of all texts in bytes.
    pub fn text_len(&self) -> usize {
        self.text.len()
    }

    /// Releases the memory of an unusually large row before reuse.
    pub fn shrink(&mut self) {
        if self.text.capacity() > 64 * 1024 {
            self.text = String::new();
        }
        if self.slots.capacity() > 4096 {
            self.slots = Vec::new();
            self.shown = Vec::new();
            self.parts = Vec::new();
        }
    }

    fn cell(&self, slot: Slot) -> Cell<'_> {
        slot.map_text(|(start, end)| &self.text[start..end])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fill_takes_texts_at_ranges_of_bytes() {
        let mut row = Row::default();
        row.push(Cell::Number(1.0));
        assert_eq!(row.fill(3, "a,,ä,\"b\"".as_bytes(), [(0, 1), (2, 2), (3, 5), (7, 8)].into_iter()), Ok(()));
        assert_eq!(row.number, 3);
        let cells: Vec<_> = row.cells().collect();
        assert_eq!(cells, [Cell::Text("a"), Cell::Blank, Cell::Text("ä"), Cell::Text("b")]);
    }

    #[test]
    fn fill_returns_the_index_of_invalid_utf8_even_if_only_a_boundary_is_broken() {
        let mut row = Row::default();
        assert_eq!(row.fill(1, b"a,b,\xE4c", [(0, 1), (2, 3), (4, 6)].into_iter()), Err(2));
        assert_eq!(row.fill(1, b"a\xC3\xA4c", [(0, 2), (2, 4)].into_iter()), Err(0));
    }

    #[test]
    fn put_replaces_or_appends_a_cell() {
        let mut row = Row::default();
        row.put(2, Cell::Text("c"));
        row.put(0, Cell::Number(1.0));
        let cells: Vec<_> = row.cells().collect();
        assert_eq!(cells, [Cell::Number(1.0), Cell::Blank, Cell::Text("c")]);
    }

    #[test]
    fn cells_show_other_texts_until_they_are_replaced() {
        let (mut row, mut other) = (Row::default(), Row::default());
        row.push(Cell::Blank);
        row.push(Cell::Percent(0.19));
        let shown = Shown { text: "19.00%", is_certain: true };
        row.show(1, shown);
        other.push_from(&row, 0);
        other.push_from(&row, 1);
        other.put_from(5, &row, 1);
        assert_eq!(other.all_shown().collect::<Vec<_>>(), [(1, shown), (5, shown)]);
        other.put(5, Cell::Percent(0.07));
        assert_eq!((other.shown(5), other.shown(0)), (None, None));
        row.clear(1);
        row.pad(2);
        assert_eq!(row.shown(1), None);
    }

    #[test]
    fn cells_have_parts_until_they_are_replaced() {
        let (mut row, mut other) = (Row::default(), Row::default());
        row.push(Cell::Text("121"));
        let parts =
            [TextPart { setting: Setting::Plain, text: "12" }, TextPart { setting: Setting::Raised, text: "1" }];
        parts.into_iter().for_each(|part| row.add_part(0, part));
        other.put_from(2, &row, 0);
        assert!(other.parts(2).eq(parts) && other.parts(0).next().is_none());
        other.put(2, Cell::Text("12"));
        assert_eq!(other.parts(2).next(), None);
    }
}
