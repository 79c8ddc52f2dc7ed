//! The records that are compared with the service.

use std::num::NonZeroU64;

use sheetport_findings::{Command, Only};
use sheetport_ledger::{Disposition, PlannedRecord, Seq};

/// A record to be sent. A plan may hold a million of them, so it is small.
#[derive(Clone, Debug)]
pub struct Candidate {
    pub seq: Seq,
    /// The name of the record for people, the id in the path of the request, and its body, in one allocation.
    text: Box<str>,
    name_len: u32,
    /// `None` for records without an id in the path.
    target_len: Option<u32>,
    /// The number of its first row.
    row: Option<NonZeroU64>,
    /// What this machine sent last for the record, if anything.
    pub sent: Option<Box<LastSent>>,
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
        let name = record.key.unwrap_or_else(|| row.map(|row| row.to_string()).unwrap_or_default());
        let candidate = Candidate::new(seq, row, record.target.as_deref(), &name, &body);
        Some(Candidate { command: record.command, is_gone, ..candidate })
    }

    /// Returns a record with the number of its first row, the id in the path of its request, for updates, its name for people, and the body of the
    /// request.
    pub fn new(seq: Seq, row: Option<u64>, target: Option<&str>, name: &str, body: &str) -> Candidate {
        // No cell, and so no identifier, is as long as this.
        let len = |text: &str| u32::try_from(text.len()).unwrap_or(u32::MAX);
        Candidate {
            seq,
            text: [name, target.unwrap_or_default(), body].concat().into(),
            name_len: len(name),
            target_len: target.map(len),
            row: row.and_then(NonZeroU64::new),
            sent: None,
            command: None,
            only: None,
            fills: false,
            is_gone: false,
        }
    }

    /// Returns the number of the first row of the record.
    pub fn row(&self) -> Option<u64> {
        self.row.map(NonZeroU64::get)
    }

    /// Returns the name of the record for people.
    pub fn name(&self) -> &str {
        self.text.get(..self.name_len as usize).unwrap_or_default()
    }

    /// Returns the id in the path of the request, for updates.
    pub fn target(&self) -> Option<&str> {
        let from = self.name_len as usize;
        self.text.get(from..from + self.target_len? as usize)
    }

    /// Returns the body of the request.
    pub fn body(&self) -> &str {
        let from = self.name_len as usize + self.target_len.unwrap_or_default() as usize;
        self.text.get(from..).unwrap_or_default()
    }

    /// Returns the id of the record in the service, as answered to this machine.
    pub(crate) fn known_id(&self) -> Option<&str> {
        self.sent.as_deref()?.id.as_deref()
    }

    /// Returns the body of the last accepted request.
    pub(crate) fn last_body(&self) -> Option<&str> {
        self.sent.as_deref()?.body.as_deref()
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
        self.target().unwrap_or_else(|| self.name())
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
