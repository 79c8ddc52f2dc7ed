//! Finds duplicates: records created by different requests, with the same content or the same natural key. Pure.

use std::collections::{BTreeMap, HashMap};

use serde::Serialize;
use serde_json::{Map, Value};
use sheetport_values::decimal;

use crate::store::{Kind, Record};

/// A group of duplicate records.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Arrivals {
    pub records: &'static str,
    pub ids: Vec<String>,
    /// The requests that created the records; null for a record without a request in the journal.
    pub requests: Vec<Option<i64>>,
    /// The reason for the match, such as `the same content`.
    pub same: String,
}

/// Compares the records of a kind.
pub(super) struct Finder {
    kind: Kind,
    name: &'static str,
    /// The request that created a record, and the hash of the content.
    created: HashMap<String, (i64, Option<i64>)>,
    /// Ids and contents by natural key.
    found: BTreeMap<String, Vec<(String, String)>>,
}

impl Finder {
    pub(super) fn new(kind: Kind, name: &'static str, created: HashMap<String, (i64, Option<i64>)>) -> Finder {
        Finder { kind, name, created, found: BTreeMap::new() }
    }

    /// Returns whether a comparison is needed: the journal contains a request that created a record.
    pub(super) fn wants_records(&self) -> bool {
        !self.created.is_empty()
    }

    pub(super) fn add(&mut self, record: &Record) -> Result<(), sqlx::Error> {
        let request = self.created.get(&record.id);
        let key = match self.kind {
            Kind::Item => record.external_id.as_deref().map(|id| (spelled_alike(id), id.to_owned())),
            Kind::Transaction | Kind::Subscription | Kind::Invoice if request.is_some() => {
                let body: Map<String, Value> = record.parse_body()?;
                Some((natural_key(self.kind, &body), content(&body)))
            }
            Kind::Job => {
                let body: Map<String, Value> = record.parse_body()?;
                let request = request.and_then(|(_, content)| *content);
                request.map(|content| (format!("{} {content}", text(&body, "order_id")), String::new()))
            }
            _ => None,
        };
        if let Some((key, content)) = key {
            self.found.entry(key).or_default().push((record.id.clone(), content));
        }
        Ok(())
    }

    /// Returns the groups of duplicates.
    pub(super) fn arrivals(&self) -> Vec<Arrivals> {
        let groups = self.found.values().filter(|group| group.len() > 1);
        let groups = groups.filter(|group| group.iter().any(|(id, _)| self.created.contains_key(id)));
        let arrivals = groups.map(|group| {
            let is_same = group.iter().all(|(_, content)| *content == group[0].1);
            Arrivals {
                records: self.name,
                ids: group.iter().map(|(id, _)| id.clone()).collect(),
                requests: group.iter().map(|(id, _)| self.created.get(id).map(|(request, _)| *request)).collect(),
                same: match self.kind {
                    Kind::Item => {
                        let ids: Vec<_> = group.iter().map(|(_, id)| format!("{id:?}")).collect();
                        format!("external ids that differ in spelling alone: {}", ids.join(", "))
                    }
                    Kind::Job => "the same order, by requests with the same content".to_owned(),
                    _ if is_same => "the same content".to_owned(),
                    Kind::Transaction => "the same inventory, type, units and date".to_owned(),
                    Kind::Subscription => "the same customer and items".to_owned(),
                    _ => "the same customer, items and amounts".to_owned(),
                },
            }
        });
        arrivals.collect()
    }

    /// Returns the ids of the duplicates of each record, by id.
    pub(super) fn twins(&self) -> HashMap<String, Vec<String>> {
        let mut twins = HashMap::new();
        for group in self.arrivals() {
            for id in &group.ids {
                let others = group.ids.iter().filter(|other| *other != id).cloned().collect();
                twins.insert(id.clone(), others);
            }
        }
        twins
    }
}

/// Normalizes an identifier for typing errors: case, spaces, and leading zeros of a number.
fn spelled_alike(id: &str) -> String {
    let id: String = id.chars().filter(|letter| !letter.is_whitespace()).flat_map(char::to_lowercase).collect();
    match id.bytes().all(|byte| byte.is_ascii_digit()) {
        true => id.trim_start_matches('0').to_owned(),
        false => id,
    }
}

/// Returns the fields by which people identify a record. The order of the lines does not matter.
fn natural_key(kind: Kind, body: &Map<String, Value>) -> String {
    let names: &[&str] = match kind {
        Kind::Transaction => &["inventory_uuid", "transaction_type", "transaction_amount", "transaction_date"],
        Kind::Subscription => &["cid", "items"],
        _ => &["cid", "items", "currency"],
    };
    let mut parts: Vec<String> = names.iter().map(|name| value_of(body, name)).collect();
    if kind != Kind::Transaction {
        let lines = body.get("items").and_then(Value::as_array).into_iter().flatten();
        let mut lines: Vec<String> = match kind {
            Kind::Subscription => lines.map(|line| line["id"].to_string()).collect(),
            _ => lines.map(canonical).collect(),
        };
        lines.sort();
        parts[1] = lines.join(",");
    }
    parts.join("\n")
}

/// Returns the fields set by the request as a text.
fn content(body: &Map<String, Value>) -> String {
    let own = ["id", "transaction_id", "created_at", "updated_at", "ctx_id"];
    let names: BTreeMap<&String, ()> =
        body.keys().filter(|name| !own.contains(&name.as_str())).map(|name| (name, ())).collect();
    names.keys().map(|name| format!("{name}={}\n", value_of(body, name))).collect()
}

/// Returns a value as text, equal for equal numbers. Ignores the date of a transaction if it is the default, the time of
/// creation.
fn value_of(body: &Map<String, Value>, name: &str) -> String {
    match body.get(name) {
        Some(date) if name == "transaction_date" && body.get("created_at") == Some(date) => String::new(),
        Some(value) => canonical(value),
        None => String::new(),
    }
}

fn canonical(value: &Value) -> String {
    match value {
        Value::Number(number) => decimal::canonical(number.as_str()).unwrap_or_else(|| number.as_str().to_owned()),
        Value::Array(values) => values.iter().map(|value| canonical(value) + ",").collect(),
        Value::Object(fields) => {
            let fields: BTreeMap<&String, String> =
                fields.iter().map(|(name, value)| (name, canonical(value))).collect();
            format!("{fields:?}")
        }
        value => value.to_string(),
    }
}

fn text<'a>(body: &'a Map<String, Value>, name: &str) -> &'a str {
    body.get(name).and_then(Value::as_str).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_of_lines_does_not_matter() {
        let key = |kind, items: &str| {
            let body = format!(r#"{{"cid":"c","currency":"EUR","items":{items}}}"#);
            natural_key(kind, &serde_json::from_str(&body).expect("an object"))
        };
        let lines = r#"[{"id":"a","amount":1},{"id":"b","amount":2.0}]"#;
        let turned = r#"[{"id":"b","amount":2},{"amount":1,"id":"a"}]"#;
        let other = r#"[{"id":"a","amount":2},{"id":"b","amount":1}]"#;
        let twice = r#"[{"id":"a","amount":1},{"id":"a","amount":1},{"id":"b","amount":2}]"#;
        for kind in [Kind::Invoice, Kind::Subscription] {
            assert_eq!(key(kind, lines), key(kind, turned), "{kind:?}");
            assert_ne!(key(kind, lines), key(kind, twice), "{kind:?}");
        }
        assert_ne!(key(Kind::Invoice, lines), key(Kind::Invoice, other));
        assert_eq!(key(Kind::Subscription, lines), key(Kind::Subscription, other), "amounts do not count");
    }
}
