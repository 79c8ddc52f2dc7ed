//! The records that are compared with the service.

use sheetport_findings::{Command, Only};
use sheetport_ledger::{Disposition, PlannedRecord, Seq};

/// A record to be sent.
#[derive(Clone, Debug)]
pub struct Candidate {
    pub seq: Seq,
    /// The name of the record for people.
    pub name: Box<str>,
    /// The number of its first row.
    pub row: Option<u64>,
    /// The id in the path of the request, for updates.
    pub target: Option<Box<str>>,
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

impl Candidate {
    /// Returns a record with what is to be sent, or `None` if nothing is.
    pub fn of(seq: Seq, record: PlannedRecord) -> Option<Candidate> {
        let is_gone = record.is_gone();
        let Disposition::Send(body) = record.disposition else { return None };
        let row = record.rows.first().copied();
        let name = record.key.unwrap_or_else(|| row.map(|row| row.to_string()).unwrap_or_default()).into();
        Some(Candidate {
            seq,
            name,
            row,
            target: record.target.map(Into::into),
            body,
            sent: LastSent::default(),
            command: record.command,
            only: None,
            fills: false,
            is_gone,
        })
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

/// What this machine sent last for a record.
#[derive(Clone, Debug, Default)]
pub struct LastSent {
    /// The id of the record in the service, as answered.
    pub id: Option<Box<str>>,
    /// The body of the last accepted request.
    pub body: Option<Box<str>>,
}
