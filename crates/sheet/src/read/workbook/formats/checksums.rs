//! Checksums of an archive's parts. Calamine stops at the end of a sheet's cells, before comparing the checksum of the part, and
//! trusts the names in the archive's directory. But a damaged part has wrong values, and a part missing from the directory may
//! contain the formats of dates.

use std::collections::{HashMap, HashSet};
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use zip::ZipArchive;

use super::input::{Input, Source};
use super::xlsx_appearance::{AppearanceReader, sheets_by_part};
use crate::read::appearance::Appearance;
use crate::read::workbook::activity::Activity;
use crate::read::workbook::fault::{Fault, FaultKind};

/// Length of an entry's header before its name: beside the entry, and in the directory.
const LOCAL_HEADER: usize = 30;
const DIRECTORY_HEADER: usize = 46;

/// The appearances of the sheets of an XLSX file, by name.
pub(super) type Appearances = HashMap<String, Appearance>;

/// The check of an archive's parts, in a separate thread while the first sheet is read.
pub(super) struct Checksums {
    activity: Arc<Activity>,
    state: State,
}

enum State {
    /// With the archive.
    Waiting(Source),
    Running(JoinHandle<Result<Appearances, String>>),
    Ended(Result<Appearances, String>),
}

impl Checksums {
    /// Prepares the check of an archive.
    pub(super) fn of_archive(archive: &Source) -> Checksums {
        Checksums { activity: Arc::clone(archive.activity()), state: State::Waiting(archive.again()) }
    }

    /// Returns the passed check of a file that is not an archive.
    pub(super) fn none(activity: &Arc<Activity>) -> Checksums {
        Checksums { activity: Arc::clone(activity), state: State::Ended(Ok(Appearances::new())) }
    }

    /// Starts the check, unless already started.
    pub(super) fn start(&mut self) {
        let State::Waiting(archive) = &self.state else { return };
        let own = archive.again();
        let thread = thread::Builder::new().name("checksums".to_owned());
        self.state = match thread.spawn(move || check(&own)) {
            Ok(thread) => State::Running(thread),
            // Without a thread, the check runs here.
            Err(_) => State::Ended(check(archive)),
        };
    }

    /// Waits for the end of the check.
    ///
    /// # Errors
    /// The name of a damaged part.
    pub(super) fn wait(&mut self) -> Result<&Appearances, Fault> {
        self.start();
        let result = match std::mem::replace(&mut self.state, State::Ended(Ok(Appearances::new()))) {
            State::Running(thread) => {
                self.activity.waiting(|| thread.join()).unwrap_or_else(|_| Err("its archive is invalid".to_owned()))
            }
            State::Ended(result) => result,
            State::Waiting(_) => unreachable!("the check was started"),
        };
        self.state = State::Ended(result);
        match &self.state {
            State::Ended(Ok(appearances)) => Ok(appearances),
            State::Ended(Err(reason)) => Err(Fault { kind: FaultKind::Changed, reason: reason.clone() }),
            State::Waiting(_) | State::Running(_) => unreachable!("the check has ended"),
        }
    }
}

/// Unpacks all parts of an archive to verify their checksums, and compares the directory with the parts.
fn check(archive: &Source) -> Result<Appearances, String> {
    let mut input = archive.input();
    // Calamine reports why this is not an archive.
    let Ok(mut archive) = ZipArchive::new(&mut input) else { return Ok(Appearances::new()) };
    let (sheets, mut appearances) = (sheets_by_part(&mut archive), Appearances::new());
    let names: Vec<Vec<u8>> = archive.file_names_raw().map(<[u8]>::to_vec).collect();
    let mut local = Vec::new();
    for (index, name) in names.into_iter().enumerate() {
        // Without this part, calamine may read the workbook and show numbers without their formats.
        let mut part = archive.by_index(index).map_err(|error| damaged(&name, &error.to_string()))?;
        local.push((part.header_start(), name.clone()));
        let sheet = sheets.get(&*String::from_utf8_lossy(&name));
        let mut reader = AppearanceReader::default();
        let unpacked =
            if sheet.is_some() { io::copy(&mut part, &mut reader) } else { io::copy(&mut part, &mut io::sink()) };
        unpacked.map_err(|error| damaged(&name, &error.to_string()))?;
        appearances.extend(sheet.map(|sheet| (sheet.clone(), reader.appearance)));
    }
    let (directory, parts) = (archive.central_directory_start(), archive.len());
    drop(archive);
    let is_complete = directory_names(&mut input, directory).map_err(|error| error.to_string())?.len() <= parts;
    if !is_complete {
        return Err("the directory of its archive is incomplete".to_owned());
    }
    for (at, name) in local {
        let there = local_name(&mut input, at, name.len()).map_err(|error| error.to_string())?;
        if there != name {
            return Err(damaged(&name, "its name in the directory of the archive is another one"));
        }
    }
    Ok(appearances)
}

fn damaged(part: &[u8], reason: &str) -> String {
    format!("its part {} has changed since it was saved ({reason})", String::from_utf8_lossy(part))
}

/// Returns the different names in the archive's directory.
fn directory_names(input: &mut Input, start: u64) -> io::Result<HashSet<Vec<u8>>> {
    input.seek(SeekFrom::Start(start))?;
    let (mut names, mut header) = (HashSet::new(), [0; DIRECTORY_HEADER]);
    loop {
        match input.read_exact(&mut header) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => break,
            Err(error) => return Err(error),
            Ok(()) if !header.starts_with(b"PK\x01\x02") => break,
            Ok(()) => {}
        }
        let length = |at: usize| usize::from(u16::from_le_bytes([header[at], header[at + 1]]));
        let mut name = vec![0; length(28)];
        input.read_exact(&mut name)?;
        names.insert(name);
        input.seek_relative((length(30) + length(32)) as i64)?;
    }
    Ok(names)
}

/// Returns the name in front of a part, at most as long as the name in the directory.
fn local_name(input: &mut BufReader<Source>, at: u64, most: usize) -> io::Result<Vec<u8>> {
    input.seek(SeekFrom::Start(at))?;
    let mut header = [0; LOCAL_HEADER];
    input.read_exact(&mut header)?;
    let length = usize::from(u16::from_le_bytes([header[26], header[27]]));
    let mut name = vec![0; length.min(most + 1)];
    input.read_exact(&mut name)?;
    Ok(name)
}
