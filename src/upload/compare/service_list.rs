//! Reading the service's list of records, several pages at a time.

use std::time::Instant;

use futures_util::future::try_join_all;

use crate::client::pages::{Page, Walk};
use crate::client::{self, Client, Pace, Speed, fetch};
use crate::records::{List, RecordKind, item, order};

/// Requested number of entries per page. The service may return fewer.
const PAGE_SIZE: u64 = 100;

/// Access to the service for reading, at a rate of its own.
pub struct Connection<'a> {
    pub(super) client: &'a Client,
    pub(super) pace: Pace,
    pub(super) concurrency: usize,
}

impl<'a> Connection<'a> {
    pub fn new(client: &'a Client, rate: Option<Speed>, concurrency: u16) -> Connection<'a> {
        Connection { client, pace: Pace::new(rate, Instant::now()), concurrency: usize::from(concurrency) }
    }
}

/// Returns the list of a kind, and the name in its entries of what an upload identifies records by.
pub(super) fn list_of(kind: RecordKind) -> Option<(&'static List, &'static str)> {
    match kind {
        RecordKind::Item => Some((&item::LIST, "external_id")),
        RecordKind::Order => Some((&order::LIST, "id")),
        _ => None,
    }
}

/// Returns the name of an input field in lists: `purchase_price` for `purchasePrice`.
pub(super) fn listed_name(name: &str) -> String {
    name.chars().fold(String::new(), |mut listed, c| {
        if c.is_ascii_uppercase() {
            listed.push('_');
        }
        listed.push(c.to_ascii_lowercase());
        listed
    })
}

/// Reads a list from the first page on.
pub(super) struct ListReader<'a> {
    connection: &'a Connection<'a>,
    list: &'static List,
    pub walk: Walk,
    /// The number of the next page, from 1.
    pub next: u64,
    is_over: bool,
}

impl<'a> ListReader<'a> {
    pub(super) fn new(connection: &'a Connection<'a>, list: &'static List) -> ListReader<'a> {
        ListReader { connection, list, walk: Walk::default(), next: 1, is_over: false }
    }

    pub(super) fn is_over(&self) -> bool {
        self.is_over || self.walk.is_over()
    }

    /// Returns the number of requests for the rest of the list, as far as known.
    pub(super) fn pages_left(&self) -> u64 {
        (self.walk.horizon() + 1).saturating_sub(self.next)
    }

    /// Waits until another request is permitted. Sending uses a new pace, without knowledge of these requests.
    pub(super) async fn finish(&self) {
        if self.next > 1 {
            while let Err(until) = self.connection.pace.permit(Instant::now()) {
                tokio::time::sleep_until(until.into()).await;
            }
        }
    }

    /// Returns the next pages.
    pub(super) async fn pages(&mut self) -> Result<Vec<Page>, client::Error> {
        let ListReader { connection, list, next, .. } = *self;
        let last = self.walk.horizon().min(next + connection.concurrency.max(1) as u64 - 1);
        let fetched = (next..=last).map(|page| async move {
            let path = format!("{}?page={page}&{}={PAGE_SIZE}", list.path, list.size);
            fetch::fetch(connection.client, &connection.pace, &path, Page::parse).await
        });
        match try_join_all(fetched).await {
            Ok(pages) => {
                self.next = last + 1;
                for page in &pages {
                    self.walk.insert(page);
                }
                Ok(pages)
            }
            // Some services have no page after the last.
            Err(client::Error::Status { status: 404, .. }) if next > 1 => {
                self.is_over = true;
                Ok(Vec::new())
            }
            Err(error) => Err(error),
        }
    }
}
