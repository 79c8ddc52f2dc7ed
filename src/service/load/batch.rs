//! A batch of loaded records within one transaction: finds what each is about, and creates or changes it.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::{Map, Value};
use uuid::Uuid;

use super::super::input::{self, Errors};
use super::super::moment;
use super::super::store::{Change, ItemFields, ItemKey, ItemUpsert, Key, Kind, Outcome, Record, Tx, Work, to_json};
use super::shape;
use super::{LoadChange, LoadedAs};

pub struct Batch {
    pub workspace: Arc<str>,
    /// What is wrong already stays in its place, so that the results do, too.
    pub entries: Vec<Result<Entry, Errors>>,
}

pub enum Entry {
    Item { id: Option<String>, external_id: String, fields: ItemFields<Change> },
    Record { kind: Kind, keys: Keys, fields: Map<String, Value> },
}

/// What a record is matched by.
#[derive(Debug, Default)]
pub struct Keys {
    pub id: Option<String>,
    pub number: Option<String>,
    pub external_id: Option<String>,
}

impl Work for Batch {
    type Done = Vec<Result<LoadedAs, Errors>>;

    fn workspace(&self) -> &Arc<str> {
        &self.workspace
    }

    async fn run(self, tx: &mut Tx<'_>) -> Result<Self::Done, sqlx::Error> {
        let mut results = Vec::with_capacity(self.entries.len());
        let mut items = Vec::new();
        for (index, entry) in self.entries.into_iter().enumerate() {
            results.push(match entry {
                Err(errors) => Err(errors),
                Ok(Entry::Record { kind, keys, fields }) => load_record(tx, kind, keys, fields).await?,
                Ok(Entry::Item { id, external_id, fields }) => {
                    items.push((index, id, external_id, fields));
                    // Replaced below, where all items are loaded together.
                    Err(Errors::new())
                }
            });
        }
        let (places, items): (Vec<_>, Vec<_>) =
            items.into_iter().map(|(index, id, external_id, fields)| (index, (id, external_id, fields))).unzip();
        for (index, result) in places.into_iter().zip(load_items(tx, &self.workspace, items).await?) {
            results[index] = result;
        }
        Ok(results)
    }
}

async fn load_items(
    tx: &mut Tx<'_>,
    workspace: &Arc<str>,
    items: Vec<(Option<String>, String, ItemFields<Change>)>,
) -> Result<Vec<Result<LoadedAs, Errors>>, sqlx::Error> {
    let ids = items.iter().filter_map(|(id, _, _)| id.as_deref().map(ItemKey::Id));
    let keys: Vec<_> = ids.chain(items.iter().map(|(_, external_id, _)| ItemKey::ExternalId(external_id))).collect();
    // The external id of each id and the other way round, also of what this batch creates.
    let (mut by_id, mut by_external_id) = (HashMap::new(), HashMap::new());
    for item in tx.find_items(&keys).await?.into_iter().flatten() {
        by_id.insert(item.id.clone(), item.external_id.clone());
        by_external_id.insert(item.external_id, item.id);
    }
    let mut results = Vec::with_capacity(items.len());
    let mut upserts = Vec::with_capacity(items.len());
    for (id, mut external_id, fields) in items {
        // An id that stands in for the external id says nothing of an item that has one.
        if id.as_ref() == Some(&external_id)
            && let Some(known) = by_id.get(&external_id)
        {
            external_id.clone_from(known);
        }
        let mut errors = Errors::new();
        let known = by_external_id.get(&external_id);
        if let Some(id) = &id {
            if known.is_some_and(|known| known != id) {
                input::push(&mut errors, "external_id", "belongs to an item with another id");
            }
            if by_id.get(id).is_some_and(|known| *known != external_id) {
                input::push(&mut errors, "id", "belongs to an item with another external_id");
            }
        }
        if !errors.is_empty() {
            results.push(Err(errors));
            continue;
        }
        let id = id.or_else(|| known.cloned()).unwrap_or_else(|| Uuid::now_v7().to_string());
        by_id.insert(id.clone(), external_id.clone());
        by_external_id.insert(external_id.clone(), id.clone());
        results.push(Ok(LoadedAs { id: id.clone(), change: LoadChange::Unchanged }));
        upserts.push(ItemUpsert { workspace: workspace.clone(), id: Some(id), external_id, fields });
    }
    let stored = tx.upsert_items(&upserts).await?;
    for (result, stored) in results.iter_mut().flatten().zip(stored) {
        result.change = match stored.outcome {
            Outcome::Created => LoadChange::Created,
            Outcome::Updated => LoadChange::Updated,
            Outcome::Unchanged => LoadChange::Unchanged,
        };
    }
    Ok(results)
}

async fn load_record(
    tx: &mut Tx<'_>,
    kind: Kind,
    keys: Keys,
    fields: Map<String, Value>,
) -> Result<Result<LoadedAs, Errors>, sqlx::Error> {
    let found = match find(tx, kind, &keys).await? {
        Ok(found) => found,
        Err(errors) => return Ok(Err(errors)),
    };
    let (mut record, mut known, existed) = match found {
        Some(record) => {
            let known = record.shown_as::<Map<String, Value>>()?;
            (record, known, true)
        }
        None => (new_record(tx, kind, &keys).await?, Map::new(), false),
    };
    let before = (record.external_id.clone(), record.number.clone(), known.clone());
    let is_dated = fields.contains_key("updated_at");
    record.external_id = keys.external_id.or(record.external_id);
    record.number = keys.number.or(record.number);
    known.extend(fields);
    name(kind, &record, &mut known);
    if existed && before == (record.external_id.clone(), record.number.clone(), known.clone()) {
        return Ok(Ok(LoadedAs { id: record.id, change: LoadChange::Unchanged }));
    }
    date(kind, &mut record, &mut known, existed && !is_dated, tx.now());
    record.shown = to_json(&shape::shown(kind, known))?;
    let change = if existed {
        tx.update(kind, &record).await?;
        LoadChange::Updated
    } else {
        tx.insert(kind, &record).await?;
        LoadChange::Created
    };
    Ok(Ok(LoadedAs { id: record.id, change }))
}

/// The one record that the keys are about, if there is one; or which of them contradict it.
async fn find(tx: &mut Tx<'_>, kind: Kind, keys: &Keys) -> Result<Result<Option<Record>, Errors>, sqlx::Error> {
    let looked_for = [
        ("id", keys.id.as_deref().map(Key::Id)),
        (shape::number_field(kind).unwrap_or_default(), keys.number.as_deref().map(Key::Number)),
        ("external_id", keys.external_id.as_deref().map(Key::ExternalId)),
    ];
    let mut found: Option<Record> = None;
    let mut errors = Errors::new();
    for (field, key) in looked_for {
        let Some(key) = key else { continue };
        let Some(record) = tx.find(kind, key).await? else { continue };
        let wanted = found.as_ref().map(|found| &found.id).or(keys.id.as_ref());
        if wanted.is_some_and(|id| *id != record.id) {
            input::push(&mut errors, field, "belongs to a record with another id");
        } else {
            found = Some(record);
        }
    }
    Ok(if errors.is_empty() { Ok(found) } else { Err(errors) })
}

/// A record with the id that is given, and with its position for a number where that is free.
async fn new_record(tx: &mut Tx<'_>, kind: Kind, keys: &Keys) -> Result<Record, sqlx::Error> {
    let mut record = tx.new_record(kind).await?;
    if let Some(id) = &keys.id {
        record.id.clone_from(id);
    }
    if shape::number_field(kind).is_some() && keys.number.is_none() {
        let number = record.position.to_string();
        let is_free = tx.find(kind, Key::Number(&number)).await?.is_none();
        record.number = is_free.then_some(number);
    }
    Ok(record)
}

/// Shows the keys among the fields, as the contract has them for this kind.
fn name(kind: Kind, record: &Record, known: &mut Map<String, Value>) {
    known.insert("id".to_owned(), Value::from(record.id.as_str()));
    let number = record.number.as_deref();
    match kind {
        Kind::Order => {
            let number: Option<i64> = number.and_then(|number| number.parse().ok());
            known.insert("order_id".to_owned(), Value::from(number));
        }
        Kind::Inventory => {
            known.insert("inventory_id".to_owned(), Value::from(number.unwrap_or(&record.id)));
        }
        _ => {
            known.insert("external_id".to_owned(), Value::from(record.external_id.as_deref()));
        }
    }
}

/// Gives the record the times that the fields have, and the fields the times that are still missing.
fn date(kind: Kind, record: &mut Record, known: &mut Map<String, Value>, moves: bool, now: i64) {
    let given = |known: &Map<String, Value>, name: &str| known.get(name)?.as_str().and_then(moment::parse);
    let updated_at = given(known, "updated_at");
    record.created_at = given(known, "created_at").or(updated_at).unwrap_or(now);
    record.updated_at = match updated_at {
        Some(before) if moves => now.max(before.saturating_add(1)),
        Some(updated_at) => updated_at,
        None => now,
    };
    known.insert("created_at".to_owned(), Value::from(moment::show(record.created_at)));
    known.insert("updated_at".to_owned(), Value::from(moment::show(record.updated_at)));
    if kind == Kind::Order && given(known, "order_at").is_none() {
        known.insert("order_at".to_owned(), Value::from(moment::show(record.created_at)));
    }
}
