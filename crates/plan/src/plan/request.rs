//! A complete record as a request, with its values for comparison.

use sheetport_findings::Command;

use super::checks::name::Name;

/// The request for a record. Its buffers are reused.
#[derive(Debug, Default)]
pub(crate) struct Request {
    /// Empty without a key.
    pub key: String,
    /// The identifier in the path, or empty.
    pub target: String,
    /// Empty for an invalid record, and if the body is not needed.
    pub body: String,
    /// What the rows say is to be done with the record.
    pub command: Option<Command>,
    /// Values that must be unique among the records.
    pub unique: Vec<UniqueValue>,
    /// The name of the record for comparison, if any.
    pub name: Option<Name>,
    /// Hashes with a secret of the pass: of the id in the path or else the key, and of the body. 0 if there is none.
    pub identity_hash: u64,
    pub body_hash: u64,
}

/// A value that must be unique among the records.
#[derive(Debug)]
pub(crate) struct UniqueValue {
    /// The index of its rule.
    pub rule: usize,
    pub text: String,
    pub hash: u64,
}

impl Request {
    /// Returns the name by which the record is compared with others: rows can name the same order by its external id and by its id. Empty
    /// without either.
    pub(crate) fn identity(&self) -> &str {
        if self.target.is_empty() { &self.key } else { &self.target }
    }

    pub(super) fn clear(&mut self) {
        self.key.clear();
        self.target.clear();
        self.body.clear();
        self.command = None;
        self.unique.clear();
        self.name = None;
        (self.identity_hash, self.body_hash) = (0, 0);
    }
}
