//! Records brought in by other ways than the contract's calls: what an export of another service holds, or the records
//! of a demonstration. The fields are those of the read shapes in `records` (`READ_FIELDS`), plus `external_id`; for
//! items those of the list, and those of the input under either spelling.

use serde_json::{Map, Value};

use super::Service;
use super::auth::is_workspace_name;
use super::error::Error;
use super::input::{self, Errors};
use super::items::item_input;
use super::store::{Change, ItemFields, Kind};

mod batch;
mod shape;

use self::batch::{Batch, Entry};

pub use self::shape::RULES as READ_RULES;

/// The most records in one transaction: other writes wait for it.
const BATCH: usize = 250;

/// A record to be loaded, as an export has it.
#[derive(Clone, Debug, PartialEq)]
pub enum Loaded {
    Item(Map<String, Value>),
    Company(Map<String, Value>),
    Contact(Map<String, Value>),
    Inventory(Map<String, Value>),
    Order(Map<String, Value>),
}

/// What became of a record that was loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadedAs {
    pub id: String,
    pub change: LoadChange,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoadChange {
    Created,
    Updated,
    /// It was there and had these values already.
    Unchanged,
}

impl Service {
    /// Creates or changes the records, and answers for each, in its place, what became of it or everything that is wrong
    /// with it by field. Those that are right are stored whatever the others are.
    ///
    /// A record is matched by `id`, then by its number (`order_id`, `inventory_id`), then by `external_id`; where these
    /// are of different records, or of a record with another id, it is refused. An absent field is left as it is, a null
    /// clears it. Times and ids that are given are kept; what is absent is made. Loading the same twice changes nothing.
    pub async fn load(&self, workspace: &str, records: Vec<Loaded>) -> Result<Vec<Result<LoadedAs, Errors>>, Error> {
        if !is_workspace_name(workspace) {
            return Err(Error::WorkspaceName { name: workspace.to_owned() });
        }
        let mut results = Vec::with_capacity(records.len());
        let mut entries = records.into_iter().map(entry);
        loop {
            let entries: Vec<_> = entries.by_ref().take(BATCH).collect();
            if entries.is_empty() {
                return Ok(results);
            }
            let batch = Batch { workspace: workspace.into(), entries };
            let mut done = self.app.store.carry_out(batch).await.map_err(|_| Error::NotStored)?;
            results.append(&mut done);
        }
    }
}

/// The record in the form in which it is stored, or what is wrong with it.
fn entry(record: Loaded) -> Result<Entry, Errors> {
    match record {
        Loaded::Item(fields) => item(fields),
        Loaded::Company(fields) => shape::entry(Kind::Company, fields),
        Loaded::Contact(fields) => shape::entry(Kind::Contact, fields),
        Loaded::Inventory(fields) => shape::entry(Kind::Inventory, fields),
        Loaded::Order(fields) => shape::entry(Kind::Order, fields),
    }
}

/// A list of items does not show their external ids; where there is none, the id takes its place.
fn item(mut fields: Map<String, Value>) -> Result<Entry, Errors> {
    for (read, input) in [("external_id", "externalId"), ("purchase_price", "purchasePrice")] {
        if let Some(value) = fields.shift_remove(read) {
            fields.entry(input).or_insert(value);
        }
    }
    let id = shape::key(&mut fields, "id");
    if fields.get("externalId").is_none_or(Value::is_null)
        && let Ok(Some(id)) = &id
    {
        fields.insert("externalId".to_owned(), Value::from(id.as_str()));
    }
    let input: Result<(String, ItemFields<Change>), Errors> = item_input(&fields);
    match (id, input) {
        (Ok(id), Ok((external_id, fields))) => Ok(Entry::Item { id, external_id, fields }),
        (id, input) => {
            let mut errors = input.err().unwrap_or_default();
            if let Err(message) = id {
                input::push(&mut errors, "id", message);
            }
            Err(errors)
        }
    }
}
