//! The update of an order within the writer's transaction: checks everything first, then writes all of it or nothing.

use std::collections::HashMap;

use serde::Deserialize;
use serde_json::{Map, Number, Value, json};
use sheetport_records::order::Order;
use sheetport_values::decimal::{self, Decimal, DecimalError};

use super::lines::{State, StoredLine};
use super::totals::{LineAmounts, line_amounts, totals};
use crate::store::{ItemUpsert, Key, Kind, Record, Transaction, Work, to_json};
use crate::timestamp;

/// A validated update; `None` leaves a field unchanged.
pub(crate) struct UpdateOrder {
    /// The name in the path.
    pub(super) id: String,
    /// The keys of the order that the name in the path may be.
    pub(super) keys: &'static [Key],
    pub(super) external_id: Option<String>,
    pub(super) lines: Option<Vec<Line>>,
    pub(super) company_id: Option<String>,
    pub(super) company_external_id: Option<String>,
    pub(super) order_at: Option<String>,
    pub(super) delivery_status: Option<String>,
    pub(super) create_missing_items: bool,
    pub(super) trigger_workflows: bool,
}

/// A line of the input, with an item id, an external item id, or both.
pub(super) struct Line {
    pub(super) item_id: Option<String>,
    pub(super) item_external_id: Option<String>,
    pub(super) quantity: Option<Number>,
    pub(super) price: Option<Number>,
    pub(super) tax: Option<Number>,
    pub(super) tax_rate: Option<Number>,
}

/// The result for an existing order. If `errors` is not empty, nothing was changed.
pub(crate) struct UpdatedOrder {
    pub(super) id: String,
    pub(super) external_id: Option<String>,
    pub(super) job_id: Option<String>,
    pub(super) errors: Vec<String>,
}

/// A line with its item, or without an item if the item is yet to be created.
struct ResolvedLine<'a> {
    /// Number of the line in the input, counted from 1.
    number: usize,
    line: &'a Line,
    item_id: Option<String>,
    /// 1 by default.
    quantity: Decimal,
    /// By default the price of the item, or else 0.
    price: Decimal,
}

/// The price in the body of an item.
#[derive(Deserialize)]
struct ItemPrice {
    price: Option<Number>,
}

impl Work for UpdateOrder {
    /// `None` if the order does not exist.
    type Done = Option<UpdatedOrder>;

    async fn run(self, tx: &mut Transaction<'_>) -> Result<Self::Done, sqlx::Error> {
        let found = tx.find_by(Kind::Order, self.keys, &self.id).await?;
        let Some(mut record) = found else { return Ok(None) };
        let mut order: Order = record.parse_body()?;
        let mut state: State = record.parse_state()?;
        let before = (order.clone(), state.clone(), record.external_id.clone());
        let mut updated = UpdatedOrder {
            id: record.id.clone(),
            external_id: record.external_id.clone().or_else(|| self.external_id.clone()),
            job_id: None,
            errors: Vec::new(),
        };

        self.check_external_id(tx, &record, &mut updated.errors).await?;
        let company = self.find_company(tx, &mut updated.errors).await?;
        let lines = match &self.lines {
            Some(lines) => Some(self.resolve(tx, lines, &mut updated.errors).await?),
            None => None,
        };
        let totals = lines.as_deref().and_then(|lines| order_totals(lines, &mut updated.errors));
        if !updated.errors.is_empty() {
            return Ok(Some(updated));
        }

        if let (Some(lines), Some((without_tax, with_tax))) = (lines, totals) {
            order.number_item = Some(lines.len() as i64);
            order.total_price_without_tax = Some(decimal::to_json(without_tax));
            order.total_price = Some(decimal::to_json(with_tax));
            state.lines = create_missing(tx, lines).await?;
        }
        record.external_id = self.external_id.or(record.external_id);
        order.external_id.clone_from(&record.external_id);
        order.company_id = company.or(order.company_id);
        order.order_at = self.order_at.unwrap_or(order.order_at);
        order.delivery_status = self.delivery_status.or(order.delivery_status);
        updated.external_id.clone_from(&record.external_id);
        if before != (order.clone(), state.clone(), record.external_id.clone()) {
            record.touch(tx.now());
            order.updated_at = timestamp::format(record.updated_at);
            record.body = to_json(&order)?;
            record.state = Some(to_json(&state)?);
            tx.save(Kind::Order, &record).await?;
        } else {
            tx.note_unchanged(Kind::Order, &record.id);
        }
        if self.trigger_workflows {
            updated.job_id = Some(create_job(tx, &record.id).await?);
        }
        Ok(Some(updated))
    }
}

impl UpdateOrder {
    async fn check_external_id(
        &self,
        tx: &mut Transaction<'_>,
        record: &Record,
        errors: &mut Vec<String>,
    ) -> Result<(), sqlx::Error> {
        if let Some(external_id) = &self.external_id
            && let Some(other) = tx.find(Kind::Order, Key::ExternalId, external_id).await?
            && other.id != record.id
        {
            errors.push(format!("externalId {external_id:?} belongs to another order"));
        }
        Ok(())
    }

    /// Returns the id of the company in the body, if any.
    async fn find_company(
        &self,
        tx: &mut Transaction<'_>,
        errors: &mut Vec<String>,
    ) -> Result<Option<String>, sqlx::Error> {
        let mut found: Option<String> = None;
        if let Some(id) = &self.company_id {
            match tx.find(Kind::Company, Key::Id, id).await? {
                Some(company) => found = Some(company.id),
                None => errors.push(format!("no company has the companyId {id:?}")),
            }
        }
        if let Some(external_id) = &self.company_external_id {
            match tx.find(Kind::Company, Key::ExternalId, external_id).await? {
                None => errors.push(format!("no company has the companyExternalId {external_id:?}")),
                Some(company) if found.as_ref().is_some_and(|id| *id != company.id) => {
                    errors.push("companyId and companyExternalId belong to different companies".to_owned());
                }
                Some(company) => found = Some(company.id),
            }
        }
        Ok(found)
    }

    /// Finds the item of each line. A missing item is an error unless missing items are to be created.
    async fn resolve<'a>(
        &self,
        tx: &mut Transaction<'_>,
        lines: &'a [Line],
        errors: &mut Vec<String>,
    ) -> Result<Vec<ResolvedLine<'a>>, sqlx::Error> {
        let ids: Vec<_> = lines.iter().filter_map(|line| line.item_id.as_deref()).collect();
        let external_ids: Vec<_> = lines.iter().filter_map(|line| line.item_external_id.as_deref()).collect();
        let by_id = tx.find_items(Key::Id, &ids).await?;
        let by_external_id = tx.find_items(Key::ExternalId, &external_ids).await?;
        let mut resolved = Vec::with_capacity(lines.len());
        for (number, line) in (1..).zip(lines) {
            let found_by_id = line.item_id.as_ref().and_then(|id| by_id.get(id));
            let found_by_external_id = line.item_external_id.as_ref().and_then(|id| by_external_id.get(id));
            let error = match (&line.item_id, &line.item_external_id) {
                (Some(id), _) if found_by_id.is_none() => format!("no item has the item_id {id:?}"),
                (Some(_), Some(_)) if found_by_id != found_by_external_id => {
                    "item_id and itemExternalId belong to different items".to_owned()
                }
                (None, Some(external_id)) if found_by_external_id.is_none() && !self.create_missing_items => {
                    format!("no item has the itemExternalId {external_id:?}")
                }
                _ => {
                    resolved.push(ResolvedLine::new(number, line, found_by_id.or(found_by_external_id))?);
                    continue;
                }
            };
            errors.push(format!("line {number}: {error}"));
        }
        Ok(resolved)
    }
}

impl<'a> ResolvedLine<'a> {
    fn new(number: usize, line: &'a Line, item: Option<&Record>) -> Result<ResolvedLine<'a>, sqlx::Error> {
        let price = match (&line.price, item) {
            (Some(price), _) => validated(price),
            (None, Some(item)) => match item.parse_body::<ItemPrice>()?.price {
                Some(price) => {
                    decimal::parse_rounded(price.as_str()).map_err(|error| sqlx::Error::Decode(error.into()))?
                }
                None => Decimal::ZERO,
            },
            (None, None) => Decimal::ZERO,
        };
        Ok(ResolvedLine {
            number,
            line,
            item_id: item.map(|item| item.id.clone()),
            quantity: line.quantity.as_ref().map_or(Decimal::ONE, validated),
            price,
        })
    }

    /// Returns the amounts of the line. Fails if a number has too many digits.
    fn amounts(&self) -> Result<LineAmounts, DecimalError> {
        let Line { tax, tax_rate, .. } = self.line;
        line_amounts(self.quantity, self.price, tax.as_ref().map(validated), tax_rate.as_ref().map(validated))
    }
}

/// Returns a number for the totals. Decimals beyond 28 digits are rounded.
fn validated(number: &Number) -> Decimal {
    decimal::parse_rounded(number.as_str()).expect("validation rejects other numbers")
}

/// Returns the totals without and with tax. Returns `None` and adds errors if a number has too many digits.
fn order_totals(lines: &[ResolvedLine<'_>], errors: &mut Vec<String>) -> Option<(Decimal, Decimal)> {
    let mut amounts = Vec::with_capacity(lines.len());
    for line in lines {
        match line.amounts() {
            Ok(line) => amounts.push(line),
            Err(error) => errors.push(format!("line {}: an amount {error}", line.number)),
        }
    }
    totals(amounts).map_err(|error| errors.push(format!("a total {error}"))).ok()
}

/// Creates the missing items, each once, with the price of its first line. Returns the lines with the ids of all items.
async fn create_missing(
    tx: &mut Transaction<'_>,
    lines: Vec<ResolvedLine<'_>>,
) -> Result<Vec<StoredLine>, sqlx::Error> {
    let mut upserts: Vec<ItemUpsert> = Vec::new();
    let mut created = HashMap::new();
    for ResolvedLine { line, item_id, .. } in &lines {
        let (None, Some(external_id)) = (item_id, &line.item_external_id) else { continue };
        created.entry(external_id.as_str()).or_insert_with(|| {
            let mut changes = Map::from_iter([("name".to_owned(), Value::from(external_id.as_str()))]);
            changes.extend(line.price.clone().map(|price| ("price".to_owned(), Value::Number(price))));
            upserts.push(ItemUpsert { external_id: external_id.clone(), changes });
            upserts.len() - 1
        });
    }
    let stored = tx.upsert_items(upserts).await?;
    let lines = lines.iter().map(|resolved| {
        let created = || &stored[created[resolved.line.item_external_id.as_deref().expect("a missing item")]].id;
        StoredLine {
            item_id: resolved.item_id.as_ref().unwrap_or_else(created).clone(),
            quantity: resolved.line.quantity.clone().unwrap_or_else(|| decimal::to_json(resolved.quantity)),
            price: resolved.line.price.clone().unwrap_or_else(|| decimal::to_json(resolved.price)),
            tax: resolved.line.tax.clone(),
            tax_rate: resolved.line.tax_rate.clone(),
        }
    });
    Ok(lines.collect())
}

/// Records a workflow run for an order. No workflow exists that could run.
async fn create_job(tx: &mut Transaction<'_>, order_id: &str) -> Result<String, sqlx::Error> {
    let mut job = tx.new_record(Kind::Job).await?;
    let created_at = timestamp::format(job.created_at);
    job.body = json!({"id": job.id, "order_id": order_id, "created_at": created_at}).to_string();
    tx.save(Kind::Job, &job).await?;
    Ok(job.id)
}
