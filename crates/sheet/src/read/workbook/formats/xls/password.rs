//! Detection of XLS files with XOR obfuscation ([MS-XLS] 2.2.10), the oldest kind of password protection. Calamine detects only
//! newer kinds, and would read the obfuscated bytes as cells.

use std::io::{self, Read};

/// Streams of an OLE2 file start at multiples of this size.
const SECTOR: usize = 64;
// Record types: [MS-XLS] 2.3.
const BEGIN: u16 = 0x0809;
const WRITE_PROTECT: u16 = 0x0086;
const FILE_PASS: u16 = 0x002F;

/// Returns true if the start of the workbook stream declares XOR obfuscation.
pub(crate) fn is_obfuscated(input: &mut impl Read) -> io::Result<bool> {
    let mut chunk = Vec::new();
    loop {
        chunk.clear();
        if input.take(1024 * SECTOR as u64).read_to_end(&mut chunk)? == 0 {
            return Ok(false);
        }
        if let Some(answer) = chunk.chunks(SECTOR).find_map(begins_obfuscated) {
            return Ok(answer);
        }
    }
}

/// Returns `None` unless the sector starts a workbook stream.
fn begins_obfuscated(sector: &[u8]) -> Option<bool> {
    let (kind, begin, rest) = record(sector)?;
    let is_workbook = kind == BEGIN && begin.starts_with(&[0x00, 0x06, 0x05, 0x00]);
    if !is_workbook {
        return None;
    }
    let rest = match record(rest) {
        Some((WRITE_PROTECT, _, rest)) => rest,
        _ => rest,
    };
    Some(matches!(record(rest), Some((FILE_PASS, [0, 0, ..], _))))
}

/// Returns the type and body of the first record, and the bytes after it.
fn record(bytes: &[u8]) -> Option<(u16, &[u8], &[u8])> {
    let (head, rest) = bytes.split_first_chunk::<4>()?;
    let [kind0, kind1, len0, len1] = *head;
    let (body, rest) = rest.split_at_checked(usize::from(u16::from_le_bytes([len0, len1])))?;
    Some((u16::from_le_bytes([kind0, kind1]), body, rest))
}
