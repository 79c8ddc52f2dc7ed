//! The reader's side: opens the workbook, then gives the rows of whichever sheet it is asked for, until nobody asks.
//!
//! It usually runs in a process of its own (see `link`), which limits what it may use and ends itself when it gets
//! nowhere; the same code can run on a thread.

use std::io::{self, Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::channel;
use std::thread;

use serde::{Deserialize, Serialize};

use super::frame::{self, Command, Kind};
use super::limits::Activity;
use super::parser::Parser;
use super::rows_out::{RowsOut, Stop};
use crate::sheet::read::kind::Format;

/// Why a workbook can't be read, as it goes through the pipe.
#[derive(Debug, Deserialize, Serialize)]
pub struct Fault {
    #[serde(default)]
    pub encrypted: bool,
    pub reason: String,
}

impl Fault {
    pub fn new(reason: impl Into<String>) -> Fault {
        Fault { encrypted: false, reason: reason.into() }
    }
}

pub const UNFOLLOWABLE: &str = "the workbook is built in a way that can't be followed";

/// Where answers go; whoever watches over the reader sees that they do.
pub struct Answers<W> {
    pub output: W,
    pub activity: Arc<Activity>,
}

impl<W: Write> Write for Answers<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.activity.waiting.store(true, Ordering::Relaxed);
        let written = self.output.write(bytes);
        self.activity.moved.store(true, Ordering::Relaxed);
        self.activity.waiting.store(false, Ordering::Relaxed);
        written
    }

    fn flush(&mut self) -> io::Result<()> {
        self.output.flush()
    }
}

/// Serves one workbook. Ends when the asking side closes `commands` or stops taking answers; `on_close` is called on a
/// thread of its own as soon as it has closed them.
pub fn serve<W: Write>(
    path: &Path,
    format: Format,
    mut commands: impl Read + Send + 'static,
    answers: &mut Answers<W>,
    on_close: fn(),
) -> Option<()> {
    let stopped = Arc::new(AtomicU32::new(0));
    let (asked, questions) = channel();
    let stop = Arc::clone(&stopped);
    thread::Builder::new()
        .name("commands".to_owned())
        .spawn(move || {
            while let Some(command) = frame::next_command(&mut commands) {
                match command {
                    Command::Stop { reading } => stop.store(reading, Ordering::Relaxed),
                    // If nobody takes it, nobody reads any more.
                    Command::Read { reading, sheet } => drop(asked.send((reading, sheet))),
                }
            }
            stop.store(u32::MAX, Ordering::Relaxed);
            on_close();
        })
        .ok()?;

    let opened = catch_unwind(AssertUnwindSafe(|| Parser::open(path, format, &answers.activity)));
    let mut parser = match opened.unwrap_or_else(|_| Err(Fault::new(UNFOLLOWABLE))) {
        Ok(parser) => parser,
        Err(fault) => return send_fault(answers, &fault),
    };
    let names = serde_json::to_vec(parser.sheets()).ok()?;
    frame::write(answers, Kind::Opened, &names).ok()?;
    let activity = Arc::clone(&answers.activity);
    let file_len = std::fs::metadata(path).map_or(0, |file| file.len());
    loop {
        answers.activity.waiting.store(true, Ordering::Relaxed);
        let (reading, sheet) = questions.recv().ok()?;
        answers.activity.moved.store(true, Ordering::Relaxed);
        answers.activity.waiting.store(false, Ordering::Relaxed);
        // Whoever asks this is getting somewhere.
        let is_wanted = || {
            activity.moved.store(true, Ordering::Relaxed);
            stopped.load(Ordering::Relaxed) < reading
        };
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            let mut rows = RowsOut::new(answers, file_len, &is_wanted);
            parser.read(sheet as usize, &mut rows)?;
            rows.finish()
        }));
        match outcome {
            Ok(Ok(())) => {}
            Ok(Err(Stop::Unwanted)) => frame::write(answers, Kind::End, &[]).ok()?,
            Ok(Err(Stop::Fault(reason))) => send_fault(answers, &Fault::new(reason))?,
            Err(_) => send_fault(answers, &Fault::new(UNFOLLOWABLE))?,
        }
    }
}

pub fn send_fault(answers: &mut impl Write, fault: &Fault) -> Option<()> {
    frame::write(answers, Kind::Fault, &serde_json::to_vec(fault).ok()?).ok()
}
