//! The rows of a sheet in a private temporary file, for fast access to any window. Only offsets are in memory.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::PathBuf;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use sheetport_sheet::{Book, PrivateFile, Row, Rows};

use crate::error::Error;

/// Rows per compressed block.
const BLOCK: usize = 256;
/// Number of rows to read before the first window is returned.
const FIRST_ROWS: u64 = 1_000;
const LEVEL: i32 = 1;

/// The rows of a sheet. One thread adds rows while others read.
#[derive(Debug, Default)]
pub struct RowStore {
    state: Mutex<State>,
    grown: Condvar,
}

#[derive(Debug, Default)]
struct State {
    blocks: Vec<Block>,
    /// Encoded rows after the last block, with their numbers.
    tail: Vec<(u64, Vec<u8>)>,
    file: Option<PrivateFile>,
    len: u64,
    rows: u64,
    width: usize,
    is_complete: bool,
    failed: Option<String>,
}

#[derive(Clone, Copy, Debug)]
struct Block {
    first_number: u64,
    offset: u64,
    len: usize,
}

/// How many rows there are so far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extent {
    pub rows: u64,
    pub width: usize,
    pub is_complete: bool,
    /// Why the sheet can't be read further.
    pub failed: Option<String>,
}

impl RowStore {
    /// Reads all rows of a sheet into the store. `is_wanted` tells whether to continue.
    pub(super) fn fill(&self, book: &Book, sheet: usize, is_wanted: impl Fn() -> bool) {
        let filled = book.rows(sheet).map_err(|error| error.to_string());
        let filled = filled.and_then(|rows| self.add_all(rows, is_wanted));
        let mut state = self.state();
        state.is_complete = true;
        state.failed = filled.err();
        drop(state);
        self.grown.notify_all();
    }

    fn add_all(&self, mut rows: Rows, is_wanted: impl Fn() -> bool) -> Result<(), String> {
        let mut row = Row::default();
        while rows.next(&mut row).map_err(|error| error.to_string())? {
            if row.is_blank() {
                continue;
            }
            let mut bytes = Vec::new();
            row.encode(&mut bytes);
            let mut state = self.state();
            state.width = state.width.max(row.len());
            state.rows += 1;
            state.tail.push((row.number, bytes));
            let is_full = state.tail.len() == BLOCK;
            if is_full {
                state.flush().map_err(|error| Error::no_temporary_files(&error).to_string())?;
            }
            drop(state);
            if is_full {
                self.grown.notify_all();
                if !is_wanted() {
                    break;
                }
            }
        }
        Ok(())
    }

    /// Waits until the first rows are there, or all.
    pub(super) fn wait_for_first(&self) {
        let is_waiting = |state: &mut State| !state.is_complete && state.rows < FIRST_ROWS;
        drop(self.grown.wait_while(self.state(), is_waiting).unwrap_or_else(PoisonError::into_inner));
    }

    /// Waits until all rows are there.
    pub fn wait(&self) {
        let is_waiting = |state: &mut State| !state.is_complete;
        drop(self.grown.wait_while(self.state(), is_waiting).unwrap_or_else(PoisonError::into_inner));
    }

    /// Returns how many rows there are so far.
    pub fn extent(&self) -> Extent {
        let state = self.state();
        Extent { rows: state.rows, width: state.width, is_complete: state.is_complete, failed: state.failed.clone() }
    }

    /// Returns up to `count` rows from the position `from`, counted from 0.
    pub fn window(&self, from: u64, count: usize) -> Result<Vec<Row>, Error> {
        let end = from.saturating_add(count as u64).min(self.state().rows);
        let mut rows = Vec::new();
        let mut at = from;
        while at < end {
            let nth = (at / BLOCK as u64) as usize;
            let block = self.block(nth)?;
            let start = nth as u64 * BLOCK as u64;
            let wanted = (at - start) as usize..((end - start) as usize).min(block.len());
            if wanted.is_empty() {
                break;
            }
            at = start + wanted.end as u64;
            rows.extend(block.into_iter().skip(wanted.start).take(wanted.len()));
        }
        Ok(rows)
    }

    /// Returns the existing rows with these numbers. The numbers must be ascending.
    pub fn numbered(&self, numbers: &[u64]) -> Result<Vec<Row>, Error> {
        let mut rows = Vec::new();
        let mut loaded: Option<(usize, Vec<Row>)> = None;
        for number in numbers {
            let nth = self.state().block_of(*number);
            if loaded.as_ref().is_none_or(|(known, _)| *known != nth) {
                loaded = Some((nth, self.block(nth)?));
            }
            let block = loaded.as_ref().map_or(&[][..], |(_, rows)| rows.as_slice());
            let found = block.binary_search_by_key(number, |row| row.number);
            rows.extend(found.ok().map(|at| block[at].clone()));
        }
        Ok(rows)
    }

    /// Returns the position of the first row whose number is at least `number`.
    pub fn position(&self, number: u64) -> Result<u64, Error> {
        let nth = self.state().block_of(number);
        let block = self.block(nth)?;
        let within = block.iter().take_while(|row| row.number < number).count();
        Ok(nth as u64 * BLOCK as u64 + within as u64)
    }

    /// Returns the rows of a block; the last one is the tail. Nothing waits while they are read.
    fn block(&self, nth: usize) -> Result<Vec<Row>, Error> {
        let stored = self.state().stored(nth);
        stored.rows().map_err(|error| Error::no_temporary_files(&error))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Writes the rows of the tail as a block.
    fn flush(&mut self) -> io::Result<()> {
        let Some((first_number, _)) = self.tail.first() else { return Ok(()) };
        let mut bytes = Vec::new();
        for (_, row) in &self.tail {
            bytes.extend_from_slice(&(row.len() as u64).to_le_bytes());
            bytes.extend_from_slice(row);
        }
        let packed = zstd::bulk::compress(&bytes, LEVEL)?;
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(PrivateFile::create()?),
        };
        file.write_all(&packed)?;
        file.flush()?;
        self.blocks.push(Block { first_number: *first_number, offset: self.len, len: packed.len() });
        self.len += packed.len() as u64;
        self.tail.clear();
        Ok(())
    }

    /// Returns the index of the block that contains the row with this number, if the row exists.
    fn block_of(&self, number: u64) -> usize {
        if self.tail.first().is_some_and(|(first, _)| *first <= number) {
            return self.blocks.len();
        }
        self.blocks.partition_point(|block| block.first_number <= number).saturating_sub(1)
    }

    /// Returns where the rows of a block are.
    fn stored(&self, nth: usize) -> Stored {
        match (self.blocks.get(nth), &self.file) {
            (Some(block), Some(file)) => Stored::File(file.path().to_owned(), *block),
            _ => Stored::Memory(self.tail.iter().map(|(_, bytes)| bytes.clone()).collect()),
        }
    }
}

/// The rows of a block, not read yet.
enum Stored {
    File(PathBuf, Block),
    /// Of the tail.
    Memory(Vec<Vec<u8>>),
}

impl Stored {
    fn rows(self) -> io::Result<Vec<Row>> {
        let damaged = || io::Error::new(io::ErrorKind::InvalidData, "a stored row is damaged");
        let decode = |bytes: &[u8]| {
            let mut row = Row::default();
            row.decode_one(bytes).map(|()| row).ok_or_else(damaged)
        };
        let (path, block) = match self {
            Stored::File(path, block) => (path, block),
            Stored::Memory(rows) => return rows.iter().map(|bytes| decode(bytes)).collect(),
        };
        // A second descriptor, because reading would move the position of the writer.
        let mut reader = File::open(path)?;
        reader.seek(SeekFrom::Start(block.offset))?;
        let mut packed = vec![0; block.len];
        reader.read_exact(&mut packed)?;
        let bytes = zstd::stream::decode_all(packed.as_slice())?;
        let (mut rest, mut rows) = (bytes.as_slice(), Vec::with_capacity(BLOCK));
        while let Some((len, after)) = rest.split_first_chunk::<8>() {
            let len = usize::try_from(u64::from_le_bytes(*len)).map_err(|_| damaged())?;
            let row = after.get(..len).ok_or_else(damaged)?;
            rows.push(decode(row)?);
            rest = &after[len..];
        }
        Ok(rows)
    }
}

#[cfg(test)]
mod tests {
    use sheetport_sheet::{self as sheet, Options};

    use super::*;

    #[test]
    fn any_window_of_a_sheet_is_returned() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("items.csv");
        let rows: String = (2..=1_003).map(|row| format!("A-{row},Bolt\n")).collect();
        std::fs::write(&path, format!("SKU,Name\n{rows}")).expect("written");
        let book = sheet::open(&path, &Options::default()).expect("a book");
        let store = RowStore::default();
        store.fill(&book, 0, || true);
        let extent = store.extent();
        assert_eq!((extent.rows, extent.width, extent.is_complete, extent.failed), (1_003, 2, true, None));
        for (from, count, first, len) in [(0, 3, 1, 3), (255, 3, 256, 3), (1_000, 50, 1_001, 3), (2_000, 5, 0, 0)] {
            let window = store.window(from, count).expect("read");
            assert_eq!((window.first().map_or(0, |row| row.number), window.len()), (first, len));
        }
        let numbered = store.numbered(&[2, 257, 1_003, 9_999]).expect("read");
        let cells: Vec<String> = numbered.iter().map(|row| row.get(0).shown().into_owned()).collect();
        assert_eq!(cells, ["A-2", "A-257", "A-1003"]);
        assert_eq!(store.position(700).expect("read"), 699);
    }
}
