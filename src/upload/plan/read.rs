//! The pass over a sheet: maps all rows, and assembles records with rows and problems.
//!
//! `check`, `--dry-run` and the plan of an upload all use this pass, and therefore agree. One thread reads, several map, and the calling thread restores the order and assembles records.

use std::collections::BTreeMap;
use std::num::NonZero;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread;

use super::assemble::{Assembler, Batch};
use super::row::{MappedRow, ReadRow, map_row};
use super::source::Source;
use crate::sheet::Row;
use crate::template::map::date_survey::{DateSurvey, DateSurveyor};
use crate::template::{Mapper, Template};
use crate::upload::error::Error;
use crate::upload::tally::Tally;

/// Maximum number of rows per chunk.
const CHUNK_ROWS: usize = 1024;
/// Chunks end early above this number of bytes of text.
const CHUNK_BYTES: usize = 1 << 20;
/// Maximum number of mapping threads. Reading and assembling need about a core together.
const MAX_MAPPERS: usize = 4;

/// The data produced by a pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadMode {
    /// Rows, records and the tally.
    Records,
    /// Only the tally.
    TallyOnly,
}

/// Consecutive rows. Chunks are reused, to allocate buffers only once.
#[derive(Default)]
struct Chunk {
    /// The position among all chunks.
    index: u64,
    read: Vec<ReadRow>,
    mapped: Vec<MappedRow>,
    /// The number of valid rows.
    len: usize,
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
    let (recycle, recycled) = channel();
    for _ in 0..2 * threads + 2 {
        recycle.send(Chunk::default()).expect("the receiver is alive");
    }
    let continues = thread::scope(|scope| {
        let (read, to_map) = sync_channel(threads);
        let (mapped, to_assemble) = channel();
        let reader = scope.spawn(move || read_chunks(source, recycled, read));
        let to_map = Arc::new(Mutex::new(to_map));
        for _ in 0..threads {
            let (to_map, mapped) = (Arc::clone(&to_map), mapped.clone());
            let mappers = &mappers;
            scope.spawn(move || map_chunks(mappers, source, with_records, &to_map, &mapped));
        }
        drop((to_map, mapped));
        let continues = assemble(&mut assembler, &to_assemble, &recycle, &mut handle);
        // Ends the other threads if waiting for a chunk or for room in a channel.
        drop((recycle, to_assemble));
        let read = reader.join().unwrap_or_else(|_| Err(source.reader_died()));
        match continues {
            Ok(true) => read.map(|()| true),
            continues => continues,
        }
    })?;
    if !continues {
        return Ok(assembler.tally);
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

fn read_chunks(source: &Source, recycled: Receiver<Chunk>, read: SyncSender<Chunk>) -> Result<(), Error> {
    let mut rows = source.rows();
    for index in 0.. {
        let Ok(mut chunk) = recycled.recv() else { return Ok(()) };
        chunk.index = index;
        chunk.len = 0;
        let mut bytes = 0;
        let mut is_last = false;
        while chunk.len < CHUNK_ROWS && bytes < CHUNK_BYTES {
            if chunk.read.len() == chunk.len {
                chunk.read.push(ReadRow::default());
            }
            let target = &mut chunk.read[chunk.len];
            let Some(part) = rows.next(&mut target.row)? else {
                is_last = true;
                break;
            };
            target.part = part;
            target.has_stray_quote = rows.has_stray_quote;
            bytes += target.row.text_len();
            chunk.len += 1;
        }
        if chunk.len > 0 && read.send(chunk).is_err() || is_last {
            return Ok(());
        }
    }
    Ok(())
}

fn map_chunks(
    mappers: &[Mapper<'_>],
    source: &Source,
    with_records: bool,
    to_map: &Mutex<Receiver<Chunk>>,
    mapped: &Sender<Chunk>,
) {
    loop {
        // A poisoned lock means a panic in another mapping thread, and ends the pass.
        let Ok(Ok(mut chunk)) = to_map.lock().map(|to_map| to_map.recv()) else { return };
        chunk.mapped.resize_with(chunk.len.max(chunk.mapped.len()), MappedRow::default);
        for (read, mapped) in chunk.read.iter().zip(&mut chunk.mapped).take(chunk.len) {
            map_row(&mappers[read.part], source, &source.parts[read.part], read, with_records, mapped);
        }
        if mapped.send(chunk).is_err() {
            return;
        }
    }
}

/// Assembles chunks in the order of the sheet. Returns false if `handle` wants to stop.
fn assemble(
    assembler: &mut Assembler<'_>,
    mapped: &Receiver<Chunk>,
    recycle: &Sender<Chunk>,
    handle: &mut impl FnMut(Batch) -> bool,
) -> Result<bool, Error> {
    let mut early = BTreeMap::new();
    let mut next = 0;
    while let Ok(chunk) = mapped.recv() {
        early.insert(chunk.index, chunk);
        while let Some(mut chunk) = early.remove(&next) {
            next += 1;
            for row in chunk.mapped.iter_mut().take(chunk.len) {
                assembler.add(row)?;
            }
            shrink(&mut chunk);
            // Fails if the reading thread has ended and needs no more chunks.
            drop(recycle.send(chunk));
            if !handle(assembler.take_batch()) {
                return Ok(false);
            }
        }
    }
    Ok(true)
}

/// Frees the memory of unusually large rows.
fn shrink(chunk: &mut Chunk) {
    const LARGE: usize = 64 * 1024;
    chunk.read.iter_mut().for_each(|read| read.row.shrink());
    chunk.mapped.iter_mut().filter(|row| row.body.capacity() > LARGE).for_each(|row| *row = MappedRow::default());
}
