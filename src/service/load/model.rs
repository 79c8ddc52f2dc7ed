//! Records to load.

use serde_json::{Map, Value};

use crate::service::handlers::transactions::LoadTransaction;
use crate::service::store::Kind;

/// A record to load, with its fields as in an export.
#[derive(Clone, Debug, PartialEq)]
pub enum LoadRecord {
    Item(Map<String, Value>),
    Company(Map<String, Value>),
    Contact(Map<String, Value>),
    Inventory(Map<String, Value>),
    Order(Map<String, Value>),
    /// A transaction with its `id`, and `inventory_uuid` or `inventory_id`, which name an existing inventory. The figures of
    /// the inventory contain its effect already.
    Transaction(Map<String, Value>),
}

/// What null means in a record that exists already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nulls {
    /// The field becomes empty.
    Clear,
    /// The field stays as it is.
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

/// The keys that identify an existing record.
#[derive(Debug, Default)]
pub(super) struct Keys {
    pub(super) id: Option<String>,
    pub(super) number: Option<String>,
    /// The record says that it has no number: a new one gets none.
    pub(super) is_without_number: bool,
    pub(super) external_id: Option<String>,
}
