//! The pass over a sheet: maps all rows, and assembles records with rows and problems.
//!
//! `check`, `--dry-run` and the plan of an upload all use this pass, and therefore agree. Rows are read in chunks; the
//! rows of a chunk are mapped on several threads.

use std::num::NonZero;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;

use super::assemble::{Assembler, Batch};
use super::row::{MappedRow, ReadRow, map_row};
use super::source::{DataRows, Source};
use crate::sheet::Row;
use crate::template::map::survey::{Survey, Surveyor};
use crate::template::{Mapper, Template};
use crate::upload::error::Error;
use crate::upload::tally::Tally;

/// Maximum number of rows per chunk.
const CHUNK_ROWS: usize = 4096;
/// Chunks end early above this number of bytes of text.
const CHUNK_BYTES: usize = 4 << 20;
/// Maximum number of mapping threads.
const MAX_MAPPERS: usize = 4;

/// The data produced by a pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadMode {
    /// Rows, records and the tally.
    Records,
    /// Only the tally.
    TallyOnly,
}

/// Reads `source` to the end. `handle` receives the batches in order and returns whether to continue.
///
/// The notation of numbers and dates depends on the whole column. The first rows decide, and all rows confirm: if a
/// later row changes the meaning of earlier ones, the sheet is read again, after a batch with [`Batch::restarts`].
///
/// # Errors
/// Any error of the file; [`Error::Changed`] after a concurrent write, [`Error::NoRows`] without rows.
pub fn read(
    source: &Source,
    template: &Template,
    mode: ReadMode,
    mut handle: impl FnMut(Batch) -> bool,
) -> Result<Tally, Error> {
    let mut known = None;
    loop {
        match pass(source, template, mode, known, &mut handle)? {
            Pass::Ended(tally) => return Ok(tally),
            Pass::Misread(surveys) => known = Some(surveys),
        }
        if !handle(Batch { restarts: true, ..Batch::default() }) {
            return Ok(Tally::default());
        }
    }
}

/// The result of a pass over the sheets.
enum Pass {
    Ended(Tally),
    /// The rows were mapped by the notation of the first rows, which is not that of the whole columns.
    Misread(Vec<Survey>),
}

fn pass(
    source: &Source,
    template: &Template,
    mode: ReadMode,
    known: Option<Vec<Survey>>,
    handle: &mut impl FnMut(Batch) -> bool,
) -> Result<Pass, Error> {
    let confirms = known.is_none();
    let mut chunks = Chunks::new(source, template);
    let mut chunk = Vec::new();
    let mut len = chunks.next(&mut chunk)?;
    let surveys = known.unwrap_or_else(|| chunks.surveys());
    let parts = source.parts.iter().zip(&surveys).enumerate();
    let mappers: Vec<Mapper<'_>> =
        parts.map(|(index, (part, survey))| Mapper::new(index, template, &part.layout, survey)).collect();
    let with_records = mode == ReadMode::Records;
    let mut assembler = Assembler::new(source, template, &mappers, with_records);
    let threads = thread::available_parallelism().map_or(1, NonZero::get).clamp(1, MAX_MAPPERS);
    let mut next_chunk = Vec::new();
    while len > 0 {
        let read = thread::scope(|scope| {
            for rows in chunk[..len].chunks_mut(len.div_ceil(threads)) {
                let mappers = &mappers;
                scope.spawn(move || {
                    for (read, mapped) in rows {
                        let part = &source.parts[read.part];
                        map_row(&mappers[read.part], source, part, read, with_records, mapped);
                    }
                });
            }
            // Meanwhile this thread reads the next rows.
            chunks.next(&mut next_chunk)
        });
        for (read, mapped) in &mut chunk[..len] {
            assembler.add(mapped)?;
            shrink(read, mapped);
        }
        if !handle(assembler.take_batch()) {
            return Ok(Pass::Ended(assembler.tally));
        }
        len = read?;
        std::mem::swap(&mut chunk, &mut next_chunk);
    }
    source.check_unchanged()?;
    if confirms {
        let later = chunks.surveys();
        if !surveys.iter().zip(&later).all(|(survey, later)| survey.agrees_with(later)) {
            return Ok(Pass::Misread(later));
        }
    }
    if assembler.tally.rows == 0 {
        let first = source.parts.first();
        let name = |part| source.name_of(part).to_owned();
        let sheet = first.filter(|_| source.book.has_named_sheets()).map(name);
        let header_row = first.map_or(0, |part| part.layout.header.row);
        return Err(Error::NoRows { path: source.path.clone(), sheet, header_row });
    }
    assembler.finish();
    handle(assembler.take_batch());
    Ok(Pass::Ended(assembler.tally))
}

/// Reads all rows to find the notation of numbers and dates. Returns a survey per part.
pub fn survey(source: &Source, template: &Template) -> Result<Vec<Survey>, Error> {
    let mut chunks = Chunks::new(source, template);
    let mut chunk = Vec::new();
    if chunks.surveyors.iter().any(Surveyor::is_needed) {
        while chunks.next(&mut chunk)? > 0 {}
    }
    Ok(chunks.surveys())
}

/// Reads rows in chunks and surveys them.
struct Chunks<'a> {
    source: &'a Source,
    rows: DataRows<'a>,
    /// A row of a report with the types of its cells restored.
    restored: Row,
    /// One per part of the source.
    surveyors: Vec<Surveyor>,
}

impl<'a> Chunks<'a> {
    fn new(source: &'a Source, template: &Template) -> Chunks<'a> {
        let surveyors = source.parts.iter().map(|part| Surveyor::new(template, &part.layout)).collect();
        Chunks { source, rows: source.rows(), restored: Row::default(), surveyors }
    }

    /// Reads the next rows into `chunk`, whose buffers are reused. Returns the number of rows, 0 after the last row.
    fn next(&mut self, chunk: &mut Vec<(ReadRow, MappedRow)>) -> Result<usize, Error> {
        let read = catch_unwind(AssertUnwindSafe(|| self.read(chunk)));
        read.unwrap_or_else(|_| Err(Error::ReaderDied { path: self.source.path.clone() }))
    }

    fn read(&mut self, chunk: &mut Vec<(ReadRow, MappedRow)>) -> Result<usize, Error> {
        let (mut len, mut bytes) = (0, 0);
        while len < CHUNK_ROWS && bytes < CHUNK_BYTES {
            if chunk.len() == len {
                chunk.push(Default::default());
            }
            let (read, _) = &mut chunk[len];
            let Some(part) = self.rows.next(&mut read.row)? else { break };
            let mut row = &read.row;
            if let Some(history) = &self.source.history {
                let (row_history, _) = history.of_row(part, row);
                if history.restore(part, &row_history, row, &mut self.restored) {
                    row = &self.restored;
                }
            }
            self.surveyors[part].row(row);
            read.part = part;
            read.has_stray_quote = self.rows.has_stray_quote;
            bytes += read.row.text_len();
            len += 1;
        }
        Ok(len)
    }

    /// Returns the notation according to the rows so far, per part.
    fn surveys(&self) -> Vec<Survey> {
        self.surveyors.iter().map(Surveyor::survey).collect()
    }
}

/// Frees the memory of an unusually large row.
fn shrink(read: &mut ReadRow, mapped: &mut MappedRow) {
    const LARGE: usize = 64 * 1024;
    read.row.shrink();
    if mapped.body.capacity() > LARGE {
        *mapped = MappedRow::default();
    }
}
