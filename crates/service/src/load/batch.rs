//! Writes a batch of loaded records in one transaction.

use serde_json::{Map, Value};

use crate::request::{Errors, add_error};
use crate::store::{Key, Kind, Record, Stored, Transaction, Work, WriteOutcome, merge, to_json};
use crate::timestamp;

use super::model::{Entry, Keys, Nulls, Prepared};
use super::prepare;

/// Records to write. Entries with errors stay in place, so that results have the same order as the records.
pub(super) struct Batch {
    pub(super) entries: Vec<Result<Prepared, Errors>>,
    pub(super) nulls: Nulls,
}

impl Work for Batch {
    type Done = Vec<Result<Stored, Errors>>;

    async fn run(self, tx: &mut Transaction<'_>) -> Result<Self::Done, sqlx::Error> {
        let mut results = Vec::with_capacity(self.entries.len());
        for entry in self.entries {
            results.push(match entry {
                Ok(Prepared::Entry(entry)) => write(tx, entry, self.nulls).await?,
                Ok(Prepared::Transaction(transaction)) => transaction.run(tx, self.nulls == Nulls::KeepStored).await?,
                Err(errors) => Err(errors),
            });
        }
        Ok(results)
    }
}

async fn write(tx: &mut Transaction<'_>, entry: Entry, nulls: Nulls) -> Result<Result<Stored, Errors>, sqlx::Error> {
    let Entry { kind, mut keys, fields: mut changes } = entry;
    let found = match find(tx, kind, &mut keys).await? {
        Ok(found) => found,
        Err(errors) => return Ok(Err(errors)),
    };
    let is_new = found.is_none();
    if !is_new && nulls == Nulls::KeepStored {
        changes.retain(|_, value| !value.is_null());
    }
    let (mut record, mut fields) = match found {
        Some(record) => {
            let fields = record.parse_body::<Map<String, Value>>()?;
            (record, fields)
        }
        None => (new_record(tx, kind, &keys).await?, Map::new()),
    };
    let before = (record.external_id.clone(), record.number.clone());
    let has_time = changes.contains_key("updated_at");
    record.external_id = keys.external_id.or(record.external_id);
    record.number = keys.number.or(record.number);
    let mut is_changed = merge(&mut fields, changes);
    is_changed |= merge(&mut fields, key_fields(kind, &record));
    if !is_new && !is_changed && before == (record.external_id.clone(), record.number.clone()) {
        return Ok(Ok(Stored { id: record.id, outcome: WriteOutcome::Unchanged }));
    }
    set_times(kind, &mut record, &mut fields, !is_new && !has_time, tx.now());
    record.body = to_json(&prepare::ordered(kind, fields))?;
    tx.save(kind, &record).await?;
    let outcome = if is_new { WriteOutcome::Created } else { WriteOutcome::Updated };
    Ok(Ok(Stored { id: record.id, outcome }))
}

/// Returns the record with these keys, if any. Fails if the keys belong to different records.
async fn find(
    tx: &mut Transaction<'_>,
    kind: Kind,
    keys: &mut Keys,
) -> Result<Result<Option<Record>, Errors>, sqlx::Error> {
    let mut found = match &keys.id {
        Some(id) => tx.find(kind, Key::Id, id).await?,
        None => None,
    };
    // An id that replaces a missing external id must not change the external id of an existing item.
    if kind == Kind::Item && keys.external_id == keys.id && found.is_some() {
        keys.external_id = None;
    }
    let mut errors = Errors::new();
    let other_keys = [
        (prepare::number_field(kind), Key::Number, &keys.number),
        (Some("external_id"), Key::ExternalId, &keys.external_id),
    ];
    for (field, key, value) in other_keys {
        let (Some(field), Some(value)) = (field, value) else { continue };
        let Some(record) = tx.find(kind, key, value).await? else { continue };
        let expected = found.as_ref().map(|found| &found.id).or(keys.id.as_ref());
        if expected.is_some_and(|id| *id != record.id) {
            add_error(&mut errors, field, "belongs to a record with another id");
        } else {
            found = Some(record);
        }
    }
    // The external id of an item never changes: upserts match items by external id.
    if kind == Kind::Item
        && let (Some(record), Some(_)) = (&found, &keys.external_id)
        && record.external_id != keys.external_id
    {
        add_error(&mut errors, "id", "belongs to an item with another external_id");
    }
    Ok(if errors.is_empty() { Ok(found) } else { Err(errors) })
}

/// Returns a new record with the id of the keys. The number of an order is the position, if this number is free.
async fn new_record(tx: &mut Transaction<'_>, kind: Kind, keys: &Keys) -> Result<Record, sqlx::Error> {
    let mut record = tx.new_record(kind).await?;
    if let Some(id) = &keys.id {
        record.id.clone_from(id);
    }
    if kind == Kind::Order && keys.number.is_none() && !keys.is_without_number {
        let number = record.position.to_string();
        let is_free = tx.find(kind, Key::Number, &number).await?.is_none();
        record.number = is_free.then_some(number);
    }
    Ok(record)
}

/// Returns the keys of a record as fields.
fn key_fields(kind: Kind, record: &Record) -> Map<String, Value> {
    let number = record.number.as_deref();
    let number = match kind {
        Kind::Order => Some(("order_id", Value::from(number.and_then(|number| number.parse::<i64>().ok())))),
        Kind::Inventory => Some(("inventory_id", Value::from(number.unwrap_or(&record.id)))),
        _ => None,
    };
    let keys = [("id", Value::from(&*record.id)), ("external_id", Value::from(record.external_id.as_deref()))];
    keys.into_iter().chain(number).map(|(name, value)| (name.to_owned(), value)).collect()
}

/// Sets the times of a record from its fields, and missing time fields from the record. `touches` advances the time of the last
/// change.
fn set_times(kind: Kind, record: &mut Record, fields: &mut Map<String, Value>, touches: bool, now: i64) {
    let time = |fields: &Map<String, Value>, name: &str| fields.get(name)?.as_str().and_then(timestamp::parse);
    let updated_at = time(fields, "updated_at");
    record.created_at = time(fields, "created_at").or(updated_at).unwrap_or(now);
    record.updated_at = updated_at.unwrap_or(now);
    if touches && updated_at.is_some() {
        record.touch(now);
    }
    for (name, time) in [("created_at", record.created_at), ("updated_at", record.updated_at)] {
        fields.insert(name.to_owned(), Value::from(timestamp::format(time)));
    }
    if kind == Kind::Order && time(fields, "order_at").is_none() {
        fields.insert("order_at".to_owned(), Value::from(timestamp::format(record.created_at)));
    }
}
