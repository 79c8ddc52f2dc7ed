//! The stored lines of an order, and the lines as `GET /v1/public/orders/{order_id}` shows them. The contract does not show lines; with
//! them, a client can change one line and send the others again.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use serde_json::Number;
use sheetport_records::order::{Order, OrderLine};

use crate::store::{Kind, Record, Store, to_json};

/// Internal state of an order.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct State {
    pub(super) lines: Vec<StoredLine>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct StoredLine {
    pub(super) item_id: String,
    pub(super) quantity: Number,
    pub(super) price: Number,
    pub(super) tax: Option<Number>,
    pub(super) tax_rate: Option<Number>,
}

/// Returns an order as JSON, with its lines. A loaded order has a number of lines, but no lines: it is returned without them, so that
/// nobody takes it for an order without lines.
pub(crate) async fn with_lines(store: &Store, workspace: &str, order: Record) -> Result<String, sqlx::Error> {
    let State { lines } = order.parse_state()?;
    if order.parse_body::<Order>()?.number_item != Some(lines.len() as i64) {
        return Ok(order.body);
    }
    let ids: Vec<_> = lines.iter().map(|line| &*line.item_id).collect();
    let items = store.find_all(workspace, Kind::Item, &ids).await?;
    let external_ids: HashMap<_, _> = items.into_iter().map(|item| (item.id, item.external_id)).collect();
    let lines = lines.into_iter().map(|StoredLine { item_id, quantity, price, tax, tax_rate }| {
        let item_external_id = external_ids.get(&item_id).cloned().flatten();
        OrderLine { item_id, item_external_id, quantity, price, tax, tax_rate }
    });
    let lines = to_json(&lines.collect::<Vec<_>>())?;
    let fields = order.body.strip_suffix('}').expect("a stored order is an object with fields");
    Ok(format!(r#"{fields},"items":{lines}}}"#))
}
