//! Types of stored records.

use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use sheetport_values::decimal;
use uuid::Uuid;

use crate::reading::Reading;

/// The kinds of records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    Item,
    Company,
    Contact,
    Inventory,
    Order,
    Transaction,
    Subscription,
    Invoice,
    /// A workflow triggered by an update of an order.
    Job,
}

impl Kind {
    /// All kinds, referenced kinds first.
    pub(crate) const ALL: [Kind; 9] = [
        Kind::Item,
        Kind::Company,
        Kind::Contact,
        Kind::Inventory,
        Kind::Order,
        Kind::Transaction,
        Kind::Subscription,
        Kind::Invoice,
        Kind::Job,
    ];

    /// Returns the name used in the database.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Kind::Item => "item",
            Kind::Company => "company",
            Kind::Contact => "contact",
            Kind::Inventory => "inventory",
            Kind::Order => "order",
            Kind::Transaction => "transaction",
            Kind::Subscription => "subscription",
            Kind::Invoice => "invoice",
            Kind::Job => "job",
        }
    }

    /// Returns the keys by which a record is named in a path or in a field of a request, in the order of precedence. The number of an
    /// order is a running number, which may be the external id of another order, so it names none.
    pub(crate) fn naming_keys(self, reading: Reading) -> &'static [Key] {
        match self {
            _ if reading.is_literal() => &[Key::Id],
            Kind::Order => &[Key::Id, Key::ExternalId],
            Kind::Inventory => &[Key::Id, Key::Number],
            _ => &[Key::Id],
        }
    }
}

/// The columns that identify a record within its workspace and kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Key {
    Id,
    Number,
    ExternalId,
}

impl Key {
    /// Returns the name of the column.
    pub(super) fn column(self) -> &'static str {
        match self {
            Key::Id => "id",
            Key::Number => "number",
            Key::ExternalId => "external_id",
        }
    }
}

/// A row of the records table. Times are milliseconds since 1970.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Record {
    pub id: String,
    /// The list of its workspace and kind.
    pub(super) list: i64,
    /// Position in the list: 1, 2, 3, … in the order of creation.
    pub position: i64,
    /// The running number of an order, or the short name of an inventory.
    pub number: Option<String>,
    pub external_id: Option<String>,
    pub created_at: i64,
    pub updated_at: i64,
    /// The record as returned to clients, in JSON.
    pub body: String,
    /// Internal state hidden from clients, in JSON.
    pub state: Option<String>,
}

impl Record {
    /// Returns a record with a new id, without other keys or content.
    pub(super) fn new(list: i64, position: i64, now: i64) -> Record {
        Record {
            id: Uuid::now_v7().to_string(),
            list,
            position,
            number: None,
            external_id: None,
            created_at: now,
            updated_at: now,
            body: String::new(),
            state: None,
        }
    }

    /// Parses the body.
    pub(crate) fn parse_body<T: DeserializeOwned>(&self) -> Result<T, sqlx::Error> {
        serde_json::from_str(&self.body).map_err(|error| self.corrupt(&error))
    }

    /// Parses the internal state. Returns the default for a record without state.
    pub(crate) fn parse_state<T: DeserializeOwned + Default>(&self) -> Result<T, sqlx::Error> {
        let Some(state) = &self.state else { return Ok(T::default()) };
        serde_json::from_str(state).map_err(|error| self.corrupt(&error))
    }

    /// Advances the time of the last change to `now`, and always by at least a millisecond, even if the clock was set
    /// back: clients detect a change by a later time.
    pub(crate) fn touch(&mut self, now: i64) {
        self.updated_at = now.max(self.updated_at.saturating_add(1));
    }

    fn corrupt(&self, error: &serde_json::Error) -> sqlx::Error {
        sqlx::Error::Decode(format!("record {}: {error}", self.id).into())
    }
}

/// Serializes a body or an internal state.
pub(crate) fn to_json(value: &impl Serialize) -> Result<String, sqlx::Error> {
    serde_json::to_string(value).map_err(|error| sqlx::Error::Encode(error.into()))
}

/// A page of a list. Entries are JSON objects separated by commas.
pub(crate) struct Page {
    pub entries: String,
    pub total: i64,
}

/// A write failed and was rolled back. The writer has logged the cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NotStored;

/// The result of writing a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored {
    pub id: String,
    pub outcome: WriteOutcome,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteOutcome {
    Created,
    Updated,
    /// The record already had these values.
    Unchanged,
}

impl WriteOutcome {
    /// Returns the name used in the database.
    pub(super) fn name(self) -> &'static str {
        match self {
            WriteOutcome::Created => "created",
            WriteOutcome::Updated => "updated",
            WriteOutcome::Unchanged => "unchanged",
        }
    }
}

/// Where a write comes from.
#[derive(Clone, Debug)]
pub(crate) struct Origin {
    pub workspace: Arc<str>,
    /// Number of the request in the journal; `None` for loaded records, or without a journal.
    pub request: Option<i64>,
}

impl From<&str> for Origin {
    fn from(workspace: &str) -> Origin {
        Origin { workspace: workspace.into(), request: None }
    }
}

/// Sets the fields in `changes`. Returns whether any value changed. Numbers are compared by value: 1.5 does not replace
/// 1.50.
pub(crate) fn merge(fields: &mut Map<String, Value>, changes: Map<String, Value>) -> bool {
    merge_with(fields, changes, |_, _, _| {})
}

/// As [`merge`]. Calls `changed` with the name, the old and the new value of each changed field.
pub(super) fn merge_with(
    fields: &mut Map<String, Value>,
    changes: Map<String, Value>,
    mut changed: impl FnMut(&str, Option<&Value>, &Value),
) -> bool {
    let mut is_changed = false;
    for (name, new) in changes {
        let old = fields.get(&name);
        if old.is_none_or(|old| !is_equal(old, &new)) {
            changed(&name, old, &new);
            fields.insert(name, new);
            is_changed = true;
        }
    }
    is_changed
}

fn is_equal(old: &Value, new: &Value) -> bool {
    let canonical = |value: &Value| decimal::canonical(value.as_number()?.as_str());
    old == new || canonical(old).is_some_and(|old| Some(old) == canonical(new))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn object(value: Value) -> Map<String, Value> {
        value.as_object().cloned().expect("an object")
    }

    #[test]
    fn merging_changes_only_the_named_fields() {
        let mut fields = object(json!({"name": "Bolt", "price": 1, "tax": null}));
        assert!(merge(&mut fields, object(json!({"name": null, "tax": 19}))));
        assert_eq!(fields, object(json!({"name": null, "price": 1, "tax": 19})));
        assert!(!merge(&mut fields, object(json!({"name": null, "price": 1}))));
        assert!(!merge(&mut fields, Map::new()));
    }

    #[test]
    fn numbers_are_compared_by_value_and_texts_by_characters() {
        let parse = |json: &str| serde_json::from_str(json).expect("an object");
        let mut fields: Map<String, Value> = parse(r#"{"price":1.50,"name":"1.50"}"#);
        assert!(!merge(&mut fields, parse(r#"{"price":1.5}"#)));
        assert_eq!(fields["price"].to_string(), "1.50");
        assert!(merge(&mut fields, parse(r#"{"price":1.5,"name":"1.5"}"#)));
        assert_eq!((fields["price"].to_string().as_str(), &fields["name"]), ("1.50", &json!("1.5")));
        assert!(merge(&mut fields, parse(r#"{"price":1.51}"#)));
        assert_eq!(fields["price"].to_string(), "1.51");
    }

    #[test]
    fn a_change_advances_the_time_even_if_the_clock_goes_back() {
        let mut record = Record::new(1, 1, 100);
        for (now, updated_at) in [(200, 200), (200, 201), (50, 202)] {
            record.touch(now);
            assert_eq!(record.updated_at, updated_at);
        }
    }
}
