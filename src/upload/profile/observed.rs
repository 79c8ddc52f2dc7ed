//! The values of one record, prepared for the profile on any thread.

use std::hash::{BuildHasher, RandomState};

use crate::currency::Currency;
use crate::decimal::{self, Decimal};
use crate::template::Mapper;
use crate::template::map::Parts;

/// The values of a record. Its buffers are reused.
#[derive(Debug, Default)]
pub(in crate::upload) struct Observed {
    values: Vec<Place>,
    /// The values as JSON, concatenated.
    json: String,
    lines: u64,
    currency: Option<Currency>,
}

#[derive(Debug)]
struct Place {
    /// The index of the rule, as in [`crate::template::Template::rules`].
    rule: usize,
    /// The end of its JSON.
    end: usize,
    hash: u64,
    number: Option<Decimal>,
}

/// A value of a rule, neither null nor empty.
pub(super) struct Value<'a> {
    pub(super) rule: usize,
    pub(super) json: &'a str,
    pub(super) hash: u64,
    /// The value of a number.
    pub(super) number: Option<Decimal>,
}

impl Observed {
    pub(in crate::upload) fn clear(&mut self) {
        self.values.clear();
        self.json.clear();
        (self.lines, self.currency) = (0, None);
    }

    /// Adds the values of a record without problems.
    pub(in crate::upload) fn observe(&mut self, mapper: &Mapper<'_>, parts: &Parts, hasher: &RandomState) {
        let template = mapper.template();
        self.lines = parts.visit_values(template, &mut |rule, json| {
            let is_number = template.rule(rule).is_some_and(|rule| rule.field.json.is_number());
            self.push(rule, is_number, json, hasher);
        });
        self.currency = mapper.currency(parts);
    }

    fn push(&mut self, rule: usize, is_number: bool, json: &str, hasher: &RandomState) {
        let number = if is_number { decimal::parse(json).ok() } else { None };
        self.json.push_str(json);
        self.values.push(Place { rule, end: self.json.len(), hash: hasher.hash_one(json), number });
    }

    pub(super) fn lines(&self) -> u64 {
        self.lines
    }

    pub(super) fn currency(&self) -> Option<Currency> {
        self.currency
    }

    pub(super) fn values(&self) -> impl Iterator<Item = Value<'_>> {
        let mut start = 0;
        self.values.iter().map(move |place| {
            let json = &self.json[std::mem::replace(&mut start, place.end)..place.end];
            Value { rule: place.rule, json, hash: place.hash, number: place.number }
        })
    }
}
