//! The kinds of records of the random orders: a few values of two fields each, in a file, from another writer and in the service.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use fastrand::Rng;
use reqwest::Method;
use serde_json::{Value, json};
use sheetport_service::LoadRecord;

pub const KEYS: [&str; 4] = ["A-1", "B-2", "C-3", "D-4"];
pub const FIELDS: usize = 2;
const NAMES: [&str; 3] = ["Bolt", "Nut", "Washer"];
const DELIVERIES: [&str; 3] = ["open", "packed", "sent"];
/// The lines of an order: item and quantity.
const LINES: [&[(&str, u8)]; 5] =
    [&[("N-1", 1)], &[("N-1", 2)], &[("N-1", 2), ("N-2", 1)], &[("N-2", 7)], &[("N-2", 7), ("N-3", 4), ("N-1", 1)]];

/// The values of a record, as text.
pub type Record = [String; FIELDS];
/// What the service or a file has, by key.
pub type Kept = BTreeMap<&'static str, Record>;

#[derive(Clone, Copy)]
pub enum Records {
    /// With a name and a price. Those that are not there are created.
    Items,
    /// With a state of the delivery and lines. All are there, and have both once somebody has written them.
    Orders,
}

impl Records {
    pub fn template(self) -> &'static str {
        match self {
            Records::Items => "items",
            Records::Orders => "orders",
        }
    }

    /// Returns what the service has in the beginning.
    pub fn there(self) -> Vec<LoadRecord> {
        let Records::Orders = self else { return Vec::new() };
        let item = |id: &str| {
            LoadRecord::Item(serde_json::from_value(json!({"external_id": id, "name": id, "price": 1.5})).unwrap())
        };
        let order = |key: &str| {
            let fields = json!({"id": key, "external_id": key, "order_at": "2026-09-01T08:00:00.000Z"});
            LoadRecord::Order(serde_json::from_value(fields).unwrap())
        };
        ["N-1", "N-2", "N-3"].into_iter().map(item).chain(KEYS.into_iter().map(order)).collect()
    }

    pub fn any(self, random: &mut Rng) -> Record {
        match self {
            Records::Items => [NAMES[random.usize(..NAMES.len())].to_owned(), random.u8(1..5).to_string()],
            Records::Orders => {
                let lines = LINES[random.usize(..LINES.len())].iter();
                [
                    DELIVERIES[random.usize(..DELIVERIES.len())].to_owned(),
                    text(lines.map(|(item, quantity)| ((*item).to_owned(), u64::from(*quantity)))),
                ]
            }
        }
    }

    pub fn csv(self, kept: &Kept) -> String {
        let mut csv = match self {
            Records::Items => "Item number,Name,Price,Currency\n",
            Records::Orders => "Order number,Delivery status,Item number,Quantity,Unit price\n",
        }
        .to_owned();
        for (key, [first, second]) in kept {
            match self {
                Records::Items => writeln!(csv, "{key},{first},{second},EUR").unwrap(),
                Records::Orders => lines_of(second)
                    .for_each(|(item, quantity)| writeln!(csv, "{key},{first},{item},{quantity},1.50").unwrap()),
            }
        }
        csv
    }

    /// Returns the request of another program that writes a record.
    pub fn request(self, key: &str, [first, second]: &Record) -> (Method, String, Value) {
        match self {
            Records::Items => {
                let price: u8 = second.parse().unwrap();
                let body = json!({"externalId": key, "name": first, "price": price, "currency": "EUR"});
                (Method::POST, "/v1/public/items".to_owned(), body)
            }
            Records::Orders => {
                let lines: Vec<Value> = lines_of(second)
                    .map(|(item, quantity)| json!({"itemExternalId": item, "quantity": quantity, "price": 1.5}))
                    .collect();
                let body = json!({"order": {"externalId": key, "deliveryStatus": first, "items": lines}});
                (Method::PUT, format!("/v1/public/orders/{key}"), body)
            }
        }
    }

    /// Returns what the service has. `get` reads a path.
    pub fn kept(self, get: impl Fn(&str) -> Value) -> Kept {
        let (list, first, second) = match self {
            Records::Items => ("/v1/public/items", "name", "price"),
            Records::Orders => ("/v1/public/orders", "delivery_status", "items"),
        };
        let record = |entry: &Value| {
            let key = KEYS.into_iter().find(|key| entry["external_id"] == *key).unwrap();
            let shown = match self {
                Records::Items => entry.clone(),
                Records::Orders => get(&format!("{list}/{key}")),
            };
            let second = match &shown[second] {
                Value::Array(lines) => text(lines.iter().map(|line| {
                    (line["itemExternalId"].as_str().unwrap().to_owned(), line["quantity"].as_u64().unwrap())
                })),
                other => other.to_string(),
            };
            (key, [shown[first].as_str().unwrap_or_default().to_owned(), second])
        };
        get(list)["data"].as_array().unwrap().iter().map(record).collect()
    }
}

/// Returns lines such as `N-1 2, N-2 1`.
fn text(lines: impl Iterator<Item = (String, u64)>) -> String {
    lines.map(|(item, quantity)| format!("{item} {quantity}")).collect::<Vec<_>>().join(", ")
}

/// Iterates over the lines of a text, each as item and quantity.
fn lines_of(text: &str) -> impl Iterator<Item = (&str, u64)> {
    text.split(", ").filter_map(|line| line.split_once(' ')).map(|(item, quantity)| (item, quantity.parse().unwrap()))
}
