//! Reading the service's list of records, several pages at a time.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use futures_util::future::try_join_all;
use sheetport_client::pages::{Page, Walk};
use sheetport_client::{
    self as client, Client, FirstPage, KnownSizes, Pace, PageSize, SAFE, Speed, fetch_page, may_depend_on_size,
};
use sheetport_records::{List, RecordKind, Single, item, order, transaction};

/// Access to the service for reading, with a separate rate.
pub struct Connection<'a> {
    pub(super) client: &'a Client,
    pub(super) pace: Pace,
    pub(super) concurrency: usize,
    /// Known page sizes of lists, by path, with a flag for newly learned sizes.
    sizes: Mutex<BTreeMap<&'static str, (KnownSizes, bool)>>,
}

impl<'a> Connection<'a> {
    pub fn new(client: &'a Client, rate: Option<Speed>, concurrency: u16) -> Connection<'a> {
        let pace = Pace::new(rate, Instant::now());
        Connection { client, pace, concurrency: usize::from(concurrency), sizes: Mutex::default() }
    }

    /// Adds the known page sizes of the list at `path`.
    pub fn know(&self, path: &'static str, sizes: KnownSizes) {
        self.sizes.lock().unwrap_or_else(PoisonError::into_inner).insert(path, (sizes, false));
    }

    /// Returns the newly learned page sizes of lists, by path.
    pub fn learned(&self) -> Vec<(&'static str, KnownSizes)> {
        let sizes = self.sizes.lock().unwrap_or_else(PoisonError::into_inner);
        sizes.iter().filter(|(_, (_, is_new))| *is_new).map(|(path, (sizes, _))| (*path, *sizes)).collect()
    }

    fn sizes_of(&self, list: &List) -> KnownSizes {
        let sizes = self.sizes.lock().unwrap_or_else(PoisonError::into_inner);
        sizes.get(list.path).map(|(sizes, _)| *sizes).unwrap_or_default()
    }

    fn learn(&self, list: &List, found: KnownSizes) {
        if found != self.sizes_of(list) {
            self.sizes.lock().unwrap_or_else(PoisonError::into_inner).insert(list.path, (found, true));
        }
    }
}

/// Returns the list of a kind, and the name of its identifying field in the entries.
pub(super) fn list_of(kind: RecordKind) -> Option<(&'static List, &'static str)> {
    match kind {
        RecordKind::Item => Some((&item::LIST, "external_id")),
        RecordKind::Order => Some((&order::LIST, "id")),
        _ => None,
    }
}

/// Returns the request for a single record of a kind without a list, and the name of its identifying field in the response.
pub(super) fn single_of(kind: RecordKind) -> Option<(&'static Single, &'static str)> {
    match kind {
        RecordKind::InventoryTransaction => Some((&transaction::SINGLE, "transaction_id")),
        _ => None,
    }
}

/// Reads a list from the first page on.
pub(super) struct ListReader<'a> {
    connection: &'a Connection<'a>,
    list: &'static List,
    pub walk: Walk,
    /// The number of the next page, from 1.
    pub next: u64,
    is_over: bool,
    first: Option<First>,
    /// Reads with pages of this size instead of the largest.
    chosen: Option<u64>,
}

/// The first page of a list, which determines the page size.
struct First {
    asked: u64,
    size: u64,
    len: u64,
    known: KnownSizes,
}

impl<'a> ListReader<'a> {
    pub(super) fn new(connection: &'a Connection<'a>, list: &'static List) -> ListReader<'a> {
        ListReader { connection, list, walk: Walk::default(), next: 1, is_over: false, first: None, chosen: None }
    }

    pub(super) fn is_over(&self) -> bool {
        self.is_over || self.walk.is_over()
    }

    /// Returns the number of requests for the rest of the list, as far as known.
    pub(super) fn pages_left(&self) -> u64 {
        (self.walk.horizon() + 1).saturating_sub(self.next)
    }

    /// Notes the page size. Waits until another request is permitted. Sending uses a new pace, without knowledge of these requests.
    pub(super) async fn finish(&self) {
        if let Some(First { asked, len, known, .. }) = self.first.as_ref().filter(|_| self.chosen.is_none()) {
            self.connection.learn(self.list, known.learn(*asked, *len, self.walk.is_longer()));
        }
        if self.next > 1 {
            while let Err(until) = self.connection.pace.permit(Instant::now()) {
                tokio::time::sleep_until(until.into()).await;
            }
        }
    }

    /// Returns the next pages.
    pub(super) async fn pages(&mut self) -> Result<Vec<Page>, client::Error> {
        let ListReader { connection, list, next, .. } = *self;
        let Some(First { size, .. }) = self.first else { return self.first_page().await };
        let last = self.walk.horizon().min(next + connection.concurrency.max(1) as u64 - 1);
        let fetched = (next..=last)
            .map(|page| async move { fetch_page(connection.client, &connection.pace, list, page, size).await });
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
            // The service may be unable to return larger pages. Starts again with smaller ones.
            Err(error) if size > SAFE && may_depend_on_size(&error) => {
                *self = ListReader { chosen: Some(SAFE), ..ListReader::new(connection, list) };
                connection.learn(list, KnownSizes { granted: Some(SAFE), refused: Some(SAFE + 1) });
                Ok(Vec::new())
            }
            Err(error) => Err(error),
        }
    }

    async fn first_page(&mut self) -> Result<Vec<Page>, client::Error> {
        let ListReader { connection, list, .. } = *self;
        let size = self.chosen.map_or_else(|| PageSize::Largest(connection.sizes_of(list)), PageSize::Chosen);
        let FirstPage { page, asked, size, known } =
            FirstPage::fetch(connection.client, &connection.pace, list, size).await?;
        self.first = Some(First { asked, size, len: page.entries().len() as u64, known });
        self.walk.insert(&page);
        self.next = 2;
        Ok(vec![page])
    }
}
