//! Records to load.

use serde_json::{Map, Value};

use crate::handlers::transactions::LoadTransaction;
use crate::store::Kind;

/// A record to load, with the fields of an export.
#[derive(Clone, Debug, PartialEq)]
pub enum LoadRecord {
    Item(Map<String, Value>),
    Company(Map<String, Value>),
    Contact(Map<String, Value>),
    Inventory(Map<String, Value>),
    Order(Map<String, Value>),
    /// A transaction with its `id`, and `inventory_uuid` or `inventory_id` of an existing inventory. The figures of the inventory
    /// already contain the effect of the transaction.
    Transaction(Map<String, Value>),
}

/// The meaning of null for an existing record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nulls {
    /// The field becomes empty.
    Clear,
    /// Null leaves the field unchanged.
    KeepStored,
}

/// Valid input.
pub(super) enum Prepared {
    Entry(Entry),
    Transaction(LoadTransaction),
}

/// A validated record.
pub(super) struct Entry {
    pub(super) kind: Kind,
    pub(super) keys: Keys,
    pub(super) fields: Map<String, Value>,
}

/// The keys for finding an existing record.
#[derive(Debug, Default)]
pub(super) struct Keys {
    pub(super) id: Option<String>,
    pub(super) number: Option<String>,
    /// Whether the record has a null number, so that a new record gets no number.
    pub(super) is_without_number: bool,
    pub(super) external_id: Option<String>,
}
