//! Walking a list page by page without trusting what it says of itself. Pure.

mod ids;
pub mod read;
mod scan;

use self::ids::Ids;
pub use self::ids::{Identifier, Identity};
pub use self::read::{Entry, Form, Page, read};

/// Pages in a row without anything new after which a list has ended. A single one may be a hole.
const BARREN: u32 = 2;
/// More pages than any list has: a guard against a service that makes up records for ever.
const MAX_PAGES: u64 = if cfg!(test) { 2_000 } else { 1_000_000 };

/// Keeps track of what the pages of one list brought.
///
/// Entries are told apart by their ids, and where they have none by their text.
#[derive(Debug, Default)]
pub struct Walk {
    met: Ids,
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
    fruitful_in_a_row: u64,
}

/// How a walk ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Completeness {
    /// As many distinct records as the service says there are.
    TotalReached,
    /// The service names no total; the pages after the last record were empty.
    ReadToTheEnd,
    /// Not a list: each record was asked for by its id.
    EachAsked,
    /// The reason why it can't be shown.
    Unproven(String),
}

impl Walk {
    /// What tells the entries of its pages apart, on whichever thread they are looked at.
    pub fn identifier(&self) -> Identifier {
        self.met.identifier
    }

    /// Takes in the next page and tells which of its entries are new.
    pub fn take(&mut self, page: &Page) -> Vec<bool> {
        let ids: Vec<Identity> = page.entries().map(|entry| self.met.identifier.identity(entry)).collect();
        self.take_identified(page.total, &ids)
    }

    /// The same, of a page whose entries were identified by [`Walk::identifier`].
    pub fn take_identified(&mut self, total: Option<u64>, ids: &[Identity]) -> Vec<bool> {
        self.fetched += 1;
        self.pages += u64::from(!ids.is_empty());
        if self.fetched == 1 {
            self.page_size = ids.len();
            self.met.make_room(total.unwrap_or_default());
        }
        // Only of records without an id it matters whether one like them came before this page.
        let is_alike = |id: &Identity| !id.has_id && self.met.contains(id.hash);
        let alike: Vec<bool> = match ids.iter().all(|id| id.has_id) {
            true => Vec::new(),
            false => ids.iter().map(is_alike).collect(),
        };
        let mut new = self.met.insert_all(ids.iter().map(|id| id.hash));
        // A page of which all is known is an earlier page again, even where its entries have no ids.
        let is_barren = !new.contains(&true);
        for (place, _) in ids.iter().enumerate().filter(|(_, id)| !id.has_id && !is_barren) {
            // Without an id, two records may look alike: rather keep one too many, and say so.
            new[place] = true;
            self.alike += u64::from(alike.get(place) == Some(&true));
        }
        let fresh = new.iter().filter(|new| **new).count();
        self.entries += fresh as u64;
        self.duplicates += (new.len() - fresh) as u64;
        self.barren_in_a_row = if is_barren { self.barren_in_a_row + 1 } else { 0 };
        self.fruitful_in_a_row = if is_barren { 0 } else { self.fruitful_in_a_row + 1 };
        if let (Some(before), Some(now)) = (self.total, total) {
            self.has_shrunk |= now < before;
            self.has_changed |= now != before;
        }
        self.total = total.or(self.total);
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

    /// The last page that may be asked for before another one is looked at. As far as the list says how long it is, that
    /// is its last page; beyond that, as many pages ahead as the last ones in a row brought something new, so that a
    /// short list costs few requests in vain.
    pub fn horizon(&self) -> u64 {
        let by_total = match (self.total, self.page_size as u64) {
            (Some(total), size) if size > 0 => total.div_ceil(size).min(MAX_PAGES),
            _ => 1,
        };
        let ahead = match self.total {
            Some(total) if self.foretold == Some(total) => 1,
            _ if self.fetched == 0 || self.barren_in_a_row > 0 => 1,
            _ => self.fruitful_in_a_row.max(1),
        };
        by_total.max(self.fetched.saturating_add(ahead))
    }

    /// Holds a second reading of the same list against this one: whether it met the same records. What follows of both
    /// is what is known of the list.
    pub fn confirmed_by(&self, second: &Walk) -> Completeness {
        let only_then = second.met.iter().filter(|identity| !self.met.contains(*identity)).count();
        let gone = self.met.iter().filter(|identity| !second.met.contains(*identity)).count();
        match (only_then, gone) {
            (0, 0) => second.completeness(),
            _ => Completeness::Unproven(format!(
                "a second reading found {only_then} records that the first had not, and missed {gone} of its own"
            )),
        }
    }

    /// A walk that tells entries apart in the same way, to read the list once more.
    pub fn again(&self) -> Walk {
        Walk { met: self.met.none_yet(), ..Walk::default() }
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
}

#[cfg(test)]
mod random;
#[cfg(test)]
mod tests;
