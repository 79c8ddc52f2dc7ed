//! Workbooks and their rows, as received from the reading process.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use super::fault::{Fault, FaultKind};
use super::process::Connection;
use super::protocol::{Kind, Request, SheetEntry};
use crate::read::MAX_COLUMNS;
use crate::read::appearance::Appearance;
use crate::read::location::Location;
use crate::{Error, Row};

/// A workbook. The reading process is reused, because opening a workbook can take long.
#[derive(Clone)]
pub(crate) struct Workbook {
    location: Location,
    request: Request,
    idle: Arc<Mutex<Option<Connection>>>,
}

impl Workbook {
    /// Opens the file. Returns its worksheets, including hidden ones, without charts.
    pub(crate) fn open(location: &Location, request: Request) -> Result<(Workbook, Vec<SheetEntry>), Error> {
        let failed = |fault| error(&location.shown, String::new(), fault);
        let (connection, sheets) = Connection::open(&location.at, &request).map_err(failed)?;
        let (location, idle) = (location.clone(), Arc::new(Mutex::new(Some(connection))));
        Ok((Workbook { location, request, idle }, sheets))
    }

    /// Describes the format, with the encoding of a web page.
    pub(crate) fn description(&self) -> String {
        let name = self.request.format.name();
        self.request.encoding.as_ref().map_or_else(|| name.to_owned(), |encoding| format!("{name}, {encoding}"))
    }

    pub(crate) fn rows(&self, index: usize, sheet: &str) -> Result<WorkbookRows, Error> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).take();
        let mut rows = WorkbookRows {
            workbook: self.clone(),
            sheet: sheet.to_owned(),
            connection: idle,
            unread: 0,
            number: 0,
            appearance: Appearance::default(),
        };
        let started = match &mut rows.connection {
            Some(connection) => connection.read(index),
            // The process is busy with another sheet.
            none => Connection::open(&self.location.at, &self.request)
                .and_then(|(connection, _)| none.insert(connection).read(index)),
        };
        started.map_err(|fault| rows.fail(fault))?;
        Ok(rows)
    }
}

impl std::fmt::Debug for Workbook {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Workbook")
            .field("location", &self.location)
            .field("format", &self.request.format)
            .finish_non_exhaustive()
    }
}

pub(crate) struct WorkbookRows {
    workbook: Workbook,
    sheet: String,
    /// `None` after the end or an error.
    connection: Option<Connection>,
    /// Length of the unread rows at the end of the last frame, in bytes.
    unread: usize,
    number: u64,
    /// The appearance of the sheet, once all rows were read.
    appearance: Appearance,
}

impl WorkbookRows {
    pub(crate) fn next(&mut self, row: &mut Row) -> Result<bool, Error> {
        let Some(connection) = &mut self.connection else { return Ok(false) };
        while self.unread == 0 {
            match connection.next() {
                Ok(Kind::Rows) => self.unread = connection.body.len(),
                Ok(Kind::End) => {
                    let appearance = serde_json::from_slice(&connection.body).ok().filter(Appearance::is_valid);
                    let Some(appearance) = appearance else { return Err(self.fail(Fault::malformed())) };
                    self.appearance = appearance;
                    self.return_process();
                    return Ok(false);
                }
                Ok(_) => return Err(self.fail(Fault::malformed())),
                Err(fault) => return Err(self.fail(fault)),
            }
        }
        let bytes = &connection.body[connection.body.len() - self.unread..];
        // Row numbers must increase.
        match row.decode(bytes, MAX_COLUMNS).filter(|_| row.number > self.number) {
            Some(rest) => self.unread = rest.len(),
            None => return Err(self.fail(Fault::malformed())),
        }
        self.number = row.number;
        Ok(true)
    }

    pub(crate) fn appearance(&self) -> &Appearance {
        &self.appearance
    }

    /// Ends the process and returns `fault` as an error with its place.
    fn fail(&mut self, fault: Fault) -> Error {
        self.connection = None;
        let place = match self.number {
            0 => format!(" in sheet '{}'", self.sheet),
            number => format!(" in sheet '{}' after row {number}", self.sheet),
        };
        error(&self.workbook.location.shown, place, fault)
    }

    fn return_process(&mut self) {
        *self.workbook.idle.lock().unwrap_or_else(PoisonError::into_inner) = self.connection.take();
    }
}

impl Drop for WorkbookRows {
    /// Keeps the process for the next reading, if it stops on request.
    fn drop(&mut self) {
        if self.connection.as_mut().is_some_and(Connection::stop) {
            self.return_process();
        }
    }
}

pub(super) fn error(path: &Path, place: String, fault: Fault) -> Error {
    let path = path.to_owned();
    match fault.kind {
        FaultKind::Unreadable => Error::Unreadable { path, place, reason: fault.reason },
        FaultKind::NotASpreadsheet => Error::NotASpreadsheet { path, found: fault.reason },
        FaultKind::PackedWithPassword => Error::PackedWithPassword { path, name: fault.reason },
        FaultKind::Encrypted => Error::Encrypted { path },
        FaultKind::Killed => Error::ReaderKilled { path, place, signal: fault.reason },
        FaultKind::PasswordNeeded => Error::PasswordNeeded { path },
        FaultKind::WrongPassword => Error::WrongPassword { path },
        FaultKind::Changed => Error::Damaged { path, reason: fault.reason },
    }
}
