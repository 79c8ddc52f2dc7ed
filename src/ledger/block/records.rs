//! Blocks of planned records: what is known of each, and apart from that the bodies of their requests, which a report
//! has no need of.

use std::borrow::Cow;
use std::sync::Arc;

use hyper::body::Bytes;
use serde::{Deserialize, Serialize};

use super::{BLOCK_LEN, Fate, Kept, PlannedRecord, Problem, compress, corrupt, decompress};
use crate::ledger::Seq;
use crate::ledger::error::Error;

/// The two blobs of a block.
pub(in crate::ledger) struct Packed {
    pub heads: Vec<u8>,
    pub bodies: Vec<u8>,
}

/// What is sent of a planned record.
#[derive(Debug)]
pub struct Sendable {
    pub seq: Seq,
    pub key: Option<Arc<str>>,
    pub target: Option<String>,
    /// The very bytes of the request's body, which lie in one buffer with those of the block's other records.
    pub body: Bytes,
}

/// What is known of the records of a block, but for their bodies.
#[derive(Debug)]
pub struct RecordHeads {
    /// The place of the first record among the run's, from 0.
    pub first: Seq,
    count: usize,
    body: Vec<u8>,
}

/// A planned record without its body.
#[derive(Debug, Serialize, Deserialize)]
pub struct RecordHead<'a> {
    pub key: Option<&'a str>,
    target: Option<&'a str>,
    pub rows: Cow<'a, [u64]>,
    pub sheet: &'a str,
    pub fate: HeadFate<'a>,
}

/// A [`Fate`] without the body.
#[derive(Debug, Serialize, Deserialize)]
pub enum HeadFate<'a> {
    /// To be sent: the length of the body.
    Send(u64),
    /// [`HeadFate::problems`] tells them.
    Rejected(&'a str),
    Skipped,
    Kept(Cow<'a, Kept>),
}

impl RecordHeads {
    pub(in crate::ledger) fn decode(first: Seq, count: i64, blob: &[u8]) -> Result<RecordHeads, Error> {
        let count = usize::try_from(count).ok().filter(|count| (1..=BLOCK_LEN).contains(count));
        let count = count.ok_or_else(|| corrupt("a block of records that is too long"))?;
        Ok(RecordHeads { first, count, body: decompress(blob)? })
    }

    pub fn len(&self) -> usize {
        self.count
    }

    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The place of the last record among the run's.
    pub fn last(&self) -> Seq {
        self.first + self.count as Seq - 1
    }

    /// The records that are to be sent. `bodies` are those of the block.
    pub(in crate::ledger) fn sendable(&self, bodies: &[u8]) -> Result<Vec<Sendable>, Error> {
        let mut bodies = Bytes::from(decompress(bodies)?);
        let mut sendable = Vec::with_capacity(self.count);
        for (seq, head) in (self.first..).zip(self.records()) {
            let RecordHead { key, target, fate, .. } = head?;
            let HeadFate::Send(len) = fate else { continue };
            let (key, target) = (key.map(Arc::from), target.map(str::to_owned));
            sendable.push(Sendable { seq, key, target, body: take_body(&mut bodies, len)? });
        }
        Ok(sendable)
    }

    /// All records as they were planned. `bodies` are those of the block.
    pub(in crate::ledger) fn planned(&self, bodies: &[u8]) -> Result<Vec<PlannedRecord>, Error> {
        let mut bodies = Bytes::from(decompress(bodies)?);
        let planned = self.records().map(|head| {
            let RecordHead { key, target, rows, sheet, fate } = head?;
            let fate = match fate {
                HeadFate::Send(len) => {
                    let body = take_body(&mut bodies, len)?;
                    Fate::Send(std::str::from_utf8(&body).map_err(corrupt)?.into())
                }
                HeadFate::Rejected(_) => Fate::Rejected(fate.problems()?),
                HeadFate::Skipped => Fate::Skipped,
                HeadFate::Kept(kept) => Fate::Kept(kept.into_owned()),
            };
            let (key, target) = (key.map(str::to_owned), target.map(str::to_owned));
            Ok(PlannedRecord { key, target, rows: rows.into_owned(), fate, sheet: sheet.to_owned() })
        });
        planned.collect()
    }

    /// As many as it says that it has, in their order.
    pub fn records(&self) -> impl Iterator<Item = Result<RecordHead<'_>, Error>> {
        let mut rest = self.body.as_slice();
        (1..=self.count).map(move |nth| {
            let (head, after) = postcard::take_from_bytes(rest).map_err(corrupt)?;
            rest = after;
            if nth == self.count && !rest.is_empty() {
                return Err(corrupt("a block with more records than it says"));
            }
            Ok(head)
        })
    }
}

impl HeadFate<'_> {
    /// What is wrong with a record that is rejected.
    pub fn problems(&self) -> Result<Vec<Problem>, Error> {
        match self {
            HeadFate::Rejected(problems) => serde_json::from_str(problems).map_err(corrupt),
            _ => Ok(Vec::new()),
        }
    }
}

pub(in crate::ledger) fn encode_records(records: &[PlannedRecord]) -> Result<Packed, Error> {
    let (mut heads, mut bodies) = (Vec::new(), Vec::new());
    for PlannedRecord { key, target, rows, fate, sheet } in records {
        let mut problems = String::new();
        let fate = match fate {
            Fate::Send(body) => {
                bodies.extend_from_slice(body.as_bytes());
                HeadFate::Send(body.len() as u64)
            }
            Fate::Rejected(all) => {
                problems.push_str(&serde_json::to_string(all).map_err(corrupt)?);
                HeadFate::Rejected(&problems)
            }
            Fate::Skipped => HeadFate::Skipped,
            Fate::Kept(kept) => HeadFate::Kept(Cow::Borrowed(kept)),
        };
        let head =
            RecordHead { key: key.as_deref(), target: target.as_deref(), rows: Cow::Borrowed(rows), sheet, fate };
        heads = postcard::to_extend(&head, heads).map_err(corrupt)?;
    }
    Ok(Packed { heads: compress(&heads)?, bodies: compress(&bodies)? })
}

/// Takes the first `len` bytes off the bodies that are left.
fn take_body(bodies: &mut Bytes, len: u64) -> Result<Bytes, Error> {
    let len = usize::try_from(len).ok().filter(|len| *len <= bodies.len());
    Ok(bodies.split_to(len.ok_or_else(|| corrupt("a block with fewer bodies than records"))?))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn records() -> Vec<PlannedRecord> {
        let record = |key: Option<&str>, rows: &[u64], fate| PlannedRecord {
            key: key.map(str::to_owned),
            target: Some("t".to_owned()),
            rows: rows.to_vec(),
            fate,
            sheet: "ä".to_owned(),
        };
        let kept = Kept { run: 3, seq: 4, service_id: Some("i-1".to_owned()) };
        let problem =
            Problem { row: Some(3), value: "\u{0}'ä".to_owned(), ..Problem::of_record("code", "is \"wrong\"") };
        vec![
            record(Some("a"), &[2], Fate::Send(r#"{"a":"ä"}"#.into())),
            record(None, &[], Fate::Rejected(vec![problem.clone(), problem])),
            record(None, &[9, 1, 1 << 40], Fate::Skipped),
            record(Some(""), &[4], Fate::Kept(kept)),
            record(Some("b"), &[5], Fate::Send("{}".into())),
        ]
    }

    #[test]
    fn records_come_back_as_they_went_in_with_or_without_their_bodies() {
        let packed = encode_records(&records()).unwrap();
        let heads = RecordHeads::decode(10, 5, &packed.heads).unwrap();
        assert_eq!(format!("{:?}", heads.planned(&packed.bodies).unwrap()), format!("{:?}", records()));
        assert_eq!((heads.len(), heads.last(), heads.records().count()), (5, 14, 5));
        for (head, record) in heads.records().zip(records()) {
            let head = head.unwrap();
            assert_eq!((head.key, &*head.rows, head.sheet), (record.key.as_deref(), &*record.rows, &*record.sheet));
            if let Fate::Rejected(problems) = record.fate {
                assert_eq!(head.fate.problems().unwrap(), problems);
            }
        }
    }

    #[test]
    fn what_is_sent_of_a_block_is_what_was_planned_to_the_byte() {
        let packed = encode_records(&records()).unwrap();
        let heads = RecordHeads::decode(7, 5, &packed.heads).unwrap();
        let sent = heads.sendable(&packed.bodies).unwrap();
        let shown = sent.iter().map(|record| {
            (record.seq, record.key.as_deref(), record.target.as_deref(), std::str::from_utf8(&record.body).unwrap())
        });
        let expected = [(7, Some("a"), Some("t"), r#"{"a":"ä"}"#), (11, Some("b"), Some("t"), "{}")];
        assert!(shown.eq(expected));
        assert!(heads.sendable(&compress(b"{}").unwrap()).is_err());
    }

    #[test]
    fn damaged_blocks_are_told() {
        let Packed { heads, bodies } = encode_records(&records()).unwrap();
        let few = compress(b"{}").unwrap();
        for (heads, bodies) in
            [(&heads[..heads.len() - 1], &bodies[..]), (&heads[..], &few[..]), (&heads[..], &b"x"[..]), (&few, &bodies)]
        {
            assert!(RecordHeads::decode(0, 5, heads).and_then(|heads| heads.planned(bodies)).is_err());
        }
        assert!(RecordHeads::decode(0, 1, &few).unwrap().records().any(|head| head.is_err()));
        let more = RecordHeads::decode(0, 6, &encode_records(&records()).unwrap().heads).unwrap();
        assert!(more.records().last().unwrap().is_err());
        let fewer = RecordHeads::decode(0, 4, &encode_records(&records()).unwrap().heads).unwrap();
        assert!(fewer.records().last().unwrap().is_err());
        assert!(RecordHeads::decode(0, 0, &few).is_err() && RecordHeads::decode(0, 513, &few).is_err());
    }
}
