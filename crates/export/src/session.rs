//! The reading of one export: fetches the pages, spools them, and passes them to the writer of the table.

use std::collections::HashMap;

use sheetport_client::pages::{Completeness, Page, Walk};
use sheetport_client::{self as client, FirstPage, KnownSizes, PageSize, SAFE};
use sheetport_records::List;

use super::conclude::History;
use super::error::Error;
use super::fetch::{Fetched, Fetcher, ListPages, MissingRecord, RecordsById, fetch_page};
use super::job::{Job, Source};
use super::spool::{FrameKind, Spool};
use super::table::WriterThread;

/// Fewer entries than this are no page of a longer list.
const MIN_PAGE_SIZE: u64 = 10;

/// Called with the number of records so far and the total, if known.
pub(super) type Progress<'a> = dyn Fn(u64, Option<u64>) + Sync + 'a;

/// An export while pages are being fetched.
pub(super) struct ExportSession {
    pub(super) walk: Walk,
    pub(super) spool: Spool,
    pub(super) writer: WriterThread,
    /// Flags for the new entries of pages with repeated entries, by position in the spool.
    pub(super) repeated: HashMap<u64, Vec<bool>>,
    /// Number of frames in the spool.
    pub(super) frames: u64,
    /// Whether the table has the details of the list's entries, requested later.
    has_details: bool,
    /// Number of details in the table.
    pub(super) details: u64,
    /// Number of answers to requests of details that an interrupted export left in the spool.
    pub(super) spooled_details: u64,
    /// Number of IDs not found.
    pub(super) missing: u64,
    /// Number of IDs among the missing for which the service returned another record.
    others: u64,
    /// Requested number of entries per page of the list. `size` is the granted number.
    asked: u64,
    pub(super) size: u64,
    /// Known page sizes, after reading a list from the start.
    pub(super) known: Option<KnownSizes>,
    pub(super) was_resumed: bool,
    /// All IDs of the list were read a second time.
    pub(super) is_verified: bool,
    /// When the first page was requested, possibly by an interrupted export.
    pub(super) started: jiff::Timestamp,
}

impl ExportSession {
    /// Opens the spool of an interrupted export unless `is_fresh`, or creates a spool. `concluded` is the start time of the last
    /// concluded export.
    pub(super) fn start(
        job: &Job,
        identity: &str,
        history: &History,
        concluded: Option<jiff::Timestamp>,
        is_fresh: bool,
        writer: WriterThread,
    ) -> Result<ExportSession, Error> {
        let interrupted = match is_fresh {
            true => None,
            false => Spool::open_interrupted(history.folder(), identity, concluded, (job.clock.now)())?,
        };
        let was_resumed = interrupted.is_some();
        let (spool, started) = match interrupted {
            Some(interrupted) => interrupted,
            None => {
                let started = job.clock.timestamp();
                (Spool::create(history.folder(), identity, started)?, started)
            }
        };
        Ok(ExportSession {
            walk: Walk::default(),
            spool,
            writer,
            repeated: HashMap::new(),
            frames: 0,
            has_details: job.details.is_some(),
            details: 0,
            spooled_details: 0,
            missing: 0,
            others: 0,
            asked: SAFE,
            size: SAFE,
            known: None,
            was_resumed,
            is_verified: false,
            started,
        })
    }

    /// Fetches the missing pages, and decides whether the list is complete.
    pub(super) async fn fetch_all(
        &mut self,
        job: &Job,
        page_size: PageSize,
        fetcher: &Fetcher,
        progress: &Progress<'_>,
    ) -> Result<Completeness, Error> {
        if self.was_resumed {
            self.replay(progress).await?;
        }
        match &job.source {
            Source::List(list) => {
                let first = match self.walk.fetched() {
                    0 => Some(self.fetch_first(fetcher, list, page_size).await?),
                    _ => None,
                };
                let mut pages = ListPages::new(fetcher, list, self.size, self.walk.fetched() + 1);
                while let Some(fetched) = pages.next(&self.walk).await? {
                    self.insert(fetched).await?;
                    progress(self.walk.entries, self.walk.total);
                }
                for page in pages.rest(&self.walk).await {
                    self.walk.observe_total(&page);
                }
                if self.walk.is_unpaged() {
                    self.known = first.map(|first| first.known);
                    return self.read_unpaged(fetcher, list).await;
                }
                self.known = first.map(|first| first.known.learn(self.asked, first.len, self.walk.is_longer()));
                self.look_again(fetcher, list).await?;
                progress(self.walk.entries, self.walk.total);
                let completeness = self.walk.completeness();
                // Pages of different ages can agree by chance.
                self.is_verified = job.options.verify || self.was_resumed || self.walk.needs_second_walk();
                if !self.is_verified || matches!(completeness, Completeness::Moved(_) | Completeness::Unproven(_)) {
                    return Ok(completeness);
                }
                let mut second = self.walk.restarted();
                let mut pages = ListPages::new(fetcher, list, self.size, 1);
                while let Some(fetched) = pages.next(&second).await? {
                    second.insert(&fetched.into_page());
                    progress(second.entries, second.total);
                }
                Ok(self.walk.confirmed_by(&second))
            }
            Source::Ids { single, file, by_external_id } => {
                let mut records = RecordsById::new(fetcher, single, *by_external_id, file, self.frames)?;
                while let Some(fetched) = records.next().await? {
                    self.insert(fetched).await?;
                    progress(self.frames, None);
                }
                Ok(match self.others {
                    0 => Completeness::RequestedById,
                    others => Completeness::Unproven(format!(
                        "{others} answers of the service are not the record that was asked for; their IDs are listed with \
                         those that were not found"
                    )),
                })
            }
        }
    }

    /// Fetches the first page, which determines the page size.
    async fn fetch_first(
        &mut self,
        fetcher: &Fetcher,
        list: &'static List,
        page_size: PageSize,
    ) -> Result<First, Error> {
        let first = FirstPage::fetch(&fetcher.client, &fetcher.pace, list, page_size).await;
        let FirstPage { page, asked, size, known } = first.map_err(|error| match error {
            client::Error::Unreadable(reason) => Error::Page { page: 1, reason },
            error => error.into(),
        })?;
        (self.asked, self.size) = (asked, size);
        // The pages of an interrupted export go on with the same size.
        self.spool.append(FrameKind::Size, format!("{asked} {size}").as_bytes())?;
        self.frames += 1;
        let len = page.entries().len() as u64;
        self.insert(Fetched::Page(page)).await?;
        Ok(First { len, known })
    }

    /// Reads the first and possibly the last pages again, until a page has no new entries. Entries inserted during the reading
    /// are on these pages.
    async fn look_again(&mut self, fetcher: &Fetcher, list: &'static List) -> Result<(), Error> {
        for ends in [Walk::first_look, Walk::last_look] {
            let mut number = ends(&self.walk);
            while let Some(page) = number.filter(|_| !self.walk.has_looked_enough()) {
                let fetched = fetch_page(fetcher, list, page, self.size).await?;
                let has_new = self.insert_again(fetched.into_page()).await?;
                number = has_new.then_some(page + 1);
            }
        }
        Ok(())
    }

    /// Decides whether the only page of a list without a total is complete. Requests larger pages until a page is not full, or
    /// has no new entries because the service ignores or limits the size.
    async fn read_unpaged(&mut self, fetcher: &Fetcher, list: &'static List) -> Result<Completeness, Error> {
        let mut size = self.asked;
        while self.walk.entries >= size && !self.walk.has_looked_enough() {
            size = self.walk.entries.saturating_mul(2);
            let fetched = fetch_page(fetcher, list, 1, size).await?;
            if !self.insert_again(fetched.into_page()).await? {
                break;
            }
        }
        let entries = self.walk.entries;
        let is_whole = entries < MIN_PAGE_SIZE || !is_typical_page_size(entries);
        Ok(if is_whole { Completeness::Unpaged } else { self.walk.completeness() })
    }

    /// Reads the pages of an interrupted export.
    async fn replay(&mut self, progress: &Progress<'_>) -> Result<(), Error> {
        let mut frames = self.spool.frames()?;
        let mut valid_len = frames.valid_len();
        while let Some(frame) = frames.next()? {
            match frame.kind {
                FrameKind::Detail => {
                    self.frames += 1;
                    self.spooled_details += 1;
                }
                FrameKind::Missing if self.has_details => {
                    self.frames += 1;
                    self.spooled_details += 1;
                }
                FrameKind::Missing => {
                    let missing = serde_json::from_slice::<MissingRecord>(&frame.payload);
                    self.count_missing(missing.is_ok_and(|missing| missing.is_other));
                }
                FrameKind::Begin => {}
                FrameKind::Size => {
                    self.frames += 1;
                    (self.asked, self.size) = sizes(&frame.payload).unwrap_or((SAFE, SAFE));
                }
                FrameKind::NoPage => self.insert_page(Page::default()).await?,
                FrameKind::PageAgain => match Page::parse(frame.payload) {
                    Ok(page) => drop(self.insert_known(page).await?),
                    Err(_) => break,
                },
                // An unreadable page and all later pages are requested again.
                FrameKind::Page => match Page::parse(frame.payload) {
                    Ok(page) => self.insert_page(page).await?,
                    Err(_) => break,
                },
            }
            valid_len = frames.valid_len();
            progress(self.walk.entries, self.walk.total);
        }
        self.spool.truncate(valid_len)
    }

    /// Spools a result and adds it to the table.
    async fn insert(&mut self, fetched: Fetched) -> Result<(), Error> {
        let (kind, payload) = fetched.to_frame();
        self.spool.append(kind, &payload)?;
        match fetched {
            Fetched::Missing(missing) => {
                self.count_missing(missing.is_other);
                Ok(())
            }
            Fetched::Page(_) | Fetched::NoPage => self.insert_page(fetched.into_page()).await,
        }
    }

    async fn insert_page(&mut self, page: Page) -> Result<(), Error> {
        let new = self.walk.insert(&page);
        self.write(page, new).await
    }

    /// Spools a page read again, and adds its new entries to the table. Returns whether there are any.
    async fn insert_again(&mut self, page: Page) -> Result<bool, Error> {
        // Nothing to spool: the page is empty, or the service has no page of this number.
        if page.entries().len() == 0 {
            return Ok(false);
        }
        self.spool.append(FrameKind::PageAgain, page.text().as_bytes())?;
        self.insert_known(page).await
    }

    async fn insert_known(&mut self, page: Page) -> Result<bool, Error> {
        let new = self.walk.look_again(&page);
        let has_new = new.contains(&true);
        self.write(page, new).await?;
        Ok(has_new)
    }

    async fn write(&mut self, page: Page, new: Vec<bool>) -> Result<(), Error> {
        if new.contains(&false) {
            self.repeated.insert(self.frames, new.clone());
        }
        self.frames += 1;
        if self.has_details {
            return Ok(());
        }
        self.writer.send(page, new).await
    }

    fn count_missing(&mut self, is_other: bool) {
        self.frames += 1;
        self.missing += 1;
        self.others += u64::from(is_other);
    }
}

/// The first page of a list.
struct First {
    len: u64,
    known: KnownSizes,
}

/// Returns the sizes in the payload of a frame.
fn sizes(payload: &[u8]) -> Option<(u64, u64)> {
    let (asked, size) = std::str::from_utf8(payload).ok()?.split_once(' ')?;
    Some((asked.parse().ok()?, size.parse().ok()?))
}

/// Whether a list of this length may be a single page of a longer list: a power of two, or a round number such as 50, 120, 250 or
/// 2,000.
fn is_typical_page_size(entries: u64) -> bool {
    /// Leading digits of round numbers.
    const CHOSEN: [u64; 18] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 15, 24, 25, 36, 48, 72, 75, 125];
    let mut digits = entries;
    while digits > 0 && digits.is_multiple_of(10) {
        digits /= 10;
    }
    entries.is_power_of_two() || CHOSEN.contains(&digits)
}

#[cfg(test)]
mod tests {
    use super::is_typical_page_size;

    #[test]
    fn usual_page_sizes_are_recognized() {
        for size in [10, 16, 25, 50, 64, 100, 120, 125, 128, 200, 250, 500, 1_000, 1_024, 2_000, 2_500, 7_500] {
            assert!(is_typical_page_size(size), "{size}");
        }
        for count in [0, 11, 35, 55, 84, 115, 135, 137, 245, 260, 1_005, 1_440, 2_010, 2_345] {
            assert!(!is_typical_page_size(count), "{count}");
        }
    }
}
