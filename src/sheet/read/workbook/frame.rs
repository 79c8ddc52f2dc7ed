//! What goes through the pipes between a workbook's reader and the process that asked for it: frames with a kind, a
//! length and a body one way, commands of a fixed size the other.
//!
//! The reader may have been driven out of its mind by a hostile file. So the asking side takes no frame longer than
//! [`MAX_BODY`], and checks whatever a body holds.

use std::io::{self, ErrorKind, Read, Write};

/// A batch of rows is sent when it has this many bytes.
pub const BATCH: usize = 256 * 1024;
/// Longer than a batch to which the longest possible row was added.
pub const MAX_BODY: usize = 64 * 1024 * 1024;

/// What an answer is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The names of the sheets, as JSON.
    Opened = 1,
    /// Rows, as `Row::encode` writes them.
    Rows = 2,
    /// There are no more rows of this sheet.
    End = 3,
    /// Why the workbook or the sheet can't be read, as JSON.
    Fault = 4,
}

/// What the reader is asked to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// Give the rows of a sheet, by its index. Readings are numbered from 1.
    Read { reading: u32, sheet: u32 },
    /// Give no more rows of that reading than are under way.
    Stop { reading: u32 },
}

pub fn write(output: &mut impl Write, kind: Kind, body: &[u8]) -> io::Result<()> {
    let len = u32::try_from(body.len()).map_err(io::Error::other)?;
    let mut head = [kind as u8; 5];
    head[1..].copy_from_slice(&len.to_le_bytes());
    output.write_all(&head)?;
    output.write_all(body)?;
    output.flush()
}

/// Reads the next frame's body into `body`, whose memory is reused.
///
/// # Errors
/// [`ErrorKind::UnexpectedEof`] when the other side is gone; [`ErrorKind::InvalidData`] for what is no frame.
pub fn read(input: &mut impl Read, body: &mut Vec<u8>) -> io::Result<Kind> {
    let mut head = [0; 5];
    input.read_exact(&mut head)?;
    let [kind, len @ ..] = head;
    let kind = match kind {
        1 => Kind::Opened,
        2 => Kind::Rows,
        3 => Kind::End,
        4 => Kind::Fault,
        _ => return Err(ErrorKind::InvalidData.into()),
    };
    let len = u32::from_le_bytes(len) as usize;
    if len > MAX_BODY {
        return Err(ErrorKind::InvalidData.into());
    }
    body.clear();
    // An uncommonly long body's memory is not kept.
    body.shrink_to(2 * BATCH);
    if input.take(len as u64).read_to_end(body)? < len {
        return Err(ErrorKind::UnexpectedEof.into());
    }
    Ok(kind)
}

pub fn command(output: &mut impl Write, command: Command) -> io::Result<()> {
    let (kind, reading, sheet) = match command {
        Command::Read { reading, sheet } => (b'r', reading, sheet),
        Command::Stop { reading } => (b's', reading, 0),
    };
    let mut bytes = [kind; 9];
    bytes[1..5].copy_from_slice(&reading.to_le_bytes());
    bytes[5..].copy_from_slice(&sheet.to_le_bytes());
    output.write_all(&bytes)?;
    output.flush()
}

/// The next command; nothing when the asking side is gone.
pub fn next_command(input: &mut impl Read) -> Option<Command> {
    let mut bytes = [0; 9];
    input.read_exact(&mut bytes).ok()?;
    let [kind, r0, r1, r2, r3, sheet @ ..] = bytes;
    let reading = u32::from_le_bytes([r0, r1, r2, r3]);
    match kind {
        b'r' => Some(Command::Read { reading, sheet: u32::from_le_bytes(sheet) }),
        b's' => Some(Command::Stop { reading }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_and_commands_come_back() {
        let mut pipe = Vec::new();
        write(&mut pipe, Kind::Rows, b"abc").expect("written");
        write(&mut pipe, Kind::End, b"").expect("written");
        let (mut input, mut body) = (pipe.as_slice(), Vec::new());
        assert_eq!(read(&mut input, &mut body).expect("a frame"), Kind::Rows);
        assert_eq!(body, b"abc");
        assert_eq!(read(&mut input, &mut body).expect("a frame"), Kind::End);
        assert_eq!(read(&mut input, &mut body).map_err(|error| error.kind()), Err(ErrorKind::UnexpectedEof));

        let mut pipe = Vec::new();
        let asked = [Command::Read { reading: 1, sheet: 70_000 }, Command::Stop { reading: 1 }];
        asked.iter().for_each(|asked| command(&mut pipe, *asked).expect("written"));
        let mut input = pipe.as_slice();
        assert_eq!([next_command(&mut input), next_command(&mut input)], asked.map(Some));
        assert_eq!(next_command(&mut input), None);
    }

    #[test]
    fn what_is_no_frame_is_refused_before_anything_is_allocated() {
        for bytes in [&[9, 0, 0, 0, 0][..], &[2, 255, 255, 255, 255], b"thread 'main' panicked"] {
            let error = read(&mut { bytes }, &mut Vec::new()).expect_err("no frame");
            assert_eq!(error.kind(), ErrorKind::InvalidData);
        }
        let error = read(&mut &[2, 0, 0, 16, 0, 1][..], &mut Vec::new()).expect_err("cut short");
        assert_eq!(error.kind(), ErrorKind::UnexpectedEof);
    }
}
