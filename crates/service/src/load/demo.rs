//! The records of the demo workspace: a hardware shop's items and inventories with some transactions, the inventories of the two warehouses of
//! `samples/stock-count.xlsx`, companies in several countries with their contacts, and a month of orders. The files contain records as in responses, and the lines of orders as in updates.

use futures_util::future::BoxFuture;
use serde_json::{Map, Value, json};

use crate::error::Error;
use crate::handlers::orders;
use crate::reading::Reading;
use crate::server::Service;
use crate::store::{Kind, WriteOutcome};

use super::model::LoadRecord;

type Variant = fn(Map<String, Value>) -> LoadRecord;

/// Each file refers only to records of earlier files.
const FILES: [(Variant, &str); 5] = [
    (LoadRecord::Item, include_str!("demo/items.json")),
    (LoadRecord::Company, include_str!("demo/companies.json")),
    (LoadRecord::Contact, include_str!("demo/contacts.json")),
    (LoadRecord::Inventory, include_str!("demo/inventories.json")),
    (LoadRecord::Transaction, include_str!("demo/transactions.json")),
];

const ORDERS: &str = include_str!("demo/orders.json");

impl Service {
    /// Fills an empty workspace. Returns the number of added records: 0 if the workspace is not empty or if another service adds
    /// the same records at the same time.
    pub fn fill_demo<'a>(&'a self, workspace: &'a str) -> BoxFuture<'a, Result<usize, Error>> {
        Box::pin(async move {
            if !self.is_empty(workspace).await? {
                return Ok(0);
            }
            let mut loading: Vec<_> =
                FILES.iter().flat_map(|(variant, json)| records(json).into_iter().map(variant)).collect();
            let mut updates = Vec::new();
            for mut order in records(ORDERS) {
                if let (Some(lines), Some(Value::String(id))) = (order.shift_remove("lines"), order.get("id")) {
                    updates.push((id.clone(), Map::from_iter([("order".to_owned(), json!({"items": lines}))])));
                }
                loading.push(LoadRecord::Order(order));
            }
            let loaded: Result<Vec<_>, _> = self.load(workspace, loading).await?.into_iter().collect();
            let loaded = loaded.expect("a test loads the demo's records");
            // Setting the lines calculates the totals.
            for (id, body) in updates {
                let update =
                    orders::parse_update(id, &body, Reading::Tolerant).expect("a test validates the demo's orders");
                self.app.store.write(workspace, update).await.map_err(|_| Error::NotStored)?;
            }
            Ok(loaded.iter().filter(|record| record.outcome == WriteOutcome::Created).count())
        })
    }

    async fn is_empty(&self, workspace: &str) -> Result<bool, Error> {
        let store = &self.app.store;
        let mut total = 0;
        for kind in [Kind::Item, Kind::Company, Kind::Contact, Kind::Inventory, Kind::Order] {
            total += store.page(workspace, kind, 1, 1).await.map_err(Error::NotRead)?.total;
        }
        Ok(total == 0)
    }
}

/// Parses a file of the demo.
fn records(json: &str) -> Vec<Map<String, Value>> {
    serde_json::from_str(json).expect("a test parses the demo's files")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Config;

    #[tokio::test]
    async fn the_demo_fills_an_empty_workspace_once() {
        let counts: Vec<_> = FILES.iter().map(|(_, json)| records(json).len()).collect();
        assert_eq!((counts, records(ORDERS).len()), (vec![40, 12, 20, 42, 3], 30));
        let folder = tempfile::tempdir().expect("a folder");
        let service = Service::open(Config::new(folder.path())).await.expect("opened");
        assert_eq!(service.fill_demo("demo").await.expect("filled"), 147);
        assert_eq!(service.fill_demo("demo").await.expect("not filled again"), 0);
        assert_eq!(service.fill_demo("other").await.expect("filled"), 147, "workspaces are independent");
        let orders = service.app.store.page("demo", Kind::Order, 1, 100).await.expect("orders").entries;
        let orders: Vec<Value> = serde_json::from_str(&format!("[{orders}]")).expect("JSON");
        for (order, source) in orders.iter().zip(records(ORDERS)) {
            assert_eq!(order["number_item"], source["lines"].as_array().map_or(0, Vec::len), "{order}");
            assert!(order["total_price"].as_f64() > order["total_price_without_tax"].as_f64(), "{order}");
        }
        let (one, other) = tokio::join!(service.fill_demo("shared"), service.fill_demo("shared"));
        assert_eq!(one.expect("filled") + other.expect("filled"), 147, "each counts what it has added");
        service.close().await;
    }

    #[test]
    fn all_references_exist() {
        let ids: Vec<Vec<_>> =
            FILES.iter().map(|(_, json)| records(json).iter().map(|record| record["id"].clone()).collect()).collect();
        let [items, companies, contacts, ..] = &ids[..] else { panic!("files are missing") };
        for order in records(ORDERS) {
            assert!(companies.contains(&order["company_id"]), "{order:?}");
            assert!(order.get("contact_id").is_none_or(|contact| contacts.contains(contact)), "{order:?}");
        }
        for inventory in records(FILES[3].1) {
            let within = inventory["item_ids"].as_array().expect("an array");
            assert!(within.iter().all(|item| items.contains(item)), "{inventory:?}");
        }
    }
}
