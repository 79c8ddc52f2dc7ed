//! The number of entries per page: the largest size that the service grants, determined with the first page.

use sheetport_records::List;

use super::page::Page;
use crate::attempt::Client;
use crate::error::Error;
use crate::fetch;
use crate::pace::Pace;
use crate::request::MAX_PAGE;
use crate::stop::Stop;

/// A size that every service should grant.
pub const SAFE: u64 = 100;
/// Larger sizes to try, largest first. Includes common maximums.
const LARGER: [u64; 4] = [1_000, 500, 250, 200];

/// How many entries to ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageSize {
    /// This number. The service may return fewer.
    Chosen(u64),
    /// As many as the service grants.
    Largest(KnownSizes),
}

/// Page sizes of a list, as discovered earlier.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KnownSizes {
    /// The largest granted size.
    pub granted: Option<u64>,
    /// The smallest refused size.
    pub refused: Option<u64>,
}

/// The first page of a list.
pub struct FirstPage {
    pub page: Page,
    /// The requested number of entries.
    pub asked: u64,
    /// The number of entries to request for later pages. If the first page has fewer entries than requested, this is the length
    /// of the first page, because a service may compute the start of the next page from the requested number.
    pub size: u64,
    pub known: KnownSizes,
}

impl KnownSizes {
    /// Returns the largest size that may be granted.
    fn next(self) -> u64 {
        let is_open = |size: &u64| {
            self.refused.is_none_or(|refused| *size < refused) && self.granted.is_none_or(|granted| *size > granted)
        };
        LARGER.into_iter().find(is_open).or(self.granted).unwrap_or(SAFE)
    }

    pub fn refusing(self, size: u64) -> KnownSizes {
        KnownSizes { granted: self.granted.filter(|granted| *granted < size), refused: Some(size) }
    }

    /// Returns the updated sizes after a first page with `len` of the `asked` entries. `is_longer`: there are further pages.
    pub fn learn(self, asked: u64, len: u64, is_longer: bool) -> KnownSizes {
        match (len < asked && is_longer, len) {
            (_, 0) => self,
            // The service may return this number for every request that is too large.
            (true, ..SAFE) if asked > SAFE => self.refusing(asked),
            (true, len) => KnownSizes { granted: Some(len), refused: Some(len + 1) },
            (false, _) => KnownSizes { granted: Some(asked), refused: self.refused.filter(|refused| *refused > asked) },
        }
    }
}

impl FirstPage {
    /// Requests the first page of a list. If a size was not granted before, a refusal or a failure costs a second request.
    pub async fn fetch(client: &Client, pace: &Pace, list: &List, size: PageSize) -> Result<FirstPage, Error> {
        let known = match size {
            PageSize::Chosen(asked) => {
                let page = fetch_page(client, pace, list, 1, asked).await?;
                return Ok(FirstPage::of(page, asked, KnownSizes::default()));
            }
            PageSize::Largest(known) => known,
        };
        let asked = known.next();
        let fetched = match asked > SAFE && known.granted != Some(asked) {
            true => try_page(client, pace, list, 1, asked).await,
            false => fetch_page(client, pace, list, 1, asked).await,
        };
        let safe_page = || fetch_page(client, pace, list, 1, SAFE);
        match fetched {
            Err(error) if asked > SAFE && may_depend_on_size(&error) => {
                let page = safe_page().await?;
                let known = if is_lasting(&error) { known.refusing(asked) } else { known };
                Ok(FirstPage::of(page, SAFE, known))
            }
            Err(error) => Err(error),
            // Some services answer an excessive size with a page of their default size.
            Ok(page) if is_suspiciously_short(&page) && asked > SAFE => {
                drop(page);
                Ok(FirstPage::of(safe_page().await?, SAFE, known.refusing(asked)))
            }
            Ok(page) => Ok(FirstPage::of(page, asked, known)),
        }
    }

    fn of(page: Page, asked: u64, known: KnownSizes) -> FirstPage {
        let len = page.entries().len() as u64;
        let size = if (1..asked).contains(&len) { len } else { asked };
        FirstPage { page, asked, size, known }
    }
}

/// Whether the list goes on although the page is short.
fn is_suspiciously_short(page: &Page) -> bool {
    let len = page.entries().len() as u64;
    (1..SAFE).contains(&len) && page.total.is_some_and(|total| total > len)
}

/// Requests a page of a list.
pub async fn fetch_page(client: &Client, pace: &Pace, list: &List, number: u64, size: u64) -> Result<Page, Error> {
    fetch::fetch_within(client, pace, &page_path(list, number, size), MAX_PAGE, Page::parse).await
}

/// Requests a page of a list once, without further attempts.
pub async fn try_page(client: &Client, pace: &Pace, list: &List, number: u64, size: u64) -> Result<Page, Error> {
    fetch::try_within(client, pace, &page_path(list, number, size), MAX_PAGE, Page::parse).await
}

/// Returns the path of a page with up to `size` entries. The first page has the number 1.
pub fn page_path(list: &List, number: u64, size: u64) -> String {
    format!("{}?page={number}&{}={size}", list.path, list.size)
}

/// Whether a smaller page may bring an answer where this error came.
pub fn may_depend_on_size(error: &Error) -> bool {
    is_lasting(error) || matches!(error, Error::Unreadable(_) | Error::Stopped(Stop::Unreachable(_)))
}

/// Returns whether the error would occur again. A lost connection is not conclusive.
fn is_lasting(error: &Error) -> bool {
    matches!(error, Error::TooLong(_) | Error::Status { status: 400 | 406 | 413 | 414 | 416 | 422 | 500.., .. })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(granted: u64, refused: u64) -> KnownSizes {
        let size = |size| (size > 0).then_some(size);
        KnownSizes { granted: size(granted), refused: size(refused) }
    }

    #[test]
    fn the_largest_size_is_found_over_several_exports() {
        for (largest, tries) in [
            (5_000, vec![1_000, 1_000]),
            (1_000, vec![1_000, 1_000]),
            (500, vec![1_000, 500, 500]),
            (300, vec![1_000, 500, 250, 250]),
            (120, vec![1_000, 500, 250, 200, 100, 100]),
        ] {
            let mut sizes = KnownSizes::default();
            let mut asked = Vec::new();
            for _ in 0..tries.len() {
                let size = sizes.next();
                asked.push(size);
                let granted = if size > largest { SAFE } else { size };
                sizes = if size > largest { sizes.refusing(size) } else { sizes };
                sizes = sizes.learn(granted, granted, true);
            }
            assert_eq!(asked, tries, "{largest}");
        }
    }

    #[test]
    fn a_capped_size_is_known_at_once() {
        assert_eq!(KnownSizes::default().learn(1_000, 250, true), known(250, 251));
        assert_eq!(known(250, 251).next(), 250);
        // A short list says nothing about the largest size, and nothing about a smaller one than the known.
        assert_eq!(KnownSizes::default().learn(1_000, 37, false), known(1_000, 0));
        assert_eq!(KnownSizes::default().learn(1_000, 0, false), known(0, 0));
        // A short page of a longer list may be the usual size of a service that was asked for too many.
        assert_eq!(KnownSizes::default().learn(1_000, 20, true), known(0, 1_000));
        assert_eq!(known(0, 1_000).learn(SAFE, 20, true), known(20, 21));
        // The largest size can become smaller.
        assert_eq!(known(1_000, 0).learn(1_000, 200, true), known(200, 201));
        assert_eq!(known(1_000, 0).refusing(1_000).next(), 500);
    }
}
