//! Makes up the records that the requests of a run refer to, for a rehearsal.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};
use sheetport_records::{RecordKind, Reference, inventory, order, transaction};
use sheetport_service::LoadRecord;

/// The id of the inventory of made-up transactions.
const INVENTORY: &str = "sheetport-rehearsal";

/// A kind of records that a rehearsal can make up.
pub(super) struct MadeUpKind {
    /// The name of the list of these records.
    pub list: &'static str,
    pub one: &'static str,
    record: fn(Map<String, Value>) -> LoadRecord,
}

/// In storage order: transactions belong to an inventory.
pub(super) static KINDS: [MadeUpKind; 6] = [
    MadeUpKind { list: "companies", one: "company", record: LoadRecord::Company },
    MadeUpKind { list: "contacts", one: "contact", record: LoadRecord::Contact },
    MadeUpKind { list: "items", one: "item", record: LoadRecord::Item },
    MadeUpKind { list: "inventories", one: "inventory", record: LoadRecord::Inventory },
    MadeUpKind { list: "orders", one: "order", record: LoadRecord::Order },
    MadeUpKind { list: "transactions", one: "transaction", record: LoadRecord::Transaction },
];

/// The id of a record in a request, its external identifier, or both.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Names {
    id: Option<String>,
    external_id: Option<String>,
}

/// The exports of a rehearsal.
pub(super) trait Exported {
    /// Returns whether an export of one of these lists includes one of these members. If so, the export decides which values
    /// exist.
    fn has(&self, lists: &[&str], members: &[&str]) -> bool;
}

/// The records that requests refer to, except the records covered by exports.
pub(super) struct Wanted<'a> {
    exported: &'a dyn Exported,
    by_list: BTreeMap<&'static str, BTreeSet<Names>>,
}

impl<'a> Wanted<'a> {
    pub(super) fn new(exported: &'a dyn Exported) -> Wanted<'a> {
        Wanted { exported, by_list: BTreeMap::new() }
    }

    /// Adds the records that a request refers to. `target` is the id in the path of the request.
    pub(super) fn add(&mut self, kind: RecordKind, target: Option<&str>, body: &Value) {
        let input = kind.input();
        let record = input.member().map_or(body, |member| &body[member]);
        let is_on = |option: &str| body[option] == true;
        self.add_references(input.references, record, &is_on);
        let lines = input.lines().and_then(|(field, _)| record[field.name].as_array());
        for line in lines.into_iter().flatten() {
            self.add_references(input.references, line, &is_on);
        }
        if let Some(target) = target {
            self.add_target(kind, target, record);
        }
    }

    /// Adds the records referenced by the fields of an object. Combines fields that refer to the same record.
    fn add_references(&mut self, references: &'static [Reference], object: &Value, is_on: &dyn Fn(&str) -> bool) {
        let mut found: BTreeMap<&str, (Names, bool)> = BTreeMap::new();
        for reference in references {
            let Some(value) = object[reference.field].as_str().filter(|value| !value.is_empty()) else { continue };
            let lists: Vec<&'static str> = reference.found_by.lists().collect();
            let members = reference.found_by.members();
            let is_known = self.exported.has(&lists, members) || reference.created_with.is_some_and(is_on);
            // If several lists may contain the record, any list is fine.
            let Some(list) = lists.first() else { continue };
            let (names, is_wanted) = found.entry(*list).or_default();
            let name = if members.contains(&"external_id") { &mut names.external_id } else { &mut names.id };
            *name = Some(value.to_owned());
            *is_wanted |= !is_known;
        }
        for (list, (names, is_wanted)) in found {
            if is_wanted {
                self.insert(list, names);
            }
        }
    }

    /// Adds the order or transaction changed by a request.
    fn add_target(&mut self, kind: RecordKind, target: &str, record: &Value) {
        let list = match kind {
            RecordKind::Order => order::SINGLE.name,
            RecordKind::InventoryTransaction => transaction::SINGLE.name,
            RecordKind::Item | RecordKind::Subscription | RecordKind::Invoice => return,
        };
        let external_id = record["externalId"].as_str().map(str::to_owned);
        let is_external = external_id.as_deref() == Some(target);
        let member = if is_external { "external_id" } else { "id" };
        if !self.exported.has(&[list], &[member]) {
            let id = (!is_external).then(|| target.to_owned());
            self.insert(list, Names { id, external_id });
        }
    }

    fn insert(&mut self, list: &str, names: Names) {
        if let Some(kind) = KINDS.iter().find(|kind| kind.list == list) {
            self.by_list.entry(kind.list).or_default().insert(names);
        }
    }

    /// Returns the records of each kind, in the order of [`KINDS`].
    pub(super) fn into_records(mut self) -> Vec<(&'static MadeUpKind, Vec<LoadRecord>)> {
        if self.by_list.get(transaction::SINGLE.name).is_some_and(|names| !names.is_empty()) {
            self.insert("inventories", Names { id: Some(INVENTORY.to_owned()), external_id: None });
        }
        let Wanted { mut by_list, .. } = self;
        let records = KINDS.iter().filter_map(|kind| {
            let names = without_parts(by_list.remove(kind.list)?);
            Some((kind, names.into_iter().map(|names| (kind.record)(fields(kind, names))).collect()))
        });
        records.collect()
    }
}

/// Removes single names that also occur in a pair.
fn without_parts(names: BTreeSet<Names>) -> Vec<Names> {
    let pairs = || names.iter().filter(|names| names.id.is_some() && names.external_id.is_some());
    let ids: BTreeSet<&str> = pairs().filter_map(|pair| pair.id.as_deref()).collect();
    let external_ids: BTreeSet<&str> = pairs().filter_map(|pair| pair.external_id.as_deref()).collect();
    let is_part = |names: &&Names| match (&names.id, &names.external_id) {
        (Some(id), None) => ids.contains(id.as_str()),
        (None, Some(external_id)) => external_ids.contains(external_id.as_str()),
        _ => false,
    };
    names.iter().filter(|names| !is_part(names)).cloned().collect()
}

fn fields(kind: &MadeUpKind, names: Names) -> Map<String, Value> {
    let mut fields = Map::new();
    if kind.list == transaction::SINGLE.name {
        fields.insert("inventory_id".to_owned(), json!(INVENTORY));
        fields.insert("transaction_type".to_owned(), json!("adjust"));
    }
    if kind.list == inventory::LIST.name {
        // A count is compared with them.
        let figures = ["available", "committed", "unavailable", "total_inventory"];
        fields.extend(figures.map(|figure| (figure.to_owned(), json!(0))));
    }
    for (name, value) in [("id", names.id), ("external_id", names.external_id)] {
        fields.extend(value.map(|value| (name.to_owned(), Value::from(value))));
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Nothing;

    impl Exported for Nothing {
        fn has(&self, _: &[&str], _: &[&str]) -> bool {
            false
        }
    }

    struct Items;

    impl Exported for Items {
        fn has(&self, lists: &[&str], members: &[&str]) -> bool {
            lists.contains(&"items") && members.contains(&"external_id")
        }
    }

    fn of(requests: &[(RecordKind, Option<&str>, Value)], exported: &dyn Exported) -> Vec<String> {
        let mut wanted = Wanted::new(exported);
        for (kind, target, body) in requests {
            wanted.add(*kind, *target, body);
        }
        let records = wanted.into_records().into_iter().flat_map(|(kind, records)| {
            records.into_iter().map(move |record| {
                let fields = match record {
                    LoadRecord::Company(fields)
                    | LoadRecord::Contact(fields)
                    | LoadRecord::Item(fields)
                    | LoadRecord::Inventory(fields)
                    | LoadRecord::Order(fields)
                    | LoadRecord::Transaction(fields) => fields,
                };
                format!("{} {}", kind.one, Value::Object(fields))
            })
        });
        records.collect()
    }

    #[test]
    fn references_of_orders_are_made_up_once() {
        let order = |target: &'static str, body: Value| (RecordKind::Order, Some(target), body);
        let requests = [
            order(
                "SO-1",
                json!({"order": {"externalId": "SO-1", "companyExternalId": "C1", "items": [{"itemExternalId": "A"}, {"item_id": "7"}]}}),
            ),
            order(
                "5001",
                json!({"order": {"companyId": "c1", "companyExternalId": "C1", "items": [{"itemExternalId": "A"}]}}),
            ),
            order("x9", json!({"order": {"externalId": "SO-2", "items": []}})),
            order(
                "SO-2",
                json!({"createMissingItems": true, "order": {"externalId": "SO-2", "items": [{"itemExternalId": "B"}]}}),
            ),
        ];
        assert_eq!(
            of(&requests, &Nothing),
            [
                r#"company {"id":"c1","external_id":"C1"}"#,
                r#"item {"external_id":"A"}"#,
                r#"item {"id":"7"}"#,
                r#"order {"external_id":"SO-1"}"#,
                r#"order {"id":"5001"}"#,
                r#"order {"id":"x9","external_id":"SO-2"}"#,
            ]
        );
        let with_items = of(&requests, &Items);
        assert!(!with_items.iter().any(|made_up| made_up.contains(r#""A""#)), "{with_items:?}");
        assert!(with_items.contains(&r#"item {"id":"7"}"#.to_owned()), "{with_items:?}");
    }

    #[test]
    fn transactions_to_change_are_made_up_in_an_inventory_of_their_own() {
        let requests = [
            (RecordKind::InventoryTransaction, Some("t1"), json!({"transactionType": "in", "inventoryId": "i1"})),
            (RecordKind::InventoryTransaction, None, json!({"transactionType": "in", "inventoryExternalId": "L-1"})),
        ];
        assert_eq!(
            of(&requests, &Nothing),
            [
                r#"inventory {"available":0,"committed":0,"unavailable":0,"total_inventory":0,"external_id":"L-1"}"#,
                r#"inventory {"available":0,"committed":0,"unavailable":0,"total_inventory":0,"id":"i1"}"#,
                r#"inventory {"available":0,"committed":0,"unavailable":0,"total_inventory":0,"id":"sheetport-rehearsal"}"#,
                r#"transaction {"inventory_id":"sheetport-rehearsal","transaction_type":"adjust","id":"t1"}"#,
            ]
        );
    }

    #[test]
    fn customers_and_items_of_invoices_are_made_up() {
        let body = json!({"cid": "p1", "items": [{"id": "i1", "amount": 1}, {"id": "i1", "amount": 2}]});
        assert_eq!(
            of(&[(RecordKind::Invoice, None, body)], &Nothing),
            [r#"contact {"id":"p1"}"#, r#"item {"id":"i1"}"#]
        );
    }
}
