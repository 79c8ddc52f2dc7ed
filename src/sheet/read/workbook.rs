//! The rows of a workbook, streamed from a thread of their own: unpacking and parsing go on while the caller works on
//! the rows before, and a fault or panic of the parser stays there.

use std::fs::File;
use std::io::BufReader;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use calamine::{DataRef, Reader, SheetType, Xlsx, XlsxError};

use super::serial;
use super::text::{MAX_COLUMNS, MAX_RECORD};
use crate::sheet::{Cell, Error, Row};

/// A batch is sent when it has this many rows, cells or bytes of text, whichever comes first.
const BATCH_ROWS: usize = 256;
const BATCH_CELLS: usize = 32 * 1024;
const BATCH_TEXT: usize = 512 * 1024;
/// Batches that wait for the caller.
const BATCHES_AHEAD: usize = 2;

type Parser = Xlsx<BufReader<File>>;

/// An XLSX file. Opening one parses all of its shared strings, so the parser is kept from one reading to the next.
#[derive(Clone)]
pub struct Workbook {
    path: PathBuf,
    idle: Arc<Mutex<Option<Parser>>>,
}

impl Workbook {
    /// Opens the file and gives the names of its worksheets, hidden ones too; charts are left out.
    pub fn open(path: &Path) -> Result<(Workbook, Vec<String>), Error> {
        let parser = parse(path)?;
        let sheets = parser.sheets_metadata().iter().filter(|sheet| sheet.typ == SheetType::WorkSheet);
        let names = sheets.map(|sheet| sheet.name.clone()).collect();
        Ok((Workbook { path: path.to_owned(), idle: Arc::new(Mutex::new(Some(parser))) }, names))
    }

    pub fn rows(&self, sheet: &str) -> Result<WorkbookRows, Error> {
        let (batches, receiver) = sync_channel(BATCHES_AHEAD);
        let (used, returned) = channel();
        let stop = Arc::new(AtomicBool::new(false));
        let reading =
            Reading { batches, returned, stop: Arc::clone(&stop), batch: Batch::default(), text: 0, cells: 0 };
        let (workbook, name) = (self.clone(), sheet.to_owned());
        let thread = thread::Builder::new()
            .name("sheet-reader".to_owned())
            .spawn(move || workbook.read(&name, reading))
            .map_err(|error| unreadable(&self.path, String::new(), error.to_string()))?;
        Ok(WorkbookRows {
            path: self.path.clone(),
            sheet: sheet.to_owned(),
            receiver: Some(receiver),
            used,
            stop,
            thread: Some(thread),
            batch: Batch::default(),
            at: 0,
            number: 0,
            ended: false,
        })
    }

    /// Runs in the reading thread.
    fn read(&self, sheet: &str, mut reading: Reading) {
        let kept = self.idle.lock().unwrap_or_else(PoisonError::into_inner).take();
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            let mut parser = match kept {
                Some(parser) => parser,
                None => parse(&self.path).map_err(|error| error.to_string())?,
            };
            let outcome = reading.run(&mut parser, sheet);
            *self.idle.lock().unwrap_or_else(PoisonError::into_inner) = Some(parser);
            outcome
        }));
        let message = match outcome {
            Ok(Ok(())) => Message::End,
            Ok(Err(reason)) => Message::Fault(reason),
            Err(_) => Message::Fault("the workbook is built in a way that can't be followed".to_owned()),
        };
        // Nobody listens any more when the rows were dropped, and then nobody needs to know.
        let _ = reading.batches.send(message);
    }
}

impl std::fmt::Debug for Workbook {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Workbook").field("path", &self.path).finish_non_exhaustive()
    }
}

pub struct WorkbookRows {
    path: PathBuf,
    sheet: String,
    receiver: Option<Receiver<Message>>,
    used: Sender<Batch>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
    batch: Batch,
    at: usize,
    number: u64,
    ended: bool,
}

impl WorkbookRows {
    pub fn next(&mut self, row: &mut Row) -> Result<bool, Error> {
        while self.at == self.batch.len {
            if self.ended {
                return Ok(false);
            }
            match self.receiver.as_ref().and_then(|receiver| receiver.recv().ok()) {
                Some(Message::Batch(batch)) => {
                    let used = std::mem::replace(&mut self.batch, batch);
                    self.at = 0;
                    let _ = self.used.send(used);
                }
                Some(Message::End) => self.ended = true,
                Some(Message::Fault(reason)) => return Err(self.fault(reason)),
                None => return Err(self.fault("the reader stopped before the end".to_owned())),
            }
        }
        std::mem::swap(row, &mut self.batch.rows[self.at]);
        self.at += 1;
        self.number = row.number;
        Ok(true)
    }

    fn fault(&self, reason: String) -> Error {
        let place = match self.number {
            0 => format!(" in sheet '{}'", self.sheet),
            number => format!(" in sheet '{}' after row {number}", self.sheet),
        };
        unreadable(&self.path, place, reason)
    }
}

impl Drop for WorkbookRows {
    /// Waits for the thread, so that the parser is free for the next reading.
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        self.receiver = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

enum Message {
    Batch(Batch),
    End,
    Fault(String),
}

/// Rows that go back and forth between the threads; those past `len` are left from an earlier use.
#[derive(Default)]
struct Batch {
    rows: Vec<Row>,
    len: usize,
}

impl Batch {
    /// A row at the end, empty.
    fn add(&mut self, number: u64) -> &mut Row {
        if self.len == self.rows.len() {
            self.rows.push(Row::default());
        }
        let row = &mut self.rows[self.len];
        self.len += 1;
        row.shed();
        row.clear(number);
        row
    }
}

/// The reading thread's side.
struct Reading {
    batches: SyncSender<Message>,
    returned: Receiver<Batch>,
    stop: Arc<AtomicBool>,
    batch: Batch,
    text: usize,
    cells: usize,
}

impl Reading {
    fn run(&mut self, parser: &mut Parser, sheet: &str) -> Result<(), String> {
        let is_1904 = parser.has_1904_epoch();
        let mut cells = parser.worksheet_cells_reader(sheet).map_err(|error| damaged(&error))?;
        let mut current = None;
        while let Some(cell) = cells.next_cell().map_err(|error| damaged(&error))? {
            if self.stop.load(Ordering::Relaxed) {
                return Ok(());
            }
            let (index, column) = cell.get_position();
            if is_blank(cell.get_value()) {
                continue;
            }
            let (number, column) = (u64::from(index) + 1, column as usize);
            if column >= MAX_COLUMNS {
                return Err(format!("row {number} has a cell past column XFD, the last that there is"));
            }
            if current != Some(number) {
                if !self.finish_row() {
                    return Ok(());
                }
                self.batch.add(number);
                current = Some(number);
            }
            // There is one: a row was added for this cell or one before it.
            if let Some(row) = self.batch.rows.get_mut(self.batch.len - 1) {
                put(row, column, cell.get_value(), is_1904);
                if row.text_len() > MAX_RECORD {
                    return Err(format!("row {number} is longer than 16 MiB"));
                }
            }
        }
        self.finish_row();
        self.send();
        Ok(())
    }

    /// Sends the batch when it is full. False when nobody wants it any more.
    fn finish_row(&mut self) -> bool {
        let Some(row) = self.batch.len.checked_sub(1).and_then(|last| self.batch.rows.get(last)) else { return true };
        self.text += row.text_len();
        self.cells += row.len();
        if self.batch.len < BATCH_ROWS && self.text < BATCH_TEXT && self.cells < BATCH_CELLS {
            return true;
        }
        self.send()
    }

    fn send(&mut self) -> bool {
        if self.batch.len == 0 {
            return true;
        }
        let mut next = self.returned.try_recv().unwrap_or_default();
        next.len = 0;
        (self.text, self.cells) = (0, 0);
        self.batches.send(Message::Batch(std::mem::replace(&mut self.batch, next))).is_ok()
    }
}

fn is_blank(value: &DataRef<'_>) -> bool {
    match value {
        DataRef::Empty => true,
        DataRef::String(text) => text.is_empty(),
        DataRef::SharedString(text) => text.is_empty(),
        _ => false,
    }
}

fn put(row: &mut Row, column: usize, value: &DataRef<'_>, is_1904: bool) {
    match value {
        DataRef::Empty => {}
        DataRef::Int(number) => row.put(column, Cell::Number(*number as f64)),
        DataRef::Float(number) => row.put(column, Cell::Number(*number)),
        DataRef::String(text) | DataRef::DurationIso(text) => row.put(column, Cell::Text(text)),
        DataRef::SharedString(text) => row.put(column, Cell::Text(text)),
        DataRef::Bool(boolean) => row.put(column, Cell::Boolean(*boolean)),
        DataRef::DateTimeIso(text) => row.put(column, serial::iso(text)),
        DataRef::Error(error) => row.put(column, Cell::Error(&error.to_string())),
        DataRef::DateTime(at) if at.is_duration() => match serial::elapsed(at.as_f64()) {
            Ok(cell) => row.put(column, cell),
            Err(text) => row.put(column, Cell::Text(&text)),
        },
        DataRef::DateTime(at) => row.put(column, serial::date(at.as_f64(), is_1904)),
    }
}

fn parse(path: &Path) -> Result<Parser, Error> {
    let file = File::open(path).map_err(|source| Error::Open { path: path.to_owned(), source })?;
    match catch_unwind(AssertUnwindSafe(|| Xlsx::new(BufReader::new(file)))) {
        Ok(Ok(parser)) => Ok(parser),
        Ok(Err(XlsxError::Password)) => Err(Error::Encrypted { path: path.to_owned() }),
        Ok(Err(error)) => Err(unreadable(path, String::new(), damaged(&error))),
        Err(_) => {
            let reason = "the workbook is built in a way that can't be followed";
            Err(unreadable(path, String::new(), reason.to_owned()))
        }
    }
}

fn damaged(error: &XlsxError) -> String {
    format!("the workbook is damaged or cut short ({error})")
}

fn unreadable(path: &Path, place: String, reason: String) -> Error {
    Error::Unreadable { path: path.to_owned(), place, reason }
}
