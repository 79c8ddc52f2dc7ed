//! Opens the workbook and sends the rows of each requested sheet. Usually runs in a separate process; see `client`.

use std::io::{self, Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::channel;
use std::thread;

use crate::read::WorkbookFormat;
use crate::read::workbook::activity::Activity;
use crate::read::workbook::fault::Fault;
use crate::read::workbook::formats::{Container, Parser, Source};
use crate::read::workbook::protocol::{self, Command, Kind, Request, SheetEntry};
use crate::read::workbook::row_sender::{RowSender, Stop};

/// The output of the process. Writing counts as activity.
pub(super) struct Frames<W> {
    pub output: W,
    pub activity: Arc<Activity>,
}

impl<W: Write> Write for Frames<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.activity.waiting(|| self.output.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.output.flush()
    }
}

/// The reader for a kind of file.
enum Served {
    Workbook(Box<Parser>),
    Archive(Box<Container>),
}

impl Served {
    fn open(file: &Source, request: &Request) -> Result<Served, Fault> {
        Ok(match request.format {
            WorkbookFormat::Zip => Served::Archive(Box::new(Container::open(file)?)),
            _ => Served::Workbook(Box::new(Parser::open(file, request)?)),
        })
    }

    fn entries(&self) -> Vec<SheetEntry> {
        match self {
            Served::Workbook(parser) => parser.sheets().to_vec(),
            Served::Archive(container) => container.entries(),
        }
    }
}

/// Serves one file until `commands` ends or the output fails. Calls `on_close` from another thread when `commands` ends.
pub(super) fn serve<W: Write>(
    file: &Source,
    request: &Request,
    mut commands: impl Read + Send + 'static,
    frames: &mut Frames<W>,
    on_close: fn(),
) -> Option<()> {
    let stopped = Arc::new(AtomicU32::new(0));
    let (send_reading, readings) = channel();
    let stop = Arc::clone(&stopped);
    thread::Builder::new()
        .name("commands".to_owned())
        .spawn(move || {
            while let Some(command) = protocol::receive(&mut commands) {
                match command {
                    Command::Stop { reading } => stop.store(reading, Ordering::Relaxed),
                    // Sending fails only if the server has ended.
                    Command::Read { reading, sheet } => drop(send_reading.send((reading, sheet))),
                }
            }
            stop.store(u32::MAX, Ordering::Relaxed);
            on_close();
        })
        .ok()?;

    let opened = catch_unwind(AssertUnwindSafe(|| Served::open(file, request)));
    let mut served = match opened.unwrap_or_else(|_| Err(Fault::malformed())) {
        Ok(served) => served,
        Err(fault) => return send_fault(frames, &fault),
    };
    let sheets = serde_json::to_vec(&served.entries()).ok()?;
    protocol::write(frames, Kind::Opened, &sheets).ok()?;
    let activity = Arc::clone(&frames.activity);
    let file_len = file.len().unwrap_or(0);
    loop {
        let (reading, sheet) = activity.waiting(|| readings.recv()).ok()?;
        let is_wanted = || {
            activity.record_output();
            stopped.load(Ordering::Relaxed) < reading
        };
        let outcome = catch_unwind(AssertUnwindSafe(|| match &mut served {
            Served::Workbook(parser) => {
                let mut rows = RowSender::new(frames, file_len, &is_wanted);
                let appearance = parser.read(sheet as usize, &mut rows)?;
                rows.finish(&appearance)
            }
            Served::Archive(container) => container.send(sheet as usize, frames, &is_wanted),
        }));
        match outcome {
            Ok(Ok(())) => {}
            Ok(Err(Stop::Unwanted)) => protocol::write(frames, Kind::End, &[]).ok()?,
            Ok(Err(Stop::Fault(fault))) => send_fault(frames, &fault)?,
            Err(_) => send_fault(frames, &Fault::malformed())?,
        }
    }
}

pub(super) fn send_fault(frames: &mut impl Write, fault: &Fault) -> Option<()> {
    protocol::write(frames, Kind::Fault, &serde_json::to_vec(fault).ok()?).ok()
}
