//! Collects the profile of records while a file is read.

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};

use super::range::Values;
use super::{Distinct, FieldProfile, Profile, Sample};
use crate::decimal::{self, Decimal};
use crate::records::JsonType;
use crate::template::map::{Parts, unquoted};
use crate::template::{Mapper, Template};

/// Maximum number of different values counted.
const MAX_DISTINCT: usize = 10_000;
const SAMPLES: usize = 3;
/// Maximum length of a sample in characters.
const SAMPLE_LENGTH: usize = 60;

/// Collects the profile of records.
pub(in crate::upload) struct Collector {
    records: u64,
    lines: u64,
    fields: Vec<Field>,
    hasher: RandomState,
    profile: Profile,
}

struct Field {
    name: &'static str,
    is_of_lines: bool,
    filled: u64,
    /// Hashes of the values.
    distinct: HashSet<u64>,
    /// With the hashes of the values.
    samples: Vec<(u64, Sample)>,
    range: FieldRange,
}

enum FieldRange {
    Numbers(Values<Decimal>),
    /// In ISO 8601, which sorts by time.
    Dates(Values<String>),
    None,
}

impl Collector {
    pub(in crate::upload) fn new(template: &Template) -> Collector {
        let record = template.fields.iter().map(|rule| Field::new(rule.field.name, rule.field.json, false));
        let lines = template.lines.iter().map(|rule| Field::new(rule.field.name, rule.field.json, true));
        let fields = record.chain(lines).collect();
        Collector { records: 0, lines: 0, fields, hasher: RandomState::new(), profile: Profile::default() }
    }

    /// Adds a record without problems.
    pub(in crate::upload) fn add(&mut self, mapper: &Mapper<'_>, parts: &Parts) {
        self.records += 1;
        for (rule, json) in parts.values() {
            if let Some(field) = self.fields.get_mut(rule) {
                field.add(json, &self.hasher);
            }
        }
        for line in parts.lines() {
            self.lines += 1;
            for field in self.fields.iter_mut().filter(|field| field.is_of_lines) {
                if let Some(json) = line.get(field.name) {
                    field.add(json.get(), &self.hasher);
                }
            }
        }
        if let Some(currency) = mapper.currency(parts) {
            match self.profile.currencies.get_mut(currency.as_str()) {
                Some(count) => *count += 1,
                None => drop(self.profile.currencies.insert(currency.to_string(), 1)),
            }
        }
    }

    /// Returns the profile of the records so far.
    pub(in crate::upload) fn profile(&self) -> Profile {
        let of = |field: &Field| if field.is_of_lines { self.lines } else { self.records };
        let fields = self.fields.iter().map(|field| field.profile(of(field))).collect();
        Profile { records: self.records, fields, currencies: self.profile.currencies.clone() }
    }
}

impl Field {
    fn new(name: &'static str, json: JsonType, is_of_lines: bool) -> Field {
        let range = match json {
            JsonType::Number | JsonType::Integer => FieldRange::Numbers(Values::default()),
            JsonType::DateTime => FieldRange::Dates(Values::default()),
            JsonType::String | JsonType::Boolean => FieldRange::None,
            JsonType::Strings | JsonType::Object(_) | JsonType::Objects(_) => FieldRange::None,
        };
        Field { name, is_of_lines, filled: 0, distinct: HashSet::new(), samples: Vec::new(), range }
    }

    fn add(&mut self, json: &str, hasher: &RandomState) {
        if matches!(json, "null" | "\"\"") {
            return;
        }
        self.filled += 1;
        if self.distinct.len() <= MAX_DISTINCT {
            let hash = hasher.hash_one(json);
            let is_new = self.distinct.insert(hash);
            if is_new && self.samples.len() < SAMPLES {
                let text = unquoted(json).chars().take(SAMPLE_LENGTH).collect();
                self.samples.push((hash, Sample { text, count: 1 }));
            } else if !is_new && let Some((_, sample)) = self.samples.iter_mut().find(|(known, _)| *known == hash) {
                sample.count += 1;
            }
        }
        match &mut self.range {
            FieldRange::Numbers(values) => {
                if let Ok(number) = decimal::parse(json) {
                    values.add(number);
                }
            }
            FieldRange::Dates(values) => values.add(unquoted(json).into_owned()),
            FieldRange::None => {}
        }
    }

    fn profile(&self, of: u64) -> FieldProfile {
        FieldProfile {
            field: if self.is_of_lines { format!("lines.{}", self.name) } else { self.name.to_owned() },
            filled: self.filled,
            of,
            distinct: match self.distinct.len() {
                count if count > MAX_DISTINCT => Distinct::MoreThan(MAX_DISTINCT as u64),
                count => Distinct::Exactly(count as u64),
            },
            range: match &self.range {
                FieldRange::Numbers(values) => values.range(),
                FieldRange::Dates(values) => values.range(),
                FieldRange::None => None,
            },
            samples: self.samples.iter().map(|(_, sample)| sample.clone()).collect(),
        }
    }
}
