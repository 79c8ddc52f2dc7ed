//! Lookup tables of templates. A template may come from somebody else, so it reads only what is below its own folder, or what
//! a flag permits.

use std::fs::File;
use std::path::{Component, Path, PathBuf};

use crate::digest;
use crate::sheet::{self, Book};
use crate::template::value::lookup::{Lookup, LookupReader, TableError};

/// The folder of a template.
pub(super) struct TemplateFolder<'a> {
    /// Absolute path.
    pub folder: PathBuf,
    pub permitted: Permitted<'a>,
}

/// What a template may read.
pub(super) enum Permitted<'a> {
    Everywhere,
    /// What is below its own folder or one of these.
    Below(&'a [PathBuf]),
}

impl TemplateFolder<'_> {
    /// Reads the first sheet of a lookup table. Returns its SHA-256 as well.
    pub(super) fn read_table(&self, name: &str, reader: LookupReader) -> Result<(Lookup, String), TableError> {
        let path = self.find(name)?;
        let hash = File::open(&path).and_then(|mut file| digest::of_reader(&mut file));
        let (hash, _) = hash.map_err(|error| TableError::Unreadable(error.to_string()))?;
        let book = sheet::open(&path, &sheet::Options::default()).map_err(unreadable)?;
        Ok((read_rows(&book, 0, reader)?, hash))
    }

    /// Returns the path of a lookup table.
    fn find(&self, name: &str) -> Result<PathBuf, TableError> {
        let path = lexical(&self.folder.join(name));
        let folders: Vec<&Path> = match self.permitted {
            Permitted::Everywhere => return Ok(path),
            Permitted::Below(others) => {
                std::iter::once(self.folder.as_path()).chain(others.iter().map(PathBuf::as_path)).collect()
            }
        };
        let outside = || {
            TableError::Unreadable(
                "it is outside of the folder of the template; --allow-lookup FOLDER permits another folder".to_owned(),
            )
        };
        // The path alone is judged first: opening a network path would already tell others who opens it.
        let absolute = |folder: &&Path| std::path::absolute(folder).map(|folder| lexical(&folder)).ok();
        if !folders.iter().filter_map(absolute).any(|folder| path.starts_with(folder)) {
            return Err(outside());
        }
        let failed = |error: std::io::Error| TableError::Unreadable(error.to_string());
        let real = path.canonicalize().map_err(failed)?;
        // A link may lead out of the folder.
        if !folders.iter().filter_map(|folder| folder.canonicalize().ok()).any(|folder| real.starts_with(folder)) {
            return Err(outside());
        }
        match real.metadata().map_err(failed)?.is_file() {
            true => Ok(path),
            false => Err(TableError::Unreadable("it is not a file".to_owned())),
        }
    }
}

/// Resolves `.` and `..` without looking at the disk.
fn lexical(path: &Path) -> PathBuf {
    let mut resolved = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => drop(resolved.pop()),
            other => resolved.push(other),
        }
    }
    resolved
}

/// Reads a lookup table from a sheet.
pub(super) fn read_rows(book: &Book, sheet: usize, mut reader: LookupReader) -> Result<Lookup, TableError> {
    let mut rows = book.rows(sheet).map_err(unreadable)?;
    let mut row = sheet::Row::default();
    while rows.next(&mut row).map_err(unreadable)? {
        reader.row(&row)?;
    }
    Ok(reader.end()?)
}

pub(super) fn unreadable(error: sheet::Error) -> TableError {
    TableError::Unreadable(error.to_string())
}
