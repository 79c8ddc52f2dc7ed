//! Texts and bytes in the files that exports keep, each preceded by its length.

use std::io::{self, Read, Write};

pub(super) fn write_text(file: &mut impl Write, text: &str) -> io::Result<()> {
    write_bytes(file, text.as_bytes())
}

pub(super) fn write_bytes(file: &mut impl Write, bytes: &[u8]) -> io::Result<()> {
    let len = u32::try_from(bytes.len()).map_err(io::Error::other)?;
    file.write_all(&len.to_le_bytes())?;
    file.write_all(bytes)
}

/// Reads a text written by [`write_text`]. Returns `None` at the end of the file.
pub(super) fn read_text(file: &mut impl Read) -> io::Result<Option<String>> {
    read_bytes(file)?.map(|bytes| String::from_utf8(bytes).map_err(io::Error::other)).transpose()
}

/// Reads bytes written by [`write_bytes`]. Returns `None` at the end of the file.
pub(super) fn read_bytes(file: &mut impl Read) -> io::Result<Option<Vec<u8>>> {
    let mut len = [0; size_of::<u32>()];
    // The end is only where bytes would begin.
    if file.read(&mut len[..1])? == 0 {
        return Ok(None);
    }
    file.read_exact(&mut len[1..])?;
    let len = u64::from(u32::from_le_bytes(len));
    let mut bytes = Vec::new();
    match file.take(len).read_to_end(&mut bytes)? as u64 == len {
        true => Ok(Some(bytes)),
        false => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}
