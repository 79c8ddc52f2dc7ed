//! Pages of a list.

use futures_util::StreamExt;
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesOrdered;
use sheetport_client::pages::{Page, Walk};
use sheetport_client::{self as client, MAX_PAGE, fetch, page_path};
use sheetport_records::List;

use super::response::{Fetched, Fetcher};
use crate::error::Error;

/// Maximum size of a page requested ahead of order, in bytes. Without a limit, each of several requests could fill [`MAX_PAGE`].
const READ_AHEAD: usize = 2 << 20;
/// Maximum number of pages requested at the same time.
const MAX_AHEAD: usize = 32;

/// The pages of a list in order, with several requests in flight.
pub(crate) struct ListPages<'a> {
    fetcher: &'a Fetcher,
    list: &'static List,
    /// Number of entries requested per page. The service may return fewer.
    size: u64,
    /// Number of the next page to request, starting at 1.
    next: u64,
    in_flight: FuturesOrdered<BoxFuture<'a, Result<Answer, Error>>>,
    /// Whether the last page was longer than [`READ_AHEAD`]. The next page is then requested alone.
    is_large: bool,
}

/// The response to one request.
enum Answer {
    Fetched(Fetched),
    /// The page is too long for reading ahead.
    TooLong {
        page: u64,
    },
}

impl<'a> ListPages<'a> {
    pub(crate) fn new(fetcher: &'a Fetcher, list: &'static List, size: u64, first: u64) -> ListPages<'a> {
        ListPages { fetcher, list, size, next: first, in_flight: FuturesOrdered::new(), is_large: false }
    }

    /// Returns the next page, or `None` once the walk over the pages so far has ended.
    pub(crate) async fn next(&mut self, walk: &Walk) -> Result<Option<Fetched>, Error> {
        if walk.is_over() {
            return Ok(None);
        }
        // The horizon lies beyond the pages of the walk, so at least one request is in flight.
        let most = if self.is_large { 1 } else { self.fetcher.concurrency.min(MAX_AHEAD) };
        while self.in_flight.len() < most && self.next <= walk.horizon() {
            let max_len = if self.in_flight.is_empty() { MAX_PAGE } else { READ_AHEAD };
            self.in_flight.push_back(Box::pin(request_page(self.fetcher, self.list, self.next, self.size, max_len)));
            self.next += 1;
        }
        let Some(answer) = self.in_flight.next().await.transpose()? else { return Ok(None) };
        let fetched = match answer {
            Answer::Fetched(fetched) => fetched,
            // Requested again, now that the pages before it have been read.
            Answer::TooLong { page } => fetch_page(self.fetcher, self.list, page, self.size).await?,
        };
        self.is_large = matches!(&fetched, Fetched::Page(page) if page.text().len() > READ_AHEAD);
        Ok(Some(fetched))
    }

    /// Waits for pages requested beyond the end of a list with a total. Returns those that exist: their totals may show changes
    /// of the list that no other page shows.
    pub(crate) async fn rest(mut self, walk: &Walk) -> Vec<Page> {
        let mut pages = Vec::new();
        while walk.total.is_some()
            && let Some(answer) = self.in_flight.next().await
        {
            // Nothing depends on these pages, so a failure does not matter.
            if let Ok(Answer::Fetched(fetched)) = answer {
                pages.push(fetched.into_page());
            }
        }
        pages
    }
}

/// Requests a page of a list.
pub(crate) async fn fetch_page(fetcher: &Fetcher, list: &List, number: u64, size: u64) -> Result<Fetched, Error> {
    fetched(number, client::fetch_page(&fetcher.client, &fetcher.pace, list, number, size).await)
}

/// Requests a page of a list, up to `max_len` bytes.
async fn request_page(fetcher: &Fetcher, list: &List, number: u64, size: u64, max_len: usize) -> Result<Answer, Error> {
    let path = page_path(list, number, size);
    match fetch::fetch_within(&fetcher.client, &fetcher.pace, &path, max_len, Page::parse).await {
        Err(client::Error::TooLong(_)) if max_len < MAX_PAGE => Ok(Answer::TooLong { page: number }),
        page => fetched(number, page).map(Answer::Fetched),
    }
}

/// Returns the result of a page request. A missing page is not an error.
fn fetched(number: u64, page: Result<Page, client::Error>) -> Result<Fetched, Error> {
    match page {
        Ok(page) => Ok(Fetched::Page(page)),
        // Some services answer 404 past the last page instead of an empty page.
        Err(client::Error::Status { status: 404, .. }) if number > 1 => Ok(Fetched::NoPage),
        Err(client::Error::Unreadable(reason)) => Err(Error::Page { page: number, reason }),
        Err(error) => Err(error.into()),
    }
}
