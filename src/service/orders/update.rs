//! An order's update within the writer's transaction: everything is looked up and checked first, then all of it is
//! written or nothing.

use std::collections::HashMap;
use std::sync::Arc;

use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};
use serde_json::{Number, json};

use crate::records::order::Order;

use super::super::store::{Catalogued, Change, ItemFields, ItemKey, ItemUpsert, Key, Kind, Record, Tx, Work, to_json};
use super::super::{moment, number};
use super::totals::{Amounts, amounts, totals};

/// What a checked body asks for; what is None is left as it is.
pub struct UpdateOrder {
    pub workspace: Arc<str>,
    /// The id in the path: the service's own or the order's number.
    pub id: String,
    pub external_id: Option<String>,
    pub lines: Option<Vec<Line>>,
    pub company_id: Option<String>,
    pub company_external_id: Option<String>,
    pub order_at: Option<String>,
    pub delivery_status: Option<String>,
    pub creates_missing_items: bool,
    pub triggers_workflows: bool,
}

/// A line has one of the ids, or both.
pub struct Line {
    pub item_id: Option<String>,
    pub item_external_id: Option<String>,
    pub quantity: Option<Number>,
    pub price: Option<Number>,
    pub tax: Option<Number>,
    pub tax_rate: Option<Number>,
}

/// What became of an order that is there.
pub struct Updated {
    pub id: String,
    pub external_id: Option<String>,
    pub job_id: Option<String>,
    /// If there are any, nothing was done.
    pub errors: Vec<String>,
}

/// What is remembered of an order beside what is shown of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Kept {
    lines: Vec<KeptLine>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct KeptLine {
    item_id: String,
    quantity: Number,
    price: Number,
    tax: Option<Number>,
    tax_rate: Option<Number>,
}

/// A line with its item: one that is there, or one that is to be created.
struct Resolved<'a> {
    /// Counted from 1 in the input.
    number: usize,
    line: &'a Line,
    item: Option<Catalogued>,
}

impl Work for UpdateOrder {
    /// None if there is no such order.
    type Done = Option<Updated>;

    fn workspace(&self) -> &Arc<str> {
        &self.workspace
    }

    async fn run(self, tx: &mut Tx<'_>) -> Result<Self::Done, sqlx::Error> {
        let Some(mut record) = self.find(tx).await? else { return Ok(None) };
        let mut order: Order = record.shown_as()?;
        let mut kept: Kept = record.kept_as()?;
        let before = (order.clone(), kept.clone(), record.external_id.clone());
        let mut updated = Updated {
            id: record.id.clone(),
            external_id: record.external_id.clone().or_else(|| self.external_id.clone()),
            job_id: None,
            errors: Vec::new(),
        };

        self.check_external_id(tx, &record, &mut updated.errors).await?;
        let company = self.company(tx, &mut updated.errors).await?;
        let lines = match &self.lines {
            Some(lines) => Some(self.resolve(tx, lines, &mut updated.errors).await?),
            None => None,
        };
        let summed = lines.as_deref().map(|lines| sums(lines, &mut updated.errors));
        if !updated.errors.is_empty() {
            return Ok(Some(updated));
        }

        if let (Some(lines), Some(Some((without_tax, with_tax)))) = (lines, summed) {
            order.number_item = i64::try_from(lines.len()).ok();
            order.total_price_without_tax = Some(number::json(without_tax));
            order.total_price = Some(number::json(with_tax));
            kept.lines = self.create_missing(tx, lines).await?;
        }
        record.external_id = self.external_id.or(record.external_id);
        order.company_id = company.or(order.company_id);
        order.order_at = self.order_at.unwrap_or(order.order_at);
        order.delivery_status = self.delivery_status.or(order.delivery_status);
        updated.external_id.clone_from(&record.external_id);
        if before != (order.clone(), kept.clone(), record.external_id.clone()) {
            record.updated_at = tx.now().max(record.updated_at.saturating_add(1));
            order.updated_at = moment::show(record.updated_at);
            record.shown = to_json(&order)?;
            record.kept = Some(to_json(&kept)?);
            tx.update(Kind::Order, &record).await?;
        }
        if self.triggers_workflows {
            updated.job_id = Some(trigger(tx, &record.id).await?);
        }
        Ok(Some(updated))
    }
}

impl UpdateOrder {
    /// The order that the path names, or else the one with the external id in the body.
    async fn find(&self, tx: &mut Tx<'_>) -> Result<Option<Record>, sqlx::Error> {
        match (tx.find_named(Kind::Order, &self.id).await?, &self.external_id) {
            (None, Some(external_id)) => tx.find(Kind::Order, Key::ExternalId(external_id)).await,
            (found, _) => Ok(found),
        }
    }

    async fn check_external_id(
        &self,
        tx: &mut Tx<'_>,
        record: &Record,
        errors: &mut Vec<String>,
    ) -> Result<(), sqlx::Error> {
        if let Some(external_id) = &self.external_id
            && let Some(other) = tx.find(Kind::Order, Key::ExternalId(external_id)).await?
            && other.id != record.id
        {
            errors.push(format!("externalId {external_id:?} belongs to another order"));
        }
        Ok(())
    }

    /// The id of the company that the body names.
    async fn company(&self, tx: &mut Tx<'_>, errors: &mut Vec<String>) -> Result<Option<String>, sqlx::Error> {
        let mut found: Option<String> = None;
        if let Some(id) = &self.company_id {
            match tx.find(Kind::Company, Key::Id(id)).await? {
                Some(company) => found = Some(company.id),
                None => errors.push(format!("there is no company with the companyId {id:?}")),
            }
        }
        if let Some(external_id) = &self.company_external_id {
            match tx.find(Kind::Company, Key::ExternalId(external_id)).await? {
                None => errors.push(format!("there is no company with the companyExternalId {external_id:?}")),
                Some(company) if found.as_ref().is_some_and(|id| *id != company.id) => {
                    errors.push("companyId and companyExternalId are of different companies".to_owned());
                }
                Some(company) => found = Some(company.id),
            }
        }
        Ok(found)
    }

    /// Finds each line's item; a line without one is an error, unless the item is to be created.
    async fn resolve<'a>(
        &self,
        tx: &mut Tx<'_>,
        lines: &'a [Line],
        errors: &mut Vec<String>,
    ) -> Result<Vec<Resolved<'a>>, sqlx::Error> {
        let keys = lines.iter().flat_map(|line| {
            let by_id = line.item_id.as_deref().map(ItemKey::Id);
            by_id.into_iter().chain(line.item_external_id.as_deref().map(ItemKey::ExternalId))
        });
        let mut found = tx.find_items(&keys.collect::<Vec<_>>()).await?.into_iter();
        let mut resolved = Vec::with_capacity(lines.len());
        for (number, line) in (1..).zip(lines) {
            let by_id = line.item_id.as_ref().and_then(|_| found.next().flatten());
            let by_external_id = line.item_external_id.as_ref().and_then(|_| found.next().flatten());
            let item = match (line.item_id.as_deref(), line.item_external_id.as_deref(), by_id, by_external_id) {
                (Some(id), _, None, _) => Err(format!("there is no item with the item_id {id:?}")),
                (_, Some(_), Some(item), other) if other.as_ref() != Some(&item) => {
                    Err("item_id and itemExternalId are not of the same item".to_owned())
                }
                (None, Some(external_id), _, None) if !self.creates_missing_items => {
                    Err(format!("there is no item with the itemExternalId {external_id:?}"))
                }
                (_, _, by_id, by_external_id) => Ok(by_id.or(by_external_id)),
            };
            match item {
                Ok(item) => resolved.push(Resolved { number, line, item }),
                Err(error) => errors.push(format!("line {number}: {error}")),
            }
        }
        Ok(resolved)
    }

    /// Creates the items that are not there, each once and with what its first line says of it.
    async fn create_missing(&self, tx: &mut Tx<'_>, lines: Vec<Resolved<'_>>) -> Result<Vec<KeptLine>, sqlx::Error> {
        let mut places = HashMap::new();
        let mut upserts = Vec::new();
        for Resolved { line, item, .. } in &lines {
            let (None, Some(external_id)) = (item, &line.item_external_id) else { continue };
            places.entry(external_id.as_str()).or_insert_with(|| {
                let price = line.price.as_ref().map_or(Change::Keep, |price| Change::Set(price.to_string()));
                let name = Change::Set(external_id.clone());
                upserts.push(ItemUpsert {
                    workspace: self.workspace.clone(),
                    id: None,
                    external_id: external_id.clone(),
                    fields: ItemFields { name, price, ..ItemFields::default() },
                });
                upserts.len() - 1
            });
        }
        let created = tx.upsert_items(&upserts).await?;
        let kept = lines.iter().map(|resolved| {
            let Resolved { line, item, .. } = resolved;
            let created = line.item_external_id.as_deref().and_then(|id| created.get(*places.get(id)?));
            let item_id = item.as_ref().map(|item| &item.id).or(created.map(|created| &created.id));
            KeptLine {
                item_id: item_id.cloned().unwrap_or_default(),
                quantity: number::json(resolved.quantity()),
                price: number::json(resolved.price()),
                tax: line.tax.clone(),
                tax_rate: line.tax_rate.clone(),
            }
        });
        Ok(kept.collect())
    }
}

impl Resolved<'_> {
    /// 1 where the line does not say it.
    fn quantity(&self) -> Decimal {
        self.line.quantity.as_ref().and_then(number::decimal).unwrap_or(Decimal::ONE)
    }

    /// The item's own where the line does not say it, or nothing.
    fn price(&self) -> Decimal {
        let own = || Decimal::from_str_exact(self.item.as_ref()?.price.as_deref()?).ok();
        self.line.price.as_ref().and_then(number::decimal).or_else(own).unwrap_or(Decimal::ZERO)
    }

    fn amounts(&self) -> Option<Amounts> {
        let decimal = |number: &Option<Number>| number.as_ref().and_then(number::decimal);
        amounts(self.quantity(), self.price(), decimal(&self.line.tax), decimal(&self.line.tax_rate))
    }
}

/// The totals without and with tax.
fn sums(lines: &[Resolved<'_>], errors: &mut Vec<String>) -> Option<(Decimal, Decimal)> {
    let mut summed = Vec::with_capacity(lines.len());
    for line in lines {
        match line.amounts() {
            Some(amounts) => summed.push(amounts),
            None => errors.push(format!("line {}: its amounts have more digits than can be kept", line.number)),
        }
    }
    let totals = totals(summed);
    if totals.is_none() {
        errors.push("the totals have more digits than can be kept".to_owned());
    }
    totals
}

/// Records that workflows are to run for an order. There are none here that would.
async fn trigger(tx: &mut Tx<'_>, order_id: &str) -> Result<String, sqlx::Error> {
    let mut job = tx.new_record(Kind::Job).await?;
    let at = moment::show(job.created_at);
    job.shown = json!({"id": job.id, "order_id": order_id, "created_at": at}).to_string();
    tx.insert(Kind::Job, &job).await?;
    Ok(job.id)
}
