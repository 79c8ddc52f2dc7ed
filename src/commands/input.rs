//! The file that a command is given, and how the flags say it is to be read.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::cli::Reading;
use crate::error::{Exit, Failure};
use crate::sheet::{self, Options};

/// What messages, summaries and the ledger call standard input.
pub const STANDARD_INPUT: &str = "standard input";

/// As much as is taken from standard input.
const MAX_SPOOLED: u64 = 64 * 1024 * 1024 * 1024;

/// A file on disk, which standard input is put into: files are read more than once.
pub struct InputFile {
    pub path: PathBuf,
    /// As messages call it.
    pub name: PathBuf,
    /// Removed when this is dropped. Others can't read it.
    spool: Option<TempDir>,
}

impl InputFile {
    /// The file at `path`; `-` is standard input.
    pub fn open(path: &Path) -> Result<InputFile, Failure> {
        if path.as_os_str() != "-" {
            return Ok(InputFile { path: path.to_owned(), name: path.to_owned(), spool: None });
        }
        let failed = |error: io::Error| {
            Failure::new(
                Exit::Fault,
                format!("standard input can't be kept in a temporary file: {error}"),
                "check that the folder for temporary files has room, or set TMPDIR to another",
            )
        };
        // A text's one sheet has the file's name.
        let spool = tempfile::Builder::new().prefix("sheetport-").tempdir().map_err(failed)?;
        let path = spool.path().join("stdin");
        let mut file = File::create_new(&path).map_err(failed)?;
        let input = io::Read::take(io::stdin().lock(), MAX_SPOOLED + 1);
        let len = io::copy(&mut { input }, &mut file).map_err(failed)?;
        if len > MAX_SPOOLED {
            return Err(Failure::new(
                Exit::InputRefused,
                "standard input goes on after 64 GiB",
                "save it as a file and give its name",
            ));
        }
        Ok(InputFile { path, name: STANDARD_INPUT.into(), spool: Some(spool) })
    }

    /// Where the file will be found later, from whatever folder.
    pub fn lasting_name(&self) -> String {
        let path = match self.spool {
            None => std::path::absolute(&self.path).unwrap_or_else(|_| self.path.clone()),
            Some(_) => self.name.clone(),
        };
        path.display().to_string()
    }

    /// The error by the name that messages use.
    pub fn told(&self, error: sheet::Error) -> sheet::Error {
        error.of_file(&self.name)
    }
}

/// What the flags say about reading a text file.
pub fn options(reading: &Reading) -> Options {
    Options {
        delimiter: reading.delimiter,
        encoding: reading.encoding.clone(),
        quote: reading.quote.map(|mark| mark.0),
        escape: reading.escape.map(|mark| mark.0),
    }
}
