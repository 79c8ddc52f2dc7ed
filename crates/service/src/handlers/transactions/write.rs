//! Stores a transaction and its effect on the inventory within the writer's transaction. Writes nothing until all checks have
//! passed.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Number, Value};
use sheetport_records::inventory::Inventory;
use sheetport_records::transaction;
use sheetport_values::decimal::{self, Decimal};

use super::effect::{self, Effect, Outcome, TooLarge};
use crate::request::{Errors, add_error};
use crate::store::{Key, Kind, Record, Transaction, Work, to_json};
use crate::timestamp;

/// A validated transaction to create or to change.
pub(super) struct WriteTransaction {
    /// The id of the transaction to change; `None` creates a transaction.
    pub(super) id: Option<String>,
    /// The keys of the inventory that `inventory_id` may have.
    pub(super) inventory_keys: &'static [Key],
    pub(super) inventory_id: Option<String>,
    pub(super) inventory_external_id: Option<String>,
    /// The other fields of the input. Null clears a field.
    pub(super) changes: Map<String, Value>,
}

pub(super) enum WriteResult {
    Stored { transaction_id: String, inventory_id: String },
    NoTransaction,
    Invalid(Errors),
}

/// Internal state of a transaction.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct State {
    /// The fields of all inputs so far.
    pub(super) input: Map<String, Value>,
    /// The unit price of the inventory at the time of assigning the transaction.
    pub(super) unit_value: Option<Number>,
    /// The effect on the inventory.
    pub(super) effect: Option<Effect>,
}

/// A new or existing transaction before the write.
struct Draft {
    record: Record,
    state: State,
    /// The inventory of an existing transaction.
    inventory: Option<StoredInventory>,
}

pub(super) struct StoredInventory {
    pub(super) record: Record,
    pub(super) inventory: Inventory,
}

impl Work for WriteTransaction {
    type Done = WriteResult;

    async fn run(self, tx: &mut Transaction<'_>) -> Result<WriteResult, sqlx::Error> {
        let Some(draft) = self.draft(tx).await? else { return Ok(WriteResult::NoTransaction) };
        let named = match self.find_inventory(tx).await? {
            Ok(named) => named,
            Err(errors) => return Ok(WriteResult::Invalid(errors)),
        };
        if named.is_none() && draft.inventory.is_none() {
            return Ok(invalid("inventoryId", "is required without inventoryExternalId"));
        }
        self.write(tx, draft, named).await
    }
}

impl WriteTransaction {
    /// Returns the transaction to change, or a new transaction. Returns `None` if the transaction does not exist.
    async fn draft(&self, tx: &mut Transaction<'_>) -> Result<Option<Draft>, sqlx::Error> {
        let Some(id) = &self.id else {
            let record = tx.new_record(Kind::Transaction).await?;
            return Ok(Some(Draft { record, state: State::default(), inventory: None }));
        };
        let Some(record) = tx.find(Kind::Transaction, Key::Id, id).await? else { return Ok(None) };
        let body: transaction::Transaction = record.parse_body()?;
        let inventory = tx.find(Kind::Inventory, Key::Id, &body.inventory_uuid).await?;
        let inventory = inventory.map(StoredInventory::new).transpose()?;
        Ok(Some(Draft { state: record.parse_state()?, record, inventory }))
    }

    /// Returns the inventory in the input, if any.
    async fn find_inventory(
        &self,
        tx: &mut Transaction<'_>,
    ) -> Result<Result<Option<StoredInventory>, Errors>, sqlx::Error> {
        let mut errors = Errors::new();
        let mut found: Option<Record> = None;
        if let Some(id) = &self.inventory_id {
            found = tx.find_by(Kind::Inventory, self.inventory_keys, id).await?;
            if found.is_none() {
                add_error(&mut errors, "inventoryId", "no such inventory");
            }
        }
        if let Some(external_id) = &self.inventory_external_id {
            match (tx.find(Kind::Inventory, Key::ExternalId, external_id).await?, &found) {
                (None, _) => add_error(&mut errors, "inventoryExternalId", "no such inventory"),
                (Some(other), Some(found)) if other.id != found.id => {
                    add_error(&mut errors, "inventoryExternalId", "belongs to another inventory than inventoryId");
                }
                (Some(other), _) => found = Some(other),
            }
        }
        if errors.is_empty() { Ok(Ok(found.map(StoredInventory::new).transpose()?)) } else { Ok(Err(errors)) }
    }

    async fn write(
        self,
        tx: &mut Transaction<'_>,
        draft: Draft,
        named: Option<StoredInventory>,
    ) -> Result<WriteResult, sqlx::Error> {
        let Draft { mut record, state, inventory: previous } = draft;
        // Naming the previous inventory again is no change.
        let named = named.filter(|named| previous.as_ref().is_none_or(|old| old.record.id != named.record.id));
        let mut input = state.input.clone();
        apply_changes(&mut input, &self.changes);
        if self.id.is_some() && named.is_none() && input == state.input {
            let body: transaction::Transaction = record.parse_body()?;
            tx.note_unchanged(Kind::Transaction, &record.id);
            return Ok(WriteResult::Stored { transaction_id: record.id, inventory_id: body.inventory_id });
        }

        let unit_value = match &named {
            Some(named) => named.inventory.unit_price.clone(),
            None => state.unit_value.clone(),
        };
        let moved = unit_value.as_ref().map(effect::stored).transpose();
        let moved = moved.and_then(|unit_value| effect::outcome(&input, unit_value));
        let moved = moved.and_then(|outcome| move_figures(previous, named, state.effect.as_ref(), outcome));
        let Ok((outcome, previous, mut inventory)) = moved else {
            let field = if input.contains_key("transactionAmount") { "transactionAmount" } else { "amount" };
            return Ok(invalid(field, "makes the inventory's figures too large"));
        };

        if let Some(mut previous) = previous {
            previous.save(tx).await?;
        }
        inventory.save(tx).await?;
        if self.id.is_some() {
            record.touch(tx.now());
        }
        let body = body(&record, &inventory, &input, &outcome);
        record.body = to_json(&body)?;
        record.state = Some(to_json(&State { input, unit_value, effect: outcome.effect })?);
        tx.save(Kind::Transaction, &record).await?;
        Ok(WriteResult::Stored { transaction_id: record.id, inventory_id: body.inventory_id })
    }
}

fn invalid(field: &str, message: &str) -> WriteResult {
    WriteResult::Invalid(Errors::from([(field.to_owned(), vec![message.to_owned()])]))
}

impl StoredInventory {
    pub(super) fn new(record: Record) -> Result<StoredInventory, sqlx::Error> {
        let inventory = record.parse_body()?;
        Ok(StoredInventory { record, inventory })
    }

    /// Stores a changed inventory.
    async fn save(&mut self, tx: &mut Transaction<'_>) -> Result<(), sqlx::Error> {
        if self.record.parse_body::<Inventory>()? == self.inventory {
            return Ok(());
        }
        self.record.touch(tx.now());
        self.inventory.updated_at = timestamp::format(self.record.updated_at);
        self.record.body = to_json(&self.inventory)?;
        tx.save(Kind::Inventory, &self.record).await
    }
}

/// Reverts the old effect on the previous inventory and applies the new effect to the named inventory, or else to the
/// previous inventory. Returns the previous inventory, if different, and the inventory of the transaction.
fn move_figures(
    mut previous: Option<StoredInventory>,
    named: Option<StoredInventory>,
    old_effect: Option<&Effect>,
    outcome: Outcome,
) -> Result<(Outcome, Option<StoredInventory>, StoredInventory), TooLarge> {
    if let (Some(previous), Some(effect)) = (&mut previous, old_effect) {
        effect::revert(&mut previous.inventory, effect)?;
    }
    let (previous, mut inventory) = match named {
        Some(named) => (previous, named),
        None => (None, previous.expect("a transaction without an inventory was rejected")),
    };
    if let Some(effect) = &outcome.effect {
        effect::apply(&mut inventory.inventory, effect)?;
    }
    Ok((outcome, previous, inventory))
}

fn apply_changes(input: &mut Map<String, Value>, changes: &Map<String, Value>) {
    for (name, value) in changes {
        if value.is_null() {
            input.shift_remove(name);
        } else {
            input.insert(name.clone(), value.clone());
        }
    }
}

/// Returns the transaction as clients read it.
pub(super) fn body(
    record: &Record,
    inventory: &StoredInventory,
    input: &Map<String, Value>,
    outcome: &Outcome,
) -> transaction::Transaction {
    let text = |name: &str| input.get(name).and_then(Value::as_str).map(str::to_owned);
    let number = |name: &str| input.get(name).and_then(Value::as_number).cloned();
    let json = |price: Option<Decimal>| price.map(decimal::to_json);
    transaction::Transaction {
        created_at: timestamp::format(record.created_at),
        updated_at: timestamp::format(record.updated_at),
        id: record.id.clone(),
        transaction_id: record.id.clone(),
        inventory_id: inventory.inventory.inventory_id.clone(),
        inventory_uuid: inventory.record.id.clone(),
        inventory_type: text("inventoryType"),
        transaction_type: text("transactionType").expect("a required field"),
        status: text("status"),
        amount: number("amount").unwrap_or_else(|| Number::from(outcome.units)),
        transaction_amount: Number::from(outcome.units),
        use_unit_value: input.get("useUnitValue") == Some(&Value::Bool(true)),
        price: number("price"),
        total_price: json(outcome.total_price),
        average_price: json(outcome.average_price),
        transaction_date: text("transactionDate").unwrap_or_else(|| timestamp::format(record.created_at)),
        usage_status: if outcome.effect.is_some() { "applied" } else { "not_applied" }.to_owned(),
    }
}
