//! A record that is compared with the service.

use serde::{Deserialize, Serialize};
use sheetport_findings::{Command, Only};
use sheetport_ledger::{Disposition, PlannedRecord, Seq};

/// A record to be sent.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Candidate {
    pub seq: Seq,
    /// The number of its first row.
    pub row: Option<u64>,
    /// The name of the record for people.
    pub name: String,
    /// The id in the path of the request, for updates.
    pub target: Option<String>,
    /// The body of the request.
    pub body: Box<str>,
    /// What this machine sent last for the record.
    pub sent: LastSent,
    /// What its rows say is to be done with it.
    pub command: Option<Command>,
    /// Whether it is sent only as a new record, or only as a known one.
    pub only: Option<Only>,
    /// Whether only those of its fields are written that are blank in the service.
    pub fills: bool,
    /// Whether the file lacks the record.
    pub is_gone: bool,
}

/// What this machine sent last for a record, as far as known.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct LastSent {
    /// The id of the record in the service, as answered.
    pub id: Option<Box<str>>,
    /// The body of the last accepted request.
    pub body: Option<Box<str>>,
}

impl Candidate {
    /// Returns a record with what is to be sent, or `None` if nothing is.
    pub fn of(seq: Seq, record: PlannedRecord) -> Option<Candidate> {
        let is_gone = record.is_gone();
        let PlannedRecord { key, target, rows, command, disposition: Disposition::Send(body), .. } = record else {
            return None;
        };
        let row = rows.first().copied();
        let name = key.or_else(|| row.map(|row| row.to_string())).unwrap_or_default();
        Some(Candidate { row, target, command, is_gone, ..Candidate::new(seq, name, body) })
    }

    /// Returns a record with its name for people and the body of its request.
    pub fn new(seq: Seq, name: String, body: Box<str>) -> Candidate {
        let (sent, command, only) = (LastSent::default(), None, None);
        Candidate { seq, row: None, name, target: None, body, sent, command, only, fills: false, is_gone: false }
    }

    /// Returns the record, of which only new or only known ones are sent if its rows do not say otherwise.
    #[must_use]
    pub fn or_else(self, usual: Option<Only>) -> Candidate {
        Candidate { only: self.command.map_or(usual, Command::only), ..self }
    }

    /// Returns whether the record is sent if the service has it, or has it not.
    pub fn takes(&self, is_known: bool) -> bool {
        self.only.is_none_or(|only| only.takes(is_known))
    }

    /// Returns the name by which earlier requests for the record are found, see [`PlannedRecord::identity`].
    pub fn identity(&self) -> &str {
        self.target.as_deref().unwrap_or(&self.name)
    }
}
