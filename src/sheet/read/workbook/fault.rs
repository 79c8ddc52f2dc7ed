//! Why a workbook cannot be read, as sent through the pipe.

use serde::{Deserialize, Serialize};

#[derive(Debug, Deserialize, Serialize)]
pub(super) struct Fault {
    #[serde(default)]
    pub encrypted: bool,
    pub reason: String,
}

impl Fault {
    pub(super) fn new(reason: impl Into<String>) -> Fault {
        Fault { encrypted: false, reason: reason.into() }
    }

    /// The fault for a parser's panic or invalid output.
    pub(super) fn malformed() -> Fault {
        Fault::new("the structure of the workbook is invalid")
    }
}
