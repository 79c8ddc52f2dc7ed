//! Which records of a file are sent: all, or only those that the service lacks, or has.

use serde::{Deserialize, Serialize};

use super::code::Code;

/// A choice among the records of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Only {
    /// Records that the service does not have yet.
    New,
    /// Records that the service has.
    Known,
}

impl Only {
    pub const ALL: [Only; 2] = [Only::New, Only::Known];

    /// Returns the name, as in flags, templates and the ledger.
    pub fn name(self) -> &'static str {
        match self {
            Only::New => "new",
            Only::Known => "known",
        }
    }

    pub fn named(name: &str) -> Option<Only> {
        Self::ALL.into_iter().find(|only| only.name() == name)
    }

    /// Returns whether a record is sent that the service has, or does not have.
    pub fn takes(self, is_known: bool) -> bool {
        (self == Only::Known) == is_known
    }

    /// Returns the code of the records that are left out.
    pub fn code(self) -> Code {
        match self {
            Only::New => Code::KnownRecord,
            Only::Known => Code::NewRecord,
        }
    }
}
