//! Pages of a list.

use futures_util::StreamExt;
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesOrdered;

use super::response::{Fetched, Fetcher};
use crate::client::pages::{Page, Walk};
use crate::client::{self, fetch};
use crate::export::error::Error;
use crate::records::List;

/// Number of entries requested per page. The service may return fewer.
pub(in crate::export) const PAGE_SIZE: u64 = 100;

/// The pages of a list in order, with several requests in flight.
pub(in crate::export) struct ListPages<'a> {
    fetcher: &'a Fetcher,
    list: &'static List,
    /// Number of the next page to request, starting at 1.
    next: u64,
    in_flight: FuturesOrdered<BoxFuture<'a, Result<Fetched, Error>>>,
}

impl<'a> ListPages<'a> {
    pub(in crate::export) fn new(fetcher: &'a Fetcher, list: &'static List, first: u64) -> ListPages<'a> {
        ListPages { fetcher, list, next: first, in_flight: FuturesOrdered::new() }
    }

    /// Returns the next page, or `None` once the walk over the pages so far has ended.
    pub(in crate::export) async fn next(&mut self, walk: &Walk) -> Result<Option<Fetched>, Error> {
        if walk.is_over() {
            return Ok(None);
        }
        // The horizon lies beyond the pages of the walk, so at least one request is in flight.
        while self.in_flight.len() < self.fetcher.concurrency && self.next <= walk.horizon() {
            self.in_flight.push_back(Box::pin(fetch_page(self.fetcher, self.list, self.next, PAGE_SIZE)));
            self.next += 1;
        }
        self.in_flight.next().await.transpose()
    }
}

impl ListPages<'_> {
    /// Waits for the pages that were requested beyond the end of a list with a total, and returns those that arrived: their
    /// totals tell about changes of the list that no other page has seen.
    pub(in crate::export) async fn rest(mut self, walk: &Walk) -> Vec<Page> {
        let mut pages = Vec::new();
        while walk.total.is_some()
            && let Some(fetched) = self.in_flight.next().await
        {
            // Nothing depends on these pages, so a failure does not matter.
            pages.extend(fetched.ok().map(Fetched::into_page));
        }
        pages
    }
}

/// Requests a page of a list.
pub(in crate::export) async fn fetch_page(
    fetcher: &Fetcher,
    list: &List,
    number: u64,
    size: u64,
) -> Result<Fetched, Error> {
    let path = format!("{}?page={number}&{}={size}", list.path, list.size);
    match fetch::fetch(&fetcher.client, &fetcher.pace, &path, Page::parse).await {
        Ok(page) => Ok(Fetched::Page(page)),
        // Some services answer 404 past the last page instead of an empty page.
        Err(client::Error::Status { status: 404, .. }) if number > 1 => Ok(Fetched::NoPage),
        Err(client::Error::Unreadable(reason)) => Err(Error::Page { page: number, reason }),
        Err(error) => Err(error.into()),
    }
}
