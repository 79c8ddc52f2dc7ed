//! Blocks: many rows or records as one compressed blob, which makes a plan of a million rows a few thousand inserts.

use std::borrow::Cow;
use std::sync::Arc;

use hyper::body::Bytes;
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::error::Error;

/// How many rows or records share a block, unless they have this many bytes before.
pub(super) const BLOCK_LEN: usize = 512;
pub(super) const BLOCK_BYTES: usize = 8 * 1024 * 1024;

/// More than any block can be: a guard against a damaged length.
const MAX_BODY: usize = 1 << 30;

/// A row of the sheet. Its cells are kept as the caller encoded them.
#[derive(Debug, Serialize, Deserialize)]
pub struct SourceRow {
    /// As the spreadsheet program counts, from 1.
    pub number: u64,
    /// The record that the row became part of.
    pub seq: super::Seq,
    pub cells: Cells,
    /// Its sheet's name, where the run reads several.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub sheet: String,
    #[serde(default, skip_serializing_if = "Origin::is_same")]
    pub origin: Origin,
}

/// Which row of the run that is tried again a row was. It says nothing in a run that tries none again.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// The row of the same number, of the same sheet. Runs of old ledgers know no other.
    #[default]
    Same,
    Row {
        number: u64,
        #[serde(default, skip_serializing_if = "String::is_empty")]
        sheet: String,
    },
    /// None: somebody added it.
    New,
}

impl Origin {
    fn is_same(&self) -> bool {
        *self == Origin::Same
    }
}

/// A JSON array of cells, to the letter.
pub type Cells = Box<RawValue>;

/// A record and what was decided about it before anything was sent.
#[derive(Debug, Serialize, Deserialize)]
pub struct PlannedRecord {
    /// What identifies the record in the service; nothing for rows that are skipped or have none.
    pub key: Option<String>,
    /// What the call's path names, for calls whose path names the record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// The numbers of the rows that made it.
    pub rows: Vec<u64>,
    pub fate: Fate,
    /// The sheet of the first of its rows, where the run reads several.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub sheet: String,
}

impl PlannedRecord {
    /// The bytes of its longest texts.
    pub(super) fn text_len(&self) -> usize {
        match &self.fate {
            Fate::Send(body) => body.get().len(),
            Fate::Rejected(problems) => problems.iter().map(|problem| problem.value.len()).sum(),
            Fate::Skipped | Fate::Kept(_) => 0,
        }
    }
}

/// What is sent of a planned record.
#[derive(Debug)]
pub struct Sendable {
    pub seq: super::Seq,
    pub key: Option<Arc<str>>,
    pub target: Option<String>,
    /// The very bytes of the request's body, of the block's text.
    pub body: Bytes,
}

/// A [`PlannedRecord`] as its block has it, as far as the sending needs it.
#[derive(Deserialize)]
struct Planned<'b> {
    #[serde(borrow)]
    key: Option<Text<'b>>,
    #[serde(borrow, default)]
    target: Option<Text<'b>>,
    #[serde(borrow)]
    fate: PlannedFate<'b>,
}

#[derive(Deserialize)]
struct Text<'b>(#[serde(borrow)] Cow<'b, str>);

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum PlannedFate<'b> {
    #[serde(borrow)]
    Send(&'b RawValue),
    Rejected(IgnoredAny),
    Skipped,
    Kept(IgnoredAny),
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Fate {
    /// To be sent: the very bytes of the request's body.
    Send(Box<RawValue>),
    Rejected(Vec<Problem>),
    Skipped,
    /// Never to be sent: the service accepted it in an earlier run. It counts as unchanged.
    Kept(Kept),
}

/// Where a record was accepted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kept {
    pub run: super::RunId,
    pub seq: super::Seq,
    /// What the service calls it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service_id: Option<String>,
}

/// Something wrong with a record, in words that reports show as they are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Problem {
    /// A short name of the cause; `service` for what the service said.
    pub code: String,
    /// The row that it is about, as the spreadsheet program counts; nothing when it is about the record as a whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub row: Option<u64>,
    /// From 0; nothing when the cause is not one cell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<usize>,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub header: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub field: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub value: String,
    /// The sheet of the cell, where the run reads several.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub sheet: String,
    pub message: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub remedy: String,
}

impl Problem {
    /// About a record as a whole.
    pub fn of_record(code: &str, message: impl Into<String>) -> Problem {
        Problem {
            code: code.to_owned(),
            row: None,
            column: None,
            header: String::new(),
            field: String::new(),
            value: String::new(),
            sheet: String::new(),
            message: message.into(),
            remedy: String::new(),
        }
    }
}

pub(super) fn encode<T: Serialize>(entries: &[T]) -> Result<Vec<u8>, Error> {
    let json = serde_json::to_vec(entries).map_err(|error| Error::Corrupt(error.to_string()))?;
    // Level 1: the disk is the slower side, and blocks of like rows shrink to a tenth all the same.
    zstd::bulk::compress(&json, 1).map_err(|error| Error::Corrupt(error.to_string()))
}

pub(super) fn decode<T: for<'de> Deserialize<'de>>(body: &[u8]) -> Result<Vec<T>, Error> {
    serde_json::from_slice(&inflate(body)?).map_err(|error| Error::Corrupt(error.to_string()))
}

/// The records of a block that are to be sent, and how many records it has in all. Its first is `first`.
pub(super) fn sendable(first: super::Seq, body: &[u8]) -> Result<(Vec<Sendable>, usize), Error> {
    let text = Bytes::from(inflate(body)?);
    let planned: Vec<Planned<'_>> = serde_json::from_slice(&text).map_err(|error| Error::Corrupt(error.to_string()))?;
    let len = planned.len();
    let sendable = (first..).zip(planned).filter_map(|(seq, planned)| match planned.fate {
        PlannedFate::Send(body) => Some(Sendable {
            seq,
            key: planned.key.map(|key| key.0.into()),
            target: planned.target.map(|target| target.0.into_owned()),
            body: text.slice_ref(body.get().as_bytes()),
        }),
        PlannedFate::Rejected(_) | PlannedFate::Skipped | PlannedFate::Kept(_) => None,
    });
    Ok((sendable.collect(), len))
}

fn inflate(body: &[u8]) -> Result<Vec<u8>, Error> {
    let json = zstd::stream::decode_all(std::io::Read::take(body, MAX_BODY as u64));
    json.map_err(|error| Error::Corrupt(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_sent_of_a_block_is_what_was_planned_to_the_byte() {
        let record = |key: Option<&str>, target: Option<&str>, fate: Fate| PlannedRecord {
            key: key.map(str::to_owned),
            target: target.map(str::to_owned),
            rows: vec![2],
            fate,
            sheet: String::new(),
        };
        let raw = |body: &str| RawValue::from_string(body.to_owned()).expect("JSON");
        let body = r#"{"externalId":"4\"2","price":1.50, "name":"Ä\n"}"#;
        let records = [
            record(Some("skipped"), None, Fate::Skipped),
            record(Some("4\"2"), Some("a/b"), Fate::Send(raw(body))),
            record(None, None, Fate::Rejected(vec![Problem::of_record("x", "wrong")])),
            record(None, None, Fate::Send(raw("{}"))),
            record(Some("kept"), None, Fate::Kept(Kept { run: 1, seq: 2, service_id: None })),
        ];
        let (sent, len) = sendable(7, &encode(&records).expect("a block")).expect("records");
        let shown =
            sent.iter().map(|record| (record.seq, record.key.as_deref(), record.target.as_deref(), &*record.body));
        assert_eq!(
            shown.collect::<Vec<_>>(),
            [(8, Some("4\"2"), Some("a/b"), body.as_bytes()), (10, None, None, b"{}".as_slice())]
        );
        assert_eq!(len, 5);
    }
}
