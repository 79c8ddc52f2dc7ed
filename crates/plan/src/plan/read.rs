//! The pass over a sheet: maps all rows, and assembles records with rows and problems.
//!
//! `check`, `--dry-run` and the plan of an upload all use this pass, and therefore agree. Rows are read in chunks. While other
//! threads map a chunk, the main thread assembles the previous chunk, reads the next, and then helps with the mapping.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::slice::ChunksMut;
use std::sync::{Mutex, PoisonError};
use std::thread;

use sheetport_checks as checks;
use sheetport_ledger::Problem;
use sheetport_mapping::Template;
use sheetport_mapping::map::survey::{Survey, Surveyor};
use sheetport_mapping::map::{Memo, unquoted};
use sheetport_sheet::{Row, column_letters};

use super::assemble::{Assembler, Batch};
use super::checks::appearance::UsedColumns;
use super::checks::blank_columns::BlankColumns;
use super::checks::grouped_identifiers::GroupedIdentifiers;
use super::checks::twice_encoded::TwiceEncoded;
use super::row::{Known, MappedRow, ReadRow, RowMapper, mapping_threads};
use super::source::{DataRows, EndedSheet, Source};
use super::standing::Standing;
use crate::compare::TextCheck;
use crate::error::Error;
use crate::tally::Tally;

/// Maximum number of rows per chunk.
const CHUNK_ROWS: usize = 2048;
/// Chunks end early above this number of bytes of text.
const CHUNK_BYTES: usize = 4 << 20;
/// Number of rows that a thread takes from a chunk at once, so that all threads end at about the same time.
const PIECE_ROWS: usize = 64;
/// Maximum size of the mapped values of a chunk and of a batch, in bytes. Threads stop mapping above this size, because a
/// template can produce long values from few cells.
const MAPPED_BYTES: usize = 8 << 20;

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
/// later row changes the meaning of earlier ones, the sheet is read again, after a batch with [`Batch::restarts`]. So it is if a further row
/// of a record comes after the records below it: until then, the rows of a record are assumed to stand together, and few are in memory.
///
/// # Errors
/// Any error of the file; [`Error::Changed`] after a concurrent write, [`Error::NoRows`] without rows.
pub fn read(
    source: &Source,
    template: &Template,
    mode: ReadMode,
    handle: impl FnMut(Batch) -> bool,
) -> Result<Tally, Error> {
    read_surveyed(source, template, mode, handle).map(|(tally, _)| tally)
}

/// Reads like [`read`]. Also returns the notation of numbers and dates, with a survey per table.
pub fn read_surveyed(
    source: &Source,
    template: &Template,
    mode: ReadMode,
    mut handle: impl FnMut(Batch) -> bool,
) -> Result<(Tally, Vec<Known>), Error> {
    let mut known = None;
    // The rows of a report are those with problems, in the order that a person gave them.
    let mut may_stand_together = source.history.is_none() && source.tables.iter().all(|table| !table.layout.is_report);
    loop {
        match pass(source, template, mode, (known.clone(), may_stand_together), &mut handle)? {
            Pass::Ended(tally, surveys) => return Ok((*tally, surveys)),
            Pass::Misread(later) => known = Some(later),
            Pass::Scattered => may_stand_together = false,
        }
        if !handle(Batch { restarts: true, ..Batch::default() }) {
            return Ok((Tally::default(), Vec::new()));
        }
    }
}

/// The result of a pass over the sheets.
enum Pass {
    /// Done. The surveys contain the notation used for mapping.
    Ended(Box<Tally>, Vec<Known>),
    /// Mapped by what the first rows show, which differs from what the whole columns show.
    Misread(Vec<Known>),
    /// The rows of a record do not stand together.
    Scattered,
}

fn pass(
    source: &Source,
    template: &Template,
    mode: ReadMode,
    (known, may_stand_together): (Option<Vec<Known>>, bool),
    handle: &mut impl FnMut(Batch) -> bool,
) -> Result<Pass, Error> {
    let confirms = known.is_none();
    let mut reader = Reader::new(source, template);
    let (mut mapped, mut read, mut next) = (Chunk::default(), Chunk::default(), Chunk::default());
    reader.next(&mut read)?;
    let known = known.unwrap_or_else(|| reader.known());
    let mapper = RowMapper::new(source, template, &known, mode == ReadMode::Records);
    let mut assembler = Assembler::new(&mapper, Standing::new(may_stand_together));
    source.warnings.iter().for_each(|warning| assembler.warn_of_file(warning.clone()));
    let other_threads = mapping_threads() - 1;
    while mapped.len + read.len > 0 {
        let pieces = Pieces(Mutex::new(read.rows_mut().chunks_mut(PIECE_ROWS)));
        let (continues, read_next) = thread::scope(|scope| {
            for _ in 0..other_threads {
                scope.spawn(|| pieces.map(&mapper));
            }
            let results = (assemble(&mapper, &mut assembler, &mut mapped, handle), reader.next(&mut next));
            pieces.map(&mapper);
            results
        });
        let continues = continues?;
        if assembler.standing.is_refuted() {
            return Ok(Pass::Scattered);
        }
        if !continues {
            let tally = Box::new(assembler.into_tally());
            drop(mapper);
            return Ok(Pass::Ended(tally, known));
        }
        read_next?;
        std::mem::swap(&mut mapped, &mut read);
        std::mem::swap(&mut read, &mut next);
    }
    source.check_unchanged()?;
    reader.check_columns()?;
    if confirms {
        let later = reader.known();
        let agrees = |(known, later): (&Known, &Known)| {
            known.survey.agrees_with(&later.survey) && known.evidence == later.evidence
        };
        if !known.iter().zip(&later).all(agrees) {
            return Ok(Pass::Misread(later));
        }
    }
    if assembler.tally.rows == 0 {
        let first = source.tables.first();
        let name = |table| source.name_of(table).to_owned();
        let sheet = first.filter(|_| source.book.has_named_sheets()).map(name);
        let header_row = first.map_or(0, |table| table.layout.header.row);
        return Err(Error::NoRows { path: source.path.clone(), sheet, header_row });
    }
    reader.warnings().into_iter().for_each(|warning| assembler.warn_of_file(warning));
    assembler.finish();
    if let Some(times) = assembler.times_of_each_row() {
        return Err(Error::Doubled { path: source.path.clone(), times });
    }
    handle(assembler.take_batch());
    let tally = Box::new(Tally { respelled: reader.respelled, ..assembler.into_whole_tally()? });
    drop(mapper);
    Ok(Pass::Ended(tally, known))
}

/// Reads all rows to find the notation of numbers and dates. Returns a survey per table.
pub fn survey(source: &Source, template: &Template) -> Result<Vec<Survey>, Error> {
    let mut reader = Reader::new(source, template);
    let mut chunk = Chunk::default();
    if reader.surveyors.iter().any(Surveyor::is_needed) {
        while reader.next(&mut chunk)? > 0 {}
    }
    Ok(reader.surveys())
}

/// Returns the different values of some rules, as in [`Template::rules`], without null and empty texts, with the number of rows that
/// have each. Reads the file twice.
pub fn values_of_rules(
    source: &Source,
    template: &Template,
    rules: &[usize],
) -> Result<Vec<BTreeMap<String, u64>>, Error> {
    let surveys = survey(source, template)?;
    // Values are wanted here, whatever is wrong with them.
    let known: Vec<Known> = surveys.into_iter().map(|survey| Known { survey, ..Known::default() }).collect();
    let mapper = RowMapper::new(source, template, &known, false);
    let mut reader = Reader::new(source, template);
    let mut chunk = Chunk::default();
    let mut values = vec![BTreeMap::new(); rules.len()];
    while reader.next(&mut chunk)? > 0 {
        for (read, mapped) in chunk.rows_mut() {
            mapper.map(read, mapped);
            mapped.draft.gathered.visit_values(template, &mut |rule, json| {
                if let Some(index) = rules.iter().position(|wanted| *wanted == rule) {
                    let value = unquoted(json);
                    match values[index].get_mut(value.as_ref()) {
                        Some(rows) => *rows += 1,
                        None => drop(values[index].insert(value.into_owned(), 1)),
                    }
                }
            });
            shrink(read, mapped);
        }
    }
    Ok(values)
}

/// The rows of a chunk, divided among threads.
struct Pieces<'a>(Mutex<ChunksMut<'a, (ReadRow, MappedRow)>>);

impl Pieces<'_> {
    /// Maps rows that no other thread has taken, until their values use too much memory.
    fn map(&self, mapper: &RowMapper<'_>) {
        let mut bytes = 0;
        let (mut memo, mut table) = (Some(Memo::default()), None);
        let next = || self.0.lock().unwrap_or_else(PoisonError::into_inner).next();
        while let Some(rows) = next() {
            for (row, mapped) in rows {
                mapped.is_mapped = bytes <= MAPPED_BYTES;
                if mapped.is_mapped {
                    if table.replace(row.table) != Some(row.table) {
                        memo = Some(Memo::default());
                    }
                    // Each cell that is a record of its own has another mapper.
                    let remembers = row.cell.is_none();
                    if remembers {
                        std::mem::swap(&mut mapped.draft.memo, &mut memo);
                    }
                    mapper.map(row, mapped);
                    if remembers {
                        std::mem::swap(&mut mapped.draft.memo, &mut memo);
                    }
                    bytes += mapped.size();
                }
            }
        }
    }
}

/// Adds rows to their records and passes the result to `handle`. Maps rows that are not mapped yet. Returns whether to continue.
fn assemble(
    mapper: &RowMapper<'_>,
    assembler: &mut Assembler<'_>,
    mapped: &mut Chunk,
    handle: &mut impl FnMut(Batch) -> bool,
) -> Result<bool, Error> {
    if mapped.len == 0 {
        return Ok(true);
    }
    let mut bytes = 0;
    for (row, mapped) in mapped.rows_mut() {
        if !mapped.is_mapped {
            mapper.map(row, mapped);
        }
        bytes += mapped.size();
        assembler.add(mapped)?;
        if assembler.standing.is_refuted() {
            return Ok(false);
        }
        shrink(row, mapped);
        if bytes > MAPPED_BYTES {
            bytes = 0;
            if !handle(assembler.take_batch()) {
                return Ok(false);
            }
        }
    }
    Ok(handle(assembler.take_batch()))
}

/// Consecutive rows, read and perhaps mapped. The buffers of all rows are reused.
#[derive(Default)]
pub(super) struct Chunk {
    rows: Vec<(ReadRow, MappedRow)>,
    /// The number of rows in use.
    len: usize,
}

impl Chunk {
    /// Returns the first unused row.
    fn next_row(&mut self) -> &mut (ReadRow, MappedRow) {
        if self.rows.len() == self.len {
            self.rows.push(Default::default());
        }
        &mut self.rows[self.len]
    }

    fn push(&mut self, row: ReadRow) {
        self.next_row().0 = row;
        self.len += 1;
    }

    pub(super) fn rows_mut(&mut self) -> &mut [(ReadRow, MappedRow)] {
        &mut self.rows[..self.len]
    }
}

/// Reads rows in chunks and surveys them.
pub(super) struct Reader<'a> {
    source: &'a Source,
    template: &'a Template,
    rows: DataRows<'a>,
    /// A row of a report with the types of its cells restored.
    restored: Row,
    /// Texts changed by a spreadsheet program and read as they were.
    respelled: u64,
    /// One per table of the source.
    surveyors: Vec<Surveyor>,
    /// Warnings about the appearance of the sheets read so far.
    appearance: Vec<Problem>,
    /// One per table of the source.
    used: Vec<UsedColumns>,
    /// One per table of the source.
    blank: Vec<BlankColumns>,
    /// One per table of the source.
    twice_encoded: Vec<TwiceEncoded>,
    /// One per table of the source.
    grouped: Vec<GroupedIdentifiers>,
    /// One per table of the source.
    checks: Vec<checks::Survey>,
    /// By table of the source, what the rows of the run show without those of its report. Edits may outnumber what was regular.
    earlier: Vec<checks::Survey>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(source: &'a Source, template: &'a Template) -> Reader<'a> {
        let shown = |table| source.history.as_ref().and_then(|history| history.shown(table));
        let surveyors = source.tables.iter().enumerate().map(|(index, table)| match shown(index) {
            Some(shown) => shown.notation.clone(),
            None => Surveyor::new(template, &table.layout),
        });
        let surveyors = surveyors.collect();
        let is_workbook = source.book.dialect().is_none();
        let used = source.tables.iter().map(|table| match is_workbook {
            true => UsedColumns::new(template, &table.layout, source.chosen),
            false => UsedColumns::default(),
        });
        let used = used.collect();
        let blank = source.tables.iter().map(|table| BlankColumns::new(template, &table.layout)).collect();
        let twice_encoded = source.tables.iter().map(|table| TwiceEncoded::new(&table.layout)).collect();
        let grouped = source.tables.iter().map(|table| GroupedIdentifiers::new(template, &table.layout)).collect();
        let earlier: Vec<checks::Survey> =
            (0..source.tables.len()).filter_map(|index| Some(shown(index)?.evidence.clone())).collect();
        let checks = source.tables.iter().enumerate().map(|(index, table)| match earlier.get(index) {
            Some(earlier) => earlier.clone(),
            None => checks::Survey::new(template, &table.layout),
        });
        let checks = checks.collect();
        let (rows, restored) = (source.rows(), Row::default());
        Reader {
            source,
            template,
            rows,
            restored,
            respelled: 0,
            surveyors,
            appearance: Vec::new(),
            used,
            blank,
            twice_encoded,
            grouped,
            checks,
            earlier,
        }
    }

    /// Reads the next rows into `chunk`. Returns the number of rows, 0 after the last row.
    pub(super) fn next(&mut self, chunk: &mut Chunk) -> Result<usize, Error> {
        let read = catch_unwind(AssertUnwindSafe(|| self.read(chunk)));
        read.unwrap_or_else(|_| Err(Error::ReaderDied { path: self.source.path.clone() }))
    }

    fn read(&mut self, chunk: &mut Chunk) -> Result<usize, Error> {
        let mut bytes = 0;
        chunk.len = 0;
        while chunk.len < CHUNK_ROWS && bytes < CHUNK_BYTES {
            let (read, _) = chunk.next_row();
            (read.cell, read.is_further_cell) = (None, false);
            let table = self.rows.next(&mut read.row)?;
            if let Some(EndedSheet { table, last, appearance }) = self.rows.ended.take() {
                let used = std::mem::take(&mut self.used[table]);
                let table = &self.source.tables[table];
                let sheet = self.source.sheet_of(table);
                let warnings = used.warnings(table, &appearance, last);
                self.appearance.extend(warnings.map(|warning| Problem { sheet: sheet.clone(), ..warning }));
            }
            let Some(table) = table else { break };
            read.table = table;
            read.doubt = self.rows.doubt;
            read.history = self.source.history.as_ref().map(|history| {
                let (row_history, problem) = history.of_row(table, &read.row);
                if let Some(respelled) = history.restore(table, &row_history, &read.row, &mut self.restored) {
                    self.respelled += respelled;
                    std::mem::swap(&mut read.row, &mut self.restored);
                }
                (row_history, problem)
            });
            read.key_problem = None;
            if let Some(known) = &self.source.known_texts {
                match known.check(table, &read.row, &mut self.restored) {
                    Some(TextCheck::Restored(texts)) => {
                        self.respelled += texts;
                        std::mem::swap(&mut read.row, &mut self.restored);
                    }
                    Some(TextCheck::Differs(problem)) => read.key_problem = Some(problem),
                    None => {}
                }
            }
            self.surveyors[table].row(&read.row);
            self.used[table].row(&read.row);
            self.blank[table].row(&read.row);
            self.twice_encoded[table].row(&read.row);
            self.grouped[table].row(&read.row);
            self.checks[table].row(&read.row);
            bytes += read.row.text_len();
            chunk.len += 1;
            if !self.source.tables[table].layout.cells.is_empty() {
                bytes += self.add_cells(chunk);
            }
        }
        Ok(chunk.len)
    }

    /// Returns the warnings about the sheets as a whole, once all rows are read.
    pub(super) fn warnings(&mut self) -> Vec<Problem> {
        let tables = &self.source.tables;
        let mut warnings = std::mem::take(&mut self.appearance);
        warnings.extend(tables.iter().zip(&self.blank).flat_map(|(table, blank)| blank.warnings(table)));
        warnings.extend(tables.iter().zip(&self.twice_encoded).flat_map(|(table, twice)| twice.warnings(table)));
        let grouped = tables.iter().zip(&self.grouped).zip(self.surveys());
        warnings.extend(grouped.flat_map(|((table, grouped), survey)| grouped.warnings(table, &survey)));
        warnings
    }

    /// Fails if a required column has no value in any row.
    fn check_columns(&self) -> Result<(), Error> {
        for (table, blank) in self.source.tables.iter().zip(&self.blank) {
            if let Some((column, rows)) = blank.required() {
                let name =
                    table.layout.header.names.get(column).map(|name| name.trim()).filter(|name| !name.is_empty());
                let column = name.map_or_else(|| column_letters(column), |name| format!("'{name}'"));
                let sheet = self.source.book.has_named_sheets().then(|| self.source.name_of(table).to_owned());
                return Err(Error::BlankColumn { path: self.source.path.clone(), sheet, column, rows });
            }
        }
        Ok(())
    }

    /// Repeats the last row of a chunk for each cell that is a separate record. Returns the number of bytes added.
    fn add_cells(&self, chunk: &mut Chunk) -> usize {
        let last = chunk.len - 1;
        let (of_row, _) = &chunk.rows[last];
        let (number, of_history) = (of_row.table, of_row.history.clone());
        let Some(unpivot) = &self.template.unpivot else { return 0 };
        let cells = self.source.tables[number].layout.cells.iter().enumerate();
        let filled = cells.filter(|(_, cell)| !unpivot.skips(&of_row.row.get(cell.column)));
        let filled: Vec<(usize, usize)> = filled.map(|(index, cell)| (index, cell.column)).collect();
        let mut bytes = 0;
        for (nth, (cell, column)) in filled.into_iter().enumerate() {
            let histories = of_history.clone().zip(self.source.history.as_ref());
            let name = self.source.name_of_cell(number, Some(cell)).unwrap_or_default();
            let history = histories.map(|((of_row, problem), history)| history.of_cell(of_row, problem, column, name));
            if nth == 0 {
                let (first, _) = &mut chunk.rows[last];
                (first.cell, first.history) = (Some(cell), history);
                continue;
            }
            let (first, _) = &chunk.rows[last];
            let further = ReadRow {
                table: number,
                row: first.row.clone(),
                cell: Some(cell),
                is_further_cell: true,
                key_problem: first.key_problem.clone(),
                doubt: first.doubt,
                history,
            };
            bytes += further.row.text_len();
            chunk.push(further);
        }
        bytes
    }

    /// Returns what the rows so far show, per table.
    pub(super) fn known(&mut self) -> Vec<Known> {
        let surveys = self.surveys();
        let mut earlier = self.earlier.iter_mut().map(checks::Survey::evidence);
        let evidence = self.checks.iter_mut().map(checks::Survey::evidence);
        let known = |(survey, evidence)| Known { survey, evidence, earlier: earlier.next() };
        surveys.into_iter().zip(evidence).map(known).collect()
    }

    /// Returns the notation according to the rows so far, per table.
    fn surveys(&self) -> Vec<Survey> {
        self.surveyors.iter().map(Surveyor::survey).collect()
    }
}

/// Frees the memory of an unusually large row.
pub(super) fn shrink(read: &mut ReadRow, mapped: &mut MappedRow) {
    const LARGE: usize = 64 * 1024;
    read.row.shrink();
    if mapped.finished.request.body.capacity() > LARGE || mapped.draft.gathered.len() > LARGE {
        *mapped = MappedRow::default();
    }
}
