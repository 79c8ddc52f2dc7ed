//! One pass over a sheet: every row mapped, every record with its place, its rows and its problems.
//!
//! Both the plan of an upload and `check` are made of this pass, so that they can't disagree. One thread reads, others
//! map, and the caller's puts the rows back in order and makes records of them.

use std::collections::BTreeMap;
use std::num::NonZero;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread;

use super::assemble::Assembler;
pub use super::assemble::Batch;
use super::error::Error;
use super::rows::{MadeRow, ReadRow, make};
use super::source::Source;
use super::tally::Tally;
use crate::sheet::Row;
use crate::template::map::date_survey::{DateSurvey, DateSurveyor};
use crate::template::{Mapper, Template};

/// Rows handed on together, unless their texts are very long.
const STRETCH: usize = 1024;
const STRETCH_BYTES: usize = 1 << 20;
/// Threads that map rows, at most. Reading and putting in order take a core's worth between them.
const MOST_MAPPERS: usize = 4;

/// What a pass hands on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// Rows and records.
    Everything,
    /// Nothing but how far it is: the tally is all that is wanted.
    Nothing,
}

/// Rows on their way. Stretches are used again, so that their buffers are made once.
#[derive(Default)]
struct Stretch {
    /// Its place in the sheet's order.
    nth: u64,
    read: Vec<ReadRow>,
    made: Vec<MadeRow>,
    /// How many of the rows count.
    len: usize,
}

/// Reads `source` to its end. `hand_on` takes the batches in order and answers whether to go on.
pub fn read(
    source: &Source,
    template: &Template,
    keep: Keep,
    mut hand_on: impl FnMut(Batch) -> bool,
) -> Result<Tally, Error> {
    let surveys = survey(source, template)?;
    let parts = source.parts.iter().zip(&surveys).enumerate();
    let sheets: Vec<Mapper<'_>> =
        parts.map(|(nth, (part, survey))| Mapper::new(nth, template, &part.layout, survey)).collect();
    let keeps = keep == Keep::Everything;
    let mut assembler = Assembler::new(source, template, &sheets, keeps);
    let mappers = thread::available_parallelism().map_or(1, NonZero::get).clamp(1, MOST_MAPPERS);
    let (spare, spares) = channel();
    for _ in 0..2 * mappers + 2 {
        spare.send(Stretch::default()).map_err(|_| source.reader_died())?;
    }
    let went_on = thread::scope(|scope| {
        let (read, to_map) = sync_channel(mappers);
        let (made, mapped) = channel();
        let reader = scope.spawn(move || read_rows(source, spares, read));
        let to_map = Arc::new(Mutex::new(to_map));
        for _ in 0..mappers {
            let (to_map, made) = (Arc::clone(&to_map), made.clone());
            let sheets = &sheets;
            scope.spawn(move || map_rows(sheets, source, keeps, &to_map, &made));
        }
        drop((to_map, made));
        let went_on = assemble(&mut assembler, &mapped, &spare, &mut hand_on);
        // Whoever waits for a spare stretch or to be rid of one learns from this that nothing more is wanted.
        drop((spare, mapped));
        let read = reader.join().unwrap_or_else(|_| Err(source.reader_died()));
        match went_on {
            Ok(true) => read.map(|()| true),
            went_on => went_on,
        }
    })?;
    if !went_on {
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
    assembler.end();
    hand_on(assembler.take_batch());
    Ok(assembler.tally)
}

/// What has to be known of whole columns before the first row can be mapped, for each part. Mostly nothing, which costs
/// nothing.
pub fn survey(source: &Source, template: &Template) -> Result<Vec<DateSurvey>, Error> {
    let mut surveyors: Vec<DateSurveyor> =
        source.parts.iter().map(|part| DateSurveyor::new(template, &part.layout)).collect();
    if surveyors.iter().any(DateSurveyor::is_needed) {
        let mut rows = source.rows();
        let mut row = Row::default();
        while let Some(part) = rows.next(&mut row)? {
            if let Some(surveyor) = surveyors.get_mut(part) {
                surveyor.row(&row);
            }
        }
    }
    Ok(surveyors.into_iter().map(DateSurveyor::end).collect())
}

fn read_rows(source: &Source, spares: Receiver<Stretch>, read: SyncSender<Stretch>) -> Result<(), Error> {
    let mut rows = source.rows();
    let mut nth = 0;
    loop {
        let Ok(mut stretch) = spares.recv() else { return Ok(()) };
        stretch.nth = nth;
        stretch.len = 0;
        let mut bytes = 0;
        let mut is_end = false;
        while stretch.len < STRETCH && bytes < STRETCH_BYTES {
            if stretch.read.len() == stretch.len {
                stretch.read.push(ReadRow::default());
            }
            let Some(place) = stretch.read.get_mut(stretch.len) else { break };
            let Some(part) = rows.next(&mut place.row)? else {
                is_end = true;
                break;
            };
            place.part = part;
            place.is_mended = rows.is_mended;
            bytes += place.row.text_len();
            stretch.len += 1;
        }
        nth += 1;
        if stretch.len > 0 && read.send(stretch).is_err() || is_end {
            return Ok(());
        }
    }
}

fn map_rows(
    sheets: &[Mapper<'_>],
    source: &Source,
    keeps: bool,
    to_map: &Mutex<Receiver<Stretch>>,
    made: &Sender<Stretch>,
) {
    loop {
        // A poisoned lock means that another mapper panicked, which ends the pass anyway.
        let Ok(Ok(mut stretch)) = to_map.lock().map(|to_map| to_map.recv()) else { return };
        stretch.made.resize_with(stretch.len.max(stretch.made.len()), MadeRow::default);
        for (read, made) in stretch.read.iter().zip(&mut stretch.made).take(stretch.len) {
            if let (Some(mapper), Some(part)) = (sheets.get(read.part), source.parts.get(read.part)) {
                make(mapper, source, part, read, keeps, made);
            }
        }
        if made.send(stretch).is_err() {
            return;
        }
    }
}

/// Takes stretches in the sheet's order, whichever is ready first. False: `hand_on` wants no more.
fn assemble(
    assembler: &mut Assembler<'_>,
    mapped: &Receiver<Stretch>,
    spare: &Sender<Stretch>,
    hand_on: &mut impl FnMut(Batch) -> bool,
) -> Result<bool, Error> {
    let mut early = BTreeMap::new();
    let mut next = 0;
    while let Ok(stretch) = mapped.recv() {
        early.insert(stretch.nth, stretch);
        while let Some(mut stretch) = early.remove(&next) {
            next += 1;
            for row in stretch.made.iter_mut().take(stretch.len) {
                assembler.tally.width = assembler.tally.width.max(row.width);
                assembler.row(row)?;
            }
            shed(&mut stretch);
            // Without a reader nobody takes it, and nothing is lost.
            drop(spare.send(stretch));
            if !hand_on(assembler.take_batch()) {
                return Ok(false);
            }
        }
    }
    Ok(true)
}

/// Gives back the memory of uncommonly large rows.
fn shed(stretch: &mut Stretch) {
    const LARGE: usize = 64 * 1024;
    stretch.read.iter_mut().for_each(|read| read.row.shrink());
    stretch.made.iter_mut().filter(|made| made.body.capacity() > LARGE).for_each(|made| *made = MadeRow::default());
}
