//! Upserts of items. A batch takes three statements: the existing items, the newest position, the write.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use serde_json::{Map, Value};
use sheetport_records::item;
use sheetport_sql::Transaction;

use super::super::model::{Key, Kind, Record, Stored, WriteOutcome, merge_with, to_json};
use super::journal::{Change, changed_value};
use super::records;
use crate::timestamp;

/// An upsert of the item with this external id.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ItemUpsert {
    pub external_id: String,
    /// Fields by their names in lists. Null clears a field; absent fields stay unchanged.
    pub changes: Map<String, Value>,
}

/// An item while a batch is applied.
struct Draft {
    record: Record,
    fields: Map<String, Value>,
    is_changed: bool,
}

/// Applies the upserts in order, each with the number of its request in the journal, if any. Returns one result per upsert, and
/// appends the changes of records to `changes`.
pub(crate) async fn upsert(
    sql: &mut Transaction,
    workspace: &str,
    upserts: Vec<(Option<i64>, ItemUpsert)>,
    now: i64,
    journal: &mut Vec<Change>,
) -> Result<Vec<Stored>, sqlx::Error> {
    let external_ids: Vec<_> = upserts.iter().map(|(_, upsert)| &*upsert.external_id).collect();
    let mut drafts = HashMap::with_capacity(upserts.len());
    for record in records::find_all(sql, workspace, Kind::Item, Key::ExternalId, &external_ids).await? {
        let draft = Draft { fields: record.parse_body()?, record, is_changed: false };
        drafts.insert(draft.record.external_id.clone(), draft);
    }
    let (list, mut position) = records::newest(sql, workspace, Kind::Item).await?;

    let mut stored = Vec::with_capacity(upserts.len());
    for (request, ItemUpsert { external_id, changes }) in upserts {
        let (draft, is_new) = match drafts.entry(Some(external_id)) {
            Entry::Occupied(entry) => (entry.into_mut(), false),
            Entry::Vacant(entry) => {
                position += 1;
                let record = Record { external_id: entry.key().clone(), ..Record::new(list, position, now) };
                (entry.insert(Draft { fields: new_fields(&record), record, is_changed: true }), true)
            }
        };
        let mut changed = Map::new();
        let is_changed = merge_with(&mut draft.fields, changes, |name, old, new| {
            if request.is_some() && !is_new {
                changed.insert(name.to_owned(), changed_value(old, new));
            }
        });
        let outcome = match (is_new, is_changed) {
            (true, _) => WriteOutcome::Created,
            (false, true) => WriteOutcome::Updated,
            (false, false) => WriteOutcome::Unchanged,
        };
        if let Some(request) = request {
            let fields = (outcome == WriteOutcome::Updated).then_some(changed);
            journal.push(Change { request, kind: Kind::Item, id: draft.record.id.clone(), outcome, fields });
        }
        if outcome == WriteOutcome::Updated {
            draft.record.touch(now);
            draft.is_changed = true;
        }
        stored.push(Stored { id: draft.record.id.clone(), outcome });
    }

    let mut changed = Vec::with_capacity(drafts.len());
    for Draft { mut record, mut fields, .. } in drafts.into_values().filter(|draft| draft.is_changed) {
        fields.insert("updated_at".to_owned(), Value::from(timestamp::format(record.updated_at)));
        record.body = to_json(&fields)?;
        changed.push(record);
    }
    changed.sort_unstable_by_key(|record| record.position);
    records::save(sql, &changed).await?;
    Ok(stored)
}

/// Returns the fields of a new item in order: the ids, and null for all other fields.
fn new_fields(record: &Record) -> Map<String, Value> {
    let fields = item::READ_FIELDS.iter().map(|field| {
        let value = match field.name {
            "id" => Value::from(&*record.id),
            "external_id" => Value::from(record.external_id.as_deref()),
            _ => Value::Null,
        };
        (field.name.to_owned(), value)
    });
    fields.collect()
}
