//! Reads records from NDJSON, one JSON object per line, as written by an export.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};
use sheetport_operations::Error;
use sheetport_sheet as sheet;

/// Maximum length of a line, in bytes.
const MAX_LINE: u64 = 16 << 20;

/// A file of records.
pub(super) struct NdjsonFile {
    path: PathBuf,
    reader: Box<dyn BufRead + Send>,
    /// The number of the last line read, from 1.
    number: u64,
    line: Vec<u8>,
}

/// A record with its line number, from 1.
pub(super) struct NdjsonRecord {
    pub line: u64,
    pub fields: Map<String, Value>,
}

impl NdjsonFile {
    /// Opens a file named `.ndjson` or `.jsonl`, also compressed. Returns `None` for other names.
    pub(super) fn open(path: &Path) -> Result<Option<NdjsonFile>, Error> {
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
        let (name, compression) = match name.rsplit_once('.') {
            Some((name, compression @ ("gz" | "zst"))) => (name, compression),
            _ => (name.as_str(), ""),
        };
        if !name.ends_with(".ndjson") && !name.ends_with(".jsonl") {
            return Ok(None);
        }
        let failed = |source| Error::from(sheet::Error::Open { path: path.to_owned(), source });
        let file = File::open(path).map_err(failed)?;
        let reader: Box<dyn BufRead + Send> = match compression {
            "gz" => Box::new(BufReader::new(flate2::read::MultiGzDecoder::new(file))),
            "zst" => Box::new(BufReader::new(zstd::Decoder::new(file).map_err(failed)?)),
            _ => Box::new(BufReader::new(file)),
        };
        Ok(Some(NdjsonFile { path: path.to_owned(), reader, number: 0, line: Vec::new() }))
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the next record, or `None` at the end. Blank lines are passed over.
    pub(super) fn next(&mut self) -> Result<Option<NdjsonRecord>, Error> {
        loop {
            self.line.clear();
            let read = self.reader.by_ref().take(MAX_LINE).read_until(b'\n', &mut self.line);
            let read = read.map_err(|source| sheet::Error::Open { path: self.path.clone(), source })?;
            if read == 0 {
                return Ok(None);
            }
            self.number += 1;
            if self.line.trim_ascii().is_empty() {
                continue;
            }
            return match serde_json::from_slice(&self.line) {
                Ok(Value::Object(fields)) => Ok(Some(NdjsonRecord { line: self.number, fields })),
                Ok(_) => Err(self.no_record("it is no JSON object")),
                Err(error) => Err(self.no_record(&error.to_string())),
            };
        }
    }

    fn no_record(&self, why: &str) -> Error {
        Error::BadInput {
            message: format!("line {} of {} is not a record: {why}", self.number, self.path.display()),
            hint: "write the file again, for example with `sheetport export`".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_is_a_record_whatever_the_compression() {
        let folder = tempfile::tempdir().expect("a folder");
        let text = b"{\"id\":\"a\"}\n\n{\"id\":\"b\",\"price\":1.50}\r\n[1]\n";
        let gz = {
            let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            std::io::Write::write_all(&mut encoder, text).expect("written");
            encoder.finish().expect("finished")
        };
        let zst = zstd::encode_all(&text[..], 1).expect("encoded");
        for (name, bytes) in [("a.ndjson", &text[..]), ("a.JSONL.gz", &gz), ("a.jsonl.zst", &zst)] {
            let path = folder.path().join(name);
            std::fs::write(&path, bytes).expect("written");
            let mut file = NdjsonFile::open(&path).expect("opened").expect("NDJSON");
            assert_eq!(file.next().expect("a record").expect("there").line, 1, "{name}");
            let NdjsonRecord { line, fields } = file.next().expect("a record").expect("there");
            assert_eq!((line, fields["price"].to_string().as_str()), (3, "1.50"), "{name}");
            assert!(file.next().is_err_and(|error| error.to_string().contains("line 4 of ")), "{name}");
        }
        assert!(NdjsonFile::open(Path::new("items.csv.gz")).expect("by its name").is_none());
    }
}
