//! The items table: a page of it, and a group of upserts in few statements.

use std::collections::HashMap;

use jiff::Timestamp;
use sqlx::sqlite::{SqliteConnection, SqliteRow};
use sqlx::{Connection, Row, query, query_as};
use uuid::Uuid;

use crate::records::item::ItemListed;

use super::merge::{Item, ItemFields, ItemUpsert, Outcome, Stored};
use super::readers::Readers;
use super::statements::{Batched, batches};

/// $1 workspace, $2 position before the page, $3 last position of the page. The entries come in the order of the inner
/// SELECT, which is the index's; an ORDER BY within the aggregate would sort them once more, a third of the time.
const PAGE: &str = "\
SELECT (SELECT coalesce(max(position), 0) FROM items WHERE workspace = $1), \
 (SELECT string_agg(listed, ',') FROM \
  (SELECT listed FROM items WHERE workspace = $1 AND position > $2 AND position <= $3 ORDER BY position) AS page)";

/// A page of a list whose entries are JSON already, with commas between them.
pub struct EntryPage {
    pub entries: String,
    pub total: i64,
}

pub async fn page(readers: &Readers, workspace: &str, page: u64, limit: u64) -> Result<EntryPage, sqlx::Error> {
    let position = |pages: u64| i64::try_from(pages.saturating_mul(limit)).unwrap_or(i64::MAX);
    let (total, entries): (i64, Option<String>) = query_as(PAGE)
        .bind(workspace)
        .bind(position(page.saturating_sub(1)))
        .bind(position(page))
        .fetch_one(readers.get().await?.connection()?)
        .await?;
    Ok(EntryPage { entries: entries.unwrap_or_default(), total })
}

/// The statements of a group of upserts.
pub struct Statements {
    /// The items with given keys: workspace and external id.
    existing: Batched,
    /// What orders need to know of the items with given ids, then of those with given external ids.
    by_id: Batched,
    by_external_id: Batched,
    /// The last position in each of given workspaces.
    last_positions: Batched,
    write: Batched,
}

impl Statements {
    pub fn new() -> Statements {
        Statements {
            existing: Batched::new(
                "WITH wanted (workspace, external_id) AS (",
                2,
                ") SELECT i.workspace, i.external_id, i.id, i.position, i.name, i.description, i.currency, i.price, \
                 i.purchase_price, i.tax, i.status, i.created_at, i.updated_at \
                 FROM wanted AS w JOIN items AS i ON i.workspace = w.workspace AND i.external_id = w.external_id",
            ),
            by_id: Batched::new(
                "WITH wanted (workspace, id) AS (",
                2,
                ") SELECT i.id, i.external_id, i.price FROM wanted AS w \
                 JOIN items AS i ON i.workspace = w.workspace AND i.id = w.id",
            ),
            by_external_id: Batched::new(
                "WITH wanted (workspace, external_id) AS (",
                2,
                ") SELECT i.id, i.external_id, i.price FROM wanted AS w \
                 JOIN items AS i ON i.workspace = w.workspace AND i.external_id = w.external_id",
            ),
            last_positions: Batched::new(
                "WITH wanted (workspace) AS (",
                1,
                ") SELECT w.workspace, (SELECT coalesce(max(i.position), 0) FROM items AS i \
                 WHERE i.workspace = w.workspace) FROM wanted AS w",
            ),
            write: Batched::new(
                "INSERT INTO items (id, workspace, position, external_id, name, description, currency, price, \
                 purchase_price, tax, status, created_at, updated_at, listed)",
                14,
                "ON CONFLICT (workspace, external_id) DO UPDATE SET name = excluded.name, \
                 description = excluded.description, currency = excluded.currency, price = excluded.price, \
                 purchase_price = excluded.purchase_price, tax = excluded.tax, status = excluded.status, \
                 updated_at = excluded.updated_at, listed = excluded.listed",
            ),
        }
    }
}

/// By what an item is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ItemKey<'a> {
    Id(&'a str),
    ExternalId(&'a str),
}

/// What other records need to know of an item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Catalogued {
    pub id: String,
    pub external_id: String,
    pub price: Option<String>,
}

/// The workspace's items with these keys, each in the place of its key.
pub async fn find(
    connection: &mut SqliteConnection,
    statements: &Statements,
    workspace: &str,
    keys: &[ItemKey<'_>],
) -> Result<Vec<Option<Catalogued>>, sqlx::Error> {
    let ids: Vec<&str> =
        keys.iter().filter_map(|key| if let ItemKey::Id(id) = key { Some(*id) } else { None }).collect();
    let external_ids: Vec<&str> =
        keys.iter().filter_map(|key| if let ItemKey::ExternalId(id) = key { Some(*id) } else { None }).collect();
    let (mut by_id, mut by_external_id) = (HashMap::new(), HashMap::new());
    for item in catalogued(connection, &statements.by_id, workspace, &ids).await? {
        by_id.insert(item.id.clone(), item);
    }
    for item in catalogued(connection, &statements.by_external_id, workspace, &external_ids).await? {
        by_external_id.insert(item.external_id.clone(), item);
    }
    Ok(keys
        .iter()
        .map(|key| match key {
            ItemKey::Id(id) => by_id.get(*id).cloned(),
            ItemKey::ExternalId(id) => by_external_id.get(*id).cloned(),
        })
        .collect())
}

async fn catalogued(
    connection: &mut SqliteConnection,
    statement: &Batched,
    workspace: &str,
    keys: &[&str],
) -> Result<Vec<Catalogued>, sqlx::Error> {
    let mut items = Vec::with_capacity(keys.len());
    for batch in batches(keys) {
        let mut wanted = query_as(statement.of(batch.len()));
        for key in batch {
            wanted = wanted.bind(workspace).bind(*key);
        }
        let found: Vec<(String, String, Option<String>)> = wanted.fetch_all(&mut *connection).await?;
        items.extend(found.into_iter().map(|(id, external_id, price)| Catalogued { id, external_id, price }));
    }
    Ok(items)
}

/// An item that a group is about: as it was, if it was, and then as the group leaves it.
struct Slot<'a> {
    workspace: &'a str,
    external_id: &'a str,
    item: Option<Item>,
    changed: bool,
}

/// Carries out the upserts in their order within the transaction that is open, and says what became of each.
pub async fn upsert(
    connection: &mut SqliteConnection,
    statements: &Statements,
    upserts: &[ItemUpsert],
    now: Timestamp,
) -> Result<Vec<Stored>, sqlx::Error> {
    let mut slots: Vec<Slot<'_>> = Vec::with_capacity(upserts.len());
    let mut by_key = HashMap::with_capacity(upserts.len());
    for upsert in upserts {
        let (workspace, external_id) = (&*upsert.workspace, upsert.external_id.as_str());
        by_key.entry((workspace, external_id)).or_insert_with(|| {
            slots.push(Slot { workspace, external_id, item: None, changed: false });
            slots.len() - 1
        });
    }
    read_existing(connection, statements, &mut slots, &by_key).await?;
    let mut positions = last_positions(connection, statements, &slots).await?;

    let now = now.as_millisecond();
    let mut stored = Vec::with_capacity(upserts.len());
    for upsert in upserts {
        let slot = &mut slots[by_key[&(&*upsert.workspace, upsert.external_id.as_str())]];
        let outcome = match &mut slot.item {
            Some(item) => match item.apply(&upsert.fields, now) {
                true => Outcome::Updated,
                false => Outcome::Unchanged,
            },
            None => {
                let position = positions.entry(slot.workspace).or_insert(0);
                *position += 1;
                let id = upsert.id.clone().unwrap_or_else(|| Uuid::now_v7().to_string());
                slot.item = Some(Item::new(id, *position, &upsert.fields, now));
                Outcome::Created
            }
        };
        slot.changed |= outcome != Outcome::Unchanged;
        let id = slot.item.as_ref().map(|item| item.id.clone()).unwrap_or_default();
        stored.push(Stored { outcome, id });
    }
    write(connection, statements, &slots).await?;
    Ok(stored)
}

async fn read_existing(
    connection: &mut SqliteConnection,
    statements: &Statements,
    slots: &mut [Slot<'_>],
    by_key: &HashMap<(&str, &str), usize>,
) -> Result<(), sqlx::Error> {
    let mut rows = Vec::new();
    for batch in batches(slots) {
        let mut existing = query(statements.existing.of(batch.len()));
        for slot in batch {
            existing = existing.bind(slot.workspace).bind(slot.external_id);
        }
        rows.append(&mut existing.fetch_all(&mut *connection).await?);
    }
    for row in rows {
        if let Some(&slot) = by_key.get(&(row.try_get(0)?, row.try_get(1)?)) {
            slots[slot].item = Some(item(&row)?);
        }
    }
    Ok(())
}

/// The last position of each workspace in which an item is to be created.
async fn last_positions<'a>(
    connection: &mut SqliteConnection,
    statements: &Statements,
    slots: &[Slot<'a>],
) -> Result<HashMap<&'a str, i64>, sqlx::Error> {
    let mut workspaces: Vec<&'a str> =
        slots.iter().filter(|slot| slot.item.is_none()).map(|slot| slot.workspace).collect();
    workspaces.sort_unstable();
    workspaces.dedup();
    let mut positions = HashMap::with_capacity(workspaces.len());
    for batch in batches(&workspaces) {
        let mut last = query_as(statements.last_positions.of(batch.len()));
        for workspace in batch {
            last = last.bind(*workspace);
        }
        let found: Vec<(String, i64)> = last.fetch_all(&mut *connection).await?;
        for &workspace in batch {
            let last = found.iter().find(|(name, _)| name == workspace).map_or(0, |(_, last)| *last);
            positions.insert(workspace, last);
        }
    }
    Ok(positions)
}

async fn write(
    connection: &mut SqliteConnection,
    statements: &Statements,
    slots: &[Slot<'_>],
) -> Result<(), sqlx::Error> {
    let changed: Vec<_> = slots
        .iter()
        .filter(|slot| slot.changed)
        .filter_map(|slot| slot.item.as_ref().map(|item| (slot, item)))
        .collect();
    for batch in batches(&changed) {
        let mut write = query(statements.write.of(batch.len()));
        for (slot, item) in batch {
            let fields = &item.fields;
            write = write
                .bind(&*item.id)
                .bind(slot.workspace)
                .bind(item.position)
                .bind(slot.external_id)
                .bind(fields.name.as_deref())
                .bind(fields.description.as_deref())
                .bind(fields.currency.as_deref())
                .bind(fields.price.as_deref())
                .bind(fields.purchase_price.as_deref())
                .bind(fields.tax.as_deref())
                .bind(fields.status.as_deref())
                .bind(item.created_at)
                .bind(item.updated_at)
                .bind(listed(slot.external_id, item)?);
        }
        write.execute(&mut *connection).await?;
    }
    Ok(())
}

fn item(row: &SqliteRow) -> Result<Item, sqlx::Error> {
    Ok(Item {
        id: row.try_get(2)?,
        position: row.try_get(3)?,
        fields: ItemFields {
            name: row.try_get(4)?,
            description: row.try_get(5)?,
            currency: row.try_get(6)?,
            price: row.try_get(7)?,
            purchase_price: row.try_get(8)?,
            tax: row.try_get(9)?,
            status: row.try_get(10)?,
        },
        created_at: row.try_get(11)?,
        updated_at: row.try_get(12)?,
    })
}

/// Writes anew what lists show, where an earlier version wrote it.
pub async fn list_anew(connection: &mut SqliteConnection) -> Result<(), sqlx::Error> {
    if query("SELECT 1 FROM to_do WHERE name = 'list items'").fetch_optional(&mut *connection).await?.is_none() {
        return Ok(());
    }
    let mut tx = connection.begin().await?;
    let (mut workspace, mut position) = (String::new(), 0_i64);
    loop {
        let rows = query(NEXT).bind(&workspace).bind(position).fetch_all(&mut *tx).await?;
        for row in &rows {
            let item = item(row)?;
            (workspace, position) = (row.try_get(0)?, item.position);
            query("UPDATE items SET listed = $1 WHERE workspace = $2 AND position = $3")
                .bind(listed(row.try_get(1)?, &item)?)
                .bind(&workspace)
                .bind(position)
                .execute(&mut *tx)
                .await?;
        }
        if rows.is_empty() {
            break;
        }
    }
    query("DELETE FROM to_do WHERE name = 'list items'").execute(&mut *tx).await?;
    tx.commit().await
}

/// $1 and $2: the workspace and the position of the item before.
const NEXT: &str = "\
SELECT workspace, external_id, id, position, name, description, currency, price, purchase_price, tax, status, \
 created_at, updated_at FROM items WHERE (workspace, position) > ($1, $2) ORDER BY workspace, position LIMIT 1000";

/// The item as a list shows it.
fn listed(external_id: &str, item: &Item) -> Result<String, sqlx::Error> {
    let damaged = |error: &dyn std::fmt::Display| sqlx::Error::Encode(format!("item {}: {error}", item.id).into());
    let updated_at = Timestamp::from_millisecond(item.updated_at).map_err(|error| damaged(&error))?;
    let number =
        |text: &Option<String>| text.as_deref().map(serde_json::from_str).transpose().map_err(|error| damaged(&error));
    let fields = &item.fields;
    let listed = ItemListed {
        id: item.id.clone(),
        name: fields.name.clone(),
        price: number(&fields.price)?,
        currency: fields.currency.clone(),
        status: fields.status.clone(),
        updated_at: format!("{updated_at:.3}"),
        external_id: external_id.to_owned(),
        description: fields.description.clone(),
        purchase_price: number(&fields.purchase_price)?,
        tax: number(&fields.tax)?,
    };
    serde_json::to_string(&listed).map_err(|error| damaged(&error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::service::store::Store;

    #[tokio::test]
    async fn no_statement_scans_the_table() {
        let folder = tempfile::tempdir().expect("a folder");
        let (store, closer) =
            Store::open(&folder.path().join("plan.db"), std::time::Duration::ZERO).await.expect("opened");
        let statements = Statements::new();
        let batched = [&statements.existing, &statements.by_id, &statements.by_external_id, &statements.last_positions];
        let batched = batched.map(|statement| statement.of(4));
        for sql in batched.iter().map(|sql| sql.as_str()).chain([PAGE]) {
            let explain = sqlx::AssertSqlSafe(format!("EXPLAIN QUERY PLAN {sql}"));
            let mut reader = store.readers.get().await.expect("a reader");
            let plan = query(explain).fetch_all(reader.connection().expect("open")).await.expect("a plan");
            let plan: Vec<String> = plan.iter().map(|row| row.get("detail")).collect();
            assert!(plan.iter().any(|step| step.starts_with("SEARCH")), "{plan:?}");
            let scans_items = |step: &String| step == "SCAN i" || step.starts_with("SCAN items");
            assert!(!plan.iter().any(scans_items), "{plan:?}");
        }
        closer.close().await;
    }
}
