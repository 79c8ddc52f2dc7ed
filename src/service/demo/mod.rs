//! A small living company, for a service that is to be looked at: companies in several countries, the people in them,
//! a hardware shop's items, what is in stock, and a month of orders. Its files hold records in the read shapes, and the
//! orders' lines as an update has them.

use serde_json::{Map, Value, json};

use super::load::Loaded;
use super::store::Kind;
use super::{Error, Service, orders};

type Wrap = fn(Map<String, Value>) -> Loaded;

/// In the order in which they refer to each other.
const FILES: [(Wrap, &str); 4] = [
    (Loaded::Item, include_str!("items.json")),
    (Loaded::Company, include_str!("companies.json")),
    (Loaded::Contact, include_str!("contacts.json")),
    (Loaded::Inventory, include_str!("inventories.json")),
];

const ORDERS: &str = include_str!("orders.json");

impl Service {
    /// Fills the workspace unless there is anything in it, and answers how many records that made.
    pub async fn fill_demo(&self, workspace: &str) -> Result<usize, Error> {
        if !self.is_empty(workspace).await? {
            return Ok(0);
        }
        let mut loading: Vec<_> = FILES.iter().flat_map(|(wrap, json)| records(json).into_iter().map(wrap)).collect();
        let mut updates = Vec::new();
        for mut order in records(ORDERS) {
            if let (Some(lines), Some(Value::String(id))) = (order.shift_remove("lines"), order.get("id")) {
                updates.push((id.clone(), Map::from_iter([("order".to_owned(), json!({"items": lines}))])));
            }
            loading.push(Loaded::Order(order));
        }
        let loaded = self.load(workspace, loading).await?.iter().filter(|loaded| loaded.is_ok()).count();
        // The totals of the orders follow from their lines.
        for (id, body) in updates {
            if let Ok(update) = orders::update_input(workspace.into(), id, &body) {
                self.app.store.carry_out(update).await.map_err(|_| Error::NotStored)?;
            }
        }
        Ok(loaded)
    }

    async fn is_empty(&self, workspace: &str) -> Result<bool, Error> {
        let store = &self.app.store;
        let mut total = store.item_page(workspace, 1, 1).await.map_err(Error::NotRead)?.total;
        for kind in [Kind::Company, Kind::Contact, Kind::Inventory, Kind::Order] {
            total += store.record_page(workspace, kind, 1, 1).await.map_err(Error::NotRead)?.total;
        }
        Ok(total == 0)
    }
}

/// The files are part of the program; a test reads them.
fn records(json: &str) -> Vec<Map<String, Value>> {
    serde_json::from_str(json).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::service::Config;

    #[tokio::test]
    async fn every_record_is_right_and_an_empty_workspace_gets_them_once() {
        let counts: Vec<_> = FILES.iter().map(|(_, json)| records(json).len()).collect();
        assert_eq!((counts, records(ORDERS).len()), (vec![40, 12, 20, 8], 30));
        let folder = tempfile::tempdir().expect("a folder");
        let service = Service::open(Config::new(folder.path())).await.expect("opened");
        assert_eq!(service.fill_demo("demo").await.expect("filled"), 110);
        assert_eq!(service.fill_demo("demo").await.expect("left alone"), 0);
        assert_eq!(service.fill_demo("other").await.expect("filled"), 110, "workspaces have records of their own");
        let orders = service.app.store.record_page("demo", Kind::Order, 1, 100).await.expect("orders").entries;
        let orders: Vec<Value> = serde_json::from_str(&format!("[{orders}]")).expect("JSON");
        for (order, source) in orders.iter().zip(records(ORDERS)) {
            assert_eq!(order["number_item"], source["lines"].as_array().map_or(0, Vec::len), "{order}");
            assert!(order["total_price"].as_f64() > order["total_price_without_tax"].as_f64(), "{order}");
        }
        service.close().await;
    }

    #[test]
    fn what_records_refer_to_is_there() {
        let ids: Vec<Vec<_>> =
            FILES.iter().map(|(_, json)| records(json).iter().map(|record| record["id"].clone()).collect()).collect();
        let [items, companies, contacts, _] = &ids[..] else { panic!("files are missing") };
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
