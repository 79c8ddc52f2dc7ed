//! The stocks of counted inventories in the service.
//!
//! The list of inventories is read if its entries show what the counts name, and as long as this takes fewer requests than the inventories
//! themselves, which are requested one by one otherwise.

use std::collections::{HashMap, HashSet};

use futures_util::{StreamExt, stream};
use sheetport_client::pages::{Completeness, Entry, Page};
use sheetport_client::{self as client, fetch};
use sheetport_records::inventory;

use super::candidate::Candidate;
use super::fill_blank::Found;
use super::server_diff::MAX_ANSWER;
use super::service_list::{Connection, ListReader};
use crate::count::{Count, InventoryName, units};

/// Inventories that the whole list lacks are requested all the same, up to this number of them.
const MAX_ASKED_AGAIN: usize = 50;

/// The stock of a counted inventory in the service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stock {
    Shown {
        /// The service's id of the inventory, or its short name.
        inventory: Box<str>,
        units: i64,
    },
    /// The service does not show the figure that was counted.
    NotShown,
    /// The service does not have the inventory.
    Missing,
}

/// The stocks that were found out.
pub(super) struct Looked {
    pub found: Vec<(Candidate, Stock)>,
    /// Why the others were not, unless they are beyond the number wanted.
    pub failed: Option<client::Error>,
}

/// An inventory as the service shows it: its id, and its figures by name.
#[derive(Clone, Debug)]
struct Shown {
    id: Box<str>,
    figures: [(&'static str, Option<i64>); 4],
}

impl Shown {
    /// Returns `None` for an entry without an id.
    fn of(entry: &Entry<'_>) -> Option<Shown> {
        let id = entry.id().or_else(|| entry.text("inventory_id"))?;
        let figures = ["total_inventory", "available", "committed", "unavailable"];
        let figures = figures.map(|name| (name, entry.field(name).and_then(units)));
        Some(Shown { id: id.into(), figures })
    }

    fn stock(&self, count: &Count) -> Stock {
        let figure = |name: &str| self.figures.iter().find(|(known, _)| *known == name).and_then(|(_, units)| *units);
        match count.figure.and_then(figure) {
            Some(units) => Stock::Shown { inventory: self.id.clone(), units },
            None => Stock::NotShown,
        }
    }
}

impl Stock {
    /// Compares the stock with a count. Returns `None` if there is nothing to compare with. A count whose difference was computed before is
    /// never the same: the difference is sent.
    pub(super) fn change(&self, body: &str) -> Option<Found> {
        let (Stock::Shown { units, .. }, Some(count)) = (self, Count::of(body)) else { return None };
        if count.difference.is_none() && count.counted == *units {
            return Some(Found::Same);
        }
        let (old, new) = (units.to_string().into(), count.counted.to_string());
        Some(Found::Other { old, new, is_number: true, is_as_sent: false })
    }
}

/// Looks up the stocks of the inventories that were counted. At most `most` of them are requested one by one.
pub(super) async fn look_at_stocks(
    counts: Vec<Candidate>,
    most: usize,
    connection: &Connection<'_>,
    progress: &(dyn Fn(u64, u64) + Sync),
) -> Looked {
    let read = |candidate: Candidate| {
        let count = Count::of(&candidate.body);
        (candidate, count)
    };
    let counts: Vec<(Candidate, Option<Count>)> = counts.into_iter().map(read).collect();
    let mut open: HashSet<InventoryName> =
        counts.iter().filter_map(|(_, count)| Some(count.as_ref()?.inventory.clone())).collect();
    let mut found: HashMap<InventoryName, Option<Shown>> = HashMap::new();
    let mut failed = None;
    let mut done = 0;
    if open.len() > 1 {
        match read_list(&mut open, &mut found, connection, progress).await {
            Ok(requests) => done = requests,
            Err(error) => failed = Some(error),
        }
    }
    if failed.is_none() && !open.is_empty() {
        let all = done + open.len().min(most) as u64;
        let step = open.len().div_ceil(most).max(1);
        let mut wanted: Vec<InventoryName> = open.into_iter().collect();
        wanted.sort_unstable();
        let requests = stream::iter(wanted.into_iter().step_by(step))
            .map(|name| async move { (request(&name, connection).await, name) });
        let mut answers = requests.buffered(connection.concurrency.max(1));
        while let Some((answer, name)) = answers.next().await {
            done += 1;
            progress(done, all);
            match answer {
                Ok(shown) => drop(found.insert(name, shown)),
                Err(error) => {
                    failed = Some(error);
                    break;
                }
            }
        }
    }
    let of = |(candidate, count): (Candidate, Option<Count>)| {
        let count = count?;
        let stock = found.get(&count.inventory)?.as_ref().map_or(Stock::Missing, |shown| shown.stock(&count));
        Some((candidate, stock))
    };
    Looked { found: counts.into_iter().filter_map(of).collect(), failed }
}

/// Reads the list for the inventories in `open`, and moves those that it has to `found`. Returns the number of requests.
///
/// # Errors
/// If the list can't be read. A service without the list, or whose list does not show external ids, is none.
async fn read_list(
    open: &mut HashSet<InventoryName>,
    found: &mut HashMap<InventoryName, Option<Shown>>,
    connection: &Connection<'_>,
    progress: &(dyn Fn(u64, u64) + Sync),
) -> Result<u64, client::Error> {
    let mut reader = ListReader::new(connection, &inventory::LIST);
    let mut shows_external_ids = false;
    while !reader.is_over() && !open.is_empty() {
        if reader.next > 1 && reader.pages_left() > open.len() as u64 {
            break;
        }
        let pages = match reader.pages().await {
            Ok(pages) => pages,
            Err(client::Error::Status { status: 404 | 405, .. }) => break,
            Err(error) => return Err(error),
        };
        for entry in pages.iter().flat_map(Page::entries) {
            let Some(shown) = Shown::of(&entry) else { continue };
            shows_external_ids |= entry.field("external_id").is_some();
            let external_id = entry.text("external_id").map(|id| InventoryName::ExternalId(id.into_owned()));
            let ids = ["id", "inventory_id"].iter().filter_map(|name| entry.text(name));
            for name in ids.map(|id| InventoryName::Id(id.into_owned())).chain(external_id) {
                // The list may have moved, and show an inventory again, as it is later.
                if open.remove(&name) || found.contains_key(&name) {
                    found.insert(name, Some(shown.clone()));
                }
            }
        }
        progress(reader.next - 1, reader.next - 1 + reader.pages_left());
        let is_named_otherwise = || open.iter().all(|name| matches!(name, InventoryName::ExternalId(_)));
        if reader.walk.entries > 0 && !shows_external_ids && is_named_otherwise() {
            break;
        }
    }
    reader.finish().await;
    let is_whole = !matches!(reader.walk.completeness(), Completeness::Moved(_) | Completeness::Unproven(_));
    if reader.is_over() && is_whole && shows_external_ids && open.len() > MAX_ASKED_AGAIN {
        found.extend(open.drain().map(|name| (name, None)));
    }
    Ok(reader.next - 1)
}

/// Requests an inventory. Returns `None` if the service does not have it.
async fn request(name: &InventoryName, connection: &Connection<'_>) -> Result<Option<Shown>, client::Error> {
    let (id, by_external_id) = match name {
        InventoryName::Id(id) => (id, false),
        InventoryName::ExternalId(id) => (id, true),
    };
    let Some(path) = fetch::record_path(inventory::SINGLE.path, id, by_external_id) else { return Ok(None) };
    match fetch::fetch_within(connection.client, &connection.pace, &path, MAX_ANSWER, Page::parse_record).await {
        Ok(page) => Ok(page.entries().next().and_then(|entry| Shown::of(&entry))),
        Err(client::Error::Status { status: 404, .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_counted_figure_is_the_stock() {
        let entry = r#"{"id":"i","inventory_id":"K-1","available":12,"committed":null,"total_inventory":15.0}"#;
        let shown = Shown::of(&Entry::new(entry)).expect("an inventory");
        let stock = |kind: &str| {
            let body =
                format!(r#"{{"transactionType":"adjust","inventoryId":"i","counted":1,"inventoryType":{kind}}}"#);
            shown.stock(&Count::of(&body).expect("a count"))
        };
        let of = |units| Stock::Shown { inventory: "i".into(), units };
        for (kind, expected) in [
            ("null", of(15)),
            ("\"available\"", of(12)),
            ("\"committed\"", Stock::NotShown),
            ("\"unavailable\"", Stock::NotShown),
            ("\"damaged\"", Stock::NotShown),
        ] {
            assert_eq!(stock(kind), expected, "{kind}");
        }
        assert!(Shown::of(&Entry::new(r#"{"id":null,"available":1}"#)).is_none());
    }

    #[test]
    fn a_count_changes_the_stock_unless_it_is_the_same() {
        let change = |units, body: &str| Stock::Shown { inventory: "i".into(), units }.change(body);
        let body = r#"{"transactionType":"adjust","inventoryId":"i","counted":118}"#;
        assert!(matches!(change(118, body), Some(Found::Same)));
        assert!(matches!(change(120, body), Some(Found::Other { old, new, .. }) if &*old == "120" && new == "118"));
        let looked_up = crate::count::with_difference(body, -2);
        assert!(matches!(change(118, &looked_up), Some(Found::Other { .. })), "the difference would be sent twice");
        assert!(Stock::Missing.change(body).is_none() && Stock::NotShown.change(body).is_none());
    }
}
