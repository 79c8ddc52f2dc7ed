//! The values of one record, prepared for the profile on any thread.

use sheetport_mapping::Mapper;
use sheetport_mapping::map::Gathered;
use sheetport_values::currency::Currency;
use sheetport_values::decimal::{self, Decimal};
use twox_hash::XxHash3_64;

/// What is known about the values of a record. Its buffer is reused.
#[derive(Debug, Default)]
pub(crate) struct Observed {
    /// In the order of [`Gathered::visit_values`].
    values: Vec<Value>,
    currency: Option<Currency>,
}

/// A value of a rule, neither null nor empty.
#[derive(Clone, Copy, Debug)]
pub(super) struct Value {
    pub(super) hash: u64,
    /// The value of a number.
    pub(super) number: Option<Decimal>,
}

impl Observed {
    pub(crate) fn clear(&mut self) {
        self.values.clear();
        self.currency = None;
    }

    /// Adds the values of a record without problems.
    pub(crate) fn observe(&mut self, mapper: &Mapper<'_>, gathered: &Gathered) {
        let template = mapper.template();
        gathered.visit_values(template, &mut |rule, json| {
            let is_number = template.rule(rule).is_some_and(|rule| rule.field.json.is_number());
            let number = if is_number { decimal::parse(json).ok() } else { None };
            self.values.push(Value { hash: XxHash3_64::oneshot(json.as_bytes()), number });
        });
        self.currency = mapper.currency(gathered);
    }

    pub(super) fn currency(&self) -> Option<Currency> {
        self.currency
    }

    pub(super) fn values(&self) -> impl Iterator<Item = Value> {
        self.values.iter().copied()
    }
}
