//! The form of planned records in the blocks.
//!
//! Blocks have no names of fields, so nothing can be added to a record: what its row says is to be done with it is a way of sending it.
//! New ways are added at the end.

use serde::{Deserialize, Serialize};
use sheetport_findings::{Command, SkipReason};

use super::model::{AcceptedEarlier, Disposition, PlannedRecord, Problem};

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct StoredRecord {
    key: Option<String>,
    target: Option<String>,
    rows: Vec<u64>,
    sheet: String,
    disposition: StoredDisposition,
    #[serde(with = "json")]
    warnings: Vec<Problem>,
}

#[derive(Debug, Serialize, Deserialize)]
enum StoredDisposition {
    Send,
    Rejected(#[serde(with = "json")] Vec<Problem>),
    Skipped(SkipReason),
    AcceptedEarlier(AcceptedEarlier),
    Create,
    Update,
    Merge,
}

impl From<PlannedRecord<()>> for StoredRecord {
    fn from(record: PlannedRecord<()>) -> StoredRecord {
        let PlannedRecord { key, target, rows, sheet, disposition, command, warnings } = record;
        let disposition = match disposition {
            Disposition::Send(()) => match command {
                Some(Command::Create) => StoredDisposition::Create,
                Some(Command::Update) => StoredDisposition::Update,
                Some(Command::Merge) => StoredDisposition::Merge,
                Some(Command::Skip) | None => StoredDisposition::Send,
            },
            Disposition::Rejected(problems) => StoredDisposition::Rejected(problems),
            Disposition::Skipped(reason) => StoredDisposition::Skipped(reason),
            Disposition::AcceptedEarlier(earlier) => StoredDisposition::AcceptedEarlier(earlier),
        };
        StoredRecord { key, target, rows, sheet, disposition, warnings }
    }
}

impl From<StoredRecord> for PlannedRecord<()> {
    fn from(record: StoredRecord) -> PlannedRecord<()> {
        let StoredRecord { key, target, rows, sheet, disposition, warnings } = record;
        let (disposition, command) = match disposition {
            StoredDisposition::Send => (Disposition::Send(()), None),
            StoredDisposition::Create => (Disposition::Send(()), Some(Command::Create)),
            StoredDisposition::Update => (Disposition::Send(()), Some(Command::Update)),
            StoredDisposition::Merge => (Disposition::Send(()), Some(Command::Merge)),
            StoredDisposition::Rejected(problems) => (Disposition::Rejected(problems), None),
            StoredDisposition::Skipped(reason) => (Disposition::Skipped(reason), None),
            StoredDisposition::AcceptedEarlier(earlier) => (Disposition::AcceptedEarlier(earlier), None),
        };
        PlannedRecord { key, target, rows, sheet, disposition, command, warnings }
    }
}

/// Serializes problems as JSON text, because [`super::Problem`] omits empty fields and postcard requires every field. An
/// empty list is an empty text.
mod json {
    use serde::de::Error as _;
    use serde::ser::Error as _;
    use serde::{Deserialize, Deserializer, Serializer};

    use super::Problem;

    pub(super) fn serialize<S: Serializer>(problems: &[Problem], serializer: S) -> Result<S::Ok, S::Error> {
        if problems.is_empty() {
            return serializer.serialize_str("");
        }
        serializer.serialize_str(&serde_json::to_string(problems).map_err(S::Error::custom)?)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Problem>, D::Error> {
        match <&str>::deserialize(deserializer)? {
            "" => Ok(Vec::new()),
            text => serde_json::from_str(text).map_err(D::Error::custom),
        }
    }
}
