//! A ZIP archive around a single spreadsheet.

use std::io::{self, Read, Write};

use zip::ZipArchive;
use zip::result::ZipError;

use super::cells::damage;
use super::input::{Input, Source};
use crate::read::workbook::fault::{Fault, FaultKind};
use crate::read::workbook::protocol::{BATCH, Kind, SheetEntry, write};
use crate::read::workbook::row_sender::Stop;

/// Maximum number of files.
const MAX_FILES: usize = 20_000;
/// Maximum unpacked size without a check of the ratio, and the maximum ratio beyond, as for other compressed files.
const FREE: u64 = 64 << 20;
const MAX_RATIO: u64 = 250;
/// Maximum unpacked size.
const MAX_SIZE: u64 = 64 << 30;
/// Files that operating systems add.
const IGNORED: [&str; 3] = ["__MACOSX", "Thumbs.db", "desktop.ini"];

pub(crate) struct Container {
    archive: ZipArchive<Input>,
    /// Indexes and names of the files.
    files: Vec<(usize, String)>,
}

impl Container {
    pub(crate) fn open(file: &Source) -> Result<Container, Fault> {
        let failed = |error: ZipError| Fault::new(format!("the archive is damaged or incomplete ({error})"));
        let mut archive = ZipArchive::new(file.input()).map_err(failed)?;
        if archive.len() > MAX_FILES {
            return Err(Fault::new(format!("it is an archive of {} files", archive.len())));
        }
        let mut files = Vec::new();
        for index in 0..archive.len() {
            let part = archive.by_index_raw(index).map_err(failed)?;
            let unknown = |_| String::from_utf8_lossy(part.name_raw()).into_owned();
            let name = part.name().map_or_else(unknown, |name| name.to_string());
            let mut parts = name.split(['/', '\\']);
            let is_ignored = parts.clone().any(|part| IGNORED.contains(&part))
                || parts.next_back().is_some_and(|part| part.starts_with('.'));
            if !is_ignored && !name.ends_with(['/', '\\']) {
                files.push((index, name));
            }
        }
        Ok(Container { archive, files })
    }

    /// Returns the names of the files, without files added by operating systems.
    pub(crate) fn entries(&self) -> Vec<SheetEntry> {
        self.files.iter().map(|(_, name)| SheetEntry { name: name.clone(), is_hidden: false }).collect()
    }

    /// Sends the unpacked bytes of a file, and the end.
    pub(crate) fn send(
        &mut self,
        file: usize,
        output: &mut dyn Write,
        is_wanted: &dyn Fn() -> bool,
    ) -> Result<(), Stop> {
        let Some((index, name)) = self.files.get(file) else { return Err(format!("it has no file {file}").into()) };
        let mut part = self.archive.by_index(*index).map_err(|error| match error {
            ZipError::UnsupportedArchive(ZipError::PASSWORD_REQUIRED) => {
                Fault { kind: FaultKind::PackedWithPassword, reason: name.clone() }
            }
            ZipError::UnsupportedArchive(_) => {
                Fault::new(format!("its file {name} is packed by an unusual method; unpack it first"))
            }
            error => Fault::new(damage(error)),
        })?;
        let (packed, mut chunk, mut size) = (part.compressed_size(), Vec::new(), 0);
        loop {
            chunk.clear();
            let read = (&mut part).take(BATCH as u64).read_to_end(&mut chunk);
            size += read.map_err(|error| changed(name, &error))? as u64;
            if size > MAX_SIZE || size > FREE && size / MAX_RATIO > packed {
                let reason =
                    format!("its file {name} unpacks to far more data than a spreadsheet has, as in a ZIP bomb");
                return Err(reason.into());
            }
            if chunk.is_empty() {
                return write(output, Kind::End, &[]).map_err(|_| Stop::Unwanted);
            }
            if !is_wanted() {
                return Err(Stop::Unwanted);
            }
            write(output, Kind::Bytes, &chunk).map_err(|_| Stop::Unwanted)?;
        }
    }
}

fn changed(name: &str, error: &io::Error) -> Fault {
    let reason = format!("its file {name} has changed since it was packed ({error})");
    Fault { kind: FaultKind::Changed, reason }
}
