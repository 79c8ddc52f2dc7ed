//! Records to load.

use serde_json::{Map, Value};

use crate::service::handlers::transactions::WriteTransaction;
use crate::service::store::Kind;

/// A record to load, with its fields as in an export.
#[derive(Clone, Debug, PartialEq)]
pub enum LoadRecord {
    Item(Map<String, Value>),
    Company(Map<String, Value>),
    Contact(Map<String, Value>),
    Inventory(Map<String, Value>),
    Order(Map<String, Value>),
    /// A transaction that moved nothing: its `id`, and `inventory_id`, the id of an existing inventory.
    Transaction(Map<String, Value>),
}

/// Valid input.
pub(super) enum Prepared {
    Entry(Entry),
    Transaction(WriteTransaction),
}

/// A validated record.
pub(super) struct Entry {
    pub(super) kind: Kind,
    pub(super) keys: Keys,
    pub(super) fields: Map<String, Value>,
}

/// The keys that identify an existing record.
#[derive(Debug, Default)]
pub(super) struct Keys {
    pub(super) id: Option<String>,
    pub(super) number: Option<String>,
    pub(super) external_id: Option<String>,
}
