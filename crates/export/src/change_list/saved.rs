//! The records of an export as JSON in a compressed file. The next export reads values before a change from there.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use sheetport_client::pages::Entry;
use sheetport_sheet::write::{Existing, WholeFile};

use crate::error::Error;
use crate::framed::{read_text, write_text};

const MAGIC: &[u8] = b"sheetport records 1\n";
/// The fastest level. The JSON of a list still shrinks to about a tenth.
const LEVEL: i32 = 1;

/// A file of records under construction. Dropping it leaves no file.
pub(super) struct RecordsWriter {
    path: PathBuf,
    encoder: BufWriter<zstd::Encoder<'static, WholeFile>>,
}

/// The records of an export, in the order of its list.
pub(super) struct SavedRecords {
    path: PathBuf,
    decoder: BufReader<zstd::Decoder<'static, BufReader<File>>>,
}

impl RecordsWriter {
    pub(super) fn create(path: &Path) -> Result<RecordsWriter, Error> {
        let file = WholeFile::create(path, Existing::Replace)?;
        let start = || {
            let mut encoder = zstd::Encoder::new(file, LEVEL)?;
            encoder.include_checksum(true)?;
            let mut encoder = BufWriter::with_capacity(1 << 16, encoder);
            encoder.write_all(MAGIC)?;
            Ok(encoder)
        };
        let encoder = start().map_err(Error::at(path))?;
        Ok(RecordsWriter { path: path.to_owned(), encoder })
    }

    pub(super) fn add(&mut self, entry: &Entry<'_>) -> Result<(), Error> {
        write_text(&mut self.encoder, entry.json()).map_err(Error::at(&self.path))
    }

    /// Puts the file in place.
    pub(super) fn finish(self) -> Result<(), Error> {
        let RecordsWriter { path, encoder } = self;
        let file = encoder.into_inner().map_err(io::IntoInnerError::into_error).and_then(zstd::Encoder::finish);
        file.map_err(Error::at(&path))?.finish()?;
        Ok(())
    }
}

impl SavedRecords {
    /// Opens the file of an export. Returns `None` if missing or of another version.
    pub(super) fn open(path: &Path) -> Result<Option<SavedRecords>, Error> {
        let file = match File::open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(Error::at(path)(source)),
        };
        let decoder = zstd::Decoder::new(file).map_err(Error::at(path))?;
        let mut decoder = BufReader::with_capacity(1 << 16, decoder);
        let mut magic = [0; MAGIC.len()];
        let is_known = decoder.read_exact(&mut magic).is_ok() && magic == MAGIC;
        Ok(is_known.then(|| SavedRecords { path: path.to_owned(), decoder }))
    }

    /// Returns the JSON of the next record, or `None` at the end.
    ///
    /// # Errors
    /// If the file is damaged or cut.
    pub(super) fn next(&mut self) -> Result<Option<String>, Error> {
        read_text(&mut self.decoder).map_err(Error::at(&self.path))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_read_back_and_damage_is_found() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("saved");
        assert!(SavedRecords::open(&path).expect("opened").is_none());
        let records = [r#"{"id":"a","n":1}"#, "7", r#"{"id":"b"}"#];
        let mut writer = RecordsWriter::create(&path).expect("created");
        records.iter().for_each(|json| writer.add(&Entry::new(json)).expect("written"));
        assert!(!path.exists(), "not before it is complete");
        writer.finish().expect("finished");
        let read = || {
            let mut saved = SavedRecords::open(&path)?.ok_or(Error::Internal("of another version"))?;
            let mut found = Vec::new();
            while let Some(json) = saved.next()? {
                found.push(json);
            }
            Ok::<_, Error>(found)
        };
        assert_eq!(read().expect("read"), records);
        let whole = std::fs::read(&path).expect("a file");
        for cut in [0, 3, whole.len() / 2, whole.len() - 1] {
            std::fs::write(&path, &whole[..cut]).expect("written");
            assert!(read().is_err(), "cut at {cut}");
        }
    }
}
