//! Blocks: many rows or records as one compressed blob, which makes a plan of a million rows a few thousand inserts.

mod records;
mod rows;

use std::borrow::Cow;
use std::cell::RefCell;

use serde::{Deserialize, Serialize};
use zstd::bulk::Decompressor;

use super::error::Error;

pub(super) use records::encode_records;
pub use records::{HeadFate, RecordHead, RecordHeads, Sendable};
pub use rows::SourceBlock;
pub(super) use rows::encode_rows;

/// How many rows or records share a block, unless they have this many bytes before.
pub const BLOCK_LEN: usize = 512;
pub(super) const BLOCK_BYTES: usize = 8 * 1024 * 1024;

/// More than any block can be: a guard against a damaged length.
const MAX_BODY: u64 = 1 << 30;

/// A row of the sheet. Its cells are kept as the caller encoded them.
#[derive(Clone, Debug)]
pub struct SourceRow<'a> {
    /// As the spreadsheet program counts, from 1.
    pub number: u64,
    /// The record that the row became part of.
    pub seq: super::Seq,
    pub cells: Cow<'a, [u8]>,
    /// Its sheet's name, where the run reads several.
    pub sheet: Cow<'a, str>,
    pub origin: Origin,
}

/// Which row of the run that is tried again a row was. It says nothing in a run that tries none again.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Origin {
    /// The row of the same number, of the same sheet.
    #[default]
    Same,
    Row {
        number: u64,
        sheet: String,
    },
    /// None: somebody added it.
    New,
}

/// A record and what was decided about it before anything was sent.
#[derive(Debug)]
pub struct PlannedRecord {
    /// What identifies the record in the service; nothing for rows that are skipped or have none.
    pub key: Option<String>,
    /// What the call's path names, for calls whose path names the record.
    pub target: Option<String>,
    /// The numbers of the rows that made it.
    pub rows: Vec<u64>,
    pub fate: Fate,
    /// The sheet of the first of its rows, where the run reads several.
    pub sheet: String,
}

impl PlannedRecord {
    /// The bytes of its longest texts.
    pub(super) fn text_len(&self) -> usize {
        match &self.fate {
            Fate::Send(body) => body.len(),
            Fate::Rejected(problems) => problems.iter().map(|problem| problem.value.len()).sum(),
            Fate::Skipped | Fate::Kept(_) => 0,
        }
    }
}

#[derive(Debug)]
pub enum Fate {
    /// To be sent: the very bytes of the request's body.
    Send(Box<str>),
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

/// Entries of any kind as one blob.
fn compress(bytes: &[u8]) -> Result<Vec<u8>, Error> {
    // Level 1: the disk is the slower side, and blocks of like rows shrink to a tenth all the same.
    zstd::bulk::compress(bytes, 1).map_err(corrupt)
}

thread_local! {
    /// Making one costs more than most blocks do.
    static DECOMPRESSOR: RefCell<Option<Decompressor<'static>>> = const { RefCell::new(None) };
}

fn decompress(blob: &[u8]) -> Result<Vec<u8>, Error> {
    let len = match zstd::zstd_safe::get_frame_content_size(blob) {
        Ok(Some(len)) if len <= MAX_BODY => usize::try_from(len).map_err(corrupt)?,
        _ => return Err(Error::Corrupt("a block that does not say how long it is".to_owned())),
    };
    DECOMPRESSOR.with_borrow_mut(|kept| {
        let decompressor = match kept {
            Some(decompressor) => decompressor,
            None => kept.insert(Decompressor::new().map_err(corrupt)?),
        };
        decompressor.decompress(blob, len).map_err(corrupt)
    })
}

fn corrupt(error: impl std::fmt::Display) -> Error {
    Error::Corrupt(error.to_string())
}
