//! The files of a ZIP archive, as received from the reading process.

use std::path::PathBuf;

use super::fault::Fault;
use super::process::Connection;
use super::protocol::{Kind, Request};
use super::reader::error;
use crate::Error;
use crate::read::WorkbookFormat;
use crate::read::location::Location;

/// The first file of an archive.
pub(crate) struct Archive {
    shown: PathBuf,
    connection: Connection,
    is_started: bool,
}

impl Archive {
    /// Opens an archive and returns the names of its files.
    pub(crate) fn open(location: &Location) -> Result<(Archive, Vec<String>), Error> {
        let request = Request { format: WorkbookFormat::Zip, encoding: None, password: None };
        let opened = Connection::open(&location.at, &request);
        let (connection, files) = opened.map_err(|fault| error(&location.shown, String::new(), fault))?;
        let archive = Archive { shown: location.shown.clone(), connection, is_started: false };
        Ok((archive, files.into_iter().map(|file| file.name).collect()))
    }

    /// Returns the next bytes of the first file, or `None` after its end.
    pub(crate) fn next(&mut self) -> Result<Option<&[u8]>, Error> {
        let failed = |fault| error(&self.shown, String::new(), fault);
        if !self.is_started {
            self.is_started = true;
            self.connection.read(0).map_err(failed)?;
        }
        match self.connection.next().map_err(failed)? {
            Kind::Bytes => Ok(Some(&self.connection.body)),
            Kind::End => Ok(None),
            _ => Err(failed(Fault::malformed())),
        }
    }
}
