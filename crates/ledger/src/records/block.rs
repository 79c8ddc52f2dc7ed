//! Blocks: 512 rows or records per blob, to plan a million rows with a few thousand inserts instead of two million.
//!
//! Serialized with postcard and compressed with zstd. Request bodies are stored in a separate blob, because reports do not read bodies. Cells
//! are encoded by `sheet` and are opaque here.

use serde::Serialize;
use serde::de::DeserializeOwned;
use sheetport_sql::{self as sql, Query, Row};
use std::borrow::Cow;

use super::super::checksums::Checksum;
use super::super::database::Ledger;
use super::super::error::{Error, corrupt, damaged};
use super::super::ids::{RunId, Seq};
use super::super::state::RecordState;
use super::model::{Disposition, PlannedRecord, Problem, SourceRow};
use super::stored::StoredRecord;

/// Maximum number of rows or records per block.
pub const BLOCK_LEN: usize = 512;
/// Blocks with warnings loaded together.
const WARNED_BLOCKS: u32 = 8;
/// Blocks end early above this number of bytes.
pub(crate) const BLOCK_BYTES: usize = 8 * 1024 * 1024;

/// Selects the columns that [`checked_counts`] needs to verify a block.
const SELECT: &str = "SELECT first, records, skipped, rejected, unchanged, warned, heads, checksum FROM record_block";
const SELECT_WITH_BODIES: &str = "SELECT first, records, skipped, rejected, unchanged, warned, heads, checksum, bodies, \
                                  bodies_checksum FROM record_block";

/// Returns the query for [`block_of`].
pub(crate) fn selecting_block(run: RunId, seq: Seq) -> Query<Row> {
    let query = format!("{SELECT_WITH_BODIES} WHERE run = $1 AND first <= $2 ORDER BY first DESC LIMIT 1");
    sql::query(query).bind(run).bind(seq)
}

/// Returns the block in a row of [`selecting_block`] if it has the record.
pub(crate) fn block_of(run: RunId, seq: Seq, row: Option<&Row>) -> Result<Option<RecordBlock>, Error> {
    let block = row.map(|row| with_bodies(run, row)).transpose()?;
    Ok(block.filter(|block| seq < block.end()))
}

/// Consecutive planned records, at the positions `first`, `first + 1`, and so on.
#[derive(Debug)]
pub struct RecordBlock<B = Box<str>> {
    pub first: Seq,
    pub records: Vec<PlannedRecord<B>>,
}

/// Consecutive rows of the sheet.
#[derive(Debug)]
pub struct SourceBlock {
    /// The position of the first row among the rows of the run, from 0.
    pub first: i64,
    pub rows: Vec<SourceRow>,
}

/// The two blobs of a block of records.
#[derive(Debug)]
pub(crate) struct EncodedRecords {
    pub heads: Vec<u8>,
    pub bodies: Vec<u8>,
}

impl<B> RecordBlock<B> {
    /// Returns the position after the last record.
    pub fn end(&self) -> Seq {
        self.first + self.records.len() as Seq
    }

    /// Iterates over the records with positions.
    pub fn numbered(&self) -> impl Iterator<Item = (Seq, &PlannedRecord<B>)> {
        (self.first..).zip(&self.records)
    }
}

impl SourceBlock {
    /// Returns the position after the last row.
    pub fn end(&self) -> i64 {
        self.first + self.rows.len() as i64
    }

    /// Estimates the memory used by the rows.
    pub fn bytes(&self) -> usize {
        self.rows.iter().map(|row| size_of::<SourceRow>() + row.cells.len() + row.sheet.len()).sum()
    }
}

impl Ledger {
    /// Returns the first block of records starting at `from` or later, or `None` after the last block.
    pub async fn record_block(&self, run: RunId, from: Seq) -> Result<Option<RecordBlock>, Error> {
        let row = self.record_row(run, from).await?;
        row.map(|row| with_bodies(run, &row)).transpose()
    }

    /// Returns the counts of the first block of records starting at `from` or later. Nothing is decompressed, but the
    /// checksums are compared.
    pub(crate) async fn record_counts(&self, run: RunId, from: Seq) -> Result<Option<RecordCounts>, Error> {
        let Some(row) = self.record_row(run, from).await? else { return Ok(None) };
        let counts = checked_counts(run, &row)?;
        checked_bodies(run, &row)?;
        Ok(Some(counts))
    }

    async fn record_row(&self, run: RunId, from: Seq) -> Result<Option<Row>, Error> {
        let query = format!("{SELECT_WITH_BODIES} WHERE run = $1 AND first >= $2 ORDER BY first LIMIT 1");
        Ok(sql::query(query).bind(run).bind(from).fetch_optional(&self.reader).await?)
    }

    /// Returns the block with the record `seq`, if any.
    pub async fn record_block_of(&self, run: RunId, seq: Seq) -> Result<Option<RecordBlock>, Error> {
        block_of(run, seq, selecting_block(run, seq).fetch_optional(&self.reader).await?.as_ref())
    }

    /// Returns the block with the record `seq` and the following blocks, at most `limit` in total, joined into a single
    /// block without request bodies.
    pub async fn records_without_bodies(
        &self,
        run: RunId,
        seq: Seq,
        limit: u32,
    ) -> Result<Option<RecordBlock<()>>, Error> {
        let query = format!(
            "{SELECT} WHERE run = $1 AND first >= \
             (SELECT MAX(first) FROM record_block WHERE run = $1 AND first <= $2) ORDER BY first LIMIT $3"
        );
        let query = sql::query(query).bind(run).bind(seq).bind(i64::from(limit));
        let mut joined: Option<RecordBlock<()>> = None;
        for row in query.fetch_all(&self.reader).await? {
            let block = without_bodies(run, &row)?;
            match &mut joined {
                Some(joined) => joined.records.extend(block.records),
                None => joined = Some(block),
            }
        }
        Ok(joined)
    }

    /// Returns the first `limit` records that will be sent despite a warning, with their positions.
    pub async fn warned(&self, run: RunId, limit: usize) -> Result<Vec<(Seq, PlannedRecord<()>)>, Error> {
        let query =
            format!("{SELECT} WHERE run = $1 AND warned > 0 AND first >= $2 ORDER BY first LIMIT {WARNED_BLOCKS}");
        let (mut found, mut from) = (Vec::new(), 0);
        while found.len() < limit {
            let rows = sql::query(query.clone()).bind(run).bind(from).fetch_all(&self.reader).await?;
            for row in &rows {
                let block = without_bodies(run, row)?;
                from = block.end();
                let RecordBlock { first, records } = block;
                found.extend((first..).zip(records).filter(|(_, record)| record.is_warned()));
            }
            if rows.is_empty() {
                break;
            }
        }
        found.truncate(limit);
        Ok(found)
    }

    /// Returns the first block of rows starting at `from` or later, or `None` after the last block.
    pub async fn source_block(&self, run: RunId, from: i64) -> Result<Option<SourceBlock>, Error> {
        Ok(self.source_blocks(run, from, 1).await?.pop())
    }

    /// Returns up to `limit` blocks of rows, starting at `from` or later.
    pub async fn source_blocks(&self, run: RunId, from: i64, limit: u32) -> Result<Vec<SourceBlock>, Error> {
        let query = "SELECT first, rows, sheet_rows, body, checksum FROM source_block WHERE run = $1 AND first >= $2 \
                     ORDER BY first LIMIT $3";
        let query = sql::query(query).bind(run).bind(from).bind(i64::from(limit));
        let rows = query.fetch_all(&self.reader).await?;
        let block = |row: &Row| {
            let (first, count, body) = (row.try_get(0)?, row.try_get(1)?, row.bytes(3)?);
            if source_checksum(run, first, count, row.try_get(2)?, &body) != row.try_get::<i64, _>(4)? {
                return Err(damaged(run, format_args!("the rows from {first} on were altered")));
            }
            Ok(SourceBlock { first, rows: decode(&body, count)? })
        };
        rows.iter().map(block).collect()
    }
}

/// The number of bytes counted towards the size of a block.
pub(crate) fn record_bytes(record: &PlannedRecord) -> usize {
    let len = |problems: &[Problem]| problems.iter().map(|problem| problem.value.len()).sum::<usize>();
    let decided = match &record.disposition {
        Disposition::Send(body) => body.len(),
        Disposition::Rejected(problems) => len(problems),
        Disposition::Skipped(_) | Disposition::AcceptedEarlier(_) => 0,
    };
    decided + len(&record.warnings)
}

pub(crate) fn encode_records(records: Vec<PlannedRecord>) -> Result<EncodedRecords, Error> {
    let (heads, bodies): (Vec<PlannedRecord<()>>, Vec<_>) = records.into_iter().map(PlannedRecord::split_body).unzip();
    let heads: Vec<StoredRecord> = heads.into_iter().map(StoredRecord::from).collect();
    Ok(EncodedRecords { heads: encode(&heads)?, bodies: encode_bodies(bodies.into_iter().flatten().collect())? })
}

/// Encodes the request bodies of a block.
pub(crate) fn encode_bodies(bodies: Vec<Box<str>>) -> Result<Vec<u8>, Error> {
    encode(&bodies)
}

fn decode_heads(heads: &[u8], count: i64) -> Result<Vec<PlannedRecord<()>>, Error> {
    Ok(decode::<StoredRecord>(heads, count)?.into_iter().map(PlannedRecord::from).collect())
}

fn decode_records(heads: Vec<PlannedRecord<()>>, bodies: &[u8]) -> Result<Vec<PlannedRecord>, Error> {
    let is_sent = |head: &&PlannedRecord<()>| matches!(head.disposition, Disposition::Send(()));
    let count = heads.iter().filter(is_sent).count();
    let mut bodies = decode(bodies, count as i64)?.into_iter();
    let with_body = |head: PlannedRecord<()>| head.with_body(&mut bodies).expect("there are as many bodies as counted");
    Ok(heads.into_iter().map(with_body).collect())
}

fn with_bodies(run: RunId, row: &Row) -> Result<RecordBlock, Error> {
    let RecordBlock { first, records } = without_bodies(run, row)?;
    Ok(RecordBlock { first, records: decode_records(records, &checked_bodies(run, row)?)? })
}

fn without_bodies(run: RunId, row: &Row) -> Result<RecordBlock<()>, Error> {
    let RecordCounts { first, records, .. } = checked_counts(run, row)?;
    Ok(RecordBlock { first, records: decode_heads(&row.bytes("heads")?, records)? })
}

/// The columns of a block of records with counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct RecordCounts {
    pub first: Seq,
    pub records: i64,
    pub skipped: i64,
    pub rejected: i64,
    pub unchanged: i64,
    pub warned: i64,
}

impl RecordCounts {
    /// Counts the records of the block that begins at `first`.
    pub(crate) fn of(first: Seq, records: &[PlannedRecord]) -> RecordCounts {
        let count_in = |state| records.iter().filter(|record| record.disposition.state() == state).count() as i64;
        RecordCounts {
            first,
            records: records.len() as i64,
            skipped: count_in(RecordState::Skipped),
            rejected: count_in(RecordState::Rejected),
            unchanged: count_in(RecordState::Unchanged),
            warned: records.iter().filter(|record| record.is_warned()).count() as i64,
        }
    }

    /// Returns the checksum of the block, not including the bodies.
    pub(crate) fn checksum(&self, run: RunId, heads: &[u8]) -> i64 {
        let RecordCounts { first, records, skipped, rejected, unchanged, warned } = *self;
        let numbers = [run, first, records, skipped, rejected, unchanged, warned];
        numbers.into_iter().fold(Checksum::of("record_block"), Checksum::number).bytes(heads).long()
    }

    /// Returns the first record after the block.
    pub(crate) fn end(&self) -> Seq {
        self.first.saturating_add(self.records)
    }
}

pub(crate) fn bodies_checksum(run: RunId, first: Seq, bodies: &[u8]) -> i64 {
    Checksum::of("bodies").number(run).number(first).bytes(bodies).long()
}

pub(crate) fn source_checksum(run: RunId, first: i64, rows: i64, sheet_rows: i64, body: &[u8]) -> i64 {
    let numbers = [run, first, rows, sheet_rows];
    numbers.into_iter().fold(Checksum::of("source_block"), Checksum::number).bytes(body).long()
}

/// Returns the counts of a block.
///
/// # Errors
/// [`Error::Damaged`] if the checksum does not match.
fn checked_counts(run: RunId, row: &Row) -> Result<RecordCounts, Error> {
    let counts = RecordCounts {
        first: row.try_get("first")?,
        records: row.try_get("records")?,
        skipped: row.try_get("skipped")?,
        rejected: row.try_get("rejected")?,
        unchanged: row.try_get("unchanged")?,
        warned: row.try_get("warned")?,
    };
    match counts.checksum(run, &row.bytes("heads")?) == row.try_get::<i64, _>("checksum")? {
        true => Ok(counts),
        false => Err(damaged(run, format_args!("the records from {} on were altered", counts.first))),
    }
}

/// Returns the compressed request bodies of a block after verifying their checksum.
fn checked_bodies(run: RunId, row: &Row) -> Result<Cow<'_, [u8]>, Error> {
    let (first, bodies) = (row.try_get("first")?, row.bytes("bodies")?);
    match bodies_checksum(run, first, &bodies) == row.try_get::<i64, _>("bodies_checksum")? {
        true => Ok(bodies),
        false => Err(damaged(run, format_args!("the request bodies of the records from {first} on were altered"))),
    }
}

pub(crate) fn encode<T: Serialize + ?Sized>(entries: &T) -> Result<Vec<u8>, Error> {
    let bytes = postcard::to_allocvec(entries).map_err(corrupt)?;
    // Level 1: higher levels cost more time than the disk saves, and similar rows shrink to a tenth anyway.
    zstd::bulk::compress(&bytes, 1).map_err(corrupt)
}

/// Decodes a blob with `count` entries.
///
/// # Errors
/// [`Error::Corrupt`] if the blob is damaged or has another number of entries.
pub(super) fn decode<T: DeserializeOwned>(blob: &[u8], count: i64) -> Result<Vec<T>, Error> {
    let bytes = zstd::stream::decode_all(blob).map_err(corrupt)?;
    let (entries, rest) = postcard::take_from_bytes::<Vec<T>>(&bytes).map_err(corrupt)?;
    if entries.len() as i64 != count || !rest.is_empty() {
        return Err(corrupt(format_args!("a block of {count} entries holds {}", entries.len())));
    }
    Ok(entries)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use sheetport_findings::{Code, Command, SkipReason};

    use super::*;
    use crate::records::model::{AcceptedEarlier, Origin};

    fn records() -> Vec<PlannedRecord> {
        let record = |key: Option<&str>, rows: &[u64], disposition| PlannedRecord {
            key: key.map(str::to_owned),
            target: Some("t".to_owned()),
            rows: rows.to_vec(),
            sheet: "ä".to_owned(),
            disposition,
            command: None,
            warnings: Vec::new(),
        };
        let earlier = AcceptedEarlier { run: 3, seq: 4, service_id: Some("i-1".to_owned()) };
        let problem =
            Problem { row: Some(3), value: "\u{0}'ä".to_owned(), ..Problem::of_record(Code::Blank, "is \"wrong\"") };
        vec![
            record(Some("a"), &[2], Disposition::Send(r#"{"a":"ä"}"#.into())),
            record(None, &[], Disposition::Rejected(vec![problem.clone(), problem])),
            record(None, &[9, 1, 1 << 40], Disposition::Skipped(SkipReason::NotChosen)),
            record(Some(""), &[4], Disposition::AcceptedEarlier(earlier)),
            PlannedRecord {
                warnings: vec![Problem::of_record(Code::Rule, "is 'odd'")],
                command: Some(Command::Update),
                ..record(Some("b"), &[5], Disposition::Send("{}".into()))
            },
        ]
    }

    #[test]
    fn records_survive_encoding_with_and_without_bodies() {
        let EncodedRecords { heads, bodies } = encode_records(records()).unwrap();
        let without_bodies = decode_heads(&heads, 5).unwrap();
        for (head, record) in without_bodies.iter().zip(records()) {
            assert_eq!((&head.key, &head.rows, &head.sheet), (&record.key, &record.rows, &record.sheet));
            assert_eq!(head.command, record.command);
            assert_eq!(head.disposition.state(), record.disposition.state());
            if let (Disposition::Rejected(decoded), Disposition::Rejected(problems)) =
                (&head.disposition, &record.disposition)
            {
                assert_eq!(decoded, problems);
            }
        }
        assert_eq!(decode_records(without_bodies, &bodies).unwrap(), records());
    }

    #[test]
    fn rows_survive_encoding() {
        let row = |number, cells: &[u8], sheet: &str, origin| SourceRow {
            cell: None,
            number,
            seq: number as Seq - 2,
            cells: cells.to_vec(),
            sheet: sheet.to_owned(),
            origin,
        };
        let rows = vec![
            row(2, b"", "", Origin::Same),
            row(1 << 40, b"\x00\xFFcells", "Säle", Origin::Row { number: 7, sheet: "a".to_owned() }),
            row(9, &[7; 300], "b", Origin::New),
        ];
        let blob = encode(&rows).unwrap();
        assert_eq!(decode::<SourceRow>(&blob, 3).unwrap(), rows);
        let block = SourceBlock { first: 5, rows };
        assert_eq!(block.end(), 8);
    }

    #[test]
    fn damaged_blocks_are_refused() {
        let EncodedRecords { heads, bodies } = encode_records(records()).unwrap();
        let read = |heads: &[u8], count, bodies: &[u8]| {
            decode_heads(heads, count).and_then(|heads| decode_records(heads, bodies))
        };
        assert!(read(&heads, 5, &bodies).is_ok());
        let too_few = encode(&["{}"]).unwrap();
        let too_many = encode(&["{}"; 3]).unwrap();
        for (heads, count, bodies) in [
            (&heads[..heads.len() - 1], 5, &bodies[..]),
            (b"no frame", 5, &bodies),
            (&heads, 4, &bodies),
            (&heads, 6, &bodies),
            (&heads, 0, &bodies),
            (&heads, 5, &too_few),
            (&heads, 5, &too_many),
            (&heads, 5, &bodies[..bodies.len() - 1]),
            (&too_few, 5, &bodies),
        ] {
            assert!(matches!(read(heads, count, bodies), Err(Error::Corrupt(_))));
        }
        let cut = &zstd::stream::decode_all(&heads[..]).unwrap()[..5];
        assert!(read(&zstd::bulk::compress(cut, 1).unwrap(), 5, &bodies).is_err());
    }
}
