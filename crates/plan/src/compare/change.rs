//! What a request changes of a record of the service.

use std::borrow::Cow;

use super::odd_changes::OddChange;
use super::service_lines::shown;

/// What an upload changes of a record.
#[derive(Debug)]
pub enum Change {
    New,
    Changed(Box<[ChangedField]>),
    Unchanged,
    /// The service shows the same values, but not in all fields.
    NotShown,
    /// The service does not have the record that is to be updated.
    Missing,
}

impl Change {
    /// Whether the service has the record.
    pub fn is_known(&self) -> bool {
        !matches!(self, Change::New | Change::Missing)
    }
}

/// A field with another value in the service.
#[derive(Debug)]
pub struct ChangedField {
    pub field: &'static str,
    /// The value in the service, as JSON, and the one in the file, in one allocation: a plan may hold a million of them.
    pub(super) values: Box<str>,
    pub(super) old_len: u32,
    pub is_number: bool,
    /// Whether the service does not show the field, and `old` is what this machine sent last.
    pub is_as_sent: bool,
    /// What is odd about a change of a number or a text.
    pub odd: Option<OddChange>,
}

impl ChangedField {
    /// Returns a field that changes from a value, as JSON, to another one.
    pub fn new(field: &'static str, old: &str, new: &str) -> ChangedField {
        // No value is as long as this: a response is at most MAX_ANSWER.
        let old_len = u32::try_from(old.len()).unwrap_or(u32::MAX);
        let values = [old, new].concat().into();
        ChangedField { field, values, old_len, is_number: false, is_as_sent: false, odd: None }
    }

    /// Returns the value in the service, as JSON.
    pub(super) fn old_json(&self) -> &str {
        self.both().0
    }

    /// Returns the value in the service, for people.
    pub fn old(&self) -> String {
        shown(self.old_json())
    }

    /// Returns the planned value, for people.
    pub fn planned(&self) -> &str {
        self.both().1
    }

    fn both(&self) -> (&str, &str) {
        self.values.split_at_checked(self.old_len as usize).unwrap_or_default()
    }

    /// Returns both values, for people, and what is odd about the change.
    pub(super) fn with_odd(&mut self) -> (Cow<'_, str>, &str, &mut Option<OddChange>) {
        let (old, new) = self.values.split_at_checked(self.old_len as usize).unwrap_or_default();
        (Cow::Owned(shown(old)), new, &mut self.odd)
    }
}
