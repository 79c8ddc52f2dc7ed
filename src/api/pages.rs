//! Walking a list page by page without trusting what it says of itself. Pure.

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

/// Pages in a row without anything new after which a list has ended. A single one may be a hole.
const BARREN: u32 = 2;
/// More pages than any list has: a guard against a service that makes up records for ever.
const MAX_PAGES: u64 = if cfg!(test) { 2_000 } else { 1_000_000 };

/// What one page held.
#[derive(Debug)]
pub struct Page {
    /// Each entry as the service sent it.
    pub entries: Vec<Box<RawValue>>,
    /// How many entries the service says the whole list has.
    pub total: Option<u64>,
}

/// Reads a page: an envelope with `data`, or a bare array.
pub fn read(body: &[u8]) -> Result<Page, String> {
    #[derive(Deserialize)]
    struct Envelope {
        data: Vec<Box<RawValue>>,
        #[serde(default)]
        total: Option<Value>,
    }
    match body.iter().find(|byte| !byte.is_ascii_whitespace()) {
        Some(b'[') => {
            let entries = serde_json::from_slice(body).map_err(|error| error.to_string())?;
            Ok(Page { entries, total: None })
        }
        _ => {
            let envelope: Envelope = serde_json::from_slice(body).map_err(|error| error.to_string())?;
            Ok(Page { entries: envelope.data, total: envelope.total.and_then(|total| total.as_u64()) })
        }
    }
}

/// Keeps track of what the pages of one list brought.
///
/// Entries are told apart by their ids, and where they have none by their text. Both are held as 128-bit hashes under a
/// secret of this process, so that a million of them fit in little memory.
#[derive(Debug, Default)]
pub struct Walk {
    hashers: [RandomState; 2],
    met: HashSet<u128>,
    fetched: u64,
    /// Pages that held entries.
    pub pages: u64,
    /// Different entries.
    pub entries: u64,
    /// Entries that came again.
    pub duplicates: u64,
    /// The newest that the service said.
    pub total: Option<u64>,
    /// The newest that it said while entries were still to come.
    foretold: Option<u64>,
    /// It named a smaller total than before: entries that were still to come may have moved to pages already fetched.
    has_shrunk: bool,
    has_changed: bool,
    /// Entries without an id that look like an earlier one.
    alike: u64,
    /// Entries on the first page: the page size that is really in force.
    page_size: usize,
    barren_in_a_row: u32,
}

/// How a walk ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Completeness {
    /// As many distinct records as the service says there are.
    TotalReached,
    /// The service names no total; the pages after the last record were empty.
    ReadToTheEnd,
    /// The reason why it can't be shown.
    Unproven(String),
}

impl Walk {
    /// Takes in the next page and tells which of its entries are new.
    pub fn take(&mut self, page: &Page) -> Vec<bool> {
        self.fetched += 1;
        self.pages += u64::from(!page.entries.is_empty());
        if self.fetched == 1 {
            self.page_size = page.entries.len();
        }
        let ids: Vec<(bool, u128)> = page.entries.iter().map(|entry| self.identity(entry)).collect();
        let is_known = |(_, identity): &(bool, u128)| self.met.contains(identity);
        // A page of which all is known is an earlier page again, even where its entries have no ids.
        let is_barren = ids.iter().all(is_known);
        let earlier: Vec<bool> = ids.iter().map(is_known).collect();
        let mut new = Vec::with_capacity(ids.len());
        for ((has_id, identity), was_met) in ids.into_iter().zip(earlier) {
            let is_first = self.met.insert(identity);
            // Without an id, two records may look alike: rather keep one too many, and say so.
            let is_new = !is_barren && (is_first || !has_id);
            self.alike += u64::from(is_new && was_met);
            new.push(is_new);
        }
        let fresh = new.iter().filter(|new| **new).count();
        self.entries += fresh as u64;
        self.duplicates += (new.len() - fresh) as u64;
        self.barren_in_a_row = if is_barren { self.barren_in_a_row + 1 } else { 0 };
        if let (Some(before), Some(now)) = (self.total, page.total) {
            self.has_shrunk |= now < before;
            self.has_changed |= now != before;
        }
        self.total = page.total.or(self.total);
        self.foretold = self.total.filter(|total| self.entries < *total).or(self.foretold);
        new
    }

    /// Is there nothing more to fetch? A total ends the walk only where it was named before it was reached: one that
    /// just counts what has come so far says nothing of what is to come.
    pub fn is_over(&self) -> bool {
        let is_reached = self.total == Some(self.entries);
        let is_believed = self.foretold == self.total || self.barren_in_a_row > 0;
        is_reached && is_believed || self.barren_in_a_row >= BARREN || self.fetched >= MAX_PAGES
    }

    /// The pages that are sure to be needed after the first, by what it said.
    pub fn pages_expected(&self) -> u64 {
        match (self.total, self.page_size as u64) {
            (Some(total), size) if size > 0 => total.div_ceil(size),
            _ => 1,
        }
    }

    pub fn completeness(&self) -> Completeness {
        let unproven = |reason: &str| Completeness::Unproven(reason.to_owned());
        match self.total {
            _ if self.fetched >= MAX_PAGES => unproven("the list does not end"),
            Some(total) if total != self.entries => Completeness::Unproven(format!(
                "the service says that there are {total} records, and its pages held {} different ones",
                self.entries
            )),
            _ if self.alike > 0 => {
                unproven("records without an id look alike, so that repeated ones can't be told from others")
            }
            Some(_) if self.has_shrunk => {
                unproven("records were removed while the list was read, and others may have moved past the reader")
            }
            Some(_) if self.has_changed && self.duplicates > 0 => {
                unproven("the list was changed while it was read, and its pages repeat records")
            }
            Some(_) => Completeness::TotalReached,
            None if self.duplicates > 0 => unproven("the service names no total, and its pages repeat records"),
            None => Completeness::ReadToTheEnd,
        }
    }

    /// Whether an entry has an id, and what tells it from others.
    fn identity(&self, entry: &RawValue) -> (bool, u128) {
        #[derive(Deserialize)]
        struct WithId {
            id: Value,
        }
        let id = match serde_json::from_str::<WithId>(entry.get()) {
            Ok(WithId { id: Value::Null }) | Err(_) => None,
            Ok(WithId { id: Value::String(text) }) => Some(text),
            Ok(WithId { id }) => Some(id.to_string()),
        };
        let text = id.as_deref().unwrap_or(entry.get());
        let [high, low] = [&self.hashers[0], &self.hashers[1]].map(|hasher| hasher.hash_one((id.is_some(), text)));
        (id.is_some(), u128::from(high) << 64 | u128::from(low))
    }
}

#[cfg(test)]
mod tests;
