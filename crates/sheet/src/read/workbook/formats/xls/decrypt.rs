//! Decryption of XLS files: all of the workbook's stream but the heads of records and a few bodies is encrypted.

use std::io::{Cursor, Read, Write};

use cfb::CompoundFile;

use super::super::cells::damage;
use super::super::encryption::Rc4Key;
use super::super::input::Source;
use super::records::STREAMS;
use crate::read::workbook::fault::{Fault, FaultKind};

// Record types: [MS-XLS] 2.3.
const FILE_PASS: u16 = 0x002F;
const SHEET: u16 = 0x0085;
/// The name of the last user. Readers ignore it.
const IGNORED: u16 = 0x005C;
/// Records with unencrypted bodies.
const PLAIN: [u16; 7] = [0x0809, FILE_PASS, 0x0194, 0x0195, 0x00E1, 0x0196, 0x0138];
/// Maximum number of records before the description of the encryption.
const MAX_BEFORE: usize = 4;
/// Length of a record's type and length.
const HEAD: usize = 4;
/// Length of the unencrypted position at the start of a sheet's record.
const POSITION: usize = 4;

/// Returns a decrypted copy of the file, or `None` if the file is not encrypted with RC4.
///
/// # Errors
/// A [`Fault`] if a password is needed or wrong, or the encryption is not supported.
pub(crate) fn decrypt_xls(file: &Source, password: Option<&str>) -> Result<Option<Vec<u8>>, Fault> {
    let Some((name, stream)) = workbook_stream(file) else { return Ok(None) };
    let pass = Records { stream: &stream, at: 0 }.take(MAX_BEFORE).find(|record| record.kind == FILE_PASS);
    let Some(pass) = pass else { return Ok(None) };
    let (pass_at, description) = match stream.get(pass.body.clone()) {
        Some([1, 0, description @ ..]) => (pass.body.start - HEAD, description),
        _ => return Err(Fault { kind: FaultKind::Encrypted, reason: String::new() }),
    };
    let key = Rc4Key::unlock(description, password)?;
    let mut clear = stream.clone();
    key.decrypt(&mut clear);
    for record in (Records { stream: &stream, at: 0 }) {
        let plain = match record.kind {
            kind if PLAIN.contains(&kind) => record.body.end,
            SHEET => record.body.end.min(record.body.start + POSITION),
            _ => record.body.start,
        };
        let plain = record.body.start - HEAD..plain;
        clear[plain.clone()].copy_from_slice(&stream[plain]);
    }
    clear[pass_at..pass_at + 2].copy_from_slice(&IGNORED.to_le_bytes());
    replaced(file, name, &clear).map(Some).map_err(|error| Fault::new(damage(error)))
}

/// Returns the name and the bytes of the workbook's stream.
fn workbook_stream(file: &Source) -> Option<(&'static str, Vec<u8>)> {
    let mut file = CompoundFile::open(file.input()).ok()?;
    STREAMS.iter().find_map(|name| {
        let mut bytes = Vec::new();
        file.open_stream(name).ok()?.read_to_end(&mut bytes).ok()?;
        Some((*name, bytes))
    })
}

/// Returns a copy of the file with other bytes in a stream.
fn replaced(file: &Source, stream: &str, bytes: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut copy = Vec::new();
    file.again().read_to_end(&mut copy)?;
    let mut copy = CompoundFile::open(Cursor::new(copy))?;
    let mut writer = copy.open_stream(stream)?;
    writer.write_all(bytes)?;
    writer.flush()?;
    drop(writer);
    copy.flush()?;
    Ok(copy.into_inner().into_inner())
}

/// The records of a stream. The heads are never encrypted.
struct Records<'a> {
    stream: &'a [u8],
    at: usize,
}

struct Record {
    kind: u16,
    body: std::ops::Range<usize>,
}

impl Iterator for Records<'_> {
    type Item = Record;

    fn next(&mut self) -> Option<Record> {
        let [kind0, kind1, len0, len1] = *self.stream.get(self.at..)?.first_chunk::<HEAD>()?;
        let start = self.at + HEAD;
        let end = start + usize::from(u16::from_le_bytes([len0, len1]));
        if end > self.stream.len() {
            return None;
        }
        self.at = end;
        Some(Record { kind: u16::from_le_bytes([kind0, kind1]), body: start..end })
    }
}
