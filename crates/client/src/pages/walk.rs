//! The walk over the pages of a list: when to stop, which entries are new, and whether the list is complete. Pure.

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};

use super::page::{Entry, Page};

/// Number of consecutive pages without new entries that end a list. A single empty page may be a gap.
const MAX_EMPTY_PAGES: u32 = 2;
/// Maximum number of pages. Stops the walk if the service generates records endlessly.
pub(super) const MAX_PAGES: u64 = if cfg!(test) { 2_000 } else { 1_000_000 };
/// Maximum number of entries to reserve memory for, because the reported total may be wrong.
const MAX_RESERVED: usize = 900_000;

/// The state of a walk over the pages of a list.
///
/// Entries are identified by a 64-bit hash of the ID; entries without an ID, by a hash of the whole JSON. Among ten million
/// records, the probability of a collision is 1 in 400,000, and the total would reveal the error.
#[derive(Debug, Default)]
pub struct Walk {
    /// Hashes with random keys, because a service could provoke collisions otherwise.
    hasher: RandomState,
    seen: HashSet<u64>,
    fetched: u64,
    /// Number of pages with entries.
    pub pages: u64,
    /// Number of distinct entries.
    pub entries: u64,
    /// Number of repeated entries.
    pub duplicates: u64,
    /// The latest total reported by the service.
    pub total: Option<u64>,
    /// The latest total reported before the number of entries reached it.
    announced_total: Option<u64>,
    /// Whether the total decreased: entries may have moved to pages fetched earlier.
    total_shrank: bool,
    total_changed: bool,
    /// Number of entries without an ID that equal an earlier entry.
    identical_without_id: u64,
    /// The entries of the first page. Their number is the effective page size.
    first_page: Vec<u64>,
    /// Number of the last page with entries.
    last_page: u64,
    /// Number of pages read again.
    looks: u64,
    /// Whether all later pages equal the first.
    repeats_first: bool,
    /// Consecutive pages without new entries.
    empty_pages: u32,
    /// Consecutive pages with new entries.
    productive_pages: u64,
}

/// The result of a walk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Completeness {
    /// The number of distinct records equals the total reported by the service.
    TotalReached,
    /// The service reports no total. The last pages had no new records.
    ReadToEnd,
    /// The service ignores page numbers and page sizes, and answers with all records at once.
    Unpaged,
    /// Every record was requested by ID.
    RequestedById,
    /// The list changed during the walk, so records may be missing or deleted. Another walk may help.
    Moved(String),
    /// Completeness cannot be shown, for this reason.
    Unproven(String),
}

impl Walk {
    /// Starts a second walk over the same list, for [`Walk::confirmed_by`].
    pub fn restarted(&self) -> Walk {
        Walk { hasher: self.hasher.clone(), ..Walk::default() }
    }

    /// Adds the next page. Returns a flag for each entry: whether it is new.
    pub fn insert(&mut self, page: &Page) -> Vec<bool> {
        self.fetched += 1;
        self.pages += u64::from(page.entries().len() > 0);
        if self.fetched == 1 {
            let total = page.total.and_then(|total| usize::try_from(total).ok()).unwrap_or(0);
            self.seen.reserve(total.min(MAX_RESERVED));
        }
        let identities: Vec<Identity> = page.entries().map(|entry| self.identity(&entry)).collect();
        let new = self.insert_entries(&identities);
        let new_entries = new.iter().filter(|is_new| **is_new).count();
        let hashes: Vec<u64> = identities.iter().map(|identity| identity.hash).collect();
        match self.fetched {
            1 => self.first_page.clone_from(&hashes),
            2 => self.repeats_first = !hashes.is_empty() && hashes == self.first_page,
            _ => self.repeats_first &= hashes == self.first_page,
        }
        if !identities.is_empty() {
            self.last_page = self.fetched;
        }
        self.entries += new_entries as u64;
        self.duplicates += (new.len() - new_entries) as u64;
        match new_entries {
            0 => (self.empty_pages, self.productive_pages) = (self.empty_pages + 1, 0),
            _ => (self.empty_pages, self.productive_pages) = (0, self.productive_pages + 1),
        }
        self.observe_total(page);
        self.announced_total = self.total.filter(|total| self.entries < *total).or(self.announced_total);
        new
    }

    /// Records the total of a page without its entries.
    pub fn observe_total(&mut self, page: &Page) {
        if let (Some(before), Some(now)) = (self.total, page.total) {
            self.total_shrank |= now < before;
            self.total_changed |= now != before;
        }
        self.total = page.total.or(self.total);
    }

    /// Adds a page read again after the end of the walk. Returns a flag for each entry: whether it is new.
    pub fn look_again(&mut self, page: &Page) -> Vec<bool> {
        self.looks += 1;
        let hashes: Vec<u64> = page.entries().map(|entry| self.identity(&entry).hash).collect();
        let new: Vec<bool> = hashes.into_iter().map(|hash| self.seen.insert(hash)).collect();
        self.entries += new.iter().filter(|is_new| **is_new).count() as u64;
        self.observe_total(page);
        new
    }

    /// Returns the number of pages so far, without repeated pages.
    pub fn fetched(&self) -> u64 {
        self.fetched
    }

    /// Returns the first page to read again after the end of the walk, because entries may have been inserted in front. Returns
    /// `None` for a list with a total on a single page, which is a snapshot. Without a total, deletions may have moved entries
    /// from a second page to the first before the second page was read. Lists of several pages without a total are walked again
    /// completely.
    pub fn first_look(&self) -> Option<u64> {
        let may_have_moved = match self.total {
            Some(_) => self.pages > 1,
            None => self.pages == 1,
        };
        (may_have_moved && !self.repeats_first).then_some(1)
    }

    /// Returns the last page with entries if the list has grown, but not in front.
    pub fn last_look(&self) -> Option<u64> {
        self.first_look().and(self.total).filter(|total| *total > self.entries).map(|_| self.last_page)
    }

    /// Returns whether only a second walk over the same pages proves that no entry was skipped: without a total, deletions during
    /// the walk are invisible.
    pub fn needs_second_walk(&self) -> bool {
        self.pages > 1 && self.total.is_none()
    }

    /// Returns whether too many pages were read again, for example because a service generates records endlessly.
    pub fn has_looked_enough(&self) -> bool {
        self.looks >= MAX_PAGES
    }

    /// Returns whether the list has more entries than the first page.
    pub fn is_longer(&self) -> bool {
        self.pages > 1 || self.total.is_some_and(|total| total > self.first_page.len() as u64)
    }

    /// Returns whether the service seems to ignore page numbers: no total is reported, and all pages are the same.
    pub fn is_unpaged(&self) -> bool {
        self.repeats_first && self.total.is_none()
    }

    fn insert_entries(&mut self, identities: &[Identity]) -> Vec<bool> {
        let mut new: Vec<bool> = identities.iter().map(|identity| self.seen.insert(identity.hash)).collect();
        // A page without any new hash is an earlier page again, even if the entries have no IDs.
        if new.contains(&true) {
            // Different records without an ID may be identical. Keeping a duplicate is better than losing a record.
            for (is_new, identity) in new.iter_mut().zip(identities).filter(|(_, identity)| !identity.has_id) {
                *is_new = true;
                self.identical_without_id += u64::from(identity.was_seen);
            }
        }
        new
    }

    fn identity(&self, entry: &Entry<'_>) -> Identity {
        let id = entry.id();
        let (has_id, text) = (id.is_some(), id.as_deref().unwrap_or(entry.json()));
        // Includes `has_id`, so that an ID never equals the JSON of an entry.
        let hash = self.hasher.hash_one((has_id, text));
        Identity { has_id, hash, was_seen: !has_id && self.seen.contains(&hash) }
    }

    /// Returns whether the walk has ended.
    ///
    /// Reaching the total ends the walk only if the same total was reported earlier: a service that counts the entries returned
    /// so far reveals nothing about the rest.
    pub fn is_over(&self) -> bool {
        let is_reached = self.total == Some(self.entries);
        let is_trusted = self.announced_total == self.total || self.empty_pages > 0;
        is_reached && is_trusted || self.empty_pages >= MAX_EMPTY_PAGES || self.fetched >= MAX_PAGES
    }

    /// Returns the last page to request before further pages were inserted.
    ///
    /// This is the last page according to the total. Beyond, or without a total, the number of pages requested ahead equals the
    /// number of consecutive productive pages, so that short lists cause few useless requests.
    pub fn horizon(&self) -> u64 {
        let last_page = match (self.total, self.first_page.len() as u64) {
            (Some(total), size) if size > 0 => total.div_ceil(size).min(MAX_PAGES),
            _ => 1,
        };
        let ahead = match self.total {
            Some(total) if self.announced_total == Some(total) => 1,
            _ if self.fetched == 0 || self.empty_pages > 0 => 1,
            _ => self.productive_pages.max(1),
        };
        last_page.max(self.fetched.saturating_add(ahead))
    }

    /// Compares a second walk over the same list with this walk. Returns the completeness proved by both.
    pub fn confirmed_by(&self, second: &Walk) -> Completeness {
        let added = second.seen.difference(&self.seen).count();
        let missing = self.seen.difference(&second.seen).count();
        match (added, missing) {
            (0, 0) => second.completeness(),
            _ => Completeness::Moved(format!(
                "a second pass found {added} records that the first had missed, and missed {missing} that the first had found"
            )),
        }
    }

    pub fn completeness(&self) -> Completeness {
        let unproven = |reason: &str| Completeness::Unproven(reason.to_owned());
        let moved = |reason: &str| Completeness::Moved(reason.to_owned());
        match self.total {
            _ if self.fetched >= MAX_PAGES || self.has_looked_enough() => unproven("the list does not end"),
            Some(total) if total != self.entries => {
                let reason = format!(
                    "the service reports a total of {total} records, but its pages contained {} different ones",
                    self.entries
                );
                match self.total_changed || self.duplicates > 0 && !self.repeats_first {
                    true => Completeness::Moved(reason),
                    false => Completeness::Unproven(reason),
                }
            }
            _ if self.identical_without_id > 0 => {
                unproven("some records without an ID are identical, so duplicates cannot be detected")
            }
            Some(_) if self.total_shrank => {
                moved("records were removed while the list was being read, so others may have been skipped")
            }
            // The first page was read again until all its entries were known, so new entries in front were found.
            Some(_) if self.total_changed && self.duplicates > 0 && self.looks == 0 => {
                moved("the list changed while it was being read, and its pages repeat records")
            }
            Some(_) => Completeness::TotalReached,
            None if self.repeats_first => unproven("the service reports no total, and all its pages are the same"),
            None if self.duplicates > 0 => moved("the service reports no total, and its pages repeat records"),
            None => Completeness::ReadToEnd,
        }
    }
}

/// Identifies an entry within a walk.
struct Identity {
    has_id: bool,
    hash: u64,
    /// An identical entry without an ID was on an earlier page.
    was_seen: bool,
}
