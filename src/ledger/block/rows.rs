//! Blocks of the sheet's rows.

use std::borrow::Cow;
use std::ops::Range;

use serde::{Deserialize, Serialize, Serializer};

use super::{Origin, SourceRow, compress, corrupt, decompress};
use crate::ledger::Seq;
use crate::ledger::error::Error;

/// Rows that were read together. Their cells lie in one buffer.
#[derive(Debug)]
pub struct SourceBlock {
    /// The place of the first row among the run's, from 0.
    pub first: i64,
    body: Vec<u8>,
    rows: Vec<RowAt>,
}

#[derive(Debug)]
struct RowAt {
    number: u64,
    seq: Seq,
    cells: Range<usize>,
    sheet: Box<str>,
    origin: Origin,
}

/// A row as the block has it.
#[derive(Serialize, Deserialize)]
struct Frame<'a> {
    number: u64,
    seq: Seq,
    #[serde(borrow)]
    cells: Bytes<'a>,
    sheet: &'a str,
    origin: Cow<'a, Origin>,
}

#[derive(Deserialize)]
struct Bytes<'a>(&'a [u8]);

impl Serialize for Bytes<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(self.0)
    }
}

impl SourceBlock {
    pub(in crate::ledger) fn decode(first: i64, count: i64, blob: &[u8]) -> Result<SourceBlock, Error> {
        let body = decompress(blob)?;
        let mut rows = Vec::with_capacity(usize::try_from(count).unwrap_or_default().min(super::BLOCK_LEN));
        let mut rest = body.as_slice();
        while !rest.is_empty() {
            let (frame, after) = postcard::take_from_bytes::<Frame<'_>>(rest).map_err(corrupt)?;
            // What a frame borrows lies within what it was taken from.
            let start = frame.cells.0.as_ptr().addr().wrapping_sub(body.as_ptr().addr());
            let cells = start..start.saturating_add(frame.cells.0.len());
            rows.push(RowAt {
                number: frame.number,
                seq: frame.seq,
                cells: if body.get(cells.clone()).is_some() { cells } else { 0..0 },
                sheet: frame.sheet.into(),
                origin: frame.origin.into_owned(),
            });
            rest = after;
        }
        Ok(SourceBlock { first, body, rows })
    }

    pub fn len(&self) -> usize {
        self.rows.len()
    }

    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The bytes of the rows as they are in memory.
    pub fn bytes(&self) -> usize {
        self.body.len() + self.rows.len() * size_of::<RowAt>()
    }

    /// The place of the row after the last one.
    pub fn end(&self) -> i64 {
        self.first + self.rows.len() as i64
    }

    /// The records that the rows became part of, in the rows' order.
    pub fn seqs(&self) -> impl Iterator<Item = Seq> {
        self.rows.iter().map(|row| row.seq)
    }

    pub fn rows(&self) -> impl ExactSizeIterator<Item = SourceRow<'_>> {
        self.rows.iter().map(|row| SourceRow {
            number: row.number,
            seq: row.seq,
            cells: Cow::Borrowed(&self.body[row.cells.clone()]),
            sheet: Cow::Borrowed(&row.sheet),
            origin: row.origin.clone(),
        })
    }
}

pub(in crate::ledger) fn encode_rows(rows: &[SourceRow<'_>]) -> Result<Vec<u8>, Error> {
    let mut body = Vec::new();
    for row in rows {
        let frame = Frame {
            number: row.number,
            seq: row.seq,
            cells: Bytes(&row.cells),
            sheet: &row.sheet,
            origin: Cow::Borrowed(&row.origin),
        };
        body = postcard::to_extend(&frame, body).map_err(corrupt)?;
    }
    compress(&body)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn rows_come_back_as_they_went_in() {
        let row = |number, cells: &'static [u8], sheet: &'static str, origin| SourceRow {
            number,
            seq: number as Seq - 2,
            cells: cells.into(),
            sheet: sheet.into(),
            origin,
        };
        let rows = [
            row(2, b"", "", Origin::Same),
            row(1 << 40, b"\x00\xFFcells", "Säle", Origin::Row { number: 7, sheet: "a".to_owned() }),
            row(9, &[7; 300], "b", Origin::New),
        ];
        let blob = encode_rows(&rows).unwrap();
        let block = SourceBlock::decode(5, 3, &blob).unwrap();
        assert_eq!((block.first, block.end(), block.len()), (5, 8, 3));
        assert!(block.seqs().eq(rows.iter().map(|row| row.seq)));
        for (back, row) in block.rows().zip(&rows) {
            assert_eq!(format!("{back:?}"), format!("{row:?}"));
        }
    }

    #[test]
    fn damaged_blocks_are_told() {
        let blob = encode_rows(&[SourceRow {
            number: 2,
            seq: 0,
            cells: b"cells".as_slice().into(),
            sheet: "".into(),
            origin: Origin::Same,
        }])
        .unwrap();
        assert!(SourceBlock::decode(0, 1, &blob[..blob.len() - 1]).is_err());
        assert!(SourceBlock::decode(0, 1, b"no frame").is_err());
        let cut = zstd::bulk::compress(&zstd::bulk::decompress(&blob, 100).unwrap()[..5], 1).unwrap();
        assert!(SourceBlock::decode(0, 1, &cut).is_err());
    }
}
