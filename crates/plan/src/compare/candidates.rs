//! The records of a comparison. A file may have a million of them, so they are in a temporary file, and only their places in memory.

use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use tempfile::SpooledTempFile;

use super::candidate::Candidate;
use crate::count::is_count;
use crate::error::Error;

/// Records up to this number of bytes stay in memory: a batch between two requests needs no file.
const IN_MEMORY: usize = 1 << 20;

/// Records to be compared with the service.
#[derive(Debug)]
pub struct Candidates {
    folder: PathBuf,
    file: BufWriter<SpooledTempFile>,
    len: u64,
    places: Vec<Place>,
}

/// The way in which a record is found in the service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// By the id in the path of its request.
    Target,
    /// By the inventory that was counted.
    Stock,
    /// By its key in the list.
    Key,
}

/// Where a record is in the file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    at: u64,
    len: u32,
    pub way: Way,
}

/// Reads the records back, in any order.
#[derive(Debug)]
pub(super) struct CandidateFile {
    folder: PathBuf,
    file: SpooledTempFile,
    buffer: Vec<u8>,
}

impl Candidates {
    /// Returns an empty collection. `folder`: where its file is, if it needs one.
    pub fn new(folder: &Path) -> Candidates {
        let file = BufWriter::new(tempfile::spooled_tempfile_in(IN_MEMORY, folder));
        Candidates { folder: folder.to_owned(), file, len: 0, places: Vec::new() }
    }

    /// Returns a collection of these records.
    ///
    /// # Errors
    /// If they can't be kept.
    pub fn of(folder: &Path, records: impl IntoIterator<Item = Candidate>) -> Result<Candidates, Error> {
        let mut candidates = Candidates::new(folder);
        records.into_iter().try_for_each(|candidate| candidates.push(&candidate))?;
        Ok(candidates)
    }

    /// Adds a record.
    ///
    /// # Errors
    /// If it can't be kept.
    pub fn push(&mut self, candidate: &Candidate) -> Result<(), Error> {
        let way = match candidate {
            Candidate { target: Some(_), .. } => Way::Target,
            Candidate { body, .. } if is_count(body) => Way::Stock,
            _ => Way::Key,
        };
        let mut write = || {
            let record = postcard::to_allocvec(candidate).map_err(io::Error::other)?;
            let len = u32::try_from(record.len()).map_err(io::Error::other)?;
            self.file.write_all(&record)?;
            Ok(len)
        };
        let len = write().map_err(not_kept(&self.folder))?;
        self.places.push(Place { at: self.len, len, way });
        self.len += u64::from(len);
        Ok(())
    }

    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// Returns the file of the records, and the places of those that are found in each of these ways.
    pub(super) fn into_parts<const N: usize>(self, ways: [Way; N]) -> Result<(CandidateFile, [Vec<Place>; N]), Error> {
        let Candidates { folder, file, mut places, .. } = self;
        let file = file.into_inner().map_err(|error| not_kept(&folder)(error.into_error()))?;
        // Usually all are found in one way, and a copy of their places would be for nothing.
        let places = ways.map(|way| match places.iter().all(|place| place.way == way) {
            true => std::mem::take(&mut places),
            false => places.extract_if(.., |place| place.way == way).collect(),
        });
        Ok((CandidateFile { folder, file, buffer: Vec::new() }, places))
    }
}

impl CandidateFile {
    /// Reads a record.
    pub(super) fn read(&mut self, place: Place) -> Result<Candidate, Error> {
        self.buffer.resize(place.len as usize, 0);
        let read = self.file.seek(SeekFrom::Start(place.at)).and_then(|_| self.file.read_exact(&mut self.buffer));
        let record = read.and_then(|()| postcard::from_bytes(&self.buffer).map_err(io::Error::other));
        record.map_err(not_kept(&self.folder))
    }

    /// Reads the records at these places.
    pub(super) fn read_all(
        &mut self,
        places: impl IntoIterator<Item = Place>,
    ) -> impl Iterator<Item = Result<Candidate, Error>> {
        places.into_iter().map(|place| self.read(place))
    }
}

fn not_kept(folder: &Path) -> impl FnOnce(io::Error) -> Error {
    |source| Error::NotKept { folder: folder.to_owned(), source }
}
