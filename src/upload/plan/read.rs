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
use crate::template::map::date_survey::{DateSurvey, DateSurveyor};
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
/// # Errors
/// Any error of the file; [`Error::Changed`] after a concurrent write, [`Error::NoRows`] without rows.
pub fn read(
    source: &Source,
    template: &Template,
    mode: ReadMode,
    mut handle: impl FnMut(Batch) -> bool,
) -> Result<Tally, Error> {
    let surveys = survey(source, template)?;
    let parts = source.parts.iter().zip(&surveys).enumerate();
    let mappers: Vec<Mapper<'_>> =
        parts.map(|(index, (part, survey))| Mapper::new(index, template, &part.layout, survey)).collect();
    let with_records = mode == ReadMode::Records;
    let mut assembler = Assembler::new(source, template, &mappers, with_records);
    let threads = thread::available_parallelism().map_or(1, NonZero::get).clamp(1, MAX_MAPPERS);
    let mut rows = source.rows();
    // Reused, to allocate buffers only once.
    let mut chunk: Vec<(ReadRow, MappedRow)> = Vec::new();
    loop {
        let read = catch_unwind(AssertUnwindSafe(|| read_chunk(&mut rows, &mut chunk)));
        let len = read.unwrap_or_else(|_| Err(Error::ReaderDied { path: source.path.clone() }))?;
        if len == 0 {
            break;
        }
        let chunk = &mut chunk[..len];
        thread::scope(|scope| {
            for rows in chunk.chunks_mut(len.div_ceil(threads)) {
                let mappers = &mappers;
                scope.spawn(move || {
                    for (read, mapped) in rows {
                        let part = &source.parts[read.part];
                        map_row(&mappers[read.part], source, part, read, with_records, mapped);
                    }
                });
            }
        });
        for (read, mapped) in chunk {
            assembler.add(mapped)?;
            shrink(read, mapped);
        }
        if !handle(assembler.take_batch()) {
            return Ok(assembler.tally);
        }
    }
    source.check_unchanged()?;
    if assembler.tally.rows == 0 {
        let first = source.parts.first();
        let name = |part| source.name_of(part).to_owned();
        let sheet = first.filter(|_| source.book.has_named_sheets()).map(name);
        let header_row = first.map_or(0, |part| part.layout.header.row);
        return Err(Error::NoRows { path: source.path.clone(), sheet, header_row });
    }
    assembler.finish();
    handle(assembler.take_batch());
    Ok(assembler.tally)
}

/// Reads whole columns in advance if the template requires this, for example to detect a date format. Returns a survey
/// per part.
pub fn survey(source: &Source, template: &Template) -> Result<Vec<DateSurvey>, Error> {
    let mut surveyors: Vec<DateSurveyor> =
        source.parts.iter().map(|part| DateSurveyor::new(template, &part.layout)).collect();
    if surveyors.iter().any(DateSurveyor::is_needed) {
        let mut rows = source.rows();
        let mut row = Row::default();
        while let Some(part) = rows.next(&mut row)? {
            surveyors[part].row(&row);
        }
    }
    Ok(surveyors.into_iter().map(DateSurveyor::end).collect())
}

/// Reads the next rows into `chunk` and returns the number of rows read, 0 after the last row.
fn read_chunk(rows: &mut DataRows<'_>, chunk: &mut Vec<(ReadRow, MappedRow)>) -> Result<usize, Error> {
    let (mut len, mut bytes) = (0, 0);
    while len < CHUNK_ROWS && bytes < CHUNK_BYTES {
        if chunk.len() == len {
            chunk.push(Default::default());
        }
        let (read, _) = &mut chunk[len];
        let Some(part) = rows.next(&mut read.row)? else { break };
        read.part = part;
        read.has_stray_quote = rows.has_stray_quote;
        bytes += read.row.text_len();
        len += 1;
    }
    Ok(len)
}

/// Frees the memory of an unusually large row.
fn shrink(read: &mut ReadRow, mapped: &mut MappedRow) {
    const LARGE: usize = 64 * 1024;
    read.row.shrink();
    if mapped.body.capacity() > LARGE {
        *mapped = MappedRow::default();
    }
}
