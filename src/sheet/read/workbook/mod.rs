//! The rows of a workbook, streamed from a process of its own.
//!
//! A workbook is a program of sorts for whoever reads it, and the libraries that do can be made to panic, to abort or
//! to ask for all memory there is. So this process never parses one. It starts another (`link`) that may use so much
//! memory and time and no more (`limits`), takes rows from it through a pipe (`frame`), checks them, and survives
//! whatever becomes of it. The other process looks the file over (`archive`), parses it (`parser` and `xlsx`, through
//! calamine, with `xlsb`, `percentages`, `obfuscation` and `mend` for what that leaves out), puts rows in order
//! (`rows_out`) and answers (`serve`); both work at the same time, on a core each.

mod archive;
mod formulas;
mod frame;
mod leading_zeros;
mod limits;
mod link;
mod mend;
mod number_format;
mod obfuscation;
mod parser;
mod percentages;
mod rows_out;
mod serve;
mod xlsb;
mod xlsx;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use self::frame::Kind;
use self::link::Link;
pub use self::link::{read_workbooks_with, run_reader_if_asked};
use self::serve::{Fault, UNFOLLOWABLE};
use super::kind::Format;
use super::text::MAX_COLUMNS;
use crate::sheet::{Error, Row};

/// A workbook. Opening one may take its reader a while, so the reader is kept from one reading to the next.
#[derive(Clone)]
pub struct Workbook {
    path: PathBuf,
    format: Format,
    idle: Arc<Mutex<Option<Link>>>,
}

impl Workbook {
    /// Opens the file and gives the names of its worksheets, hidden ones too; charts are left out.
    pub fn open(path: &Path, format: Format) -> Result<(Workbook, Vec<String>), Error> {
        let (link, names) = Link::open(path, format).map_err(|fault| told(path, String::new(), fault))?;
        Ok((Workbook { path: path.to_owned(), format, idle: Arc::new(Mutex::new(Some(link))) }, names))
    }

    pub fn format_name(&self) -> &'static str {
        self.format.name()
    }

    pub fn rows(&self, index: usize, sheet: &str) -> Result<WorkbookRows, Error> {
        let kept = self.idle.lock().unwrap_or_else(PoisonError::into_inner).take();
        let mut rows =
            WorkbookRows { workbook: self.clone(), sheet: sheet.to_owned(), link: kept, unread: 0, number: 0 };
        let asked = match &mut rows.link {
            Some(link) => link.read(index),
            // Another reading is under way.
            none => Link::open(&self.path, self.format).and_then(|(link, _)| none.insert(link).read(index)),
        };
        asked.map_err(|fault| rows.fail(fault))?;
        Ok(rows)
    }
}

impl std::fmt::Debug for Workbook {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Workbook").field("path", &self.path).field("format", &self.format).finish_non_exhaustive()
    }
}

pub struct WorkbookRows {
    workbook: Workbook,
    sheet: String,
    /// Gone when the rows have ended, well or not.
    link: Option<Link>,
    /// The bytes at the end of the link's body that are rows still to be given.
    unread: usize,
    number: u64,
}

impl WorkbookRows {
    pub fn next(&mut self, row: &mut Row) -> Result<bool, Error> {
        let Some(link) = &mut self.link else { return Ok(false) };
        while self.unread == 0 {
            match link.next() {
                Ok(Kind::Rows) => self.unread = link.body.len(),
                Ok(Kind::End) => {
                    self.put_back();
                    return Ok(false);
                }
                Ok(_) => return Err(self.fail(Fault::new(UNFOLLOWABLE))),
                Err(fault) => return Err(self.fail(fault)),
            }
        }
        let bytes = &link.body[link.body.len() - self.unread..];
        // Rows come in order, each of them once.
        match row.decode(bytes, MAX_COLUMNS).filter(|_| row.number > self.number) {
            Some(rest) => self.unread = rest.len(),
            None => return Err(self.fail(Fault::new(UNFOLLOWABLE))),
        }
        self.number = row.number;
        Ok(true)
    }

    /// What `fault` is to whoever reads, and the end of the reader.
    fn fail(&mut self, fault: Fault) -> Error {
        self.link = None;
        let place = match self.number {
            0 => format!(" in sheet '{}'", self.sheet),
            number => format!(" in sheet '{}' after row {number}", self.sheet),
        };
        told(&self.workbook.path, place, fault)
    }

    fn put_back(&mut self) {
        *self.workbook.idle.lock().unwrap_or_else(PoisonError::into_inner) = self.link.take();
    }
}

impl Drop for WorkbookRows {
    /// Leaves the reader ready for the next reading, if it can be.
    fn drop(&mut self) {
        if self.link.as_mut().is_some_and(Link::stop) {
            self.put_back();
        }
    }
}

fn told(path: &Path, place: String, fault: Fault) -> Error {
    let path = path.to_owned();
    if fault.encrypted { Error::Encrypted { path } } else { Error::Unreadable { path, place, reason: fault.reason } }
}
