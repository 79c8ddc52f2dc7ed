//! Collects the profile of records while a file is read.

use std::collections::BTreeMap;

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use sheetport_mapping::Template;
use sheetport_mapping::map::{Gathered, unquoted};
use sheetport_records::JsonType;
use sheetport_values::decimal::Decimal;

use super::observed::{Observed, Value};
use super::range::Values;
use super::{Distinct, FieldProfile, Profile, Sample};

/// Maximum number of different values counted.
const MAX_DISTINCT: usize = 10_000;
const SAMPLES: usize = 3;
/// Maximum length of a sample in characters.
const SAMPLE_LENGTH: usize = 60;

/// Collects the profile of records.
pub(crate) struct Collector {
    records: u64,
    lines: u64,
    /// In the order of [`Template::rules`].
    fields: Vec<Field>,
    currencies: BTreeMap<String, u64>,
}

struct Field {
    name: &'static str,
    is_of_lines: bool,
    filled: u64,
    /// Hashes of the values.
    distinct: HashTable<u64>,
    /// With the hashes of the values.
    samples: Vec<(u64, Sample)>,
    range: FieldRange,
}

enum FieldRange {
    Numbers(Values<Decimal>),
    /// In ISO 8601, so that the texts sort by time.
    Dates(Values<String>),
    None,
}

impl Collector {
    pub(crate) fn new(template: &Template) -> Collector {
        let record = template.fields.iter().map(|rule| Field::new(rule.field.name, rule.field.json, false));
        let lines = template.lines.iter().map(|rule| Field::new(rule.field.name, rule.field.json, true));
        Collector { records: 0, lines: 0, fields: record.chain(lines).collect(), currencies: BTreeMap::new() }
    }

    /// Adds the values of a record without problems.
    pub(crate) fn add(&mut self, template: &Template, gathered: &Gathered, observed: &Observed) {
        self.records += 1;
        let mut values = observed.values();
        self.lines += gathered.visit_values(template, &mut |rule, json| {
            if let (Some(field), Some(value)) = (self.fields.get_mut(rule), values.next()) {
                field.add(json, value);
            }
        });
        if let Some(currency) = observed.currency() {
            match self.currencies.get_mut(currency.as_str()) {
                Some(count) => *count += 1,
                None => drop(self.currencies.insert(currency.to_string(), 1)),
            }
        }
    }

    /// Returns the profile of the records so far.
    pub(crate) fn profile(&self) -> Profile {
        let of = |field: &Field| if field.is_of_lines { self.lines } else { self.records };
        let fields = self.fields.iter().map(|field| field.profile(of(field))).collect();
        Profile { records: self.records, fields, currencies: self.currencies.clone() }
    }
}

impl Field {
    fn new(name: &'static str, json: JsonType, is_of_lines: bool) -> Field {
        let range = match json {
            JsonType::DateTime => FieldRange::Dates(Values::default()),
            json if json.is_number() => FieldRange::Numbers(Values::default()),
            _ => FieldRange::None,
        };
        Field { name, is_of_lines, filled: 0, distinct: HashTable::new(), samples: Vec::new(), range }
    }

    fn add(&mut self, json: &str, value: Value) {
        self.filled += 1;
        self.count(json, value.hash);
        match (&mut self.range, value.number) {
            (FieldRange::Numbers(values), Some(number)) => values.add(&number),
            (FieldRange::Dates(values), _) => values.add(unquoted(json).as_ref()),
            (FieldRange::Numbers(_) | FieldRange::None, _) => {}
        }
    }

    /// Counts different values, and the samples.
    fn count(&mut self, json: &str, hash: u64) {
        if self.distinct.len() > MAX_DISTINCT {
            return;
        }
        match self.distinct.entry(hash, |known| *known == hash, |known| *known) {
            Entry::Vacant(entry) => {
                entry.insert(hash);
                if self.samples.len() < SAMPLES {
                    let text = unquoted(json).chars().take(SAMPLE_LENGTH).collect();
                    self.samples.push((hash, Sample { text, count: 1 }));
                }
            }
            Entry::Occupied(_) => {
                if let Some((_, sample)) = self.samples.iter_mut().find(|(known, _)| *known == hash) {
                    sample.count += 1;
                }
            }
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
