//! Loads a transaction in the form returned by a service. Does not change the inventory, because its figures already contain the
//! effect of the transaction.

use serde_json::{Map, Value};
use sheetport_records::transaction;
use sheetport_values::decimal;

use super::effect::{self, TooLarge};
use super::write::{State, StoredInventory, body};
use crate::reading::Reading;
use crate::request::Errors;
use crate::store::{Key, Kind, Record, Stored, Transaction, WriteOutcome, merge, to_json};
use crate::timestamp;

/// The field that a new record must have.
const TYPE: &str = "transaction_type";

/// The field with the units that moved.
const UNITS: &str = "transaction_amount";

/// A validated transaction to load.
pub(crate) struct LoadTransaction {
    pub id: String,
    /// The id or the short name of the inventory.
    pub inventory: String,
    /// All other fields, as returned to clients.
    pub fields: Map<String, Value>,
}

impl LoadTransaction {
    /// Creates the transaction with this id, or changes its fields. A null value clears a field, unless `keeps_stored`.
    pub(crate) async fn run(
        self,
        tx: &mut Transaction<'_>,
        keeps_stored: bool,
    ) -> Result<Result<Stored, Errors>, sqlx::Error> {
        let keys = Kind::Inventory.naming_keys(Reading::Tolerant);
        let Some(inventory) = tx.find_by(Kind::Inventory, keys, &self.inventory).await? else {
            return Ok(Err(error("inventory_id", "no such inventory; load the inventories first")));
        };
        let inventory = StoredInventory::new(inventory)?;
        let found = tx.find(Kind::Transaction, Key::Id, &self.id).await?;
        let is_new = found.is_none();
        let (mut record, mut fields) = match found {
            Some(record) => {
                let fields = record.parse_body::<Map<String, Value>>()?;
                (record, fields)
            }
            None => {
                let mut record = tx.new_record(Kind::Transaction).await?;
                record.id = self.id;
                (record, Map::new())
            }
        };
        let mut changes = self.fields;
        add_units(&mut changes, &record)?;
        if is_new {
            let Some(transaction_type) = changes.get(TYPE) else { return Ok(Err(error(TYPE, "is required"))) };
            // Without units, the transaction moved nothing.
            let mut input = Map::from_iter([("transactionType".to_owned(), transaction_type.clone())]);
            input.extend(changes.get(UNITS).map(|units| ("transactionAmount".to_owned(), units.clone())));
            let Ok(outcome) = effect::outcome(&input, None) else { return Ok(Err(too_large())) };
            fields = object(&body(&record, &inventory, &input, &outcome))?;
        }
        let has_time = changes.contains_key("updated_at");
        if !is_new && keeps_stored {
            changes.retain(|_, value| !value.is_null());
        }
        changes.insert("inventory_uuid".to_owned(), Value::from(&*inventory.record.id));
        if !merge(&mut fields, changes) && !is_new {
            return Ok(Ok(Stored { id: record.id, outcome: WriteOutcome::Unchanged }));
        }
        if !is_new && !has_time {
            record.touch(tx.now());
            fields.insert("updated_at".to_owned(), Value::from(timestamp::format(record.updated_at)));
        }
        for (name, time) in [("created_at", &mut record.created_at), ("updated_at", &mut record.updated_at)] {
            *time = fields.get(name).and_then(Value::as_str).and_then(timestamp::parse).unwrap_or(*time);
        }
        let shown: transaction::Transaction =
            serde_json::from_value(Value::Object(fields)).map_err(|error| sqlx::Error::Decode(error.into()))?;
        let Ok(state) = state(&shown, &inventory) else { return Ok(Err(too_large())) };
        record.body = to_json(&shown)?;
        record.state = Some(to_json(&state)?);
        tx.save(Kind::Transaction, &record).await?;
        let outcome = if is_new { WriteOutcome::Created } else { WriteOutcome::Updated };
        Ok(Ok(Stored { id: record.id, outcome }))
    }
}

/// Adds the units that moved if the file contains only the amount: the amount, unless the stored input contains the units, too.
fn add_units(changes: &mut Map<String, Value>, stored: &Record) -> Result<(), sqlx::Error> {
    if changes.contains_key(UNITS) || stored.parse_state::<State>()?.input.contains_key("transactionAmount") {
        return Ok(());
    }
    let amount = changes.get("amount").and_then(Value::as_number);
    let amount = amount.and_then(|amount| decimal::to_integer(decimal::parse(amount.as_str()).ok()?));
    // A fraction is no number of units.
    if let Some(units) = amount.and_then(|units| i64::try_from(units).ok()) {
        changes.insert(UNITS.to_owned(), Value::from(units));
    }
    Ok(())
}

/// Returns the input that leads to the transaction, and its effect for a later update to revert.
fn state(shown: &transaction::Transaction, inventory: &StoredInventory) -> Result<State, TooLarge> {
    let mut input = Map::new();
    let amount = (shown.amount != shown.transaction_amount).then_some(&shown.transaction_amount);
    let fields = [
        ("transactionType", Some(Value::from(&*shown.transaction_type))),
        ("inventoryType", shown.inventory_type.as_deref().map(Value::from)),
        ("status", shown.status.as_deref().map(Value::from)),
        ("amount", Some(Value::Number(shown.amount.clone()))),
        ("transactionAmount", amount.map(|amount| Value::Number(amount.clone()))),
        ("useUnitValue", Some(Value::Bool(shown.use_unit_value))),
        ("price", shown.price.clone().map(Value::Number)),
        ("transactionDate", Some(Value::from(&*shown.transaction_date))),
    ];
    input.extend(fields.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))));
    // The unit price of the inventory at that time.
    let then = shown.average_price.clone().filter(|_| shown.use_unit_value && shown.price.is_none());
    let unit_value = then.or_else(|| inventory.inventory.unit_price.clone());
    let outcome = effect::outcome(&input, unit_value.as_ref().map(effect::stored).transpose()?)?;
    let effect = outcome.effect.filter(|_| shown.usage_status == "applied");
    Ok(State { input, unit_value, effect })
}

fn object(shown: &transaction::Transaction) -> Result<Map<String, Value>, sqlx::Error> {
    match serde_json::to_value(shown) {
        Ok(Value::Object(fields)) => Ok(fields),
        Ok(_) => unreachable!("a transaction is an object"),
        Err(error) => Err(sqlx::Error::Encode(error.into())),
    }
}

fn error(field: &str, message: &str) -> Errors {
    Errors::from([(field.to_owned(), vec![message.to_owned()])])
}

fn too_large() -> Errors {
    error("amount", "is too large")
}
