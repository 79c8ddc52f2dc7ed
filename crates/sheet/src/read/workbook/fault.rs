//! Why a workbook cannot be read, as sent through the pipe.

use serde::{Deserialize, Serialize};

#[derive(Debug, Deserialize, Serialize)]
pub(super) struct Fault {
    #[serde(default)]
    pub kind: FaultKind,
    pub reason: String,
}

#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq, Serialize)]
pub(super) enum FaultKind {
    #[default]
    Unreadable,
    /// Another kind of file, with its name as the reason.
    NotASpreadsheet,
    /// The encryption is not supported.
    Encrypted,
    /// Another program or the system has ended the reading process, with the signal as the reason.
    Killed,
    PasswordNeeded,
    WrongPassword,
    /// An encrypted file in an archive, with its name as the reason.
    PackedWithPassword,
    /// Changed since it was saved, according to its checksums.
    Changed,
}

impl Fault {
    pub(super) fn new(reason: impl Into<String>) -> Fault {
        Fault { kind: FaultKind::Unreadable, reason: reason.into() }
    }

    /// The fault for a parser's panic or invalid output.
    pub(super) fn malformed() -> Fault {
        Fault::new("the structure of the workbook is invalid")
    }
}
