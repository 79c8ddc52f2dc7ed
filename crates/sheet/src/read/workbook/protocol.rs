//! The protocol of the reading process: frames with a kind, a length and a body in one direction, commands as JSON in the
//! other.
//!
//! A hostile workbook may have taken over the sender. The receiver limits the length of frames and validates their bodies.

use std::io::{self, ErrorKind, Read, Write};

use secrecy::{ExposeSecret, SecretString};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::read::WorkbookFormat;

/// Size of a batch of rows, in bytes.
pub(super) const BATCH: usize = 256 * 1024;
/// Maximum length of a frame: more than a batch plus the longest row.
const MAX_BODY: usize = 64 * 1024 * 1024;

/// A sheet with cells.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, Serialize)]
pub(crate) struct SheetEntry {
    pub name: String,
    pub is_hidden: bool,
}

/// The kind of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// The list of [`SheetEntry`], as JSON.
    Opened = 1,
    /// Encoded rows.
    Rows = 2,
    /// The end of the sheet, with its `Appearance` as JSON if the sheet was read completely.
    End = 3,
    /// A `Fault` as JSON.
    Fault = 4,
    /// Bytes of a file in an archive.
    Bytes = 5,
}

/// The file format and options, sent to the reading process before any command.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Request {
    pub format: WorkbookFormat,
    /// The encoding of a web page.
    pub encoding: Option<String>,
    pub password: Option<Password>,
}

/// The password of a workbook. Sent through the pipe, so that no other process can see it.
#[derive(Clone, Debug)]
pub(crate) struct Password(pub SecretString);

impl Serialize for Password {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0.expose_secret())
    }
}

impl<'de> Deserialize<'de> for Password {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Password, D::Error> {
        String::deserialize(deserializer).map(|password| Password(SecretString::from(password)))
    }
}

/// A request to the reading process.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Serialize)]
pub(super) enum Command {
    /// Send the rows of the sheet with this index. Readings are numbered from 1.
    Read { reading: u32, sheet: u32 },
    /// Stop sending rows of this reading.
    Stop { reading: u32 },
}

pub(super) fn write(output: &mut (impl Write + ?Sized), kind: Kind, body: &[u8]) -> io::Result<()> {
    let len = u32::try_from(body.len()).map_err(io::Error::other)?;
    let mut head = [kind as u8; 5];
    head[1..].copy_from_slice(&len.to_le_bytes());
    output.write_all(&head)?;
    output.write_all(body)?;
    output.flush()
}

/// Reads the next frame into `body`.
///
/// # Errors
/// [`ErrorKind::UnexpectedEof`] if the sender has ended; [`ErrorKind::InvalidData`] for an invalid frame.
pub(super) fn read(input: &mut impl Read, body: &mut Vec<u8>) -> io::Result<Kind> {
    let mut head = [0; 5];
    input.read_exact(&mut head)?;
    let [kind, len @ ..] = head;
    let kind = match kind {
        1 => Kind::Opened,
        2 => Kind::Rows,
        3 => Kind::End,
        4 => Kind::Fault,
        5 => Kind::Bytes,
        _ => return Err(ErrorKind::InvalidData.into()),
    };
    let len = u32::from_le_bytes(len) as usize;
    if len > MAX_BODY {
        return Err(ErrorKind::InvalidData.into());
    }
    body.clear();
    // Releases the memory of an unusually long frame.
    body.shrink_to(2 * BATCH);
    if input.take(len as u64).read_to_end(body)? < len {
        return Err(ErrorKind::UnexpectedEof.into());
    }
    Ok(kind)
}

/// Sends a [`Request`] or a [`Command`].
pub(super) fn send(output: &mut impl Write, message: &impl Serialize) -> io::Result<()> {
    output.write_all(&serde_json::to_vec(message)?)?;
    output.flush()
}

/// Receives a [`Request`] or a [`Command`]. Returns `None` at the end of the input.
pub(super) fn receive<M: DeserializeOwned>(input: &mut impl Read) -> Option<M> {
    M::deserialize(&mut serde_json::Deserializer::from_reader(input)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_and_commands_round_trip() {
        let mut pipe = Vec::new();
        write(&mut pipe, Kind::Rows, b"abc").expect("written");
        write(&mut pipe, Kind::End, b"").expect("written");
        let (mut input, mut body) = (pipe.as_slice(), Vec::new());
        assert_eq!(read(&mut input, &mut body).expect("a frame"), Kind::Rows);
        assert_eq!(body, b"abc");
        assert_eq!(read(&mut input, &mut body).expect("a frame"), Kind::End);
        assert_eq!(read(&mut input, &mut body).map_err(|error| error.kind()), Err(ErrorKind::UnexpectedEof));

        let mut pipe = Vec::new();
        let commands = [Command::Read { reading: 1, sheet: 70_000 }, Command::Stop { reading: 1 }];
        commands.iter().for_each(|command| send(&mut pipe, command).expect("written"));
        let mut input = pipe.as_slice();
        assert_eq!([receive(&mut input), receive(&mut input)], commands.map(Some));
        assert_eq!(receive::<Command>(&mut input), None);
    }

    #[test]
    fn invalid_frames_are_refused_before_allocating() {
        for bytes in [&[9, 0, 0, 0, 0][..], &[2, 255, 255, 255, 255], b"thread 'main' panicked"] {
            let error = read(&mut { bytes }, &mut Vec::new()).expect_err("no frame");
            assert_eq!(error.kind(), ErrorKind::InvalidData);
        }
        let error = read(&mut &[2, 0, 0, 16, 0, 1][..], &mut Vec::new()).expect_err("cut short");
        assert_eq!(error.kind(), ErrorKind::UnexpectedEof);
    }
}
