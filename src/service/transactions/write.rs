//! A transaction within the writer's own: found or made, and its inventory moved with it. Nothing is written before it is
//! known that all of it can be.

use std::sync::Arc;

use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Number, Value};

use crate::records::inventory::Inventory;
use crate::records::transaction::Transaction;

use super::super::input::{self, Errors};
use super::super::store::{Key, Kind, Record, Tx, Work, to_json};
use super::super::{moment, number};
use super::effect::{self, Effect, Outcome, TooLarge};

pub struct WriteTransaction {
    pub workspace: Arc<str>,
    /// Of the transaction that is to change; None for a new one.
    pub id: Option<String>,
    pub inventory_id: Option<String>,
    pub inventory_external_id: Option<String>,
    /// The other fields of the input, checked: null clears.
    pub changes: Map<String, Value>,
}

pub enum Written {
    Stored { transaction_id: String, inventory_id: String },
    NoTransaction,
    Refused(Errors),
}

/// What is remembered of a transaction beside what is shown of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Kept {
    /// All that was ever said of it, as in an input.
    input: Map<String, Value>,
    /// What a unit of the inventory was worth when the transaction came to it.
    unit_value: Option<Number>,
    /// What it has done to the inventory.
    effect: Option<Effect>,
}

/// A transaction that is about to be written: the record as it was or will be, and what is kept of it.
struct Draft {
    record: Record,
    kept: Kept,
    /// The inventory that it has moved.
    before: Option<Moved>,
}

/// An inventory's record, and what it shows.
struct Moved {
    record: Record,
    inventory: Inventory,
}

impl Work for WriteTransaction {
    type Done = Written;

    fn workspace(&self) -> &Arc<str> {
        &self.workspace
    }

    async fn run(self, tx: &mut Tx<'_>) -> Result<Written, sqlx::Error> {
        let Some(draft) = self.draft(tx).await? else { return Ok(Written::NoTransaction) };
        let after = match self.inventory(tx).await? {
            Ok(after) => after,
            Err(errors) => return Ok(Written::Refused(errors)),
        };
        if after.is_none() && draft.before.is_none() {
            return Ok(Written::Refused(Errors::from([(
                "inventoryId".to_owned(),
                vec!["is required, unless inventoryExternalId is given".to_owned()],
            )])));
        }
        self.write(tx, draft, after).await
    }
}

impl WriteTransaction {
    /// None if there is no such transaction.
    async fn draft(&self, tx: &mut Tx<'_>) -> Result<Option<Draft>, sqlx::Error> {
        let Some(id) = &self.id else {
            let record = tx.new_record(Kind::Transaction).await?;
            return Ok(Some(Draft { record, kept: Kept::default(), before: None }));
        };
        let Some(record) = tx.find(Kind::Transaction, Key::Id(id)).await? else { return Ok(None) };
        let shown: Transaction = record.shown_as()?;
        let before = tx.find(Kind::Inventory, Key::Id(&shown.inventory_uuid)).await?;
        let before = before.map(Moved::new).transpose()?;
        Ok(Some(Draft { kept: record.kept_as()?, record, before }))
    }

    /// The inventory that the input names, None if it names none.
    async fn inventory(&self, tx: &mut Tx<'_>) -> Result<Result<Option<Moved>, Errors>, sqlx::Error> {
        let mut errors = Errors::new();
        let mut found: Option<Record> = None;
        if let Some(id) = &self.inventory_id {
            found = tx.find_named(Kind::Inventory, id).await?;
            if found.is_none() {
                input::push(&mut errors, "inventoryId", "there is no such inventory");
            }
        }
        if let Some(external_id) = &self.inventory_external_id {
            match (tx.find(Kind::Inventory, Key::ExternalId(external_id)).await?, &found) {
                (None, _) => input::push(&mut errors, "inventoryExternalId", "there is no such inventory"),
                (Some(other), Some(found)) if other.id != found.id => {
                    input::push(&mut errors, "inventoryExternalId", "is of another inventory than inventoryId");
                }
                (Some(other), _) => found = Some(other),
            }
        }
        if errors.is_empty() { Ok(Ok(found.map(Moved::new).transpose()?)) } else { Ok(Err(errors)) }
    }

    async fn write(self, tx: &mut Tx<'_>, draft: Draft, named: Option<Moved>) -> Result<Written, sqlx::Error> {
        let Draft { mut record, kept, before } = draft;
        // An inventory that is named and is the same is not another.
        let named = named.filter(|named| before.as_ref().is_none_or(|before| before.record.id != named.record.id));
        let mut input = kept.input.clone();
        merge(&mut input, &self.changes);
        if self.id.is_some() && named.is_none() && input == kept.input {
            let shown: Transaction = record.shown_as()?;
            return Ok(Written::Stored { transaction_id: record.id, inventory_id: shown.inventory_id });
        }

        let unit_value = match &named {
            Some(named) => named.inventory.unit_price.clone(),
            None => kept.unit_value.clone(),
        };
        let moved = effect::outcome(&input, unit_value.as_ref().and_then(number::decimal))
            .and_then(|outcome| move_figures(before, named, kept.effect.as_ref(), &outcome));
        let Ok((outcome, mut moved)) = moved else {
            let field = if input.contains_key("transactionAmount") { "transactionAmount" } else { "amount" };
            let message = "moves the inventory's figures beyond what can be kept".to_owned();
            return Ok(Written::Refused(Errors::from([(field.to_owned(), vec![message])])));
        };

        for moved in &mut moved {
            moved.write(tx).await?;
        }
        // The one that the transaction belongs to is always the last.
        let Some(inventory) = moved.last() else { return Ok(Written::NoTransaction) };
        let exists = self.id.is_some();
        if exists {
            record.updated_at = tx.now().max(record.updated_at.saturating_add(1));
        }
        let shown = shown(&record, inventory, &input, &outcome);
        record.shown = to_json(&shown)?;
        record.kept = Some(to_json(&Kept { input, unit_value, effect: outcome.effect })?);
        if exists {
            tx.update(Kind::Transaction, &record).await?;
        } else {
            tx.insert(Kind::Transaction, &record).await?;
        }
        Ok(Written::Stored { transaction_id: record.id, inventory_id: shown.inventory_id })
    }
}

impl Moved {
    fn new(record: Record) -> Result<Moved, sqlx::Error> {
        let inventory = record.shown_as()?;
        Ok(Moved { record, inventory })
    }

    /// Stores the inventory, if anything of it has changed.
    async fn write(&mut self, tx: &mut Tx<'_>) -> Result<(), sqlx::Error> {
        if self.record.shown_as::<Inventory>()? == self.inventory {
            return Ok(());
        }
        self.record.updated_at = tx.now().max(self.record.updated_at.saturating_add(1));
        self.inventory.updated_at = moment::show(self.record.updated_at);
        self.record.shown = to_json(&self.inventory)?;
        tx.update(Kind::Inventory, &self.record).await
    }
}

/// Takes back what was done to the inventory before and does anew what is to be done to it, or to the one that is named
/// now. Answers the inventories, the transaction's own last.
fn move_figures(
    before: Option<Moved>,
    named: Option<Moved>,
    done: Option<&Effect>,
    outcome: &Outcome,
) -> Result<(Outcome, Vec<Moved>), TooLarge> {
    let mut moved = Vec::with_capacity(2);
    if let Some(mut before) = before {
        if let Some(done) = done {
            effect::apply(&mut before.inventory, done, true)?;
        }
        moved.push(before);
    }
    moved.extend(named);
    if let (Some(own), Some(effect)) = (moved.last_mut(), &outcome.effect) {
        effect::apply(&mut own.inventory, effect, false)?;
    }
    Ok((outcome.clone(), moved))
}

/// What is null goes, what has a value comes, the rest stays.
fn merge(input: &mut Map<String, Value>, changes: &Map<String, Value>) {
    for (name, value) in changes {
        if value.is_null() {
            input.shift_remove(name);
        } else {
            input.insert(name.clone(), value.clone());
        }
    }
}

fn shown(record: &Record, inventory: &Moved, input: &Map<String, Value>, outcome: &Outcome) -> Transaction {
    let text = |name: &str| input.get(name).and_then(Value::as_str).map(str::to_owned);
    let number = |name: &str| input.get(name).and_then(Value::as_number).cloned();
    let json = |price: Option<Decimal>| price.map(number::json);
    Transaction {
        created_at: moment::show(record.created_at),
        updated_at: moment::show(record.updated_at),
        id: record.id.clone(),
        transaction_id: record.id.clone(),
        inventory_id: inventory.inventory.inventory_id.clone(),
        inventory_uuid: inventory.record.id.clone(),
        inventory_type: text("inventoryType"),
        transaction_type: text("transactionType").unwrap_or_default(),
        status: text("status"),
        amount: number("amount").unwrap_or_else(|| Number::from(outcome.units)),
        transaction_amount: Number::from(outcome.units),
        use_unit_value: input.get("useUnitValue") == Some(&Value::Bool(true)),
        price: number("price"),
        total_price: json(outcome.total_price),
        average_price: json(outcome.average_price),
        transaction_date: text("transactionDate").unwrap_or_else(|| moment::show(record.created_at)),
        usage_status: if outcome.effect.is_some() { "applied" } else { "not_applied" }.to_owned(),
    }
}
