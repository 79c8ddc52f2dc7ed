//! SHA-256 digests.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

use sha2::{Digest, Sha256};

/// Returns the digest of the parts. Hashes the length of each part, so that `["ab", "c"]` and `["a", "bc"]` differ.
pub fn of_parts<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> [u8; 32] {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update((part.len() as u64).to_le_bytes());
        hasher.update(part);
    }
    hasher.finalize().into()
}

/// Returns the digest of a file in hexadecimal.
pub fn of_file(path: &Path) -> io::Result<String> {
    Ok(of_reader(&mut File::open(path)?)?.0)
}

/// Reads to the end. Returns the digest in hexadecimal and the number of bytes.
pub fn of_reader(reader: &mut impl Read) -> io::Result<(String, u64)> {
    copy(reader, &mut io::sink())
}

/// Copies all bytes. Returns the digest in hexadecimal, and the number of bytes.
pub fn copy(reader: &mut impl Read, writer: &mut impl Write) -> io::Result<(String, u64)> {
    let (mut hasher, mut bytes) = (Sha256::new(), 0);
    let mut buffer = vec![0; 64 * 1024];
    loop {
        match reader.read(&mut buffer)? {
            0 => return Ok((hex(&hasher.finalize()), bytes)),
            len => {
                writer.write_all(&buffer[..len])?;
                hasher.update(&buffer[..len]);
                bytes += len as u64;
            }
        }
    }
}

/// Formats bytes in hexadecimal.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
