//! Walking a list page by page: when to stop, which entries are new, and whether the list was read completely. Pure.

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};

use super::page::{Entry, Page};

/// Number of consecutive pages without new entries that ends a list. A single page may be a gap.
const MAX_EMPTY_PAGES: u32 = 2;
/// Maximum number of pages. Stops the walk if the service generates records endlessly.
pub(super) const MAX_PAGES: u64 = if cfg!(test) { 2_000 } else { 1_000_000 };
/// Maximum number of entries to reserve memory for, because the reported total may be wrong.
const MAX_RESERVED: usize = 900_000;

/// The state of a walk over the pages of one list.
///
/// Entries are identified by a 64-bit hash of the ID, or of the whole JSON of an entry without one. Among ten million
/// records, the probability of a collision is 1 in 400,000, and the total would reveal the error.
#[derive(Debug, Default)]
pub(crate) struct Walk {
    /// Hashes with random keys, because a service could provoke collisions otherwise.
    hasher: RandomState,
    seen: HashSet<u64>,
    fetched: u64,
    /// Number of pages with entries.
    pub(crate) pages: u64,
    /// Number of distinct entries.
    pub(crate) entries: u64,
    /// Number of repeated entries.
    pub(crate) duplicates: u64,
    /// The latest total reported by the service.
    pub(crate) total: Option<u64>,
    /// The latest total reported before it was reached.
    announced_total: Option<u64>,
    /// The total decreased: entries may have moved to pages that were already fetched.
    total_shrank: bool,
    total_changed: bool,
    /// Number of entries without an ID that repeat an earlier entry.
    identical_without_id: u64,
    /// Number of entries on the first page, which is the page size in force.
    page_size: usize,
    /// Consecutive pages without new entries.
    empty_pages: u32,
    /// Consecutive pages with new entries.
    productive_pages: u64,
}

/// The result of a walk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Completeness {
    /// The number of distinct records equals the total reported by the service.
    TotalReached,
    /// The service reports no total. The last pages had no new records.
    ReadToEnd,
    /// Each record was requested by its ID.
    RequestedById,
    /// Completeness cannot be shown, for this reason.
    Unproven(String),
}

impl Walk {
    /// Starts a second walk over the same list, for [`Walk::confirmed_by`].
    pub(crate) fn restarted(&self) -> Walk {
        Walk { hasher: self.hasher.clone(), ..Walk::default() }
    }

    /// Adds the next page. Returns for each entry whether it is new.
    pub(crate) fn insert(&mut self, page: &Page) -> Vec<bool> {
        self.fetched += 1;
        self.pages += u64::from(page.len() > 0);
        if self.fetched == 1 {
            self.page_size = page.len();
            let total = page.total.and_then(|total| usize::try_from(total).ok()).unwrap_or(0);
            self.seen.reserve(total.min(MAX_RESERVED));
        }
        let new = self.insert_entries(page);
        let new_entries = new.iter().filter(|is_new| **is_new).count();
        self.entries += new_entries as u64;
        self.duplicates += (new.len() - new_entries) as u64;
        match new_entries {
            0 => (self.empty_pages, self.productive_pages) = (self.empty_pages + 1, 0),
            _ => (self.empty_pages, self.productive_pages) = (0, self.productive_pages + 1),
        }
        if let (Some(before), Some(now)) = (self.total, page.total) {
            self.total_shrank |= now < before;
            self.total_changed |= now != before;
        }
        self.total = page.total.or(self.total);
        self.announced_total = self.total.filter(|total| self.entries < *total).or(self.announced_total);
        new
    }

    fn insert_entries(&mut self, page: &Page) -> Vec<bool> {
        let identities: Vec<Identity> = page.entries().map(|entry| self.identity(&entry)).collect();
        let mut new: Vec<bool> = identities.iter().map(|identity| self.seen.insert(identity.hash)).collect();
        // A page without any new hash is an earlier page again, even if the entries have no IDs.
        if new.contains(&true) {
            // Different records without an ID may be identical. Keeping a duplicate is better than losing a record.
            for (is_new, identity) in new.iter_mut().zip(&identities).filter(|(_, identity)| !identity.has_id) {
                *is_new = true;
                self.identical_without_id += u64::from(identity.was_seen);
            }
        }
        new
    }

    fn identity(&self, entry: &Entry<'_>) -> Identity {
        let id = entry.id();
        let (has_id, text) = (id.is_some(), id.as_deref().unwrap_or(entry.json()));
        // An ID never equals the JSON of an entry without one.
        let hash = self.hasher.hash_one((has_id, text));
        Identity { has_id, hash, was_seen: !has_id && self.seen.contains(&hash) }
    }

    /// Returns whether the walk has ended.
    ///
    /// Reaching the total ends the walk only if the same total was reported before it was reached: a service that
    /// counts the entries returned so far says nothing about the rest.
    pub(crate) fn is_over(&self) -> bool {
        let is_reached = self.total == Some(self.entries);
        let is_trusted = self.announced_total == self.total || self.empty_pages > 0;
        is_reached && is_trusted || self.empty_pages >= MAX_EMPTY_PAGES || self.fetched >= MAX_PAGES
    }

    /// Returns the last page that may be requested before another one was inserted.
    ///
    /// This is the last page according to the total. Beyond that page, or without a total, the number of pages
    /// requested ahead equals the number of productive pages in a row, so that short lists cost few useless requests.
    pub(crate) fn horizon(&self) -> u64 {
        let last_page = match (self.total, self.page_size as u64) {
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

    /// Compares a second walk over the same list with this one, and returns the completeness shown by both.
    pub(crate) fn confirmed_by(&self, second: &Walk) -> Completeness {
        let added = second.seen.difference(&self.seen).count();
        let missing = self.seen.difference(&second.seen).count();
        match (added, missing) {
            (0, 0) => second.completeness(),
            _ => Completeness::Unproven(format!(
                "a second pass found {added} records that the first had missed, and missed {missing} that the first had found"
            )),
        }
    }

    pub(crate) fn completeness(&self) -> Completeness {
        let unproven = |reason: &str| Completeness::Unproven(reason.to_owned());
        match self.total {
            _ if self.fetched >= MAX_PAGES => unproven("the list does not end"),
            Some(total) if total != self.entries => Completeness::Unproven(format!(
                "the service reports a total of {total} records, but its pages contained {} different ones",
                self.entries
            )),
            _ if self.identical_without_id > 0 => {
                unproven("some records without an ID are identical, so duplicates cannot be detected")
            }
            Some(_) if self.total_shrank => {
                unproven("records were removed while the list was being read, so others may have been skipped")
            }
            Some(_) if self.total_changed && self.duplicates > 0 => {
                unproven("the list changed while it was being read, and its pages repeat records")
            }
            Some(_) => Completeness::TotalReached,
            None if self.duplicates > 0 => unproven("the service reports no total, and its pages repeat records"),
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
