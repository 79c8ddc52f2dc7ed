//! The file that a command is given, and how the flags say it is to be read.

use std::io;
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::cli::Reading;
use crate::error::{Exit, Failure};
use crate::sheet::Options;

/// As much as is taken from standard input.
const MAX_SPOOLED: u64 = 64 * 1024 * 1024 * 1024;

/// A file on disk, which standard input is put into: files are read more than once.
pub struct InputFile {
    pub path: PathBuf,
    /// As messages call it.
    pub name: String,
    /// Removed when this is dropped. Others can't read it.
    _spool: Option<NamedTempFile>,
}

impl InputFile {
    /// The file at `path`; `-` is standard input.
    pub fn open(path: &Path) -> Result<InputFile, Failure> {
        if path.as_os_str() != "-" {
            return Ok(InputFile { path: path.to_owned(), name: path.display().to_string(), _spool: None });
        }
        let failed = |error: io::Error| {
            Failure::new(
                Exit::Fault,
                format!("standard input can't be kept in a temporary file: {error}"),
                "check that the folder for temporary files has room, or set TMPDIR to another",
            )
        };
        let mut spool = tempfile::Builder::new().prefix("stdin-").tempfile().map_err(failed)?;
        let input = io::Read::take(io::stdin().lock(), MAX_SPOOLED + 1);
        let len = io::copy(&mut { input }, &mut spool).map_err(failed)?;
        if len > MAX_SPOOLED {
            return Err(Failure::new(
                Exit::InputRefused,
                "standard input goes on after 64 GiB",
                "save it as a file and give its name",
            ));
        }
        Ok(InputFile { path: spool.path().to_owned(), name: "standard input".to_owned(), _spool: Some(spool) })
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
