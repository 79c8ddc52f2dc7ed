//! The records of a part of an XLSB workbook.

use std::io::{BufReader, Read};

/// Maximum length of a record. Longer records are cut.
const MAX_RECORD: usize = 1 << 20;

/// The records of a part: a type and a length, both of variable size, and a body.
pub(super) struct Records<R> {
    part: BufReader<R>,
    body: Vec<u8>,
}

impl<R: Read> Records<R> {
    pub(super) fn new(part: R) -> Records<R> {
        Records { part: BufReader::new(part), body: Vec::new() }
    }

    pub(super) fn next(&mut self) -> Option<(u16, &[u8])> {
        let kind = match self.byte()? {
            low @ 0..=0x7F => u16::from(low),
            low => u16::from(low & 0x7F) | u16::from(self.byte()? & 0x7F) << 7,
        };
        let mut len = 0;
        for shift in [0, 7, 14, 21] {
            let byte = self.byte()?;
            len |= usize::from(byte & 0x7F) << shift;
            if byte < 0x80 {
                break;
            }
        }
        self.body.clear();
        let taken = (&mut self.part).take(len.min(MAX_RECORD) as u64).read_to_end(&mut self.body).ok()?;
        if taken < len {
            let rest = (len - taken) as u64;
            let skipped = std::io::copy(&mut (&mut self.part).take(rest), &mut std::io::sink()).ok()?;
            return (skipped == rest).then_some((kind, &self.body));
        }
        Some((kind, &self.body))
    }

    fn byte(&mut self) -> Option<u8> {
        let mut byte = [0];
        self.part.read_exact(&mut byte).ok()?;
        Some(byte[0])
    }
}
